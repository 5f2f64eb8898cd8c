"""A small standalone script for every erratum: the check that shows it, cut out of its notebook."""

from __future__ import annotations

import io
import re
import textwrap
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dpdynamics.verification import Erratum

from .cutting import WIDTH, SliceError, Source, cut
from .evidence import Record
from .ledger import Ledger, Row

FOLDER = "errata"
ARCHIVE = "errata-scripts.zip"
# A folder that a notebook reads from, or a file in it.
FILES = re.compile(r"['\"](notebooks(?:/[\w-]+)+?)(?:/[\w-]+\.\w+)?/?['\"]")
NEEDED = "ipywidgets joblib matplotlib mpmath pandas scipy tqdm"  # by the package
EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that two builds give the same bytes


@dataclass(frozen=True)
class Script:
    """The script of one erratum: number ``number`` of its claim, counted from 1."""

    row: Row
    erratum: Erratum
    number: int
    source: Source

    @property
    def name(self) -> str:
        """File name."""
        return f"{self.row.claim.id}-{self.number}.py"

    @property
    def address(self) -> str:
        """Path from the root of the site."""
        return f"{FOLDER}/{self.name}"

    @property
    def check(self) -> Record:
        """The recorded check that shows the erratum."""
        assert self.row.decision is not None
        return next(c for c in self.row.decision.checks if c["name"] == self.erratum.check)

    @cached_property
    def body(self) -> str:
        """The code that computes the check; an error says why it cannot be cut out."""
        assert self.row.decision is not None
        decision = self.row.decision
        return cut(self.source, decision.cell, decision.claim, self.erratum.check)

    @cached_property
    def problem(self) -> str:
        """Why there is no script; empty if there is one."""
        try:
            compile(self.body, self.name, "exec")
        except (SliceError, SyntaxError) as error:
            return str(error)
        return ""

    @property
    def text(self) -> str:
        """The script."""
        return f"{self._head()}\n{self.body}\n\n{self._comparison()}"

    @property
    def folders(self) -> list[str]:
        """Folders of the book that the script reads from."""
        return sorted(set(FILES.findall(self.body)))

    def _head(self) -> str:
        assert self.row.decision is not None
        erratum, decision = self.erratum, self.row.decision
        lines = [
            f"Erratum {self.number} to {self.row.claim.id}: {erratum.location}",
            "",
            f"Printed: {erratum.printed}",
            f"Correct: {erratum.correct}",
            f"Shown by the check: {erratum.check}",
            "",
            f"Cut out of {decision.notebook} of the book Private Dynamics, cell {decision.cell}: "
            "only what this check needs.",
            f"To run it: pip install {NEEDED}; unpack {ARCHIVE}, which also holds the book's "
            f"package dpdynamics{' and the files that it reads' if self.folders else ''}; there, "
            f"python {self.name}",
            "A ratio is a discrepancy over its tolerance; above 1 a statement is rejected.",
        ]
        wrapped = (
            piece
            for line in lines
            for piece in (
                textwrap.wrap(line, WIDTH - 2, subsequent_indent="  ", break_on_hyphens=False)
                or [""]
            )
        )
        return "".join(f"# {line}".rstrip() + "\n" for line in wrapped)

    def _comparison(self) -> str:
        printed, corrected = self.check["printed"], self.check["corrected"]
        lines = [
            'print(f"{check.name} ({check.kind}; {check.test})")',
            'print(f"printed statement {check.printed.outcome}: ratio {check.printed.ratio:.6g}")',
            f'print("    recorded in the book: {float(printed["ratio"]):.6g}")',
            "for place, value in check.printed.worst.items():",
            '    print("    where it is worst,", place, "=", value)',
        ]
        if corrected:
            lines += [
                "print(",
                '    f"corrected statement {check.corrected.outcome}: "',
                '    f"ratio {check.corrected.ratio:.6g}"',
                ")",
                f'print("    recorded in the book: {float(corrected["ratio"]):.6g}")',
            ]
        return "\n".join(lines) + "\n"


def scripts(ledger: Ledger, root: Path) -> list[Script]:
    """The script of every erratum, in the order of the ledger."""
    sources = {path: Source(root / path) for path in ledger.notebooks}
    return [
        Script(row, erratum, number, sources[row.decision.notebook])
        for row in ledger.rows.values()
        if row.decision
        for number, erratum in enumerate(row.decision.errata, start=1)
    ]


def write(found: Sequence[Script], root: Path, out: Path) -> None:
    """Write all scripts below the root of the site, and one archive with all that they need."""
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    sound = [script for script in found if not script.problem]
    for old in {path.name for path in folder.glob("*.py")} - {script.name for script in sound}:
        (folder / old).unlink()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for script in sound:
            (folder / script.name).write_text(script.text, "utf-8")
            archive.writestr(_entry(script.name), script.text)
        for name in sorted({name for script in sound for name in script.folders}):
            for path in sorted(path for path in (root / name).iterdir() if path.is_file()):
                archive.writestr(_entry(f"{name}/{path.name}"), path.read_bytes())
        for path in sorted((root / "lib" / "dpdynamics").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.writestr(_entry(str(path.relative_to(root / "lib"))), path.read_bytes())
    (folder / ARCHIVE).write_bytes(packed.getvalue())


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return entry
