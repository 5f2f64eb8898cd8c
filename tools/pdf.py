"""The book as one PDF: the pages in _build/html, printed and checked.

It is ``_build/private-dynamics.pdf``. The exit status is 1 when browser or check find a fault.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import matplotlib
import yaml

from nb.layout import ROOT
from paper.assemble import Assembly, Imprint, book_pages
from paper.check import check
from paper.finish import finish, printed
from paper.typeset import Press, browser, chromium

SITE = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "private-dynamics.pdf"
SUBTITLE = "Differentially private SGD, theorem by theorem"


def git(*arguments: str) -> str:
    """Answer of git, "" outside a repository."""
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""


def imprint() -> tuple[Imprint, int]:
    """What the title page says, and the time of the commit in seconds since 1970."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    seconds = int(git("log", "-1", "--format=%ct") or 0)
    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    changed = " with changes" if git("status", "--porcelain") else ""
    day = datetime.fromtimestamp(seconds, UTC)
    date = f"{day.day} {day:%B %Y}"
    names = config["title"], SUBTITLE, config["author"], project["version"]
    return Imprint(*names, commit + changed, date), seconds


def make(
    site: Path,
    pages: list[tuple[str, str]],
    target: Path,
    press: Press,
    say: Callable[[str], None] = lambda words: None,
) -> list[str]:
    """Print some pages of a site; return what the browser found at fault."""
    started = time.perf_counter()

    def tell(words: str) -> None:
        say(f"{time.perf_counter() - started:6.1f} s  {words}")

    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    assembly = Assembly(site, pages)
    names, seconds = imprint()
    tell(f"{len(pages)} pages of the book joined")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "print.html"
        front = Path(folder) / "front.pdf"
        parts, numbers = [front], dict[str, int]()
        source.write_text(assembly.front(names, fonts), "utf-8")
        press.print(source, front, 0)
        first = before = printed(front)[0]
        for chapter in assembly.chapters:
            part = Path(folder) / f"{len(parts)}.pdf"
            parts.append(part)
            source.write_text(assembly.chapter(chapter, fonts), "utf-8")
            press.print(source, part, before)
            count, places = printed(part)
            numbers |= {name: page + before for name, page in places.items()}
            before += count
            tell(f"{before:5} pages, with {chapter.head}")
        source.write_text(assembly.front(names, fonts), "utf-8")
        press.print(source, front, 0, numbers)
        if printed(front)[0] != first:
            raise RuntimeError("the page numbers in the contents moved the pages")
        finish(parts, target, assembly.entries, names, seconds)
        tell(f"joined: {target.stat().st_size / 1e6:.1f} MB, by Chromium {press.version}")
        return press.faults


def main() -> int:
    """Entry point; returns the exit status."""

    def say(words: str) -> None:
        print(words, flush=True)

    if chromium() is None:
        sys.exit("Chromium or Chrome is needed to print the book, and none is installed")
    pages = list(book_pages(ROOT))
    with browser() as running:
        faults = make(SITE, pages, TARGET, Press(running), say)
    faults += check(TARGET, SITE, pages)
    for fault in faults:
        say(f"FAULT {fault}")
    say(f"{TARGET}: {len(faults)} faults." if faults else f"{TARGET}: no fault found.")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
