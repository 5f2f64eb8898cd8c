"""A small course in a folder, written by hand: one assignment of three tasks and 20 points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from coursework.sources import Assignment

NAME = "tiny"
CELLS: list[tuple[str, str, float | None, str]] = [
    ("given", "intro", None, "# Assignment: something tiny\n\nRead the section on squares."),
    ("given", "imports", None, "import math\n\nimport numpy as np"),
    ("given", "task-1", None, "## Task 1. A square (10 minutes)\n\nWrite `square(x)`."),
    (
        "solution",
        "square",
        None,
        "def square(x):\n"
        '    """The square of x."""\n'
        "    ### BEGIN SOLUTION\n"
        "    product_of_both = x * x\n"
        "    return product_of_both\n"
        "    ### END SOLUTION",
    ),
    (
        "tests",
        "test-square",
        6,
        'assert square(2) == 4, "Two times two: try your function by hand."\n'
        "### BEGIN HIDDEN TESTS\n"
        "for number in [-7.5, 3.25]:\n"
        "    assert abs(square(number) - number**2) < 1e-12, (\n"
        '        f"Your square is wrong at some {type(number).__name__} that is not whole."\n'
        "    )\n"
        "### END HIDDEN TESTS",
    ),
    ("given", "task-2", None, "## Task 2. A root (10 minutes)\n\nWrite `root(x)`."),
    (
        "solution",
        "root",
        None,
        "### BEGIN SOLUTION\ndef root(x):\n    return math.sqrt(x)\n### END SOLUTION",
    ),
    (
        "tests",
        "test-root",
        9,
        'assert root(4) >= 0, "A root is not negative."\n'
        "### BEGIN HIDDEN TESTS\n"
        "from dpdynamics.asked import asks_library\n\n"
        'assert not asks_library(lambda: root(2.0)), "Your root is the one of the book."\n'
        'assert abs(root(6.25) - 2.5) < 1e-9, "Your root, squared, is not what it came from."\n'
        "### END HIDDEN TESTS",
    ),
    ("given", "task-3", None, "## Task 3. In words (5 minutes)\n\nWhy is a square not negative?"),
    (
        "written",
        "words",
        5,
        "A product of equal signs is not negative.\n\nMarking: 5 points for naming both signs.",
    ),
]
MISTAKES = """# %% square: doubled
def square(x):
    return 2 * x

# %% square: rounds
def square(x):
    return round(x) ** 2

# %% root: no root
def root(x):
    return x

# %% root: halved
def root(x):
    return x / 2
"""


def write(course: Path, cells: list[tuple[str, str, float | None, str]] = CELLS) -> Assignment:
    """Write the assignment and its mistakes into a folder of the shape of ``course``."""
    notebook = new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        }
    )
    for kind, name, points, text in cells:
        given = kind == "given" and (text.startswith("#") and not text.startswith("###"))
        make = new_markdown_cell if given or kind == "written" else new_code_cell
        mark: dict[str, Any] = {
            "schema_version": 3,
            "task": False,
            "grade": kind in ("tests", "written"),
            "solution": kind in ("solution", "written"),
            "locked": kind in ("given", "tests"),
            "grade_id": name,
        }
        if points is not None:
            mark["points"] = points
        notebook.cells.append(make(text, id=name, metadata={"nbgrader": mark}))
    path = course / "source" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    (course / "mistakes").mkdir(exist_ok=True)
    (course / "mistakes" / f"{NAME}.py").write_text(MISTAKES, "utf-8")
    return Assignment(NAME, course)
