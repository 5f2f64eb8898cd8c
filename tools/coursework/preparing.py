"""What nbgrader does to a submission before and while it is run: the two steps that are ours.

:class:`RestoreCells` puts every locked cell back as it was released, with its hidden tests, in the
order of the source, whatever the student deleted, edited, copied or moved. :class:`RunSubmission`
runs the notebook in an empty folder and lets only errors decide about a cell of tests.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import Execute, NbGraderPreprocessor

from coursework.sources import grade_id, kind_of

ANSWERS = ("solution", "written")


class RestoreCells(NbGraderPreprocessor):
    """Rebuild a submission on the released notebook: only its answers and extra cells are kept.

    Of several copies of an answer the last one counts and the others are extra cells. An answer
    that is missing is the released one. An extra cell stays behind the cell that it followed.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Replace the cells and the metadata of the notebook."""
        names = resources["nbgrader"]
        course = self.parent.parent.coursedir
        folder = Path(course.format_path(course.source_directory, ".", names["assignment"]))
        source = nbformat.read(folder / f"{names['notebook']}.ipynb", as_version=4)
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
    """Run the notebook in an empty folder; only an error takes the points of a cell of tests.

    By nbgrader's own rules a mere warning would take them, and a value that the student's code
    sends to the display could give them.
    """

    def preprocess(self, nb: NotebookNode, resources: Any, **rest: Any) -> tuple[NotebookNode, Any]:
        """Execute all cells."""
        place = resources["metadata"].get("path")
        with TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True) as folder:
            resources["metadata"]["path"] = folder
            nb, resources = super().preprocess(nb, resources, **rest)
        resources["metadata"]["path"] = place
        for cell in nb.cells:
            if kind_of(cell) == "tests":
                cell.outputs = [o for o in cell.outputs if o.output_type == "error"]
        return nb, resources


class NotRun(NbGraderPreprocessor):
    """In the place of a run that failed: no cell of tests is passed."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Put an error on every cell of tests."""
        for cell in nb.cells:
            if kind_of(cell) == "tests":
                cell.outputs = [new_output("error", ename="NotRun", evalue="", traceback=[])]
        return nb, resources
