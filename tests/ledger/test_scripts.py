"""The scripts of claims with errata: there is one for each, and it gives the recorded numbers."""

from __future__ import annotations

import contextlib
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from book_ledger import ledger, scripts

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = scripts.scripts(ledger.build(ROOT), ROOT)
FILES = list({script.name: script for script in SCRIPTS}.values())


def test_there_is_one_for_every_erratum() -> None:
    assert len(SCRIPTS) == len(ledger.build(ROOT).errata)
    assert [script.problem for script in SCRIPTS if script.problem] == []


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # of torch itself
@pytest.mark.parametrize("script", FILES, ids=lambda script: script.name)
def test_it_gives_the_recorded_ratios(
    script: scripts.Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MPLBACKEND", "agg")
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(script.text, script.name, "exec"), {"__name__": "__main__"})
    assert script.row.decision is not None
    sides = ("printed", "corrected")
    recorded = [(c["kind"], c[s]) for c in script.row.decision.checks for s in sides if c[s]]
    ends = re.findall(
        r"statement (\w+), ratio (\S+)\n    recorded in the book: (\S+)\n", shown.getvalue()
    )
    assert [outcome for outcome, *_ in ends] == [side["outcome"] for _, side in recorded]
    for (outcome, ratio, told), (kind, side) in zip(ends, recorded, strict=True):
        assert float(told) == float(side["ratio"])
        rounding = kind == "identity" and outcome == "accepted"  # differs between machines
        assert (
            rounding or float(told) < 1e-3 or float(ratio) == pytest.approx(float(told), rel=1e-3)
        )


def test_an_archive_holds_them_all_with_their_files(tmp_path: Path) -> None:
    scripts.write(SCRIPTS, ROOT, tmp_path)
    with zipfile.ZipFile(tmp_path / scripts.FOLDER / scripts.ARCHIVE) as archive:
        names = set(archive.namelist())
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
        assert script.row.decision is not None
        assert script.row.claim.id in "".join(cells[script.row.decision.cell - 1]["source"])
