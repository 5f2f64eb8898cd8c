"""What nbgrader does to a submission before and while it is run: the two steps that are ours.

:class:`RestoreCells` puts every locked cell back as it was released, with its hidden tests, in the
order of the source, whatever the student deleted, edited, copied or moved. :class:`RunSubmission`
runs the notebook in a confined process and lets only errors decide about a cell of tests.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import Execute, NbGraderPreprocessor

from coursework import guard
from coursework.sources import Assignment, grade_id, kind_of, solved

ANSWERS = ("solution", "written")
OUTPUT = 100_000  # characters that are kept of what one cell puts out
GUARD = Path(guard.__file__).read_text("utf-8")


class RestoreCells(NbGraderPreprocessor):
    """Rebuild a submission on the released notebook: only its answers and extra cells are kept.

    Of several copies of an answer the last one counts and the others are extra cells. An answer
    that is missing is the released one. An extra cell stays behind the cell that it followed.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Replace the cells and the metadata of the notebook."""
        names = resources["nbgrader"]
        course = self.parent.parent.coursedir
        path = Assignment(names["assignment"], Path(course.root)).path
        source = nbformat.read(path, as_version=4)
        released = {grade_id(cell): cell for cell in source.cells}
        with Gradebook(names["db_url"], course.course_id) as book:
            for name, cell in released.items():
                stored = book.find_source_cell(name, names["notebook"], names["assignment"])
                cell.source = stored.source
        answers, extras = _contents(nb, released)
        cells = list(extras[""])
        for name, cell in released.items():
            cell.source = answers.get(name, cell.source)
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            cells += [cell, *extras[name]]
        nb.cells, nb.metadata = cells, source.metadata
        nb.nbformat, nb.nbformat_minor = source.nbformat, source.nbformat_minor
        return nb, resources


def _contents(
    nb: NotebookNode, released: dict[str, NotebookNode]
) -> tuple[dict[str, str], dict[str, list[NotebookNode]]]:
    """Answers by id, and extra cells by the id of the cell that they follow ("": the beginning)."""
    last = {grade_id(cell): number for number, cell in enumerate(nb.cells)}
    answers: dict[str, str] = {}
    extras: dict[str, list[NotebookNode]] = {name: [] for name in ["", *released]}
    place = ""
    for number, cell in enumerate(nb.cells):
        name = grade_id(cell)
        if name in released and last[name] == number:
            place = name
            if kind_of(released[name]) in ANSWERS:
                answers[name] = cell.source
        elif name not in released or kind_of(released[name]) in ANSWERS:
            extra = nbformat.from_dict({**cell, "metadata": {}, "id": f"extra-{number}"})
            extras[place].append(extra)
    return answers, extras


class RunSubmission(Execute):
    """Run the notebook apart from all else; only an error takes the points of a cell of tests.

    By nbgrader's own rules a mere warning would take them, and a value that the student's code
    sends to the display could give them. Where the tests of a task fail that is not the first, the
    notebook is run once more, with the reference answer behind the tests of every task: a later
    task must not fail for an earlier one alone.

    What looks like a forgery stands in the notebook's metadata, under ``noticed``.
    """

    def preprocess(self, nb: NotebookNode, resources: Any, **rest: Any) -> tuple[NotebookNode, Any]:
        """Execute all cells."""
        names = resources["nbgrader"]
        course = self.parent.parent.coursedir
        assignment = Assignment(names["assignment"], Path(course.root))
        gradebook = Path(names["db_url"].removeprefix("sqlite:///"))
        self.own = assignment.functions
        before = gradebook.read_bytes()
        noticed = self.run(nb, resources)
        failed = {grade_id(cell) for cell in nb.cells if kind_of(cell) == "tests" and cell.outputs}
        wrong = {task for task, tests in assignment.own_tests.items() if failed & set(tests)}
        if wrong - {next(iter(assignment.own_tests), None)}:
            again = nbformat.from_dict({**nb, "cells": _with_references(nb, assignment)})
            self.run(again, resources)
            passed = {grade_id(cell) for cell in again.cells if not cell.get("outputs")}
            for cell in nb.cells:
                if grade_id(cell) in failed & passed:
                    cell.outputs, cell.metadata["helped"] = [], True
        if gradebook.read_bytes() != before:
            gradebook.write_bytes(before)
            noticed.append("it wrote into the gradebook, which has been put back")
        nb.metadata["noticed"] = noticed
        return nb, resources

    def run(self, nb: NotebookNode, resources: Any) -> list[str]:
        """Execute all cells, of which those of tests keep only an error; return what is odd."""
        place = resources["metadata"].get("path")
        self.word = f"_{secrets.token_hex(8)}"
        with TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True) as folder:
            resources["metadata"]["path"] = folder
            super().preprocess(nb, resources)
        resources["metadata"]["path"] = place
        noticed = []
        for cell in nb.cells:
            if kind_of(cell) == "tests":
                errors = [o for o in cell.outputs if o.output_type == "error"]
                words = {error.evalue for error in errors}
                if not errors:
                    noticed.append(f"assertions have no effect in {grade_id(cell)}")
                    errors = [_error("Forged", "")]
                elif words == {self.word}:
                    errors = []
                elif words == {guard.COMPARES}:
                    noticed.append(f"in {grade_id(cell)} an answer compares as it likes")
                elif words == {guard.REPLACED}:
                    noticed.append(f"{grade_id(cell)} names a function that was replaced")
                cell.outputs = errors
        return noticed

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> Any:
        """Execute a cell, behind the guard."""
        self.room = OUTPUT
        if index == 0:
            tests = guard.known(c.source for c in self.nb.cells if kind_of(c) == "tests")
            code = (
                f"{GUARD}\nshell = get_ipython()\n"
                f"guard = Guard({self.word!r}, {tests}, shell.user_ns, {self.own})\n"
                "shell.ast_transformers.append(guard)"
            )
            code = f"exec({code!r}, {{'get_ipython': get_ipython}})"
            self.wait_for_reply(self.kc.execute(code, silent=True, store_history=False))
        return super().preprocess_cell(cell, resources, index)

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        """Keep what a cell puts out, up to a limit."""
        if msg["msg_type"] in ("stream", "display_data", "execute_result", "update_display_data"):
            self.room -= len(repr(msg["content"]))
            if self.room < 0:
                return None
        elif msg["msg_type"] == "error":
            content = msg["content"]
            content["evalue"] = content["evalue"][:OUTPUT]
            content["traceback"] = [line[:OUTPUT] for line in content["traceback"][-100:]]
        return super().process_message(msg, cell, cell_index)


def _with_references(nb: NotebookNode, assignment: Assignment) -> list[NotebookNode]:
    """Cells with the reference answer to every task, each behind the last test of its task."""
    behind = {tests[-1]: assignment.cells[task] for task, tests in assignment.own_tests.items()}
    cells = []
    for cell in nb.cells:
        outputs = {"outputs": []} if cell.cell_type == "code" else {}
        cells.append(nbformat.from_dict({**cell, **outputs}))
        if grade_id(cell) in behind:
            reference = behind[grade_id(cell)]
            cells.append(new_code_cell(solved(reference), id=f"reference-{reference.id}"))
    return cells


def _error(name: str, words: str) -> NotebookNode:
    return new_output("error", ename=name, evalue=words, traceback=[])


class NotRun(NbGraderPreprocessor):
    """In the place of a run that failed: no cell of tests is passed."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Put an error on every cell of tests."""
        for cell in nb.cells:
            if kind_of(cell) == "tests":
                cell.outputs = [_error("NotRun", "")]
        return nb, resources
