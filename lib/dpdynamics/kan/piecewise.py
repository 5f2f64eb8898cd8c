"""Polynomials on the cells of a spline: products, restrictions, and their largest values."""

from math import comb

import numpy as np

from ..arguments import Array

_RESOLUTION = 1e-13


def multiplied(first: Array, second: Array) -> Array:
    """Multiply polynomials given by their coefficients, lowest power first, on the last axis."""
    size = first.shape[-1] + second.shape[-1] - 1
    shape = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    product = np.zeros((*shape, size))
    for power in range(first.shape[-1]):
        product[..., power : power + second.shape[-1]] += first[..., power, None] * second
    return product


def restricted(pieces: Array, start: Array) -> Array:
    """Rescale the part [start, 1] of every cell to [0, 1]; cells that start at 1 are dropped.

    `pieces` is (m, cells, k), `start` is (cells,).
    """
    kept = start < 1
    s, size = start[kept], pieces.shape[-1]
    moved = np.zeros((s.size, size, size))
    for k in range(size):
        for q in range(k + 1):
            moved[:, k, q] = comb(k, q) * s ** (k - q) * (1 - s) ** q
    return np.einsum("mck,ckq->mcq", pieces[:, kept], moved)


def largest_absolute(pieces: Array) -> Array:
    """Maximise the absolute values of m piecewise polynomials on cells scaled to [0, 1].

    Bernstein coefficients enclose a polynomial, and the enclosure improves by a factor 4 when the
    cell is halved; cells that cannot hold the maximum are dropped.

    Parameters
    ----------
    pieces : (m, cells, k) array
        Coefficients, lowest power first.

    Returns
    -------
    (m,) array
        Values that are attained; the maxima exceed them by at most 1e-13 of the largest Bernstein
        coefficient.
    """
    m, cells, size = pieces.shape
    degree = size - 1
    to_bernstein = np.array(
        [[comb(i, k) / comb(degree, k) for i in range(size)] for k in range(size)]
    )
    left = np.array([[comb(i, k) / 2**i for i in range(size)] for k in range(size)])
    halves = np.concatenate([left, left[::-1, ::-1]], axis=1)
    boxes, owner = (pieces @ to_bernstein).reshape(-1, size), np.repeat(np.arange(m), cells)
    best = np.zeros(m)
    slack = _RESOLUTION * np.abs(boxes).reshape(m, -1).max(axis=1)
    while owner.size:
        np.maximum.at(best, owner, np.abs(boxes[:, [0, -1]]).max(axis=1))
        open_ = np.abs(boxes).max(axis=1) > (best + slack)[owner]
        boxes, owner = (boxes[open_] @ halves).reshape(-1, size), np.repeat(owner[open_], 2)
    return best
