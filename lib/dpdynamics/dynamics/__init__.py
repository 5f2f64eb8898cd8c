"""Dynamics: how iterates move.

Stochastic differential equations in general: ensembles of paths, exact moments of linear equations
and recursions, expectations in one dimension without Monte Carlo, and how far an optimiser is from
its equation. Noisy SGD on least squares: the optimiser on ensembles, exact recursions for its
moments, its homogenised diffusion with the risk curve and its three parts, the Gaussian law,
fluctuations of quadratics, exact moments for isotropic features, the Volterra equations,
stationary values and paths; releases of two runs that differ in one record. Clipped one-pass
DP-SGD: the optimiser reduced to the norms of its error, its diffusion, its risk and bounds on it.
Second floor: imports :mod:`~dpdynamics.problems` and :mod:`~dpdynamics.accounting`.
"""

from .clipped_diffusion import clipped_diffusion
from .clipped_risk import clipped_risk, released_risk
from .clipping import clipping_factors
from .fluctuations import backward_quadratics, fluctuations
from .homogenized import gradient_flow, law, risk_curve
from .isotropic import isotropic_hsgd, isotropic_sgd
from .kolmogorov import chain_expectation, diffusion_expectation
from .linear import linear_recursion, linear_sde
from .moments import conditional_law, gaussian_moment_recursion
from .neighbours import release
from .one_pass_sgd import one_pass_sgd, one_pass_step
from .optimizers import noisy_sgd
from .paths import hsgd_paths
from .propagation import one_pass_law
from .sde import euler_maruyama
from .spectra import RiskModes, SpectralBlocks
from .stationary import stability_limit, stationary_risk
from .tuning import Tuning, tune_one_pass
from .volterra import risk_curve_volterra
from .weak_errors import weak_error

__all__ = [
    "RiskModes",
    "SpectralBlocks",
    "Tuning",
    "backward_quadratics",
    "chain_expectation",
    "clipped_diffusion",
    "clipped_risk",
    "clipping_factors",
    "conditional_law",
    "diffusion_expectation",
    "euler_maruyama",
    "fluctuations",
    "gaussian_moment_recursion",
    "gradient_flow",
    "hsgd_paths",
    "isotropic_hsgd",
    "isotropic_sgd",
    "law",
    "linear_recursion",
    "linear_sde",
    "noisy_sgd",
    "one_pass_law",
    "one_pass_sgd",
    "one_pass_step",
    "release",
    "released_risk",
    "risk_curve",
    "risk_curve_volterra",
    "stability_limit",
    "stationary_risk",
    "tune_one_pass",
    "weak_error",
]
