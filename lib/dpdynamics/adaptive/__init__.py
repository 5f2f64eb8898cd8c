"""Adaptive: DP-SGD, DP-SignSGD and DP-Adam under clipping and noise.

A noisy vector with the moments of its direction and of what clipping leaves of it; exact laws of
sign walks and their limits, densities of the diffusions that are set beside them; radial chains,
plateaus, and ensembles of full vectors. A shape or range that is violated is a ValueError that
names the argument. Second floor: imports :mod:`~dpdynamics.problems`.
"""

from .ensembles import private_ensemble, radial_chain
from .noisy_vectors import NoisyVector
from .normalised_means import scaled_chi_mean
from .plateaus import plateau, private_gradient_scale, quadratic_sgd_moments
from .sign_walk import gaussian_sign, sign_walk, stationary_sign_law
from .stationary_densities import sign_diffusion_law

__all__ = [
    "NoisyVector",
    "gaussian_sign",
    "plateau",
    "private_ensemble",
    "private_gradient_scale",
    "quadratic_sgd_moments",
    "radial_chain",
    "scaled_chi_mean",
    "sign_diffusion_law",
    "sign_walk",
    "stationary_sign_law",
]
