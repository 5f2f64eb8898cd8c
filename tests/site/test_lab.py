"""What ``make lab`` opens: copies that JupyterLab can show, and its window with a chapter in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

from book_lab import ARCHIVE, HIDDEN, write
from nb.layout import ROOT

OPENED = ["notebooks/foundations/gaussian_divergence.ipynb", "notebooks/kan/separability.ipynb"]
NOT_FOR_LAB = re.compile(r"\{(claim|claimref|cite:[tp]|numref|doc)\}")
VERDICT = "application/vnd.dpdynamics.verdict+json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copies, with a data folder of their own for Jupyter's signatures."""
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_DATA_DIR", str(folder / ".jupyter"))
        assert write(ROOT, folder) == []
    return folder


def cells(path: Path, kind: str) -> list[nbformat.NotebookNode]:
    return [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == kind]


def test_copies_have_the_code_and_no_word_that_only_the_site_knows(folder: Path) -> None:
    copies = sorted(folder.glob("notebooks/*/*.ipynb"))
    assert len(copies) == len(list(ROOT.glob("notebooks/*/*.ipynb")))
    for copy in copies:
        code = cells(copy, "code")
        original = cells(ROOT / copy.relative_to(folder), "code")
        assert [c.source for c in code] == [c.source for c in original]
        assert all(
            bool(HIDDEN & set(c.metadata.get("tags", [])))
            == c.metadata.get("jupyter", {}).get("source_hidden", False)
            for c in code
        )
        left = [NOT_FOR_LAB.findall(c.source) for c in cells(copy, "markdown")]
        assert not any(left), copy.name


def test_a_changed_copy_stays_and_the_others_follow_their_chapters(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(folder / ".jupyter"))
    mine, other = folder / OPENED[0], folder / OPENED[1]
    before = mine.read_text("utf-8")
    mine.write_text(before.replace("# The R", "# My R", 1), "utf-8")
    other.unlink()
    assert write(ROOT, folder) == [OPENED[0]]
    assert other.is_file()
    assert "# My R" in mine.read_text("utf-8")
    mine.unlink()
    assert write(ROOT, folder) == []
    assert mine.read_text("utf-8") == before


def test_the_site_has_them_in_an_archive_with_all_that_they_need() -> None:
    with zipfile.ZipFile(ROOT / "_build" / "html" / ARCHIVE) as archive:
        names = set(archive.namelist())
        words = archive.read("README.txt").decode()
    notebooks = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("notebooks/*/*.ipynb")}
    library = {p.relative_to(ROOT).as_posix() for p in (ROOT / "lib").glob("dpdynamics/**/*.py")}
    assert notebooks | library | {"requirements.lock"} <= names
    assert any("/data/" in name for name in names)
    assert "pip install -r requirements.lock" in words
    assert "torch==" in words


@pytest.fixture(scope="module")
def lab(folder: Path) -> str:
    """The address of a JupyterLab that shows the copies."""
    code = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
    port = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    address = f"http://127.0.0.1:{port.stdout.strip()}"
    settings = {k: str(folder / ".jupyter") for k in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR")}
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port.stdout.strip()}"]
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jupyterlab",
            *options,
            "--IdentityProvider.token=",
            f"--ServerApp.root_dir={folder}",
        ],
        env={**os.environ, **settings, "JUPYTER_PREFER_ENV_PATH": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5).read()
                break
            except OSError:
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def test_a_chapter_opens_like_its_page_and_runs(lab: str, folder: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    for path in reversed(OPENED):
        page.goto(f"{lab}/lab/tree/{path}?reset", timeout=120_000)
        notebook = page.locator(".jp-Notebook")
        notebook.locator(".jp-RenderedMarkdown h1, h1").first.wait_for(timeout=120_000)
        page.wait_for_timeout(3000)
        seen: list[str] = []
        for _ in range(12):
            seen.append(notebook.inner_text())
            page.mouse.move(800, 500)
            page.mouse.wheel(0, 800)
            page.wait_for_timeout(300)
        words = "\n".join(seen)
        assert "Unknown Directive" not in words
        assert "{" + "claim" not in words
        assert "In this chapter" in words
        assert "Fig. " in words
        assert "import numpy" not in words
        assert notebook.locator("svg, img").count()
        assert notebook.locator("mjx-container, .katex").count()
    assert page.locator("text=Formgrader").count() == 0
    page.keyboard.press("Escape")
    page.click("text=Run >> visible=true")
    page.click("text=Run All Cells >> visible=true")
    target = folder / OPENED[0]
    for _ in range(240):
        page.wait_for_timeout(1000)
        page.keyboard.press("Control+s")
        try:
            done = cells(target, "code")
        except ValueError:  # it is being written
            continue
        if done[-1].execution_count:
            break
    assert [c.execution_count for c in done] == list(range(1, len(done) + 1))
    outputs = [output for c in done for output in c.outputs]
    assert any(VERDICT in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error"]
    page.close()
