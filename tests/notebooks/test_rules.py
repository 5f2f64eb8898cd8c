"""Every rule can fail: a notebook that breaks exactly this one is reported, with its cell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from nb.bootstrap import bootstrap_source
from nb.execute import execute
from nb.fingerprint import Library, outputs_hash
from nb.lint import RULES, Chapter, claims_stand_alone
from nb.normalise import WIDGET_VIEW, read, text_of
from planted_notebooks import write_notebook


def output(data: dict, metadata: dict | None = None) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("display_data", data=data, metadata=metadata or {})


def set_outputs(*outputs: nbformat.NotebookNode):
    return lambda nb: nb.cells[2].update(outputs=list(outputs))


def set_source(text: str):
    return lambda nb: nb.cells[2].update(source=text)


TANGLED = "x = f()\nverdict('a2025.b', x)\nverdict('a2025.c', x)"
PICTURE = {"image/svg+xml": "<svg/>"}
BREAK = {
    "begins_with_title": (lambda nb: nb.cells[0].update(source="no title"), "cell 1"),
    "begins_with_bootstrap": (
        lambda nb: nb.cells[1].update(source=nb.cells[1].source + "\n"),
        "cell 2 (code cell 1)",
    ),
    "is_executed": (lambda nb: nb.cells[2].update(execution_count=7), "cell 3 (code cell 2)"),
    "is_fresh": (set_source("1 + 2"), "run `make run`"),
    "is_untouched": (
        lambda nb: nb.cells[2].outputs[0].update(text="[0 1 3]\n"),
        "not those of its last execution",
    ),
    "hides_nothing": (
        lambda nb: nb.cells[2].metadata.update(tags=["nbval-skip"]),
        "cell 3 (code cell 2)",
    ),
    "is_canonical": (lambda nb: nb.cells[2].update(id="other"), "canonical form"),
    "has_no_error": (
        set_outputs(nbformat.v4.new_output("stream", name="stderr", text="UserWarning: x")),
        "cell 3 (code cell 2)",
    ),
    "has_no_address": (
        set_outputs(output({"text/plain": "<thing at 0x7f0011223344>"})),
        "cell 3 (code cell 2)",
    ),
    "figures_have_alt_text": (set_outputs(output(PICTURE)), "cell 3 (code cell 2)"),
    "widgets_have_a_static_form": (
        set_outputs(output({WIDGET_VIEW: {"model_id": "0"}})),
        "cell 3 (code cell 2)",
    ),
    "is_small": (set_outputs(output({"text/html": "x" * 2_000_000})), "2.00 MB"),
    "is_readable": (set_source("\n".join("x = 1" for _ in range(41))), "cell 3 (code cell 2)"),
    "imports_rooms_only": (set_source("import polars"), "'polars'"),
    "claims_stand_alone": (set_source(TANGLED), "computes for 2 claims, a2025.b, a2025.c"),
}


def broken_rules(path) -> dict[str, list[str]]:
    found = {rule.__name__: list(rule(Chapter(path, Library()))) for rule in RULES}
    return {name: messages for name, messages in found.items() if messages}


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Text of a small notebook that obeys every rule."""
    path = write_notebook(
        tmp_path_factory.mktemp("good") / "good.ipynb", "import numpy as np\nprint(np.arange(3))"
    )
    assert execute(path).error == ""
    return path.read_text("utf-8")


@pytest.fixture
def good(executed: str, tmp_path: Path) -> Path:
    path = tmp_path / "good.ipynb"
    path.write_text(executed, "utf-8")
    return path


def test_there_is_a_planted_fault_for_every_rule() -> None:
    assert set(BREAK) == {rule.__name__ for rule in RULES}


def test_each_rule_finds_its_planted_fault(good) -> None:
    assert broken_rules(good) == {}
    sound = good.read_text("utf-8")
    for name, (damage, expected) in BREAK.items():
        notebook = nbformat.reads(sound, as_version=4)
        damage(notebook)
        good.write_text(text_of(notebook), "utf-8")
        found = broken_rules(good)
        assert expected in " ".join(found.get(name, ["nothing"])), name


def test_a_picture_with_alt_text_is_accepted(good) -> None:
    notebook = read(good)
    described = {"dpdynamics": {"figure": {"alt": "A falling curve."}}}
    set_outputs(output(PICTURE, described))(notebook)
    notebook.metadata["dpdynamics"]["outputs"] = outputs_hash(notebook)
    good.write_text(text_of(notebook), "utf-8")
    assert broken_rules(good) == {}


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["from math import pi\nA = pi * np.ones(2)\n\ndef f():\n    return g(A)"], []),
        (["A = f(2)"], ["cell 3 (code cell 2): computes for 2 claims, a2025.b, a2025.c"]),
        (["A = 1\nshow(A)"], ["computes for 2 claims", "draws, and a2025.b needs it"]),
        (["A = 1", "x = 1", "x = 2", "fig = x = 3"], ["'x' is bound in 3 cells, at most 2"]),
        (["A = 1", *(f"fig = {i}" for i in range(4))], []),
    ],
)
def test_what_entangles_claims(plant, cells: list[str], found: list[str]) -> None:
    verdicts = [f"verdict('a2025.{name}', A, f)" for name in "bc"]
    messages = list(claims_stand_alone(Chapter(plant(*cells, *verdicts), Library())))
    assert len(messages) == len(found)
    assert all(words in message for words, message in zip(found, messages, strict=True))


def test_check_reports_and_fails(good, tool) -> None:
    assert tool("check", good).returncode == 0
    good.write_text(good.read_text("utf-8").replace("np.arange(3)", "np.arange(4)"), "utf-8")
    result = tool("check", good)
    assert result.returncode == 1
    assert "stale (its code changed)" in result.stdout


def run_bootstrap(address: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the cell in a folder; with -I and -S as its options Python has no installed packages."""
    cell = TransformerManager().transform_cell(bootstrap_source(address))
    shell = "from types import SimpleNamespace\nget_ipython = lambda: "
    shell += "SimpleNamespace(run_line_magic=lambda *words: print(*words))\n"
    command = [sys.executable, *options, "-c", shell + cell]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_bootstrap_finds_a_clone_or_an_address_or_says_what_to_do(tmp_path: Path) -> None:
    deep, address = tmp_path / "notebooks" / "part", "https://example.org/a/b"
    deep.mkdir(parents=True)
    installed = run_bootstrap("", deep)
    assert (installed.returncode, installed.stdout, installed.stderr) == (0, "", "")
    alone = run_bootstrap("", deep, "-I", "-S")
    assert alone.returncode == 1 and "ModuleNotFoundError" in alone.stderr
    words = bootstrap_source("").splitlines()[-1]  # which IPython shows below the error
    assert words.endswith("missing? pip install dpdynamics-*.whl of notebooks-to-run.zip")
    asked = run_bootstrap(address, deep, "-I", "-S")
    assert asked.stdout == f'pip install --quiet "dpdynamics @ git+{address}"\n'
    (tmp_path / "lib" / "dpdynamics").mkdir(parents=True)
    (tmp_path / "lib" / "dpdynamics" / "__init__.py").touch()
    for text in ("", address):
        found = run_bootstrap(text, deep, "-I", "-S")
        assert (found.returncode, found.stdout, found.stderr) == (0, "", "")
    with pytest.raises(ValueError, match="address"):
        bootstrap_source('x"y')


def test_bootstrap_is_short() -> None:
    assert len([line for line in bootstrap_source("").splitlines() if line]) == 3
