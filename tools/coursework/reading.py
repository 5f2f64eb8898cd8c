"""What to read again when the tests of a task fail: sections of the book.

A task names them in its text, as *the section X* with or without *of the chapter Y*; where the
text names none, a comment in its tests does, ``# Read again: the section *X*.``
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache

from docutils.nodes import make_id

from coursework.sources import Assignment
from nb.layout import ROOT

CITED = re.compile(
    r"\bsections? ((?:\*[^*\n]+\*(?: \([^*)]+\))?(?:, and |, | and )?)+)"
    r"(?: of the chapter \*([^*\n]+)\*)?"
)
COMMENT = re.compile(r"^# Read again: (.+(?:\n# of .+)?)$", flags=re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A section, the chapter it is of, and its address in the folder of the archive."""

    title: str
    chapter: str
    address: str


@cache
def pages() -> dict[str, tuple[str, str]]:
    """The title of every chapter, and its page, by the name of its file."""
    found = {}
    for path in ROOT.glob("notebooks/*/*.ipynb"):
        first = json.loads(path.read_text("utf-8"))["cells"][0]["source"]
        title = "".join(first).split("\n")[0].removeprefix("# ")
        found[path.stem] = title, f"book/notebooks/{path.parent.name}/{path.stem}.html"
    return found


def to_read(assignment: Assignment, tests: str) -> list[Section]:
    """The sections for the task of one cell of tests."""
    task = next(name for name, own in assignment.own_tests.items() if tests in own)
    names = list(assignment.cells)
    before = reversed(names[: names.index(task)])
    heading = next((n for n in before if assignment.cells[n].source.startswith("## ")), "")
    comments = [COMMENT.findall(assignment.cells[n].source) for n in assignment.own_tests[task]]
    named = "\n".join(line.replace("\n# of", " of") for lines in comments for line in lines)
    text = named or (assignment.cells[heading].source if heading else "")
    found = []
    for titles, chapter in CITED.findall(text.split("<details>")[0]):
        own = pages().get(assignment.name, ("", ""))
        title, page = next((p for p in pages().values() if p[0] == chapter), own)
        found += [
            Section(each, title, f"{page}#{make_id(each)}")
            for each in re.findall(r"\*([^*\n]+)\*", titles)
            if page
        ]
    return list(dict.fromkeys(found))
