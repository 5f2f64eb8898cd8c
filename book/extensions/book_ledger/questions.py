"""What remains open: ``{open-questions}`` gathers it from the chapters.

A chapter says what is open in its section "Errata and open ends", in a paragraph or list item that
begins with the word *Open* in bold or italics, or in a section "Open ends" of its own. Nothing is
kept by hand beside the chapters.
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


def open_questions(root: Path, chapter: Chapter) -> list[str]:
    """What one chapter calls open, as MyST Markdown with references from the root of the book."""
    if chapter.notebook is None or not (root / chapter.notebook).is_file():
        return []
    cells = json.loads((root / chapter.notebook).read_text("utf-8"))["cells"]
    text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    section = SECTION.search(text)
    if section is None:
        return []
    body = re.split(r"^## ", text[section.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    blocks = re.split(r"\n\n+|\n(?=[*-] )", body)
    folder = posixpath.dirname(chapter.notebook)

    def rooted(found: re.Match[str]) -> str:
        return f"{found[1]}/{posixpath.normpath(f'{folder}/{found[2]}')}"

    if "errata" not in section[0].lower():
        return [DOCUMENT.sub(rooted, body.strip())]
    openings = [(block, OPEN.match(block)) for block in blocks]
    return [DOCUMENT.sub(rooted, block[m.end() :]) for block, m in openings if m]
