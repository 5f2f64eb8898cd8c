r"""Divergence: how far apart two laws are that a release may have.

A *pair* of laws P and Q, with the record and without it, is a `Pair`; `Gaussian` and `Laplace` are
pairs. How well the two are told apart is said by the privacy profile :math:`\delta(\varepsilon)`,
by Renyi divergences or by a tradeoff curve: the Gaussian mechanism and Gaussian laws in closed
form, other densities by quadrature, conversions between these notions of privacy, audits from
below. What a run of many releases costs is :mod:`~dpdynamics.accounting`.

First floor: imports no room but the numerics. All logarithms are natural. Everywhere a ValueError
names an argument that is out of its range, and an ArithmeticError says that the accuracy is not
reached.
"""

from .audit import audit_epsilon, audit_mu
from .conversions import (
    epsilon_to_zcdp,
    rdp_to_delta,
    rdp_to_epsilon,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from .gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_noise_multiplier,
)
from .gaussian_pair import Gaussian
from .hockey_stick import hockey_stick_gaussian
from .laplace import Laplace
from .pairs import Pair
from .quadrature import renyi_divergence_quadrature
from .renyi import renyi_divergence_gaussian

__all__ = [
    "Gaussian",
    "Laplace",
    "Pair",
    "audit_epsilon",
    "audit_mu",
    "epsilon_to_zcdp",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_noise_multiplier",
    "hockey_stick_gaussian",
    "rdp_to_delta",
    "rdp_to_epsilon",
    "renyi_divergence_gaussian",
    "renyi_divergence_quadrature",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]
