"""Two clean builds of the committed book, in two folders, compared file by file.

    python tools/reproducible.py [--keep FOLDER]

Clones the last commit twice, at paths of different length, renders both from their stored outputs
in this environment, and compares every file of ``_build/html`` byte for byte. The builder writes no
date (SOURCE_DATE_EPOCH). The exit status is 1 when a file differs, or when nothing was built.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nb.layout import ROOT

BUILD = "from jupyter_book.cli.main import main; main()"
OPTIONS = ["build", ".", "--all", "-W", "-n", "--keep-going", "-q"]


def differences(first: Path, second: Path) -> list[str]:
    """Names of files that two folders do not share, or that differ."""
    names = [
        {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
        for folder in (first, second)
    ]
    both = names[0] & names[1]
    differ = {name for name in both if (first / name).read_bytes() != (second / name).read_bytes()}
    return sorted(differ | (names[0] ^ names[1]))


def render(folder: Path) -> Path:
    """Clone the last commit and render it; return the folder of its pages."""
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(folder)], check=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0", "PYTHONHASHSEED": "0"}
    environment["MATPLOTLIBRC"] = str(folder / "lib" / "matplotlibrc")
    environment["PYTHONPATH"] = str(folder / "lib")
    subprocess.run([sys.executable, "-c", BUILD, *OPTIONS], cwd=folder, env=environment, check=True)
    return folder / "_build" / "html"


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, help="an empty folder for both builds, to look at")
    given = parser.parse_args(arguments)
    if given.keep and given.keep.is_dir() and any(given.keep.iterdir()):
        parser.error(f"--keep: {given.keep} is not empty")
    with tempfile.TemporaryDirectory() as scratch:
        base = given.keep or Path(scratch)
        pages = []
        for place in ("one", "another/place/of/the/same/commit"):
            started = time.perf_counter()
            pages.append(render(base.resolve() / place))
            print(f"built in {time.perf_counter() - started:.0f} s: {place}", flush=True)
        differ = differences(*pages)
        total = sum(p.is_file() for p in pages[0].rglob("*"))
    for name in differ:
        print(f"differs: {name}")
    print(f"{total} files, {len(differ)} differ." if total else "nothing was built")
    return int(bool(differ) or not total)


if __name__ == "__main__":
    sys.exit(main())
