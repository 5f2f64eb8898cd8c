"""The data of the course: how each chapter is taught, and what each assignment asks.

``course/plan/CHAPTER.yml`` conforms to ``plan.schema.json``; the minutes of reading and of every
exercise are read from the chapter. An assignment is a solution notebook,
``course/source/NAME/NAME.ipynb``; its title, tasks, minutes and points are read from it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from book_ledger.questions import markdown_cells, minutes

SCHEMA = Path(__file__).parent / "plan.schema.json"
EXERCISE = (  # label, and minutes as in ``*Routine, 15 minutes.*``, or nothing
    r"^[`:]{3,}\{exercise\}.*\n(?::\w+:.*\n)*?:label: (\S+)\n(?::\w+:.*\n|\n)*"
    r"(?:\*[A-Z][\w-]+, (\d+) minutes[.,])?"
)


class PlanError(ValueError):
    """A plan does not conform to its schema, or its chapter does not state a time."""


@dataclass(frozen=True)
class Plan:
    """How one chapter is taught."""

    chapter: str
    goals: tuple[str, ...]
    class_minutes: int
    marking: str
    reading_minutes: int
    exercises: dict[str, int]


@dataclass(frozen=True)
class Assignment:
    """What one assignment asks of a student."""

    name: str
    title: str
    tasks: int
    minutes: int
    automatic: float
    by_hand: float


def plans(root: Path) -> dict[str, Plan]:
    """The plans below the root of the book, by chapter; or a PlanError with all that is wrong."""
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    found, problems = {}, []
    for path in sorted((root / "course" / "plan").glob("*.yml")):
        document: Any = yaml.safe_load(path.read_text("utf-8"))
        errors = [
            f"{path.name}: {'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in validator.iter_errors(document)
        ]
        if not errors and document["chapter"] != path.stem:
            errors = [f"{path.name}: is for the chapter {document['chapter']}"]
        chapters = root.glob(f"notebooks/*/{path.stem}.ipynb")
        text = "\n\n".join(text for chapter in chapters for text in markdown_cells(chapter))
        reading = minutes(text)
        exercises = dict(re.findall(EXERCISE, text, flags=re.MULTILINE))
        if not reading:
            errors.append(f"{path.name}: the chapter has no line with *Time:* and minutes")
        errors += [f"{path.name}: {k} states no minutes" for k, v in exercises.items() if not v]
        problems += errors
        if reading and not errors:
            found[path.stem] = Plan(
                **{**document, "goals": tuple(document["goals"])},
                reading_minutes=reading,
                exercises={label: int(time) for label, time in exercises.items()},
            )
    if problems:
        raise PlanError("\n".join(problems))
    return found


def assignments(root: Path) -> dict[str, Assignment]:
    """The assignments below the root of the book, by name."""
    paths = sorted((root / "course" / "source").glob("*/*.ipynb"))
    return {path.parent.name: _assignment(path) for path in paths}


def _assignment(path: Path) -> Assignment:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    points = {True: 0.0, False: 0.0}
    text = ""
    for cell in cells:
        mark = cell["metadata"].get("nbgrader", {})
        if mark.get("grade"):
            points[bool(mark["solution"])] += float(mark["points"])
        elif cell["cell_type"] == "markdown":
            text += "".join(cell["source"]) + "\n\n"
    title = re.search(r"^# (?:Assignment: |Project: )?(.+)$", text, flags=re.MULTILINE)
    tasks = re.findall(r"^## Task \d+\..*?(?:\((\d+) minutes.*\))?$", text, flags=re.MULTILINE)
    minutes = sum(int(number) for number in tasks if number)
    name = title[1].strip() if title else path.stem
    name = name[0].upper() + name[1:]
    return Assignment(path.stem, name, len(tasks), minutes, points[False], points[True])


def in_words(minutes: int) -> str:
    """A time as readers say it: ``45 min``, ``2 h``, ``1 h 30``."""
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest:02}" if rest else f"{hours} h"
