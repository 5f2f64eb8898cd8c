"""The errata page: corrections to the papers, each with the check that shows it and its script."""

from __future__ import annotations

from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

from dpdynamics.verification.rendering import UNITS

from .boxes import LedgerDirective, claim_link
from .evidence import Record
from .markup import badge, figure, link, tag
from .scripts import Script
from .table import inline


class ErrataDirective(LedgerDirective):
    """``{errata}``: all errata by paper; with a paper's key, those of one paper."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make one list per paper; an unknown key is an error."""
        self.depend()
        papers = self.ledger.inventory.papers
        chosen = self.arguments or list(papers)
        if unknown := [key for key in chosen if key not in papers]:
            raise self.error(f"{unknown[0]!r} is no paper: {', '.join(papers)}")
        result: list[nodes.Node] = []
        for key in chosen:
            paper = papers[key]
            found = [s for s in self.scripts if s.row.claim.paper == key]
            title = tag("p", tag("strong", paper.cited), f" {paper.title}", class_="errata-paper")
            body = [self._entry(script) for script in found]
            none = tag("p", "No erratum so far.", class_="errata-none")
            result.append(
                tag("section", title, *(body or [none]), class_="errata", aria_label=paper.cited)
            )
        return result

    def _entry(self, script: Script) -> nodes.Node:
        row, erratum = script.row, script.erratum
        fields = tag("dl", *self._fields(script))
        head = tag(
            "p",
            tag("span", tag("strong", erratum.location), " in ", claim_link(row.claim)),
            badge(row.verdict),
            class_="claim-head",
        )
        return tag("div", head, fields, class_="erratum")

    def _fields(self, script: Script) -> Iterator[nodes.Node]:
        erratum = script.erratum
        for title in ("printed", "correct", "consequence"):
            yield tag("dt", title.capitalize())
            yield tag("dd", *inline(self.markdown(getattr(erratum, title))))
        yield tag("dt", "Evidence")
        yield tag("dd", *self._evidence(script))

    def _evidence(self, script: Script) -> Iterator[nodes.Node | str]:
        yield f"{comparison(script)} "
        yield link(f"verdict:{script.row.claim.id}", "The cell that decides")
        yield ". "
        if script.problem:
            yield f"No script: {script.problem}."
        else:
            yield link(f"site:{script.address}", "A script that shows it alone")
            yield "."


def comparison(script: Script) -> str:
    """How far off the printed and the corrected statement are, in a sentence."""
    check = script.check
    unit = UNITS.get(check["kind"], "tolerance")
    words = f"“{script.erratum.check}”: the printed statement {_outcome(check['printed'], unit)}"
    if check["corrected"]:
        words += f", the corrected one {_outcome(check['corrected'], unit)}"
    return f"{words}."


def _outcome(comparison: Record, unit: str) -> str:
    ratio = figure(comparison["ratio"])
    if comparison["outcome"] == "accepted":
        return f"is accepted at {ratio} of its {unit}"
    return f"is rejected {'without bound' if ratio == '∞' else f'by a factor {ratio}'}"


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("errata", ErrataDirective)
