"""What a chapter asks, and what remains open: gathered from the chapters, never kept beside them.

``{chapters}`` shows the question of a chapter, in bold in its first cell, and the minutes that it
takes, as in ``*Time:* 60 minutes``. ``{open-questions}`` shows what is open: a chapter says that in
its section "Errata and open ends", in a paragraph or list item that begins with the word *Open* in
bold or italics, or in a section "Open ends" of its own.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

from .inventory import Chapter

SECTION = re.compile(r"^## .*\bopen ends\b.*$", re.MULTILINE | re.IGNORECASE)
OPEN = re.compile(r"^(?:[*-] )?(\*{1,2})Open[^*\n]*\1\s*")
DOCUMENT = re.compile(r"(\{doc\}`(?:[^`<]*<)?)([^`>/][^`>]*)")


def asked(root: Path, chapter: Chapter) -> tuple[str, int]:
    """The question of one chapter as Markdown, and its minutes; empty and 0 where it has none."""
    texts = _of(root, chapter)
    question = re.search(r"\*\*(.+?\?)\*\*", texts[0], re.DOTALL) if texts else None
    return (question[1] if question else "", minutes("\n\n".join(texts)))


def minutes(text: str) -> int:
    """How long a chapter says that it takes; 0 where it does not."""
    found = re.search(r"\*Time:\* (\d+) minutes", text)
    return int(found[1]) if found else 0


def needed(root: Path, chapter: Chapter) -> list[str]:
    """The notebooks, without folder and suffix, that one chapter names after *You need*.

    Those that only help, "...; {doc}`rates` helps", are not among them.
    """
    found = re.search(r"\*You need\*(.*?)\*Time:\*", "\n\n".join(_of(root, chapter)), re.DOTALL)
    words = re.sub(r"[;.][^;.]*\bhelps?\b", "", found[1]) if found else ""
    targets = re.findall(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`", words)
    return [posixpath.basename(target) for target in targets]


def markdown_cells(path: Path) -> list[str]:
    """The texts of a notebook, cell by cell."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def _of(root: Path, chapter: Chapter) -> list[str]:
    path = root / (chapter.notebook or "")
    return markdown_cells(path) if path.is_file() else []


def open_questions(root: Path, chapter: Chapter) -> list[str]:
    """What one chapter calls open, as MyST Markdown with references from the root of the book."""
    text = "\n\n".join(_of(root, chapter))
    section = SECTION.search(text)
    if section is None:
        return []
    body = re.split(r"^## ", text[section.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    blocks = re.split(r"\n\n+|\n(?=[*-] )", body)
    folder = posixpath.dirname(chapter.notebook or "")

    def rooted(found: re.Match[str]) -> str:
        return f"{found[1]}/{posixpath.normpath(f'{folder}/{found[2]}')}"

    if "errata" not in section[0].lower():
        return [DOCUMENT.sub(rooted, body.strip())]
    openings = [(block, OPEN.match(block)) for block in blocks]
    return [DOCUMENT.sub(rooted, block[m.end() :]) for block, m in openings if m]
