"""Roots of monotone functions: one per element, or one on the safe side."""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.optimize import brentq, elementwise

from ..arguments import Array


def monotone_root(f: Callable[..., Array], low: Array, high: Array, *args: Array) -> Array:
    """Return the root of the monotone f(x, *args), elementwise and to the rounding of f.

    `low` and `high` are a first guess of a bracket, which is widened until it holds the root. An
    ArithmeticError says that none was found.
    """
    low, high, *rest = (np.array(a) for a in np.broadcast_arrays(low, high, *args))
    if low.size == 0:
        return low
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        bracket = elementwise.bracket_root(f, low, high, args=tuple(rest))
        root = elementwise.find_root(f, bracket.bracket, args=tuple(rest))
    if not np.all(bracket.success & root.success):
        raise ArithmeticError("no root found")
    return np.asarray(root.x)


def certified_root(
    f: Callable[[float], float],
    start: float,
    *,
    side: int = 1,
    tolerance: float = 1e-7,
    reach: float = 400.0,
) -> float:
    """Return a place next to the root of a decreasing f where its sign is the safe one.

    That is f <= 0 for side 1 and f > 0 for side -1. f does not increase, up to its rounding. The
    result lies within `tolerance` of the root, or a few times farther where f is rounded; the root
    is searched within `reach` of `start`, and an ArithmeticError says that there is none.
    """
    f = cache(f)
    way = 1 if f(start) > 0 else -1
    near, far, step = start, start + way * min(0.1, reach), 0.1
    while (f(far) > 0) == (way > 0):
        if abs(far - start) >= reach:
            raise ArithmeticError(f"no root within {reach:g} of {start:g}")
        step *= 2
        near, far = far, start + way * min(abs(far - start) + step, reach)
    root = float(brentq(f, min(near, far), max(near, far), xtol=tolerance))
    while (f(root) > 0) == (side > 0):
        root, tolerance = root + side * tolerance, 2 * tolerance
    return root
