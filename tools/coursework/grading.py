"""Collect what was handed in, grade it, enter marks given by hand, export points and pages.

Everything lies in the folder of the course: ``submitted/STUDENT/NAME/NAME.ipynb``, the same below
``autograded`` and ``feedback``, ``gradebook.db``, and three tables. ``grades.csv`` has a line per
student and assignment, ``tasks.csv`` a line per task; ``marks.csv`` lists what waits to be marked
by hand: fill in the columns ``points`` and ``comment`` and give the file to the next run.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import nbformat
import pandas as pd
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import NbGraderException

from coursework import confined
from coursework.release import configuration, convert
from coursework.sources import Assignment, grade_id, kind_of

MARKS = ["assignment", "student", "task", "of", "points", "comment"]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Submission:
    """One notebook that was handed in."""

    student: str
    assignment: str
    path: Path

    def at(self, folder: Path, step: str) -> Path:
        """Its notebook after a step of the grading: submitted or autograded."""
        return folder / step / self.student / self.assignment / f"{self.assignment}.ipynb"


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
        If the file is no notebook, or none of its cells bears a name of the assignment.
    """
    try:
        notebook = nbformat.read(submission.path, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:
        raise ValueError(f"not a notebook ({str(error).splitlines()[0][:80]})") from error
    known = set(Assignment(submission.assignment, folder).cells)
    if not {grade_id(cell) for cell in notebook.cells} & known:
        raise ValueError(
            "its cells have lost their metadata, so that no answer can be told from another; "
            "paste them into a fresh copy of the assignment, or mark it by hand"
        )
    new = _put(submission.at(folder, "submitted"), submission.path.read_bytes())
    return new or not submission.at(folder, "autograded").is_file()


def _put(path: Path, content: bytes) -> bool:
    """Write a file; False if it is there with this content."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def grade(folder: Path, submission: Submission) -> list[str]:
    """Run one collected submission, enter its automatic points, and return what looks forged.

    Marks that were given by hand to tests of an earlier version are forgotten.

    Raises
    ------
    nbgrader.converters.base.NbGraderException
        If it could not be run to the end, for instance because it ended its kernel. All its tasks
        wait to be marked by hand then.
    """
    _forget_marks_of_tests(folder, submission)
    try:
        convert(Autograde, folder, submission.assignment, submission.student)
    except NbGraderException:
        leave_to_hand(folder, submission)
        raise
    graded = nbformat.read(submission.at(folder, "autograded"), as_version=4)
    return list(graded.metadata.noticed)


def leave_to_hand(folder: Path, submission: Submission) -> None:
    """Enter a collected submission without running it: all its tasks wait to be marked by hand."""
    name, student = submission.assignment, submission.student
    config = configuration(folder)
    steps = config.Autograde.autograde_preprocessors
    config.Autograde.autograde_preprocessors = ["coursework.preparing.NotRun", *steps[1:]]
    convert(Autograde, folder, name, student, config)
    with gradebook(folder) as book:
        for entry in book.find_submission_notebook(name, name, student).grades:
            entry.needs_manual_grade = True
        book.db.commit()


def _forget_marks_of_tests(folder: Path, submission: Submission) -> None:
    name, student = submission.assignment, submission.student
    with gradebook(folder) as book:
        try:
            grades = book.find_submission_notebook(name, name, student).grades
        except MissingEntry:
            return
        for entry in grades:
            if entry.cell.cell_type == "code":
                entry.manual_score = _comment(entry).manual_comment = None
        book.db.commit()


def feedback(folder: Path, student: str, assignment: str) -> Path:
    """Write the page for a student, and remove what a submission's code left beside it."""
    convert(GenerateFeedback, folder, assignment, student)
    place = folder / "feedback" / student / assignment
    for path in place.rglob("*"):
        if path.is_file() and path.suffix != ".html":
            path.unlink()
    return place / f"{assignment}.html"


def grade_all(
    folder: Path, handed_in: Path, assignments: list[Assignment], report: Report
) -> list[str]:
    """Collect and grade what is new in a folder; return complaints."""
    submissions, complaints = find(handed_in, [a.name for a in assignments])
    if submissions and not confined.available():
        report(
            "Submissions run with your rights and see this machine: `unshare` cannot keep them "
            "apart here. Time, memory and files are limited."
        )
    if not (submissions or complaints):
        complaints.append(f"{handed_in}: no notebook in this folder")
    for number, submission in enumerate(submissions, start=1):
        where = f"[{number}/{len(submissions)}] {submission.student}  {submission.assignment}"
        try:
            fresh = collect(folder, submission)
            for oddity in grade(folder, submission) if fresh else []:
                complaints.append(f"{submission.path}: graded, but {oddity}")
            report(where + ("" if fresh else "  (graded before)"))
        except ValueError as error:
            empty = nbformat.writes(nbformat.v4.new_notebook())
            fresh = _put(submission.at(folder, "submitted"), f"{empty}\n".encode())
            if fresh:
                leave_to_hand(folder, submission)
            complaints.append(f"{submission.path}: {error}")
            report(f"{where}  NOT GRADED: {error}")
        except NbGraderException:
            complaints.append(
                f"{submission.path}: it could not be run to the end (it may end its own kernel, or "
                f"refuse to be interrupted); the reason stands in {folder / 'nbgrader.log'}"
            )
            report(f"{where}  NOT GRADED: it could not be run to the end")
        if fresh and submission.at(folder, "autograded").is_file():
            feedback(folder, submission.student, submission.assignment)
    return complaints


def enter_marks(folder: Path, marks: Path) -> set[tuple[str, str]]:
    """Enter a filled ``marks.csv``; return whose pages changed, as (student, assignment).

    A row may stand for any task, as ``tasks.csv`` names them. A row without points is passed over.

    Raises
    ------
    ValueError
        If a column is missing, or a row names an unknown task, has points that are not between 0
        and the most possible, states another maximum, contradicts an earlier row, or changes what
        the tests gave without a comment, which the student is shown. Every such row is named, and
        nothing is entered.
    """
    with marks.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file)
        missing = {"assignment", "student", "task", "points"} - set(table.fieldnames or ())
        if missing:
            raise ValueError(f"{marks.name}: no column {', '.join(sorted(missing))}")
        rows = [(table.line_num, row) for row in table if (row["points"] or "").strip()]
    changed: set[tuple[str, str]] = set()
    first: dict[tuple[str, str, str], tuple[int, float, str]] = {}
    wrong = []
    with gradebook(folder) as book:
        for number, row in rows:
            student, assignment, task = row["student"], row["assignment"], row["task"]
            where = f"row {number} ({student}, {assignment}, {task})"
            try:
                entry = book.find_grade(task, assignment, assignment, student)
            except MissingEntry:
                wrong.append(f"{where}: there is no such task of this student")
                continue
            points, of = _number(row["points"], entry.max_score), row.get("of") or ""
            words = (row.get("comment") or "").strip()
            if points is None:
                wrong.append(f"{where}: points must be from 0 to {entry.max_score:g}")
                continue
            if of.strip() and _number(of, entry.max_score) != entry.max_score:
                wrong.append(f"{where}: the task has {entry.max_score:g} points, not {of}")
            line, *before = first.setdefault((student, assignment, task), (number, points, words))
            if before != [points, words]:
                wrong.append(f"{where}: row {line} says something else of the same task")
            by_tests = entry.manual_score is None and not entry.needs_manual_grade
            if by_tests and entry.auto_score == points and not words:
                continue
            if by_tests and not words and entry.cell.cell_type == "code":
                wrong.append(f"{where}: the tests gave {entry.auto_score:g}; say why in a comment")
            entry.manual_score, entry.needs_manual_grade = points, False
            _comment(entry).manual_comment = words or None
            changed.add((student, assignment))
        if wrong:
            book.db.rollback()
            raise ValueError(f"{marks.name}, nothing was entered:\n" + "\n".join(wrong))
        book.db.commit()
    return changed


def _number(text: str, most: float) -> float | None:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if 0 <= value <= most else None


def _comment(entry: Grade) -> Comment:
    """The comment on a task; nbgrader itself makes none for a cell of tests."""
    for comment in entry.notebook.comments:
        if comment.name == entry.name:
            return comment
    comment = Comment(cell=entry.cell)
    entry.notebook.comments.append(comment)
    return comment


def gradebook(folder: Path) -> Gradebook:
    """The gradebook of the course in a folder."""
    path = (folder / "gradebook.db").resolve()
    return Gradebook(f"sqlite:///{path}", configuration(folder).CourseDirectory.course_id)


@dataclass(frozen=True)
class Line:
    """Points of one student for one task."""

    assignment: str
    student: str
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
                        written = kind_of(source.cells[entry.name]) == "written"
                        said = [c for c in notebook.comments if c.name == entry.name]
                        yield Line(
                            assignment.name,
                            submission.student_id,
                            entry.name,
                            float(entry.score or 0.0),
                            float(entry.max_score),
                            _state(entry, written),
                            (said[0].comment if said else None) or "",
                        )


def _state(entry: Grade, written: bool) -> str:
    if entry.needs_manual_grade:
        return "waiting"
    if entry.manual_score is not None:
        return "by hand"
    return "no answer" if written else "automatic"


def export(folder: Path) -> list[str]:
    """Write the three tables; return a summary, one line per student and assignment."""
    tasks = pd.DataFrame(lines(folder), columns=[field.name for field in fields(Line)])
    by_hand = tasks[tasks.state.isin(["waiting", "by hand"])]
    by_hand = by_hand.assign(points=by_hand.points.mask(by_hand.state == "waiting"))
    missing = (tasks.of - tasks.points).where(tasks.state == "waiting", 0.0)
    pairs = tasks.assign(waiting=missing).groupby(["assignment", "student"], sort=False)
    totals = pairs[["points", "of", "waiting"]].sum().reset_index()
    _table(folder / "tasks.csv", tasks.drop(columns="comment"))
    _table(folder / "marks.csv", by_hand.drop(columns="state")[MARKS])
    _table(folder / "grades.csv", totals)
    return [
        f"{row.assignment:32} {row.student:24} {row.points:g} of {row.of:g}"
        + (f", up to {row.waiting:g} more to be marked by hand" if row.waiting else "")
        for row in totals.itertuples()
    ]


def _table(path: Path, table: pd.DataFrame) -> None:
    """Write a table beside its place, and put it there when it is whole."""
    whole = path.with_suffix(".new")
    table.to_csv(whole, index=False, float_format="%g", lineterminator="\n")
    whole.replace(path)
