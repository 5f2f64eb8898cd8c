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
from .clipped_risk import RiskBounds, clipped_risk, coupled_risk, last_step_jump, risk_bounds
from .clipping import ClippingFactors, clipping_factors
from .compiled import ornstein_uhlenbeck_moments
from .fluctuations import Backward, Fluctuations, backward_quadratics, fluctuations
from .homogenized import Law, Parts, RiskCurve, gradient_flow, law, risk_curve
from .isotropic import IsotropicMoments, isotropic_hsgd, isotropic_sgd
from .kolmogorov import Expectations, chain_expectation, diffusion_expectation, gaussian_kernel
from .linear import (
    Moments,
    Transition,
    linear_recursion,
    linear_recursion_moments,
    linear_sde,
    linear_sde_moments,
    stationary_moments,
)
from .moments import (
    ExpectedRisks,
    conditional_law,
    gaussian_moment_recursion,
    one_step_moments,
)
from .neighbours import (
    GaussianLaw,
    Release,
    average_iterate,
    last_iterate,
    several_iterates,
)
from .one_pass_sgd import OnePassRuns, one_pass_sgd, one_pass_sgd_plain, one_pass_step
from .optimizers import Trajectories, noisy_sgd
from .paths import Paths, hsgd_paths
from .propagation import one_pass_law
from .sde import Ensemble, coarsen, euler_maruyama, first_two_moments
from .spectra import RiskModes, SpectralBlocks
from .stationary import isotropic_risk, stability_limit, stationary_risk
from .tuning import Tuning, released_risk, tune_one_pass
from .volterra import risk_curve_volterra, solve_volterra, volterra_kernels
from .weak_errors import WeakErrors, weak_error

__all__ = [
    "Backward",
    "ClippingFactors",
    "Ensemble",
    "Expectations",
    "ExpectedRisks",
    "Fluctuations",
    "GaussianLaw",
    "IsotropicMoments",
    "Law",
    "Moments",
    "OnePassRuns",
    "Parts",
    "Paths",
    "Release",
    "RiskBounds",
    "RiskCurve",
    "RiskModes",
    "SpectralBlocks",
    "Trajectories",
    "Transition",
    "Tuning",
    "WeakErrors",
    "average_iterate",
    "backward_quadratics",
    "chain_expectation",
    "clipped_diffusion",
    "clipped_risk",
    "clipping_factors",
    "coarsen",
    "conditional_law",
    "coupled_risk",
    "diffusion_expectation",
    "euler_maruyama",
    "first_two_moments",
    "fluctuations",
    "gaussian_kernel",
    "gaussian_moment_recursion",
    "gradient_flow",
    "hsgd_paths",
    "isotropic_hsgd",
    "isotropic_risk",
    "isotropic_sgd",
    "last_iterate",
    "last_step_jump",
    "law",
    "linear_recursion",
    "linear_recursion_moments",
    "linear_sde",
    "linear_sde_moments",
    "noisy_sgd",
    "one_pass_law",
    "one_pass_sgd",
    "one_pass_sgd_plain",
    "one_pass_step",
    "one_step_moments",
    "ornstein_uhlenbeck_moments",
    "released_risk",
    "risk_bounds",
    "risk_curve",
    "risk_curve_volterra",
    "several_iterates",
    "solve_volterra",
    "stability_limit",
    "stationary_moments",
    "stationary_risk",
    "tune_one_pass",
    "volterra_kernels",
    "weak_error",
]
