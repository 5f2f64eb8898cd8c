"""The ledger: each claim of the inventory with the evidence that the notebooks recorded for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx

from dpdynamics.verification import Erratum
from dpdynamics.verification.words import ASSUMED, REBUILT

from . import evidence
from .evidence import PLANNED, SETTLED, Decision, Notebook
from .inventory import Chapter, Claim, Inventory, load, slug

SCHEMA = "dpdynamics-ledger/2"


@dataclass(frozen=True)
class Row:
    """One claim, the chapter that owns it, and the decision if it has been made."""

    claim: Claim
    chapter: Chapter
    decision: Decision | None

    @property
    def verdict(self) -> str:
        """The recorded verdict, or ``planned``."""
        return self.decision.verdict if self.decision else PLANNED

    @property
    def word(self) -> str:
        """The verdict for a reader: it says so where the statement is rebuilt."""
        rebuilt = self.claim.reconstructed and self.verdict not in (REBUILT, ASSUMED, PLANNED)
        return f"{self.verdict}, rebuilt" if rebuilt else self.verdict

    @property
    def errata(self) -> list[Erratum]:
        """The errata recorded with the decision."""
        return self.decision.errata if self.decision else []

    @property
    def decided(self) -> bool:
        """Whether the verdict settles the claim."""
        return self.verdict in SETTLED


@dataclass(frozen=True)
class Ledger:
    """The inventory together with what every chapter's notebook recorded."""

    inventory: Inventory
    notebooks: Mapping[str, Notebook | None]

    @cached_property
    def decisions(self) -> list[Decision]:
        """All recorded decisions, in the order of the book."""
        return [d for notebook in self.notebooks.values() if notebook for d in notebook.decisions]

    @cached_property
    def rows(self) -> dict[str, Row]:
        """One row per claim. A decision counts only in the chapter that owns the claim."""
        owner = self.inventory.owner
        first: dict[str, Decision] = {}
        for decision in self.decisions:
            chapter = owner.get(decision.claim)
            if chapter and chapter.notebook == decision.notebook:
                first.setdefault(decision.claim, decision)
        return {
            claim.id: Row(claim, owner[claim.id], first.get(claim.id))
            for claim in self.inventory.claims.values()
        }

    @cached_property
    def complete(self) -> set[str]:
        """Claims that are decided together with everything they rest on."""
        done: set[str] = set()
        graph = self.inventory.graph
        for claim in nx.topological_sort(graph):
            if self.rows[claim].decided and all(used in done for used in graph.predecessors(claim)):
                done.add(claim)
        return done

    @cached_property
    def errata(self) -> list[tuple[Row, Erratum]]:
        """All errata, in the order of the inventory."""
        return [(row, erratum) for row in self.rows.values() for erratum in row.errata]

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
        return tuple(v for v in evidence.VERDICTS if v in SETTLED or v in found)

    def coverage(self, source: str | None = None) -> tuple[int, int]:
        """Terms of decided statements that are exercised, and all of them; as in :meth:`count`."""
        found = [row.decision.coverage for row in self.of(source) if row.decision]
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
            "ancestors_decided": claim.id in self.complete,
            "decided_in": decision
            and {
                "notebook": decision.notebook,
                "cell": decision.cell,
                "anchor": f"verdict-{slug(claim.id)}",
            },
            "evidence": decision and decision.record,
        }


def _counts(rows: Any) -> dict[str, int]:
    found = Counter(row.verdict for row in rows)
    return {"claims": found.total(), **{v: found[v] for v in evidence.VERDICTS}}


def build(root: Path) -> Ledger:
    """Read the inventory and every chapter's notebook below the root of the book.

    Raises
    ------
    InventoryError
        If the inventory is inconsistent.
    """
    inventory = load(root)
    paths = [c.notebook for c in inventory.chapters.values() if c.notebook]
    return Ledger(inventory, {path: evidence.read(root, path) for path in paths})
