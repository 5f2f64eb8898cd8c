"""The rendered pages joined into one document: links turned inwards, folded code at the end."""

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
# What belongs to the screen alone. The data of an explorer go, its first frame and table stay.
SCREEN = "script, noscript, form, .headerlink, .copybtn, .dp-controls, .dp-caption"
SCREEN += ", .claim-tools, .toggle-button, .skip-link"
FOLDED = "details.hide, .dpd-verdict > details"
IDS = ("for", "aria-labelledby", "aria-describedby", "headers")
# Each chapter is printed alone. A link into another one has this address until they are joined.
INSIDE = "https://inside.invalid/#"
EXTRA = "Code and numbers of this chapter"


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents: kind part, chapter or section; where it leads."""

    kind: str
    title: str
    target: str
    page: str = ""


@dataclass
class Chapter:
    """A page of the book as it is printed; ``places`` are the ids to which links lead."""

    page: str
    head: str
    body: str
    places: set[str]


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
    """Pages of the book in order, each with the caption of its part ("" for the title page)."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    yield toc["root"], ""
    for part in toc.get("parts", [{"caption": "", "chapters": toc.get("chapters", [])}]):
        for chapter in part["chapters"]:
            yield chapter["file"], part["caption"]


def anchor(page: str, fragment: str = "") -> str:
    """Id in the document of a page, or of a place on it."""
    return re.sub(r"[^A-Za-z0-9]+", "-", page) + (
        "--" + re.sub(r"[^A-Za-z0-9_.-]", "-", fragment) if fragment else ""
    )


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
        self.names = {page for page, _ in pages}
        self.entries: list[Entry] = []
        self.chapters: list[Chapter] = []
        self.style: dict[str, str] = {}
        self.leads: dict[str, set[str]] = {page: set() for page in self.names}
        part = ""
        for page, caption in pages:
            before = self._part(page, caption) if caption and caption != part else ""
            part = caption
            self._page(page, before)

    def _part(self, page: str, caption: str) -> str:
        target = anchor("part", caption)
        self.entries.append(Entry("part", caption, target, page))
        return (
            f'<section class="paper-part"><h1 id="{target}">{html.escape(caption)}</h1></section>'
        )

    def _page(self, page: str, before: str) -> None:
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
            figure = frame.find_parent("figure")
            if figure is not None:  # the caption stands below the picture, the table after both
                for table in figure.select(".dp-explorer > details"):
                    figure.append(table.extract())
        for graph in article.select(".claim-canvas > svg"):
            spread(graph, soup)
        for style in article.select("style"):
            self.style.setdefault(style.text, "")
            style.decompose()
        self._addresses(article, page)
        target = anchor(page)
        article.h1["id"] = target
        self.entries.append(Entry("chapter", words(article.h1), target, page))
        for heading in article.select("h2"):
            section = heading.find_parent("section")
            if section is None or heading.find_parent(class_="admonition"):
                continue
            heading["id"] = f"{section['id']}-h"
            self.entries.append(Entry("section", words(heading), str(heading["id"]), page))
        self._unfold(article, page)
        for formula in article.select(".ledger-tex"):
            formula["class"] = ["math"]
        body = f'{before}<section class="paper-chapter">{article.decode_contents()}</section>'
        self.chapters.append(Chapter(page, words(article.h1), body, self.leads[page]))
        self.leads[page].update(e.target for e in self.entries if e.page == page)

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
                self.leads[leads].add(target)
                tag["href"] = ("#" if leads == page else INSIDE) + target
            else:
                del tag["href"]

    def _unfold(self, article: Tag, page: str) -> None:
        """Move folded code and numbers to the end of the chapter; leave a link in their place."""
        for details in article.select("details"):
            details["open"] = ""
        folded = article.select(FOLDED)
        if not folded:
            return
        target = anchor(page, "paper-folded")
        rows = [f'<h2 id="{target}">{EXTRA}</h2>']
        self.entries.append(Entry("section", EXTRA, target, page))
        for number, details in enumerate(folded, 1):
            summary = details.summary.extract()
            title = words(summary.p or summary)
            for pre in details.select("pre"):
                pre.string = pre.text.rstrip("\n")  # plain: thousands of coloured words are heavy
            here, there = f"{target}-from-{number}", f"{target}-{number}"
            rows.append(
                f'<div class="paper-listing"><p class="paper-listing-title" id="{there}">'
                f'<a href="#{here}">[{number}]</a> {html.escape(title)}</p>'
                f"{details.decode_contents()}</div>"
            )
            link = f'<p class="paper-link" id="{here}"><a href="#{there}">[{number}]</a> '
            link += f"{html.escape(title)}</p>"
            details.replace_with(BeautifulSoup(link, "html.parser"))
        listing = f'<section class="paper-listings">{"".join(rows)}</section>'
        article.append(BeautifulSoup(listing, "html.parser"))

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
<p class="paper-licence">Text and figures: CC BY 4.0. Code: MIT.</p></section>
<nav class="paper-contents"><h1>Contents</h1>
{contents}</nav>"""
        return self._document(body, "Contents", fonts)

    def chapter(self, chapter: Chapter, fonts: Path) -> str:
        """A chapter, after the page of its part where it is the first one.

        A browser gives a place to those ids alone to which the document itself links: it gets
        links that are not shown.
        """
        hidden = "".join(f'<a href="#{place}"></a>' for place in sorted(chapter.places))
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


def spread(graph: Tag, soup: BeautifulSoup) -> None:
    """Give each paper of the graph of claims a picture of its own, across the page if need be."""
    for paper in graph.select(".claim-paper"):
        x, y, width, height = map(float, str(paper["data-box"]).split())
        box = f"{x - 8} {y - 4} {width + 16} {height + 12}"
        picture = soup.new_tag("svg", attrs={"viewBox": box, "role": "group"})
        picture["aria-label"] = graph.get("aria-label", "")
        picture["class"] = "paper-graph paper-across" if width > 1100 else "paper-graph"
        picture.extend([copy.copy(part) for part in graph.find_all("defs", recursive=False)])
        picture.append(paper.extract())
        graph.insert_before(picture)
    graph.decompose()


def css_string(text: str) -> str:
    """Text as a CSS string."""
    return '"' + text.replace("\\", r"\5c ").replace('"', r"\22 ") + '"'
