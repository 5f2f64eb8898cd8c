"""The chapters as JupyterLab can show them, in a folder of their own: what ``make lab`` opens.

JupyterLab reads MyST (jupyterlab-myst) but knows neither the ledger, the bibliography nor other
chapters, and shows code that the page folds. In the copies that this script writes, a claim is an
admonition with its statement, a figure has its caption, folded code is folded, and the works that
are cited stand at the end; citations and references link to them, and to other chapters. A copy
that its reader changed is left as it is.

``make lab`` writes them to ``_build/lab``, trusts their outputs, and opens the chapter that the
script names; the site has them in one archive, with the data that they read, the library as a
wheel, and the versions of all packages.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat.sign import NotebookNotary
from pybtex.backends.markdown import Backend
from pybtex.database import parse_file
from pybtex.style.formatting.plain import Style
from sphinx.application import Sphinx

import archives
from book_ledger.inventory import Claim, Inventory, load, slug

ARCHIVE = "notebooks-to-run.zip"
READ_ME = """\
The chapters of Private Dynamics, to be run. With Python 3.11 or newer, once, in this folder:

    python -m pip install -r requirements.lock && python -m pip install {more} {wheel}

Then:  jupyter lab notebooks
The notebooks ask no network. They import the library from where the wheel is installed, and so does
a notebook that is opened alone, anywhere.

On a closed network with a package index of its own, the line above is all. Without one, the page
book/machines.html of the book lists what to fetch, and how large it is. Bring its folder "wheels"
here, and add to both commands of the first line:

    --no-index --find-links wheels

Where the packages are installed already, the library alone takes:

    python -m pip install --no-deps --no-index {wheel}
"""
PAGES = {  # what JupyterLab shows beside the chapters, and need not
    "disabledExtensions": {
        "@jupyter/nbgrader": True,
        "@jupyterlab/apputils-extension:announcements": True,
    }
}
SUMS = ".copies.json"
HIDDEN = {"hide-input", "remove-input", "remove-cell", "bootstrap"}
CLAIM = re.compile(r"^(`{3,})\{claim\} (\S+)\n(?:.*\n)*?\1$", re.MULTILINE)
ROLE = re.compile(
    r"\{(doc|eq|claimref|numref|cite:[tp]|ref|prf:ref)\}`(?:([^`<]*?) ?<([^`>]*)>|([^`]*))`"
)
FORM = re.compile(r"^(`{3,})\{accountant\}\n((?:.*\n)*?)\1$", re.MULTILINE)
FORM_ELSEWHERE = """
The page is `notebooks/synthesis/practitioner.html` of the site. A terminal answers too:
`dpdynamics epsilon --noise 1.0 --samples 50000 --batch 500 --epochs 30 --delta 1e-6`."""
HEADING = re.compile(r"^\((\S+)\)=\n#+ (.*)$", re.MULTILINE)
DISPLAY = re.compile(r"^ *\$\$\n(?:.*\n)*? *\$\$(?: \((\S+)\))?$", re.MULTILINE)
LABELLED = re.compile(r"^`{3,}\{([\w:]+)\} ?(.*)\n:label: (\S+)$", re.MULTILINE)


class Chapter:
    """A notebook of the book, with its number and its labels."""

    def __init__(self, path: Path, title: str, number: int) -> None:
        self.path, self.title = path, title
        self.notebook = nbformat.read(path, as_version=4)
        text = "\n\n".join(c.source for c in self.notebook.cells if c.cell_type == "markdown")
        self.labels = dict(HEADING.findall(text))
        displays = enumerate(DISPLAY.findall(text), 1)  # Lab counts those without a label, too
        self.labels |= {name: f"({k})" for k, name in displays if name}
        self.labels |= {label: name for _, name, label in LABELLED.findall(text)}
        self.claims = {found[2] for found in CLAIM.finditer(text)}
        self.cited: set[str] = set()  # by the copy
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
        self.root = root
        self.inventory: Inventory = load(root)
        entries = self.inventory.chapters.values()
        written = [(root / c.notebook, c.title) for c in entries if c.notebook]
        self.chapters = [Chapter(path, title, k) for k, (path, title) in enumerate(written, 1)]
        self.figures = {n: f for chapter in self.chapters for n, f in chapter.figures.items()}
        self.works = parse_file(str(root / "book" / "references.bib"))

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
                    caption = self.plain(figure["caption"], chapter)
                    text = f"({figure['name']})=\n*{self.figures[figure['name']]}* {caption}"
                    cells.append(nbformat.v4.new_markdown_cell(text))
        if chapter.cited:
            cells.append(nbformat.v4.new_markdown_cell(self._references(chapter)))
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"
        chapter.notebook["cells"] = cells
        return chapter.notebook

    def plain(self, text: str, chapter: Chapter) -> str:
        """Markdown in which what only the site can resolve is written out."""
        text = FORM.sub(lambda found: found[2] + FORM_ELSEWHERE, text)
        text = CLAIM.sub(lambda found: self._claim(self.inventory.claims[found[2]], found[1]), text)
        return ROLE.sub(lambda found: self._role(found, chapter), text)

    def _claim(self, claim: Claim, fence: str) -> str:
        source = self.inventory.sources[claim.paper]
        where = "A statement of this book" if source.own else f"{source.cited}, {claim.where}"
        lines = [f"{fence}{{admonition}} {claim.label}. {claim.name}"]
        lines += [f":label: claim-{slug(claim.id)}", claim.statement.strip()]
        if claim.repaired:
            lines.append(f"\n**What is true instead.** {claim.repaired.strip()}")
        return "\n".join([*lines, f"\n*{where}* (`{claim.id}`)", fence])

    def _role(self, found: re.Match[str], here: Chapter) -> str:
        role, words, target = found[1], found[2], found[3] or found[4]
        if role == "doc":
            path = (here.path.parent / f"{target}.ipynb").resolve()
            home = next((c for c in self.chapters if c.path.resolve() == path), None)
            if home:
                return f"[{words or home.title}]({_way(here, home)})"
            return f"*{words or Path(target).name.replace('_', ' ')}*"
        if role == "claimref":
            label = f"claim-{slug(target)}"
            homes = [c for c in self.chapters if target in c.claims]
            home = here if here in homes else homes[0] if homes else None
            words = words or self.inventory.claims[target].label
            return f"[{words}]({_way(here, home)}#{label})" if home else words
        if role.startswith("cite"):
            return self._citations([key.strip() for key in target.split(",")], role, here)
        home = here if target in here.labels else None
        home = home or next((c for c in self.chapters if target in {*c.labels, *c.figures}), None)
        if home is None:
            return words or target
        if target in self.figures:
            return f"[{self.figures[target]}]({_way(here, home)}#{target})"
        if home is not here:
            words = words or home.labels[target] or "an exercise"
            return f"[{words}]({_way(here, home)}#{target}) in *{home.title}*"
        return f"{{ref}}`{target}`" if role == "numref" else found[0]

    def _citations(self, keys: list[str], role: str, here: Chapter) -> str:
        here.cited.update(keys)
        links = []
        for key in keys:
            entry = self.works.entries[key]
            names = [str(person.last_names[0]) for person in entry.persons["author"]]
            several = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
            year = entry.fields["year"]
            said = f"{several} ({year})" if role == "cite:t" else f"{several}, {year}"
            links.append(f"[{said}](#cite-{key})")
        return "; ".join(links) if role == "cite:t" else f"({'; '.join(links)})"

    def _references(self, chapter: Chapter) -> str:
        works, backend = Style().format_bibliography(self.works, sorted(chapter.cited)), Backend()
        listed = (f"(cite-{work.key})=\n{work.text.render(backend)}" for work in works)
        return "\n\n".join(["## References", *listed])


def _way(here: Chapter, home: Chapter) -> str:
    """The address of a chapter in another one; nothing in itself."""
    return "" if home is here else os.path.relpath(home.path, here.path.parent)


def files(book: Book) -> Iterator[tuple[str, bytes | nbformat.NotebookNode]]:
    """Names and contents: the copies, and the tables beside the chapters that these read."""
    root = book.root
    for chapter in book.chapters:
        yield chapter.path.relative_to(root).as_posix(), book.copy(chapter)
    for path in sorted((root / "notebooks").glob("*/data/**/*")):
        if path.is_file():
            yield path.relative_to(root).as_posix(), path.read_bytes()


def write(book: Book, folder: Path) -> list[str]:
    """Write the copies below a folder; return those that their reader changed: they stay."""
    notary, kept = NotebookNotary(), []
    record = folder / SUMS
    sums = json.loads(record.read_text("utf-8")) if record.is_file() else {}
    for name, content in files(book):
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
        sys.path.append(str(root / "tools"))  # where releases and the course have the wheel from
        from nb.layout import wheel

        pins = re.findall(
            r"(?:torch|jupyterlab-myst)==[\d.]+", (root / "pyproject.toml").read_text("utf-8")
        )
        with TemporaryDirectory() as scratch:
            built = wheel(Path(scratch))
            texts = {built.name: built.read_bytes()}
        words = READ_ME.format(more=" ".join(pins), wheel=f"./{built.name}")
        texts["README.txt"] = words.encode()
        texts["requirements.lock"] = (root / "requirements.lock").read_bytes()
        copies = (
            (name, content if isinstance(content, bytes) else nbformat.writes(content).encode())
            for name, content in files(Book(root))
        )
        archives.write(Path(app.outdir) / ARCHIVE, [*texts.items(), *copies])


if __name__ == "__main__":
    target, *asked = sys.argv[1:]
    root = Path(__file__).resolve().parents[2]
    for name in asked:
        if not (name.startswith("notebooks/") and (root / name).is_file()):
            sys.exit(f"{name}: no such chapter; name one as in NB=notebooks/kan/curvature.ipynb")
    book = Book(root)
    for left in write(book, Path(target)):
        print(f"{left}: you changed it, so it stays (delete it for a fresh copy)", file=sys.stderr)
    print(*(asked[:1] or [book.chapters[0].path.relative_to(root).as_posix()]))
