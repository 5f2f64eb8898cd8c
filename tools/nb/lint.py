"""The rules that a chapter's notebook obeys.

Each rule is a function from a :class:`Chapter` to messages; a message names the cell. The tests
apply the same rules one by one, so that a broken one fails under its own name.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat

from dpdynamics.claims import Cell, Notebook, roots
from nb.bootstrap import TAGS, bootstrap_source, is_bootstrap
from nb.execute import cell_name
from nb.fingerprint import Library, imported_modules, outputs_hash, python_source, why_stale
from nb.layout import PACKAGE, ROOT
from nb.normalise import WIDGET_VIEW, normalise, text_of

MAX_BYTES = 2_000_000
MAX_CELL_LINES = 40
MAX_CELLS = 92
MIN_WORDS = 150
WITH_DEPENDENCIES = {"IPython", "cycler"}  # come with ipywidgets and matplotlib, part of their API
IMPORT_NAMES = {
    "python-flint": "flint",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}  # distributions whose module has another name
# What would switch a comparison off, write a verdict by hand, or leave the book's seed.
FORBIDDEN_TAGS = re.compile(r"nbval-.*|raises-exception|skip-execution")
FORBIDDEN_TEXT = re.compile(
    r"NBVAL_\w+|vnd\.dpdynamics|DPDYNAMICS_SEED|\bdefault_rng\b|\bimportlib\b"
    r"|\b(?:Check|Comparison|Verdict|Attack)\("
)
# What a cell that only defines may call: classes, and these.
MAKERS = {"np", "math", "itertools", "functools", *dir(builtins)} - {"print", "input", "open"}
MAX_BINDINGS = 2  # cells that bind one name; a figure's names are bound again in every figure
FIGURE_NAMES = {"fig", "ax", "axes", "_"}
_ADDRESS = re.compile(r"<[^<>\n]* at 0x[0-9a-f]{6,}>")


@dataclass
class Chapter:
    """One notebook under examination."""

    path: Path
    library: Library

    @cached_property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @cached_property
    def notebook(self) -> nbformat.NotebookNode:
        return nbformat.reads(self.text, as_version=4)

    def code(self) -> Iterator[tuple[str, nbformat.NotebookNode]]:
        """Code cells with their names."""
        for index, cell in enumerate(self.notebook.cells):
            if cell.cell_type == "code":
                yield cell_name(self.notebook, index), cell

    def outputs(self) -> Iterator[tuple[str, nbformat.NotebookNode]]:
        """Outputs with the names of their cells."""
        for name, cell in self.code():
            for output in cell.outputs:
                yield name, output


def begins_with_title(chapter: Chapter) -> Iterator[str]:
    """The first cell is prose and opens with the chapter's title."""
    cells = chapter.notebook.cells
    body = re.sub(r"\A(\(\S+\)=\s*)+", "", cells[0].source) if cells else ""  # labels may precede
    if not cells or cells[0].cell_type != "markdown" or not body.startswith("# "):
        yield "cell 1: the notebook must open with a Markdown cell that holds its title, '# ...'"


def begins_with_bootstrap(chapter: Chapter) -> Iterator[str]:
    """The first code cell is the bootstrap cell, letter by letter."""
    name, cell = next(chapter.code(), ("", None))
    if cell is None:
        yield "the notebook has no code cell"
    elif not is_bootstrap(cell) or cell.source != bootstrap_source():
        yield f"{name}: the first code cell is not the bootstrap cell; run `make format`"
    elif cell.metadata.get("tags") != TAGS:
        yield f"{name}: the bootstrap cell must have the tags {TAGS}; run `make format`"


def is_executed(chapter: Chapter) -> Iterator[str]:
    """Every code cell was executed, in order, from top to bottom."""
    for expected, (name, cell) in enumerate(chapter.code(), start=1):
        if cell.execution_count is None:
            yield f"{name}: was never executed; run `make run`"
        elif cell.execution_count != expected:
            yield f"{name}: executed out of order (In [{cell.execution_count}]); run `make run`"


def is_fresh(chapter: Chapter) -> Iterator[str]:
    """The stored outputs belong to this code, library, style and lock file."""
    reason = why_stale(chapter.notebook, chapter.path, chapter.library)
    if reason:
        yield f"the stored outputs are stale ({reason}); run `make run`"


def is_untouched(chapter: Chapter) -> Iterator[str]:
    """The stored outputs are those of the last execution, not edited since."""
    stored = chapter.notebook.metadata.get("dpdynamics", {}).get("outputs")
    if stored != outputs_hash(chapter.notebook):
        yield "the stored outputs are not those of its last execution; run `make run FORCE=1`"


def hides_nothing(chapter: Chapter) -> Iterator[str]:
    """No cell escapes the comparison, writes a verdict by hand, or draws from another seed."""
    for name, cell in chapter.code():
        for tag in cell.metadata.get("tags", []):
            if FORBIDDEN_TAGS.fullmatch(tag):
                yield f"{name}: the tag {tag!r} takes the cell out of the tests"
        found = None if is_bootstrap(cell) else FORBIDDEN_TEXT.search(cell.source)
        if found:
            yield f"{name}: {found[0]!r} has no place in a chapter; use verdict(), generator()"


def is_canonical(chapter: Chapter) -> Iterator[str]:
    """The file is what the normaliser would write."""
    copy = nbformat.reads(chapter.text, as_version=4)
    normalise(copy)
    if text_of(copy) != chapter.text:
        yield "the file is not in its canonical form; run `make format`"


def has_no_error(chapter: Chapter) -> Iterator[str]:
    """No output is an error, and nothing was written to stderr (so nothing warned)."""
    for name, output in chapter.outputs():
        if output.output_type == "error":
            yield f"{name}: raised {output.ename}: {output.evalue}"
        elif output.output_type == "stream" and output.name == "stderr":
            yield f"{name}: wrote to stderr: {output.text.strip()[:160]}"


def has_no_address(chapter: Chapter) -> Iterator[str]:
    """No text shows a memory address, which differs in every run."""
    for name, output in chapter.outputs():
        shown = [output.get("text", ""), *output.get("data", {}).values()]
        found = next((m for s in shown if isinstance(s, str) and (m := _ADDRESS.search(s))), None)
        if found:
            yield f"{name}: shows the memory address {found[0]!r}; print a value instead"


def figures_have_alt_text(chapter: Chapter) -> Iterator[str]:
    """Pictures are shown through ``dpdynamics.display``, which demands alt text."""
    for name, output in chapter.outputs():
        if any(mime.startswith("image/") for mime in output.get("data", {})):
            own = output.get("metadata", {}).get("dpdynamics", {})
            if not own.get("figure", {}).get("alt", "").strip():
                yield f"{name}: a picture without alt text; show it with dpdynamics.display.show"


def widgets_have_a_static_form(chapter: Chapter) -> Iterator[str]:
    """Every widget can be used without a kernel."""
    for name, output in chapter.outputs():
        if WIDGET_VIEW in output.get("data", {}):
            yield f"{name}: a widget without a static form; use dpdynamics.display.explorer"


def is_small(chapter: Chapter) -> Iterator[str]:
    """The file stays under two megabytes."""
    size = len(chapter.text.encode())
    if size >= MAX_BYTES:
        yield f"the file has {size / 1e6:.2f} MB; a notebook stays under {MAX_BYTES / 1e6:.0f} MB"


def is_readable(chapter: Chapter) -> Iterator[str]:
    """Short cells, not too many of them, none empty, and prose between them."""
    cells = chapter.notebook.cells
    if len(cells) > MAX_CELLS:
        yield f"{len(cells)} cells; a chapter of more than {MAX_CELLS} is two chapters"
    for name, cell in chapter.code():
        lines = len(cell.source.splitlines())
        if not cell.source.strip():
            yield f"{name}: is empty"
        elif lines > MAX_CELL_LINES:
            yield f"{name}: {lines} lines of code; at most {MAX_CELL_LINES}, the rest is library"
    words = sum(len(c.source.split()) for c in cells if c.cell_type == "markdown")
    if words < MIN_WORDS:
        yield f"{words} words of prose; a chapter explains itself (at least {MIN_WORDS})"


def allowed_imports() -> set[str]:
    """Modules that a notebook may import: what comes with Python and with the library."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project.get("optional-dependencies", {}).get("torch", [])]
    names = {re.split(r"[^A-Za-z0-9_.\-]", w)[0].lower() for w in wanted}
    modules = {IMPORT_NAMES.get(n, n) for n in names}
    return modules | WITH_DEPENDENCIES | set(sys.stdlib_module_names) | {PACKAGE}


def imports_rooms_only(chapter: Chapter) -> Iterator[str]:
    """Notebooks import the library's rooms, its dependencies, and nothing else of ours."""
    allowed = allowed_imports()
    for name, cell in chapter.code():
        try:
            tree = ast.parse(python_source(cell))
        except SyntaxError as error:
            yield f"{name}: does not parse: {error.msg}, line {error.lineno}"
            continue
        for module in sorted({m.split(".")[0] for m in imported_modules(tree)} - allowed):
            yield f"{name}: imports {module!r}, which is no dependency of the library"


def only_defines(cell: Cell) -> bool:
    """Whether a cell holds imports, functions, classes and constants alone."""

    def defines(statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value:
            calls = [n for n in ast.walk(statement.value) if isinstance(n, ast.Call)]
            called = set().union(*(roots(call.func) for call in calls))
            return all(name in MAKERS or name[0].isupper() for name in called)
        kinds = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
        return isinstance(statement, kinds)

    return all(defines(statement) for statement in cell.statements)


def claims_stand_alone(chapter: Chapter) -> Iterator[str]:
    """A claim's cells use imports, definitions, the library and one another; names keep theirs."""
    book = Notebook(chapter.path)
    users: dict[int, list[str]] = {}
    for claim in book.claims:
        for cell in book.needed([claim]):
            users.setdefault(cell.place, []).append(claim)
    bindings = Counter(name for cell in book.cells for name in cell.binds - FIGURE_NAMES)
    for cell in book.cells:
        name, claims = cell_name(chapter.notebook, cell.place - 1), users.get(cell.place, [])
        if len(claims) > 1 and not only_defines(cell):
            yield f"{name}: computes for {len(claims)} claims, {', '.join(claims)}"
        if claims and any(word in cell.uses for word in ("show", "explorer")):
            yield f"{name}: draws, and {claims[0]} needs it"
    for name, number in sorted(bindings.items()):
        if number > MAX_BINDINGS:
            yield f"{name!r} is bound in {number} cells, at most {MAX_BINDINGS}"


RULES = (
    begins_with_title,
    begins_with_bootstrap,
    is_executed,
    is_fresh,
    is_untouched,
    hides_nothing,
    is_canonical,
    has_no_error,
    has_no_address,
    figures_have_alt_text,
    widgets_have_a_static_form,
    is_small,
    is_readable,
    imports_rooms_only,
    claims_stand_alone,
)


def problems(path: Path, library: Library) -> list[str]:
    """Messages of all rules that a notebook breaks."""
    chapter = Chapter(path, library)
    return [message for rule in RULES for message in rule(chapter)]
