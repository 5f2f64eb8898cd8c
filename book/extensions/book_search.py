"""A search by sections: titles and headings first, prose without code and long formulas.

Sphinx's own index knows which words a page has, code among them, and fetches whole pages for its
excerpts, which no browser does from a disk. Here every section is one entry, with its own text, in
``search_sections.js``; the page ``search.html`` and ``search.js`` rank them by MiniSearch (BM25).
A term of the glossary, a statement of a paper and an erratum are entries of their own. Sphinx's
index is not written.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_exercise.nodes import solution_node

from book_ledger.pages import address

FILE = "search_sections.js"
SILENT = (  # what is no prose
    nodes.literal_block,
    nodes.math_block,
    nodes.raw,
    nodes.image,
    nodes.Invisible,
    nodes.title,
    solution_node,  # lessons are searched
    nodes.system_message,
)
LETTERS = {  # as TeX and readers call them; Unicode says lamda
    name.lower().replace("lamda", "lambda"): unicodedata.lookup(f"GREEK SMALL LETTER {name}")
    for name in re.findall(
        r"\w+", "ALPHA BETA GAMMA DELTA EPSILON ETA KAPPA LAMDA MU NU RHO SIGMA TAU"
    )
}


Entry = tuple[str, str, str, str]  # page with anchor, title of the page, heading, text


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", begin)
    app.connect("doctree-resolved", collect)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": False}


def begin(app: Sphinx) -> None:
    """Put our page in the place of Sphinx's."""
    app.book_search = {}  # type: ignore[attr-defined]
    app.builder.search = False  # type: ignore[attr-defined]
    app.config.html_additional_pages["search"] = "search.html"


def collect(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep the sections of one page."""
    sections = [section for section in doctree.findall(nodes.section) if _titled(section)]
    title = _plain(sections[0][0]) if sections else page
    found = [
        (f"{page}.html#{section['ids'][0]}", title, _plain(section[0]), _prose(section))
        for section in sections
    ]
    for item in doctree.findall(nodes.definition_list_item):
        ids = [name for term in item.findall(nodes.term) for name in term["ids"]]
        if ids and "glossary" in item.parent["classes"]:
            term, text = _plain(item[0]), " ".join("".join(_words(item[-1])).split())
            found.append((f"{page}.html#{ids[0]}", title, term, text))
    app.book_search[page] = found  # type: ignore[attr-defined]


def _words(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Text):
        yield str(node)
    elif isinstance(node, nodes.math):
        yield _formula(node.astext())
    elif not isinstance(node, SILENT):
        for child in node.children:
            if not _titled(child):
                yield from _words(child)
        if isinstance(node, nodes.Body | nodes.Part):
            yield " "


def _formula(tex: str) -> str:
    """A short formula as it is read, such as ``ε=4.38``; dots for any other."""
    for name, letter in LETTERS.items():
        tex = re.sub(rf"\\(?:var)?{name}(?![a-z]) ?", letter, tex)
    return tex if re.fullmatch(r"[\w.,=+()/-]{1,12}", tex) else "…"


def _titled(node: nodes.Node) -> bool:
    """Whether a node is a section; the content of an exercise is one without a title."""
    return isinstance(node, nodes.section) and isinstance(node[0], nodes.title)


def _prose(section: nodes.section) -> str:
    return " ".join("".join(_words(section)).split())


def _plain(title: nodes.Node) -> str:
    return " ".join("".join(text for child in title.children for text in _words(child)).split())


def _statements(app: Sphinx) -> Iterator[Entry]:
    """The statements of the papers and their errata, by name and identifier."""
    ledger = getattr(app, "book_ledger", None)
    for claim, row in ledger.rows.items() if ledger else ():
        source = ledger.inventory.sources[row.claim.paper].cited
        name, words = f"{row.claim.label}. {row.claim.name}", f"{claim} {row.claim.statement}"
        told = [(f"claim:{claim}", name, words)]
        for number, wrong in enumerate(row.errata, start=1):
            words = f"{wrong.location}: {wrong.printed} {wrong.correct} {claim}"
            told.append((f"erratum:{claim}-{number}", f"Erratum of {row.claim.label}", words))
        for target, heading, text in told:
            place = address(app.env, target)
            if place:
                plain = re.sub(r"\$+([^$]*)\$+", lambda found: _formula(found[1]), text)
                where = f"{place[0]}.html#{place[1]}"
                yield where, source, heading, " ".join(plain.split())


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the sections of all pages."""
    if exception is None and app.builder.format == "html":
        pages: dict[str, list[Entry]] = app.book_search  # type: ignore[attr-defined]
        entries = [entry for page in sorted(pages) for entry in pages[page]]
        entries += _statements(app)
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        letters = json.dumps({letter: name for name, letter in LETTERS.items()}, ensure_ascii=False)
        text = f"searchLetters={letters}\nsearchSections={text}\n"
        (Path(app.outdir) / FILE).write_text(text, "utf-8")
