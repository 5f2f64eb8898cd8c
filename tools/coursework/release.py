"""Student versions and the archive for students, equal byte for byte on every run."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import traitlets.log
import yaml
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from coursework.sources import COURSE, Assignment
from nb.layout import LEFT_OUT, ROOT, pack, wheel

ARCHIVE = "course.zip"
NOTES = COURSE / "handout.md"
SITE = ROOT / "_build" / "html"


def configuration(folder: Path) -> Config:
    """nbgrader's settings for a course that is kept in a folder."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(COURSE)).load_config()
    config.CourseDirectory.root = str(folder.resolve())
    return config


def convert(
    kind: type[BaseConverter],
    folder: Path,
    assignment: str,
    student: str = "*",
    config: Config | None = None,
) -> BaseConverter:
    """Run one of nbgrader's converters on one assignment, with the course's settings or others.

    Raises
    ------
    nbgrader.converters.base.NbGraderException
        If it failed; the reason stands in ``nbgrader.log``.
    """
    config = config or configuration(folder)
    course = CourseDirectory(config=config)
    course.assignment_id, course.student_id = assignment, student
    converter = kind(coursedir=course, config=config, force=True)
    converter.start()
    return converter


@contextmanager
def logged(folder: Path) -> Iterator[None]:
    """Send what nbgrader says to a file instead of the terminal, and let it find its own tools."""
    folder.mkdir(parents=True, exist_ok=True)
    log = traitlets.log.get_logger()
    handlers, level, passes = list(log.handlers), log.level, log.propagate
    handler = logging.FileHandler(folder / "nbgrader.log", encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.WARNING)
    search = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), search])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)
            yield
    finally:
        os.environ["PATH"] = search
        handler.close()
        log.handlers, log.propagate = handlers, passes
        log.setLevel(level)


def release(folder: Path, assignment: Assignment) -> Path:
    """Make the student version of one assignment; enter its cells and points in the gradebook."""
    source = folder / "source" / assignment.name
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    shutil.copyfile(assignment.path, source / assignment.path.name)
    convert(GenerateAssignment, folder, assignment.name, ".")
    path = folder / "release" / assignment.name / f"{assignment.name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return path


def release_all(folder: Path, assignments: list[Assignment], report: Callable[[str], None]) -> None:
    """Release some assignments with progress."""
    for number, assignment in enumerate(assignments, start=1):
        release(folder, assignment)
        points = sum(assignment.points.values())
        report(f"[{number}/{len(assignments)}] {assignment.name}  {points:g} points")
    _leave_settings(folder)
    _leave_notes(folder)


def _leave_notes(folder: Path) -> None:
    """What to look for when marking, for the instructor; it stands in no page and no archive."""
    plans = [yaml.safe_load(path.read_text("utf-8")) for path in sorted(COURSE.glob("plan/*.yml"))]
    notes = [f"## {plan['chapter']}\n\n{plan['marking'].strip()}\n" for plan in plans]
    limits = (COURSE / "grading.md").read_text("utf-8")
    (folder / "marking.md").write_text("\n".join(["# Notes on marking\n", limits, *notes]), "utf-8")


def _leave_settings(folder: Path) -> None:
    """A settings file for nbgrader's own commands, run in the course's folder."""
    lines = [
        "# Made by `make course`: the settings of the course, for nbgrader run in this folder.",
        "c = get_config()",
        f'load_subconfig("nbgrader_config.py", path={str(COURSE)!r})',
        f"c.CourseDirectory.root = {str(folder.resolve())!r}",
    ]
    (folder / "nbgrader_config.py").write_text("\n".join(lines) + "\n", "utf-8")


def archive(folder: Path, names: list[str]) -> Path:
    """Put into one archive what students need, and nothing else.

    Student versions, instructions, the library as a wheel, the packages that it was tested with,
    and the rendered book if there is one.
    """
    path = folder / ARCHIVE
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        pack(packed, "course/README.md", NOTES.read_bytes())
        pack(packed, "course/requirements.lock", (ROOT / "requirements.lock").read_bytes())
        for name in sorted(names):
            file = folder / "release" / name / f"{name}.ipynb"
            pack(packed, f"course/assignments/{name}.ipynb", file.read_bytes())
        with TemporaryDirectory() as scratch:
            built = wheel(Path(scratch))
            pack(packed, f"course/library/{built.name}", built.read_bytes())
        for file in sorted(SITE.rglob("*")):
            if file.is_file() and file.name not in LEFT_OUT:
                pack(packed, f"course/book/{file.relative_to(SITE)}", file.read_bytes())
    return path
