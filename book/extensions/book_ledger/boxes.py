"""Claims on the page: the ``{claim}`` box, the ``{claimref}`` link, ``{ledger-count}`` numbers."""

from __future__ import annotations

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective, SphinxRole

from dpdynamics.verification import words

from .evidence import FOUND, SETTLED, VERDICTS
from .inventory import Claim
from .ledger import Ledger, Row
from .markup import SYMBOLS, badge, joined, link, tag, verdict_class
from .scripts import Script

LOGGER = logging.getLogger(__name__)
GROUPS = {  # an assumption is exercised and what is out of reach is argued, but neither is decided
    "decided": FOUND,
    "with-verdict": SETTLED,
}
GRADES = tuple(words.GRADES)
COUNTED = ("rebuilt", "coverage", "terms", "exercised", *(f"errata {grade}" for grade in GRADES))


class LedgerDirective(SphinxDirective):
    """A directive that reads the ledger; its page depends on everything the ledger is made from."""

    @property
    def ledger(self) -> Ledger:
        """The ledger of this build."""
        return self.env.app.book_ledger  # type: ignore[attr-defined]

    @property
    def scripts(self) -> list[Script]:
        """The script of every erratum."""
        return self.env.app.book_scripts  # type: ignore[attr-defined]

    def depend(self) -> None:
        """Note that this page must be read again when the evidence changes."""
        for path in self.env.app.book_ledger_files:  # type: ignore[attr-defined]
            self.env.note_dependency(str(path))

    def markdown(self, text: str) -> list[nodes.Node]:
        """Parse text in the language of the page (MyST)."""
        holder = nodes.container()
        lines = StringList(text.splitlines(), source=self.env.doc2path(self.env.docname))
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


class ClaimDirective(LedgerDirective):
    """``{claim} ID``: a box with the claim as printed, its source and its verdict."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the box; an unknown id is a warning."""
        self.depend()
        row = found(self, self.arguments[0])
        if row is None:
            return []
        claim = row.claim
        name = f"claim-{claim.slug}"
        labels = self.env.get_domain("std").data["anonlabels"]
        again = labels.get(name, ("",))[0] == self.env.docname
        if name not in labels or row.chapter.docname == self.env.docname:
            self.env.get_domain("std").note_hyperlink_target(  # type: ignore[attr-defined]
                name, self.env.docname, name, claim.label
            )
        return [
            tag(
                "div",
                self._head(row),
                tag("div", *self.markdown(claim.statement), class_="claim-statement"),
                *self._repaired(claim),
                self._foot(row),
                id=None if again else name,
                class_=f"claim {verdict_class(row.verdict)}",
                role="group",
                aria_label=f"{claim.label}: {row.verdict}",
            )
        ]

    def _head(self, row: Row) -> nodes.Node:
        claim = row.claim
        title = tag("span", tag("strong", claim.label), f" {claim.name}", class_="claim-title")
        return tag("p", title, badge(row.verdict), class_="claim-head")

    def _repaired(self, claim: Claim) -> list[nodes.Node]:
        if not claim.repaired:
            return []
        content = tag("summary", "What is true instead"), *self.markdown(claim.repaired)
        return [tag("details", *content, class_="claim-repaired", open="")]

    def _foot(self, row: Row) -> nodes.Node:
        claim = row.claim
        paper = self.ledger.inventory.sources[claim.paper]
        rebuilt = (
            " The text available to us lacks the printed formula; this one is rebuilt."
            if claim.reconstructed
            else ""
        )
        source = "A statement of this book" if paper.own else paper.cited
        parts: list[nodes.Node] = [tag("span", f"{source}, {claim.where}.{rebuilt}")]
        if claim.uses:
            uses = joined(claim_link(self.ledger.inventory.claims[used]) for used in claim.uses)
            parts.append(tag("span", "Rests on ", *uses, "."))
        parts.append(
            tag("span", link(f"ledger:{claim.id}", tag("code", claim.id)), " in the ledger")
        )
        if row.errata:
            numbered = (
                link(f"erratum:{claim.id}-{n}", f"erratum{f' {n}' if len(row.errata) > 1 else ''}")
                for n in range(1, len(row.errata) + 1)
            )
            parts.append(tag("span", *joined(numbered)))
        if row.decision and row.verdict != words.ASSUMED:
            parts.append(tag("span", link(f"verdict:{claim.id}", "the evidence")))
        return tag("p", *parts, class_="claim-foot")


def found(place: SphinxDirective | SphinxRole, claim: str) -> Row | None:
    """The row of a claim; an unknown id is a warning."""
    row = place.env.app.book_ledger.rows.get(claim)  # type: ignore[attr-defined]
    if row is None:
        where = place.get_location()
        LOGGER.warning("no claim %r in book/claims", claim, location=where, type="book_ledger")
    return row


def claim_link(claim: Claim, text: str = "") -> nodes.Node:
    """Link to a claim's box, or to its row where no page shows the box."""
    return link(f"claim:{claim.id}", text or claim.label, title=f"{claim.id}: {claim.name}")


class ClaimRole(ReferenceRole):
    """``{claimref}`ID```: link to a claim with its label and the symbol of its verdict."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the link; an unknown id is a warning."""
        row = found(self, self.target)
        if row is None:
            return [nodes.literal(text=self.target)], []
        text = self.title if self.has_explicit_title else row.claim.label
        mark = tag(
            "span",
            tag("span", SYMBOLS[row.verdict], aria_hidden="true"),
            tag("span", f" ({row.verdict})", class_="ledger-unseen"),
            class_=f"ledger-mark {verdict_class(row.verdict)}",
        )
        return [tag("span", claim_link(row.claim, text), mark, class_="claimref")], []


class CountRole(SphinxRole):
    """``{ledger-count}`VERDICT```: a number of claims.

    The text is a verdict, ``claims`` (all of the papers), ``errata``, ``errata GRADE``,
    ``with-verdict`` (neither planned nor undecided), ``decided`` (of these, what holds in some form
    or fails), ``rebuilt``, or ``coverage``, ``terms`` and ``exercised`` for the percentage and the
    numbers of terms of statements that are exercised. A source's key before it restricts it:
    ``{ledger-count}`lin2025 holds```. Without one all papers are meant, and the book's own
    statements are not counted.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the number; unknown words are a warning."""
        value = count(self.env.app.book_ledger, self.text)  # type: ignore[attr-defined]
        if value is None:
            LOGGER.warning(
                "%r is not 'claims', 'errata' or one of %s, after a source's key or none",
                self.text,
                ", ".join((*GROUPS, *COUNTED, *VERDICTS)),
                location=self.get_location(),
                type="book_ledger",
            )
        return [nodes.Text(str(value))], []


def count(ledger: Ledger, text: str) -> int | str | None:
    """The number that ``{ledger-count}`` shows; None if the words mean nothing."""
    first, _, rest = text.strip().partition(" ")
    paper, what = (first, rest) if first in ledger.inventory.sources else (None, text.strip())
    rows = ledger.of(paper)
    if what == "claims":
        return len(rows)
    if what in GROUPS:
        return sum(row.verdict in GROUPS[what] for row in rows)
    if what == "rebuilt":
        return sum(row.claim.reconstructed for row in rows)
    if what == "errata":
        return sum(len(row.errata) for row in rows)
    if what.removeprefix("errata ") in GRADES:
        return sum(e.grade == what.removeprefix("errata ") for row in rows for e in row.errata)
    if what in ("coverage", "terms", "exercised"):
        part, whole = ledger.coverage(paper)
        return {
            "coverage": f"{100 * part / max(whole, 1):.0f} %",
            "terms": whole,
            "exercised": part,
        }[what]
    return ledger.count(what, paper) if what in VERDICTS else None


def register(app: Sphinx) -> None:
    """Add the directive and the roles."""
    app.add_directive("claim", ClaimDirective)
    app.add_role("claimref", ClaimRole())
    app.add_role("ledger-count", CountRole())
