"""The scripts of the errata: each compiles, knows its names, and gives the recorded numbers."""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import re
import symtable
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from book_ledger import ledger, scripts
from book_ledger.cutting import SliceError, Source, cut

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = scripts.scripts(ledger.build(ROOT), ROOT)


def test_there_is_one_for_every_erratum() -> None:
    assert len(SCRIPTS) == len(ledger.build(ROOT).errata)
    assert len({script.name for script in SCRIPTS}) == len(SCRIPTS)
    assert [script.problem for script in SCRIPTS if script.problem] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_it_mentions_only_names_that_it_defines(script: scripts.Script) -> None:
    table = symtable.symtable(script.text, script.name, "exec")
    defined = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    read = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    todo = list(table.get_children())
    while todo:
        child = todo.pop()
        read |= {s.get_name() for s in child.get_symbols() if s.is_global() and s.is_referenced()}
        todo += child.get_children()
    assert read <= defined | set(dir(builtins)) | {"__name__"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_it_draws_and_shows_nothing(script: scripts.Script) -> None:
    called = {
        getattr(node.func, "id", getattr(node.func, "attr", ""))
        for statement in ast.parse(script.body).body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
    }
    assert not called & {
        "show",
        "explorer",
        "subplots",
        "Erratum",
    }  # an earlier verdict may draw random numbers


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_it_gives_the_recorded_ratios(
    script: scripts.Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(script.text, script.name, "exec"), {"__name__": "__main__"})
    found = re.findall(r"statement (\w+): ratio (\S+)", shown.getvalue())
    outcomes = [outcome for outcome, _ in found]
    recorded = [c for c in (script.check["printed"], script.check["corrected"]) if c]
    assert outcomes == [comparison["outcome"] for comparison in recorded]
    assert float(found[0][1]) == pytest.approx(float(recorded[0]["ratio"]), rel=1e-3)


def test_an_archive_holds_them_all_with_their_files(tmp_path: Path) -> None:
    scripts.write(SCRIPTS, ROOT, tmp_path)
    with zipfile.ZipFile(tmp_path / scripts.FOLDER / scripts.ARCHIVE) as archive:
        names = set(archive.namelist())
    assert {script.name for script in SCRIPTS} <= names
    assert "dpdynamics/verification/__init__.py" in names
    assert not any("__pycache__" in name for name in names)
    for script in SCRIPTS:
        for folder in script.folders:
            assert any(name.startswith(f"{folder}/") for name in names)


def source(tmp_path: Path, *cells: str) -> Source:
    path = tmp_path / "chapter.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), path)
    return Source(path)


def test_the_check_may_have_a_name_be_nested_or_come_from_a_list(tmp_path: Path) -> None:
    cells = (
        "%matplotlib inline\nfrom dpdynamics.verification import identity, verdict",
        'title = "two"\nx = 1\none = identity("one", measured=x, printed=x)',
        'many = [identity(f"many {i}", measured=i, printed=i) for i in range(3)]',
        'verdict("a2025.b", one, identity(title, measured=2, printed=3), *many)',
    )
    book = source(tmp_path, *cells)
    assert cut(book, 4, "a2025.b", "one").endswith("\ncheck = one")
    assert "x = 1" not in cut(book, 4, "a2025.b", "two")
    assert cut(book, 4, "a2025.b", "two").endswith("check = identity(title, measured=2, printed=3)")
    assert "checks = [*many]\n" in cut(book, 4, "a2025.b", "many 1")


@pytest.mark.parametrize(
    "other",
    [
        "elif two:\n    y = 3",
        "elif two:\n    y = 3\nelif one:\n    y = 4\nelse:\n    y = 5",
        "else:\n    y = 3",
        "else:\n    # a remark\n    y = 3",
    ],
)
def test_a_branch_goes_with_its_head_alone(other: str, tmp_path: Path) -> None:
    text = f"one, two, x = True, False, 1\nif one:\n    y = 2\n    x = x + 5\n{other}"
    check = cut(source(tmp_path, text, 'verdict("a2025.b", f("one", x))'), 2, "a2025.b", "one")
    names: dict[str, object] = {"f": lambda name, value: value}
    exec(compile(check, "script", "exec"), names)
    assert names["check"] == 6
    assert "y = 3" not in check and "el" not in check


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
    scripts.write(SCRIPTS[:2], ROOT, tmp_path)
    scripts.write(SCRIPTS[:1], ROOT, tmp_path)
    assert [path.name for path in (tmp_path / scripts.FOLDER).glob("*.py")] == [SCRIPTS[0].name]


def test_a_verdict_that_cannot_be_found_is_named(tmp_path: Path) -> None:
    with pytest.raises(SliceError, match=r"chapter.ipynb, cell 1: no call of verdict on a2025.b"):
        cut(source(tmp_path, "record(checks)"), 1, "a2025.b", "one")


def test_recorded_cells_are_where_the_notebooks_have_them() -> None:
    for script in SCRIPTS[:3]:
        cells = json.loads(script.source.notebook.read_text("utf-8"))["cells"]
        assert script.row.decision is not None
        assert script.row.claim.id in "".join(cells[script.row.decision.cell - 1]["source"])
