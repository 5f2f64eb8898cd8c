"""The page that a student gets back: points, the words of failed tests, the student's own text.

nbgrader's own page shows the graded notebook, with hidden tests and tracebacks. This one is built
the other way round: it takes of an executed cell the error, of an error an assertion's words if a
cell of the assignment contains them, and for any other error its type and one short line, without
pieces of tests. Of an error in a cell that the student added only the type is shown: there may be
any number of such cells. Outputs are never shown, since a program can print the tests that it is
run with. What a program encodes in the short lines of its answers gets through.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from traitlets import List

from coursework.guard import BREAK, CALL, LONGEST_CALL
from coursework.reading import Section, to_read
from coursework.sources import Assignment, grade_id, kind_of, messages, recognised, shown

LONGEST_LINE = 120  # characters of an error's own words
LONGEST_WORD = 20  # characters of an argument
ERRORS = {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
} | {"LinAlgError"}
STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; } th, td { padding: .25rem 1rem .25rem 0; text-align: left; }
td.points { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { padding: .7rem .9rem; border: 1px solid #8886; border-radius: 4px; overflow-x: auto;
      background: #fff; color: #1b1b1b; font-size: .86rem; line-height: 1.4; }
pre.words { white-space: pre-wrap; }
p.result { border-left: 4px solid; padding: .15rem 0 .15rem .8rem; margin: .7rem 0; }
p.passed { border-color: #1a7f37; } p.failed { border-color: #b3261e; }
p.waiting { border-color: #6b6b6b; } .small { font-size: .88rem; }
"""

LINKS = (
    '<p class="small">The links lead into the book if you put this page into the folder '
    "<code>course</code> of your archive, beside the folder <code>book</code>.</p>"
)


@dataclass
class Task:
    """One section of the assignment: what the student wrote there, and what the tests say."""

    title: str
    parts: list[str] = field(default_factory=list)
    points: float = 0.0
    of: float = 0.0
    read: list[Section] = field(default_factory=list)


class StudentFeedback(Exporter):
    """Export an autograded notebook as the page for its student; made for ``GenerateFeedback``."""

    file_extension = ".html"
    output_mimetype = "text/html"
    preprocessors = List([])

    def from_notebook_node(
        self, nb: NotebookNode, resources: Any = None, **rest: Any
    ) -> tuple[str, Any]:
        """Return the page and the resources."""
        nb, resources = super().from_notebook_node(nb, resources, **rest)
        names = resources["nbgrader"]
        course = self.parent.coursedir
        assignment = Assignment(names["assignment"], Path(course.root))
        with Gradebook(names["db_url"], course.course_id) as book:
            stored = book.find_submission_notebook(
                names["notebook"], names["assignment"], names["student"]
            )
            waiting = {g.name for g in stored.grades if g.needs_manual_grade}
            by_hand = {g.name for g in stored.grades if g.manual_score is not None}
            comments = {comment.name: comment.comment for comment in stored.comments}
        for cell in nb.cells:
            if comments.get(grade_id(cell)):
                cell.metadata.nbgrader.comment = comments[grade_id(cell)]
        return page(assignment, names["student"], nb, waiting, by_hand - waiting), resources


def page(
    assignment: Assignment, student: str, nb: NotebookNode, waiting: set[str], by_hand: set[str]
) -> str:
    """The whole page.

    Parameters
    ----------
    nb
        Autograded notebook, in which nbgrader's ``GetGrades`` has put scores and comments.
    waiting
        Ids of the cells that are still to be marked by hand.
    by_hand
        Ids of the cells that were.
    """
    tasks = list(_tasks(assignment, nb, waiting, by_hand))
    graded = [task for task in tasks if task.of]
    points, of = sum(t.points for t in graded), sum(t.of for t in graded)
    title = _heading(assignment.notebook.cells[0].source) or assignment.name
    rows = "".join(
        f'<tr><td><a href="#task-{n}">{escape(task.title)}</a></td>'
        f'<td class="points">{task.points:g} of {task.of:g}</td></tr>'
        for n, task in enumerate(tasks)
        if task.of
    )
    sections = "".join(
        f'<section><h2 id="task-{n}">{escape(task.title)}'
        + (f": {task.points:g} of {_points(task.of)}" if task.of else "")
        + f"</h2>{''.join(task.parts)}{_again(task.read)}</section>"
        for n, task in enumerate(tasks)
        if task.parts
    )
    still = (
        '<p class="result waiting">Some answers are still to be marked by hand: the points are '
        "not final.</p>"
        if waiting
        else ""
    )
    colours = HtmlFormatter(style="a11y-high-contrast-light", nobackground=True)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: feedback for {escape(student)}</title>"
        f"<style>{STYLE}{colours.get_style_defs('pre.code')}</style></head><body><main>"
        f"<h1>{escape(title)}</h1><p>Feedback for <strong>{escape(student)}</strong>: "
        f"<strong>{points:g} of {_points(of)}</strong>.</p>{still}"
        '<table><thead><tr><th scope="col">Task</th><th scope="col">Points</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
        '<p class="small">Your notebook was run from top to bottom in a fresh kernel, with the '
        "tests that you have and with further ones. A test that failed says what is wrong with "
        "your answer, not what is right. If you think that a test errs, ask: that happens too.</p>"
        f"{sections}{LINKS if 'book/notebooks' in sections else ''}</main></body></html>\n"
    )


def _tasks(
    assignment: Assignment, nb: NotebookNode, waiting: set[str], by_hand: set[str]
) -> Iterator[Task]:
    """Sections of the notebook, in order; the first one is what stands before the first task."""
    task = Task("Before the first task")
    for cell in nb.cells:
        name = grade_id(cell)
        known = assignment.cells.get(name)
        if known is None:
            if cell.source.strip():
                task.parts.append(_text("A cell of your own", cell) + _stopped(None, cell))
            continue
        kind, mark = kind_of(known), cell.metadata.nbgrader
        heading = _heading(known.source, "##") if known.cell_type == "markdown" else ""
        if kind == "given" and heading:
            yield task
            task = Task(re.sub(r"\s*\(\d+ minutes[^)]*\)$", "", heading))
        elif kind == "solution":
            task.parts.append(_text("Your code", cell) + _stopped(assignment, cell))
        elif kind in ("tests", "written"):
            score, of = float(mark.get("score") or 0.0), assignment.points[name]
            task.points, task.of = task.points + score, task.of + of
            if kind == "written":
                task.parts.append(_text("Your answer", cell))
            elif name not in waiting:
                task.parts.append(_verdict(assignment, cell, score, of, name in by_hand))
                if score < of:
                    task.read = to_read(assignment, name)
            if kind == "written" or name in waiting:
                task.parts.append(_marked(name in waiting, score, of))
        if kind in ("solution", "tests", "written") and mark.get("comment"):
            task.parts.append(f'<p class="result">Comment: {escape(mark["comment"])}</p>')
    yield task


def _again(sections: list[Section]) -> str:
    """A sentence on what to read again."""
    if not sections:
        return ""
    links = [
        f'<a href="{s.address}">{escape(s.title)}</a> in <em>{escape(s.chapter)}</em>'
        for s in sections
    ]
    return f'<p class="result">Read again: {"; ".join(links)}.</p>'


def _heading(text: str, level: str = "#") -> str:
    found = re.search(rf"^{level} (.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else ""


def _points(number: float) -> str:
    return f"{number:g} point{'' if number == 1 else 's'}"


def _text(label: str, cell: NotebookNode) -> str:
    """The student's own text."""
    if cell.cell_type == "code":
        code = highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True))
        return f'<p>{label}:</p><pre class="code" tabindex="0">{code}</pre>'
    return f'<p>{label}:</p><pre class="words">{escape(cell.source)}</pre>'


def _marked(waiting: bool, score: float, of: float) -> str:
    if waiting:
        return f'<p class="result waiting">To be marked by hand, up to {_points(of)}.</p>'
    return f'<p class="result">{score:g} of {_points(of)}.</p>'


def _error(cell: NotebookNode) -> NotebookNode | None:
    outputs = cell.get("outputs", [])
    return next((o for o in outputs if o.output_type == "error"), None)


def _stopped(assignment: Assignment | None, cell: NotebookNode) -> str:
    """A line on an error in one of the student's cells; without an assignment, on its type."""
    error = _error(cell)
    if error is None:
        return ""
    described = _described(assignment, error.ename, error.evalue)
    return f'<p class="result failed">This cell stops with {described}.</p>'


def _verdict(
    assignment: Assignment, cell: NotebookNode, score: float, of: float, by_hand: bool
) -> str:
    """A line on a cell of tests."""
    error = _error(cell)
    if by_hand and (error is None or error.ename == "NotRun"):
        return f'<p class="result">{score:g} of {_points(of)}, given by hand.</p>'
    if error is None or (score >= of and not by_hand):
        state = "passed" if score >= of else "failed"
        words = f"Tests, {score:g} of {_points(of)}" + (
            ": all passed." if state == "passed" else "."
        )
        if cell.metadata.get("helped"):
            words += " They passed with right answers to earlier tasks in place of your own."
        return f'<p class="result {state}">{words}</p>'
    source = assignment.cells[grade_id(cell)]
    lead = f"Tests, {score:g} of {_points(of)}{', given by hand' * by_hand}. "
    told: dict[str, str] = {}
    for part in error.evalue.split(BREAK):
        words, _, call = part.partition(CALL)
        told.setdefault(words, call)
    if error.ename == "AssertionError" and all(recognised(words, source) for words in told):
        seen = nbformat.v4.new_code_cell(shown(source))
        lines = [
            f"A {'test that you have' if recognised(words, seen) else 'further test'} says: "
            + escape(words)
            + _last(assignment, told[words])
            for words in told
        ]
        return f'<p class="result failed">{lead}{"<br>".join(lines)}</p>'
    words, _, call = error.evalue.partition(CALL)
    described = _described(assignment, error.ename, words) + "." + _last(assignment, call)
    return f'<p class="result failed">{lead}They stop with {described}</p>'


def _last(assignment: Assignment, call: str) -> str:
    """A sentence on the last call before a test failed, if it can be told."""
    call = _harmless(assignment, call)
    return f" The last call before it: <code>{escape(call)}</code>" if call else ""


def _harmless(assignment: Assignment, call: str) -> str:
    """A call that the guard wrote down: a function of the task, numbers, short words; or ""."""
    if len(call) > LONGEST_CALL:
        return ""
    try:
        tree = ast.parse(call, mode="eval").body
        assert isinstance(tree, ast.Call)
        assert isinstance(tree.func, ast.Name)
        assert tree.func.id in assignment.functions
        for value in [*tree.args, *(keyword.value for keyword in tree.keywords)]:
            literal = ast.literal_eval(re.sub(r"\b(inf|nan)\b", "0", ast.unparse(value)))
            assert not isinstance(literal, str) or len(literal) <= LONGEST_WORD
    except (AssertionError, SyntaxError, ValueError, RecursionError):
        return ""
    return call


def _described(assignment: Assignment | None, name: str, words: str) -> str:
    """An error by its type and, if harmless, the beginning of its words."""
    if name == "CellTimeoutError":
        return "a time limit: it ran too long"
    if name == "KeyboardInterrupt":
        return "an interruption: it ran too long"
    kind = name if name in ERRORS else "an error"
    if assignment is None:
        return kind
    if kind == "AssertionError":
        if any(recognised(words, assignment.cells[n]) for n in assignment.ids("given")):
            return f"an assertion: {escape(words)}"
        return "an assertion that is not one of the tests" if words else "an AssertionError"
    line = words.strip().partition("\n")[0].strip()
    if not line or _tells(assignment, words):
        return kind
    if len(line) > LONGEST_LINE:
        line = line[:LONGEST_LINE] + "…"
    return f"{kind}: {escape(line)}".rstrip(".")


def _tells(assignment: Assignment, words: str) -> bool:
    """Whether an error's words share a piece with what the student must not see."""
    quoted = {text for cell in assignment.cells.values() for text in messages(cell)}
    secrets = assignment.distinctive(assignment.secrets() | quoted)
    bare = words.strip()
    return any(text in bare or (len(bare) >= 20 and bare in text) for text in secrets)
