"""The gate: everything that is wrong with the recorded evidence, in sentences that name the cell.

The notebooks are taken at their word nowhere: outcomes and verdicts are derived again from the
recorded ratios.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpdynamics.verification import words
from dpdynamics.verification.evidence import CORRECTED, FAILED, HELD, UNDECIDED
from dpdynamics.verification.words import ASSUMED, HOLDS, OUT_OF_REACH

from . import evidence
from .evidence import FOUND, Decision, Record
from .inventory import ASSUMED_KINDS, InventoryError, load
from .ledger import Ledger, gaps

POWER = 0.99  # what a statistical control must exceed
STATISTICAL = ("expectation", "distribution", "rate", "coverage")


def problems(root: Path) -> list[str]:
    """Everything wrong with the inventory and the stored outputs below the root of the book."""
    try:
        inventory = load(root)
    except InventoryError as error:
        return error.problems
    listed = [c.notebook for c in inventory.chapters.values() if c.notebook]
    found = sorted(
        path.relative_to(root).as_posix()
        for path in (root / "notebooks").rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
    )
    unlisted = [path for path in found if path not in listed]
    notebooks = {path: evidence.read(root, path) for path in [*listed, *unlisted]}
    ledger = Ledger(inventory, notebooks)
    return [
        *(f"{path}: no chapter in chapters.yml lists this notebook" for path in unlisted),
        *gaps(ledger),
        *_of_decisions(ledger),
    ]


def _of_decisions(ledger: Ledger) -> Iterator[str]:
    first: dict[str, Decision] = {}
    for decision in ledger.decisions:
        place = f"{decision.place}, {decision.claim}"
        for text in (*_of_claim(ledger, decision), *of_record(decision.record)):
            yield f"{place}: {text}"
        earlier = first.setdefault(decision.claim, decision)
        if earlier is not decision:
            yield f"{place}: decided before, in {earlier.place}"


def _of_claim(ledger: Ledger, decision: Decision) -> Iterator[str]:
    """What is wrong with deciding this claim here, with this word."""
    claim = ledger.inventory.claims.get(decision.claim)
    if claim is None:
        yield "no such claim in book/claims"
        return
    owner = ledger.inventory.owner[claim.id]
    if owner.notebook != decision.notebook:
        yield f"decided in a chapter that does not own it: it belongs to {owner.key}"
    if decision.verdict == ASSUMED and claim.kind not in ASSUMED_KINDS:
        yield f"assumed, but its kind is {claim.kind}: only {', '.join(ASSUMED_KINDS)} are assumed"
    if decision.verdict == HOLDS and claim.kind in ASSUMED_KINDS:
        yield f"holds, but its kind is {claim.kind}: record it with assumed=True"
    if decision.record["rebuilt"] != claim.reconstructed:
        yield "rebuilt must be said exactly where the inventory calls the statement reconstructed"
    if decision.verdict in FOUND and not decision.record["coverage"]:
        yield "coverage is missing: name the terms of the statement and what exercises each"
    if claim.repaired and not (decision.errata and decision.repaired):
        yield "the inventory has a repaired statement, but no accepted correction stands behind it"
    if ledger.inventory.sources[claim.paper].own:
        if decision.errata:
            yield "an erratum to a statement of the book's own: mend the statement instead"
        if decision.verdict not in (HOLDS, ASSUMED):
            yield f"{decision.verdict}: a statement of the book's own must hold; mend it"


def of_record(record: Record) -> list[str]:
    """What is wrong with one recorded verdict, whatever the claim."""
    # What the words of the gate do not cover, the schema does.
    return list(_of_record(record)) or evidence.malformed(record)


def _of_record(record: Record) -> Iterator[str]:
    verdict, checks = record["verdict"], record["checks"]
    if verdict == UNDECIDED:
        reasons = [reason for check in checks for reason in check["reasons"]]
        yield "undecided" + (f": {'; '.join(reasons)}" if reasons else "")
    if not checks and verdict != OUT_OF_REACH:
        yield f"{verdict} without any check"
    for check in checks:
        for text in _of_check(check):
            yield f'check "{check["name"]}": {text}'
    if strange := [n for n in record["substitute"] if n not in {c["name"] for c in checks}]:
        yield f'there is no check "{strange[0]}", which is called a substitute'
    again = {**record, "checks": [{**check, "outcome": outcome(check)} for check in checks]}
    derived = words.settled(again)
    if verdict != derived:
        yield f"recorded as {verdict}, but its checks and errata give {derived}"
    yield from words.unsupported(again)
    yield from words.unexplained(again)


def _of_check(check: Record) -> Iterator[str]:
    controls = check["controls"]
    if not controls:
        yield "no control: nothing shows that this check can fail"
    for control in controls:
        if outcome_of_ratio(control) != "rejected":
            yield f'control "{control["label"]}" is not rejected (ratio {control["ratio"]})'
        elif control["power"] is None and check["kind"] in STATISTICAL:
            yield f'control "{control["label"]}" of a statistical check has no power'
        elif control["power"] is not None and control["power"] <= POWER:
            yield f'control "{control["label"]}" is rejected with power {control["power"]} only'
    for comparison in filter(None, (check["printed"], check["corrected"], *controls)):
        stated, derived = comparison["outcome"], outcome_of_ratio(comparison)
        if stated not in (derived, "undecided"):
            yield f'"{comparison["label"]}" is recorded as {stated} at ratio {comparison["ratio"]}'
    if check["outcome"] != outcome(check):
        yield f"recorded as {check['outcome']}, but its comparisons give {outcome(check)}"


def outcome_of_ratio(comparison: Record) -> str:
    """Accepted or rejected, read off the ratio alone."""
    return "accepted" if float(comparison["ratio"]) <= 1 else "rejected"


def outcome(check: Record) -> str:
    """The outcome of a check, derived again from its comparisons."""
    controls = check["controls"]
    if check["reasons"] or not controls or any(c["outcome"] != "rejected" for c in controls):
        return UNDECIDED
    if check["printed"]["outcome"] == "undecided":
        return UNDECIDED
    if check["printed"]["outcome"] == "accepted":
        return HELD
    corrected = check["corrected"]
    if corrected is None or corrected["outcome"] == "rejected":
        return FAILED
    return CORRECTED if corrected["outcome"] == "accepted" else UNDECIDED
