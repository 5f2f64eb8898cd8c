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
    def problem(self) -> str:
        """Why there is no script; empty if there is one."""
        claim = self.row.claim.id
        found = claim in self.source.claims
        return "" if found else f"{self.source.path.name}: no call of verdict on {claim}"

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
    """The script of every erratum, in the order of the ledger."""
    sources = {path: Notebook(root / path) for path in ledger.notebooks}
    return [
        Script(row, erratum, number, sources[row.decision.notebook])
        for row in ledger.rows.values()
        for number, erratum in enumerate(row.decision.errata, start=1)
    ]


def write(found: Sequence[Script], root: Path, out: Path) -> None:
    """Write all scripts below the root of the site, and one archive with all that they need."""
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    sound = list({script.name: script for script in found if not script.problem}.values())
    for old in {path.name for path in folder.glob("*.py")} - {script.name for script in sound}:
        (folder / old).unlink()
    for script in sound:
        (folder / script.name).write_text(script.text, "utf-8")
    read = [
        (f"{name}/{path.name}", path.read_bytes())
        for name in sorted({name for script in sound for name in script.folders})
        for path in sorted((root / name).iterdir())
        if path.is_file()
    ]
    texts = [(script.name, script.text.encode()) for script in sound]
    archives.write(folder / ARCHIVE, [*texts, *read, *archives.library(root)])
