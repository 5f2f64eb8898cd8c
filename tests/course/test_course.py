"""What the commands make: student versions, archive, collection, tables, marks."""

from __future__ import annotations

import csv
import re
import zipfile
from pathlib import Path

import end_to_end
import nbformat
import planted_course
import pytest

import course as command
from coursework import grading, release, sources
from coursework.sources import Assignment, grade_id

pytestmark = [pytest.mark.filterwarnings(w) for w in end_to_end.WARNINGS]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the shape of ``course``."""
    folder = tmp_path_factory.mktemp("written")
    planted_course.write(folder)
    return folder


@pytest.fixture
def at_home(written: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The commands work on the tiny course."""
    init = (written,)
    monkeypatch.setattr(sources.Assignment.__init__, "__defaults__", init)
    monkeypatch.setattr(sources.names, "__defaults__", init)
    return written


def test_the_student_version(written: Path, tmp_path: Path) -> None:
    assignment = Assignment("tiny", written)
    with release.logged(tmp_path):
        path = release.release(tmp_path, assignment)
    cells = {grade_id(cell): cell for cell in nbformat.read(path, as_version=4).cells}
    assert list(cells) == list(assignment.cells)
    assert cells["square"].source == (
        'def square(x):\n    """The square of x."""\n'
        "    # YOUR CODE HERE\n    raise NotImplementedError()"
    )
    assert cells["root"].source == sources.STUB
    assert cells["words"].source == sources.TEXT_STUB
    assert cells["test-root"].source == 'assert root(4) >= 0, "A root is not negative."'
    for name in ("intro", "imports", "task-1", "test-root"):
        assert cells[name].metadata.editable is cells[name].metadata.deletable is False
    assert cells["root"].metadata.deletable is False
    assert "editable" not in cells["root"].metadata
    assert end_to_end.found(assignment.secrets(), path) == []
    assert not (tmp_path / "release" / "tiny" / "mistakes").exists()


def test_the_search_for_secrets_can_fail(written: Path, tmp_path: Path) -> None:
    assignment = Assignment("tiny", written)
    secrets = assignment.secrets()
    assert {
        "product_of_both = x * x",
        "return math.sqrt(x)",
        "A product of equal signs is not negative.",
        'assert abs(root(6.25) - 2.5) < 1e-9, "Your root, squared, is not what it came from."',
    } <= secrets
    with release.logged(tmp_path):
        path = release.release(tmp_path, assignment)
    for place in ("source", "metadata"):
        notebook = nbformat.read(path, as_version=4)
        if place == "source":
            notebook.cells[3].source += "\n# product_of_both = x * x"
        else:
            notebook.metadata["note"] = "return math.sqrt(x)"
        nbformat.write(notebook, tmp_path / "leak.ipynb")
        assert len(end_to_end.found(secrets, tmp_path / "leak.ipynb")) == 1
    page = end_to_end.Graded({}, set(), "<p>assert abs(root(6.25) &#45; 2.5) &lt; 1e-9</p>")
    with pytest.raises(AssertionError, match="gives away"):
        end_to_end.no_secret(assignment, page, {})


def test_two_releases_are_equal_byte_for_byte(
    at_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two", "two"):  # the second one over the first one as well
        assert command.main(["--folder", str(tmp_path / name), "release"]) == 0
    assert "[1/1] tiny  20 points" in capsys.readouterr().out
    for file in ("assignments.zip", "release/tiny/tiny.ipynb"):
        one, two = ((tmp_path / name / file).read_bytes() for name in ("one", "two"))
        assert one == two
        assert str(tmp_path).encode() not in one
    with zipfile.ZipFile(tmp_path / "one" / "assignments.zip") as pack:
        assert pack.namelist() == ["assignments/README.md", "assignments/tiny.ipynb"]
        assert pack.read("assignments/tiny.ipynb") == one
    assert not re.search(rb"20\d\d-\d\d-\d\d", one)


def test_an_unknown_assignment_is_refused(at_home: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        command.main(["--folder", str(tmp_path), "release", "other"])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("ada/tiny.ipynb", ("ada", "tiny")),
        ("ada/tiny/tiny.ipynb", ("ada", "tiny")),
        ("Ada Lovelace_12_file_/tiny-1.ipynb", ("Ada-Lovelace_12_file_", "tiny")),
        ("tiny_ada.ipynb", ("ada", "tiny")),
        ("ada_tiny (2).ipynb", ("ada", "tiny")),
        ("ada-tiny_two.ipynb", ("ada", "tiny_two")),
        ("tiny.ipynb", None),
        ("ada/other.ipynb", None),
    ],
)
def test_who_handed_in_what(path: str, expected: tuple[str, str] | None, tmp_path: Path) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("{}")
    found, complaints = grading.find(tmp_path, ["tiny", "tiny_two"])
    assert [(s.student, s.assignment) for s in found] == ([expected] if expected else [])
    assert len(complaints) == (expected is None)


def test_a_class_from_files_to_final_points(
    at_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, handed_in = tmp_path / "course", tmp_path / "in"
    run = ["--folder", str(folder)]
    assert command.main([*run, "release"]) == 0
    assignment = Assignment("tiny", at_home)
    released = folder / "release" / "tiny" / "tiny.ipynb"
    handed_in.mkdir()
    for student, answers in {"ada": end_to_end.right(assignment), "ben": {}}.items():
        notebook = end_to_end.answered(released, assignment, answers)
        nbformat.write(notebook, handed_in / f"tiny_{student}.ipynb")
    (handed_in / "eve").mkdir()
    (handed_in / "eve" / "tiny.ipynb").write_text("not a notebook")
    capsys.readouterr()

    assert command.main([*run, "grade", str(handed_in)]) == 1
    out, err = capsys.readouterr()
    assert "[1/3] eve  tiny  NOT GRADED" in out and "eve" in err
    assert re.search(r"tiny +ada +15 of 20, up to 5 more to be marked by hand", out)
    assert re.search(r"tiny +ben +0 of 20\n", out)
    assert rows(folder / "grades.csv")[0] == ["assignment", "student", "points", "of", "waiting"]
    assert rows(folder / "marks.csv")[1:] == [["tiny", "ada", "words", "5", "", ""]]

    marks = tmp_path / "marked.csv"
    head = "assignment,student,task,of,points,comment\n"
    for points in ("6", "-1", "many"):
        marks.write_text(f"{head}tiny,ada,words,5,{points},\n")
        with pytest.raises(SystemExit):
            command.main([*run, "marks", str(marks)])
    marks.write_text("assignment;student;task;of;points\ntiny;ada;words;5;4\n")
    with pytest.raises(SystemExit):
        command.main([*run, "marks", str(marks)])
    assert "no column assignment, points, student, task" in capsys.readouterr().err
    marks.write_text(f"{head}tiny,ada,words,5,4.5,One sign is <missing>.\n")
    assert command.main([*run, "marks", str(marks)]) == 0
    assert rows(folder / "grades.csv")[1:] == [
        ["tiny", "ada", "19.5", "20", "0"],
        ["tiny", "ben", "0", "20", "0"],
    ]
    page = (folder / "feedback" / "ada" / "tiny" / "tiny.html").read_text("utf-8")
    assert "19.5 of 20 points" in page and "One sign is &lt;missing&gt;." in page
    assert "not final" not in page

    (handed_in / "eve" / "tiny.ipynb").unlink()
    capsys.readouterr()
    assert command.main([*run, "grade", str(handed_in)]) == 0
    assert capsys.readouterr().out.count("(graded before)") == 2
    assert rows(folder / "grades.csv")[1][2] == "19.5", "marks given by hand stay"
    (tmp_path / "nothing").mkdir()
    assert command.main([*run, "grade", str(tmp_path / "nothing")]) == 1
    assert "no notebook in this folder" in capsys.readouterr().err
    twice = handed_in / "ada" / "tiny.ipynb"
    twice.parent.mkdir()
    twice.write_bytes(released.read_bytes())
    assert command.main([*run, "grade", str(handed_in)]) == 1
    assert "keep one" in capsys.readouterr().err


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))
