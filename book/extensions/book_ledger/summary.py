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

from .evidence import Record, tightest
from .ledger import Ledger, Row

VIEWS = (  # of ``{evidence} VIEW``
    *("verdicts", "coverage", "unexercised", "margins", "kinds", "tightness", "attained"),
    *("tightest", "loosest", "out-of-reach"),
)
MARGINS = (1.1, 2.0, 10.0, 100.0, 1e4, math.inf)  # upper ends of the bins
TIGHTNESS = (1.001, 1.1, 2.0, 10.0, 100.0, math.inf)
IMPORTANCE = ("theorem", "corollary", "proposition", "equation", "lemma")
LISTED = 12  # lines of a table


@dataclass(frozen=True)
class Bound:
    """How loose one bound is where it is tightest."""

    row: Row
    check: Record

    @property
    def tightness(self) -> float:
        """Bound over measured quantity."""
        return tightest(self.check)

    @property
    def at(self) -> str:
        """The parameters there, in words."""
        found = self.check["tightness"]
        if self.tightness < float(found["min"]):
            return "found by the attack"
        named = {k: v for k, v in found["tightest at"].items() if k != "index"}
        words = (
            f"{k} = {v:.4g}" if isinstance(v, float) else f"{k} = {v}" for k, v in named.items()
        )
        return ", ".join(words) or "a point of the grid"

    @property
    def rank(self) -> tuple[float, int]:
        """The tightest bounds first; of equally tight ones theorems before lemmas."""
        kind = self.row.claim.kind
        importance = IMPORTANCE.index(kind) if kind in IMPORTANCE else len(IMPORTANCE)
        return round(self.tightness, 3), importance


@dataclass(frozen=True)
class Summary:
    """The evidence of a ledger's papers, added up."""

    ledger: Ledger

    @cached_property
    def checks(self) -> list[tuple[Row, Record]]:
        """All checks with their claims."""
        return [(row, check) for row in self.ledger.of() for check in row.decision.checks]

    @property
    def margins(self) -> list[tuple[str, int]]:
        """How many checks rejected their narrowest control by which factor."""
        return binned(least_margins(check for _, check in self.checks), MARGINS)

    @property
    def kinds(self) -> list[tuple[str, int, int, int, float]]:
        """Kinds of evidence: checks, claims, controls and the median of the least margins."""
        found: dict[str, list[tuple[Row, Record]]] = {}
        for row, check in self.checks:
            found.setdefault(check["kind"], []).append((row, check))
        lines = []
        for kind, pairs in found.items():
            checks = [check for _, check in pairs]
            claims = len({row.claim.id for row, _ in pairs})
            controls = sum(len(check["controls"]) for check in checks)
            lines.append((kind, len(checks), claims, controls, median(least_margins(checks))))
        return sorted(lines, key=lambda line: -line[1])

    def shares(self, source: str | None) -> list[float]:
        """Per claim of a source with terms, the share of them that is exercised."""
        found = [row.decision.coverage for row in self.ledger.of(source)]
        return [part / whole for part, whole in found if whole]

    @property
    def least_exercised(self) -> list[Row]:
        """The claims with the largest share of terms that nothing exercises."""
        found = [(row, *row.decision.coverage) for row in self.ledger.of()]
        worst = sorted((f for f in found if f[1] < f[2]), key=lambda f: (f[1] / f[2], -f[2]))
        return [row for row, _, _ in worst[:LISTED]]

    @cached_property
    def bounds(self) -> list[Bound]:
        """All bounds in the order of their ranks."""
        found = [
            Bound(row, check)
            for row, check in self.checks
            if check["tightness"] and check["outcome"] != FAILED
        ]
        return sorted(found, key=lambda bound: bound.rank)

    @property
    def tightness(self) -> list[tuple[str, int]]:
        """How many bounds are how loose."""
        return binned((bound.tightness for bound in self.bounds), TIGHTNESS)

    @property
    def attained(self) -> list[Bound]:
        """The bounds on the papers' statements that are attained to a part in a thousand."""
        sharp = [b for b in self.bounds if b.tightness <= TIGHTNESS[0]]
        return [b for b in sharp if "(ours)" not in b.check["name"]]

    @property
    def tightest(self) -> list[Bound]:
        """The tightest bounds that are not attained."""
        return first_of_each_claim(b for b in self.bounds if b.tightness > TIGHTNESS[0])

    @property
    def loosest(self) -> list[Bound]:
        """The loosest bounds."""
        return first_of_each_claim(reversed(self.bounds))

    @property
    def unreachable(self) -> list[Row]:
        """The claims that are out of reach."""
        return [row for row in self.ledger.of() if row.verdict == OUT_OF_REACH]

    @property
    def numbers(self) -> dict[str, str]:
        """The numbers of the text, by the words for them."""
        controls = [control for _, check in self.checks for control in check["controls"]]
        powers = [float(c["power"]) for c in controls if c["power"] is not None]
        margins = least_margins(check for _, check in self.checks) or [math.nan]
        attacked = sum(b.check["tightness"]["under attack"] is not None for b in self.bounds)
        numbers = {
            "checks": len(self.checks),
            "controls": len(controls),
            "wrong measurements": sum(c["replaces"] == "measurement" for c in controls),
            "statistical controls": len(powers),
            "bounds": len(self.bounds),
            "attacked bounds": attacked,
            "bounds on the grid only": len(self.bounds) - attacked,
            "attained bounds": len(self.attained),
            "least margin": f"{min(margins):.6g}",
            "median margin": f"{median(margins):.2g}",
            "least power": f"{min(powers, default=math.nan):.3f}",
        }
        return {words: str(number) for words, number in numbers.items()}


def least_margins(checks: Iterable[Record]) -> list[float]:
    """Per check, the factor by which its narrowest control was rejected."""
    return [
        min(float(control["margin"]) for control in check["controls"])
        for check in checks
        if check["controls"]
    ]


def first_of_each_claim(bounds: Iterable[Bound]) -> list[Bound]:
    """A bound per claim, as many as a table lists; two claims may rest on the same check."""
    chosen: dict[str, Bound] = {}
    seen: set[tuple[str, float]] = set()
    for bound in bounds:
        same = bound.check["name"], bound.tightness
        if same not in seen:
            chosen.setdefault(bound.row.claim.id, bound)
        seen.add(same)
    return list(chosen.values())[:LISTED]


def binned(values: Iterable[float], ends: tuple[float, ...]) -> list[tuple[str, int]]:
    """Numbers of values at most each end and above the one before it, with the bins in words."""
    values, low, result = list(values), 1.0, []
    for index, high in enumerate(ends):
        count = sum((low < v or index == 0) and v <= high for v in values)
        words = f"above {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"
        result.append((words.replace("10000", "10 000"), count))
        low = high
    return result
