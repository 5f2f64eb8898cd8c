"""The roles of the ledger: ``{claimref}`` links, ``{ledger-count}`` and ``{evidence-number}``."""

from __future__ import annotations

from collections import Counter

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective, SphinxRole

from dpdynamics.verification import words

from .evidence import FOUND
from .ledger import Ledger, Row
from .pages import fill
from .summary import Summary

LOGGER = logging.getLogger(__name__)
GRADES = tuple(words.GRADES)


def found(place: SphinxDirective | SphinxRole, claim: str) -> Row | None:
    """The row of a claim; an unknown id is a warning."""
    row = place.env.app.book_ledger.rows.get(claim)  # type: ignore[attr-defined]
    if row is None:
        where = place.get_location()
        LOGGER.warning("no claim %r in book/claims", claim, location=where, type="book_ledger")
    return row


class ClaimRole(ReferenceRole):
    """``{claimref}`ID```: link to a claim with its label and the symbol of its verdict."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the link; an unknown id is a warning."""
        row = found(self, self.target)
        if row is None:
            return [nodes.literal(text=self.target)], []
        text = self.title if self.has_explicit_title else row.claim.label
        return fill("claimref.html", row=row, claim=row.claim, text=text), []


class NumberRole(SphinxRole):
    """``{ledger-count}`WORDS``` and ``{evidence-number}`WORDS```: a number of the ledger.

    A source's key before the words of a count restricts it: ``{ledger-count}`lin2025 holds```.
    Without one all papers are meant, and the book's own statements are not counted.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the number; unknown words are a warning."""
        ledger: Ledger = self.env.app.book_ledger  # type: ignore[attr-defined]
        asked = self.text.strip()
        if self.name == "evidence-number":
            numbers = Summary(ledger).numbers
        else:
            first, _, rest = asked.partition(" ")
            source = first if first in ledger.inventory.sources else None
            numbers, asked = counts(ledger, source), rest if source else asked
        if asked not in numbers:
            known = ", ".join(map(repr, numbers))
            where = self.get_location()
            LOGGER.warning("%r is not %s", self.text, known, location=where, type="book_ledger")
        return [nodes.Text(numbers.get(asked, "?"))], []


def counts(ledger: Ledger, source: str | None = None) -> dict[str, str]:
    """The numbers of claims and errata of a source, or of all papers, by the words for them.

    An assumption is exercised and what is out of reach is argued, but neither is decided.
    """
    rows = ledger.of(source)
    verdicts = Counter(row.verdict for row in rows)
    grades = Counter(erratum.grade for row in rows for erratum in row.errata)
    part, whole = ledger.coverage(source)
    numbers = {
        "claims": len(rows),
        "decided": sum(verdicts[verdict] for verdict in FOUND),
        **{verdict: verdicts[verdict] for verdict in words.VERDICTS},
        "rebuilt": sum(row.claim.reconstructed for row in rows),
        "errata": grades.total(),
        **{f"errata {grade}": grades[grade] for grade in GRADES},
        "terms": whole,
        "exercised": part,
        "coverage": f"{100 * part / max(whole, 1):.0f} %",
    }
    return {words: str(number) for words, number in numbers.items()}


def register(app: Sphinx) -> None:
    """Add the roles."""
    app.add_role("claimref", ClaimRole())
    app.add_role("ledger-count", NumberRole())
    app.add_role("evidence-number", NumberRole())
