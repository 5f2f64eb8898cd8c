"""Submissions that go wrong, by accident or on purpose: what is graded, and what is shown."""

from __future__ import annotations

import ast
import builtins
import logging
import math
import os
import re
import sys
from collections.abc import Callable
from dataclasses import make_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import end_to_end
import nbformat
import numpy
import pandas
import planted_course
import pytest
import scipy.optimize
import scipy.stats
import torch
from nbformat.v4 import new_code_cell
from nbgrader.converters.base import NbGraderException

from coursework import confined, feedback, grading, guard, release
from coursework.sources import Assignment, grade_id
from dpdynamics import asked
from dpdynamics.accounting import Poisson
from dpdynamics.arguments import finite_array
from dpdynamics.asked import asks_library
from nb.layout import ROOT

pytestmark = [pytest.mark.filterwarnings(w) for w in end_to_end.WARNINGS]
Hand = Callable[..., end_to_end.Graded]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny assignment, released."""
    folder = tmp_path_factory.mktemp("course")
    assignment = planted_course.write(folder / "written")
    with release.logged(folder):
        release.release(folder, assignment)
    return folder


@pytest.fixture
def assignment(course: Path) -> Assignment:
    return Assignment(planted_course.NAME, course / "written")


@pytest.fixture
def notebook(course: Path, assignment: Assignment) -> Any:
    """A right submission, to be spoiled."""
    released = course / "release" / "tiny" / "tiny.ipynb"
    return end_to_end.answered(released, assignment, end_to_end.right(assignment))


@pytest.fixture
def hand_in(course: Path, assignment: Assignment, request: pytest.FixtureRequest) -> Hand:
    """Grade a notebook; the student has the test's name."""
    student = re.sub(r"\W+", "-", request.node.name)
    return lambda nb: end_to_end.grade(course, assignment, student, nb)


def cell(notebook: Any, name: str) -> Any:
    return next(c for c in notebook.cells if grade_id(c) == name)


def test_a_syntax_error_costs_its_own_task_only(notebook: Any, hand_in: Hand) -> None:
    cell(notebook, "square").source = "def square(x)\n    return x * x"
    result = hand_in(notebook)
    assert result.points == {"test-square": 0, "test-root": 9, "words": 0}
    assert "This cell stops with SyntaxError: expected ':'" in result.words
    assert "They stop with NameError: name 'square' is not defined" in result.words


def test_an_infinite_loop_is_stopped(
    notebook: Any, hand_in: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = release.configuration

    def hasty(folder: Path) -> Any:
        config = usual(folder)
        assert config.Execute.timeout == 60
        config.Execute.timeout = 10  # on a busy machine imports take seconds
        return config

    monkeypatch.setattr(release, "configuration", hasty)
    cell(notebook, "square").source = "def square(x):\n    while True:\n        pass"
    result = hand_in(notebook)
    assert result.points == {"test-square": 0, "test-root": 9, "words": 0}
    assert "it ran too long" in result.words


def test_edited_moved_and_deleted_cells_are_put_back(notebook: Any, hand_in: Hand) -> None:
    """Tests that always pass, with more points and another name, and none for the root."""
    wrong = "def square(x):\n    return 0"
    cell(notebook, "square").source = wrong
    cell(notebook, "root").source = "def root(x):\n    return -1"
    test = cell(notebook, "test-square")
    test.source, test.metadata.nbgrader.points = "assert True", 100
    twin = nbformat.from_dict({**test, "id": "twin"})
    twin.metadata = nbformat.from_dict({"nbgrader": {**test.metadata.nbgrader, "solution": True}})
    notebook.cells = [c for c in notebook.cells if grade_id(c) not in ("test-root", "imports")]
    notebook.cells = [twin, *reversed(notebook.cells)]
    result = hand_in(notebook)
    assert result.points == {"test-square": 0, "test-root": 0, "words": 0}
    assert "A test that you have says: Two times two" in result.words
    assert "A further test says: Your square is wrong at some float" in result.words
    assert "A test that you have says: A root is not negative." in result.words
    assert "A further test says: Your root, squared, is not" in result.words


def test_deleted_answers_are_empty_answers(notebook: Any, hand_in: Hand) -> None:
    notebook.cells = [cell(notebook, "intro"), new_code_cell("1 + 1")]
    notebook.metadata = {}
    result = hand_in(notebook)
    assert result.points == {"test-square": 0, "test-root": 0, "words": 0}
    assert result.waiting == set()


def test_a_notebook_without_its_metadata_is_refused_with_a_hint(
    notebook: Any, hand_in: Hand
) -> None:
    for part in notebook.cells:
        part.metadata = {}
    with pytest.raises(ValueError, match="lost their metadata"):
        hand_in(notebook)


def test_of_two_copies_of_an_answer_the_last_counts(notebook: Any, hand_in: Hand) -> None:
    first = nbformat.from_dict({**cell(notebook, "square"), "id": "first"})
    first.source = "def square(x):\n    return 0"
    notebook.cells.insert(0, first)
    result = hand_in(notebook)
    assert result.points["test-square"] == 6
    assert "return 0" in result.words, "the other copy is shown as a cell of their own"


def test_warnings_cost_nothing_and_displays_give_nothing(notebook: Any, hand_in: Hand) -> None:
    cell(notebook, "square").source = (
        "import sys, warnings\n"
        "def square(x):\n"
        "    warnings.warn('careful')\n"
        "    print('careful', file=sys.stderr)\n"
        "    return x * x"
    )
    cell(
        notebook, "root"
    ).source = "import sys\ndef root(x):\n    sys.displayhook(9.0)\n    return -1"
    assert hand_in(notebook).points == {"test-square": 6, "test-root": 0, "words": 0}


def test_a_task_is_not_lost_for_a_helper_from_an_earlier_one(notebook: Any, hand_in: Hand) -> None:
    cell(notebook, "square").source = "def square(x):\n    return 0"
    cell(notebook, "root").source = "def root(x):\n    return math.sqrt(square(x)) ** 0.5"
    result = hand_in(notebook)
    assert result.points == {"test-square": 0, "test-root": 9, "words": 0}
    assert "They passed with right answers to earlier tasks in place of your own." in result.words
    cell(notebook, "root").source = "def root(x):\n    return square(x)"
    assert hand_in(notebook).points == {"test-square": 0, "test-root": 0, "words": 0}


STRIP = """
import ast
class Strip(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
get_ipython().ast_transformers.insert(PLACE, Strip())
def square(x):
    return 0
"""
AGREES = """
class Agrees:
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
def square(x):
    return Agrees()
"""
FLOAT = """
class Close(float):
    def __sub__(self, other): return 0.0
def square(x):
    return Close(4.0)
"""
NAMED = """
class Close(float):
    def __sub__(self, other): return 0.0
Close.__module__ = "numpy"
def square(x):
    return Close(4.0)
"""
MADE = """
import sys, types
made = sys.modules["made"] = types.ModuleType("made")
exec("class Close(float):\\n    def __sub__(self, other): return 0.0", vars(made))
def square(x):
    return made.Close(4.0)
"""
MOCK = """
from unittest.mock import MagicMock
def square(x):
    mock = MagicMock()
    mock.__eq__.side_effect = lambda other: other == 4
    mock.__sub__.return_value = 0.0
    return mock
"""
SHADOW = """
abs = lambda x: 0.0
def square(x):
    return 4
"""
PYTHON = """
import builtins
builtins.abs = lambda x: 0.0
def square(x):
    return 4
"""


THEIRS = """
import builtins, sys, types
from dpdynamics import asked
from dpdynamics.arguments import finite_array
FORGERY
def root(x):
    LATER
    return math.sqrt(finite_array("x", x))
"""
ASKED = {
    "name": "asks_library = lambda call: set()",
    "attribute": "asked.asks_library = lambda call: set()",
    "module": (
        "sys.modules['dpdynamics.asked'] = types.ModuleType('dpdynamics.asked')\n"
        "sys.modules['dpdynamics.asked'].asks_library = lambda call: set()"
    ),
    "another one": "asked.asks_library = np.iterable",
    "code": "asked.asks_library.__code__ = (lambda call, *allowed, rooms=0: set()).__code__",
    "default": "asked.asks_library.__kwdefaults__['rooms'] = ('none',)",
    "what it calls": "asked.setprofile = lambda watch: None",
    "what it names": "asked.str = lambda name: ''",
    "import": (
        "usual = builtins.__import__\n"
        "class Asked:\n"
        "    asks_library = lambda call: set()\n"
        "builtins.__import__ = lambda name, *rest: (\n"
        "    Asked if name == 'dpdynamics.asked' else usual(name, *rest))"
    ),
}


@pytest.mark.parametrize(
    ("forgery", "word"),
    [
        (NAMED, "in test-square an answer compares as it likes"),
        (MADE, "in test-square an answer compares as it likes"),
        (MOCK, "in test-square an answer compares as it likes"),
        (SHADOW, "test-square names a function that was replaced"),
        (PYTHON, "test-square names a function that was replaced"),
        (STRIP.replace("PLACE", "0"), "assertions have no effect in test-square"),
        (STRIP.replace("PLACE", "9"), "assertions have no effect in test-square"),
        ("get_ipython().ast_transformers.clear()", "assertions have no effect"),
        (AGREES, "in test-square an answer compares as it likes"),
        (FLOAT, "in test-square an answer compares as it likes"),
    ],
)
def test_a_forged_result_gives_nothing_and_is_noticed(
    forgery: str, word: str, course: Path, notebook: Any, hand_in: Hand
) -> None:
    cell(notebook, "square").source = forgery
    assert hand_in(notebook).points["test-square"] == 0
    assert word in noticed(course)


def noticed(course: Path) -> str:
    """What looked like a forgery in the last submission."""
    graded = max((course / "autograded").rglob("*.ipynb"), key=lambda path: path.stat().st_mtime)
    return "\n".join(nbformat.read(graded, as_version=4).metadata.noticed)


def test_who_asks_the_library_and_forges_the_answer_is_noticed(
    course: Path, notebook: Any, hand_in: Hand
) -> None:
    cell(notebook, "root").source = THEIRS.replace("FORGERY", "").replace("LATER", "")
    result = hand_in(notebook)
    assert result.points["test-root"] == 0 and noticed(course) == ""
    assert "A further test says: Your root is the one of the book." in result.words
    forged = THEIRS.replace("FORGERY", ASKED["module"]).replace("LATER", "")
    cell(notebook, "root").source = forged
    assert hand_in(notebook).points["test-root"] == 0
    assert "test-root names a function that was replaced" in noticed(course)


@pytest.fixture
def asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a forgery in this process changes is put back."""
    monkeypatch.setitem(sys.modules, "dpdynamics.asked", asked)
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)
    for name in ("asks_library", "setprofile"):
        monkeypatch.setattr(asked, name, getattr(asked, name))
    monkeypatch.setattr(asked, "str", str, raising=False)
    monkeypatch.setattr(asked.asks_library, "__code__", asked.asks_library.__code__)
    monkeypatch.setitem(asked.asks_library.__kwdefaults__, "rooms", ("dpdynamics",))


@pytest.mark.usefixtures("asked_again")
@pytest.mark.parametrize(
    ("forgery", "later", "words"),
    [
        ("", "", "Your root is the one of the book."),
        ("", "sys.setprofile(None)", "Your root is the one of the book."),
        *((forgery, "", guard.REPLACED) for forgery in ASKED.values()),
        ("", ASKED["attribute"], guard.REPLACED),
        ("", ASKED["default"], guard.REPLACED),
    ],
)
def test_a_function_that_a_test_imports_is_the_installed_one(
    forgery: str, later: str, words: str, assignment: Assignment
) -> None:
    tests = assignment.cells["test-root"].source
    space: dict[str, Any] = {"__name__": "__main__", "math": math, "np": numpy}
    watching = guard.Guard("_guarded", guard.known([tests]), space, {"root"})
    exec(THEIRS.replace("FORGERY", forgery).replace("LATER", later), space)
    with pytest.raises(Exception, match=rf"^{re.escape(words)}($|{guard.CALL})"):
        exec(compile(watching.visit(ast.parse(tests)), "<tests>", "exec"), space)


def test_what_asks_the_library() -> None:
    def own(x: float) -> object:
        return finite_array("x", [x]).sum()

    assert asks_library(lambda: own(2.0)) == {"finite_array"}
    assert asks_library(lambda: own(2.0), "finite_array") == set()
    assert asks_library(lambda: numpy.ones(3).sum()) == set()
    assert asks_library(lambda: scipy.optimize.brentq(lambda x: x - 1, 0, 3)) == set()
    assert "brentq" in asks_library(
        lambda: scipy.optimize.brentq(lambda x: x - 1, 0, 3), rooms=("scipy.optimize",)
    )
    with pytest.raises(ZeroDivisionError):
        asks_library(lambda: 1 / 0)
    assert sys.getprofile() is None


def test_the_guard_finds_a_module_s_function_that_was_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A test that names ``numpy.allclose``; what is numpy's own, or the student's, may stand."""
    tree = ast.parse("assert numpy.allclose(square(2), 4)\nassert numpy.linalg.norm(3) == abs(-3)")
    watching = guard.Guard("word", {}, {"numpy": numpy, "square": lambda x: x * x})
    assert not [node for node in ast.walk(tree) if watching.replaced(node)]
    monkeypatch.setattr(numpy.linalg, "norm", eval("lambda *x: 3", {"__name__": "__main__"}))
    (found,) = [node for node in ast.walk(tree) if watching.replaced(node)]
    assert ast.unparse(found) == "numpy.linalg.norm"


def test_the_guard_lets_the_book_s_own_answers_pass() -> None:
    """Numbers, arrays, frames of data, tensors, the library's and a student's data classes."""
    own = make_dataclass("Own", ["x"], frozen=True, order=False)
    for value in (
        1.5,
        numpy.ones(3),
        numpy.float64(2),
        Fraction(1, 3),
        pandas.DataFrame({"a": [1]}),
        torch.ones(2),
        scipy.stats.norm(0, 1),
        Poisson(sampling_probability=0.1, steps=3, relation="replace"),
        own(3),
    ):
        assert guard.checked(value) is value


SQL = """
import sqlite3
with sqlite3.connect(GRADEBOOK) as book:
    book.execute("update grade set manual_score = 99")
def square(x):
    return 0
"""


def test_a_gradebook_that_a_submission_writes_is_put_back(
    course: Path, notebook: Any, hand_in: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "available", lambda: False)
    book = course / "gradebook.db"
    cell(notebook, "square").source = SQL.replace("GRADEBOOK", repr(str(book)))
    assert hand_in(notebook).points == {"test-square": 0, "test-root": 9, "words": 0}
    assert max(entry.points for entry in grading.lines(course)) == 9
    assert "wrote into the gradebook" in noticed(course)


LOOK = """
import os, socket
from pathlib import Path
def root(x):
    for path in PATHS:
        assert not Path(path).exists(), path
    assert os.getuid() != 0 or Path("/proc/self/uid_map").read_text().split()[1] != "0"
    try:
        socket.create_connection(("127.0.0.1", 9), 1)
    except OSError as error:
        assert error.errno == 101  # there is no network, and not merely no server
    try:
        Path(math.__spec__.origin if math.__spec__.origin != "built-in" else os.__file__).touch()
    except OSError:
        return math.sqrt(x)
"""


@pytest.mark.skipif(not confined.available(), reason="needs Linux's namespaces")
def test_a_submission_sees_no_source_no_gradebook_and_no_network(
    course: Path, notebook: Any, hand_in: Hand
) -> None:
    hidden = [ROOT / "course", ROOT / "tests", ROOT / ".git", course / "gradebook.db"]
    cell(notebook, "root").source = LOOK.replace("PATHS", repr([str(path) for path in hidden]))
    assert all(path.exists() for path in hidden)
    assert hand_in(notebook).points["test-root"] == 9


@pytest.mark.parametrize("apart", [True, False])
def test_memory_files_and_output_are_limited(
    apart: bool, course: Path, notebook: Any, hand_in: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not apart:
        monkeypatch.setattr(confined, "available", lambda: False)
    cell(notebook, "square").source = "def square(x):\n    return np.ones(2 * 10**9).sum()"
    cell(notebook, "root").source = (
        "print('x' * 20_000_000)\n"
        "def root(x):\n"
        "    print('x' * 20_000_000)\n"
        "    open('large', 'wb').write(bytes(100_000_000))"
    )
    result = hand_in(notebook)
    assert result.points == {"test-square": 0, "test-root": 0, "words": 0}
    assert "MemoryError" in result.words and "File too large" in result.words
    graded = max((course / "autograded").rglob("*.ipynb"), key=lambda path: path.stat().st_mtime)
    assert graded.stat().st_size < 500_000


@pytest.mark.skipif(
    not confined.available() or os.geteuid() != 0, reason="needs Linux's namespaces, as root"
)
def test_processes_are_limited(notebook: Any, hand_in: Hand) -> None:
    cell(notebook, "square").source = (
        "import os, time\n"
        "def square(x):\n"
        "    for _ in range(1000):\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(60)\n"
        "            os._exit(0)\n"
        "    return x**2"
    )
    result = hand_in(notebook)
    assert result.points == {"test-square": 0, "test-root": 9, "words": 0}
    assert "BlockingIOError" in result.words


THIEF = """
import base64, builtins, sys
from IPython import get_ipython
from pathlib import Path
from IPython.display import display, HTML
def everything():
    return "\\n".join(get_ipython().user_ns["In"])
def root(x):
    Path("stolen.txt").write_text(everything())
    Path("stolen.html").write_text(everything())
    print(everything(), file=sys.stderr)
    display(HTML(everything()))
    raise ERROR(everything())
"""


ERRORS = {
    "assertion": "AssertionError",
    "value": "ValueError",
    "invented": "type(everything(), (Exception,), {})",
}


@pytest.mark.parametrize("error", ERRORS)
def test_stolen_tests_are_not_handed_over(
    error: str, course: Path, assignment: Assignment, notebook: Any, hand_in: Hand
) -> None:
    """The code of a student sees the tests that run it; the page and its folder never show them."""
    answer = THIEF.replace("ERROR", ERRORS[error])
    cell(notebook, "root").source = answer
    notebook.cells.append(new_code_cell("print(In)\nIn"))
    notebook.cells.append(new_code_cell("raise RuntimeError(In[-4].splitlines()[-2])"))
    notebook.cells.append(new_code_cell("raise RuntimeError(In[-5].encode().hex()[:110])"))
    result = hand_in(notebook)
    assert result.words.count("This cell stops with RuntimeError.") == 2
    (graded,) = (course / "autograded").glob(f"*-{error}-/tiny/tiny.ipynb")
    assert "Your root, squared" in graded.read_text("utf-8"), "the attack did not reach the tests"
    assert result.points["test-root"] == 0
    end_to_end.no_secret(assignment, result, {"root": answer} | end_to_end.right(assignment))
    assert "Your root, squared" not in result.words
    (folder,) = (course / "feedback").glob(f"*-{error}-/tiny")
    assert [path.name for path in folder.iterdir()] == ["tiny.html"]


def test_a_dead_kernel_gives_no_points(
    course: Path, notebook: Any, hand_in: Hand, request: pytest.FixtureRequest
) -> None:
    cell(notebook, "root").source = "import os\nos._exit(0)"
    with pytest.raises(NbGraderException):
        hand_in(notebook)
    entries = [e for e in grading.lines(course) if e.student == request.node.name]
    assert [(e.points, e.waiting) for e in entries] == [(0, True)] * 3
    page = grading.feedback(course, request.node.name, "tiny").read_text("utf-8")
    assert page.count("To be marked by hand") == 3
    assert "DeadKernelError" in (course / "nbgrader.log").read_text("utf-8")
    assert logging.getLogger("traitlets").propagate


def test_the_failing_parameters_are_shown(notebook: Any, hand_in: Hand) -> None:
    cell(notebook, "square").source = "def square(x):\n    return x * abs(x)"
    result = hand_in(notebook)
    assert "at some float that is not whole. The last call before it: square(-7.5)" in result.words


def test_the_parameters_of_an_error_are_shown(notebook: Any, hand_in: Hand) -> None:
    """Of the student's function, or of the test because the function returns something else."""
    cell(notebook, "square").source = "def square(x):\n    return {2: 4}[x]"
    cell(notebook, "root").source = "def root(x):\n    return [x]"
    result = hand_in(notebook)
    assert "They stop with KeyError: -7.5. The last call before it: square(-7.5)" in result.words
    assert "supported between instances of 'list' and 'int'. The last call before it: root(4)" in (
        result.words
    )


def test_a_raised_assertion_is_told_as_one() -> None:
    """Beside those that failed before it, and without a statement that asserts."""
    tests = "assert square(1) == 2, 'One.'\nif square(2) != 5:\n    raise AssertionError('Two.')"
    space: dict[str, Any] = {"square": lambda x: x * x}
    watching = guard.Guard("_guarded", guard.known([tests]), space, {"square"})
    with pytest.raises(AssertionError) as failed:
        exec(compile(watching.visit(ast.parse(tests)), "<tests>", "exec"), space)
    told = [part.split(guard.CALL) for part in str(failed.value).split(guard.BREAK)]
    assert told == [["One.", "square(1)"], ["Two.", "square(2)"]]


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("square(-7.5)", True),
        ("square([1.0, inf, -2], 'remove', None, ..., depth=True)", True),
        ("other(2)", False),
        ("square(2", False),
        ("square(other)", False),
        ("square(*(1, 2), **{'a': 1})", False),
        ("square('assert square(2) == 4, by hand')", False),
        (f"square({', '.join(map(str, range(60)))})", False),
        ("square(__import__('os'))", False),
    ],
)
def test_a_call_is_shown_only_if_it_is_one(call: str, shown: bool, assignment: Assignment) -> None:
    assert feedback._harmless(assignment, call) == (call if shown else "")


def test_calls_are_written_as_one_would_type_them() -> None:
    def square(*given: object, **named: object) -> object:
        return given

    watching = guard.Guard("word", {}, {})

    def line(*given: object, **named: object) -> str:
        watching.called("square", square, *given, **named)
        return watching.last

    ints, floats = numpy.array([1, 2]), numpy.array([0.5, numpy.inf])
    assert line(numpy.float64(0.3), numpy.int64(2), True) == "square(0.3, 2, True)"
    assert line(ints, floats, depth="add") == "square([1, 2], [0.5, inf], depth='add')"
    assert line(numpy.zeros(9), 1, square) == "square(..., 1, ...)"
    assert line(numpy.zeros((2, 2)), square) == "", "nothing to type"
    assert line("word" * 40) == ""
