"""An assignment from its source to its feedback, through nbgrader, in this process."""

from __future__ import annotations

import contextlib
import html
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_output

from coursework import grading, release, trial
from coursework.guard import BREAK, CALL
from coursework.preparing import RunSubmission
from coursework.reading import to_read
from coursework.release import logged
from coursework.sources import Assignment, grade_id, kind_of, solved

# nbgrader 0.9.6 and what it uses, with the releases that the lock names.
WARNINGS = [
    "ignore::DeprecationWarning",
    "ignore::PendingDeprecationWarning",
    "ignore::FutureWarning",
    "ignore::ResourceWarning",
    "ignore::sqlalchemy.exc.SAWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
]


@dataclass(frozen=True)
class Graded:
    """What came of one submission; ``told`` is what the assertions of failed tests say."""

    points: dict[str, float]
    waiting: set[str]
    page: str
    told: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The page as a reader sees it."""
        return html.unescape(re.sub(r"<[^>]+>", "", self.page))

    def automatic(self, assignment: Assignment) -> float:
        """Points for the tests alone."""
        return sum(self.points[name] for name in assignment.ids("tests"))


class RunHere(RunSubmission):
    """Run a submission in this process, in an empty folder, where nothing is imported again."""

    passed: frozenset[str] = frozenset()  # tests that are not run a second time

    def run(self, nb: Any, resources: Any) -> list[str]:
        """Execute all cells; of what they put out, keep the errors."""
        space: dict[str, Any] = {"__name__": "__main__"}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for cell in (cell for cell in nb.cells if cell.cell_type == "code"):
                if grade_id(cell) in self.passed:
                    continue
                error = trial.execute(grade_id(cell), cell.source, space)
                words = {"ename": type(error).__name__, "evalue": str(error), "traceback": []}
                cell.outputs = [new_output("error", **words)] if error else []
        tests = [cell for cell in nb.cells if kind_of(cell) == "tests"]
        self.passed = frozenset(grade_id(cell) for cell in tests if not cell.outputs)
        return []


def unhurried(patch: pytest.MonkeyPatch, kernel: bool) -> None:
    """Let cells take long on a busy machine; without kernel, let nbgrader run them in this process.

    All other steps of nbgrader stay as they are.
    """
    usual = release.configuration

    def configuration(folder: Path) -> Any:
        config = usual(folder)
        config.Execute.timeout = 900
        steps = config.Autograde.autograde_preprocessors
        own = "coursework.preparing.RunSubmission"
        assert own in steps
        if not kernel:
            config.Autograde.autograde_preprocessors = [RunHere if s == own else s for s in steps]
        return config

    patch.setattr(release, "configuration", configuration)
    patch.setattr(grading, "configuration", configuration)


def answered(released: Path, assignment: Assignment, answers: Mapping[str, str]) -> Any:
    """The released notebook with some cells filled in."""
    notebook = nbformat.read(released, as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(grade_id(cell), cell.source)
    return notebook


def right(assignment: Assignment) -> dict[str, str]:
    """All answers as the source has them."""
    return {
        name: solved(cell)
        for name, cell in assignment.cells.items()
        if kind_of(cell) in ("solution", "written")
    }


def half_wrong(assignment: Assignment) -> dict[str, str]:
    """The first mistake in the first, third, fifth ... solution cell; the others are right."""
    chosen = assignment.ids("solution")[::2]
    first: dict[str, str] = {}
    for mistake in assignment.mistakes:
        first.setdefault(mistake.cell, mistake.text)
    return {name: first[name] for name in chosen}


def grade(folder: Path, assignment: Assignment, student: str, notebook: Any) -> Graded:
    """Hand in a notebook, grade it, and read the gradebook and the page."""
    handed_in = folder / "handed-in" / student / f"{assignment.name}.ipynb"
    handed_in.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, handed_in)
    submission = grading.Submission(student, assignment.name, handed_in)
    with logged(folder):
        grading.collect(folder, submission)
        grading.grade(folder, submission)
        page = grading.feedback(folder, student, assignment.name)
    entries = [e for e in grading.lines(folder) if e.student == student]
    graded = folder / "autograded" / student / assignment.name / f"{assignment.name}.ipynb"
    return Graded(
        {e.task: e.points for e in entries},
        {e.task for e in entries if e.waiting},
        page.read_text("utf-8"),
        {
            grade_id(cell): " ".join(output.evalue.split(BREAK)[0].split(CALL)[0].split())
            for cell in nbformat.read(graded, as_version=4).cells
            if kind_of(cell) == "tests"
            for output in cell.outputs
            if output.ename == "AssertionError"
        },
    )


def check(folder: Path, assignment: Assignment, thorough: bool) -> None:
    """Release an assignment; grade it half wrong, and when thorough right and empty as well."""
    with logged(folder):
        released = release.release(folder, assignment)
    leaks = found(assignment.secrets(), released)
    assert leaks == [], f"the student version of {assignment.name} gives away: {leaks}"
    assert all(not cell.get("outputs") for cell in answered(released, assignment, {}).cells)
    if thorough:
        right_and_empty(folder, assignment, released)

    wrong = half_wrong(assignment)
    answers = right(assignment) | wrong
    result = grade(folder, assignment, "half", answered(released, assignment, answers))
    passed = {name for name in assignment.ids("tests") if result.points[name]}
    for task, tests in assignment.own_tests.items():
        assert (set(tests) <= passed) == (task not in wrong), f"{task}: {result.words}"
    assert result.waiting == set(assignment.ids("written"))
    no_secret(assignment, result, answers)
    for name, told in result.told.items():
        assert told in " ".join(result.words.split()), f"{name}: the page does not say why"
        for section in to_read(assignment, name):
            assert f'<a href="{section.address}">' in result.page, f"{name}: what to read again"


def right_and_empty(folder: Path, assignment: Assignment, released: Path) -> None:
    """Grade a right and an empty submission; test_assignments.py runs them without nbgrader."""
    solution, empty = (answered(released, assignment, a) for a in (right(assignment), {}))
    result = grade(folder, assignment, "right", solution)
    automatic = sum(assignment.points[name] for name in assignment.ids("tests"))
    assert result.automatic(assignment) == automatic, result.words
    assert result.waiting == set(assignment.ids("written"))
    result = grade(folder, assignment, "empty", empty)
    assert result.automatic(assignment) == 0, result.words
    assert result.waiting == set(), "an answer that was not given needs no marking"
    no_secret(assignment, result, {})


def no_secret(assignment: Assignment, result: Graded, answers: Mapping[str, str]) -> None:
    """No secret line stands in a page, but for what the student wrote there."""
    own = "\n".join(answers.values())
    secrets = {line for line in assignment.secrets_of_feedback() if line not in own}
    leaks = sorted(line for line in secrets if line in result.words)
    assert leaks == [], f"the feedback on {assignment.name} gives away: {leaks}"


def found(secrets: set[str], released: Path) -> list[str]:
    """Secret lines in a notebook file, wherever in it they stand."""
    notebook = nbformat.read(released, as_version=4)
    text = "\n".join(_strings(notebook))
    return sorted(line for line in secrets if line in text)


def _strings(node: Any) -> list[str]:
    """All strings in a notebook, keys and metadata included."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        return [text for pair in node.items() for part in pair for text in _strings(part)]
    if isinstance(node, list):
        return [text for part in node for text in _strings(part)]
    return []
