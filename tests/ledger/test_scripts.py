"""The scripts of claims with errata: slices of their notebooks, with the recorded numbers.

nbval executes the cells, and ``nbval_verdicts.py`` compares the ratios of these claims with the
recorded ones. Here every script is shown to be a slice in which all names hold what they hold in
the notebook, and a few, which are of every kind, run as a reader runs them.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import planting
import pytest
import slices

from book_ledger import ledger, scripts
from book_ledger.inventory import InventoryError
from nbval_verdicts import ratios

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ledger.build(ROOT)
SCRIPTS = scripts.scripts(LEDGER, ROOT)
FILES = list({script.name: script for script in SCRIPTS}.values())
RUN = (  # of every kind, and quick
    "anon2025.assB.1",
    "anon2025.remB.2",
    "anon2025.tabC.1",
    "lin2025.fig3a",
    "wang2026.def3.3",
    "wang2026.rem4.2",
    "wang2026.thmD.9",
)
statements = cache(slices.statements)


def test_there_is_one_for_every_erratum(tmp_path: Path) -> None:
    assert len(SCRIPTS) == sum(len(row.errata) for row in LEDGER.rows.values())
    wrong, right = planting.comparison("printed", 40.0), planting.comparison("corrected", 0.5)
    mended = planting.check(outcome="corrected", printed=wrong, corrected=right)
    given = {"checks": [mended], "errata": [planting.ERRATUM]}
    book = planting.Book(tmp_path)
    book.cells[1] = planting.cell(planting.record(verdict="holds, misprinted", **given))
    book.cells[1].source = "show(kept)"
    with pytest.raises(InventoryError, match=r"cell 2 \[1\]: no call of verdict names test2025"):
        scripts.scripts(ledger.build(book.write()), tmp_path)


def checks(script: scripts.Script) -> list[dict]:
    """The recorded checks."""
    return script.row.decision.checks


def sides(check: dict) -> dict[str, dict]:
    """What is recorded of the statements of a check."""
    return {side: check[side] for side in ("printed", "corrected") if check[side]}


def parts(script: scripts.Script) -> tuple[list[ast.stmt], dict, list[str]]:
    """The statements of the notebook; the ratios that the script quotes; how it shows both."""
    first, *body = ast.parse(script.text).body
    assert ast.unparse(first) == "verdicts = {}"
    (place,) = (n for n, s in enumerate(body) if ast.unparse(s).startswith("recorded = {"))
    claim = repr(script.row.claim.id)
    shown = [ast.unparse(statement).replace(claim, "CLAIM") for statement in body[place + 1 :]]
    return body[:place], ast.literal_eval(body[place].value), shown  # type: ignore[attr-defined]


@pytest.mark.parametrize("script", FILES, ids=lambda script: script.name)
def test_it_computes_what_its_notebook_computes(script: scripts.Script) -> None:
    own, quoted, shown = parts(script)
    book, claim = statements(script.source.path), script.row.claim.id
    assert list(slices.faults(book, slices.cells_of(own, book))) == []
    kept = [ast.unparse(s) for s in own if ast.unparse(s).startswith("verdicts[")]
    assert len(kept) == 1
    assert re.match(rf"verdicts\['{claim}'\] = (verdict|out_of_reach)\('{claim}',", kept[0])
    assert shown == parts(FILES[0])[2]
    assert quoted == {
        check["name"]: {side: found["ratio"] for side, found in sides(check).items()}
        for check in checks(script)
    }


def test_a_cell_that_is_left_out_is_missed() -> None:
    """Every cell of every script but the last one; a few are kept without need."""
    missed = []
    for script in FILES:
        book = statements(script.source.path)
        cells = slices.cells_of(parts(script)[0], book)
        for cell in cells - {max(cells)}:
            missed.append(any(slices.faults(book, cells - {cell})))
    assert missed.count(True) > 0.97 * len(missed)


DRAW = "from dpdynamics.verification import generator\nr = generator('a')"


@pytest.mark.parametrize(
    ("cells", "kept", "fault"),
    [
        (["a = 1", "a = 2", "b = a"], {0, 2}, "a, used in cell 2: cell 1 is missing"),
        (["a = [1]", "a.append(2)", "b = a"], {0, 2}, "a, used in cell 2: cell 1 is missing"),
        (["a = [1]", "a[0] = 2", "b = a"], {0, 2}, "a, used in cell 2: cell 1 is missing"),
        (["a = 1", "a += 2", "b = a"], {0, 2}, "a, used in cell 2: cell 1 is missing"),
        (["a = 1", "if id:\n    a = 2", "b = a"], {1, 2}, "a, used in cell 2: cell 0 is missing"),
        (["def f():\n    return a", "a = 1", "b = f()"], {0, 2}, "a, used in cell 2: cell 1"),
        ([DRAW, "a = r.f()", "b = r.f()"], {0, 2}, "r, used in cell 2: cell 1 is missing"),
        (["a = 1", "b = c"], {1}, "c, used in cell 1: is not bound"),
    ],
)
def test_what_is_missed(cells: list[str], kept: set[int], fault: str) -> None:
    book = [slices.Statement(node, n) for n, c in enumerate(cells) for node in ast.parse(c).body]
    assert next(slices.faults(book, kept)).startswith(fault)
    with pytest.raises(AssertionError, match="not there in this order"):
        slices.cells_of([book[-1].node, book[0].node], book)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the archive of all scripts was unpacked."""
    folder = tmp_path_factory.mktemp("archive")
    scripts.write(SCRIPTS, ROOT, folder)
    with zipfile.ZipFile(folder / scripts.FOLDER / scripts.ARCHIVE) as packed:
        packed.extractall(folder)
    return folder


@pytest.mark.parametrize("claim", RUN)
def test_it_gives_the_recorded_ratios(claim: str, archive: Path) -> None:
    (script,) = (script for script in FILES if script.row.claim.id == claim)
    done = subprocess.run(
        [sys.executable, "-W", "error", script.name],
        cwd=archive,
        env={**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = re.findall(
        r"(\w+) statement (\w+), ratio (\S+)\n    recorded in the book: (\S+)\n", done.stdout
    )
    for check in checks(script):
        for side, found in sides(check).items():
            name, outcome, ratio, told = shown.pop(0)
            assert (name, outcome, float(told)) == (side, found["outcome"], float(found["ratio"]))
            assert ratios(check).get(side, float(ratio)) == float(ratio)
    assert shown == []


def test_those_that_run_are_of_every_kind() -> None:
    def kinds(script: scripts.Script) -> set[object]:
        """Kinds of checks, sides with their outcomes, and what is not the library's."""
        found = {
            (side, s["outcome"]) for check in checks(script) for side, s in sides(check).items()
        }
        words = {word for word in ("torch", "out_of_reach(") if word in script.text}
        return {check["kind"] for check in checks(script)} | found | words

    run = [script for script in FILES if script.row.claim.id in RUN]
    assert set[object]().union(*map(kinds, run)) == set[object]().union(*map(kinds, FILES))
    assert any(script.folders for script in run)


def test_an_archive_holds_them_all_with_their_files(archive: Path) -> None:
    with zipfile.ZipFile(archive / scripts.FOLDER / scripts.ARCHIVE) as packed:
        names = set(packed.namelist())
    assert {script.name for script in SCRIPTS} <= names
    assert "dpdynamics/verification/__init__.py" in names
    assert not any("__pycache__" in name for name in names)
    for script in FILES:
        for folder in script.folders:
            assert any(name.startswith(f"{folder}/") for name in names)


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ('"notebooks/part2/data"', ["notebooks/part2/data"]),
        ('"notebooks/kan/data/table-1.csv"', ["notebooks/kan/data"]),
        ('"notebooks/kan/data is missing"', []),
    ],
)
def test_folders_that_a_script_reads(text: str, folder: list[str]) -> None:
    assert scripts.FILES.findall(text) == folder


def test_a_script_that_is_no_more_is_removed(tmp_path: Path) -> None:
    scripts.write(FILES[:2], ROOT, tmp_path)
    scripts.write(FILES[:1], ROOT, tmp_path)
    assert [path.name for path in (tmp_path / scripts.FOLDER).glob("*.py")] == [FILES[0].name]


def test_recorded_cells_are_where_the_notebooks_have_them() -> None:
    for script in FILES[:3]:
        cells = json.loads(script.source.path.read_text("utf-8"))["cells"]
        assert script.row.claim.id in "".join(cells[script.row.decision.cell - 1]["source"])
