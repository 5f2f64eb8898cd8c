"""The course from the command line: student versions, and the grading of what was handed in.

    python tools/course.py release [NAME ...]              student versions, and their archive
    python tools/course.py grade FOLDER                    collect, grade, feedback, tables
    python tools/course.py marks FILE                      enter marks given by hand

Everything is written to one folder (--folder, default _build/course) and nothing elsewhere.
The exit status is 1 when something could not be graded or looks like a forgery.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from nbgrader.converters.base import NbGraderException

from coursework import grading, sources
from coursework.release import archive, logged, release_all
from nb.layout import ROOT, shown


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def release(folder: Path, names: list[str]) -> int:
    """Student versions of some assignments (default: all)."""
    with logged(folder):
        assignments = [sources.Assignment(name) for name in names]
        release_all(folder, assignments, say)
    say(f"Student versions:  {shown(folder / 'release')}/NAME/NAME.ipynb")
    if names == sources.names():
        say(f"For students:      {shown(archive(folder, names))}")
    return 0


def grade(folder: Path, handed_in: Path) -> int:
    """Grade a folder of notebooks; 1 if one could not be graded."""
    released = sources.names(folder)
    with logged(folder):
        new = [n for n in sources.names() if n not in released]
        changed = [
            name
            for name in released
            if sources.Assignment(name).path.is_file()
            and sources.Assignment(name, folder).path.read_bytes()
            != sources.Assignment(name).path.read_bytes()
        ]
        if new:
            say("Preparing assignments that were not released yet:")
            release_all(folder, [sources.Assignment(name) for name in new], say)
        if changed:
            say(f"Changed since they were released, graded as released: {', '.join(changed)}")
        ours = [sources.Assignment(name, folder) for name in sources.names(folder)]
        try:
            complaints = grading.grade_all(folder, handed_in, ours, say)
        except BaseException:
            _finish(folder, [f"{handed_in}: grading broke off; run the same command again"])
            raise
    return _finish(folder, complaints)


def marks(folder: Path, file: Path) -> int:
    """Enter marks given by hand, and renew the pages of those concerned; 1 if one could not be."""
    complaints = []
    with logged(folder):
        changed = grading.enter_marks(folder, file)
        for number, (student, assignment) in enumerate(sorted(changed), start=1):
            say(f"[{number}/{len(changed)}] {student}  {assignment}")
            try:
                grading.feedback(folder, student, assignment)
            except NbGraderException:
                complaints.append(f"{student}, {assignment}: the marks are entered; no page")
    return _finish(folder, complaints)


def _finish(folder: Path, complaints: list[str]) -> int:
    say("")
    for line in grading.export(folder):
        say(line)
    say("")
    say(f"Points:            {shown(folder)}/grades.csv, tasks.csv")
    say(f"To mark by hand:   {shown(folder)}/marks.csv (fill it in, then `make grade MARKS=...`)")
    say(f"For the students:  {shown(folder)}/feedback/STUDENT/NAME/NAME.html")
    for complaint in complaints:
        print(f"LOOK AT {complaint}", file=sys.stderr)
    return int(bool(complaints))


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "_build" / "course")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("release").add_argument("names", nargs="*")
    commands.add_parser("grade").add_argument("handed_in", type=Path)
    commands.add_parser("marks").add_argument("file", type=Path)
    given = parser.parse_args(arguments)
    folder = given.folder.resolve()
    if given.command == "release":
        unknown = [name for name in given.names if name not in sources.names()]
        if unknown:
            parser.error(f"no assignment {unknown[0]}; there are: {', '.join(sources.names())}")
        return release(folder, sorted(given.names) or sources.names())
    if given.command == "grade" and not given.handed_in.is_dir():
        parser.error(f"{given.handed_in} is no folder")
    if given.command == "marks" and not given.file.is_file():
        parser.error(f"{given.file} is no file")
    try:
        if given.command == "grade":
            return grade(folder, given.handed_in.resolve())
        return marks(folder, given.file)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
