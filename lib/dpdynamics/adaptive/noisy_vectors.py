"""A gradient with Gaussian or Student noise, and the moments of what clipping leaves of it."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, finite_array, nonnegative_array, plain, positive_array, together
from .clipped_means import clipped_expectations, clipped_share
from .normalised_means import degrees, inverse_square, mean_per_snr


class VectorMoments(NamedTuple):
    r"""Moments of a clipped vector :math:`Y = \min(1, C/|X|)X`, or of the direction X/|X|.

    `mean` is the length of E Y, which points along the mean of X; `parallel` and `perpendicular`
    are the second moments of Y along the mean of X and along any unit vector across it (0 in one
    dimension); `clip_probability` is P(|X| > C).
    """

    mean: float | Array
    parallel: float | Array
    perpendicular: float | Array
    clip_probability: float | Array


@dataclass(frozen=True, eq=False)
class NoisyVector:
    r"""The vector :math:`X = \mu + \sigma t_\nu(0, I_d)`: a mean gradient with noise.

    Claims anon2025.lemA.1 (equation 12), anon2025.lemA.2, anon2025.thmB.5 and anon2025.def3.3.

    Parameters
    ----------
    mean_norm, noise_scale : numbers or arrays
        :math:`|\mu|`, nonnegative; :math:`\sigma`, positive, the standard deviation of a coordinate
        only for Gaussian noise. The papers' z is :math:`|\mu|^2/2\sigma^2`.
    dimension : integer or array
    degrees_of_freedom : number or array
        :math:`\nu` in [0.2, 1e12], or inf for Gaussian noise.

    Examples
    --------
    >>> moments = NoisyVector(3.0, 0.1, 100).clipped(1.0)
    >>> print(round(moments.mean, 6), moments.clip_probability)
    0.949087 1.0
    >>> print(round(NoisyVector(2.0, 1.0, 1).direction.mean, 6))
    0.9545
    """

    mean_norm: Array
    noise_scale: Array
    dimension: Array
    degrees_of_freedom: Array = field(default_factory=lambda: np.array(np.inf))

    def __post_init__(self) -> None:
        d = finite_array("dimension", self.dimension)
        if np.any((d < 1) | (d != np.floor(d))):
            raise ValueError(f"dimension must be whole and at least 1, got {self.dimension!r}")
        parts = {
            "mean_norm": nonnegative_array("mean_norm", self.mean_norm),
            "noise_scale": positive_array("noise_scale", self.noise_scale),
            "dimension": d,
            "degrees_of_freedom": degrees(self.degrees_of_freedom),
        }
        for name, value in zip(parts, together(**parts), strict=True):
            object.__setattr__(self, name, value)

    @property
    def direction(self) -> VectorMoments:
        r"""Moments of X/|X|, in [0, 1], with relative errors below 1e-12.

        For Gaussian noise the moment across is :math:`p_d = \frac1d\,{}_1F_1(1; \frac d2 + 1;
        -\frac{\rho^2}2)` with :math:`\rho = |\mu|/\sigma`, and the one along
        :math:`p_d + \rho^2p_{d+2}`, a sum without cancellation.
        """
        rho, d, nu = self.mean_norm / self.noise_scale, self.dimension, self.degrees_of_freedom
        perpendicular = inverse_square(rho, d, nu, 0.0)
        parallel = perpendicular + rho**2 * inverse_square(rho, d + 2, nu, 1.0)
        moments = rho * mean_per_snr(rho, d, nu), parallel, np.where(d == 1, 0.0, perpendicular)
        return VectorMoments(*map(plain, (*moments, np.ones(d.shape))))

    def clipped(self, clip_norm: ArrayLike) -> VectorMoments:
        """Moments of X clipped at C > 0, a number or an array that broadcasts against the vector.

        Errors below 1e-9 relative to the moment, 1e-10 absolute for the probability.
        """
        mean, sigma, d, nu, clip = self._with(clip_norm)
        flat = [x.ravel() for x in (mean / sigma, clip / sigma, d, nu)]
        rows = [clipped_expectations(*row) for row in zip(*flat, strict=True)]
        found = np.array(rows).reshape(-1, 4).T
        probability, first, across, along = (x.reshape(mean.shape) for x in found)
        perpendicular = sigma**2 * across
        parallel = perpendicular + mean**2 * along
        moments = mean * first, parallel, np.where(d == 1, 0.0, perpendicular), probability
        return VectorMoments(*map(plain, moments))

    def clipped_mean_at_large_dimension(self, clip_norm: ArrayLike) -> float | Array:
        r"""Compute :math:`|\mu|\min(1, C/\sqrt{d\sigma^2 + |\mu|^2})`, the mean for d to infinity.

        Averaged over the scale of Student noise; `clip_norm` as for `clipped`.
        """
        mean, sigma, d, nu, clip = self._with(clip_norm)
        return plain(mean * clipped_share(mean, d * sigma**2, clip, nu))

    def _with(self, clip_norm: ArrayLike) -> tuple[Array, ...]:
        return together(**vars(self), clip_norm=positive_array("clip_norm", clip_norm))
