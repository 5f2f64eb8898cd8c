"""Elementary functions less their tangent at 0, to full relative precision."""

import numpy as np

from ..arguments import Array


def log1p_minus(x: Array) -> Array:
    r"""Return ln(1 + x) - x for :math:`|x|\le\frac12`.

    With y = x/(2 + x), ln(1 + x) = 2 artanh(y) and the difference is
    :math:`-xy + 2y^3(\frac13 + \frac{y^2}5 + \dots)`.
    """
    y = x / (2 + x)
    series = np.zeros_like(y)
    for k in range(37, 1, -2):
        series = series * y**2 + 1 / k
    return -x * y + 2 * y**3 * series


def expm1_minus(x: Array) -> Array:
    r"""Return :math:`e^x - 1 - x` for any x."""
    small = np.abs(x) < 0.5
    y = np.where(small, x, 0.0)
    series = np.zeros_like(y)
    for k in range(17, 1, -1):
        series = (series + 1) * y / k
    return np.where(small, series * y, np.expm1(x) - x)
