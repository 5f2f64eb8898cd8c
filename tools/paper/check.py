"""A PDF of the book compared with the rendered pages it was made from."""

from __future__ import annotations

import html
import multiprocessing
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pypdf import PdfReader
from pypdf.generic import DictionaryObject

from paper.assemble import SOLUTIONS, anchor, solutions_of
from paper.finish import places

PAGES, MEGABYTES = 450, 15
# Left margin in points, and points in a CSS pixel of the text: where something is wider than the
# page, Chromium prints all of the document smaller and cuts the rest off.
MARGIN, SCALE = 51, 0.75
# Height in points of a page's number at its foot, and of its running head.
EDGE = 40
# Fonts of code, in which a backslash is no raw formula.
CODE_FONT = "Mono"
RAW = re.compile(r"\\[(\[)\]]|\$\$|\\(?:begin|end|frac|sqrt|left|right|math\w+|[a-z]{3,})\b")
PICTURE = re.compile(r"<img [^>]*>|<div [^>]*class=\"dp-frame\"[^>]*>")
NAME = re.compile(r"(?:alt|aria-label)=\"([^\"]*)\"")
FORMULA = re.compile(r"<(?:span|div) class=\"(?:math |ledger-tex)")
CAPTION = re.compile(r"<span class=\"caption-number\">(.*?)</span>")
SOLUTION = re.compile(r'<div class="solution[^"]*" id="([^"]*)"')
HEADING = re.compile(r"<h([12])[^>]*>(.*?)</h\1>", re.DOTALL)
# A statement that the page of solutions repeats; the PDF does not.
EXERCISE = re.compile(r'<div class="exercise.*?(?=<div class="solution)', re.DOTALL)
INVISIBLE = re.compile(r"<a class=\"headerlink\".*?</a>|<[^>]+>", re.DOTALL)


def squeezed(text: str) -> str:
    """Text without blanks, soft hyphens and ligatures: a line may break anywhere."""
    return re.sub(r"[\s\u00ad\u200b]+", "", unicodedata.normalize("NFKC", text))


@dataclass
class Wanted:
    """What the pages of the site say that a PDF of them must hold."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    pictures: Counter[str] = field(default_factory=Counter)
    captions: Counter[str] = field(default_factory=Counter)
    formulas: int = 0
    solutions: list[str] = field(default_factory=list)


def article(site: Path, page: str) -> str:
    """What is to be read on a page of the site, as HTML."""
    text = (site / f"{page}.html").read_text("utf-8")
    return text[text.index("<article ") : text.index("</article>")]


def wanted(site: Path, pages: list[tuple[str, str]]) -> Wanted:
    """Read the site: headings with their levels, descriptions of pictures, numbers of figures."""
    found, part, solved = Wanted(), "", list[tuple[int, str]]()
    for page, caption in pages:
        if caption and caption != part:
            found.headings.append((0, caption))
        part = caption
        text = article(site, page)
        for level, words in HEADING.findall(text):
            plain = html.unescape(INVISIBLE.sub("", words))
            found.headings.append((int(level), " ".join(plain.split())))
        back = solutions_of(page)
        if (site / f"{back}.html").exists():
            title = next(words for level, words in reversed(found.headings) if level == 1)
            solved.append((2, title))
            solutions = EXERCISE.sub("", article(site, back))
            found.solutions += [anchor(back, place) for place in SOLUTION.findall(solutions)]
            text += solutions
        for tag in PICTURE.findall(text):
            name = NAME.search(tag)
            found.pictures[" ".join(html.unescape(name[1] if name else "").split())] += 1
        found.formulas += len(FORMULA.findall(text))
        found.captions.update(" ".join(html.unescape(c).split()) for c in CAPTION.findall(text))
    if solved:
        found.headings += [(1, SOLUTIONS), *solved]
    return found


@dataclass
class Page:
    """Text of a page: all, that in no font of code, between head and foot; the box it covers."""

    text: str
    prose: str
    body: str
    footer: str
    left: float
    right: float
    bottom: float
    top: float
    scale: float


def read_page(page: Any) -> Page:
    """Extract the text of a page with its places, in points."""
    everything: list[str] = []
    prose: list[str] = []
    spots: list[tuple[float, float, str]] = []
    scales: list[float] = []
    line: tuple[Any, ...] = ()  # where the last visible text stood: an empty one tells its end

    def visit(text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        nonlocal line
        everything.append(text)
        if CODE_FONT not in str((font or {}).get("/BaseFont", "")):
            prose.append(text)
        if abs(cm[4] - MARGIN) < 0.5:
            scales.append(cm[0])
        here = (tuple(cm), tm[5])
        stretched = abs(cm[0]) > 2 or abs(cm[3]) > 2  # a brace, made of one stretched glyph
        if not stretched and (text.strip() or here == line):
            x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
            y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
            spots.append((x, y, text.strip()))
        line = here if text.strip() else ()

    page.extract_text(visitor_text=visit)
    xs, ys = [s[0] for s in spots] or [0.0], [s[1] for s in spots] or [0.0]
    top = float(page.mediabox.height) - EDGE
    body = "".join(s[2] for s in spots if EDGE <= s[1] <= top)
    footer = "".join(s[2] for s in spots if s[1] < EDGE)
    edges = min(xs), max(xs), min(ys), max(ys)
    scale = scales[0] if scales else SCALE
    return Page("".join(everything), "".join(prose), body, footer, *edges, scale)


def _read_some(path: Path, pages: range) -> list[Page]:
    with PdfReader(path) as reader:
        return [read_page(reader.pages[k]) for k in pages]


def read_pages(path: Path, count: int, together: int = 100) -> list[Page]:
    """Read all pages; those of a long document in one process for each core."""
    if count <= 3 * together:
        return _read_some(path, range(count))
    chunks = [range(k, min(k + together, count)) for k in range(0, count, together)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        parts = pool.map(_read_some, [path] * len(chunks), chunks)
        return [page for part in parts for page in part]


def outline(reader: PdfReader) -> Iterator[tuple[int, str, int]]:
    """Bookmarks with depth from 0 and page from 1."""

    def walk(items: list[Any], depth: int) -> Iterator[tuple[int, str, int]]:
        for item in items:
            if isinstance(item, list):
                yield from walk(item, depth + 1)
            else:
                yield depth, str(item.title), (reader.get_destination_page_number(item) or 0) + 1

    yield from walk(reader.outline, 0)


def tagged(reader: PdfReader) -> dict[str, Counter[str]]:
    """Descriptions of what is tagged /Figure and /Formula and has content on a page."""
    found: dict[str, Counter[str]] = {"/Figure": Counter(), "/Formula": Counter()}
    todo = [reader.trailer["/Root"].get("/StructTreeRoot")]
    while todo:
        thing = todo.pop()
        thing = thing.get_object() if hasattr(thing, "get_object") else thing
        if isinstance(thing, list):
            todo.extend(thing)
        elif isinstance(thing, DictionaryObject):
            kind = thing.get("/S")
            if kind in found and "/Alt" in thing and "/K" in thing:
                found[kind][" ".join(str(thing["/Alt"]).split())] += 1
            elif "/K" in thing:
                todo.append(thing.raw_get("/K"))
    return found


def fonts_outside(page: Any) -> set[str]:
    """Names of the fonts of a page that the file does not hold."""
    missing = set()
    for font in page["/Resources"].get("/Font", {}).values():
        font = font.get_object()
        inner = font.get("/DescendantFonts", [font])[0].get_object()
        descriptor = inner.get("/FontDescriptor", {})
        held = any(key.startswith("/FontFile") for key in descriptor)
        if font["/Subtype"] != "/Type3" and not held:
            missing.add(str(font.get("/BaseFont")))
    return missing


def check(path: Path, site: Path, pages: list[tuple[str, str]]) -> list[str]:
    """Faults of a PDF of some pages of the book; none when it is as it should be.

    Compares bookmarks, their pages and the numbers printed in the contents with the headings of
    the site; looks for raw formulas, missing figures, captions and solutions, dead links, text
    outside the page, fonts that are not embedded, wrong page numbers, missing metadata, and more
    than is good to read.
    """
    faults: list[str] = []
    target = wanted(site, pages)
    with PdfReader(path) as reader:
        texts = read_pages(path, len(reader.pages))
        faults += _headings(list(outline(reader)), texts, target)
        marked = tagged(reader)
        faults += _figures(marked["/Figure"], texts, target)
        formulas = marked["/Formula"].total()
        if formulas < target.formulas:
            faults.append(f"{formulas} formulas, the site has {target.formulas}")
        faults += [f"no solution: {name}" for name in {*target.solutions} - {*places(reader)}]
        if len(texts) > PAGES:
            faults.append(f"{len(texts)} pages, more than {PAGES}")
        if path.stat().st_size > MEGABYTES * 1e6:
            faults.append(f"{path.stat().st_size / 1e6:.1f} MB, more than {MEGABYTES}")
        faults += _pages(reader, texts)
        faults += _links(reader)
        faults += _document(reader)
    return faults


def _headings(marks: list[tuple[int, str, int]], texts: list[Page], target: Wanted) -> list[str]:
    faults = []
    titles = [title for _, title, _ in marks]
    expected = [title for _, title in target.headings]
    faults += [f"no bookmark: {title}" for title in (Counter(expected) - Counter(titles))]
    faults += [f"bookmark of nothing: {title}" for title in (Counter(titles) - Counter(expected))]
    if not faults and titles != expected:
        faults.append("the bookmarks are not in the order of the book")
    if not faults:
        part = 0
        for (level, title), (depth, _, _) in zip(target.headings, marks, strict=True):
            part = 1 if level == 0 else part
            if depth != (0 if level == 0 else level - 1 + part):
                faults.append(f"bookmark at the wrong depth: {title}")
    places_ = [page for _, _, page in marks]
    if places_ != sorted(places_):
        faults.append("the bookmarks do not follow the pages")
    for _, title, page in marks:
        if squeezed(title) not in squeezed(texts[page - 1].text):
            faults.append(f"not on page {page}, to which its bookmark leads: {title}")
    # The contents stand between the title page and the first heading of the book.
    first = marks[0][2] if marks else 2
    contents = squeezed("".join(page.body for page in texts[1 : first - 1]))
    lines = "".join(squeezed(f"{title}{page}") for _, title, page in marks)
    if contents != "Contents" + lines:
        start = next((k for k in range(len(lines)) if contents[8 + k : 9 + k] != lines[k]), 0)
        faults.append(
            f"the printed contents differ: {contents[8 + start - 30 : 8 + start + 30]!r}, "
            f"expected {lines[max(start - 30, 0) : start + 30]!r}"
        )
    return faults


def _figures(found: Counter[str], texts: list[Page], target: Wanted) -> list[str]:
    faults = [f"no figure: {words[:80]}" for words in (target.pictures - found)]
    if "" in target.pictures:
        faults.append("a picture of the site has no description")
    printed = squeezed("".join(page.text for page in texts))
    for caption, count in target.captions.items():
        if printed.count(squeezed(caption)) < count:
            faults.append(f"no caption: {caption}")
    return faults


def _pages(reader: PdfReader, texts: list[Page]) -> list[str]:
    faults = []
    for number, (page, text) in enumerate(zip(reader.pages, texts, strict=True), 1):
        width, height = float(page.mediabox.width), float(page.mediabox.height)
        if not (text.left > 20 and text.right < width - 20):
            faults.append(f"page {number}: text from {text.left:.0f} to {text.right:.0f} points")
        if abs(text.scale / SCALE - 1) > 0.001:
            faults.append(f"page {number}: printed at {text.scale / SCALE:.3f} of its size")
        if not (text.bottom > 10 and text.top < height - 10):
            faults.append(f"page {number}: text at height {text.bottom:.0f} to {text.top:.0f}")
        for raw in RAW.finditer(text.prose):
            near = text.prose[max(raw.start() - 30, 0) : raw.end() + 30]
            faults.append(f"page {number}: raw formula: {' '.join(near.split())}")
        if text.footer not in (str(number), ""):
            faults.append(f"page {number}: its number is {text.footer!r}")
        faults += [f"page {number}: not embedded: {name}" for name in fonts_outside(page)]
    unnumbered = sum(not text.footer for text in texts)
    if unnumbered > 1:
        faults.append(f"{unnumbered} pages without number, only the title page expected")
    return faults


def _links(reader: PdfReader) -> list[str]:
    faults, known, inner = [], places(reader), 0
    for number, page in enumerate(reader.pages, 1):
        for note in page.get("/Annots", []):
            note = note.get_object()
            if note.get("/Subtype") != "/Link":
                continue
            action = note.get("/A", {})
            place = note.get("/Dest", action.get("/D"))
            if place is not None:
                inner += 1
                named = isinstance(place, str)
                if named and str(place).removeprefix("/") not in known:
                    faults.append(f"page {number}: a link to nowhere: {place}")
            elif not str(action.get("/URI", "")).startswith(("https://", "http://")):
                faults.append(f"page {number}: a link out of the book: {action.get('/URI')}")
    if not inner:
        faults.append("no link inside the document")
    return faults


def _document(reader: PdfReader) -> list[str]:
    root, about = reader.trailer["/Root"], reader.metadata or {}
    faults = [f"no {key} in the metadata" for key in ("/Title", "/Author") if not about.get(key)]
    if root.get("/Lang") != "en":
        faults.append("no language")
    if not root.get("/MarkInfo", {}).get("/Marked"):
        faults.append("not tagged")
    return faults
