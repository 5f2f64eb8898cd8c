"""Letters to the authors: the errata of one paper in its order, a text file each, for a release."""

from __future__ import annotations

from pathlib import Path

from .ledger import Ledger
from .pages import ENVIRONMENT
from .roles import counts
from .scripts import ARCHIVE, Script


def write(ledger: Ledger, scripts: list[Script], folder: Path) -> None:
    """Write every letter as a Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    template = ENVIRONMENT.get_template("letter.md")
    for key, paper in ledger.inventory.papers.items():
        mine = [script for script in scripts if script.row.claim.paper == key]
        text = template.render(
            paper=paper, counts=counts(ledger, key), scripts=mine, archive=ARCHIVE
        )
        (folder / f"letter-{key}.md").write_text(f"{text}\n", "utf-8")
