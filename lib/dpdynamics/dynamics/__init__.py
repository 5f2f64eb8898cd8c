"""Dynamics: how iterates move.

Stochastic differential equations in general: ensembles of paths, exact moments of linear equations
and recursions, expectations in one dimension without Monte Carlo. Noisy SGD on least squares: the
optimiser on ensembles, exact recursions for its moments, its homogenised diffusion with the risk
curve and its three parts, the Gaussian law, exact moments for isotropic features, stationary values
and paths; releases of two runs that differ in one record. Clipped one-pass DP-SGD: the optimiser by
the norms of its error, its diffusion, its risk and bounds on it.
An argument that violates a shape or a range, or whose result leaves the range of floating point, is
a ValueError that names it. Second floor: imports :mod:`~dpdynamics.problems` and
:mod:`~dpdynamics.divergence`.
"""

from .clipped_diffusion import clipped_diffusion
from .clipped_risk import clipped_risk, one_pass_risk
from .clipping import clipping_factors
from .homogenized import (
    gradient_flow,
    hsgd_paths,
    law,
    risk_curve,
    stationary_risk,
)
from .isotropic import isotropic_moments
from .kolmogorov import diffusion_expectation
from .linear import linear_recursion, linear_sde
from .moments import conditional_law, gaussian_moment_recursion
from .neighbours import release
from .one_pass_sgd import one_pass_sgd, one_pass_step
from .optimizers import noisy_sgd
from .sde import euler_maruyama
from .spectra import SpectralBlocks
from .tuning import tune_one_pass
from .variances import stability_limit

__all__ = [
    "SpectralBlocks",
    "clipped_diffusion",
    "clipped_risk",
    "clipping_factors",
    "conditional_law",
    "diffusion_expectation",
    "euler_maruyama",
    "gaussian_moment_recursion",
    "gradient_flow",
    "hsgd_paths",
    "isotropic_moments",
    "law",
    "linear_recursion",
    "linear_sde",
    "noisy_sgd",
    "one_pass_risk",
    "one_pass_sgd",
    "one_pass_step",
    "release",
    "risk_curve",
    "stability_limit",
    "stationary_risk",
    "tune_one_pass",
]
