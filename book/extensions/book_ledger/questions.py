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

from docutils import nodes
from sphinx.application import Sphinx

from .boxes import LedgerDirective
from .inventory import Chapter
from .markup import tag

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


class OpenQuestionsDirective(LedgerDirective):
    """``{open-questions}``: one entry per chapter, and the chapters that name nothing."""

    def run(self) -> list[nodes.Node]:
        """Parse what each chapter says in the language of the page."""
        self.depend()
        inventory, root = self.ledger.inventory, Path(self.env.srcdir)
        terms: list[nodes.Node] = []
        silent: list[str] = []
        for chapter in inventory.chapters.values():
            if chapter.docname not in self.env.found_docs or chapter.notebook is None:
                continue
            name = f"{{doc}}`{chapter.title} </{chapter.docname}>`"
            found = open_questions(root, chapter)
            if not found:
                silent.append(name)
                continue
            terms.append(tag("dt", *self.markdown(name)))
            terms += [tag("dd", *self.markdown(text)) for text in found]
        result: list[nodes.Node] = [tag("dl", *terms, class_="open-questions")] if terms else []
        if silent:
            words = "These chapters name no open question of their own: "
            result += self.markdown(f"{words}{', '.join(silent)}.")
        return result


def register(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("open-questions", OpenQuestionsDirective)
