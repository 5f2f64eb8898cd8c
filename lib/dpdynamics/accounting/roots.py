"""Roots of monotone functions, one per element."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import elementwise

from ..arguments import Array


def monotone_root(f: Callable[..., Array], low: Array, high: Array, *args: Array) -> Array:
    """Return the root of the monotone f(x, *args), elementwise and to the rounding of f.

    `low` and `high` are a first guess of a bracket, which is widened until it holds the root.

    Raises
    ------
    ArithmeticError
        If no root is found.
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
