"""Equal numbers, to floating-point accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, nonnegative, number, text
from .evidence import Check, Comparison, judged
from .statistics import finite
from .trial import distinct, named_grids, over, put_to_test, shaped_like, summary, worst_point


def identity(
    name: str,
    *,
    measured: ArrayLike,
    printed: ArrayLike,
    corrected: ArrayLike | None = None,
    controls: Mapping[str, Any],
    rtol: float,
    atol: float = 0.0,
    reason: str = "",
    elementwise: bool = False,
    where: Mapping[str, ArrayLike] | None = None,
) -> Check:
    """Check that two numbers or arrays are equal to a stated floating-point tolerance.

    Parameters
    ----------
    measured, printed, corrected : array_like
        Of one shape. Infinities are equal to infinities of the same sign and to nothing else.
    rtol, atol : float
        Relative to the largest finite ``abs(measured)``, or to each entry if ``elementwise``, and
        absolute part of the tolerance.
    reason : str
        The condition that explains the tolerance; required above 1e-8 (relative).
    """
    exact = finite("measured", measured, infinite=True)
    names = named_grids(where, exact, "measured")
    if not 0 <= number("rtol", rtol) < 1:
        raise ValueError(f"rtol must lie in [0, 1), got {rtol}")
    nonnegative("atol", atol)
    distinct("measured", measured, printed)

    def tolerance(value: Array) -> Array:
        size = np.abs(np.where(np.isfinite(value), value, 0.0))
        return np.asarray(atol + rtol * (size if elementwise else np.full_like(size, size.max())))

    scale = np.abs(exact[np.isfinite(exact)]).max(initial=0.0)
    if reason != "":
        text("reason", reason)
    elif atol + (rtol - 1e-8) * scale > 0:
        raise ValueError("reason must explain a tolerance above 1e-8 of the measured scale")

    def compare(label: str, value: Array, statement: Array) -> Comparison:
        with np.errstate(invalid="ignore", over="ignore"):
            gap = np.where(value == statement, 0.0, np.abs(value - statement))
        ratio = over(gap, tolerance(value))
        return judged(label, ratio.max(), worst_point(ratio, names, value, statement))

    norm = "each |measured|" if elementwise else "max |measured|"
    return put_to_test(
        name,
        "identity",
        exact,
        (printed, corrected, controls),
        compare=compare,
        read=shaped_like(exact, "measured"),
        test=f"tolerance {rtol:g} x {norm}"
        + (f" + {atol:g}" if atol else "")
        + (f"; {reason}" if reason else ""),
        comparisons=exact.size,
        sizes={"points": exact.size},
        numbers={"measured": summary(exact)},
    )
