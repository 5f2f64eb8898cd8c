"""The ledger: each claim of the inventory with the evidence that the notebooks recorded for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dpdynamics.verification import Erratum
from dpdynamics.verification.words import ASSUMED, REBUILT, VERDICTS

from . import evidence
from .evidence import SETTLED, Decision, Notebook
from .inventory import Chapter, Claim, Inventory, InventoryError, load, slug

SCHEMA = "dpdynamics-ledger/3"


@dataclass(frozen=True)
class Row:
    """One claim, the chapter that owns it, and the decision that it made."""

    claim: Claim
    chapter: Chapter
    decision: Decision

    @property
    def verdict(self) -> str:
        """The recorded verdict."""
        return self.decision.verdict

    @property
    def word(self) -> str:
        """The verdict for a reader: it says so where the statement is rebuilt."""
        rebuilt = self.claim.reconstructed and self.verdict not in (REBUILT, ASSUMED)
        return f"{self.verdict}, rebuilt" if rebuilt else self.verdict

    @property
    def errata(self) -> list[Erratum]:
        """The errata recorded with the decision."""
        return self.decision.errata


@dataclass(frozen=True)
class Ledger:
    """The inventory together with what every chapter's notebook recorded."""

    inventory: Inventory
    notebooks: Mapping[str, Notebook]

    @cached_property
    def decisions(self) -> list[Decision]:
        """All recorded decisions, in the order of the book."""
        return [d for notebook in self.notebooks.values() for d in notebook.decisions]

    @cached_property
    def rows(self) -> dict[str, Row]:
        """One row per claim. A decision counts only in the chapter that owns the claim."""
        first = {(d.notebook, d.claim): d for d in reversed(self.decisions)}
        owner = self.inventory.owner
        return {
            key: Row(claim, owner[key], first[owner[key].notebook, key])
            for key, claim in self.inventory.claims.items()
        }

    @property
    def lines(self) -> list[tuple[str, str | None]]:
        """The lines of a table of counts with their sources: papers, all papers, the book."""
        papers = [(paper.cited, paper.key) for paper in self.inventory.papers.values()]
        own = [("This book’s own", s.key) for s in self.inventory.sources.values() if s.own]
        return [*papers, ("All papers", None), *own]

    def of(self, source: str | None = None) -> list[Row]:
        """The rows of one source; of all papers, without the book's own statements, if None."""
        chosen = self.inventory.papers if source is None else (source,)
        return [row for row in self.rows.values() if row.claim.paper in chosen]

    def count(self, verdict: str | None = None, source: str | None = None) -> int:
        """Number of claims with a verdict (all if None), of one source (all papers if None)."""
        return sum(verdict in (None, row.verdict) for row in self.of(source))

    @cached_property
    def verdicts(self) -> tuple[str, ...]:
        """The words that tables count: all that settle a claim, and others where they occur."""
        found = {row.verdict for row in self.rows.values()}
        return tuple(v for v in VERDICTS if v in SETTLED or v in found)

    def coverage(self, source: str | None = None) -> tuple[int, int]:
        """Terms of decided statements that are exercised, and all of them; as in :meth:`count`."""
        found = [row.decision.coverage for row in self.of(source)]
        return sum(part for part, _ in found), sum(whole for _, whole in found)

    def as_json(self) -> dict[str, Any]:
        """The ledger as data, conforming to ``ledger.schema.json``."""
        inventory = self.inventory
        return {
            "schema": SCHEMA,
            "counts": {
                "all": _counts(self.of()),
                **{key: _counts(self.of(key)) for key in inventory.sources},
            },
            "coverage": {
                name: dict(zip(("exercised", "terms"), self.coverage(key), strict=True))
                for name, key in [("all", None), *((key, key) for key in inventory.sources)]
            },
            "papers": [
                {
                    field: getattr(p, field)
                    for field in ("key", "title", "authors", "version", "own")
                }
                for p in inventory.sources.values()
            ],
            "chapters": [
                {
                    "key": c.key,
                    "title": c.title,
                    "part": inventory.parts[c.part],
                    "notebook": c.notebook,
                    "owns": list(c.owns),
                }
                for c in inventory.chapters.values()
            ],
            "claims": [self._row_json(row) for row in self.rows.values()],
        }

    def _row_json(self, row: Row) -> dict[str, Any]:
        claim, decision = row.claim, row.decision
        fields = ("id", "paper", "label", "name", "where", "kind", "reconstructed", "statement")
        return {
            **{field: getattr(claim, field) for field in fields},
            "statement_changes": [dict(change) for change in claim.changes],
            "repaired": claim.repaired or None,
            "uses": list(claim.uses),
            "chapter": row.chapter.key,
            "verdict": row.verdict,
            "decided_in": {
                "notebook": decision.notebook,
                "cell": decision.cell,
                "anchor": f"verdict-{slug(claim.id)}",
            },
            "evidence": decision.record,
        }


def _counts(rows: Any) -> dict[str, int]:
    found = Counter(row.verdict for row in rows)
    return {"claims": found.total(), **{v: found[v] for v in VERDICTS}}


def gaps(ledger: Ledger) -> list[str]:
    """Faults of the notebooks, and the claims that no cell of their chapter decides."""
    faults = [fault for notebook in ledger.notebooks.values() for fault in notebook.faults]
    at_fault = {path for path, notebook in ledger.notebooks.items() if notebook.faults}
    decided = {(decision.notebook, decision.claim) for decision in ledger.decisions}
    return faults + [
        f"{chapter.notebook or chapter.page}: no cell decides {claim}, which the chapter owns"
        for claim, chapter in ledger.inventory.owner.items()
        if (chapter.notebook, claim) not in decided and chapter.notebook not in at_fault
    ]


def build(root: Path) -> Ledger:
    """Read the inventory and every chapter's notebook below the root of the book.

    Raises
    ------
    InventoryError
        If the inventory is inconsistent, a notebook is at fault, or a claim has no verdict.
    """
    inventory = load(root)
    paths = [c.notebook for c in inventory.chapters.values() if c.notebook]
    ledger = Ledger(inventory, {path: evidence.read(root, path) for path in paths})
    if problems := gaps(ledger):
        raise InventoryError(problems)
    return ledger
