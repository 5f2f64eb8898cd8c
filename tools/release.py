"""A release of the book: everything that a reader or a library keeps, with checksums.

    python tools/release.py [--dirty]

Writes ``_build/release/``: the source, the rendered book, the PDF, the ledger, the library as wheel
and sdist, the student versions of the course, a letter to the authors of each paper,
``MANIFEST.json`` and ``SHA256SUMS``. The archives of one commit are equal byte for byte. Refuses a
tree with changes that are not committed, unless told ``--dirty``: source and library are then those
of the commit, the rest as it was built. The exit status is 1 when something is missing, or the PDF
is older than the pages.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import platform
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from nb.layout import LEFT_OUT, ROOT, build_library, pack
from paper.typeset import chromium

BUILD = ROOT / "_build"


def git(*arguments: str) -> bytes:
    """Output of git in the repository."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def pack_source(target: Path, name: str) -> None:
    """Archive of the committed files, without the time of packing."""
    git("archive", "--format=tar.gz", f"--prefix={name}/", f"--output={target.resolve()}", "HEAD")


def pack_folder(folder: Path, target: Path, name: str) -> None:
    """Zip archive of a folder: sorted names, one date, one mode."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            if path.name not in LEFT_OUT:
                inside = f"{name}/{path.relative_to(folder).as_posix()}"
                pack(archive, inside, path.read_bytes())


def pack_library(target: Path, source: Path, scratch: Path) -> None:
    """Build wheel and sdist from the packed source, without a network."""
    with tarfile.open(source) as archive:
        archive.extractall(scratch, filter="data")
    folder = next(scratch.iterdir())
    seconds = git("log", "-1", "--format=%ct").decode().strip()
    build_library(folder, target, ("wheel", "sdist"), seconds)
    for path in target.glob("*.tar.gz"):
        if path != source and path.name.startswith("dpdynamics"):
            repack(path, int(seconds))


def repack(path: Path, seconds: int) -> None:
    """Write a gzipped tar archive again: sorted, one date, one owner."""
    scratch = path.with_suffix(".again")
    with (
        tarfile.open(path) as old,
        scratch.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda m: m.name):
            member.mtime, member.uid, member.gid = seconds, 0, 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    scratch.replace(path)


def browser_version() -> str:
    """What the installed Chromium says of itself, "" without one."""
    executable = chromium()
    if executable is None:
        return ""
    return subprocess.run(
        [executable, "--version"], capture_output=True, text=True, check=False
    ).stdout.strip()


def manifest(folder: Path, version: str, dirty: bool) -> dict[str, Any]:
    """What was released, and what made it."""
    packages = {d.metadata["Name"]: d.version for d in distributions()}
    return {
        "name": "Private Dynamics",
        "version": version,
        "commit": git("rev-parse", "HEAD").decode().strip(),
        "date": git("log", "-1", "--format=%cI").decode().strip(),
        "uncommitted_changes": dirty,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "chromium": browser_version(),
        "packages": dict(sorted(packages.items(), key=lambda p: p[0].lower())),
        "verdicts": json.loads((folder / "ledger.json").read_text("utf-8"))["counts"]["all"],
        "files": {p.name: p.stat().st_size for p in sorted(folder.iterdir())},
    }


def checksums(folder: Path) -> str:
    """Lines that ``sha256sum -c`` understands."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files)


def release(build: Path, dirty: bool) -> list[str]:
    """Write ``release/`` in a build folder; return what is missing."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    name = f"private-dynamics-{version}"
    target, scratch = build / "release", build / ".release-scratch"
    for folder in (target, scratch):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    source = target / f"{name}-source.tar.gz"
    missing = []
    pack_source(source, f"{name}-source")
    pack_library(target, source, scratch)
    shutil.rmtree(scratch)
    if (build / "html").is_dir():
        pack_folder(build / "html", target / f"{name}-html.zip", f"{name}-html")
    else:
        missing.append("html")
    printed, page = build / "private-dynamics.pdf", build / "html" / "ledger.json"
    if printed.is_file() and page.is_file() and printed.stat().st_mtime < page.stat().st_mtime:
        missing.append("private-dynamics.pdf (there is one, older than the pages)")
    letters = sorted((build / "letters").glob("letter-*.md"))
    for letter in letters:
        shutil.copyfile(letter, target / letter.name)
    if not letters:
        missing.append("letters")
    for file, new in {
        "private-dynamics.pdf": f"{name}.pdf",
        "html/ledger.json": "ledger.json",
        "course/course.zip": f"{name}-course.zip",
    }.items():
        if (build / file).is_file():
            shutil.copyfile(build / file, target / new)
        else:
            missing.append(file)
    if not missing:
        text = json.dumps(manifest(target, version, dirty), indent=2, ensure_ascii=False)
        (target / "MANIFEST.json").write_text(text + "\n", "utf-8")
        (target / "SHA256SUMS").write_text(checksums(target), "utf-8")
    return missing


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dirty", action="store_true", help="also with uncommitted changes")
    parser.add_argument("--check", action="store_true", help="only look whether all is committed")
    parser.add_argument("--build", type=Path, default=BUILD, help="folder of what was built")
    given = parser.parse_args(arguments)
    changes = git("status", "--porcelain").decode()
    if changes and not given.dirty:
        print(f"Not committed (DIRTY=1 releases all the same):\n{changes}", file=sys.stderr)
        return 1
    if given.check:
        return 0
    missing = release(given.build, bool(changes))
    for name in missing:
        print(f"missing: {name}", file=sys.stderr)
    if missing:
        return 1
    for line in (given.build / "release" / "SHA256SUMS").read_text("utf-8").splitlines():
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
