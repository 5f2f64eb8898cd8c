r"""Expectations of one-dimensional diffusions without Monte Carlo: E[g(X_t) | X_0 = x].

:math:`u_t = bu_x + \tfrac12s^2u_{xx}` becomes a matrix on the Chebyshev nodes of an interval. At an
end where the drift points inwards (or vanishes) the noise is switched off, elsewhere the process
stops at the end. Everything is computed a second time on an interval that is shorter by a twentieth
at both ends: the difference is the error estimate, which also sees too few nodes, and the result is
refused when it is too big.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from dpdynamics.arguments import (
    Array,
    finite_array,
    nonnegative_array,
    positive,
    vector,
    whole,
)

from .collocation import ChebyshevGrid

Function = Callable[[Array], ArrayLike]  # x (n,) to (n,)


class Expectations(NamedTuple):
    """`values` (N, m) at N times and m starts, `errors` (N,): estimates of the largest error."""

    values: Array
    errors: Array


def diffusion_expectation(
    drift: Function,
    diffusion: Function,
    g: Function,
    x: ArrayLike,
    times: ArrayLike,
    *,
    interval: tuple[float, float],
    nodes: int = 128,
    tolerance: float = 1e-9,
) -> Expectations:
    r"""Compute :math:`E[g(X_t) | X_0 = x]` for :math:`dX = b(X)\,dt + s(X)\,dW`.

    Claim anon2025.def3.1 (the side of the equation).

    Parameters
    ----------
    drift, diffusion, g : callables
        Smooth functions of x (n,) on the interval, returning (n,) or a scalar.
    x : (m,) array
        Starts, inside the interval by more than a twentieth of its length.
    times : (N,) array
        Nondecreasing, nonnegative.
    interval : (low, high)
        Where the equation is solved; see the module for what happens at its ends.
    nodes : int
        Chebyshev nodes, at least 8; they must resolve the layers at the ends, of width s^2/|b|.
    tolerance : float
        Largest absolute error estimate that is accepted.

    Returns
    -------
    Expectations

    Raises
    ------
    ArithmeticError
        If the error estimate exceeds the tolerance: the interval is too short or too coarse.
    """
    gaps = np.diff(nonnegative_array("times", times, ndim=1), prepend=0.0)
    if gaps.size == 0 or np.any(gaps < 0):
        raise ValueError("times must not be empty and must not decrease")
    starts = finite_array("x", x, ndim=1)
    low, high = vector("interval", interval, 2).tolist()
    nodes, tolerance = whole("nodes", nodes, minimum=8), positive("tolerance", tolerance)
    if not low < high:
        raise ValueError(f"interval must increase, got {interval}")
    margin = (high - low) / 20
    if starts.size == 0 or starts.min() <= low + margin or starts.max() >= high - margin:
        raise ValueError(f"x must lie within ({low + margin}, {high - margin}) in interval")
    both = []
    with np.errstate(over="ignore", invalid="ignore"):  # too few nodes; found out below
        for left, right in ((low, high), (low + margin, high - margin)):
            grid = ChebyshevGrid(right - left, nodes)
            points = left + grid.nodes
            at_starts, u, rows = grid.interpolation(starts - left), _values("g", g, points), []
            first, second = _derivatives(grid)
            b = _values("drift", drift, points)
            half_square = _values("diffusion", diffusion, points) ** 2 / 2
            half_square[[0, -1]] = 0.0
            b[0], b[-1] = max(b[0], 0.0), min(b[-1], 0.0)
            generator = b[:, None] * first + half_square[:, None] * second
            known = {gap: expm(gap * generator) for gap in set(gaps.tolist())}
            for gap in gaps.tolist():
                u = known[gap] @ u
                rows.append(at_starts @ u)
            both.append(np.stack(rows))
    errors: Array = np.abs(both[0] - both[1]).max(axis=1)
    if not errors.max() <= tolerance:
        raise ArithmeticError(
            f"interval, nodes: the error may reach {errors.max():.1e}, above the tolerance "
            f"{tolerance:.1e}; widen the interval or take more nodes"
        )
    return Expectations(both[0], errors)


def _derivatives(grid: ChebyshevGrid) -> tuple[Array, Array]:
    """First and second differentiation matrices, with rows that sum to 0."""
    count = grid.nodes.size
    angle = np.arange(count) * (np.pi / (2 * (count - 1)))
    plus, minus = np.add.outer(angle, angle), np.subtract.outer(angle, angle)
    gaps = grid.horizon * np.sin(plus) * np.sin(minus)
    np.fill_diagonal(gaps, 1.0)
    first = grid.weights / grid.weights[:, None] / gaps
    _zero_row_sums(first)
    second = 2 * first * (np.diagonal(first)[:, None] - 1 / gaps)
    _zero_row_sums(second)
    return first, second


def _zero_row_sums(matrix: Array) -> None:
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))


def _values(name: str, function: Function, x: Array) -> Array:
    values = finite_array(f"{name}(x)", function(x))
    if values.shape not in ((), x.shape):
        raise ValueError(f"{name} must return shape {x.shape} or a scalar, got {values.shape}")
    return np.broadcast_to(values, x.shape).copy()
