"""Where things are in the repository, and the address at which it is published."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
LIBRARY = ROOT / "lib"
PACKAGE = "dpdynamics"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that an archive can hold
# What is left beside the pages by the builder, and differs from build to build.
LEFT_OUT = {".buildinfo", ".buildinfo.bak"}


def shown(path: Path) -> str:
    """Path as messages show it: relative to the repository where possible."""
    path = path.resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def pack(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Put a file into an archive with the same date and mode on every run."""
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    entry.create_system = 3
    archive.writestr(entry, content)


def build_library(source: Path, target: Path, kinds: tuple[str, ...], seconds: str) -> None:
    """Build the library's ``wheel`` or ``sdist`` from a copy of it, without a network."""
    code = "import sys, setuptools.build_meta as b; to, *kinds = sys.argv[1:]\n"
    code += "for kind in kinds: getattr(b, 'build_' + kind)(to)"
    result = subprocess.run(
        [sys.executable, "-c", code, str(target.resolve()), *kinds],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": seconds},
        capture_output=True,
        text=True,
    )
    if result.returncode:
        raise RuntimeError(f"the library was not packed: {result.stderr[-1000:]}")


def wheel(scratch: Path) -> Path:
    """Build the library's wheel from a copy, so that nothing is written beside the sources."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, scratch / name)
    shutil.copytree(
        LIBRARY, scratch / "lib", ignore=shutil.ignore_patterns("__pycache__", "*.egg*")
    )
    build_library(scratch, scratch / "wheel", ("wheel",), "0")
    return next((scratch / "wheel").glob("*.whl"))


def find_notebooks(paths: list[Path] | None = None) -> list[Path]:
    """Notebooks under the given files and folders (default: the book's), sorted by path."""
    found: set[Path] = set()
    for path in paths or [NOTEBOOKS]:
        if path.is_dir():
            found.update(p for p in path.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
        elif path.suffix == ".ipynb" and path.is_file():
            found.add(path)
        else:
            raise ValueError(f"paths: {path} is neither a folder nor an existing .ipynb file")
    return sorted(p.resolve() for p in found)


def repository_address(root: Path = ROOT) -> str:
    """Address at which the book is published, or "" when it has none.

    It is given once, as ``[project.urls] Repository`` in ``pyproject.toml``. The environment
    variable ``BOOK_REPOSITORY`` replaces it for one command.
    """
    urls = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    return os.environ.get("BOOK_REPOSITORY", urls.get("Repository", "")).strip().rstrip("/")
