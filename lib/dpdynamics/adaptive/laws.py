"""A law on the line by points with weights: on a lattice, or as a quadrature of a density."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, plain

Function = Callable[[Array], ArrayLike]  # x (points, *configurations) to the same shape


def _no_density(x: ArrayLike) -> float | Array:
    raise ValueError("log_density: a law on a lattice has none")


@dataclass(frozen=True)
class Law:
    """Points with weights (n, *configurations), which add up to 1 - `lost`.

    An expectation misses at most `lost` times the largest absolute value of its function on the
    points that can be reached. `log_density` is the logarithm of the normalised density,
    elementwise, -inf where there is none; ValueError on a lattice.
    """

    points: Array
    weights: Array
    lost: float | Array = 0.0
    log_density: Callable[[ArrayLike], float | Array] = _no_density

    def density(self, x: ArrayLike) -> float | Array:
        """Return the normalised density."""
        return plain(np.exp(np.asarray(self.log_density(x))))

    def expectation(self, function: Function) -> float | Array:
        """Return the expectation of a function of x (n, *configurations) to the same shape."""
        values = np.asarray(function(self.points))
        if values.shape not in ((), self.points.shape):
            raise ValueError(
                f"function must keep the shape {self.points.shape}, got {values.shape}"
            )
        return plain(np.asarray(np.sum(self.weights * values, axis=0)))

    @property
    def mean(self) -> float | Array:
        """Mean of each configuration."""
        return self.expectation(lambda x: x)

    @property
    def variance(self) -> float | Array:
        """Variance of each configuration."""
        return self._central(2)

    @property
    def kurtosis(self) -> float | Array:
        """Fourth central moment over the squared variance, 3 for a normal law."""
        variance = np.asarray(self.variance)
        if np.any(variance <= 0):
            raise ValueError("kurtosis: a law on a single point has none")
        return plain(np.asarray(self._central(4)) / variance**2)

    def _central(self, power: int) -> float | Array:
        return self.expectation(lambda x: (x - np.asarray(self.mean)) ** power)
