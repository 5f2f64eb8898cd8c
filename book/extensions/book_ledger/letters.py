"""Letters to the authors: the errata of one paper in its order, a text file each, for a release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpdynamics.verification import words
from dpdynamics.verification.rendering import graded

from .errata import comparison
from .inventory import Paper
from .ledger import Ledger
from .scripts import ARCHIVE, Script

OUTCOMES = {
    words.HOLDS: ("holds as printed", "hold as printed"),
    words.REBUILT: (
        "holds as we rebuilt it, which says nothing of what you print",
        "hold as we rebuilt them, which says nothing of what you print",
    ),
    words.MISPRINTED: (
        "holds but for a misprint, a constant or a slip of its proof",
        "hold but for a misprint, a constant or a slip of the proof",
    ),
    words.CONDITIONAL: ("holds under a further condition", "hold under a further condition"),
    words.FAILS: ("fails as printed", "fail as printed"),
    words.ASSUMED: (
        "is a definition, an assumption or an algorithm, which we exercised and did not decide",
        "are definitions, assumptions or algorithms, which we exercised and did not decide",
    ),
    words.OUT_OF_REACH: (
        "is beyond what a computation of ours could decide",
        "are beyond what a computation of ours could decide",
    ),
}


def letter(ledger: Ledger, paper: Paper, scripts: list[Script]) -> str:
    """The letter in Markdown."""
    mine = [script for script in scripts if script.row.claim.paper == paper.key]
    return "\n\n".join(
        [
            "Dear authors,",
            _opening(ledger, paper),
            *(_list(mine) if mine else ["We have no correction to report."]),
            "Thank you for a paper that repaid close reading.",
            "The authors of *Private Dynamics*",
        ]
    )


def _opening(ledger: Ledger, paper: Paper) -> str:
    counts = {verdict: ledger.count(verdict, paper.key) for verdict in OUTCOMES}
    part, whole = ledger.coverage(paper.key)
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
        f"We have read *{paper.title}* ({paper.version}) for *Private Dynamics*, a book of "
        "executable notebooks that derives the numbered results of four papers on differentially "
        "private training and checks each by a computation. Of the "
        f"{ledger.count(source=paper.key)} statements, figures and tables of your paper: "
        f"{outcome}.{damaged} A check sees only the terms of a statement that one of its controls "
        f"changes: {part} of the {whole} terms that we count in your statements."
    )


def _list(mine: list[Script]) -> Iterator[str]:
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
        run = f"No script: {script.problem}." if script.problem else f"Script: {script.name}"
        fields = [
            f"**{number}. {erratum.location}** ({graded(vars(erratum))}).",
            f"*We read:* {erratum.printed}",
            f"*We believe to be right:* {erratum.correct}",
            f"*What follows:* {erratum.consequence}",
            f"*Evidence:* {comparison(script)} {run}",
        ]
        yield "\n\n".join(field.rstrip() for field in fields)


def write(ledger: Ledger, scripts: list[Script], folder: Path) -> None:
    """Write every letter as a Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    for key, paper in ledger.inventory.papers.items():
        title = f"# Corrections to {paper.title}\n\n{paper.authors}"
        foot = f"All scripts: {ARCHIVE}"
        text = f"{title}\n\n{letter(ledger, paper, scripts)}\n\n{foot}\n"
        (folder / f"letter-{key}.md").write_text(text, "utf-8")
