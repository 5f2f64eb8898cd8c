"""Letters to the authors: the errata of one paper in its order, on a page and as a text file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from .boxes import LedgerDirective
from .errata import comparison
from .evidence import ASSUMED, CORRECTED, FAILS, HOLDS, OUT_OF_REACH
from .inventory import Paper
from .ledger import Ledger
from .scripts import ARCHIVE, FOLDER, Script

OUTCOMES = {
    HOLDS: ("holds as printed", "hold as printed"),
    CORRECTED: ("holds with a correction", "hold with a correction"),
    FAILS: ("fails", "fail"),
    ASSUMED: (
        "is a definition, an assumption or an algorithm, which we exercised and did not decide",
        "are definitions, assumptions or algorithms, which we exercised and did not decide",
    ),
    OUT_OF_REACH: (
        "is beyond what a computation of ours could decide",
        "are beyond what a computation of ours could decide",
    ),
}


def letter(ledger: Ledger, paper: Paper, scripts: list[Script], address: str | None) -> str:
    """The letter in Markdown; with the ``address`` of their folder the scripts are links."""
    mine = [script for script in scripts if script.row.claim.paper == paper.key]
    return "\n\n".join(
        [
            "Dear authors,",
            _opening(ledger, paper),
            *(_list(mine, address) if mine else ["We have no correction to report."]),
            "Thank you for a paper that repaid close reading.",
            "The authors of *Private Dynamics*",
        ]
    )


def _opening(ledger: Ledger, paper: Paper) -> str:
    counts = {verdict: ledger.count(verdict, paper.key) for verdict in OUTCOMES}
    parts = [f"{number} {OUTCOMES[v][number > 1]}" for v, number in counts.items() if number]
    outcome = "; ".join(parts)
    rebuilt = sum(row.claim.reconstructed for row in ledger.of(paper.key))
    damaged = (
        f" The text available to us lacked displayed formulas, and {rebuilt} statements had to be "
        "rebuilt from what surrounds them. A formula that we rebuilt rightly and that is "
        "misprinted in your paper would have escaped us."
        if rebuilt
        else ""
    )
    return (
        f"We have read *{paper.title}* for *Private Dynamics*, a book of executable notebooks that "
        "derives the numbered results of four papers on differentially private training and checks "
        f"each by a computation. Of the {ledger.count(source=paper.key)} statements, figures and "
        f"tables of your paper: {outcome}.{damaged}"
    )


def _list(mine: list[Script], address: str | None) -> Iterator[str]:
    corrections = "one correction" if len(mine) == 1 else f"the {len(mine)} corrections below"
    head = f"We suggest {corrections}"
    yield (
        f"{head}, roughly in the order of your paper. Each says where it stands, what we read, "
        "what we believe to be right, what follows for your results, and which computation shows "
        "it. The script named at its end runs alone, with the package of the book, and prints "
        "the comparison. The factor is the discrepancy over what the test allows, for an "
        "inequality the left side over the right side: above one a statement is rejected. "
        "The same test has rejected deliberately wrong statements. We may have misread you: "
        "if a correction is itself mistaken, please tell us, and the book will say so."
    )
    for number, script in enumerate(mine, start=1):
        erratum = script.erratum
        run = (
            f"No script: {script.problem}."
            if script.problem
            else f"Script: {script.name}"
            if address is None
            else f'Script: <a href="{address}{script.name}">{script.name}</a>'
        )
        fields = [
            f"**{number}. {erratum.location}.**",
            f"*We read:* {erratum.printed}",
            f"*We believe to be right:* {erratum.correct}",
            f"*What follows:* {erratum.consequence}",
            f"*Evidence:* {comparison(script)} {run}",
        ]
        yield "\n\n".join(field.rstrip() for field in fields)


class LetterDirective(LedgerDirective):
    """``{letter} PAPER``: the letter to the authors of a paper."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the letter where the directive stands; an unknown paper is an error."""
        self.depend()
        papers = self.ledger.inventory.papers
        paper = papers.get(self.arguments[0])
        if paper is None:
            raise self.error(f"{self.arguments[0]!r} is no paper: {', '.join(papers)}")
        root = "../" * self.env.docname.count("/")
        text = letter(self.ledger, paper, self.scripts, f"{root}{FOLDER}/")
        copy = f'<a href="{root}{FOLDER}/{paper.key}.md">This letter as a text file</a>'
        return self.markdown(f"{text}\n\n{copy}")


def write(ledger: Ledger, scripts: list[Script], out: Path) -> None:
    """Write every letter as a Markdown file beside the scripts."""
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for key, paper in ledger.inventory.papers.items():
        title = f"# Corrections to {paper.title}\n\n{paper.authors}"
        foot = f"All scripts: {ARCHIVE}"
        text = f"{title}\n\n{letter(ledger, paper, scripts, None)}\n\n{foot}\n"
        (folder / f"{key}.md").write_text(text, "utf-8")


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("letter", LetterDirective)
