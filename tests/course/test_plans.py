"""Every chapter has a plan and an assignment, and every plan names the chapter's exercises."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
import yaml

from book_course.plans import PlanError, assignments, in_words, plans
from book_ledger.inventory import load
from book_ledger.questions import markdown_cells
from coursework.reading import to_read
from coursework.release import SITE
from coursework.sources import COURSE, Assignment, names
from nb.layout import ROOT

INVENTORY = load(ROOT)
CHAPTERS = {k: c for k, c in INVENTORY.chapters.items() if c.notebook and not c.appendix}
PLANS = plans(ROOT)


def test_every_chapter_has_a_plan_and_an_assignment() -> None:
    assert sorted(set(CHAPTERS) - set(PLANS)) == []
    assert sorted(set(CHAPTERS) - set(names())) == []
    assert sorted(set(PLANS) - set(INVENTORY.chapters)) == []


@pytest.mark.parametrize("key", CHAPTERS)
def test_a_chapter_has_exercises_from_a_warm_up_on(key: str) -> None:
    minutes = list(PLANS[key].exercises.values())
    assert len(minutes) >= 5
    assert minutes[0] <= 10 and max(minutes) >= 25


@pytest.mark.parametrize("name", names())
def test_what_the_guide_says_of_an_assignment(name: str) -> None:
    assignment = assignments(ROOT)[name]
    assert assignment.tasks >= 3
    assert assignment.title and assignment.automatic > 0 and assignment.by_hand > 0
    assert 45 <= assignment.minutes <= (150 if name in CHAPTERS else 1200)


KINDS = {  # what an assignment may cite by its title, and how a chapter heads it
    "section": r"^#{2,4} (.+)$",
    "fold": r"^[`:]{3,}\{dropdown\} (.+)$",
    "exercise": r"^[`:]{3,}\{exercise\} (.+)$",
    **dict.fromkeys(("lemma", "proposition", "theorem"), r"^[`:]{3,}\{prf:\w+\} (.+)$"),
}
CITED = re.compile(  # sections *A* (a remark), *B* and *C* of the appendix *D*
    rf"\b({'|'.join(KINDS)})s? ((?:\*[^*\n]+\*(?: \([^*)]+\))?(?:, and |, | and )?)+)"
    r"(?: of the (?:chapter|appendix) \*([^*\n]+)\*)?",
    flags=re.IGNORECASE,
)
TEXTS = {path: "\n".join(markdown_cells(path)) for path in ROOT.glob("notebooks/*/*.ipynb")}
LESSONS = {text.split("\n")[0].removeprefix("# "): text for text in TEXTS.values()}
TITLE = {path.stem: text.split("\n")[0].removeprefix("# ") for path, text in TEXTS.items()}


def cited(text: str, title: str) -> list[tuple[str, str, str]]:
    """What a text cites: kind, title, and the lesson; without a lesson, the one of that title."""
    return [
        (kind.lower(), each, lesson or title)
        for kind, titles, lesson in CITED.findall(text)
        for each in re.findall(r"\*([^*\n]+)\*", titles)
    ]


def missing(text: str, title: str) -> list[tuple[str, str, str]]:
    """Citations of what does not exist."""
    return [
        (kind, each, lesson)
        for kind, each, lesson in cited(text, title)
        if each not in re.findall(KINDS[kind], LESSONS.get(lesson, ""), flags=re.MULTILINE)
    ]


@pytest.mark.parametrize("name", names())
def test_an_assignment_cites_what_its_chapter_has(name: str) -> None:
    path = COURSE / "source" / name / f"{name}.ipynb"
    cells = ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]
    title = TITLE.get(name, "")
    text = "\n\n".join(cells).replace("\n# of the", " of the")
    assert missing(text, title) == []
    assert re.findall(r".*\b(?:Steps? \d|Derivation|the Setting|\*Pictures).*", text) == []
    (reading,) = re.findall(r"^Read .*$", cells[0], flags=re.MULTILINE)
    seen = {part for _, *parts in cited(reading, title) for part in parts}
    assert len(seen) >= 3, "the first cell says which sections to have read"
    assert set(re.findall(r"\*([^*]+)\*", reading)) <= {*seen, "your own implementation"}


@pytest.mark.parametrize("name", names())
def test_every_task_says_what_to_read_again(name: str) -> None:
    assignment = Assignment(name)
    for tests in assignment.own_tests.values():
        for section in to_read(assignment, tests[0]):
            lesson = LESSONS[section.chapter]
            assert section.title in re.findall(KINDS["section"], lesson, flags=re.MULTILINE)
        assert to_read(assignment, tests[0]) or name == "project_referee", tests


def test_what_to_read_again_is_found_in_the_built_book() -> None:
    if not (SITE / "index.html").is_file():
        pytest.skip("the site is not built")
    every = [Assignment(name) for name in names()]
    tests = [(a, own[0]) for a in every for own in a.own_tests.values() if own]
    addresses = {section.address for a, first in tests for section in to_read(a, first)}
    assert len(addresses) > 100
    for address in addresses:
        page, _, anchor = address.removeprefix("book/").partition("#")
        assert f'id="{anchor}"' in (SITE / page).read_text("utf-8"), address


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_cites_what_its_chapter_has(name: str) -> None:
    plan = PLANS[name]
    text = "\n".join([*plan.goals, plan.marking])
    assert missing(text, TITLE[name]) == []
    assert "Step" not in text


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Read the sections *Play* and *A betting game*.", []),
        ("the sections *Play* (short), *Pictures* and *The definition*, and", ["Pictures"]),
        ("Fold *Proof*, section *Proof*", ["Proof"]),
        ("The section *Play* of the chapter *Accounting*", ["Play"]),
        ("the section *Open ends* of the chapter *Accounting for DP-SGD*", []),
    ],
)
def test_a_citation_of_nothing_is_found(text: str, wrong: list[str]) -> None:
    found = missing(text, TITLE["privacy_as_divergence"])
    assert [title for _, title, _ in found] == wrong


PLAN = {
    "chapter": "tiny",
    "goals": ["add", "subtract", "say which of both was right"],
    "class_minutes": 60,
    "marking": "Look for the sign: the commonest misunderstanding is that there is none.",
}


@pytest.mark.parametrize(
    "change",
    [
        {"goals": ["Add.", "subtract", "compare"]},
        {"goals": ["add"]},
        {"class_minutes": "an hour"},
        {"class_minutes": 61},
        {"exercises": {"ex-one": 10}},
        {"marking": "short"},
        {"note": "unknown"},
        {"chapter": "other"},
    ],
)
def test_a_plan_that_is_not_one_is_refused(change: dict, tmp_path: Path) -> None:
    path = tmp_path / "course" / "plan" / "tiny.yml"
    path.parent.mkdir(parents=True)
    chapter(tmp_path, "*Time:* 45 minutes.", "*Warm-up, 10 minutes.* Why?")
    path.write_text(yaml.safe_dump(PLAN), "utf-8")
    assert plans(tmp_path)["tiny"].exercises == {"ex-one": 10}
    assert plans(tmp_path)["tiny"].reading_minutes == 45
    path.write_text(yaml.safe_dump(PLAN | change), "utf-8")
    with pytest.raises(PlanError, match=r"tiny\.yml"):
        plans(tmp_path)


def chapter(root: Path, box: str, exercise: str) -> None:
    """Write a chapter with one exercise."""
    text = f"{box}\n\n```{{exercise}} One\n:label: ex-one\n:class: dropdown\n{exercise}\n```"
    path = root / "notebooks" / "part" / "tiny.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [nbformat.v4.new_markdown_cell(text)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


@pytest.mark.parametrize(
    ("box", "exercise", "words"),
    [
        ("*Time:* an hour.", "*Routine, 10 minutes.* Why?", "Time"),
        ("*Time:* 45 minutes.", "*Routine.* Why?", "ex-one"),
    ],
)
def test_a_chapter_that_states_no_time_is_refused(
    box: str, exercise: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "course" / "plan" / "tiny.yml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(PLAN), "utf-8")
    chapter(tmp_path, box, exercise)
    with pytest.raises(PlanError, match=words):
        plans(tmp_path)


@pytest.mark.parametrize(("minutes", "words"), [(45, "45 min"), (120, "2 h"), (125, "2 h 05")])
def test_times_in_words(minutes: int, words: str) -> None:
    assert in_words(minutes) == words
