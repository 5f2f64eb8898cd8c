"""The ledger page: counts, filters and one row per claim, with its statement and its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

from dpdynamics.verification.rendering import covered, statements, substitute, why
from dpdynamics.verification.words import ASSUMED

from .boxes import GRADES, LedgerDirective, claim_link
from .evidence import Record
from .inventory import KINDS
from .ledger import Ledger, Row
from .markup import (
    LEDGER_LABEL,
    SYMBOLS,
    badge,
    figure,
    filters,
    joined,
    link,
    outcome_badge,
    tag,
    verdict_class,
)

PAPERS = "papers"  # the filter's word for all papers without the book's own statements
COLUMNS = (
    ("Claim", ""),
    ("Verdict", ""),
    ("Margin", "Smallest factor by which a deciding comparison stays within its tolerance"),
    ("Tightness", "Bound over measured quantity where it is tightest"),
    ("Controls", "Deliberately wrong statements rejected, of those tried"),
    ("Coverage", "Terms of the statement that its checks exercise, of all its terms"),
    ("Decided in", ""),
)


class TableDirective(LedgerDirective):
    """``{ledger}``: the whole ledger."""

    def run(self) -> list[nodes.Node]:
        """Make counts, filters and table (MathJax is loaded for a formula in the page's prose)."""
        self.depend()
        self.env.get_domain("std").note_hyperlink_target(  # type: ignore[attr-defined]
            LEDGER_LABEL, self.env.docname, "ledger", "Ledger"
        )
        heads = []
        for name, title in COLUMNS:
            column = f"ledger-{name.split()[0].lower()}"
            heads.append(tag("th", name, scope="col", title=title or None, class_=column))
        rows = (self._row(row) for row in self.ledger.rows.values())
        table = tag("table", tag("thead", tag("tr", *heads)), *rows, class_="ledger-table")
        region = {"role": "region", "tabindex": "0", "aria_label": "Ledger"}
        scroller = tag("div", table, class_="ledger-scroll", **region)
        content = self._counts(), self._filters(), scroller
        return [tag("div", *content, only=True, class_="ledger", id="ledger")]

    # --- counts and filters --------------------------------------------------------------------

    def _counts(self) -> nodes.Node:
        papers = self.ledger.inventory.papers.values()
        lines = [self._count_line(p.cited, p.title, p.key) for p in papers]
        own = [s for s in self.ledger.inventory.sources.values() if s.own]
        heads = (
            tag("th", badge(verdict), scope="col", class_="ledger-number")
            for verdict in self.ledger.verdicts
        )
        return tag(
            "table",
            tag("caption", "Claims by paper and verdict"),
            tag(
                "thead",
                tag("tr", tag("th", "Paper", scope="col"), *heads, tag("th", "all", scope="col")),
            ),
            tag("tbody", *lines, self._count_line("All papers", "", None)),
            tag("tbody", *(self._count_line("This book’s own", s.title, s.key) for s in own)),
            class_="ledger-counts",
        )

    def _count_line(self, name: str, title: str, paper: str | None) -> nodes.Node:
        cells, parts = [], []
        for verdict in self.ledger.verdicts:
            number = self.ledger.count(verdict, paper)
            if not number:
                cells.append(tag("td", "0", class_="ledger-number ledger-zero"))
                continue
            data = {"type": "button", "data_verdict": verdict, "data_paper": paper or PAPERS}
            label = f"{number} {verdict}, {name}: show"
            button = tag("button", str(number), **data, aria_label=label)
            cells.append(tag("td", button, class_="ledger-number"))
            grow = f"flex-grow:{number}"
            parts.append(tag("span", class_=verdict_class(verdict), style=grow))
        total = self.ledger.count(source=paper)
        bar = tag("span", *parts, class_="ledger-bar", aria_hidden="true")
        head = tag("th", tag("span", name, title=title or None), bar, scope="row")
        return tag("tr", head, *cells, tag("td", str(total), class_="ledger-number"))

    def _filters(self) -> nodes.Node:
        inventory = self.ledger.inventory
        choices = {
            "paper": [
                (PAPERS, "all papers"),
                *((s.key, s.cited) for s in inventory.sources.values()),
            ],
            "kind": [(kind, kind) for kind in KINDS],
            "verdict": [
                (verdict, f"{SYMBOLS[verdict]} {verdict}") for verdict in self.ledger.verdicts
            ],
            "errata": [*((grade, grade) for grade in GRADES), ("none", "no erratum")],
            "statement": [("paper", "of the paper"), ("rebuilt", "rebuilt by us")],
            "chapter": [(c.key, c.title) for c in inventory.chapters.values() if c.owns],
        }
        return filters("Filter the ledger", choices, f"{len(self.ledger.rows)} claims")

    # --- one claim -----------------------------------------------------------------------------

    def _row(self, row: Row) -> nodes.Node:
        claim, decision = row.claim, row.decision
        paper = self.ledger.inventory.sources[claim.paper]
        name = tag(
            "th",
            tag("span", tag("strong", claim.label), f" {claim.name}", class_="ledger-name"),
            tag(
                "span",
                f"{paper.cited} · {claim.kind} · ",
                tag("code", claim.id),
                class_="ledger-source",
            ),
            scope="row",
        )
        cells: Iterable[nodes.Node | str] = ("", "", "", "")
        if decision:
            rejected = sum(control["outcome"] == "rejected" for control in decision.controls)
            part, whole = decision.coverage
            tight = min((tightest(check["tightness"]) for check in decision.bounds), default=None)
            cells = (
                figure(decision.margin),
                figure(tight),
                f"{rejected} of {len(decision.controls)}",
                f"{part} of {whole}" if whole else "",
            )
        target = "claim" if row.verdict == ASSUMED else "verdict"
        where = (
            link(f"{target}:{claim.id}", row.chapter.title)
            if decision
            else tag("span", row.chapter.title, class_="ledger-planned")
        )
        first = tag(
            "tr",
            name,
            tag("td", badge(row.verdict)),
            *(tag("td", cell, class_="ledger-number") for cell in cells),
            tag("td", where),
        )
        what = "statement and evidence" if decision else "statement"
        detail = tag(
            "details",
            tag("summary", what, tag("span", f" of {claim.label}", class_="ledger-unseen")),
            *self._statement(row),
            *(self._evidence(row) if decision else ()),
        )
        second = tag("tr", tag("td", detail, colspan=len(COLUMNS)), class_="ledger-detail")
        return tag(
            "tbody",
            first,
            second,
            id=f"ledger-{claim.slug}",
            data_paper=claim.paper,
            data_own="true" if paper.own else None,
            data_kind=claim.kind,
            data_verdict=row.verdict,
            data_chapter=row.chapter.key,
            data_errata="|".join(sorted({e.grade for e in row.errata})) or "none",
            data_statement="rebuilt" if claim.reconstructed else "own" if paper.own else "paper",
            data_text=" ".join(
                (claim.id, claim.label, claim.name, claim.where, paper.cited)
            ).lower(),
        )

    def _statement(self, row: Row) -> Iterable[nodes.Node]:
        claim, inventory = row.claim, self.ledger.inventory
        yield tag("div", *self._lazy(claim.statement), class_="ledger-statement")
        if claim.repaired:
            yield tag("p", tag("strong", "What is true instead"), class_="ledger-head")
            yield tag("div", *self._lazy(claim.repaired), class_="ledger-statement")
        if claim.reconstructed:
            yield tag("p", "The text available to us lacks the statement; this one is rebuilt.")
        for change in claim.changes:
            yield tag("p", f"Edited {change['date']}: {change['reason']}.")
        users = [inventory.claims[user] for user in inventory.graph.successors(claim.id)]
        links: list[nodes.Node | str] = [f"{claim.where}."]
        if claim.uses:
            uses = joined(claim_link(inventory.claims[used]) for used in claim.uses)
            links += [" Rests on ", *uses, "."]
        if users:
            links += [" Used by ", *joined(claim_link(user) for user in users), "."]
        yield tag("p", *links)

    def _evidence(self, row: Row) -> Iterable[nodes.Node]:
        assert row.decision is not None
        if reason := why(row.decision.record):
            yield tag("p", reason)
            if found := substitute(row.decision.record):
                yield tag("p", found)
        for check in row.decision.checks:
            yield tag(
                "p",
                outcome_badge(check["outcome"]),
                tag("strong", f" {check['name']} "),
                f"({check['kind']}). {check['test']}.",
                class_="ledger-head",
            )
            lines = (f"{label}: {words}" for label, words in spoken(row, check, self.ledger))
            yield tag("ul", *(tag("li", line) for line in lines))
        if terms := covered(row.decision.record):
            part, whole = row.decision.coverage
            head = f"Terms of the statement exercised: {part} of {whole}"
            yield tag("p", tag("strong", head), class_="ledger-head")
            yield tag("ul", *(tag("li", f"{term}: {by}") for term, by in terms))
        for number, erratum in enumerate(row.errata, start=1):
            words = f"Erratum ({erratum.grade}), {erratum.location}"
            yield tag("p", link(f"erratum:{row.claim.id}-{number}", words), ".")

    def _lazy(self, text: str) -> list[nodes.Node]:
        """Parsed text whose formulas MathJax sets only when the row is opened."""
        return untypeset(self.markdown(text))


def spoken(row: Row, check: Record, ledger: Ledger) -> list[tuple[str, str]]:
    """The lines of a check; of the book's own statements none says that it is printed."""
    own = ledger.inventory.sources[row.claim.paper].own
    return [(label.removeprefix("printed ") if own else label, s) for label, s in statements(check)]


def inline(parsed: list[nodes.Node]) -> list[nodes.Node]:
    """The content of a single paragraph, or the nodes as they are."""
    single = len(parsed) == 1 and isinstance(parsed[0], nodes.paragraph)
    return list(parsed[0].children) if single else parsed


def untypeset(parsed: list[nodes.Node]) -> list[nodes.Node]:
    """Replace formulas by their TeX, which the script hands to MathJax on demand."""
    holder = nodes.container("", *parsed)
    for node in list(holder.findall(lambda n: isinstance(n, nodes.math | nodes.math_block))):
        opening, closing = (r"\(", r"\)") if isinstance(node, nodes.math) else (r"\[", r"\]")
        tex = f'<span class="ledger-tex">{opening}{escape(node.astext())}{closing}</span>'
        node.replace_self(nodes.raw("", tex, format="html"))
    return holder.children


def tightest(tightness: Record) -> float:
    """Least bound over measured quantity, on the grid and under attack."""
    attacked = tightness["under attack"]
    return min(float(tightness["min"]), float("inf" if attacked is None else attacked))


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("ledger", TableDirective)
