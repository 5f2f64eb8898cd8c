"""The rendered pages as a reading edition: no code, no evidence, solutions at the back."""

from __future__ import annotations

import copy
import html
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

HERE = Path(__file__).parent
# Pages that are read on a screen alone, and what belongs to it on the others.
LEFT_OUT = {"book/ledger", "book/graph"}
LEFT_OUT |= {"book/instructors", "book/assignments", "book/machines"}
SCREEN = "script, noscript, form, .headerlink, .copybtn, .dp-controls, .dp-caption"
SCREEN += ", .sd-summary-state-marker"
# Code that is not the lesson, all of a verdict but its line, all of an explorer but a picture.
EVIDENCE = ".dp-code, .dpd-verdict > details > :not(summary), .dp-explorer > details"
EVIDENCE += "".join(f', .erratum dt:-soup-contains("Evidence"){dd}' for dd in ("", " + dd"))
IDS = ("for", "aria-labelledby", "aria-describedby", "headers")
# Each chapter is printed alone. A link has this address until they are joined.
INSIDE = "https://inside.invalid/#"
SOLUTIONS = "Solutions to the exercises"
LEFT = """This is the edition to read. The book's pages also hold the code of its figures, the
checks behind each verdict, the ledger (as data in ledger.json), the graph of claims, explorers
that move, a form that computes, a search and what instructors need."""


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents: kind part, chapter or section; where it leads."""

    kind: str
    title: str
    target: str


@dataclass
class Chapter:
    """A page of the book as it is printed."""

    head: str
    body: str


@dataclass(frozen=True)
class Imprint:
    """What the title page says."""

    title: str
    subtitle: str
    author: str
    version: str
    commit: str
    date: str


def book_pages(root: Path) -> Iterator[tuple[str, str]]:
    """Pages of the edition in order, each with the caption of its part ("" for the title page)."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    yield toc["root"], ""
    for part in toc.get("parts", [{"caption": "", "chapters": toc.get("chapters", [])}]):
        for chapter in part["chapters"]:
            if chapter["file"] not in LEFT_OUT:
                yield chapter["file"], part["caption"]


def anchor(page: str, fragment: str = "") -> str:
    """Id in the document of a page, or of a place on it."""
    return re.sub(r"[^A-Za-z0-9]+", "-", page) + (
        "--" + re.sub(r"[^A-Za-z0-9_.-]", "-", fragment) if fragment else ""
    )


def solutions_of(page: str) -> str:
    """Name of the page on which the site has the solutions of a chapter, if it has any."""
    return f"solutions/{page.removeprefix('notebooks/')}"


def words(tag: Tag) -> str:
    """Text of a heading on one line, without the link that the theme adds."""
    tag = copy.copy(tag)
    if tag.select(".math"):
        raise ValueError(f"a heading of the contents has a formula: {tag.get_text()}")
    for link in tag.select(".headerlink"):
        link.decompose()
    return " ".join(tag.get_text().split())


class Assembly:
    """The document, page by page, from the folder of the rendered book.

    `pages` come with the captions of their parts; links to other pages become plain text.
    """

    def __init__(self, site: Path, pages: list[tuple[str, str]]) -> None:
        self.site = site.resolve()
        self.pages = pages
        self.solved = [page for page, _ in pages if (site / f"{solutions_of(page)}.html").exists()]
        self.names = {page for page, _ in pages} | {*map(solutions_of, self.solved)}
        self.entries: list[Entry] = []
        self.chapters: list[Chapter] = []
        self.style: dict[str, str] = {}
        self.led: set[str] = set()  # ids to which a link leads
        part = ""
        for page, caption in pages:
            before = self._part(caption) if caption and caption != part else ""
            part = caption
            self._page(page, before)
        if self.solved:
            self._solutions()
        self.led.update(entry.target for entry in self.entries)

    def _part(self, caption: str) -> str:
        target = anchor("part", caption)
        self.entries.append(Entry("part", caption, target))
        return f'<h1 class="paper-part" id="{target}">{html.escape(caption)}</h1>'

    def _chapter(self, head: str, body: str) -> None:
        self.chapters.append(Chapter(head, f'<section class="paper-chapter">{body}</section>'))

    def _article(self, page: str) -> Tag:
        """Read a page and leave out what belongs to the screen."""
        text = (self.site / f"{page}.html").read_text("utf-8")
        soup = BeautifulSoup(text, "html.parser")
        article = soup.select_one("article.bd-article")
        if article is None or article.h1 is None:
            raise ValueError(f"{page}: no article with a heading in the rendered page")
        self._head(soup)
        for tag in article.select(SCREEN):
            tag.decompose()
        for frame in article.select(".dp-frame[aria-label]"):
            frame.svg["role"], frame.svg["aria-label"] = "img", frame["aria-label"]
            del frame["role"], frame["aria-label"]
        for tag in article.select(EVIDENCE):
            for place in [tag, *tag.select("[id]")]:  # links to a check lead to its verdict
                if place.get("id"):
                    tag.insert_before(soup.new_tag("a", id=place["id"]))
            tag.decompose()
        for details in article.select("details"):
            details["open"] = ""
        for style in article.select("style"):
            self.style.setdefault(style.text, "")
            style.decompose()
        self._addresses(article, page)
        return article

    def _page(self, page: str, before: str) -> None:
        """Add a page, with what stands before it."""
        article = self._article(page)
        title, target = words(article.h1), anchor(page)
        article.h1["id"] = target
        self.entries.append(Entry("chapter", title, target))
        for heading in article.select("h2"):
            section = heading.find_parent("section")
            if section is None or heading.find_parent(class_="admonition"):
                continue
            heading["id"] = f"{section['id']}-h"
            self.entries.append(Entry("section", words(heading), str(heading["id"])))
        for formula in article.select(".ledger-tex"):
            formula["class"] = ["math"]
        self._chapter(title, before + article.decode_contents())

    def _solutions(self) -> None:
        """Add the solutions of all chapters; their exercises stand in the chapters."""
        titles = {entry.target: entry.title for entry in self.entries}
        body = ""
        self.entries.append(Entry("chapter", SOLUTIONS, "solutions"))
        for page in self.solved:
            title, target = titles[anchor(page)], anchor(solutions_of(page))
            self.entries.append(Entry("section", title, target))
            boxes = self._article(solutions_of(page)).select(".solution")
            body += f'<h2 id="{target}">{html.escape(title)}</h2>{"".join(map(str, boxes))}'
        body = f'<h1 id="solutions">{SOLUTIONS}</h1><div class="paper-solutions">{body}</div>'
        self._chapter(SOLUTIONS, body)

    def _head(self, soup: BeautifulSoup) -> None:
        """Take style sheets and MathJax from the first page; they are the same for all."""
        if hasattr(self, "links"):
            return
        self.links = [
            (self.site / "_static" / str(link["href"]).split("_static/")[1].split("?")[0]).as_uri()
            for link in soup.select("link[rel=stylesheet]")
        ]
        scripts = soup.select("script")
        config = [s.text for s in scripts if "window.MathJax" in s.text]
        source = [str(s["src"]) for s in scripts if "mathjax" in str(s.get("src", ""))]
        self.mathjax = f"<script>{config[0]}</script>" if config else ""
        if source:
            path = self.site / "_static" / source[0].split("_static/")[1].split("?")[0]
            self.mathjax += f'<script defer src="{path.as_uri()}"></script>'

    def _addresses(self, article: Tag, page: str) -> None:
        """Make ids unique in the document; turn addresses into places in it or files."""
        folder = (self.site / page).parent
        for tag in article.select("[id]"):
            if not tag.find_parent("svg"):
                tag["id"] = anchor(page, str(tag["id"]))
        for name in IDS:
            for tag in article.select(f"[{name}]"):
                tag[name] = " ".join(anchor(page, part) for part in str(tag[name]).split())
        for tag in article.select("[src]"):
            if not urlsplit(str(tag["src"])).scheme:
                tag["src"] = (folder / unquote(str(tag["src"]))).resolve().as_uri()
        for tag in article.select("a[href]"):
            parts = urlsplit(str(tag["href"]))
            if parts.scheme or parts.netloc:
                continue
            path = (folder / unquote(parts.path)).resolve() if parts.path else None
            leads = page if path is None else path.relative_to(self.site).as_posix()
            leads = leads.removesuffix(".html")
            if leads in self.names:
                target = anchor(leads, unquote(parts.fragment))
                self.led.add(target)
                tag["href"] = INSIDE + target
            else:
                del tag["href"]

    def front(self, imprint: Imprint, fonts: Path) -> str:
        """The title page and the table of contents, with empty page numbers."""
        line = f'<a class="paper-{{kind}}-line" href="{INSIDE}{{target}}"><span>{{title}}</span>'
        line += '<span class="paper-number" data-target="{target}">0000</span></a>'
        contents = "\n".join(
            line.format(**{k: html.escape(v) for k, v in asdict(e).items()}) for e in self.entries
        )
        names = {k: html.escape(v) for k, v in asdict(imprint).items()}
        body = f"""
<section class="paper-title"><p class="paper-name">{names["title"]}</p>
<p class="paper-subtitle">{names["subtitle"]}</p><p>{names["author"]}</p>
<p>Version {names["version"]}, {names["date"]}<br>commit <code>{names["commit"]}</code></p>
<p class="paper-licence">{LEFT}</p>
<p>Text and figures: CC BY 4.0. Code: MIT.</p></section>
<nav class="paper-contents"><h1>Contents</h1>
{contents}</nav>"""
        return self._document(body, "Contents", fonts)

    def chapter(self, chapter: Chapter, fonts: Path) -> str:
        """A chapter, after the page of its part where it is the first one.

        A browser gives a place to those ids alone to which the document itself links: it gets
        links that are not shown.
        """
        places = self.led.intersection(re.findall(r' id="([^"]+)"', chapter.body))
        hidden = "".join(f'<a href="#{place}"></a>' for place in sorted(places))
        body = f'{chapter.body}<div style="display: none">{hidden}</div>'
        return self._document(body, chapter.head, fonts)

    def _document(self, body: str, head: str, fonts: Path) -> str:
        sheet = (HERE / "paper.css").read_text("utf-8").replace("FONTS", fonts.as_uri())
        sheet = sheet.replace("RUNNING_HEAD", css_string(head))
        styles = "\n".join([*self.style, sheet])
        links = "".join(f'<link rel="stylesheet" href="{link}">' for link in self.links)
        return f"""<!doctype html>
<html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">
<title>{html.escape(head)}</title>{links}<style>{styles}</style>{self.mathjax}</head>
<body><main class="bd-main"><div class="bd-content"><div class="bd-article-container">
<article class="bd-article">{body}</article></div></div></main></body></html>
"""


def css_string(text: str) -> str:
    """Text as a CSS string."""
    return '"' + text.replace("\\", r"\5c ").replace('"', r"\22 ") + '"'
