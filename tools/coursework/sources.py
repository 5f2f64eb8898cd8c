"""Assignments as they are written: solution notebooks, and mistakes that their tests must catch.

``course/source/NAME/NAME.ipynb`` is the solution. What a student must not see stands between
``### BEGIN SOLUTION`` and ``### END SOLUTION``, between ``### BEGIN HIDDEN TESTS`` and ``### END
HIDDEN TESTS``, or is the text of a cell that is marked by hand. ``course/mistakes/NAME.py`` holds
plausible wrong versions of solution cells: whole cells, each headed ``# %% CELL: reason``, and
attacks, which seek points without the idea, ``# %% CELL (at most 0 points): reason``. Right answers
in another style than the solution's stand among them, ``# %% CELL (all points): reason``.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import indent

import nbformat

from nb.layout import ROOT

COURSE = ROOT / "course"
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
TEXT_STUB = "*Write your answer here, in place of this line.*"
SHORTEST_SECRET = 8  # characters: "else:" gives nothing away


@dataclass(frozen=True)
class Mistake:
    """Another version of one solution cell, and the points that it may earn if that is said."""

    cell: str
    most: float | None  # infinite: all
    reason: str
    text: str


@dataclass(frozen=True)
class Assignment:
    """One solution notebook in a folder of the shape of ``course``."""

    name: str
    course: Path = COURSE

    @property
    def path(self) -> Path:
        """The notebook file."""
        return self.course / "source" / self.name / f"{self.name}.ipynb"

    @cached_property
    def notebook(self) -> nbformat.NotebookNode:
        """The notebook, read once: do not change it."""
        return nbformat.read(self.path, as_version=4)

    @cached_property
    def cells(self) -> dict[str, nbformat.NotebookNode]:
        """Cells by their nbgrader id, in order."""
        return {grade_id(cell): cell for cell in self.notebook.cells}

    def ids(self, kind: str) -> list[str]:
        """Ids of the cells of one kind: given, solution, tests or written."""
        return [name for name, cell in self.cells.items() if kind_of(cell) == kind]

    @cached_property
    def own_tests(self) -> dict[str, list[str]]:
        """The cells of tests between each solution cell and the next one."""
        own: dict[str, list[str]] = {}
        for name, cell in self.cells.items():
            if kind_of(cell) == "solution":
                own[name] = []
            elif kind_of(cell) == "tests" and own:
                own[next(reversed(own))].append(name)
        return own

    @cached_property
    def functions(self) -> set[str]:
        """Names of the functions that the solution cells define."""
        trees = [ast.parse(self.cells[name].source) for name in self.ids("solution")]
        parts = [part for tree in trees for part in tree.body]
        return {part.name for part in parts if isinstance(part, ast.FunctionDef)}

    @cached_property
    def points(self) -> dict[str, float]:
        """Points by the id of a cell of tests or of a written answer."""
        return {
            name: float(cell.metadata.nbgrader.points)
            for name, cell in self.cells.items()
            if kind_of(cell) in ("tests", "written")
        }

    @cached_property
    def versions(self) -> list[Mistake]:
        """Other versions of the answers, wrong and right, in the order of the file."""
        path = self.course / "mistakes" / f"{self.name}.py"
        heading = r"^# %% ([\w-]+)(?: \((at most \d+|all) points\))?: (.+)\n"
        parts = re.split(heading, path.read_text("utf-8"), flags=re.MULTILINE)
        if parts[0].strip():
            raise ValueError(f"{path.name}: text before the first heading '# %% CELL: reason'")
        return [
            Mistake(cell, _most(points), reason.strip(), text.strip("\n"))
            for cell, points, reason, text in zip(*(parts[k::4] for k in (1, 2, 3, 4)), strict=True)
        ]

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """The wrong versions."""
        return [version for version in self.versions if version.most != math.inf]

    def distinctive(self, lines: Iterable[str]) -> set[str]:
        """Those lines that are long enough, and do not stand in what a student sees."""
        seen = "\n".join(shown(cell) for cell in self.notebook.cells)
        stripped = {line.strip() for line in lines}
        return {line for line in stripped if len(line) >= SHORTEST_SECRET and line not in seen}

    def secrets(self) -> set[str]:
        """Distinctive lines of solutions, hidden tests and model answers."""
        return self.distinctive(line for cell in self.cells.values() for line in hidden(cell))

    def secrets_of_feedback(self) -> set[str]:
        """The same, without the words of assertions: a failed test says them to the student."""
        words = [text for cell in self.cells.values() for text in messages(cell)]
        conditions = [
            line
            for source in (self.cells[name].source for name in self.ids("tests"))
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Assert)
            for line in (ast.get_source_segment(source, node.test) or "").splitlines()
        ]
        lines = self.secrets() | self.distinctive(conditions)
        return {line for line in lines if not any(_is_words(line, text) for text in words)}


def _most(points: str | None) -> float | None:
    """The points that a heading grants: a number, infinity for all, None if it says nothing."""
    if points is None:
        return None
    return math.inf if points == "all" else float(points.removeprefix("at most "))


def _is_words(line: str, text: str) -> bool:
    """Whether a line of code is a string literal, or a piece of one, that is part of a message."""
    bare = line.strip(",)( ").removeprefix("f").strip("\"'").strip()
    return len(bare) >= 3 and bare in text


def names(course: Path = COURSE) -> list[str]:
    """Names of all assignments, sorted."""
    return sorted(p.parent.name for p in (course / "source").glob("*/*.ipynb"))


def grade_id(cell: nbformat.NotebookNode) -> str:
    """The id by which nbgrader knows a cell, or ""."""
    mark = cell.metadata.get("nbgrader")
    name = mark.get("grade_id") if isinstance(mark, dict) else None
    return name if isinstance(name, str) else ""


def kind_of(cell: nbformat.NotebookNode) -> str:
    """What a cell is: given, solution, tests or written."""
    mark = cell.metadata.get("nbgrader", {})
    kinds = {(True, True): "written", (True, False): "tests", (False, True): "solution"}
    return kinds.get((bool(mark.get("grade")), bool(mark.get("solution"))), "given")


def split(text: str, region: str) -> list[str]:
    """A cell, cut at its regions SOLUTION or HIDDEN TESTS: outside, inside, outside and so on."""
    mark = rf"^[ \t]*### (?:BEGIN|END) {region}[ \t]*(?:\n|\Z)"
    marks = [found.split()[1] for found in re.findall(mark, text, flags=re.MULTILINE)]
    if marks != ["BEGIN", "END"] * (len(marks) // 2):
        raise ValueError(f"### BEGIN {region} and ### END {region} must alternate, not {marks}")
    return re.split(mark, text, flags=re.MULTILINE)


def shown(cell: nbformat.NotebookNode) -> str:
    """The part of a cell that the student sees."""
    if kind_of(cell) == "written":
        return ""
    region = "SOLUTION" if kind_of(cell) == "solution" else "HIDDEN TESTS"
    return "".join(split(cell.source, region)[::2]).removesuffix("\n")


def hidden(cell: nbformat.NotebookNode) -> list[str]:
    """The lines of a cell that the student must not see."""
    parts = [
        part for name in ("SOLUTION", "HIDDEN TESTS") for part in split(cell.source, name)[1::2]
    ]
    return (cell.source if kind_of(cell) == "written" else "".join(parts)).splitlines()


def solved(cell: nbformat.NotebookNode) -> str:
    """A solution cell as a good student would hand it in: without the marks."""
    return "".join(split(cell.source, "SOLUTION")).strip("\n")


def stubbed(cell: nbformat.NotebookNode) -> str:
    """A solution cell as it is handed out."""
    parts = split(cell.source, "SOLUTION")
    for number in range(1, len(parts), 2):
        margin = re.match(r"[ \t]*", parts[number])
        parts[number] = indent(f"{STUB}\n", margin[0] if margin else "")
    return "".join(parts).strip("\n")


def messages(cell: nbformat.NotebookNode) -> list[str]:
    """All string literals of a code cell; a value inside an f-string is the character U+FFFC."""
    try:
        tree = ast.parse(cell.source if cell.cell_type == "code" else "")
    except SyntaxError:
        return []
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [p.value if isinstance(p, ast.Constant) else "\ufffc" for p in node.values]
            found.append("".join(map(str, parts)))
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner
        ):
            found.append(node.value)
    return found


def recognised(words: str, cell: nbformat.NotebookNode) -> bool:
    """Whether a message is one that this cell can give."""
    for text in messages(cell):
        if len(text) >= 12:
            pattern = ".{0,60}?".join(map(re.escape, text.split("\ufffc")))
            if re.fullmatch(pattern, words, flags=re.DOTALL):
                return True
    return False
