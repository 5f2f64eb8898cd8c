"""Gauss quadrature on panels."""

from functools import cache

import numpy as np

from ..arguments import Array

_rule = cache(np.polynomial.legendre.leggauss)


def panels(edges: Array, order: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss rules between edges (..., n + 1), both (..., n order)."""
    nodes, weights = _rule(order)
    half = np.diff(edges, axis=-1)[..., None] / 2
    middle = (edges[..., 1:, None] + edges[..., :-1, None]) / 2
    shape = (*edges.shape[:-1], (edges.shape[-1] - 1) * order)
    return (middle + half * nodes).reshape(shape), (half * weights).reshape(shape)
