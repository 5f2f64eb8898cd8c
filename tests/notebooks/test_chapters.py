"""Every notebook of the book obeys every rule of ``tools/nb/lint.py``.

``BOOK_NOTEBOOKS`` names another folder of notebooks; the tests of the tools use it to show that
these tests can fail.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nb.fingerprint import Library
from nb.layout import NOTEBOOKS, find_notebooks, shown
from nb.lint import RULES, Chapter

FOLDER = Path(os.environ.get("BOOK_NOTEBOOKS", NOTEBOOKS))
CHAPTERS = find_notebooks([FOLDER])
LIBRARY = Library()


def test_there_is_a_notebook() -> None:
    assert CHAPTERS, f"no notebook under {shown(FOLDER)}"


@pytest.mark.parametrize("path", CHAPTERS, ids=shown)
def test_chapter(path: Path) -> None:
    chapter = Chapter(path, LIBRARY)  # read once for all rules
    broken = [
        f"{shown(path)}, {message}  ({rule.__doc__.strip()})"
        for rule in RULES
        for message in rule(chapter)
    ]
    assert not broken, "\n".join(broken)
