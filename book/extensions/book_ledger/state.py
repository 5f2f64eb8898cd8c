"""The state of the evidence, from the ledger alone: ``{evidence} VIEW``, ``{evidence-number}``."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from dpdynamics.verification.rendering import substitute

from .bars import count_bars, verdict_bars
from .boxes import LedgerDirective, claim_link
from .ledger import Row
from .markup import badge, figure, joined, link, tag
from .summary import MARGINS, TIGHTNESS, Bound, Summary, binned, least_margin

LOGGER = logging.getLogger(__name__)
LISTED = 12  # bounds in a table


class EvidenceDirective(LedgerDirective):
    """``{evidence} VIEW``: one table or figure of the page on the state of the evidence."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the view; an unknown one is an error."""
        self.depend()
        views = {
            "verdicts": self._verdicts,
            "coverage": self._coverage,
            "unexercised": self._unexercised,
            "margins": self._margins,
            "kinds": self._kinds,
            "tightness": self._tightness,
            "attained": self._attained,
            "tightest": self._tightest,
            "loosest": self._loosest,
            "out-of-reach": self._unreachable,
        }
        self.summary = Summary(self.ledger)
        name = directives.choice(self.arguments[0], tuple(views))
        return [views[name]()]

    def _verdicts(self) -> nodes.Node:
        ledger = self.ledger
        rows = (
            [
                name,
                *(str(ledger.count(v, key)) for v in ledger.verdicts),
                str(ledger.count(source=key)),
            ]
            for name, key in ledger.lines
        )
        heads = ["Source", *(badge(verdict) for verdict in ledger.verdicts), "all"]
        table = _table("Claims by source and verdict", heads, rows)
        return tag("div", verdict_bars(ledger), table)

    def _coverage(self) -> nodes.Node:
        ledger = self.ledger
        rows = []
        for name, key in ledger.lines:
            part, whole = ledger.coverage(key)
            found = [r.decision.coverage for r in ledger.of(key) if r.decision]
            told = [(p, w) for p, w in found if w]
            full = sum(p == w for p, w in told)
            none = sum(p == 0 for p, w in told)
            share = f"{100 * part / whole:.0f} %" if whole else ""
            rows.append([name, str(whole), str(part), share, str(full), str(none), str(len(told))])
        heads = [
            "Source",
            "Terms",
            "exercised",
            "share",
            "claims with every term exercised",
            "claims with none",
            "claims with terms",
        ]
        return _table("Terms of the statements that some control exercises", heads, rows)

    def _unexercised(self) -> nodes.Node:
        """The claims with the largest share of terms that nothing exercises."""
        found = [(row, *row.decision.coverage) for row in self.ledger.of() if row.decision]
        worst = sorted((f for f in found if f[1] < f[2]), key=lambda f: (f[1] / f[2], -f[2]))
        rows = []
        for row, part, whole in worst[:LISTED]:
            missing = [e["term"] for e in row.decision.record["coverage"] if not e["by"]]
            rows.append(
                [self._claim(row), badge(row.verdict), f"{part} of {whole}", "; ".join(missing)]
            )
        heads = ["Claim", "Verdict", "Exercised", "Terms that no control touches"]
        return _table("The statements of which the least is exercised", heads, rows)

    def _margins(self) -> nodes.Node:
        counts = binned(self.summary.least_margins, MARGINS)
        caption = "How clearly the narrowest control of each check was rejected"
        return count_bars(caption, "Ratio of the narrowest control", counts, "Checks")

    def _kinds(self) -> nodes.Node:
        rows = []
        for kind, found in self.summary.kinds.items():
            margins = [least_margin(check) for _, check in found if check["controls"]]
            claims = len({row.claim.id for row, _ in found})
            controls = sum(len(check["controls"]) for _, check in found)
            numbers = (str(len(found)), str(claims), str(controls), figure(median(margins)))
            rows.append([kind, *numbers])
        heads = ["Kind", "Checks", "Claims", "Controls", "Median ratio of the narrowest control"]
        return _table("Kinds of evidence", heads, rows)

    def _tightness(self) -> nodes.Node:
        counts = binned((b.tightness for b in self.summary.bounds), TIGHTNESS)
        caption = "How loose each bound is where it is tightest"
        return count_bars(caption, "Bound over measured quantity", counts, "Bounds")

    def _attained(self) -> nodes.Node:
        found: dict[str, dict[str, Row]] = {}
        for bound in self.summary.attained:
            claim = bound.row.claim
            found.setdefault(claim.paper, {}).setdefault(claim.id, bound.row)
        papers = self.ledger.inventory.papers
        items = (
            tag(
                "li",
                f"{papers[key].cited}: ",
                *joined(claim_link(row.claim) for row in found[key].values()),
                ".",
            )
            for key in papers
            if key in found
        )
        return tag("ul", *items)

    def _tightest(self) -> nodes.Node:
        above = [b for b in self.summary.bounds if b.tightness > TIGHTNESS[0]]
        return self._bounds("The tightest bounds that are not attained", above)

    def _loosest(self) -> nodes.Node:
        return self._bounds("The loosest bounds", self.summary.bounds[::-1])

    def _bounds(self, caption: str, bounds: Iterable[Bound]) -> nodes.Node:
        first: dict[str, Bound] = {}
        seen: set[tuple[str, float]] = set()  # two claims may rest on the same check
        for bound in bounds:
            same = bound.check["name"], bound.tightness
            if same not in seen:
                first.setdefault(bound.row.claim.id, bound)
            seen.add(same)
        rows = (
            [
                self._claim(bound.row),
                link(f"verdict:{bound.row.claim.id}", bound.check["name"]),
                figure(bound.tightness, 4),
                bound.at,
            ]
            for bound in list(first.values())[:LISTED]
        )
        return _table(caption, ["Claim", "Check", "Tightness", "Where"], rows)

    def _claim(self, row: Row) -> nodes.Node:
        """A link to a claim, with its paper."""
        paper = self.ledger.inventory.papers[row.claim.paper].cited
        return tag("span", claim_link(row.claim), tag("span", paper, class_="ledger-source"))

    def _unreachable(self) -> nodes.Node:
        papers = self.ledger.inventory.papers
        items = []
        for row in self.summary.unreachable:
            assert row.decision is not None
            claim, reason = row.claim, str(row.decision.record["reason"]).rstrip(".")
            tested = joined((tag("em", check["name"]) for check in row.decision.checks), "; ")
            words = f", {papers[claim.paper].cited}: {reason[0].lower()}{reason[1:]}."
            text = [" What could be tested: ", *tested, "."] if tested else []
            if found := substitute(row.decision.record):
                text.append(f" {found}")
            items.append(tag("li", claim_link(claim), words, *text))
        return tag("ul", *items) if items else tag("p", "Nothing is out of reach.")


def _table(
    caption: str, heads: Iterable[nodes.Node | str], rows: Iterable[list[nodes.Node | str]]
) -> nodes.Node:
    """A table whose first column names the line."""
    head = tag("tr", *(tag("th", words, scope="col") for words in heads))
    body = (
        tag("tr", tag("th", row[0], scope="row"), *(tag("td", c) for c in row[1:])) for row in rows
    )
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", head),
        tag("tbody", *body),
        class_="evidence-table",
    )
    return tag(
        "div", table, class_="ledger ledger-scroll", role="region", tabindex="0", aria_label=caption
    )


class NumberRole(SphinxRole):
    """``{evidence-number}`checks```: a number of the summary, see :meth:`Summary.number`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the number; an unknown name is a warning."""
        value = Summary(self.env.app.book_ledger).number(self.text)  # type: ignore[attr-defined]
        if value is None:
            where = self.get_location()
            LOGGER.warning(
                "no number %r in the evidence", self.text, location=where, type="book_ledger"
            )
        return [nodes.Text(str(value))], []


def register(app: Sphinx) -> None:
    """Add the directive and the role."""
    app.add_directive("evidence", EvidenceDirective)
    app.add_role("evidence-number", NumberRole())
