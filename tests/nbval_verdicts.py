"""Pytest plugin: nbval compares a verdict by what it decides, and everything else strictly.

The numbers of a verdict (ratios, fitted exponents, worst points) differ in the last digits between
machines. What must not change is the claim, the verdict, and for each check its name, kind and
outcome with the fate of every control. Those are compared; the remaining evidence and the text and
HTML made from it are not. Of claims with errata the ratios of the statements are compared too, to a
per mille: they are quoted as evidence. SVG is skipped, for the same reason as digits: a figure's
alternative text, its ``text/plain``, is compared.

Load it with ``-p nbval_verdicts`` and this folder on the path.
"""

from __future__ import annotations

import json
import math
from functools import partial
from itertools import zip_longest
from typing import Any

from nbval.plugin import IPyNbCell

MIME = "application/vnd.dpdynamics.verdict+json"


def pytest_itemcollected(item: Any) -> None:
    """Give every cell that nbval collects the comparison below."""
    if isinstance(item, IPyNbCell):
        item.compare_outputs = partial(compare_outputs, item)


def compare_outputs(cell: Any, test: list, ref: list, skip_compare: Any = None) -> bool:
    """Compare computed with stored outputs of one cell; False when they differ."""
    skip = (*(skip_compare or cell.parent.skip_compare), "image/svg+xml")
    ours, theirs = (
        [core(output) for output in outputs if _bears(output)] for outputs in (test, ref)
    )
    others = ([output for output in outputs if not _bears(output)] for outputs in (test, ref))
    same = IPyNbCell.compare_outputs(cell, *others, skip)
    changes = [
        change(computed, stored)
        for computed, stored in zip_longest(ours, theirs)
        if computed != stored
    ]
    place = f"{cell.parent.path.name}, cell {cell.cell_num}"
    cell.comparison_traceback += [f"{place}, {words}" for words in changes]
    return same and not changes


def core(output: Any) -> dict[str, Any]:
    """Return what a verdict output decides, without its numbers."""
    evidence = output["data"][MIME]
    evidence = json.loads(evidence) if isinstance(evidence, str) else evidence
    return {
        "claim": evidence["claim"],
        "verdict": evidence["verdict"],
        "checks": [
            {
                "name": check["name"],
                "kind": check["kind"],
                "outcome": check["outcome"],
                "ratios": ratios(check) if evidence["errata"] else {},
                "controls": {control["label"]: control["outcome"] for control in check["controls"]},
            }
            for check in evidence["checks"]
        ],
    }


class Ratio(float):
    """Equal to a number within a per mille; a tiny one is of no account."""

    def __eq__(self, other: object) -> bool:
        both = float(self), float(other)  # type: ignore[arg-type]
        return min(both) < 1e-3 or math.isclose(*both, rel_tol=1e-3)

    __hash__ = float.__hash__


def ratios(check: dict[str, Any]) -> dict[str, Ratio]:
    """The ratios of a check's statements, but for those of an equality that holds: rounding."""
    sides = ((check["kind"], side, check[side]) for side in ("printed", "corrected") if check[side])
    return {
        side: Ratio(found["ratio"])
        for kind, side, found in sides
        if (kind, found["outcome"]) != ("identity", "accepted")
    }


def change(computed: dict[str, Any] | None, stored: dict[str, Any] | None) -> str:
    """Say in words how a computed verdict differs from the stored one."""
    if computed is None or stored is None:
        present, where = (stored, "stored but not computed") if stored else (computed, "not stored")
        return f'claim {present["claim"]}: verdict "{present["verdict"]}" is {where}'
    if computed["claim"] != stored["claim"]:
        return f"claim {stored['claim']} is stored, claim {computed['claim']} is computed"
    words = f"claim {stored['claim']}: "
    if computed["verdict"] != stored["verdict"]:
        words += f'verdict "{stored["verdict"]}" is stored, "{computed["verdict"]}" is computed; '
    differing = [
        f"check stored as {old} and computed as {new}"
        for old, new in zip_longest(stored["checks"], computed["checks"])
        if old != new
    ]
    return words + "; ".join(differing)


def _bears(output: Any) -> bool:
    return MIME in output.get("data", {})
