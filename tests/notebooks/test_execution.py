"""Executing: byte-identical twice over, fresh afterwards, and failures that name the cell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

import notebooks
from nb.execute import execute
from nb.fingerprint import Library, why_stale
from nb.layout import shown
from nb.normalise import WIDGET_VIEW, read
from planted_notebooks import write_notebook

SEED = "import numpy as np\nrng = np.random.default_rng(7)\nprint(rng.normal(size=3).round(3))"
WIDGET = "import ipywidgets\nipywidgets.IntSlider(3)"
STATIC_WIDGET = """\
import ipywidgets
from IPython.display import display
view = ipywidgets.IntSlider(2)._repr_mimebundle_()
view["text/html"] = "<p>static</p>"
display(view, raw=True)"""
VERDICT = """\
from dpdynamics.verification import identity, verdict
check = identity("sum", measured=4.0, printed=4.0, controls={"three": 3.0}, rtol=1e-12)
verdict("lin2025.eq5", check)"""
STREAMS = "import sys\nfor i in range(50):\n    print(i)\n    sys.stdout.flush()"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Text of a notebook that was executed."""
    path = tmp_path_factory.mktemp("once") / "planted.ipynb"
    assert execute(write_notebook(path, SEED, WIDGET, STATIC_WIDGET, STREAMS)).error == ""
    return path.read_text("utf-8")


@pytest.fixture
def executed(text: str, tmp_path: Path) -> Path:
    """A notebook that was executed."""
    path = tmp_path / "planted.ipynb"
    path.write_text(text, "utf-8")
    return path


def test_two_executions_are_byte_identical(plant, tool) -> None:
    path = plant(SEED, WIDGET, STATIC_WIDGET, STREAMS, VERDICT)
    first = tool("run", "--force", path)
    once = path.read_bytes()
    second = tool("run", "--force", path)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert path.read_bytes() == once
    assert "done" in first.stdout
    assert "same" in second.stdout


def test_run_stores_a_fingerprint_and_clean_metadata(plant, tool, executed) -> None:
    assert tool("status", plant("1", name="other.ipynb")).returncode == 1
    notebook = read(executed)
    assert why_stale(notebook, executed, Library()) == ""
    assert tool("status", executed).returncode == 0
    assert "up to date" in tool("run", executed).stdout
    assert set(notebook.metadata) == {"dpdynamics", "kernelspec", "language_info"}
    assert [c.id for c in notebook.cells] == [f"cell-{n:02d}" for n in range(1, 7)]
    assert [c.execution_count for c in notebook.cells if c.cell_type == "code"] == [1, 2, 3, 4, 5]
    assert notebook.cells[1].outputs == []
    assert notebook.cells[3].outputs[0].data[WIDGET_VIEW]["model_id"] == f"{1:032x}"
    assert WIDGET_VIEW not in notebook.cells[4].outputs[0].data
    assert len(notebook.cells[5].outputs) == 1


def test_editing_the_code_makes_stale_and_editing_prose_does_not(executed) -> None:
    notebook = read(executed)
    notebook.cells[0].source += "\n\nOne more sentence."
    assert why_stale(notebook, executed, Library()) == ""
    notebook.cells[1].source = notebook.cells[1].source.replace('address = ""', 'address = "x"')
    assert why_stale(notebook, executed, Library()) == ""
    notebook.cells[2].source += "\n1 + 1"
    assert why_stale(notebook, executed, Library()) == "its code changed"
    notebook.cells[2].execution_count = None
    assert why_stale(notebook, executed, Library()) == "never executed to the end"


def test_a_failing_cell_is_named_and_the_file_is_left_alone(plant, tool) -> None:
    path = plant("ok = 1", "def f():\n    return 1 / 0\n\nf()", "ok = 2")
    other = plant("1 + 1", name="other.ipynb")
    before = path.read_bytes()
    result = tool("run", "--jobs", 2, path, other)
    assert result.returncode == 1
    assert (
        "planted.ipynb, cell 4 (code cell 3): ZeroDivisionError: division by zero" in result.stderr
    )
    assert path.read_bytes() == before
    assert read(other).cells[2].execution_count == 2
    assert not list(path.parent.glob(".*.tmp"))


def test_pytest_names_planted_failing_cells(plant, run_pytest) -> None:
    """One is as it was executed, in one a cell raises, in one the stored output is another."""
    cells = ["ok = 1", "print('two')", "ok = 3"]
    for name, source, printed in (
        ("sound", cells[1], "two"),
        ("raising", "raise ValueError('planted')", "two"),
        ("differing", cells[1], "too"),
    ):
        path = plant(cells[0], source, cells[2], name=f"{name}.ipynb")
        notebook = read(path)
        for count, cell in enumerate(notebook.cells[1:], start=1):
            cell.execution_count = count
        output = nbformat.v4.new_output("stream", name="stdout", text=f"{printed}\n")
        notebook.cells[3].outputs = [output]
        nbformat.write(notebook, path)
    result = run_pytest("--nbval", "--nbval-current-env", path.parent)
    assert result.returncode == 1
    assert re.search(r"differing\.ipynb::Cell 2\b", result.stdout)  # nbval counts from 0
    assert re.search(r"raising\.ipynb::Cell 2\b", result.stdout)
    assert "planted" in result.stdout
    assert "sound.ipynb::" not in result.stdout


def test_pytest_names_a_planted_unexecuted_cell(executed, run_pytest) -> None:
    notebook = read(executed)
    notebook.cells[3].update(execution_count=None, outputs=[])
    nbformat.write(notebook, executed)
    result = run_pytest("tests/notebooks/test_chapters.py", notebooks=executed.parent)
    assert result.returncode == 1
    assert "cell 4 (code cell 3): was never executed; run `make run`" in result.stdout


def test_pytest_fails_without_any_notebook(tmp_path, run_pytest) -> None:
    result = run_pytest("tests/notebooks/test_chapters.py", notebooks=tmp_path)
    assert result.returncode == 1
    assert "no notebook under" in result.stdout


def test_the_longest_notebook_comes_first_and_seconds_stay_out_of_the_files(plant, tool) -> None:
    slow, quick = plant("1", name="z.ipynb"), plant("1", name="a.ipynb")
    notebooks.SECONDS.write_text(json.dumps({shown(slow): 99.0, shown(quick): 98.0}), "utf-8")
    printed = tool("run", "--force", "--jobs", 1, quick, slow).stdout
    assert printed.index("z.ipynb") < printed.index("a.ipynb")
    measured = json.loads(notebooks.SECONDS.read_text("utf-8"))
    assert all(0 < measured[shown(path)] < 98 for path in (slow, quick))
    assert set(read(slow).metadata["dpdynamics"]) == {"fingerprint", "outputs"}
