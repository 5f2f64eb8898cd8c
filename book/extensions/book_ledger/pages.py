"""Pages from templates: Jinja writes the HTML; Markdown and links in it become nodes of the page.

A template of ``book/extensions/templates`` is filled when a page is read. What it gives to
``markdown`` is parsed in the language of the page; a ``link`` finds its way when the page is
written, since only then every page is known. Builders that write no HTML keep the Markdown alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from dpdynamics.verification import rendering

from .inventory import Chapter, slug
from .ledger import Ledger
from .scripts import Script
from .wording import comparison, figure, verdict_class

LEDGER_LABEL = "ledger-of-claims"  # set by the {ledger} directive
ERRATA_LABEL = "errata-of-papers"  # set by the {errata} directive
PLACE = re.compile("\ue000(\\d+)\ue001")  # of a node in the text of a filled template

ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
    autoescape=select_autoescape(["html"]),
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
ENVIRONMENT.globals |= {
    "SYMBOLS": rendering.SYMBOLS,
    "comparison": comparison,
    "rendering": rendering,
}
ENVIRONMENT.filters |= {"figure": figure, "verdict_class": verdict_class}


class Link(nodes.Inline, nodes.TextElement):
    """A link to ``target``; it leads nowhere where that is not in the book."""


def fill(
    template: str, markdown: Callable[[str], list[nodes.Node]] | None = None, **data: Any
) -> list[nodes.Node]:
    """The nodes of a filled template, in which a node that is no HTML yet has a numbered place.

    A template calls ``link(target, text)``, see :func:`address`, and ``markdown(text)``: with
    ``inline`` for a paragraph's content alone, ``lazy`` for formulas that are typeset on demand.
    """
    kept: list[list[nodes.Node]] = []

    def keep(found: list[nodes.Node]) -> Markup:
        kept.append(found)
        return Markup(f"\ue000{len(kept) - 1}\ue001")

    def link(target: str, text: str = "", **attributes: Any) -> Markup:
        caller = attributes.pop("caller", None)
        content = _raw(caller()) if caller else nodes.Text(text)
        html = {key.replace("_", "-"): str(value) for key, value in attributes.items()}
        return keep([Link("", "", content, target=target, html=html)])

    def parsed(text: str, lazy: bool = False, inline: bool = False) -> Markup:
        found = markdown(text) if markdown else []
        if inline and len(found) == 1 and isinstance(found[0], nodes.paragraph):
            found = list(found[0].children)
        return keep(untypeset(found) if lazy else found)

    text = ENVIRONMENT.get_template(template).render(markdown=parsed, link=link, **data)
    result: list[nodes.Node] = []
    for index, piece in enumerate(PLACE.split(text)):
        result += kept[int(piece)] if index % 2 else [_raw(piece)]
    return result


def _raw(html: str) -> nodes.raw:
    return nodes.raw("", str(html), format="html")


def untypeset(parsed: list[nodes.Node]) -> list[nodes.Node]:
    """Replace formulas by their TeX, which the script hands to MathJax on demand."""
    holder = nodes.container("", *parsed)
    for node in list(holder.findall(lambda n: isinstance(n, nodes.math | nodes.math_block))):
        opening, closing = (r"\(", r"\)") if isinstance(node, nodes.math) else (r"\[", r"\]")
        tex = f'<span class="ledger-tex">{opening}{escape(node.astext())}{closing}</span>'
        node.replace_self(_raw(tex))
    return holder.children


class LedgerDirective(SphinxDirective):
    """A directive that fills templates with what it reads from the ledger."""

    templates: tuple[str, ...] = ()

    @property
    def ledger(self) -> Ledger:
        """The ledger of this build."""
        return self.env.app.book_ledger  # type: ignore[attr-defined]

    @property
    def scripts(self) -> list[Script]:
        """The script of every erratum."""
        return self.env.app.book_scripts  # type: ignore[attr-defined]

    def run(self) -> list[nodes.Node]:
        """Fill the templates, each with the same data."""
        data = self.data()
        if data is None:
            return []
        data |= {"ledger": self.ledger, "page": self.page}
        result: list[nodes.Node] = []
        for name in self.templates:
            if name.endswith(".md"):
                result += self.markdown(ENVIRONMENT.get_template(name).render(**data))
            else:
                result += fill(name, self.markdown, **data)
        return result

    def data(self) -> dict[str, Any] | None:
        """What the templates are filled with; None if the directive stands for nothing."""
        return {}

    def markdown(self, text: str) -> list[nodes.Node]:
        """Parse text in the language of the page (MyST)."""
        return self.parse_text_to_nodes(text)

    def note_target(self, label: str, fragment: str, title: str) -> None:
        """Let links from other pages find a place on this one."""
        domain = self.env.get_domain("std")
        domain.note_hyperlink_target(label, self.env.docname, fragment, title)  # type: ignore[attr-defined]

    def page(self, chapter: Chapter) -> str:
        """A chapter as a link in Markdown."""
        return f"{{doc}}`{chapter.title} </{chapter.docname}>`"


def address(env: BuildEnvironment, target: str) -> tuple[str, str] | None:
    """Page and fragment of a link's target; None if it is not in the book.

    A target is ``claim:ID`` (its box or row), ``ledger:ID``, ``verdict:ID``, ``erratum:ID-N``,
    ``page:DOCNAME``, or ``check:ID/NAME`` for one check of a verdict.
    """
    where, _, claim = target.partition(":")
    labels = env.get_domain("std").data["anonlabels"]
    if where == "page":
        return (claim, "") if claim in env.found_docs else None
    if where == "claim" and f"claim-{slug(claim)}" in labels:
        return labels[f"claim-{slug(claim)}"]
    if where in ("verdict", "check"):
        claim, _, check = claim.partition("/")
        row = env.app.book_ledger.rows[claim]  # type: ignore[attr-defined]
        page = row.chapter.docname
        checks = [record["name"] for record in row.decision.checks] if check else []
        number = f"-{checks.index(check) + 1}" if check else ""
        return (page, f"{where}-{slug(claim)}{number}") if page in env.found_docs else None
    label, kind = (ERRATA_LABEL, where) if where == "erratum" else (LEDGER_LABEL, "ledger")
    return (labels[label][0], f"{kind}-{slug(claim)}") if label in labels else None


def uri(builder: StandaloneHTMLBuilder, page: str, target: str) -> str | None:
    """Address of a link's target as seen from a page; ``site:PATH`` is a file of the site."""
    where, _, path = target.partition(":")
    if where == "site":
        return "../" * page.count("/") + path
    found = address(builder.env, target)
    if found is None:
        return None
    file = builder.get_relative_uri(page, found[0])
    return f"{file}#{found[1]}" if found[1] else file


def _visit_link(self: Any, node: Link) -> None:
    href = uri(self.builder, self.builder.current_docname, node["target"])
    html = {**node["html"], "href": href} if href else node["html"]
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in html.items())
    self.body.append(f"<a{attributes}>")


def _depart_link(self: Any, node: Link) -> None:
    self.body.append("</a>")


def _skip(self: Any, node: nodes.Node) -> None:
    raise nodes.SkipNode


def register(app: Sphinx) -> None:
    """Tell every builder what to do with links."""
    others = dict.fromkeys(("latex", "text", "man", "texinfo"), (_skip, None))
    app.add_node(Link, html=(_visit_link, _depart_link), **others)
