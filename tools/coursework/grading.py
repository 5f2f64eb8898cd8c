"""Collect what was handed in, grade it, enter marks given by hand, export points and pages.

Everything lies in the folder of the course: ``submitted/STUDENT/NAME/NAME.ipynb``, the same below
``autograded`` and ``feedback``, ``gradebook.db``, and three tables. ``grades.csv`` has a line per
student and assignment, ``tasks.csv`` a line per task; ``marks.csv`` lists what waits to be marked
by hand: fill in the columns ``points`` and ``comment`` and give the file to the next run.
"""

from __future__ import annotations

import csv
import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader.api import Grade, Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import NbGraderException

from coursework.feedback import only_pages
from coursework.release import configuration, convert
from coursework.sources import Assignment, kind_of

Report = Callable[[str], None]


@dataclass(frozen=True)
class Submission:
    """One notebook that was handed in."""

    student: str
    assignment: str
    path: Path


def find(handed_in: Path, known: Iterable[str]) -> tuple[list[Submission], list[str]]:
    """Notebooks in a folder, and complaints about files that cannot be placed.

    A file is ``STUDENT/NAME.ipynb``, with or without further folders between (a folder NAME, or
    what a learning platform adds), or ``NAME_STUDENT.ipynb`` or ``STUDENT_NAME.ipynb``. A copy's
    number in the name, as ``NAME-1.ipynb`` or ``NAME (2).ipynb``, is ignored.
    """
    found: dict[tuple[str, str], Path] = {}
    complaints = []
    for path in sorted(handed_in.rglob("*.ipynb")):
        parts = path.relative_to(handed_in).parts
        if ".ipynb_checkpoints" in parts:
            continue
        placed = _place(path.stem, parts[:-1], sorted(known, key=len, reverse=True))
        if placed is None:
            complaints.append(f"{path}: neither student nor assignment can be told from its name")
        elif placed in found:
            complaints.append(f"{path}: {placed[0]} handed in {found[placed]} too; keep one")
        else:
            found[placed] = path
    return [Submission(*key, path) for key, path in found.items()], complaints


def _place(stem: str, folders: tuple[str, ...], known: list[str]) -> tuple[str, str] | None:
    """Student and assignment."""
    bare = re.sub(r"(?: ?\(\d+\)|-\d+)$", "", stem)
    for name in known:
        if bare == name:
            return (_student(folders[0]), name) if folders else None
        for pattern in (rf"{name}[_ -]+(.+)", rf"(.+?)[_ -]+{name}"):
            match = re.fullmatch(pattern, bare)
            if match:
                return _student(folders[0] if folders else match[1]), name
    return None


def _student(text: str) -> str:
    """A student's name as it may stand in paths."""
    return re.sub(r"[^\w.@-]+", "-", text).strip("-.") or "unknown"


def collect(folder: Path, submission: Submission) -> bool:
    """Copy a notebook into the course; False if this very file is there and was graded.

    Raises
    ------
    ValueError
        If the file is no notebook.
    """
    name, student = submission.assignment, submission.student
    try:
        nbformat.validate(nbformat.read(submission.path, as_version=4))
    except Exception as error:
        raise ValueError(f"not a notebook ({str(error).splitlines()[0][:80]})") from error
    target = folder / "submitted" / student / name / f"{name}.ipynb"
    graded = folder / "autograded" / student / name / f"{name}.ipynb"
    if target.is_file() and graded.is_file() and _digest(target) == _digest(submission.path):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(submission.path, target)
    return True


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def grade(folder: Path, submission: Submission) -> None:
    """Run one collected submission and enter its automatic points.

    Raises
    ------
    nbgrader.converters.base.NbGraderException
        If it could not be run to the end, for instance because it ended its kernel.
    """
    convert(Autograde, folder, submission.assignment, submission.student)


def feedback(folder: Path, student: str, assignment: str) -> Path:
    """Write the page for a student."""
    convert(GenerateFeedback, folder, assignment, student)
    place = folder / "feedback" / student / assignment
    only_pages(place)
    return place / f"{assignment}.html"


def grade_all(
    folder: Path, handed_in: Path, assignments: list[Assignment], report: Report
) -> list[str]:
    """Collect and grade what is new in a folder; return complaints."""
    submissions, complaints = find(handed_in, [a.name for a in assignments])
    if not (submissions or complaints):
        complaints.append(f"{handed_in}: no notebook in this folder")
    for number, submission in enumerate(submissions, start=1):
        where = f"[{number}/{len(submissions)}] {submission.student}  {submission.assignment}"
        try:
            fresh = collect(folder, submission)
            if fresh:
                grade(folder, submission)
                feedback(folder, submission.student, submission.assignment)
            report(where + ("" if fresh else "  (graded before)"))
        except ValueError as error:
            complaints.append(f"{submission.path}: {error}")
            report(f"{where}  NOT GRADED: {error}")
        except NbGraderException:
            complaints.append(
                f"{submission.path}: it could not be run to the end (it may end its own kernel, or "
                f"refuse to be interrupted); the reason stands in {folder / 'nbgrader.log'}"
            )
            report(f"{where}  NOT GRADED: it could not be run to the end")
    return complaints


def enter_marks(folder: Path, marks: Path) -> set[tuple[str, str]]:
    """Enter a filled ``marks.csv``; return whose pages changed, as (student, assignment).

    Raises
    ------
    ValueError
        If a column is missing, a line names an unknown answer, or its points are not between 0 and
        the most possible. Nothing is entered then.
    """
    with marks.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file)
        missing = {"assignment", "student", "task", "points"} - set(table.fieldnames or ())
        if missing:
            raise ValueError(f"{marks.name}: no column {', '.join(sorted(missing))}")
        lines = [row for row in table if (row["points"] or "").strip()]
    changed: set[tuple[str, str]] = set()
    with gradebook(folder) as book:
        for row in lines:
            place = (row["task"], row["assignment"], row["assignment"], row["student"])
            where = f"{marks.name}: {row['student']}, {row['assignment']}, {row['task']}"
            try:
                entry, comment = book.find_grade(*place), book.find_comment(*place)
            except MissingEntry as error:
                book.db.rollback()
                raise ValueError(f"{where}: no such answer was graded") from error
            points = _number(row["points"], entry.max_score)
            if points is None:
                book.db.rollback()
                raise ValueError(f"{where}: points must be from 0 to {entry.max_score:g}")
            entry.manual_score, entry.needs_manual_grade = points, False
            comment.manual_comment = (row.get("comment") or "").strip() or None
            changed.add((row["student"], row["assignment"]))
        book.db.commit()
    return changed


def _number(text: str, most: float) -> float | None:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if 0 <= value <= most else None


def gradebook(folder: Path) -> Gradebook:
    """The gradebook of the course in a folder."""
    path = (folder / "gradebook.db").resolve()
    return Gradebook(f"sqlite:///{path}", configuration(folder).CourseDirectory.course_id)


@dataclass(frozen=True)
class Line:
    """Points of one student for one task."""

    student: str
    assignment: str
    task: str
    points: float
    of: float
    state: str  # automatic, by hand, waiting (for a mark), no answer
    comment: str

    @property
    def waiting(self) -> bool:
        """Whether a mark is still to be given by hand."""
        return self.state == "waiting"


def lines(folder: Path) -> Iterator[Line]:
    """All points in the gradebook, ordered by assignment, student and place in the notebook."""
    with gradebook(folder) as book:
        for assignment in sorted(book.assignments, key=lambda a: a.name):
            source = Assignment(assignment.name, folder)
            order = list(source.cells)
            for submission in sorted(assignment.submissions, key=lambda s: s.student_id):
                for notebook in submission.notebooks:
                    for entry in sorted(notebook.grades, key=lambda g: order.index(g.name)):
                        place = (entry.name, notebook.name, assignment.name, submission.student_id)
                        written = kind_of(source.cells[entry.name]) == "written"
                        yield Line(
                            submission.student_id,
                            assignment.name,
                            entry.name,
                            float(entry.score or 0.0),
                            float(entry.max_score),
                            _state(entry, written),
                            (book.find_comment(*place).comment if written else None) or "",
                        )


def _state(entry: Grade, written: bool) -> str:
    if entry.needs_manual_grade:
        return "waiting"
    if entry.manual_score is not None:
        return "by hand"
    return "no answer" if written else "automatic"


def export(folder: Path) -> list[str]:
    """Write the three tables; return a summary, one line per student and assignment."""
    entries = list(lines(folder))
    _table(
        folder / "tasks.csv",
        ["assignment", "student", "task", "points", "of", "state"],
        ([e.assignment, e.student, e.task, f"{e.points:g}", f"{e.of:g}", e.state] for e in entries),
    )
    _table(
        folder / "marks.csv",
        ["assignment", "student", "task", "of", "points", "comment"],
        (
            [
                *(e.assignment, e.student, e.task, f"{e.of:g}"),
                *("" if e.waiting else f"{e.points:g}", e.comment),
            ]
            for e in entries
            if e.state in ("waiting", "by hand")
        ),
    )
    totals, summary = [], []
    for key in dict.fromkeys((e.assignment, e.student) for e in entries):
        own = [e for e in entries if (e.assignment, e.student) == key]
        points, of = sum(e.points for e in own), sum(e.of for e in own)
        waiting = sum(e.of for e in own if e.waiting)
        totals.append([*key, f"{points:g}", f"{of:g}", f"{waiting:g}"])
        more = f", up to {waiting:g} more to be marked by hand" if waiting else ""
        summary.append(f"{key[0]:32} {key[1]:24} {points:g} of {of:g}{more}")
    _table(folder / "grades.csv", ["assignment", "student", "points", "of", "waiting"], totals)
    return summary


def _table(path: Path, head: list[str], rows: Iterable[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
