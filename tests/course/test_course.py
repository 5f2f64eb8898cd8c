"""What the commands make: student versions, archive, collection, tables, marks."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path

import end_to_end
import nbformat
import planted_course
import pytest

import course as command
from coursework import confined, grading, release, sources
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
    at_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "html" / "deep").mkdir(parents=True)
    (tmp_path / "html" / "deep" / "page.html").write_text("A page.")
    monkeypatch.setattr(release, "SITE", tmp_path / "html")
    for name in ("one", "two", "two"):  # the second one over the first one as well
        assert command.main(["--folder", str(tmp_path / name), "release"]) == 0
    assert "[1/1] tiny  20 points" in capsys.readouterr().out
    for file in ("course.zip", "release/tiny/tiny.ipynb"):
        one, two = ((tmp_path / name / file).read_bytes() for name in ("one", "two"))
        assert one == two
        assert str(tmp_path).encode() not in one
    with zipfile.ZipFile(tmp_path / "one" / "course.zip") as pack:
        names = pack.namelist()
        assert pack.read("course/assignments/tiny.ipynb") == one
        (wheel,) = (name for name in names if name.endswith(".whl"))
        with zipfile.ZipFile(io.BytesIO(pack.read(wheel))) as library:
            packages = {name.partition("/")[0] for name in library.namelist()}
    assert packages == {"dpdynamics", Path(wheel).name.replace("-py3-none-any.whl", ".dist-info")}
    assert set(names) - {wheel} == {
        "course/README.md",
        "course/requirements.lock",
        "course/assignments/tiny.ipynb",
        "course/book/deep/page.html",
    }
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


@pytest.fixture
def graded(
    at_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """The folder of a class: Ada is right, Ben empty, Eve's file is no notebook."""
    end_to_end.unhurried(monkeypatch, kernel=False)
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
    return folder


HEAD = "assignment,student,task,of,points,comment\n"


def mark(folder: Path, *lines: str) -> int:
    """Enter a table of marks."""
    file = folder.parent / "marked.csv"
    file.write_text(HEAD + "\n".join(lines) + "\n", "utf-8")
    return command.main(["--folder", str(folder), "marks", str(file)])


def test_a_class_from_files_to_final_points(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, handed_in = graded, graded.parent / "in"
    run = ["--folder", str(folder)]
    assert rows(folder / "grades.csv")[0] == ["assignment", "student", "points", "of", "waiting"]
    assert rows(folder / "marks.csv")[1] == ["tiny", "ada", "words", "5", "", ""]
    for points in ("6", "-1", "many"):
        with pytest.raises(SystemExit):
            mark(folder, f"tiny,ada,words,5,{points},")
    marks = folder.parent / "marked.csv"
    marks.write_text("assignment;student;task;of;points\ntiny;ada;words;5;4\n")
    with pytest.raises(SystemExit):
        command.main([*run, "marks", str(marks)])
    assert "no column assignment, points, student, task" in capsys.readouterr().err
    assert mark(folder, "tiny,ada,words,5,4.5,One sign is <missing>.") == 0
    assert rows(folder / "grades.csv")[1:3] == [
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
    (folder.parent / "nothing").mkdir()
    assert command.main([*run, "grade", str(folder.parent / "nothing")]) == 1
    assert "no notebook in this folder" in capsys.readouterr().err
    twice = handed_in / "ada" / "tiny.ipynb"
    twice.parent.mkdir()
    twice.write_bytes((folder / "release" / "tiny" / "tiny.ipynb").read_bytes())
    assert command.main([*run, "grade", str(handed_in)]) == 1
    assert "keep one" in capsys.readouterr().err


def test_what_could_not_be_graded_is_marked_by_hand(graded: Path) -> None:
    waiting = [row[2] for row in rows(graded / "marks.csv") if row[1] == "eve"]
    assert waiting == ["test-square", "test-root", "words"]
    assert rows(graded / "grades.csv")[3] == ["tiny", "eve", "0", "20", "20"]
    tasks = {"test-square": "4,By mail.", "test-root": "9,", "words": "2,"}
    assert mark(graded, *(f"tiny,eve,{task},,{given}" for task, given in tasks.items())) == 0
    assert rows(graded / "grades.csv")[3] == ["tiny", "eve", "15", "20", "0"]
    page = (graded / "feedback" / "eve" / "tiny" / "tiny.html").read_text("utf-8")
    assert "4 of 6 points, given by hand" in page and "By mail." in page
    command.main(["--folder", str(graded), "grade", str(graded.parent / "in")])
    assert rows(graded / "grades.csv")[3][2] == "15", "marks given by hand stay"


def test_points_of_tests_can_be_given_by_hand_with_a_reason(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (graded / "tasks.csv").read_bytes()
    with pytest.raises(SystemExit):
        mark(graded, "tiny,ben,test-root,9,4.5,")
    assert "row 2 (ben, tiny, test-root): the tests gave 0" in capsys.readouterr().err
    assert mark(graded, "tiny,ben,test-square,6,0,", "tiny,ben,test-root,9,4.5,Right idea.") == 0
    changed = [row for row in rows(graded / "tasks.csv") if row[1] == "ben"]
    assert [row[3:] for row in changed[:2]] == [["0", "6", "automatic"], ["4.5", "9", "by hand"]]
    assert (graded / "tasks.csv").read_bytes() != before
    assert ["tiny", "ben", "test-root", "9", "4.5", "Right idea."] in rows(graded / "marks.csv")
    page = (graded / "feedback" / "ben" / "tiny" / "tiny.html").read_text("utf-8")
    assert "4.5 of 20 points" in page and "Comment: Right idea." in page
    assert "4.5 of 9 points, given by hand" in page


def test_a_table_of_marks_with_mistakes_is_refused_whole(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (graded / "gradebook.db").read_bytes()
    with pytest.raises(SystemExit):
        mark(
            graded,
            "tiny,ada,words,5,4,",
            "tiny,ada,words,5,3,",
            "tiny,ada,words,5,4,",
            "tiny,ada,test-square,5,5,Late.",
            "tiny,bob,words,5,4,",
        )
    said = capsys.readouterr().err
    assert "row 3 (ada, tiny, words): row 2 says something else" in said
    assert "row 5 (ada, tiny, test-square): the task has 6 points, not 5" in said
    assert "row 6 (bob, tiny, words): there is no such task" in said
    assert "row 2 (" not in said and "row 4 (" not in said
    assert (graded / "gradebook.db").read_bytes() == before


def test_marks_are_exported_even_if_a_page_cannot_be_made(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (graded / "autograded" / "ada" / "tiny" / "tiny.ipynb").unlink()
    assert mark(graded, "tiny,ada,words,5,4,") == 1
    assert "ada, tiny" in capsys.readouterr().err
    assert rows(graded / "grades.csv")[1] == ["tiny", "ada", "19", "20", "0"]


def test_tables_are_written_even_if_grading_breaks_off(
    graded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ben's second version is graded, and then the disk is full."""
    right = (graded.parent / "in" / "tiny_ada.ipynb").read_bytes()
    (graded.parent / "in" / "tiny_ben.ipynb").write_bytes(right)

    def full(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(grading, "feedback", full)
    with pytest.raises(OSError, match="no space"):
        command.main(["--folder", str(graded), "grade", str(graded.parent / "in")])
    assert "grading broke off" in capsys.readouterr().err
    assert ["tiny", "ben", "15", "20", "5"] in rows(graded / "grades.csv")


def test_the_same_files_give_the_same_marks(
    graded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From nothing but what was handed in and the marks, also where nothing can be confined."""
    assert mark(graded, "tiny,ada,words,5,3,", "tiny,eve,words,5,1,On paper.") == 0
    again = graded.parent / "again"
    monkeypatch.setattr(confined, "available", lambda: False)
    capsys.readouterr()
    assert command.main(["--folder", str(again), "grade", str(graded.parent / "in")]) == 1
    assert "run with your rights" in capsys.readouterr().out
    marks = str(graded.parent / "marked.csv")
    assert command.main(["--folder", str(again), "marks", marks]) == 0
    for table in ("grades.csv", "tasks.csv", "marks.csv"):
        assert (again / table).read_bytes() == (graded / table).read_bytes()


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))
