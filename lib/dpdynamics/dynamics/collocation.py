r"""Smooth functions on [0, T] by their values at Chebyshev nodes, and their convolutions.

A convolution equation :math:`y = f + \int_0^tK(t-s)y(s)\,ds` becomes a small linear system whose
error falls faster than any power of the number of nodes.
"""

from functools import lru_cache

import numpy as np

from dpdynamics.arguments import Array


class ChebyshevGrid:
    """The `count` >= 2 Chebyshev nodes of [0, horizon], ends included, in increasing order."""

    def __init__(self, horizon: float, count: int) -> None:
        self.horizon = horizon
        self.nodes = horizon * np.sin(np.arange(count) * (np.pi / (2 * (count - 1)))) ** 2
        self.weights = np.where(np.arange(count) % 2, -1.0, 1.0)  # barycentric
        self.weights[[0, -1]] /= 2

    def interpolation(self, times: Array) -> Array:
        """Return the matrix (N, n) from values at the nodes to values at times."""
        gaps = times[:, None] - self.nodes
        hit_row, hit_node = np.nonzero(gaps == 0)
        gaps[hit_row] = 1.0
        matrix = self.weights / gaps
        matrix[hit_row] = 0.0
        matrix[hit_row, hit_node] = 1.0
        return matrix / matrix.sum(axis=1, keepdims=True)

    def convolution(self, kernel: Array) -> Array:
        r"""Return the matrix (n, n) of :math:`y\mapsto\int_0^tK(t-s)y(s)\,ds` on the nodes.

        `kernel` (n,) holds the values of K at the nodes.
        """
        weights, at_s, at_rest = _unit_quadrature(self.nodes.size)
        return np.einsum("jq,jqn->jn", self.horizon * weights * (at_rest @ kernel), at_s)


@lru_cache(maxsize=8)
def _unit_quadrature(count: int) -> tuple[Array, Array, Array]:
    """Gauss rules on all [0, t_j] in [0, 1]: weights (n, q), interpolation at s and at t_j - s."""
    grid = ChebyshevGrid(1.0, count)
    x, weights = np.polynomial.legendre.leggauss(count)
    x, weights = (1 + x) / 2, weights / 2
    s = np.multiply.outer(grid.nodes, x)
    at_s, at_rest = (
        grid.interpolation(t.ravel()).reshape(count, count, count)
        for t in (s, grid.nodes[:, None] - s)
    )
    return np.multiply.outer(grid.nodes, weights), at_s, at_rest
