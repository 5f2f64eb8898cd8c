"""The evidence: what the executed notebooks recorded, read from their stored outputs.

A verdict is an output with the MIME type :data:`MIME`, a record in the form of the verification
room's ``evidence.schema.json``; nothing else in a notebook is looked at. A record that the schema
does not describe is a fault of its cell and decides nothing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

from dpdynamics.verification import Erratum, rendering, words
from dpdynamics.verification.rendering import MIME

SCHEMA = Path(rendering.__file__).parent / "evidence.schema.json"

FOUND = (words.HOLDS, words.REBUILT, words.MISPRINTED, words.CONDITIONAL, words.FAILS)  # decided
SETTLED = (*FOUND, words.ASSUMED, words.OUT_OF_REACH)

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Decision:
    """A verdict recorded in one cell of one notebook.

    ``cell`` counts all cells from 1; ``place`` is the cell in words, for messages.
    """

    record: Record = field(repr=False)
    notebook: str
    cell: int
    place: str

    @property
    def claim(self) -> str:
        """Id of the claim."""
        return str(self.record["claim"])

    @property
    def verdict(self) -> str:
        """The word for it, as recorded."""
        return str(self.record["verdict"])

    @property
    def checks(self) -> list[Record]:
        """The checks behind the verdict, as recorded."""
        return list(self.record["checks"])

    @property
    def controls(self) -> list[Record]:
        """The controls of all checks, as recorded."""
        return [control for check in self.checks for control in check["controls"]]

    @property
    def errata(self) -> list[Erratum]:
        """The errata recorded with the verdict."""
        return [Erratum(**{**e, "also": tuple(e["also"])}) for e in self.record["errata"]]

    @property
    def margin(self) -> float | None:
        """The smallest factor between a deciding statement and its tolerance; None if undecided."""
        if self.verdict == words.UNDECIDED:
            return None
        return min((float(deciding(check)["margin"]) for check in self.checks), default=None)

    @property
    def coverage(self) -> tuple[int, int]:
        """How many terms of the statement some control exercises, and how many it has."""
        return words.exercised(self.record["coverage"])

    @property
    def repaired(self) -> bool:
        """Whether an accepted correction stands beside each printed statement that is rejected."""
        return words.repaired(self.record)

    @property
    def tightness(self) -> float | None:
        """The least bound over the quantity that it bounds; None without a bound."""
        return min((tightest(check) for check in self.checks if check["tightness"]), default=None)

    @property
    def rejected(self) -> int:
        """How many controls are rejected."""
        return sum(control["outcome"] == "rejected" for control in self.controls)


def deciding(check: Record) -> Record:
    """The comparison that decides a check: the corrected statement's if the printed one fails."""
    printed, corrected = check["printed"], check["corrected"]
    accepted = corrected is not None and corrected["outcome"] == "accepted"
    return corrected if printed["outcome"] == "rejected" and accepted else printed


def tightest(check: Record) -> float:
    """Least bound over measured quantity, on the grid and under attack."""
    attacked = check["tightness"]["under attack"]
    return min(float(check["tightness"]["min"]), float("inf" if attacked is None else attacked))


@dataclass(frozen=True)
class Notebook:
    """What one notebook recorded; ``faults`` are what it lacks of sound outputs, in words."""

    path: str
    decisions: tuple[Decision, ...]
    faults: tuple[str, ...]


def read(root: Path, notebook: str) -> Notebook:
    """Read verdicts and faults from the stored outputs of the notebook at a path from the root."""
    try:
        document = json.loads((root / notebook).read_text("utf-8"))
    except FileNotFoundError:
        return Notebook(notebook, (), (f"{notebook}: listed in chapters.yml, but missing",))
    except json.JSONDecodeError as error:
        return Notebook(notebook, (), (f"{notebook}: not a notebook: {error}",))
    decisions: list[Decision] = []
    faults: list[str] = []
    for position, cell in enumerate(document.get("cells", []), start=1):
        if cell.get("cell_type") != "code" or not "".join(cell.get("source", "")).strip():
            continue
        execution = cell.get("execution_count")
        place = f"{notebook}, cell {position}" + ("" if execution is None else f" [{execution}]")
        wrong = list(_faults(cell))
        for found in filter(None, map(record, cell.get("outputs") or [])):
            if malformations := malformed(found, rules=False):
                wrong += malformations
            else:
                decisions.append(Decision(found, notebook, position, place))
        faults += [f"{place}: {what}" for what in wrong]
    return Notebook(notebook, tuple(decisions), tuple(faults))


def _faults(cell: Mapping[str, Any]) -> Iterator[str]:
    outputs = cell.get("outputs")
    if cell.get("execution_count") is None:
        yield "the code cell was not executed (it has no execution count)"
    elif outputs is None:
        yield "the outputs of the code cell are missing"
    expected = "raises-exception" in cell.get("metadata", {}).get("tags", [])
    for output in outputs or []:
        if output.get("output_type") == "error" and not expected:
            yield f"the cell failed: {output.get('ename')}: {output.get('evalue')}"


def record(output: Mapping[str, Any]) -> Record | None:
    """The verdict in an output, or None. Text is parsed, since some tools store JSON as text."""
    data = output.get("data", {}).get(MIME)
    if isinstance(data, list):
        data = "".join(data)
    return json.loads(data) if isinstance(data, str) else data


def malformed(found: Record, rules: bool = True) -> list[str]:
    """Where a record is not what the schema describes; without ``rules`` in its form alone."""
    return [
        f"stored evidence is malformed at {'/'.join(map(str, error.path)) or 'top'}: "
        f"{error.message}"
        for error in validator(rules).iter_errors(found)
    ]


@functools.cache
def validator(rules: bool = True) -> jsonschema.Draft202012Validator:
    """Validator of records; without ``rules`` of their form alone.

    The rules of the schema (``if`` ... ``then``) say what makes a verdict; the gate states them in
    words of its own, and uses the whole schema as a last resort.
    """
    schema = json.loads(SCHEMA.read_text("utf-8"))
    if not rules:
        for part in (schema, *schema["$defs"].values()):
            for key in ("if", "then", "else"):
                part.pop(key, None)
    return jsonschema.Draft202012Validator(schema)
