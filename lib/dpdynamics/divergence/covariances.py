"""Covariances with structure: a diagonal plus a matrix of low rank."""

from dataclasses import dataclass

import numpy as np

from ..arguments import Array, finite_array


@dataclass(frozen=True, eq=False)
class DiagonalPlusLowRank:
    r"""The matrix :math:`\mathrm{diag}(b) + USU^\top`.

    `diagonal` b (d,) is positive, the columns of `factors` U (d, r) may be dependent or none, and
    `core` S (r, r) is symmetric, not necessarily definite.
    """

    diagonal: Array
    factors: Array
    core: Array

    def __post_init__(self) -> None:
        for name, ndim in (("diagonal", 1), ("factors", 2), ("core", 2)):
            object.__setattr__(self, name, finite_array(name, getattr(self, name), ndim))
        if np.any(self.diagonal <= 0):
            raise ValueError(f"diagonal must be positive, got a minimum of {self.diagonal.min()}")
        if self.factors.shape[0] != self.diagonal.size:
            raise ValueError(f"factors must have {self.diagonal.size} rows")
        if self.core.shape != (self.factors.shape[1],) * 2:
            raise ValueError(f"core must have shape {(self.factors.shape[1],) * 2}")
        object.__setattr__(self, "core", symmetric("core", self.core))

    def dense(self) -> Array:
        """Write the matrix out, (d, d)."""
        return np.diag(self.diagonal) + self.factors @ self.core @ self.factors.T


def symmetric(name: str, matrix: Array) -> Array:
    """Return the symmetric part of a square matrix that is symmetric up to rounding."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, got {matrix.shape}")
    if np.abs(matrix - matrix.T).max(initial=0) > 1e-12 * np.abs(matrix).max(initial=0):
        raise ValueError(f"{name} must be symmetric")
    return (matrix + matrix.T) / 2
