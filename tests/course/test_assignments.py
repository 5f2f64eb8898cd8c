"""Every assignment, without nbgrader: its form, and that its tests catch every mistake."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from collections import Counter
from collections.abc import Callable

import pytest
from nbformat import NotebookNode

from coursework import guard, trial
from coursework.sources import (
    Assignment,
    kind_of,
    messages,
    names,
    recognised,
    shown,
    solved,
    stubbed,
)

PROJECTS = ("project",)  # beginnings of names: their points are their own affair
NAMES = names()
ONE_FOR_ALL = {  # counterexamples: one that serves every parameter is an answer
    ("clipping_and_schedule", "biased"),
    ("concentration", "rare-run"),
    ("risk_curve", "paying-ridge"),
}
LARGE = 5  # points: no cell of tests gives so many
WORD = "_guarded"  # what the guard raises where all assertions hold


@pytest.fixture(params=NAMES, scope="module")
def assignment(request: pytest.FixtureRequest) -> Assignment:
    """One assignment after another."""
    return Assignment(request.param)


def test_form(assignment: Assignment) -> None:
    cells = assignment.notebook.cells
    assert list(assignment.cells) and "" not in assignment.cells
    assert len(assignment.cells) == len(cells), "ids are unique"
    kind = "Project" if assignment.name.startswith(PROJECTS) else "Assignment"
    assert cells[0].source.startswith(f"# {kind}: ")
    assert all(not cell.get("outputs") for cell in cells)
    if not assignment.name.startswith(PROJECTS):
        assert sum(assignment.points.values()) == 20
    for name in assignment.ids("given"):
        assert assignment.cells[name].metadata.nbgrader.locked
    for name in assignment.ids("solution"):
        assert stubbed(assignment.cells[name]) != assignment.cells[name].source
    tasks = re.findall(
        r"^## Task (\d+)\. .+ \(\d+ minutes[^)]*\)$",
        "\n".join(c.source for c in cells if c.cell_type == "markdown"),
        flags=re.MULTILINE,
    )
    assert [int(number) for number in tasks] == list(range(1, len(tasks) + 1))
    assert len(tasks) >= 3
    for cell, answer in zip(cells, map(kind_of, cells[1:]), strict=False):
        if cell.source.startswith("## Task"):
            assert (", written)\n" in cell.source) == (answer == "written"), cell.source
    widths = {n: max(map(len, c.source.splitlines())) for n, c in assignment.cells.items()
              if c.cell_type == "code"}  # fmt: skip
    assert {n: w for n, w in widths.items() if w > 100} == {}


def test_an_assignment_opens_with_two_short_tasks(assignment: Assignment) -> None:
    text = "\n".join(assignment.cells[name].source for name in assignment.ids("given"))
    tasks = re.findall(r"^## Task .+\((\d+) minutes", text, flags=re.MULTILINE)
    minutes = [int(number) for number in tasks]
    assert all(5 <= number <= 10 for number in minutes[:2]), minutes
    for tests in list(assignment.own_tests.values())[:2]:
        assert [assignment.points[name] for name in tests] == [1]
    assert "The first two tasks are short and need only the lesson." in text
    hours = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]
    project = assignment.name.startswith(PROJECTS)
    time = f"{hours[round(sum(minutes) / 60)]} hours" if project else f"{sum(minutes)} minutes"
    points = sum(assignment.points.values())
    assert f"The whole takes about {time} and is worth {points:g} points" in text


def test_every_longer_task_has_two_folded_hints(assignment: Assignment) -> None:
    if assignment.name.startswith(PROJECTS):
        pytest.skip("a project is done without hints")
    hint = r"<details><summary>Hint (\d)</summary>\n\n(.+)\n\n</details>"
    hints, given = {}, ""
    for name, cell in assignment.cells.items():
        if kind_of(cell) == "given" and cell.cell_type == "markdown":
            given = cell.source
        elif kind_of(cell) == "solution":
            hints[name] = re.findall(hint, given)
    for name, found in list(hints.items())[2:]:
        assert [number for number, _ in found] == ["1", "2"], name
        assert min(len(text) for _, text in found) >= 40, name


def test_every_test_says_what_is_wrong(assignment: Assignment) -> None:
    for name in assignment.ids("tests"):
        cell = assignment.cells[name]
        tree = ast.parse(cell.source)
        asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        assert asserts, name
        assert [a.lineno for a in asserts if a.msg is None] == [], name
        assert messages(cell), name
        # nbgrader takes the value of a last expression for points.
        assert not (isinstance(tree.body[-1], ast.Expr) and not _is_call(tree.body[-1])), name
        assert shown(cell).strip(), f"{name}: no visible test"


def _is_call(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Call)


def test_the_solution_passes_and_the_empty_answer_fails(assignment: Assignment) -> None:
    assert {name: words for name, words in guarded(assignment).items() if words != WORD} == {}
    stubs = {name: stubbed(assignment.cells[name]) for name in assignment.ids("solution")}
    empty = trial.run(assignment, stubs)
    assert [name for name, error in empty.items() if error is None] == []
    helped = trial.run(assignment, stubs, helped=True)
    assert [name for name, error in helped.items() if error is None] == [], "with right helpers"


def guarded(assignment: Assignment) -> dict[str, str]:
    """What each cell of tests ends with for right answers, watched as in a submission's kernel."""
    space: dict[str, object] = {"__name__": "__main__"}
    tests = guard.known(assignment.cells[name].source for name in assignment.ids("tests"))
    watching, ends = guard.Guard(WORD, tests, space, assignment.functions), {}
    for name, cell in assignment.cells.items():
        if cell.cell_type == "code":
            ends[name] = trial.execute(name, watching.visit(ast.parse(solved(cell))), space)
    assert not any(ends[name] for name in ends if kind_of(assignment.cells[name]) != "tests")
    return {name: str(ends[name]) for name in assignment.ids("tests")}


def test_every_mistake_is_caught(assignment: Assignment) -> None:
    mistakes = assignment.mistakes
    counts = Counter(mistake.cell for mistake in mistakes)
    assert set(counts) == set(assignment.ids("solution"))
    assert min(counts.values()) >= 2
    for mistake in mistakes:
        where = f"{mistake.cell}: {mistake.reason}"
        results = trial.own(assignment, mistake)
        failed = {name: error for name, error in results.items() if error}
        assert failed, f"{where} is not caught"
        if mistake.most is not None:
            earned = sum(assignment.points[name] for name in results if name not in failed)
            assert earned <= mistake.most, f"{where} earns {earned:g} points"
        for name, error in failed.items():
            assert not isinstance(error, NameError), f"{where} is no mistake: {error}"
            if isinstance(error, AssertionError):
                words = str(error)
                known = [
                    assignment.cells[name],
                    *map(assignment.cells.get, assignment.ids("given")),
                ]
                assert any(recognised(words, cell) for cell in known), f"{where}: {words!r}"


def test_other_right_answers_earn_all_points(assignment: Assignment) -> None:
    for answer in assignment.versions:
        if answer not in assignment.mistakes:
            failed = {n: error for n, error in trial.own(assignment, answer).items() if error}
            assert failed == {}, f"{answer.cell}: {answer.reason}"


def test_a_table_of_the_visible_values_earns_nothing(assignment: Assignment) -> None:
    space: dict[str, object] = {"__name__": "__main__"}
    for name, cell in assignment.cells.items():
        if cell.cell_type != "code" or kind_of(cell) == "tests":
            continue
        trial.execute(name, solved(cell), space)
        own = assignment.own_tests.get(name, [])
        right = {key: space[key] for key in assignment.functions & set(defined(cell))}
        if not any(inspect.signature(function).parameters for function in right.values()):
            continue  # its only value is the answer
        tables = {key: Table(function) for key, function in right.items()}
        for table in tables.values():
            table.learns = True
        for tests in own:
            trial.execute(tests, shown(assignment.cells[tests]), space | tables)
        for table in tables.values():
            table.learns = False
        earned = [
            tests
            for tests in own
            if trial.execute(tests, assignment.cells[tests].source, space | tables) is None
        ]
        assert earned == [] or (assignment.name, name) in ONE_FOR_ALL, f"{name}: {earned}"


def defined(cell: NotebookNode) -> list[str]:
    """Names of the functions of a cell."""
    parts = ast.parse(cell.source).body
    return [part.name for part in parts if isinstance(part, ast.FunctionDef)]


class Table:
    """In place of a function: the values of calls that it has seen, for others the last one."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.function, self.values, self.learns = function, {}, False

    def __call__(self, *given: object, **named: object) -> object:
        try:
            key = pickle.dumps((given, named))
        except (pickle.PicklingError, AttributeError):  # a function of the test's
            key = repr((given, named))
        if self.learns:
            self.values[key] = self.function(*given, **named)
        if not self.values:
            raise NotImplementedError
        return self.values.get(key, list(self.values.values())[-1])


def test_large_tasks_are_earned_in_steps(assignment: Assignment) -> None:
    """A mistake in one function or one regime takes the points of its own step only."""
    assert max(assignment.points[name] for name in assignment.ids("tests")) < LARGE
    for task, tests in assignment.own_tests.items():
        if len(tests) > 1:
            mistakes = [mistake for mistake in assignment.mistakes if mistake.cell == task]
            results = [trial.own(assignment, mistake).values() for mistake in mistakes]
            earned = [sum(error is None for error in errors) for errors in results]
            assert any(0 < steps < len(tests) for steps in earned), f"{task}: {earned}"


def test_kinds(assignment: Assignment) -> None:
    kinds = Counter(kind_of(cell) for cell in assignment.notebook.cells)
    assert kinds["solution"] and kinds["tests"] and kinds["written"] and kinds["given"]
