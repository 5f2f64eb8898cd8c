"""The nbval plugin: verdicts are compared by what they decide, everything else strictly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

MIME = "application/vnd.dpdynamics.verdict+json"
SETUP = """
from dpdynamics.verification import Erratum, identity, verdict
from IPython.display import display

def decide():
    check = identity("sum", measured=4.0, printed=4.0 + 1e-13, rtol=1e-12, controls={"three": 3.0})
    return verdict("lin2025.eq5", check)

def correct():
    check = identity("sum", measured=4.0, printed=4.5, corrected=4.0, rtol=1e-12,
                     controls={"three": 3.0})
    return verdict("lin2025.eq5", check, errata=[Erratum(
        location="(5)", printed="4.5", correct="4", consequence="none", check="sum",
        grade="misprint", part="statement")])
"""
SHOW = "decide()"
ERRATUM = "correct()"
FIGURE = "display({'image/svg+xml': '<svg/>', 'text/plain': 'A circle.'}, raw=True)"


def evidence(outputs: list) -> dict:
    return outputs[0]["data"][MIME]


def untouched(outputs: list) -> None:
    assert evidence(outputs)["verdict"] == "holds"


def other_digits(outputs: list) -> None:
    data, check = outputs[0]["data"], evidence(outputs)["checks"][0]
    check["printed"]["ratio"] *= 1.01
    check["controls"][0]["ratio"] *= 0.99
    check["numbers"]["measured"] = 4.00001
    data["text/html"] = "<div>other digits</div>"
    data["text/plain"] = "other digits"


def digits_of_an_erratum(outputs: list) -> None:
    evidence(outputs)["checks"][0]["printed"]["ratio"] *= 1.0005
    evidence(outputs)["checks"][0]["corrected"]["ratio"] += 0.5


def ratio_of_an_erratum(outputs: list) -> None:
    evidence(outputs)["checks"][0]["printed"]["ratio"] *= 1.002


def other_svg(outputs: list) -> None:
    outputs[0]["data"]["image/svg+xml"] = "<svg><!-- other digits --></svg>"


def other_verdict(outputs: list) -> None:
    evidence(outputs)["verdict"] = "fails"


def other_control(outputs: list) -> None:
    evidence(outputs)["checks"][0]["controls"][0]["outcome"] = "accepted"


def other_check(outputs: list) -> None:
    evidence(outputs)["checks"][0]["name"] = "product"


def other_claim(outputs: list) -> None:
    evidence(outputs)["claim"] = "lin2025.eq6"


def verdict_removed(outputs: list) -> None:
    outputs.clear()


def other_text(outputs: list) -> None:
    outputs[0]["text"] = "another text\n"


def other_alternative_text(outputs: list) -> None:
    outputs[0]["data"]["text/plain"] = "A square."


ACCEPTED = [
    (SHOW, untouched),
    (SHOW, other_digits),
    (ERRATUM, digits_of_an_erratum),
    (FIGURE, other_svg),
]
REFUSED = [
    (SHOW, other_verdict, 'claim lin2025.eq5: verdict "fails" is stored, "holds" is computed'),
    (SHOW, other_control, "claim lin2025.eq5: check stored as"),
    (SHOW, other_check, "'name': 'product'"),
    (ERRATUM, ratio_of_an_erratum, "'ratios': {'printed': "),
    (SHOW, other_claim, "claim lin2025.eq6 is stored, claim lin2025.eq5 is computed"),
    (SHOW, verdict_removed, 'claim lin2025.eq5: verdict "holds" is not stored'),
    ("print('a text')", other_text, None),
    (FIGURE, other_alternative_text, None),
]


def validate(folder: Path, *cases: tuple) -> str:
    """Execute one cell a case, tamper with its stored outputs, and return what nbval reports."""
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *(case[0] for case in cases))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell, (_, tamper, *_) in zip(notebook.cells[1:], cases, strict=True):
        tamper(cell.outputs)
    path = folder / "chapter.ipynb"
    nbformat.write(notebook, path)
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    environment.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)  # nbval is such a plugin
    options = ["-q", "-p", "nbval_verdicts", "--nbval", "--nbval-current-env", "--color=no"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", folder / "pytest.ini", path],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    ).stdout


@pytest.fixture(scope="module")
def refusals(tmp_path_factory) -> str:
    return validate(tmp_path_factory.mktemp("planted"), *REFUSED, *ACCEPTED)


def test_accepts_other_digits_and_refuses_each_planted_change(refusals):
    assert f"{len(REFUSED)} failed, {1 + len(ACCEPTED)} passed" in refusals


@pytest.mark.parametrize(
    ("number", "words"),
    [pytest.param(i + 1, case[2], id=case[1].__name__) for i, case in enumerate(REFUSED)],
)
def test_names_notebook_cell_and_claim(refusals, number, words):
    assert f"chapter.ipynb::Cell {number}" in refusals
    if words is not None:
        line = next(
            line for line in refusals.splitlines() if f"chapter.ipynb, cell {number}" in line
        )
        assert words in line
