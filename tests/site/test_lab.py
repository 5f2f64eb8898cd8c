"""What ``make lab`` opens: copies that JupyterLab can show, and its window with a chapter in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from book_lab import ARCHIVE, HIDDEN, Book, write
from nb.layout import ROOT

CHANGES = {  # chapters to open, run and change: cell after cell, what is replaced by what
    "notebooks/foundations/privacy_as_divergence.ipynb": [
        ('"noise": 2.0', '"noise": 1.0'),
    ],
    "notebooks/adaptive/descent_lemmas.ipynb": [
        ("values=student_edge[2:],\n    printed=-1.5", "values=student_edge[2:],\n    printed=0.0"),
        ('verdict(\n    "anon2025.lemA.2"', 'verdict(\n    "anon2025.lemA.2"'),
    ],
}
ANSWERS = [
    "Control “noise twice as large” is the statement itself: the check treats both alike",
    "The corrected statement is the printed one: nothing is corrected.",
]
OPENED = [*CHANGES]
# What jupyterlab-myst 2.7 shows of what the chapters use; any other is an error in its window.
DIRECTIVES = {"admonition", "dropdown", "exercise", "solution"}
DIRECTIVES |= {f"prf:{kind}" for kind in ("algorithm", "corollary", "definition", "lemma")}
DIRECTIVES |= {f"prf:{kind}" for kind in ("proof", "proposition", "theorem")}
ROLES = {"eq", "ref", "prf:ref"}
LABEL = re.compile(r"^\((\S+)\)=$|^:label: (\S+)$|^\$\$ \((\S+)\)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^()\s#]*\.ipynb)?(?:#([^()\s]+))?\)")
VERDICT = "application/vnd.dpdynamics.verdict+json"


def prepare(folder: Path, *named: str) -> subprocess.CompletedProcess[str]:
    """Do what ``make lab`` does first, with a data folder of its own for Jupyter's signatures."""
    script = ROOT / "book" / "extensions" / "book_lab.py"
    return subprocess.run(
        [sys.executable, str(script), str(folder), *named],
        env={**os.environ, "JUPYTER_DATA_DIR": str(folder / ".jupyter")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copies."""
    folder = tmp_path_factory.mktemp("lab")
    done = prepare(folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "notebooks/foundations/privacy_as_divergence.ipynb\n"  # it is opened
    return folder


def test_a_chapter_that_there_is_not_opens_nothing(tmp_path: Path) -> None:
    wrong = prepare(tmp_path, "kan/curvature")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "kan/curvature: no such chapter; name one as in NB=" in wrong.stderr


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


def test_copies_have_no_directive_role_or_link_that_lab_does_not_know(folder: Path) -> None:
    copies = sorted(folder.glob("notebooks/*/*.ipynb"))
    texts = {c: "\n\n".join(cell.source for cell in cells(c, "markdown")) for c in copies}
    labels = {c: {a or b or d for a, b, d in LABEL.findall(text)} for c, text in texts.items()}
    linked = set()
    for copy, text in texts.items():
        assert set(re.findall(r"^ *[`:]{3,}\{([^}]+)\}", text, re.MULTILINE)) <= DIRECTIVES, copy
        roles = re.findall(r"\{([\w:]+)\}`(?:[^`<]*<)?([^`<>]+)>?`", text)
        assert {role for role, _ in roles} <= ROLES, copy
        assert {target for _, target in roles} <= labels[copy], copy
        for path, label in LINK.findall(text):
            other = (copy.parent / path).resolve() if path else copy
            assert other in texts, (copy, path)
            assert not label or label in labels[other], (copy, path, label)
            linked.add(label.partition("-")[0])
    assert {"claim", "cite", "fig"} <= linked
    desk = texts[folder / "notebooks" / "synthesis" / "practitioner.ipynb"]
    assert "desk.spent_epsilon(" in desk
    assert "`dpdynamics epsilon --noise" in desk


def test_a_changed_copy_stays_and_the_others_follow_their_chapters(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(folder / ".jupyter"))
    mine, other = folder / OPENED[0], folder / OPENED[1]
    before = mine.read_text("utf-8")
    mine.write_text(before.replace("# Privacy", "# My privacy", 1), "utf-8")
    other.unlink()
    named = prepare(folder, OPENED[1])
    assert (named.returncode, named.stdout) == (0, f"{OPENED[1]}\n")  # which is opened
    assert named.stderr.startswith(f"{OPENED[0]}: you changed it, so it stays")
    assert other.is_file()
    assert "# My privacy" in mine.read_text("utf-8")
    mine.unlink()
    assert write(Book(ROOT), folder) == []
    assert mine.read_text("utf-8") == before


def test_the_site_has_them_in_an_archive_with_all_that_they_need() -> None:
    with zipfile.ZipFile(ROOT / "_build" / "html" / ARCHIVE) as archive:
        names = set(archive.namelist())
        words = archive.read("README.txt").decode()
    notebooks = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("notebooks/*/*.ipynb")}
    wheel = next(name for name in names if name.endswith(".whl"))
    assert notebooks | {"requirements.lock"} <= names
    assert not any(name.startswith("lib/") for name in names)
    assert any("/data/" in name for name in names)
    assert "pip install -r requirements.lock" in words
    assert "torch==" in words
    assert f"pip install --no-deps --no-index ./{wheel}" in words
    page = (ROOT / "book" / "reading.md").read_text("utf-8")
    commands = re.findall(r"python -m pip install [^`\n]+", page)
    assert len(commands) == 3
    assert all(c.replace("dpdynamics-*.whl", wheel) in words for c in commands)


RUN_ALONE = """
import sys, nbformat, dpdynamics
from nbclient import NotebookClient
assert dpdynamics.__file__.startswith(sys.prefix), dpdynamics.__file__
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
print(sum("%s" in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", [])))
"""


def test_a_notebook_of_the_archive_runs_alone_with_the_wheel(tmp_path: Path) -> None:
    """In a fresh environment, which sees our packages but not our library, with no network."""
    with zipfile.ZipFile(ROOT / "_build" / "html" / ARCHIVE) as archive:
        archive.extractall(tmp_path / "unpacked")
    alone, fresh = tmp_path / "alone", tmp_path / "fresh"
    alone.mkdir()
    notebook = alone / "chapter.ipynb"
    notebook.write_bytes((tmp_path / "unpacked" / OPENED[1]).read_bytes())
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(fresh)], check=True)
    python = str(fresh / "bin" / "python")
    words = (tmp_path / "unpacked" / "README.txt").read_text("utf-8")
    line = words.splitlines()[-1].split("pip install ")[1]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", *line.split()],
        cwd=tmp_path / "unpacked",
        check=True,
    )
    packages = sysconfig.get_path("purelib")
    site = next((fresh / "lib").glob("python*/site-packages"))
    (site / "ours.pth").write_text(packages, "utf-8")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MATPLOTLIBRC")}
    done = subprocess.run(
        [python, "-c", RUN_ALONE % VERDICT, str(notebook)],
        cwd=alone,
        env=environment | {"JUPYTER_PREFER_ENV_PATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    stored = [o for c in cells(notebook, "code") for o in c.outputs]
    assert int(done.stdout) == sum(VERDICT in o.get("data", {}) for o in stored) > 0


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


@pytest.fixture
def window(lab: str, browser: Any) -> Any:
    """A page of the browser."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


def not_run(path: Path) -> None:
    """Take the numbers from executed cells, so that a run can be seen; keep and trust outputs."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = None
    nbformat.write(notebook, path)
    NotebookNotary().sign(notebook)


@pytest.mark.parametrize("path", OPENED)
def test_a_chapter_reads_like_its_page_runs_and_answers_a_change(
    lab: str, folder: Path, window: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = folder / path
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(folder / ".jupyter"))
    not_run(target)
    window.goto(f"{lab}/lab/tree/{path}?reset", timeout=120_000)
    notebook = window.locator(".jp-Notebook")
    notebook.locator(".jp-RenderedMarkdown h1, h1").first.wait_for(timeout=120_000)
    found = notebook.locator("a.hover-link")  # a link to a label that Lab has found
    found.first.wait_for(state="attached", timeout=120_000)
    window.wait_for_timeout(3000)
    seen: list[str] = []
    for _ in range(12):
        seen.append(notebook.inner_text())
        window.mouse.move(800, 500)
        window.mouse.wheel(0, 800)
        window.wait_for_timeout(300)
    words = "\n".join(seen)
    assert "Unknown Directive" not in words
    assert "{" + "claim" not in words
    assert "Fig. " in words
    assert "import numpy" not in words
    assert notebook.locator("svg, img").count()
    assert notebook.locator("mjx-container, .katex").count()
    assert window.locator("text=Formgrader").count() == 0
    window.keyboard.press("Escape")
    window.click("text=Run >> visible=true")
    window.click("text=Run All Cells >> visible=true")
    for _ in range(240):
        window.wait_for_timeout(1000)
        window.keyboard.press("Control+s")
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
    every = nbformat.read(target, as_version=4).cells
    for before, after in CHANGES[path]:
        [place] = [k for k, c in enumerate(every) if before in c.source]
        cell = notebook.locator(".jp-Cell").nth(place)
        cell.locator(".jp-InputPlaceholder").click()  # unfolds the code
        cell.locator(".cm-content").click()
        window.keyboard.press("Control+a")
        window.keyboard.insert_text(every[place].source.replace(before, after, 1))
        window.keyboard.press("Control+Enter")
    answer = cell.locator(".dpd-verdict", has_text=ANSWERS[OPENED.index(path)])
    answer.wait_for(timeout=120_000)
    assert "undecided" in answer.inner_text()
