"""A release on a small scale: archives without dates, a manifest, checksums that can fail."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import dpdynamics
import release
from nb.layout import EPOCH, ROOT


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed repository with the smallest library and what was built from it."""
    root = tmp_path / "repository"
    (root / "lib" / "dpdynamics").mkdir(parents=True)
    (root / "lib" / "dpdynamics" / "__init__.py").write_text('"""Nothing."""\n')
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "dpdynamics"\nversion = "3.1.4"\n'
        '[tool.setuptools.packages.find]\nwhere = ["lib"]\n'
    )
    (root / ".gitignore").write_text("/_build/\n*.egg-info/\n")
    monkeypatch.setattr(release, "ROOT", root)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
        monkeypatch.setenv(f"GIT_{name}_DATE", "2020-02-02T00:00:00Z")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
        release.git(*command)
    ledger = {"counts": {"all": {"claims": 3, "holds": 2, "assumed": 1}}}
    files = {
        "html/index.html": "<h1>Book</h1>",
        "html/deep/page.html": "page",
        "html/.buildinfo": "of this machine",
        "html/ledger.json": json.dumps(ledger),
        "letters/letter-test2025.md": "Dear authors,",
        "private-dynamics.pdf": "%PDF",
        "course/course.zip": "zip",
    }
    for name, text in files.items():
        (root / "_build" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "_build" / name).write_text(text)
    return root


def sums(root: Path) -> dict[str, str]:
    lines = (root / "_build" / "release" / "SHA256SUMS").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def test_a_release_is_complete_and_repeatable(repository: Path) -> None:
    assert release.release(repository / "_build", dirty=False) == []
    first = sums(repository)
    name = "private-dynamics-3.1.4"
    assert set(first) == {
        f"{name}-source.tar.gz",
        f"{name}-html.zip",
        f"{name}.pdf",
        f"{name}-course.zip",
        "ledger.json",
        "letter-test2025.md",
        "dpdynamics-3.1.4-py3-none-any.whl",
        "dpdynamics-3.1.4.tar.gz",
        "MANIFEST.json",
    }
    for path in (repository / "_build" / "html").rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    assert release.release(repository / "_build", dirty=False) == []
    assert sums(repository) == first


def test_the_archives_hold_the_book(repository: Path) -> None:
    release.release(repository / "_build", dirty=False)
    folder = repository / "_build" / "release"
    with zipfile.ZipFile(folder / "private-dynamics-3.1.4-html.zip") as archive:
        names = archive.namelist()
        assert {i.date_time for i in archive.infolist()} == {EPOCH}
        assert {i.external_attr >> 16 for i in archive.infolist()} == {0o644}
    assert names == sorted(names)
    assert not [n for n in names if n.endswith(".buildinfo")]
    assert "private-dynamics-3.1.4-html/deep/page.html" in names
    with tarfile.open(folder / "private-dynamics-3.1.4-source.tar.gz") as archive:
        assert "private-dynamics-3.1.4-source/pyproject.toml" in archive.getnames()
        assert not [n for n in archive.getnames() if "_build" in n]
    manifest = json.loads((folder / "MANIFEST.json").read_text())
    assert manifest["version"] == "3.1.4"
    assert manifest["verdicts"] == {"claims": 3, "holds": 2, "assumed": 1}
    assert manifest["commit"] == release.git("rev-parse", "HEAD").decode().strip()
    assert manifest["files"]["ledger.json"] == (folder / "ledger.json").stat().st_size
    assert manifest["packages"]["numpy"]


def test_the_checksums_can_fail(repository: Path) -> None:
    release.release(repository / "_build", dirty=False)
    folder = repository / "_build" / "release"
    command = ["sha256sum", "--quiet", "-c", "SHA256SUMS"]
    assert subprocess.run(command, cwd=folder, check=False).returncode == 0
    (folder / "ledger.json").write_text("{}")
    spoiled = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert spoiled.returncode != 0


@pytest.mark.parametrize("lost", ["private-dynamics.pdf", "course/course.zip"])
def test_a_release_without_a_part_is_refused(
    repository: Path, lost: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "_build" / lost).unlink()
    assert release.main(["--build", str(repository / "_build")]) == 1
    assert f"missing: {lost}" in capsys.readouterr().err
    assert not (repository / "_build" / "release" / "SHA256SUMS").exists()


def test_changes_that_are_not_committed_are_refused(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release.main(["--check"]) == 0
    (repository / "more.txt").write_text("new")
    build = ["--build", str(repository / "_build")]
    for arguments in (["--check"], build):
        assert release.main(arguments) == 1
        assert "more.txt" in capsys.readouterr().err
    assert not (repository / "_build" / "release").exists()
    assert release.main(["--check", "--dirty"]) == 0
    for arguments, dirty in ((["--dirty"], True), ([], False)):
        if not dirty:
            (repository / "more.txt").unlink()
        assert release.main([*build, *arguments]) == 0
        manifest = json.loads((repository / "_build" / "release" / "MANIFEST.json").read_text())
        assert manifest["uncommitted_changes"] is dirty


def test_a_pdf_of_older_pages_is_refused(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.utime(repository / "_build" / "private-dynamics.pdf", (1_600_000_000, 1_600_000_000))
    assert release.main(["--build", str(repository / "_build")]) == 1
    assert "older than the pages" in capsys.readouterr().err


def test_the_version_of_the_book_is_the_library_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == dpdynamics.__version__
