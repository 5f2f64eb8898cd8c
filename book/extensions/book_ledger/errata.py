"""The errata page: corrections to the papers, each with the check that shows it and its script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

from dpdynamics.verification import words
from dpdynamics.verification.rendering import UNITS

from .boxes import GRADES, LedgerDirective, claim_link
from .evidence import Record
from .markup import ERRATA_LABEL, figure, filters, link, tag
from .scripts import Script
from .table import inline


class ErrataDirective(LedgerDirective):
    """``{errata}``: all errata by paper and grade; with a paper's key, those of one paper."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make a filter and one list per paper; an unknown key is an error."""
        self.depend()
        papers = self.ledger.inventory.papers
        chosen = self.arguments or list(papers)
        if unknown := [key for key in chosen if key not in papers]:
            raise self.error(f"{unknown[0]!r} is no paper: {', '.join(papers)}")
        self.env.get_domain("std").note_hyperlink_target(  # type: ignore[attr-defined]
            ERRATA_LABEL, self.env.docname, "errata", "Errata"
        )
        lists = [self._paper(key) for key in chosen]
        return [tag("div", self._filters(chosen), *lists, id="errata", class_="errata-all")]

    def _paper(self, key: str) -> nodes.Node:
        paper = self.ledger.inventory.papers[key]
        found = [s for s in self.scripts if s.row.claim.paper == key]
        found.sort(key=lambda script: -GRADES.index(script.erratum.grade))
        title = tag("p", tag("strong", paper.cited), f" {paper.title}", class_="errata-paper")
        read = tag("p", f"Read: {paper.version}.", class_="errata-none") if paper.version else ""
        counts = Counter(script.erratum.grade for script in found)
        told = ", ".join(f"{counts[grade]} {grade}" for grade in reversed(GRADES) if counts[grade])
        line = tag(
            "p", f"By grade: {told}." if told else "No erratum so far.", class_="errata-none"
        )
        body = [self._entry(script) for script in found]
        return tag("section", title, read, line, *body, class_="errata", aria_label=paper.cited)

    def _filters(self, papers: list[str]) -> nodes.Node:
        cited = self.ledger.inventory.papers
        choices = {
            "grade": [(grade, grade) for grade in reversed(GRADES)],
            "part": [(part, f"in the {part}") for part in words.PARTS],
            "paper": [(key, cited[key].cited) for key in papers],
        }
        return filters("Filter the errata", choices, "")

    def _entry(self, script: Script) -> nodes.Node:
        row, erratum = script.row, script.erratum
        grade = erratum.grade + (", in the proof" if erratum.part == "proof" else "")
        head = tag(
            "summary",
            tag("strong", erratum.location),
            tag("span", grade, class_=f"errata-grade g-{erratum.grade}"),
        )
        told = (erratum.location, erratum.printed, erratum.correct, erratum.consequence)
        return tag(
            "details",
            head,
            tag("dl", *self._fields(script)),
            class_="erratum",
            id=f"erratum-{row.claim.slug}-{script.number}",
            data_grade=erratum.grade,
            data_part=erratum.part,
            data_paper=row.claim.paper,
            data_text=" ".join((row.claim.id, row.claim.name, *told)).lower(),
        )

    def _fields(self, script: Script) -> Iterator[nodes.Node]:
        erratum, claim = script.erratum, script.row.claim
        yield tag("dt", "Claim")
        rebuilt = " (rebuilt: to be confirmed against the paper)" if claim.reconstructed else ""
        yield tag("dd", claim_link(claim), f", {claim.name}{rebuilt}")
        for title in ("printed", "correct", "consequence"):
            yield tag("dt", title.capitalize())
            yield tag("dd", *inline(self.markdown(getattr(erratum, title))))
        yield tag("dt", "Evidence")
        yield tag("dd", *self._evidence(script))

    def _evidence(self, script: Script) -> Iterator[nodes.Node | str]:
        yield f"{comparison(script)} "
        yield link(f"verdict:{script.row.claim.id}", "The evidence")
        yield ". "
        if script.problem:
            yield f"No script: {script.problem}."
        else:
            yield link(f"site:{script.address}", "A script that decides the claim alone")
            yield "."


def comparison(script: Script) -> str:
    """How far off the printed and the corrected statement are, in a sentence."""
    check = script.check
    unit = UNITS.get(check["kind"], "tolerance")
    text = f"“{script.erratum.check}”: the printed statement {_outcome(check['printed'], unit)}"
    if check["corrected"]:
        text += f", the corrected one {_outcome(check['corrected'], unit)}"
    return f"{text}."


def _outcome(comparison: Record, unit: str) -> str:
    ratio = figure(comparison["ratio"])
    if comparison["outcome"] == "accepted" and ratio == "1":
        return "is accepted with equality"
    if comparison["outcome"] == "accepted":
        return f"is accepted at {ratio} of its {unit}"
    return f"is rejected {'without bound' if ratio == '∞' else f'by a factor {ratio}'}"


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("errata", ErrataDirective)
