"""Adaptive: DP-SGD, DP-SignSGD and DP-Adam under clipping and noise.

Means and second moments of normalised and clipped gradients; the probability that a noisy
coordinate changes sign, and the drifts that follow; exact laws of sign walks and their limits,
densities of the diffusions that are set beside them; radial chains, plateaus, and ensembles of
full vectors. Second floor: imports :mod:`~dpdynamics.problems` and :mod:`~dpdynamics.accounting`.
"""

from .clipped_means import ClippedMoments, clipped_moments, uniform_clipped_mean
from .exact_signs import exact_sign_mean
from .lattice_stationary import StationarySignLaw, stationary_sign_law
from .normalised_means import (
    SecondMoments,
    normalised_mean,
    normalised_second_moments,
    student_factor,
    uniform_normalised_mean,
)
from .plateaus import private_gradient_scale, quadratic_sgd_moments, sgd_plateau, sign_plateau
from .private_ensembles import EnsembleRuns, private_ensemble
from .radial_chain import RadialRuns, radial_chain
from .radial_gibbs import huber_gibbs_law, radial_gibbs_law
from .sign_drifts import (
    averaged_sign_mean,
    averaged_sign_slope,
    gaussian_sign_mean,
    gaussian_sign_slope,
)
from .sign_probabilities import SymmetricSign, gaussian_sign, student_sign
from .sign_walk import LatticeLaw, WalkExpectations, sign_walk, sign_walk_expectations
from .stationary_densities import QuadratureLaw, diffusion_law, linear_sign_law, sign_diffusion_law

__all__ = [
    "ClippedMoments",
    "EnsembleRuns",
    "LatticeLaw",
    "QuadratureLaw",
    "RadialRuns",
    "SecondMoments",
    "StationarySignLaw",
    "SymmetricSign",
    "WalkExpectations",
    "averaged_sign_mean",
    "averaged_sign_slope",
    "clipped_moments",
    "diffusion_law",
    "exact_sign_mean",
    "gaussian_sign",
    "gaussian_sign_mean",
    "gaussian_sign_slope",
    "huber_gibbs_law",
    "linear_sign_law",
    "normalised_mean",
    "normalised_second_moments",
    "private_ensemble",
    "private_gradient_scale",
    "quadratic_sgd_moments",
    "radial_chain",
    "radial_gibbs_law",
    "sgd_plateau",
    "sign_diffusion_law",
    "sign_plateau",
    "sign_walk",
    "sign_walk_expectations",
    "stationary_sign_law",
    "student_factor",
    "student_sign",
    "uniform_clipped_mean",
    "uniform_normalised_mean",
]
