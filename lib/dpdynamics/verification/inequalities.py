"""Bounds, and claimed privacy losses, which are bounds with a setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, number, one_of, text, within
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
    printed, corrected, controls : array_like
        Of the shape of ``measured``, nonnegative, infinity allowed. Controls are stronger bounds,
        each violated somewhere on the grid or under its attack.
    sense : {"<=", ">="}
    slack : float
        Relative allowance for rounding only, at most 1e-6.
    attack : Attack or mapping of label to Attack, optional
        Results of :func:`~dpdynamics.verification.attack` on left side over right side: of the
        printed statement, or keyed by ``"printed"``, ``"corrected"`` and the words of controls.
    """
    one_of("sense", sense, ("<=", ">="))
    within("slack", slack, 0, 1e-6)  # it is for rounding only
    distinct("measured", measured, printed)
    attacks: dict[str, Attack] = {}
    if attack is not None:
        attacks.update(attack if isinstance(attack, Mapping) else {"printed": attack})
    for key, found in attacks.items():
        if key not in ("printed", "corrected", *controls) or not isinstance(found, Attack):
            raise ValueError(
                f"attack must be made on a statement of this check: {key!r}, {found!r}"
            )
        number(f"attack[{key!r}]", found.value)
    ends = _ends("measured", measured)
    names = named_grids(where, ends[0], "measured")
    inequality = _Inequality("measured", ends, names, sense, slack, attacks)
    searches = {f"attack on {key}": {"ratio": a.value, **a.argument} for key, a in attacks.items()}
    numbers = {"measured": _interval(ends), **searches}
    return inequality.check(name, "bound", (printed, corrected, controls), numbers=numbers)


@dataclass(frozen=True)
class _Inequality:
    """Nonnegative ends, shape (2, ...), read from the argument ``whose``, and a sense."""

    whose: str
    ends: Array
    names: Mapping[str, Array]
    sense: str = "<="
    slack: float = ROUNDING
    attacks: Mapping[str, Attack] = field(default_factory=dict)

    def sides(self, value: Array, statement: Array) -> Array:
        return over(value, statement) if self.sense == "<=" else over(statement, value)

    def compare(self, label: str, value: Array, statement: Array) -> Comparison:
        in_favour, against = value if self.sense == "<=" else value[::-1]
        accept, reject = self.sides(against, statement), self.sides(in_favour, statement)
        worst = worst_point(accept, self.names, against, statement)
        found = self.attacks[label].value if label in self.attacks else 0.0
        if found > accept.max():
            worst = {"found by": "attack", **self.attacks[label].argument}
        accepting, rejecting = (
            float(max(r.max(), found)) / (1 + self.slack) for r in (accept, reject)
        )
        if accepting > 1 >= rejecting:
            return Comparison(label, accepting, UNDECIDED, worst=worst)
        return judged(label, accepting if accepting <= 1 else rejecting, worst)

    def tightness(self, label: str, statement: Array) -> dict[str, Any]:
        factor = over(1.0, self.sides(self.ends.mean(axis=0), statement))
        if self.sense == "<=":
            factor = np.where(np.isinf(statement), np.inf, factor)  # an infinite bound says nothing
        at = np.unravel_index(int(factor.argmin()), factor.shape)
        found = {key: grid[at] for key, grid in self.names.items()}
        attacked = self.attacks.get(label)
        return {
            "min": factor.min(),
            "median": np.median(factor),
            "max": factor.max(),
            "tightest at": found or {"index": [int(i) for i in at]},
            "under attack": attacked and float(over(1.0, attacked.value)),
        }

    def read(self, name: str, statement: Any) -> Array:
        return _ends(name, shaped_like(self.ends[0], self.whose)(name, statement))[1]

    def check(self, name: str, kind: str, statements: tuple, **record: Any) -> Check:
        points, looks = self.ends[0].size, sum(a.evaluations for a in self.attacks.values())
        return put_to_test(
            name,
            kind,
            self.ends,
            statements,
            compare=self.compare,
            read=self.read,
            read_measured=lambda name, value: shaped_like(self.ends, self.whose)(
                name, _ends(name, value)
            ),
            tightness=self.tightness,
            test=f"measured {self.sense} statement at every point, rounding slack {self.slack:g}"
            + ("" if self.attacks else "; on the grid only"),
            comparisons=points,
            sizes={"points": points} | ({"attack evaluations": looks} if looks else {}),
            **record,
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
    mechanism, neighbours, sampling, accountant : str
        What the loss is of; recorded.
    audit_lower : array_like, optional
        Empirical lower confidence limits, of the shape of ``exact``. One above the certified upper
        value contradicts our own accounting and leaves the check undecided.
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
    inequality = _Inequality("exact", ends, named_grids(where, ends[0], "exact"))
    record = {"numbers": numbers, "objections": objections}
    return inequality.check(name, "privacy", (printed, corrected, controls), **record)


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
