"""The trial itself: a printed statement, its correction and its controls go through one test.

Each kind of check supplies one comparison; it is applied to every statement alike, so that no
control is judged by a milder rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, text
from .evidence import ACCEPTED, IDENTICAL, REJECTED, UNDECIDED, Check, Comparison
from .statistics import finite

POWER = 0.99  # probability with which a statistical test must reject a control
ROUNDING = 1e-12  # relative error of a short float64 computation
MINIMUM_REPLICATES = 8


@dataclass(frozen=True)
class Instead:
    """A deliberately wrong measurement, to be held against the accepted statement."""

    measured: Any


def instead(measured: Any) -> Instead:
    """Mark a control as a wrong measurement, of a wrongly standardised statistic for instance.

    It is put through the test in place of the measured quantity, and must be rejected.
    """
    for part in measured if isinstance(measured, tuple) else (measured,):
        finite("measured", part, infinite=True)
    return Instead(measured)


def put_to_test(
    name: str,
    kind: str,
    measured: Array,
    statements: tuple[Any, Any, Any],
    *,
    compare: Callable[[str, Array, Any], Comparison],
    read: Callable[[str, Any], Any],
    read_measured: Callable[[str, Any], Array] | None = None,
    detect: Callable[[Array, Any, Any], float] | None = None,
    as_array: Callable[[Any], Array] = np.asarray,
    tightness: Callable[[str, Any], Mapping[str, Any]] | None = None,
    **record: Any,
) -> Check:
    """Put every statement through the same test and record the check.

    ``statements`` are ``printed``, ``corrected`` (or None) and ``controls`` as the user passed
    them; ``read`` and ``read_measured`` turn one of them (or a wrong measurement), after its name,
    into its validated form, and ``as_array`` into an array, to see whether two are the same, which
    leaves the check undecided. ``compare(label, measured, statement)`` returns the comparison,
    ``tightness(label, statement)`` that of the accepted statement, and
    ``detect(measured, statement, truth)`` the power of a statistical test against ``statement``
    when ``truth`` holds. ``truth`` is None where no statement was accepted and for a wrong
    measurement: the observed difference, less its 99 % error, takes its place.
    """
    text("name", name)
    printed, corrected, controls = statements
    if not isinstance(controls, Mapping):
        raise ValueError(f"controls must map words to wrong statements, got {controls!r}")
    claims = {"printed": read("printed", printed)}
    if corrected is not None:
        claims["corrected"] = read("corrected", corrected)
    arrays = [as_array(claim) for claim in claims.values()]
    results = {label: compare(label, measured, claim) for label, claim in claims.items()}
    if corrected is not None and np.array_equal(arrays[0], arrays[1]):
        results["corrected"] = replace(results["corrected"], outcome=IDENTICAL)
    sound = [label for label, result in results.items() if result.outcome == ACCEPTED]
    title = sound[0] if sound else "printed"
    accepted = claims[title]

    judged_controls = []
    for label, control in controls.items():
        if text("controls", label) in ("printed", "corrected"):
            raise ValueError(f"controls must be described in words of their own, got {label!r}")
        argument, value, statement, truth = f"controls[{label!r}]", measured, accepted, None
        if isinstance(control, Instead):
            value = (read_measured or read)(argument, control.measured)
            same = np.array_equal(value, measured)
        else:
            statement, truth = read(argument, control), accepted if sound else None
            same = any(np.array_equal(as_array(statement), other) for other in arrays)
        result = compare(label, value, statement)
        if isinstance(control, Instead):
            result = replace(result, replaces="measurement")
        if same:
            result = replace(result, outcome=IDENTICAL)
        elif detect is not None:
            power = detect(value, statement, truth)
            weak = result.outcome == REJECTED and not power > POWER
            result = replace(result, power=power, outcome=UNDECIDED if weak else result.outcome)
        judged_controls.append(result)
    return Check(
        name=name,
        kind=kind,
        printed=results["printed"],
        corrected=results.get("corrected"),
        controls=tuple(judged_controls),
        tightness=tightness(title, accepted) if tightness else None,
        **record,
    )


# --- reading what the user passed ----------------------------------------------------------------


def shaped_like(pattern: ArrayLike, whose: str) -> Callable[[str, Any], Array]:
    """Return a reader that refuses NaN and every shape but that of a pattern, which is named."""
    shape = np.shape(pattern)

    def read(name: str, value: Any) -> Array:
        array = finite(name, value, infinite=True)
        if array.shape != shape:
            raise ValueError(f"{name} must have the shape {shape} of {whose}, got {array.shape}")
        return array

    return read


def replicates(name: str, samples: Any, pattern: Array | None = None) -> Array:
    """Read samples, shape (replicates, points) or (replicates,), with the points of ``pattern``."""
    draws = finite(name, samples)
    if draws.ndim not in (1, 2) or len(draws) < MINIMUM_REPLICATES:
        raise ValueError(
            f"{name} must have shape (replicates, points) or (replicates,) with at least "
            f"{MINIMUM_REPLICATES} replicates, got {draws.shape}"
        )
    if pattern is not None and draws.shape[1:] != pattern.shape[1:]:
        raise ValueError(f"{name} must have points of shape {pattern.shape[1:]}, as samples have")
    return draws


def stated_error(allowance: ArrayLike, shape: tuple[int, ...] = ()) -> Array:
    """Read a stated bound on deterministic error: a number, or one for each point."""
    allowed = finite("allowance", allowance)
    if (allowed < 0).any() or allowed.shape not in ((), shape):
        raise ValueError(f"allowance must be >= 0, a number or of shape {shape}")
    return allowed


def named_grids(
    where: Mapping[str, ArrayLike] | None, pattern: Array, whose: str
) -> dict[str, Array]:
    """Read the parameters that name the points of a grid."""
    if not isinstance(where, Mapping | None):
        raise ValueError(f"where must map names to arrays, got {where!r}")
    names = {key: finite(f"where[{key!r}]", grid) for key, grid in (where or {}).items()}
    for key, grid in names.items():
        shaped_like(pattern, whose)(f"where[{key!r}]", grid)
    return names


def distinct(name: str, measured: Any, printed: Any) -> None:
    """Refuse to compare an array, or an end of a pair, with itself."""
    for side in measured if isinstance(measured, tuple) else (measured,):
        arrays = isinstance(side, np.ndarray) and isinstance(printed, np.ndarray)
        if arrays and np.shares_memory(side, printed):
            raise ValueError(f"{name} and printed are the same array: nothing is compared")


# --- small arithmetic ----------------------------------------------------------------------------


def over(a: ArrayLike, b: ArrayLike) -> Array:
    """Quotient of nonnegative numbers with 0/0 = 0, x/0 = inf and inf/inf = 1."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = a / b
    return np.where(a == b, np.where(a == 0, 0.0, 1.0), quotient)


def worst_point(
    ratio: Array, names: Mapping[str, Array], measured: Array, statement: Array
) -> dict[str, Any]:
    """Name the point of the largest ratio and give both sides there."""
    at = np.unravel_index(int(ratio.argmax()), ratio.shape)
    place: dict[str, Any] = {"index": [int(i) for i in at]} if at else {}
    place |= {key: grid[at] for key, grid in names.items()}
    return place | {"measured": measured[at], "statement": statement[at]}


def summary(values: Array) -> Any:
    """Return a number, or the extremes of an array and its shape."""
    if values.size == 1:
        return float(values.reshape(-1)[0])
    return {"min": values.min(), "max": values.max(), "shape": list(values.shape)}
