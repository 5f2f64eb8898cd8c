"""A standalone script for every claim with errata: the cells of its notebook that it needs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import archives
from dpdynamics.claims import Notebook
from dpdynamics.verification import Erratum

from .evidence import Record
from .inventory import InventoryError
from .ledger import Ledger, Row

FOLDER = "errata"
ARCHIVE = "errata-scripts.zip"
# A folder that a notebook reads from, or a file in it.
FILES = re.compile(r"['\"](notebooks(?:/[\w-]+)+?)(?:/[\w-]+\.\w+)?/?['\"]")
NEEDED = "ipywidgets joblib matplotlib mpmath pandas scikit-learn scipy tqdm"  # by the package


@dataclass(frozen=True)
class Script:
    """The script that shows one erratum: number ``number`` of its claim, counted from 1."""

    row: Row
    erratum: Erratum
    number: int
    source: Notebook

    @property
    def name(self) -> str:
        """File name, shared by the errata of a claim."""
        return f"{self.row.claim.id}.py"

    @property
    def address(self) -> str:
        """Path from the root of the site."""
        return f"{FOLDER}/{self.name}"

    @property
    def check(self) -> Record:
        """The recorded check that shows the erratum."""
        return next(c for c in self.row.decision.checks if c["name"] == self.erratum.check)

    @cached_property
    def text(self) -> str:
        """The script: what it is, the cells, and the verdict beside what the book records."""
        claim = self.row.claim.id
        return f"{self._head()}\n{self.source.script([claim])}\n{self._comparison()}"

    @property
    def folders(self) -> list[str]:
        """Folders of the book that the script reads from."""
        return sorted(set(FILES.findall(self.text)))

    def _head(self) -> str:
        claim, path = self.row.claim, self.source.path.name
        lines = [
            f"{claim.id}, {claim.name}: its verdict, with all checks and errata.",
            f"Cells of {path} of the book Private Dynamics, those that it needs.",
            f"To run it: pip install {NEEDED}; unpack {ARCHIVE}, which also holds the book's "
            f"package dpdynamics and the files that its scripts read; there, python {self.name}",
            "A ratio is a discrepancy over its tolerance; above 1 a statement is rejected.",
        ]
        wrapped = (textwrap.wrap(line, 98, break_on_hyphens=False) for line in lines)
        return "".join(f"# {piece}\n" for line in wrapped for piece in line)

    def _comparison(self) -> str:
        sides = ("printed", "corrected")
        checks = self.row.decision.checks
        recorded = {c["name"]: {s: c[s]["ratio"] for s in sides if c[s]} for c in checks}
        lines = [f"    {name!r}: {ratios}," for name, ratios in recorded.items()]
        return "\n".join(["recorded = {", *lines, "}", _COMPARISON.format(claim=self.row.claim.id)])


_COMPARISON = """\
print(verdicts["{claim}"])
for check in verdicts["{claim}"].checks:
    for side, ratio in recorded[check.name].items():
        found = getattr(check, side)
        print(f"{{check.name}}: {{side}} statement {{found.outcome}}, ratio {{found.ratio:.6g}}")
        print(f"    recorded in the book: {{ratio}}")
"""


def scripts(ledger: Ledger, root: Path) -> list[Script]:
    """The script of every erratum, in the order of the ledger.

    Raises
    ------
    InventoryError
        If a verdict with errata is given by no call that names its claim.
    """
    sources = {path: Notebook(root / path) for path in ledger.notebooks}
    found = [
        Script(row, erratum, number, sources[row.decision.notebook])
        for row in ledger.rows.values()
        for number, erratum in enumerate(row.errata, start=1)
    ]
    if lost := [s for s in found if s.row.claim.id not in s.source.claims]:
        words = "no call of verdict names"
        raise InventoryError([f"{s.row.decision.place}: {words} {s.row.claim.id}" for s in lost])
    return found


def write(found: Sequence[Script], root: Path, out: Path) -> None:
    """Write all scripts below the root of the site, and one archive with all that they need."""
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    texts = {script.name: script.text.encode() for script in found}
    for old in {path.name for path in folder.glob("*.py")} - texts.keys():
        (folder / old).unlink()
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    read = [
        (f"{name}/{path.name}", path.read_bytes())
        for name in sorted({name for script in found for name in script.folders})
        for path in sorted((root / name).iterdir())
        if path.is_file()
    ]
    archives.write(folder / ARCHIVE, [*texts.items(), *read, *archives.library(root)])
