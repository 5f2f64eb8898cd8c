"""Executing: byte-identical twice over, fresh afterwards, and failures that name the cell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

from nb.execute import execute
from nb.fingerprint import Library, why_stale
from nb.normalise import WIDGET_VIEW, read
from planted_notebooks import write_notebook

SEED = "import numpy as np\nrng = np.random.default_rng(7)\nprint(rng.normal(size=3).round(3))"
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
SOUND = "ok = 1", "print('two')", "ok = 3"
STREAMS = "import sys\nfor i in range(50):\n    print(i)\n    sys.stdout.flush()"


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> Path:
    """A sound notebook, executed; it is not to be changed."""
    path = write_notebook(tmp_path_factory.mktemp("executed") / "planted.ipynb", *SOUND)
    assert execute(path).error == ""
    return path


def test_two_executions_are_byte_identical_and_leave_clean_metadata(plant, tool) -> None:
    path = plant(SEED, STATIC_WIDGET, STREAMS, "import time\ntime.sleep(0.2)", VERDICT)
    assert tool("status", path).returncode == 1
    first = tool("run", path)
    once = path.read_bytes()
    second = tool("run", "--force", path)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert path.read_bytes() == once
    assert "done" in first.stdout
    assert "same" in second.stdout
    notebook = read(path)
    assert why_stale(notebook, path, Library()) == ""
    assert tool("status", path).returncode == 0
    assert "up to date" in tool("run", path).stdout
    assert set(notebook.metadata) == {"dpdynamics", "kernelspec", "language_info"}
    assert [c.id for c in notebook.cells] == [f"cell-{n:02d}" for n in range(1, 8)]
    counts = [c.execution_count for c in notebook.cells if c.cell_type == "code"]
    assert counts == [1, 2, 3, 4, 5, 6]
    assert notebook.cells[1].outputs == []
    assert WIDGET_VIEW not in notebook.cells[3].outputs[0].data
    assert len(notebook.cells[4].outputs) == 1


def test_editing_the_code_makes_stale_and_editing_prose_does_not(executed) -> None:
    path, notebook = executed, read(executed)
    notebook.cells[0].source += "\n\nOne more sentence."
    assert why_stale(notebook, path, Library()) == ""
    notebook.cells[1].source = notebook.cells[1].source.replace('address = ""', 'address = "x"')
    assert why_stale(notebook, path, Library()) == ""
    notebook.cells[2].source += "\n1 + 1"
    assert why_stale(notebook, path, Library()) == "its code changed"
    notebook.cells[2].execution_count = None
    assert why_stale(notebook, path, Library()) == "never executed to the end"


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


def test_pytest_names_planted_failing_cells(executed, tmp_path, run_pytest) -> None:
    text = executed.read_text("utf-8")
    raising = json.loads(text)
    raising["cells"][3]["source"] = ["raise ValueError('planted')"]
    (tmp_path / "sound.ipynb").write_text(text, "utf-8")
    (tmp_path / "raising.ipynb").write_text(json.dumps(raising), "utf-8")
    (tmp_path / "differing.ipynb").write_text(text.replace("two\\n", "too\\n"), "utf-8")
    result = run_pytest("--nbval", "--nbval-current-env", tmp_path)
    assert result.returncode == 1
    assert re.search(r"differing\.ipynb::Cell 2\b", result.stdout)  # nbval counts from 0
    assert re.search(r"raising\.ipynb::Cell 2\b", result.stdout)
    assert "planted" in result.stdout
    assert "sound.ipynb::" not in result.stdout


def test_pytest_names_a_planted_unexecuted_cell(executed, tmp_path, run_pytest) -> None:
    notebook = read(executed)
    notebook.cells[3].update(execution_count=None, outputs=[])
    nbformat.write(notebook, tmp_path / "planted.ipynb")
    result = run_pytest("tests/notebooks/test_chapters.py", notebooks=tmp_path)
    assert result.returncode == 1
    assert "cell 4 (code cell 3): was never executed; run `make run`" in result.stdout


def test_pytest_fails_without_any_notebook(tmp_path, run_pytest) -> None:
    result = run_pytest("tests/notebooks/test_chapters.py", notebooks=tmp_path)
    assert result.returncode == 1
    assert "no notebook under" in result.stdout
