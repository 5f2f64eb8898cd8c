"""Bounds, and claimed privacy losses, which are bounds with a setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, number, one_of, text
from .attacks import Attack
from .evidence import UNDECIDED, Check, Comparison, judged
from .statistics import finite
from .trial import (
    ROUNDING,
    distinct,
    named_grids,
    over,
    put_to_test,
    shaped_like,
    summary,
    worst_point,
)

Measured = ArrayLike | tuple[ArrayLike, ArrayLike]


def bound(
    name: str,
    *,
    measured: Measured,
    printed: ArrayLike,
    corrected: ArrayLike | None = None,
    controls: Mapping[str, Any],
    sense: str = "<=",
    slack: float = ROUNDING,
    where: Mapping[str, ArrayLike] | None = None,
    attack: Attack | Mapping[str, Attack] | None = None,
) -> Check:
    """Check an inequality ``measured <= printed`` (or ``>=``) over a grid and under attack.

    The ratio is left side over right side at the worst point, so both sides must be nonnegative:
    move terms across where they are not. Tightness is right side over left side.

    Parameters
    ----------
    measured : array_like, or pair (lower, upper) of array_like
        Nonnegative, infinity allowed. A pair holds the ends of a simultaneous confidence interval
        or of a certified one. The bound is accepted only if the whole interval obeys it, rejected
        only if the whole interval violates it at some point, and undecided otherwise.
    printed, corrected : array_like
        Of the shape of ``measured``, nonnegative, infinity allowed.
    controls : mapping of str to array_like, or ``instead(measured)``
        Stronger bounds, each violated somewhere on the grid or under its attack.
    sense : {"<=", ">="}
    slack : float
        Relative allowance for rounding only, at most 1e-6.
    where : mapping of str to array_like, optional
        Parameters of the grid, each of the shape of ``measured``: they name the tightest point.
    attack : Attack or mapping of label to Attack, optional
        Results of :func:`~dpdynamics.verification.attack` on left side over right side: of the
        printed statement, or keyed by ``"printed"``, ``"corrected"`` and the words of controls.
    """
    one_of("sense", sense, ("<=", ">="))
    if not 0 <= number("slack", slack) <= 1e-6:
        raise ValueError(f"slack must lie in [0, 1e-6]: it is for rounding only, got {slack}")
    distinct("measured", measured, printed)
    ends = _ends("measured", measured)
    statements = name, printed, corrected, controls
    return _inequality("measured", ends, *statements, where, sense, slack, attack)


def _inequality(
    whose: str,
    ends: Array,
    name: str,
    printed: ArrayLike,
    corrected: ArrayLike | None,
    controls: Mapping[str, Any],
    where: Mapping[str, ArrayLike] | None,
    sense: str = "<=",
    slack: float = ROUNDING,
    attack: Attack | Mapping[str, Attack] | None = None,
) -> Check:
    """Check an inequality between ``ends``, read from the argument ``whose``, and statements."""
    attacks: dict[str, Attack] = {}
    if attack is not None:
        attacks.update(attack if isinstance(attack, Mapping) else {"printed": attack})
    for key, found in attacks.items():
        if key not in ("printed", "corrected", *controls) or not isinstance(found, Attack):
            raise ValueError(
                f"attack must be made on a statement of this check: {key!r}, {found!r}"
            )
        number(f"attack[{key!r}]", found.value)
    points, names = ends[0].size, named_grids(where, ends[0], whose)
    looks = sum(a.evaluations for a in attacks.values())
    searches = {f"attack on {key}": {"ratio": a.value, **a.argument} for key, a in attacks.items()}

    def sides(value: Array, statement: Array) -> Array:
        return over(value, statement) if sense == "<=" else over(statement, value)

    def compare(label: str, value: Array, statement: Array) -> Comparison:
        against, in_favour = (value[1], value[0]) if sense == "<=" else (value[0], value[1])
        accept, reject = sides(against, statement), sides(in_favour, statement)
        worst = worst_point(accept, names, against, statement)
        found = attacks[label].value if label in attacks else 0.0
        if found > accept.max():
            worst = {"found by": "attack", **attacks[label].argument}
        accepting, rejecting = (float(max(r.max(), found)) / (1 + slack) for r in (accept, reject))
        if accepting > 1 >= rejecting:
            return Comparison(label, accepting, UNDECIDED, worst=worst)
        return judged(label, accepting if accepting <= 1 else rejecting, worst)

    def tightness(label: str, statement: Array) -> dict[str, Any]:
        factor = over(1.0, sides(ends.mean(axis=0), statement))
        at = np.unravel_index(int(factor.argmin()), factor.shape)
        found = {key: grid[at] for key, grid in names.items()}
        return {
            "min": factor.min(),
            "median": np.median(factor),
            "max": factor.max(),
            "tightest at": found or {"index": [int(i) for i in at]},
            "under attack": float(over(1.0, attacks[label].value)) if label in attacks else None,
        }

    return put_to_test(
        name,
        "bound",
        ends,
        printed,
        corrected,
        controls,
        compare=compare,
        read=lambda label, value: _ends(label, shaped_like(ends[0], whose)(label, value))[1],
        read_measured=lambda label, value: shaped_like(ends, whose)(label, _ends(label, value)),
        tightness=tightness,
        test=f"measured {sense} statement at every point, rounding slack {slack:g}"
        + ("" if attacks else "; on the grid only"),
        comparisons=points,
        sizes={"points": points} | ({"attack evaluations": looks} if looks else {}),
        numbers={"measured": _interval(ends), **searches},
    )


def privacy(
    name: str,
    *,
    exact: Measured,
    printed: ArrayLike,
    mechanism: str,
    neighbours: str,
    sampling: str,
    accountant: str,
    corrected: ArrayLike | None = None,
    controls: Mapping[str, Any],
    audit_lower: ArrayLike | None = None,
    where: Mapping[str, ArrayLike] | None = None,
) -> Check:
    """Check a claimed privacy loss against an exact or certified value and an audit from below.

    Parameters
    ----------
    exact : array_like, or pair (certified lower, certified upper) of array_like
        The divergence or epsilon. The claim is accepted if it is at least the upper value
        everywhere, rejected if it lies below the lower value (or the audit) somewhere.
    printed, corrected : array_like of the shape of ``exact``
    mechanism, neighbours, sampling, accountant : str
        Without these four a privacy number is not a number; all are recorded.
    controls : mapping of str to array_like or ``instead(exact)``
    audit_lower : array_like, optional
        Empirical lower confidence limits, of the shape of ``exact``. One above the certified upper
        value contradicts our own accounting and leaves the check undecided.
    where : mapping of str to array_like, optional
        Parameters of the grid, each of the shape of ``exact``.
    """
    setting = {
        "mechanism": mechanism,
        "neighbours": neighbours,
        "sampling": sampling,
        "accountant": accountant,
    }
    for key, words in setting.items():
        text(key, words)
    distinct("exact", exact, printed)
    ends = _ends("exact", exact)
    numbers: dict[str, Any] = {"exact": _interval(ends), **setting}
    objections: tuple[str, ...] = ()
    if audit_lower is not None:
        audit = shaped_like(ends[0], "exact")("audit_lower", audit_lower)
        numbers["audit from below"] = summary(audit)
        if (audit > ends[1] * (1 + ROUNDING)).any():
            objections = ("the audit exceeds the certified value: one of the two is wrong",)
        ends = np.maximum(ends, audit)
    check = _inequality("exact", ends, name, printed, corrected, controls, where)
    return replace(check, kind="privacy", numbers=numbers, objections=objections)


def _ends(name: str, value: Any) -> Array:
    """Read numbers, or a pair of lower and upper ends, as ends (2, ...) that are nonnegative."""
    pair = value if isinstance(value, tuple) else (value, value)
    if len(pair) != 2:
        raise ValueError(f"{name} must be numbers or a pair (lower, upper), got a tuple {value}")
    high = finite(name, pair[1], infinite=True)
    low = shaped_like(high, "the upper end")(f"lower end of {name}", pair[0])
    if (high < 0).any():
        raise ValueError(f"{name} must be nonnegative: move terms across the inequality")
    if (low > high).any():
        raise ValueError(f"{name} must be a pair (lower, upper) with lower <= upper")
    return np.stack([np.maximum(low, 0.0), high])


def _interval(ends: Array) -> Any:
    low, high = ends
    if np.array_equal(low, high):
        return summary(high)
    return {"lower": summary(low), "upper": summary(high)}
