"""The tests of an assignment in this process, without nbgrader: what each cell of them raised."""

from __future__ import annotations

import ast
import contextlib
import io
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

from coursework.sources import Assignment, Mistake, kind_of, solved

Results = dict[str, BaseException | None]


def run(assignment: Assignment, answers: Mapping[str, str], *, helped: bool = False) -> Results:
    """Execute the code cells in order, with some answers and the others solved.

    ``helped``: behind the tests of every task the reference answer to it is executed.
    """
    space: dict[str, Any] = {"__name__": "__main__"}
    results: Results = {}
    behind = {tests[-1]: task for task, tests in assignment.own_tests.items()}
    for name, cell in assignment.cells.items():
        if cell.cell_type == "code":
            results[name] = execute(name, answers.get(name, solved(cell)), space)
        if helped and name in behind:
            execute(name, solved(assignment.cells[behind[name]]), space)
    return {name: results[name] for name in assignment.ids("tests")}


@cache
def own(assignment: Assignment, version: Mistake) -> Results:
    """The tests of its task for another version of one answer, behind right answers before it."""
    space: dict[str, Any] = {"__name__": "__main__"}
    results: Results = {}
    tests = assignment.own_tests[version.cell]
    for name, cell in assignment.cells.items():
        if cell.cell_type == "code" and (name in tests or kind_of(cell) != "tests"):
            text = version.text if name == version.cell else solved(cell)
            results[name] = execute(name, text, space)
        if name == tests[-1]:
            break
    return {name: results[name] for name in tests}


def execute(name: str, text: str | ast.Module, space: dict[str, Any]) -> BaseException | None:
    """What one cell raised in a namespace, or None."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, f"<{name}>", "exec"), space)
    except (Exception, SystemExit) as error:
        return error.with_traceback(None)
    return None
