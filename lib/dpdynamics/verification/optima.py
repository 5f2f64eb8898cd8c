"""Claimed optima."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, fraction
from .attacks import Bounds, Box, attack
from .evidence import Check, Comparison, judged
from .statistics import finite
from .trial import put_to_test, shaped_like

STEP = 2e-3  # of the finite differences, relative to the box


def optimum(
    name: str,
    *,
    objective: Callable[..., float],
    printed: ArrayLike,
    corrected: ArrayLike | None = None,
    controls: Mapping[str, Any],
    bounds: Bounds,
    rtol: float,
) -> Check:
    """Check a claimed minimum against a global numerical search, and report the curvature there.

    Parameters
    ----------
    objective : callable
        Called with keywords if ``bounds`` is a mapping, with one array of shape (k,) otherwise.
    printed, corrected : array_like, shape (k,), or () if k = 1
        Claimed location, in the order of ``bounds``.
    bounds : mapping or sequence of (low, high)
        A box with the minimum inside.
    rtol : float
        Tolerance of each coordinate, relative to the larger of its size and 1 % of its range.

    Notes
    -----
    Undecided when the minimum is on the boundary of the box, when the curvature there is not
    positive, or when the objective is too flat for ``rtol`` in double precision.
    """
    fraction("rtol", rtol)
    box = Box(bounds)
    cost = partial(box.call, objective)

    def read(name: str, location: Any) -> Array:
        return shaped_like(box.low, "bounds")(name, np.atleast_1d(finite(name, location)))

    def negative(*args: Any, **kwargs: Any) -> float:
        return -objective(*args, **kwargs)

    claims = [read("printed", printed)]
    claims += [] if corrected is None else [read("corrected", corrected)]
    found = attack(negative, bounds, rng=np.random.default_rng(0), starts=32, generations=25)
    starts = [np.array(list(found.argument.values())), *claims]
    ends = [box.descend(cost, (start - box.low) / box.width, xatol=1e-12) for start in starts]
    unit = min(ends, key=cost)
    best, value, size = box.point(unit), cost(unit), np.abs(box.point(unit))
    tolerance = rtol * np.maximum(size, 0.01 * box.width)

    steps = STEP / 2 * np.eye(box.dimension)
    centre = np.clip(unit, STEP, 1 - STEP)
    hessian = np.array([[_mixed(cost, centre, a, b) for b in steps] for a in steps]) / STEP**2
    curvature = float(np.linalg.eigvalsh(hessian).min())
    objections = []
    if not np.array_equal(centre, unit):
        objections.append("the numerical optimum lies on the boundary of the box")
    elif curvature <= 0:
        objections.append("the curvature at the numerical optimum is not positive")
    elif 2 * np.sqrt(np.spacing(abs(value)) / curvature) > (tolerance / box.width).min():
        objections.append(f"the objective is too flat to locate its optimum to {rtol:g}")

    def compare(label: str, numerical: Array, location: Array) -> Comparison:
        ratio = np.abs(location - numerical) / tolerance
        at = int(ratio.argmax())
        worst = {"numerical": numerical[at], "claimed": location[at]}
        return judged(label, ratio.max(), {"coordinate": box.names[at], **worst})

    lost = cost((claims[0] - box.low) / box.width) - value
    return put_to_test(
        name,
        "optimum",
        best,
        (printed, corrected, controls),
        compare=compare,
        read=read,
        test=f"location within {rtol:g} of the numerical minimum, per coordinate",
        comparisons=box.dimension,
        sizes={"coordinates": box.dimension, "evaluations": found.evaluations},
        numbers={
            "optimum": box.label(best),
            "value": value,
            "value lost at the printed location": lost,
            "second derivatives": box.label(np.diag(hessian) / box.width**2),
        },
        objections=tuple(objections),
    )


def _mixed(f: Callable[[Array], float], x: Array, a: Array, b: Array) -> float:
    return f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)
