"""What a check leaves behind: comparisons and the outcome they force.

Every comparison is one number, ``ratio`` = discrepancy / tolerance (for a test statistic / critical
value, for an inequality left side / right side). A ratio of at most 1 accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

ACCEPTED, REJECTED, UNDECIDED = "accepted", "rejected", "undecided"
IDENTICAL = "identical"  # what was to be told apart is the same: nothing was put to the test
HELD, CORRECTED, FAILED = "holds", "corrected", "fails"  # outcomes of a check


@dataclass(frozen=True)
class Comparison:
    """One statement put through one test."""

    label: str  # "printed", "corrected" or the words that describe the control
    ratio: float  # discrepancy over tolerance, at least 0, possibly infinite, never NaN
    outcome: str  # accepted, rejected, undecided or identical
    power: float | None = None  # probability that a statistical test rejects the control
    worst: Mapping[str, Any] = field(default_factory=dict)  # the point that decides the ratio
    replaces: str = "statement"  # or "measurement": what a control falsifies

    @property
    def margin(self) -> float:
        """How far the ratio is from 1 on its side, as a factor of at least 1."""
        return self.ratio if self.ratio > 1 else 1 / self.ratio if self.ratio else np.inf


def judged(label: str, ratio: float, worst: Mapping[str, Any]) -> Comparison:
    """Return the comparison whose outcome is read off its ratio alone."""
    return Comparison(label, float(ratio), ACCEPTED if ratio <= 1 else REJECTED, worst=worst)


@dataclass(frozen=True)
class Check:
    """The immutable result of one check: a measured quantity against a printed statement.

    Made by the nine kinds of check, never by hand. ``outcome`` is derived:

    * ``undecided`` when there is a reason: no control, a control that is not rejected or rejected
      with too little power or the statement itself, a correction that is the printed statement, a
      test that could not decide, or a recorded objection;
    * ``holds`` when the printed statement is accepted;
    * ``corrected`` when it is rejected and the corrected one accepted;
    * ``fails`` otherwise.
    """

    name: str
    kind: str
    test: str
    printed: Comparison
    corrected: Comparison | None
    controls: tuple[Comparison, ...]
    sizes: Mapping[str, int]
    numbers: Mapping[str, Any]
    comparisons: int = 1
    tightness: Mapping[str, Any] | None = None
    objections: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("sizes", "numbers", "tightness"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, MappingProxyType(dict(value)))

    @property
    def outcome(self) -> str:
        """One of ``holds``, ``corrected``, ``fails``, ``undecided``."""
        if self.reasons:
            return UNDECIDED
        if self.printed.outcome == ACCEPTED:
            return HELD
        corrected = self.corrected is not None and self.corrected.outcome == ACCEPTED
        return CORRECTED if corrected else FAILED

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the check decides nothing; empty when it decides."""
        reasons = list(self.objections)
        if not self.controls:
            reasons.append("no control: nothing shows that this check can fail")
        for control in self.controls:
            if control.outcome == IDENTICAL:
                reasons.append(
                    f'control "{control.label}" is the {control.replaces} itself: '
                    "the check treats both alike, and shows nothing"
                )
            elif control.outcome == ACCEPTED:
                reasons.append(
                    f'control "{control.label}" is not rejected: '
                    f"the check does not tell it from the {control.replaces}"
                )
            elif control.outcome == UNDECIDED:
                weak = "" if control.power is None else f" (power {control.power:.3g})"
                reasons.append(f'control "{control.label}" is not told apart{weak}')
        if self.corrected is not None and self.corrected.outcome == IDENTICAL:
            reasons.append("the corrected statement is the printed one: nothing is corrected")
        deciding = [self.printed]
        if self.printed.outcome == REJECTED and self.corrected is not None:
            deciding.append(self.corrected)
        reasons += [
            f"the measurement is too coarse for the {statement.label} statement"
            for statement in deciding
            if statement.outcome == UNDECIDED
        ]
        return tuple(reasons)
