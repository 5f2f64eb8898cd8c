"""``make check`` chooses the tests of the rooms in which files changed, and always the gate."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import touched

ROOMS = [path.parent.name for path in touched.ROOT.glob("lib/dpdynamics/*/__init__.py")]


@pytest.mark.parametrize(
    ("file", "folders", "called"),
    [
        ("lib/dpdynamics/kan/training.py", ["environment", "kan"], ["kan."]),
        (
            "lib/dpdynamics/arguments.py",
            ["arguments", "environment", *ROOMS],
            [f"{room}." for room in ROOMS],
        ),
        ("tests/dynamics/test_sde.py", ["dynamics"], []),
        ("tests/valid_calls/desk.py", [], ["desk."]),
        ("tests/valid_calls/calls.py", [], [f"{room}." for room in ROOMS]),
        ("book/reading.md", ["furniture"], []),
        ("book/claims/lin2025.yml", ["ledger"], []),
        ("book/extensions/book_course/plans.py", ["course"], []),
        ("course/plan/rates.yml", ["course"], []),
        ("tools/coursework/trial.py", ["course"], []),
        ("notebooks/kan/curvature.ipynb", ["notebooks"], []),
        ("Makefile", ["environment", "furniture"], []),
        ("README.md", ["environment"], []),
    ],
)
def test_a_file_has_the_tests_of_its_room(file: str, folders: list, called: list) -> None:
    (first, *chosen), *mistakes = touched.runs([file], ROOMS)
    assert first == touched.GATE
    assert chosen == [f"tests/{folder}" for folder in sorted(folders)]
    words = [arguments[-1].split(" or ") for arguments in mistakes]
    assert words == ([["has_a_valid_call", *sorted(called)]] if called else [])


def test_without_a_change_the_gate_alone_is_run() -> None:
    assert touched.runs([], ROOMS) == [[touched.GATE]]


def test_every_file_of_the_repository_has_tests() -> None:
    known = subprocess.check_output(["git", "ls-files"], cwd=touched.ROOT, text=True).splitlines()
    folders = {folder for found in touched.TESTS.values() for folder in found} | set(ROOMS)
    for file in known:
        (_, *chosen), *mistakes = touched.runs([file], ROOMS)
        assert chosen or mistakes, file
    assert all((touched.ROOT / "tests" / folder).is_dir() for folder in folders)
    assert (touched.ROOT / touched.GATE.partition("::")[0]).is_file()


def test_changes_are_seen_committed_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)

    monkeypatch.setattr(touched, "ROOT", tmp_path)
    git("init", "-q", "-b", "main")
    for name in ("kept", "edited"):
        (tmp_path / name).write_text("old")
    git("add", ".")
    git("commit", "-q", "-m", "First")
    git("switch", "-q", "-c", "branch")
    (tmp_path / "committed").write_text("new")
    git("add", ".")
    git("commit", "-q", "-m", "Second")
    (tmp_path / "edited").write_text("new")
    (tmp_path / "unknown").write_text("new")
    assert touched.changed("main") == ["committed", "edited", "unknown"]
    assert touched.changed("HEAD") == ["edited", "unknown"]
