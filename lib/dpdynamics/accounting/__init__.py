"""Accounting: what a release costs.

Divergences of Gaussian laws and of any two densities; the Gaussian mechanism exactly; conversions
between notions of privacy; the subsampled Gaussian mechanism; audits from below. First floor:
imports no other room. All logarithms are natural.
"""

from .audit import Audit, audit_epsilon, audit_mu
from .conversions import (
    epsilon_to_zcdp,
    profile_to_rdp,
    profile_to_tradeoff,
    pure_to_rdp,
    pure_to_zcdp,
    rdp_to_delta,
    rdp_to_epsilon,
    tradeoff_to_delta,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from .covariances import DiagonalPlusLowRank
from .divergences import kl_divergence_gaussian, renyi_divergence_gaussian
from .gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_noise_multiplier,
    gaussian_tradeoff,
)
from .quadrature import Quadrature, renyi_divergence_quadrature
from .subsampled_rdp import gaussian_rdp, subsampled_gaussian_rdp

__all__ = [
    "Audit",
    "DiagonalPlusLowRank",
    "Quadrature",
    "audit_epsilon",
    "audit_mu",
    "epsilon_to_zcdp",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_noise_multiplier",
    "gaussian_rdp",
    "gaussian_tradeoff",
    "kl_divergence_gaussian",
    "profile_to_rdp",
    "profile_to_tradeoff",
    "pure_to_rdp",
    "pure_to_zcdp",
    "rdp_to_delta",
    "rdp_to_epsilon",
    "renyi_divergence_gaussian",
    "renyi_divergence_quadrature",
    "subsampled_gaussian_rdp",
    "tradeoff_to_delta",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]
