"""The directives of the ledger: what each template of the book's pages is filled with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from dpdynamics.verification import rendering, words

from .graph import draw
from .inventory import KINDS
from .pages import ERRATA_LABEL, LEDGER_LABEL, LedgerDirective
from .questions import open_questions
from .roles import GRADES, found
from .summary import VIEWS, Summary


class ClaimDirective(LedgerDirective):
    """``{claim} ID``: a box with the claim as printed, its source and its verdict."""

    required_arguments = 1
    templates = ("claim.html",)

    def data(self) -> dict[str, Any] | None:
        """The row of the claim; an unknown id is a warning."""
        row = found(self, self.arguments[0])
        if row is None:
            return None
        claim = row.claim
        name = f"claim-{claim.slug}"
        labels = self.env.get_domain("std").data["anonlabels"]
        again = labels.get(name, ("",))[0] == self.env.docname
        if name not in labels or row.chapter.docname == self.env.docname:
            self.note_target(name, name, claim.label)
        paper = self.ledger.inventory.sources[claim.paper]
        return {"row": row, "claim": claim, "paper": paper, "anchor": "" if again else name}


class TableDirective(LedgerDirective):
    """``{ledger}``: the whole ledger (MathJax is loaded for a formula in the page's prose)."""

    templates = ("ledger.html",)

    def data(self) -> dict[str, Any]:
        """The choices of the filters."""
        self.note_target(LEDGER_LABEL, "ledger", "Ledger")
        inventory, verdicts = self.ledger.inventory, self.ledger.verdicts
        sources = [(source.key, source.cited) for source in inventory.sources.values()]
        return {
            "choices": {
                "paper": [("papers", "all papers"), *sources],
                "kind": [(kind, kind) for kind in KINDS],
                "verdict": [
                    (verdict, f"{rendering.SYMBOLS[verdict]} {verdict}") for verdict in verdicts
                ],
                "errata": [*((grade, grade) for grade in GRADES), ("none", "no erratum")],
                "statement": [("paper", "of the paper"), ("rebuilt", "rebuilt by us")],
                "chapter": [(c.key, c.title) for c in inventory.chapters.values() if c.owns],
            }
        }


class ErrataDirective(LedgerDirective):
    """``{errata}``: all errata by paper and grade; with a paper's key, those of one paper."""

    optional_arguments = 1
    templates = ("errata.html",)

    def data(self) -> dict[str, Any]:
        """The scripts of each paper, the gravest errata first; an unknown key is an error."""
        papers = self.ledger.inventory.papers
        chosen = self.arguments or list(papers)
        if unknown := [key for key in chosen if key not in papers]:
            raise self.error(f"{unknown[0]!r} is no paper: {', '.join(papers)}")
        self.note_target(ERRATA_LABEL, "errata", "Errata")
        gravest = list(reversed(GRADES))
        lists = []
        for key in chosen:
            scripts = [script for script in self.scripts if script.row.claim.paper == key]
            scripts.sort(key=lambda script: gravest.index(script.erratum.grade))
            counts = Counter(script.erratum.grade for script in scripts)
            lists.append((papers[key], scripts, list(counts.items())))
        choices = {
            "grade": [(grade, grade) for grade in gravest],
            "part": [(part, f"in the {part}") for part in words.PARTS],
            "paper": [(key, papers[key].cited) for key in chosen],
        }
        return {"papers": lists, "choices": choices}


class GraphDirective(LedgerDirective):
    """``{claim-graph}``: all sources with a selector; with a source's key, that source."""

    optional_arguments = 1
    templates = ("graph.html",)

    def data(self) -> dict[str, Any]:
        """The drawings; an unknown key is an error."""
        sources = self.ledger.inventory.sources
        if self.arguments and self.arguments[0] not in sources:
            raise self.error(f"{self.arguments[0]!r} is no source: {', '.join(sources)}")
        return draw(self.ledger, self.arguments or list(sources))


class EvidenceDirective(LedgerDirective):
    """``{evidence} VIEW``: one table or figure of the page on the state of the evidence."""

    required_arguments = 1
    templates = ("evidence.html",)

    def data(self) -> dict[str, Any]:
        """The numbers; an unknown view is an error."""
        view = directives.choice(self.arguments[0], VIEWS)
        return {"view": view, "summary": Summary(self.ledger)}


class OpenQuestionsDirective(LedgerDirective):
    """``{open-questions}``: one entry per chapter, and the chapters that name nothing."""

    templates = ("open_questions.html",)

    def data(self) -> dict[str, Any]:
        """What each chapter says, and the chapters that say nothing."""
        root = Path(self.env.srcdir)
        chapters = [c for c in self.ledger.inventory.chapters.values() if c.notebook]
        found = [(self.page(chapter), open_questions(root, chapter)) for chapter in chapters]
        return {
            "questions": [(name, texts) for name, texts in found if texts],
            "silent": [name for name, texts in found if not texts],
        }


def register(app: Sphinx) -> None:
    """Add the directives."""
    app.add_directive("claim", ClaimDirective)
    app.add_directive("ledger", TableDirective)
    app.add_directive("errata", ErrataDirective)
    app.add_directive("claim-graph", GraphDirective)
    app.add_directive("evidence", EvidenceDirective)
    app.add_directive("open-questions", OpenQuestionsDirective)
