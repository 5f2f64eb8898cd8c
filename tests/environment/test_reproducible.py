"""The comparison of two builds can fail.

``make reproducible`` builds the whole book twice; here two folders are compared, and the pages of
the small book of tests/site are built twice (``tests/site/test_small_book.py``).
"""

from __future__ import annotations

from pathlib import Path

import pytest

import reproducible
from reproducible import differences


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two equal folders."""
    pair = tmp_path / "one", tmp_path / "two"
    for folder in pair:
        (folder / "deep").mkdir(parents=True)
        (folder / "index.html").write_text("same")
        (folder / "deep" / "page.html").write_text("same")
    return pair


def test_equal_folders_do_not_differ(folders: tuple[Path, Path]) -> None:
    assert differences(*folders) == []


def test_a_changed_byte_and_a_lost_file_are_found(folders: tuple[Path, Path]) -> None:
    (folders[0] / "deep" / "page.html").write_text("some")
    (folders[1] / "more.html").write_text("")
    assert differences(*folders) == ["deep/page.html", "more.html"]


def test_two_empty_builds_do_not_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproducible, "render", lambda folder: folder / "html")
    assert reproducible.main(["--keep", str(tmp_path)]) == 1
    assert "nothing was built" in capsys.readouterr().out
    (tmp_path / "left").touch()
    with pytest.raises(SystemExit):
        reproducible.main(["--keep", str(tmp_path)])
