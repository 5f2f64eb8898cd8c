"""The tests of an assignment in this process, without nbgrader: fast, for one mistake at a time."""

from __future__ import annotations

import ast
import contextlib
import io
import warnings
from collections.abc import Mapping
from typing import Any

from coursework.sources import Assignment, kind_of, shown, solved

Results = dict[str, BaseException | None]


def run(
    assignment: Assignment,
    answers: Mapping[str, str] | None = None,
    *,
    hidden: bool = True,
    until_failure: str = "",
) -> Results:
    """Execute the code cells in order; what each cell of tests raised, or None.

    Parameters
    ----------
    answers
        Texts of solution cells; the others are solved.
    hidden
        Whether the hidden tests are run too.
    until_failure
        Id of a solution cell: its own tests are run first, and nothing more once one has failed.
    """
    space: dict[str, Any] = {"__name__": "__main__"}
    results: Results = {}
    cells = [(name, c) for name, c in assignment.cells.items() if c.cell_type == "code"]
    own = assignment.own_tests.get(until_failure, [])
    later = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, cell in cells:
            kind = kind_of(cell)
            text = cell.source
            if kind == "solution":
                text = (answers or {}).get(name, solved(cell))
            elif kind == "tests":
                text = text if hidden else shown(cell)
                if until_failure and name not in own:
                    later.append((name, text))
                    continue
            error = execute(name, text, space)
            if kind == "tests":
                results[name] = error
                if error and until_failure:
                    return results
            elif kind == "given" and error:
                raise error
        for name, text in later:
            results[name] = execute(name, text, space)
            if results[name]:
                break
    return results


def helped(assignment: Assignment, answers: Mapping[str, str]) -> Results:
    """As :func:`run`, but behind the tests of every task its reference answer is executed."""
    space: dict[str, Any] = {"__name__": "__main__"}
    results: Results = {}
    last = {tests[-1]: task for task, tests in assignment.own_tests.items() if tests}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, cell in assignment.cells.items():
            if cell.cell_type == "code":
                text = answers.get(name, solved(cell))
                results[name] = execute(name, text, space)
                if name in last and last[name] in answers:
                    execute(name, solved(assignment.cells[last[name]]), space)
    return {name: results[name] for name in assignment.ids("tests")}


def execute(name: str, text: str | ast.Module, space: dict[str, Any]) -> BaseException | None:
    """What one cell raised in a namespace, or None."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, f"<{name}>", "exec"), space)
    except (Exception, SystemExit) as error:
        return error.with_traceback(None)
    return None
