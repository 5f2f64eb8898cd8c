"""The course on the book's pages, from its plans, its assignments and the ledger.

=========================  ==============================================================
``{prerequisites}``        graph of the chapters, from the uses of their claims; then a list
``{course-chapters}``      goals and minutes, chapter by chapter
``{course-exercises}``     time for every exercise
``{course-assignments}``   tasks, minutes and points of every assignment
``{course-weeks}``         a plan: lines ``WEEK: chapter, chapter`` become a table with hours
``{chapters}``             the parts and chapters: what each asks, and how long it takes
``{reading-time}``         role: what the chapters named take together; ``all`` for every chapter
=========================  ==============================================================

Their templates are in ``book/extensions/templates/course``. The page ``book/sample_assignment``
gets the assignment :data:`SAMPLE` as students get it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import networkx as nx
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from book_ledger.inventory import Chapter
from book_ledger.pages import ENVIRONMENT, LedgerDirective
from book_ledger.questions import asked, needed

from .plans import Plan, PlanError, assignments, in_words, plans
from .prerequisites import draw, earlier

LOGGER = logging.getLogger(__name__)
SAMPLE = "privacy_as_divergence"


class CourseDirective(LedgerDirective):
    """A directive that reads the plans and the assignments."""

    @property
    def root(self) -> Path:
        """The root of the book."""
        return Path(self.env.srcdir)

    def plans(self) -> dict[str, Plan]:
        """The plans; an invalid one is an error of the page."""
        try:
            return plans(self.root)
        except PlanError as problem:
            raise self.error(str(problem)) from problem

    def needs(self, key: str) -> list[Chapter]:
        """The chapters that a chapter says one must have read."""
        chapters = self.ledger.inventory.chapters
        return [chapters[name] for name in needed(self.root, chapters[key]) if name in chapters]

    def taught(self) -> list[tuple[Chapter, Plan]]:
        """Chapters that have a plan, in the order of the book."""
        found = self.plans()
        chapters = self.ledger.inventory.chapters
        return [(chapter, found[key]) for key, chapter in chapters.items() if key in found]


class Prerequisites(CourseDirective):
    """``{prerequisites}``: the graph of chapters, and the same as a list."""

    templates = ("course/graph.html", "course/prerequisites.md")

    def data(self) -> dict[str, Any]:
        """The picture, and what each chapter needs."""
        needs = {key: self.needs(key) for key in self.ledger.inventory.chapters}
        return {**draw(self.ledger.inventory, needs), "needs": needs}


class Chapters(CourseDirective):
    """``{course-chapters}``: goals and times."""

    templates = ("course/chapters.md",)

    def data(self) -> dict[str, Any]:
        """The plans."""
        return {"taught": self.taught()}


class Exercises(Chapters):
    """``{course-exercises}``: time for every exercise."""

    templates = ("course/exercises.md",)


class Assignments(CourseDirective):
    """``{course-assignments}``: tasks, minutes and points of every assignment."""

    templates = ("course/assignments.md",)

    def data(self) -> dict[str, Any]:
        """The assignments: of chapters in the order of the book, then projects."""
        found = assignments(self.root)
        chapters = self.ledger.inventory.chapters
        names = [k for k in chapters if k in found] + [k for k in found if k not in chapters]
        return {"assignments": [(found[name], chapters.get(name)) for name in names]}


class Weeks(CourseDirective):
    """``{course-weeks}``: one line per week, ``WEEK: chapter, chapter; assignment: NAME``."""

    has_content = True
    templates = ("course/weeks.md",)

    def data(self) -> dict[str, Any]:
        """The weeks; an unknown chapter or assignment is an error."""
        found, tasks = self.plans(), assignments(self.root)
        chapters = self.ledger.inventory.chapters
        graph = earlier(self.ledger.inventory)
        needs = nx.DiGraph((need.key, key) for key in chapters for need in self.needs(key))
        weeks = []
        taught: set[str] = set()
        for line in self.content:
            week, _, rest = line.partition(":")
            names, _, assignment = (part.strip() for part in rest.partition("; assignment:"))
            keys = [key.strip() for key in names.split(",") if key.strip()]
            unknown = [key for key in keys if key not in chapters]
            if unknown or (assignment and assignment not in tasks):
                raise self.error(f"week {week}: no chapter or assignment {unknown or assignment}")
            taught.update(keys)
            before = {used for key in keys if key in graph for used in graph.predecessors(key)}
            before |= {need for key in keys if key in needs for need in nx.ancestors(needs, key)}
            left_out = [chapters[key] for key in graph if key in before - taught]
            taught.update(before)  # a chapter that is left out is named once
            plans = [found[key] for key in keys if key in found]
            task = tasks.get(assignment)
            times = [
                sum(plan.class_minutes for plan in plans),
                sum(plan.reading_minutes for plan in plans),
                task.minutes if task else 0,
            ]
            exercises = sum(sum(plan.exercises.values()) for plan in plans)
            weeks.append(
                {
                    "name": week.strip(),
                    "chapters": [chapters[key] for key in keys],
                    "assignment": task,
                    "times": [*times, sum(times), exercises],
                    "left_out": [(chapter, asked(self.root, chapter)[1]) for chapter in left_out],
                }
            )
        times = [sum(column) for column in zip(*(week["times"] for week in weeks), strict=True)]
        rest = sum(minutes for week in weeks for _, minutes in week["left_out"])
        return {"weeks": weeks, "times": times, "rest": rest}


class Contents(LedgerDirective):
    """``{chapters}``: the parts and chapters of the book, what each asks and how long it takes."""

    templates = ("contents.md",)

    def data(self) -> dict[str, Any]:
        """Question and minutes of every chapter, by part."""
        root, inventory = Path(self.env.srcdir), self.ledger.inventory
        rows = [(chapter, *asked(root, chapter)) for chapter in inventory.chapters.values()]
        parts = inventory.parts.items()
        return {"parts": [(title, [r for r in rows if r[0].part == key]) for key, title in parts]}


class ReadingTime(SphinxRole):
    """``{reading-time}`chapter, chapter```: what they take together; ``all`` for every chapter."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Add the minutes; an unknown chapter is a warning."""
        chapters = self.env.app.book_ledger.inventory.chapters  # type: ignore[attr-defined]
        keys = list(chapters) if self.text == "all" else re.split(r",\s*", self.text)
        unknown = [key for key in keys if key not in chapters]
        if unknown:
            LOGGER.warning(
                "no chapter %s", unknown, location=self.get_location(), type="book_course"
            )
        root = Path(self.env.srcdir)
        minutes = sum(asked(root, chapters[key])[1] for key in keys if key in chapters)
        return [nodes.Text(in_words(minutes))], []


def handed_out(root: Path, name: str) -> str:
    """An assignment as students get it, in the language of the pages."""
    if (tools := str(root / "tools")) not in sys.path:
        sys.path.append(tools)  # where the course is made
    from coursework.sources import TEXT_STUB, Assignment, kind_of, shown, stubbed

    parts = []
    for cell in Assignment(name, root / "course").notebook.cells:
        kind = kind_of(cell)
        if kind == "written":
            parts.append(TEXT_STUB)
        elif cell.cell_type == "code":
            text = stubbed(cell) if kind == "solution" else shown(cell)
            parts.append(f"```python\n{text.strip()}\n```")
        else:
            parts.append(re.sub(r"^# (?=Assignment)", "## ", cell.source))
    return "\n\n".join(parts)


def add_sample(app: Sphinx, document: str, source: list[str]) -> None:
    """Write the sample assignment below what its page says itself."""
    if document == "book/sample_assignment":
        source[0] += "\n" + handed_out(Path(app.srcdir), SAMPLE)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.setup_extension("book_ledger")
    app.connect("source-read", add_sample)
    # a time that a narrow column does not break
    ENVIRONMENT.filters["minutes"] = lambda n: in_words(n).replace(" ", "\N{NO-BREAK SPACE}")
    app.add_directive("prerequisites", Prerequisites)
    app.add_directive("course-chapters", Chapters)
    app.add_directive("course-exercises", Exercises)
    app.add_directive("course-assignments", Assignments)
    app.add_directive("course-weeks", Weeks)
    app.add_directive("chapters", Contents)
    app.add_role("reading-time", ReadingTime())
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
