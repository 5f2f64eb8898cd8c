"""The chapters as JupyterLab can show them, in a folder of their own: what ``make lab`` opens.

JupyterLab reads MyST (jupyterlab-myst) but knows neither the ledger, the bibliography nor other
chapters, and shows code that the page folds. In the copies that this script writes, a claim is an
admonition with its statement, a citation has authors and year, a reference to another chapter its
title, a figure its caption, and folded code is folded. A copy that its reader changed is left as it
is.

``make lab`` writes them to ``_build/lab`` and trusts their outputs; the site has them in one
archive, with the data that they read, the library, and the versions of all packages.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary
from pybtex.database import parse_file
from sphinx.application import Sphinx

import archives
from book_ledger.inventory import Claim, Inventory, load

ARCHIVE = "notebooks-to-run.zip"
READ_ME = """\
The chapters of Private Dynamics, to be run. With Python 3.11, once:

    python -m pip install -r requirements.lock && python -m pip install {more}

Then, in this folder:  jupyter lab notebooks
The notebooks find the library in the folder lib, and ask no network.
"""
PAGES = {  # what JupyterLab shows beside the chapters, and need not
    "disabledExtensions": {
        "@jupyter/nbgrader": True,
        "@jupyterlab/apputils-extension:announcements": True,
    }
}
SUMS = ".copies.json"
HIDDEN = {"hide-input", "remove-cell", "bootstrap"}
CLAIM = re.compile(r"^(`{3,})\{claim\} (\S+)\n(?:.*\n)*?\1$", re.MULTILINE)
ROLE = re.compile(
    r"\{(doc|eq|claimref|numref|cite:[tp]|ref|prf:ref)\}`(?:([^`<]*?) ?<([^`>]*)>|([^`]*))`"
)
HEADING = re.compile(r"^\((\S+)\)=\n#+ (.*)$", re.MULTILINE)
EQUATION = re.compile(r"^\$\$ \((\S+)\)$", re.MULTILINE)
LABELLED = re.compile(r"^`{3,}\{([\w:]+)\} ?(.*)\n:label: (\S+)$", re.MULTILINE)


class Chapter:
    """A notebook of the book, with its number and its labels."""

    def __init__(self, path: Path, title: str, number: int) -> None:
        self.path, self.title = path, title
        self.notebook = nbformat.read(path, as_version=4)
        text = "\n\n".join(c.source for c in self.notebook.cells if c.cell_type == "markdown")
        self.labels = dict(HEADING.findall(text))
        self.labels |= dict.fromkeys(EQUATION.findall(text), "")
        self.labels |= {label: name for _, name, label in LABELLED.findall(text)}
        names = (
            output.get("metadata", {})
            for cell in self.notebook.cells
            for output in cell.get("outputs", [])
        )
        found = [m["dpdynamics"]["figure"] for m in names if "figure" in m.get("dpdynamics", {})]
        self.figures = {figure["name"]: f"Fig. {number}.{k}" for k, figure in enumerate(found, 1)}


class Book:
    """All chapters, the claims and the bibliography."""

    def __init__(self, root: Path) -> None:
        self.inventory: Inventory = load(root)
        entries = self.inventory.chapters.values()
        written = [(root / c.notebook, c.title) for c in entries if c.notebook]
        self.chapters = [Chapter(path, title, k) for k, (path, title) in enumerate(written, 1)]
        self.figures = {n: f for chapter in self.chapters for n, f in chapter.figures.items()}
        self.cited = {
            key: _cited(
                [str(p.last_names[0]) for p in entry.persons["author"]], entry.fields["year"]
            )
            for key, entry in parse_file(str(root / "book" / "references.bib")).entries.items()
        }

    def copy(self, chapter: Chapter) -> nbformat.NotebookNode:
        """The notebook of a chapter as JupyterLab can show it."""
        cells = []
        for cell in chapter.notebook.cells:
            cells.append(cell)
            if cell.cell_type == "markdown":
                cell["source"] = self.plain(cell.source, chapter)
            elif HIDDEN & set(cell.metadata.get("tags", [])):
                cell.metadata["jupyter"] = {"source_hidden": True}
            for output in cell.get("outputs", []):
                figure = output.get("metadata", {}).get("dpdynamics", {}).get("figure")
                if figure and "dp-explorer" not in output["data"].get("text/html", ""):
                    text = (
                        f"*{self.figures[figure['name']]}* {self.plain(figure['caption'], chapter)}"
                    )
                    cells.append(nbformat.v4.new_markdown_cell(text))
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"
        chapter.notebook["cells"] = cells
        return chapter.notebook

    def plain(self, text: str, chapter: Chapter) -> str:
        """Markdown in which what only the site can resolve is written out."""
        text = CLAIM.sub(lambda found: self._claim(self.inventory.claims[found[2]], found[1]), text)
        return ROLE.sub(lambda found: self._role(found, chapter), text)

    def _claim(self, claim: Claim, fence: str) -> str:
        source = self.inventory.sources[claim.paper]
        where = "A statement of this book" if source.own else f"{source.cited}, {claim.where}"
        lines = [f"{fence}{{admonition}} {claim.label}. {claim.name}", claim.statement.strip()]
        if claim.repaired:
            lines.append(f"\n**What is true instead.** {claim.repaired.strip()}")
        return "\n".join([*lines, f"\n*{where}* (`{claim.id}`)", fence])

    def _role(self, found: re.Match[str], here: Chapter) -> str:
        role, words, target = found[1], found[2], found[3] or found[4]
        if role == "doc":
            path = (here.path.parent / f"{target}.ipynb").resolve()
            titles = {chapter.path.resolve(): chapter.title for chapter in self.chapters}
            if path in titles:
                return f"[{words or titles[path]}]({target}.ipynb)"
            return f"*{words or Path(target).name.replace('_', ' ')}*"
        if role == "claimref":
            return words or self.inventory.claims[target].label
        if role.startswith("cite"):
            texts = [self.cited[key.strip()] for key in target.split(",")]
            return "; ".join(texts) if role == "cite:t" else f"({'; '.join(texts)})"
        if target in self.figures:
            return self.figures[target]
        if target in here.labels:
            if role != "numref" and not (role == "ref" and not words and not here.labels[target]):
                return found[0]
            return f"“{here.labels[target]}”" if here.labels[target] else f"`{target}`"
        home = next((c for c in self.chapters if target in c.labels), None)
        name = home.labels[target] if home else ""
        return f"{words or name} in *{home.title}*" if home else (words or target)


def _cited(names: list[str], year: str) -> str:
    several = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{several} ({year})"


def files(root: Path) -> Iterator[tuple[str, bytes | nbformat.NotebookNode]]:
    """Names and contents: the copies, and the tables beside the chapters that these read."""
    book = Book(root)
    for chapter in book.chapters:
        yield chapter.path.relative_to(root).as_posix(), book.copy(chapter)
    for path in sorted((root / "notebooks").glob("*/data/**/*")):
        if path.is_file():
            yield path.relative_to(root).as_posix(), path.read_bytes()


def write(root: Path, folder: Path) -> list[str]:
    """Write the copies below a folder; return those that their reader changed: they stay."""
    notary, kept = NotebookNotary(), []
    record = folder / SUMS
    sums = json.loads(record.read_text("utf-8")) if record.is_file() else {}
    for name, content in files(root):
        target = folder / name
        if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() != sums.get(name):
            kept.append(name)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(nbformat.writes(content), "utf-8")
            notary.sign(content)
        sums[name] = hashlib.sha256(target.read_bytes()).hexdigest()
    record.write_text(json.dumps(sums, indent=1), "utf-8")
    settings = folder / ".jupyter" / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(PAGES), "utf-8")
    return kept


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", archive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def archive(app: Sphinx, exception: Exception | None) -> None:
    """Write the archive into the site."""
    if exception is None and app.builder.format == "html":
        root = Path(app.srcdir)
        pins = re.findall(
            r"(?:torch|jupyterlab-myst)==[\d.]+", (root / "pyproject.toml").read_text("utf-8")
        )
        texts = {"README.txt": READ_ME.format(more=" ".join(pins)).encode()}
        texts["requirements.lock"] = (root / "requirements.lock").read_bytes()
        copies = (
            (name, content if isinstance(content, bytes) else nbformat.writes(content).encode())
            for name, content in files(root)
        )
        packed = [*texts.items(), *archives.library(root, "lib/"), *copies]
        archives.write(Path(app.outdir) / ARCHIVE, packed)


if __name__ == "__main__":
    for left in write(Path(__file__).resolve().parents[2], Path(sys.argv[1])):
        print(f"{left}: you changed it, so it is left as it is (delete it for a fresh copy)")
