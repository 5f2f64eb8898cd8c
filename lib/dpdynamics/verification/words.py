"""The words of a verdict: their one definition, and how they follow from checks and errata.

=============================  ====================================================================
``holds``                      true as printed
``holds as rebuilt``           the text had lost the statement; our reconstruction of it holds
``holds, misprinted``          a sign, an index, a letter or a constant is wrong, and nothing that
                               is drawn from the statement changes; or only its proof has a slip
``holds under a condition``    true once a hypothesis is added or strengthened
``fails as printed``           the statement, or a conclusion that is drawn from it, is false
``assumed``                    a definition, an assumption or an algorithm: exercised, not decided
``out of reach``               not decided: it needs data or settings that the book lacks
``undecided``                  the absence of a verdict
=============================  ====================================================================

Everything here acts on plain records in the form of ``evidence.schema.json``, so that the library,
which writes them, and the ledger, which derives them again, share one rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .evidence import CORRECTED, FAILED, HELD, REJECTED, UNDECIDED

HOLDS = "holds"
REBUILT = "holds as rebuilt"
MISPRINTED = "holds, misprinted"
CONDITIONAL = "holds under a condition"
FAILS = "fails as printed"
ASSUMED = "assumed"
OUT_OF_REACH = "out of reach"
VERDICTS = (HOLDS, REBUILT, MISPRINTED, CONDITIONAL, FAILS, ASSUMED, OUT_OF_REACH, UNDECIDED)

# What an accepted correction of each grade leaves of the printed statement.
GRADES = {
    "misprint": MISPRINTED,
    "constant": MISPRINTED,
    "condition": CONDITIONAL,
    "conclusion": FAILS,
}
PARTS = ("statement", "proof")
SEVERITY = (HOLDS, MISPRINTED, CONDITIONAL, FAILS, UNDECIDED)
OUTCOMES = (HELD, CORRECTED, FAILED, UNDECIDED)  # of a check, by severity

Record = Mapping[str, Any]


def settled(record: Record) -> str:
    """Return the verdict that the checks and errata of a record force."""
    substitute = record["substitute"]
    checks = [check for check in record["checks"] if check["name"] not in substitute]
    if unsupported(record):
        return UNDECIDED
    word = max(
        (_left_by(check, record["errata"]) for check in checks), key=SEVERITY.index, default=HOLDS
    )
    if record["reason"]:
        return word if word in (FAILS, UNDECIDED) else OUT_OF_REACH
    if word == HOLDS:
        return ASSUMED if record["assumed"] else REBUILT if record["rebuilt"] else HOLDS
    return word


def unsupported(record: Record) -> list[str]:
    """What errata and coverage call shown, and no check shows: with it, nothing is decided."""
    outcomes = {check["name"]: check["outcome"] for check in record["checks"]}
    able = {name for name, outcome in outcomes.items() if outcome == CORRECTED}
    for check in record["checks"]:
        able |= {c["label"] for c in check["controls"] if c["outcome"] == REJECTED}
    return [
        f"the erratum at {erratum['location']} has nothing to show: with these numbers "
        f'the check "{name}" does not reject the printed statement'
        for erratum in record["errata"]
        for name in (erratum["check"], *erratum["also"])
        if outcomes.get(name) not in (CORRECTED, FAILED)
    ] + [
        f'the term "{entry["term"]}" is not exercised: with these numbers "{label}" is neither '
        "a rejected control nor a check that corrects the printed statement"
        for entry in record["coverage"]
        for label in entry["by"]
        if label not in able
    ]


def unexplained(record: Record) -> list[str]:
    """The checks that reject the printed statement although no erratum names them, in words."""
    named = {name for e in record["errata"] for name in (e["check"], *e["also"])}
    return [
        f'the check "{check["name"]}" rejects the printed statement, and no erratum says so'
        for check in record["checks"]
        if check["outcome"] in (CORRECTED, FAILED)
        and check["name"] not in named | set(record["substitute"])
    ]


def found_on_substitute(record: Record) -> str | None:
    """Return the worst outcome of the checks on a stand-in; None if there are none."""
    outcomes = [c["outcome"] for c in record["checks"] if c["name"] in record["substitute"]]
    return max(outcomes, key=OUTCOMES.index, default=None)


def repaired(record: Record) -> bool:
    """Whether each printed statement that was rejected has an accepted correction beside it."""
    return record["verdict"] != UNDECIDED and not any(
        check["outcome"] == FAILED
        for check in record["checks"]
        if check["name"] not in record["substitute"]
    )


def exercised(coverage: Iterable[Record]) -> tuple[int, int]:
    """Return how many terms of a statement are exercised, and how many it has."""
    terms = list(coverage)
    return sum(bool(term["by"]) for term in terms), len(terms)


def _left_by(check: Record, errata: Iterable[Record]) -> str:
    """What one check leaves of the claim."""
    if check["outcome"] in (HELD, UNDECIDED):
        return HOLDS if check["outcome"] == HELD else UNDECIDED
    naming = [e for e in errata if check["name"] in (e["check"], *e["also"])]
    if not naming or check["outcome"] == FAILED:
        return FAILS
    words = (MISPRINTED if e["part"] == "proof" else GRADES[e["grade"]] for e in naming)
    return max(words, key=SEVERITY.index)
