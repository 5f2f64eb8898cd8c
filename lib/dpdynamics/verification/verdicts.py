"""Verdicts on claims: computed from checks and graded errata, never typed.

The words and the rule that gives them stand in :mod:`.words`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..arguments import one_of, text
from . import rendering, words
from .evidence import Check
from .seeds import base_seed

Coverage = Mapping[str, str | Sequence[str] | None]


@dataclass(frozen=True)
class Erratum:
    """A correction to a printed statement, tied to the check that shows it.

    Attributes
    ----------
    location, printed, correct, consequence : str
        Where in the paper, what is printed, what is right, and what follows for the paper's
        results, in Markdown with TeX between single dollars.
    check : str
        Name of the check of the same verdict that rejects the printed statement.
    grade : {"misprint", "constant", "condition", "conclusion"}
        A wrong sign, index, letter or reference; a wrong factor or number; a missing hypothesis;
        a false statement, or a false conclusion that the paper draws.
    part : {"statement", "proof"}
        Whether the slip stands in the statement or only in its proof.
    also : tuple of str
        Names of further checks of the verdict that reject the printed statement for this reason.
    """

    location: str
    printed: str
    correct: str
    consequence: str
    check: str
    grade: str
    part: str = "statement"
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "also":
                text(f"{name} of an erratum", value)
        one_of("grade", self.grade, tuple(words.GRADES))
        one_of("part", self.part, words.PARTS)


@dataclass(frozen=True)
class Verdict:
    """The verdict on one claim with all its evidence; displays itself in text, HTML and JSON.

    It records the base seed of :func:`generator`; ``coverage`` lists each term of the statement
    with the controls or checks that exercise it.
    """

    claim: str
    checks: tuple[Check, ...]
    errata: tuple[Erratum, ...] = ()
    coverage: tuple[Mapping[str, Any], ...] = ()
    assumed: bool = False
    rebuilt: bool = False
    reason: str = ""
    substitute: tuple[str, ...] = ()
    seed: int = field(default_factory=base_seed)

    @property
    def verdict(self) -> str:
        """The word, derived from the evidence."""
        return str(self.evidence["verdict"])

    @property
    def evidence(self) -> dict[str, Any]:
        """All of it in the form of ``evidence.schema.json``."""
        checks = [{**vars(c), "outcome": c.outcome, "reasons": c.reasons} for c in self.checks]
        for check in checks:
            del check["objections"]  # they are among the reasons
        record: dict[str, Any] = rendering.plain(
            {**vars(self), "checks": checks, "errata": [vars(e) for e in self.errata]}
        )
        return {"claim": record.pop("claim"), "verdict": words.settled(record), **record}

    def __str__(self) -> str:
        return rendering.as_text(self.evidence)

    __repr__ = __str__

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        evidence = self.evidence
        data = {
            rendering.MIME: evidence,
            "text/html": rendering.as_html(evidence),
            "text/plain": rendering.as_text(evidence),
        }
        return data, {"dpdynamics": {"claim": self.claim}}


def verdict(
    claim: str,
    *checks: Check,
    assumed: bool = False,
    rebuilt: bool = False,
    errata: Sequence[Erratum] = (),
    coverage: Coverage | None = None,
) -> Verdict:
    """Return the verdict on a claim: the worst that its checks and the errata leave of it.

    It is ``undecided``, with the reason in words, when an erratum or the coverage rests on what the
    checks do not show: so it is for a reader who changes a number. The ledger refuses it.

    Parameters
    ----------
    claim : str
        Identifier in the inventory, for instance ``"lin2025.eq5"``.
    *checks
        At least one, with distinct names.
    assumed : bool
        For definitions, assumptions and algorithms: ``holds`` becomes ``assumed``, and the verdict
        shows no box.
    rebuilt : bool
        For statements that the text had lost: ``holds`` becomes ``holds as rebuilt``.
    errata : sequence of Erratum
        Each names a check of this verdict that rejects the printed statement. A rejected
        statement that no erratum names fails as printed.
    coverage : mapping of str to str, sequence of str, or None
        Each hypothesis, term, factor and exponent of the statement, in words, with what exercises
        it: labels of rejected controls of these checks, or names of checks that reject the printed
        and accept the corrected statement because of it; None if nothing does.
    """
    if not checks:
        raise ValueError("checks must not be empty: a verdict needs evidence")
    _fit(claim, checks, errata)
    return Verdict(claim, checks, tuple(errata), _covered(coverage, checks), assumed, rebuilt)


def out_of_reach(
    claim: str,
    *,
    reason: str,
    tested: Sequence[Check] = (),
    substitute: Sequence[Check] = (),
    rebuilt: bool = False,
    errata: Sequence[Erratum] = (),
    coverage: Coverage | None = None,
) -> Verdict:
    """Return ``out of reach`` for a claim that no computation can decide, with what was tested.

    A failed necessary condition refutes the claim all the same, and an undecided one decides
    nothing: in these two cases the verdict is that of the checks.

    Parameters
    ----------
    reason : str
        Why the claim cannot be decided numerically.
    tested : sequence of Check
        Necessary conditions of the claim itself.
    substitute : sequence of Check
        The statement on a stand-in, for instance on other data. Their worst outcome is shown as
        what the substitute found; it decides nothing about the claim.
    claim, rebuilt, errata, coverage
        As in :func:`verdict`.
    """
    text("reason", reason)
    checks = (*tested, *substitute)
    _fit(claim, checks, errata)
    found = claim, checks, tuple(errata), _covered(coverage, checks), False, rebuilt
    return Verdict(*found, reason, tuple(check.name for check in substitute))


def _fit(claim: str, checks: Sequence[Check], errata: Sequence[Erratum]) -> None:
    """Refuse a claim, checks and errata that do not fit together."""
    if not re.fullmatch(r"[a-z]+\d{4}\.[A-Za-z0-9.\-]+", text("claim", claim)):
        raise ValueError(f'claim must look like "lin2025.eq5", got {claim!r}')
    for name, kind, given in (("checks", Check, checks), ("errata", Erratum, errata)):
        if strange := [item for item in given if not isinstance(item, kind)]:
            raise ValueError(f"{name} must be {name} of this module, got {strange[0]!r}")
    by_name = {check.name: check for check in checks}
    if len(by_name) < len(checks):
        raise ValueError("checks of one verdict must have distinct names")
    for name in (name for e in errata for name in (e.check, *e.also)):
        if name not in by_name:
            raise ValueError(f"check of an erratum must be one of {sorted(by_name)}, got {name!r}")


def _covered(coverage: Coverage | None, checks: Sequence[Check]) -> tuple[dict[str, Any], ...]:
    """Read the terms of a statement, each with what exercises it."""
    able = {check.name for check in checks}
    able |= {control.label for check in checks for control in check.controls}
    terms = []
    for term, by in (coverage or {}).items():
        labels = [] if by is None else [by] if isinstance(by, str) else list(by)
        for words_ in (term, *labels):
            text("coverage: a term or what exercises it", words_)
        if strange := [label for label in labels if label not in able]:
            raise ValueError(
                f'coverage of "{term}" names {strange[0]!r}, which is neither a control nor a '
                f"check; there are {sorted(able)}"
            )
        terms.append({"term": term, "by": labels})
    return tuple(terms)
