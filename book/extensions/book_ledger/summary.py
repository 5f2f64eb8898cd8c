"""What the recorded evidence amounts to, in numbers: checks, controls, margins, bounds.

Only the four papers count here; the book's own statements would flatter the totals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from dpdynamics.verification.evidence import FAILED
from dpdynamics.verification.words import OUT_OF_REACH

from .evidence import Record
from .ledger import Ledger, Row

MARGINS = (1.1, 2.0, 10.0, 100.0, 1e4, math.inf)  # upper ends of the bins
TIGHTNESS = (1.001, 1.1, 2.0, 10.0, 100.0, math.inf)
IMPORTANCE = ("theorem", "corollary", "proposition", "equation", "lemma")


@dataclass(frozen=True)
class Bound:
    """How loose one bound is where it is tightest."""

    row: Row
    check: Record
    tightness: float
    at: str

    @property
    def importance(self) -> int:
        """Position of its claim's kind in :data:`IMPORTANCE`."""
        kind = self.row.claim.kind
        return IMPORTANCE.index(kind) if kind in IMPORTANCE else len(IMPORTANCE)


@dataclass(frozen=True)
class Summary:
    """The evidence of a ledger's papers, added up."""

    ledger: Ledger

    @cached_property
    def rows(self) -> list[Row]:
        """The claims that have a record."""
        return [row for row in self.ledger.of() if row.decision]

    @cached_property
    def checks(self) -> list[tuple[Row, Record]]:
        """All checks with their claims."""
        return [(row, check) for row in self.rows if row.decision for check in row.decision.checks]

    @cached_property
    def controls(self) -> list[Record]:
        """All controls."""
        return [control for _, check in self.checks for control in check["controls"]]

    @cached_property
    def least_margins(self) -> list[float]:
        """Per check, the factor by which its narrowest control was rejected."""
        return [least_margin(check) for _, check in self.checks if check["controls"]]

    @cached_property
    def kinds(self) -> dict[str, list[tuple[Row, Record]]]:
        """Checks by kind, the most frequent kind first."""
        found: dict[str, list[tuple[Row, Record]]] = {}
        for row, check in self.checks:
            found.setdefault(check["kind"], []).append((row, check))
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    @cached_property
    def bounds(self) -> list[Bound]:
        """All bounds, the tightest first; of equally tight ones theorems before lemmas."""
        found = [
            _bound(row, check)
            for row, check in self.checks
            if check["tightness"] and check["outcome"] != FAILED
        ]
        return sorted(found, key=lambda b: (round(b.tightness, 3), b.importance))

    @property
    def attained(self) -> list[Bound]:
        """The bounds on the papers' statements that are attained to a part in a thousand."""
        sharp = [b for b in self.bounds if b.tightness <= TIGHTNESS[0]]
        return [b for b in sharp if "(ours)" not in b.check["name"]]

    @property
    def attacked(self) -> list[Bound]:
        """The bounds under attack by an optimiser."""
        return [b for b in self.bounds if b.check["tightness"]["under attack"] is not None]

    @property
    def unreachable(self) -> list[Row]:
        """The claims that are out of reach."""
        return [row for row in self.rows if row.verdict == OUT_OF_REACH]

    def number(self, name: str) -> str | None:
        """A number for the text, by name; None if there is no such number."""
        powers = [float(c["power"]) for c in self.controls if c["power"] is not None]
        measured = [c for c in self.controls if c["replaces"] == "measurement"]
        values = {
            "checks": len(self.checks),
            "controls": len(self.controls),
            "wrong measurements": len(measured),
            "statistical controls": len(powers),
            "bounds": len(self.bounds),
            "attacked bounds": len(self.attacked),
            "bounds on the grid only": len(self.bounds) - len(self.attacked),
            "attained bounds": len(self.attained),
        }
        if name in values:
            return str(values[name])
        if name == "least margin" and self.least_margins:
            return f"{min(self.least_margins):.3g}"
        if name == "median margin" and self.least_margins:
            return f"{median(self.least_margins):.2g}"
        if name == "least power" and powers:
            return f"{min(powers):.3f}"
        return None


def least_margin(check: Record) -> float:
    """The factor by which the narrowest control of a check was rejected."""
    return min(float(control["margin"]) for control in check["controls"])


def binned(values: Iterable[float], ends: tuple[float, ...]) -> list[tuple[str, int]]:
    """Numbers of values at most each end and above the one before it, with the bins in words."""
    values, low, result = list(values), 1.0, []
    for index, high in enumerate(ends):
        count = sum((low < v or index == 0) and v <= high for v in values)
        words = f"above {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"
        result.append((words.replace("10000", "10 000"), count))
        low = high
    return result


def _bound(row: Row, check: Record) -> Bound:
    tight = check["tightness"]
    attacked = tight["under attack"]
    on_grid = float(tight["min"])
    if attacked is not None and float(attacked) < on_grid:
        return Bound(row, check, float(attacked), "found by the attack")
    named = {k: v for k, v in tight["tightest at"].items() if k != "index"}
    at = ", ".join(
        f"{k} = {v:.4g}" if isinstance(v, float) else f"{k} = {v}" for k, v in named.items()
    )
    return Bound(row, check, on_grid, at or "a point of the grid")
