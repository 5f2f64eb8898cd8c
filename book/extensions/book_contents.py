"""Sphinx extension: ``{chapters}``, the parts and chapters of the book with what each decides.

Everything comes from the ledger of this build (extension ``book_ledger``): a written chapter is a
link, a planned one is called so, and the numbers are counts of claims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book_ledger.boxes import GROUPS, LedgerDirective


def contents(ledger: Any, pages: Container[str]) -> list[str]:
    """Return the list of chapters in MyST Markdown; one without its page counts as planned."""
    inventory = ledger.inventory
    lines: list[str] = []
    for part, title in inventory.parts.items():
        lines += [f"**{title}**", ""]
        for chapter in inventory.chapters.values():
            if chapter.part == part:
                name = f"{{doc}}`{chapter.title} </{chapter.docname}>`"
                rows = [ledger.rows[claim] for claim in chapter.owns]
                verdicts = Counter(row.verdict for row in rows)
                number = sum(verdicts[verdict] for verdict in GROUPS["decided"])
                own = any(inventory.sources[row.claim.paper].own for row in rows)
                decided = f": {number} of {_claims(len(rows), own)} decided" + "".join(
                    f", {verdicts[verdict]} {verdict}"
                    for verdict in GROUPS["with-verdict"]
                    if verdicts[verdict] and verdict not in GROUPS["decided"]
                )
                planned = f"{chapter.title} (planned" + (
                    f", {_claims(len(rows), own)})" if rows else ")"
                )
                written = f"* {name}{decided if rows else ''}"
                lines += [written if chapter.docname in pages else f"* {planned}"]
        lines += [""]
    return lines


def _claims(number: int, own: bool) -> str:
    words = "claim" if number == 1 else "claims"
    return f"{number} {words} of the book’s own" if own else f"{number} {words}"


class Chapters(LedgerDirective):
    """``{chapters}``: the parts and chapters of the book."""

    def run(self) -> list[nodes.Node]:
        """Parse the list where the directive stands."""
        self.depend()
        return self.markdown("\n".join(contents(self.ledger, self.env.found_docs)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.setup_extension("book_ledger")
    app.add_directive("chapters", Chapters)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
