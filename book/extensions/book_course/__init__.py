"""The course on the book's pages, from its plans, its assignments and the ledger.

=========================  ==============================================================
``{prerequisites}``        graph of the chapters, from the uses of their claims; then a list
``{course-chapters}``      goals, minutes and notes on marking, chapter by chapter
``{course-exercises}``     time for every exercise
``{course-assignments}``   tasks, minutes and points of every assignment
``{course-weeks}``         a plan: lines ``WEEK: chapter, chapter`` become a table with times
=========================  ==============================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from book_ledger.boxes import LedgerDirective
from book_ledger.inventory import Chapter
from book_ledger.markup import add_drawing

from .plans import Assignment, Plan, PlanError, assignments, files, in_words, plans
from .prerequisites import ahead, draw, earlier, order

STYLE = """<style>
.bd-main .bd-content .bd-article-container:has(.course-graph) { max-width: 74rem; }
:is(article, .bd-article):has(.course-graph) section > :is(p, ul, ol, pre) { max-width: 46rem; }
.course-graph { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--pst-color-border, #ccc);
  border-radius: 0.4rem; background: var(--pst-color-background, #fff); }
.course-graph svg { display: block; min-width: 57rem; width: 100%; height: auto; }
.course-edge { fill: none; stroke: var(--pst-color-text-muted, #555); stroke-width: 1.2;
  marker-end: url(#course-arrow); }
#course-arrow path { fill: var(--pst-color-text-muted, #555); }
.course-node { text-decoration: none !important; outline: none; }
.course-node rect { fill: var(--pst-color-surface, #f4f4f5); stroke-width: 1.8;
  stroke: var(--pst-color-text-muted, #555); }
.course-node text { text-anchor: middle; font-size: 12px;
  fill: var(--pst-color-text-base, #222); }
.course-node:is(.part-1, .part-3, .part-5) rect { fill: var(--pst-color-background, #fff); }
a.course-node:is(:hover, :focus-visible) rect { stroke: var(--pst-color-secondary, #a84300);
  stroke-width: 3.5; }
@media print { .course-graph { overflow: visible; border: 0; }
  .course-graph svg { min-width: 0; } }
</style>"""


class Graph(nodes.General, nodes.Element):
    """The place of the graph; it is drawn when the page is written, since links need the page."""


class CourseDirective(LedgerDirective):
    """A directive that reads the plans and the assignments."""

    @property
    def root(self) -> Path:
        """The root of the book."""
        return Path(self.env.srcdir)

    def depend(self) -> None:
        """Note that the page is made from every file of the course, too."""
        super().depend()
        for path in files(self.root):
            self.env.note_dependency(str(path))

    def plans(self) -> dict[str, Plan]:
        """The plans; an invalid one is an error of the page."""
        try:
            return plans(self.root)
        except PlanError as problem:
            raise self.error(str(problem)) from problem

    def title(self, chapter: Chapter) -> str:
        """A chapter as a link, or its title while it has no page."""
        if chapter.docname in self.env.found_docs:
            return f"{{doc}}`{chapter.title} </{chapter.docname}>`"
        return f"{chapter.title} (planned)"

    def planned(self) -> list[tuple[Chapter, Plan]]:
        """Chapters that have a plan, in the order of the book."""
        found = self.plans()
        chapters = self.ledger.inventory.chapters
        return [(chapter, found[key]) for key, chapter in chapters.items() if key in found]


class Prerequisites(CourseDirective):
    """``{prerequisites}``: the graph of chapters, and the same as a list."""

    def run(self) -> list[nodes.Node]:
        """Leave the place of the graph; write the list."""
        self.depend()
        inventory = self.ledger.inventory
        graph, later = earlier(inventory), ahead(inventory)
        lines = []
        for key in order(inventory):
            chapter = inventory.chapters[key]
            before = [self.title(inventory.chapters[k]) for k in graph.predecessors(key)]
            words = f"builds on {'; '.join(before)}" if before else "builds on no other chapter"
            coming = [self.title(inventory.chapters[k]) for k in later.get(key, [])]
            more = f" (it looks ahead to {'; '.join(coming)})" if coming else ""
            lines.append(f"* {self.title(chapter)} {words}{more}.")
        return [nodes.raw("", STYLE, format="html"), Graph(""), *self.markdown("\n".join(lines))]


class Chapters(CourseDirective):
    """``{course-chapters}``: goals and times; with ``:marking:``, notes on marking instead."""

    option_spec: ClassVar = {"marking": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Write one paragraph and a list per chapter."""
        self.depend()
        lines: list[str] = []
        part = ""
        for chapter, plan in self.planned():
            if chapter.part != part:
                part = chapter.part
                lines += [f"**{self.ledger.inventory.parts[part]}**", ""]
            if "marking" in self.options:
                lines += [f"{self.title(chapter)}", f": {_one_line(plan.marking)}", ""]
            else:
                times = (
                    f"{_time(plan.class_minutes)} in class, "
                    f"{_time(plan.reading_minutes)} to read alone"
                )
                lines += [f"{self.title(chapter)}, {times}. The student can", ""]
                lines += [f"* {goal};" for goal in plan.goals[:-1]] + [f"* {plan.goals[-1]}.", ""]
        return self.markdown("\n".join(lines))


class Exercises(CourseDirective):
    """``{course-exercises}``: time for every exercise."""

    def run(self) -> list[nodes.Node]:
        """Write a table."""
        self.depend()
        rows = [
            (
                self.title(chapter),
                "; ".join(
                    f"{{ref}}`{label}` {minutes}" for label, minutes in plan.exercises.items()
                ),
                _time(sum(plan.exercises.values())),
            )
            for chapter, plan in self.planned()
        ]
        return self.markdown(_table(("Chapter", "Exercises, with minutes", "Together"), rows))


class Assignments(CourseDirective):
    """``{course-assignments}``: tasks, minutes and points of every assignment."""

    def run(self) -> list[nodes.Node]:
        """Write a table: chapters in the order of the book, then projects."""
        self.depend()
        found = assignments(self.root)
        chapters = self.ledger.inventory.chapters
        names = [k for k in chapters if k in found] + [k for k in found if k not in chapters]
        rows = [self._row(found[name], chapters.get(name)) for name in names]
        head = ("Assignment", "Of chapter", "Tasks", "Time", "Points by tests", "By hand")
        return self.markdown(_table(head, rows))

    def _row(self, assignment: Assignment, chapter: Chapter | None) -> tuple[str, ...]:
        return (
            assignment.title,
            self.title(chapter) if chapter else "several",
            str(assignment.tasks),
            _time(assignment.minutes),
            f"{assignment.automatic:g}",
            f"{assignment.by_hand:g}",
        )


class Weeks(CourseDirective):
    """``{course-weeks}``: one line per week, ``WEEK: chapter, chapter; assignment: NAME``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write a table with the times of the chapters."""
        self.depend()
        found, tasks = self.plans(), assignments(self.root)
        chapters = self.ledger.inventory.chapters
        graph = earlier(self.ledger.inventory)
        rows = []
        taught: set[str] = set()
        for line in self.content:
            week, _, rest = line.partition(":")
            names, _, assignment = (part.strip() for part in rest.partition("; assignment:"))
            keys = [key.strip() for key in names.split(",") if key.strip()]
            unknown = [key for key in keys if key not in chapters]
            if unknown or (assignment and assignment not in tasks):
                raise self.error(f"week {week}: no chapter or assignment {unknown or assignment}")
            own = [found[key] for key in keys if key in found]
            taught.update(keys)
            needed = {used for key in keys if key in graph for used in graph.predecessors(key)}
            quoted = [k for k in order(self.ledger.inventory) if k in needed - taught]
            rows.append(
                (
                    week.strip(),
                    "; ".join(self.title(chapters[key]) for key in keys),
                    _time(sum(plan.class_minutes for plan in own)),
                    _time(sum(plan.reading_minutes for plan in own)),
                    tasks[assignment].title if assignment else "–",
                    "; ".join(self.title(chapters[key]) for key in quoted) or "–",
                )
            )
        head = ("Week", "Chapters", "In class", "Reading", "To hand in", "Quoted")
        return self.markdown(_table(head, rows))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    cells = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in cells)


def _time(minutes: int) -> str:
    """A time that a narrow column does not break."""
    return in_words(minutes).replace(" ", "\N{NO-BREAK SPACE}")


def _draw(builder: Any, node: Graph) -> str:
    def href(chapter: Chapter) -> str | None:
        if chapter.docname not in builder.env.found_docs:
            return None
        return builder.get_relative_uri(builder.current_docname, chapter.docname)

    return draw(builder.app.book_ledger.inventory, href)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.setup_extension("book_ledger")
    add_drawing(app, Graph, _draw)
    app.add_directive("prerequisites", Prerequisites)
    app.add_directive("course-chapters", Chapters)
    app.add_directive("course-exercises", Exercises)
    app.add_directive("course-assignments", Assignments)
    app.add_directive("course-weeks", Weeks)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
