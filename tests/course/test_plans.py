"""Every chapter has a plan and an assignment, and every plan names the chapter's exercises."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
import yaml

from book_course.plans import PlanError, assignments, in_words, plans
from book_ledger.inventory import load
from coursework.sources import names
from nb.layout import ROOT

INVENTORY = load(ROOT)
CHAPTERS = {k: c for k, c in INVENTORY.chapters.items() if c.notebook and not c.appendix}
PLANS = plans(ROOT)


def test_every_chapter_has_a_plan_and_an_assignment() -> None:
    assert sorted(set(CHAPTERS) - set(PLANS)) == []
    assert sorted(set(CHAPTERS) - set(names())) == []
    assert sorted(set(PLANS) - set(INVENTORY.chapters)) == []


def labels(notebook: Path) -> list[str]:
    """Labels of the exercises of a chapter, in order."""
    cells = nbformat.read(notebook, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    pattern = r"^(?:`{3,}|:{3,})\{exercise(?:-start)?\}.*\n(?::\w+:.*\n)*?:label: (\S+)$"
    return re.findall(pattern, text, flags=re.MULTILINE)


@pytest.mark.parametrize("key", CHAPTERS)
def test_a_plan_names_exactly_the_exercises_of_its_chapter(key: str) -> None:
    found = labels(ROOT / CHAPTERS[key].notebook)
    assert len(found) >= 5
    assert sorted(PLANS[key].exercises) == sorted(found)


@pytest.mark.parametrize("name", names())
def test_what_the_guide_says_of_an_assignment(name: str) -> None:
    assignment = assignments(ROOT)[name]
    assert assignment.tasks >= 3
    assert assignment.title and assignment.automatic > 0 and assignment.by_hand > 0
    assert 45 <= assignment.minutes <= (150 if name in CHAPTERS else 1200)


PLAN = {
    "chapter": "tiny",
    "goals": ["add", "subtract", "say which of both was right"],
    "class_minutes": 60,
    "reading_minutes": 45,
    "exercises": {"ex-one": 10},
    "marking": "Look for the sign: the commonest misunderstanding is that there is none.",
}


@pytest.mark.parametrize(
    "change",
    [
        {"goals": ["Add.", "subtract", "compare"]},
        {"goals": ["add"]},
        {"class_minutes": "an hour"},
        {"class_minutes": 61},
        {"exercises": {}},
        {"marking": "short"},
        {"note": "unknown"},
        {"chapter": "other"},
    ],
)
def test_a_plan_that_is_not_one_is_refused(change: dict, tmp_path: Path) -> None:
    path = tmp_path / "course" / "plan" / "tiny.yml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(PLAN), "utf-8")
    assert plans(tmp_path)["tiny"].exercises == {"ex-one": 10}
    path.write_text(yaml.safe_dump(PLAN | change), "utf-8")
    with pytest.raises(PlanError, match=r"tiny\.yml"):
        plans(tmp_path)


@pytest.mark.parametrize(("minutes", "words"), [(45, "45 min"), (120, "2 h"), (125, "2 h 05")])
def test_times_in_words(minutes: int, words: str) -> None:
    assert in_words(minutes) == words
