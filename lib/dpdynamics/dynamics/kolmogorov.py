r"""Expectations of one-dimensional processes without Monte Carlo: u(t, x) = E[g(X_t) | X_0 = x].

For a diffusion :math:`u_t = bu_x + \tfrac12s^2u_{xx}`; for a chain one step applies
:math:`(Pu)(x) = E\,u(x_1)`. Both operators become matrices on the Chebyshev nodes of an interval.

At an end where the drift points inwards (or vanishes) the diffusion is switched off, elsewhere the
process stops at the end; a chain that jumps outside is put on the end. Everything is computed a
second time on an interval that is shorter by a twentieth at both ends: the difference is the error
estimate, which also sees too few nodes, and the result is refused when it is too big.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from dpdynamics.arguments import (
    Array,
    finite_array,
    integers,
    nonnegative_array,
    positive,
    vector,
    whole,
)

from .collocation import ChebyshevGrid

Function = Callable[[Array], ArrayLike]  # x (n,) to (n,)
Kernel = Callable[[Array], tuple[Array, Array]]  # x (n,) to next points and weights, (q, n) each


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
    ValueError
        If a shape or a range is violated.
    ArithmeticError
        If the error estimate exceeds the tolerance: the interval is too short or too coarse.

    Examples
    --------
    >>> import numpy as np
    >>> u = diffusion_expectation(
    ...     lambda x: -x, lambda x: 0.2, lambda x: x**2, [1.0], [1.0], interval=(-3, 3)
    ... )
    >>> bool(abs(u.values.item() - (np.exp(-2) + 0.02 * (1 - np.exp(-2)))) < 1e-11)
    True

    References
    ----------
    Claim anon2025.def3.1 (the side of the equation).
    """
    gaps = np.diff(nonnegative_array("times", times, ndim=1), prepend=0.0)
    if gaps.size == 0 or np.any(gaps < 0):
        raise ValueError("times must not be empty and must not decrease")

    def propagators(grid: ChebyshevGrid, points: Array) -> list[Array]:
        first, second = _derivatives(grid)
        b = _values("drift", drift, points)
        half_square = _values("diffusion", diffusion, points) ** 2 / 2
        half_square[[0, -1]] = 0.0
        b[0], b[-1] = max(b[0], 0.0), min(b[-1], 0.0)
        generator = b[:, None] * first + half_square[:, None] * second
        known = {gap: expm(gap * generator) for gap in set(gaps.tolist())}
        return [known[gap] for gap in gaps.tolist()]

    return _solved(propagators, g, x, interval, nodes, tolerance)


def chain_expectation(
    kernel: Kernel,
    g: Function,
    x: ArrayLike,
    steps: ArrayLike,
    *,
    interval: tuple[float, float],
    nodes: int = 128,
    tolerance: float = 1e-9,
) -> Expectations:
    """Compute :math:`E[g(x_K) | x_0 = x]` for a Markov chain that jumps from x to points p_q(x).

    Parameters
    ----------
    kernel : callable
        x (n,) to the next points (q, n) and their probabilities (q, n) or (q, 1), both smooth in
        x; for normal noise the points of Gauss-Hermite quadrature.
    g, x, interval, nodes, tolerance
        As in `diffusion_expectation`; errors too, and if the probabilities do not add up to 1.
    steps : (N,) integers
        Numbers of steps K, nondecreasing and nonnegative; powers are taken by squaring.

    Returns
    -------
    Expectations

    Examples
    --------
    Gradient descent on x^2/2 with rate 0.1 and normal noise:

    >>> import numpy as np
    >>> z, weights = np.polynomial.hermite_e.hermegauss(32)
    >>> kernel = lambda x: (0.9 * x + 0.3 * z[:, None], weights[:, None] / weights.sum())
    >>> u = chain_expectation(kernel, lambda x: x**2, [1.0], [2], interval=(-20, 20), nodes=32)
    >>> bool(abs(u.values.item() - (0.9**4 + 0.09 * (1 + 0.9**2))) < 1e-11)
    True

    References
    ----------
    Claim anon2025.def3.1 (the side of the optimiser).
    """
    gaps = np.diff(integers("steps", steps), prepend=0)
    if gaps.size == 0 or np.any(gaps < 0):
        raise ValueError("steps must not be empty, must be nonnegative and must not decrease")

    def propagators(grid: ChebyshevGrid, points: Array) -> list[Array]:
        targets, weights = _jumps(kernel, points)
        one_step = np.zeros((points.size, points.size))
        for target, weight in zip(targets - points[0], weights, strict=True):
            inside = np.clip(target, 0.0, grid.horizon)
            one_step += weight[:, None] * grid.interpolation(inside)
        known = {gap: np.linalg.matrix_power(one_step, gap) for gap in set(gaps.tolist())}
        return [known[gap] for gap in gaps.tolist()]

    return _solved(propagators, g, x, interval, nodes, tolerance)


def _solved(
    propagators: Callable[[ChebyshevGrid, Array], list[Array]],
    g: Function,
    x: ArrayLike,
    interval: tuple[float, float],
    nodes: int,
    tolerance: float,
) -> Expectations:
    """Propagate g on the interval and on a shorter one; compare."""
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
        for a, b in ((low, high), (low + margin, high - margin)):
            grid = ChebyshevGrid(b - a, nodes)
            points = a + grid.nodes
            at_starts, u, rows = grid.interpolation(starts - a), _values("g", g, points), []
            for matrix in propagators(grid, points):
                u = matrix @ u
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
    weights = np.where(np.arange(count) % 2, -1.0, 1.0)
    weights[[0, -1]] /= 2
    first = weights / weights[:, None] / gaps
    _zero_row_sums(first)
    second = 2 * first * (np.diagonal(first)[:, None] - 1 / gaps)
    _zero_row_sums(second)
    return first, second


def _zero_row_sums(matrix: Array) -> None:
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))


def _jumps(kernel: Kernel, points: Array) -> tuple[Array, Array]:
    targets, weights = kernel(points)
    targets = finite_array("kernel(x)[0]", targets, ndim=2)
    weights = nonnegative_array("kernel(x)[1]", weights, ndim=2)
    if targets.shape[1] != points.size or weights.shape not in (
        targets.shape,
        (len(targets), 1),
    ):
        raise ValueError(f"kernel must return (q, n) twice, got {targets.shape}, {weights.shape}")
    if np.any(np.abs(weights.sum(axis=0) - 1) > 1e-12):
        raise ValueError("kernel: the probabilities must add up to 1")
    return targets, np.broadcast_to(weights, targets.shape)


def _values(name: str, function: Function, x: Array) -> Array:
    values = finite_array(f"{name}(x)", function(x))
    if values.shape not in ((), x.shape):
        raise ValueError(f"{name} must return shape {x.shape} or a scalar, got {values.shape}")
    return np.broadcast_to(values, x.shape).copy()
