"""HTML elements as docutils nodes, and links that find their way when a page is written.

Docutils has no table with several bodies, no badge and no disclosure. :class:`Tag` is any HTML
element; other builders keep its content and drop the element. :class:`HtmlOnly` is dropped whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment

from dpdynamics.verification import rendering

from .evidence import PLANNED
from .inventory import slug

SYMBOLS = {**rendering.SYMBOLS, PLANNED: "○"}
LEDGER_LABEL = "ledger-of-claims"  # set by the {ledger} directive
ERRATA_LABEL = "errata-of-papers"  # set by the {errata} directive
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Tag(nodes.General, nodes.Element):
    """One HTML element: ``tag`` and its attributes ``html``."""


class HtmlOnly(Tag):
    """An HTML element that other builders leave out with its content."""


class Link(nodes.Inline, nodes.TextElement):
    """A link to what is decided in ``target``; plain text where that is not in the book."""


def tag(name: str, *children: nodes.Node | str, only: bool = False, **attributes: Any) -> Tag:
    """An HTML element; ``class_`` and ``for_`` lose the underscore, other ones become hyphens."""
    html = {
        key.rstrip("_").replace("_", "-"): str(value)
        for key, value in attributes.items()
        if value is not None
    }
    node = (HtmlOnly if only else Tag)("", tag=name, html=html)
    node += [nodes.Text(child) if isinstance(child, str) else child for child in children]
    return node


def link(target: str, *children: nodes.Node | str, **attributes: Any) -> Link:
    """A link to ``claim:ID`` (its box or row), ``ledger:ID``, ``verdict:ID``, ``erratum:ID-N`` or
    ``site:PATH``.
    """
    inner = tag("a", *children, **attributes)
    return Link("", "", *inner.children, target=target, html=inner["html"])


def badge(verdict: str, word: str = "") -> Tag:
    """Symbol and word of a verdict; the colour comes from the class."""
    symbol = tag("span", SYMBOLS[verdict], aria_hidden="true")
    classes = f"ledger-badge {verdict_class(verdict)}"
    return tag("span", symbol, f" {word or verdict}", class_=classes)


def outcome_badge(outcome: str) -> Tag:
    """Symbol and word of the outcome of a check, drawn like the verdict that it suggests."""
    return badge(rendering.DRAWN_LIKE[outcome], outcome)


def verdict_class(verdict: str) -> str:
    """CSS class that carries a verdict's colours."""
    return "v-" + re.sub(r"\W+", "-", verdict)


def filters(label: str, choices: Mapping[str, list[tuple[str, str]]], status: str) -> Tag:
    """A form of selectors by name, each with values and words, and a field for text."""
    fields = []
    for name, options in choices.items():
        offered = (tag("option", words, value=value) for value, words in [("", "all"), *options])
        selector = tag("select", *offered, data_filter=name)
        fields.append(tag("label", tag("span", name.capitalize()), selector))
    search = tag("label", tag("span", "Text"), tag("input", type="search", data_filter="text"))
    clear = tag("button", "Clear", type="reset")
    told = tag("p", status, class_="ledger-status", role="status")
    form = {"class_": "ledger-filters", "hidden": "hidden", "aria_label": label}
    return tag("form", *fields, search, clear, told, **form)


def joined(items: Iterable[nodes.Node], separator: str = ", ") -> list[nodes.Node]:
    """Nodes with text between them."""
    result: list[nodes.Node] = []
    for item in items:
        result += [nodes.Text(separator), item] if result else [item]
    return result


def figure(value: float | str | None, digits: int = 2) -> str:
    """A number of the evidence for a reader: ``12``, ``3.4 × 10⁵``, ``∞``."""
    if value is None:
        return ""
    value = float(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPT)}"
    short = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e" in short else short


def address(env: BuildEnvironment, target: str) -> tuple[str, str] | None:
    """Page and fragment of a link's target; None if it is not in the book."""
    where, _, claim = target.partition(":")
    labels = env.get_domain("std").data["anonlabels"]
    if where == "claim" and f"claim-{slug(claim)}" in labels:
        return labels[f"claim-{slug(claim)}"]
    if where in ("claim", "ledger"):
        page = labels.get(LEDGER_LABEL)
        return (page[0], f"ledger-{slug(claim)}") if page else None
    if where == "erratum":
        page = labels.get(ERRATA_LABEL)
        return (page[0], f"erratum-{slug(claim)}") if page else None
    row = env.app.book_ledger.rows[claim]  # type: ignore[attr-defined]
    page = row.chapter.docname if row.verdict != PLANNED else None
    return (page, f"verdict-{slug(claim)}") if page in env.found_docs else None


def uri(builder: StandaloneHTMLBuilder, page: str, target: str) -> str | None:
    """Address of a link's target as seen from a page."""
    where, _, path = target.partition(":")
    if where == "site":  # a file below the root of the site
        return "../" * page.count("/") + path
    found = address(builder.env, target)
    if found is None:
        return None
    return f"{builder.get_relative_uri(page, found[0])}#{found[1]}"


def start(name: str, html: dict[str, str]) -> str:
    """Opening tag."""
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in html.items())
    return f"<{name}{attributes}>"


def picture(width: float, height: float, label: str, arrow: str) -> str:
    """Opening tag of a picture, and the head of its arrows."""
    size = {"viewBox": f"0 0 {width:.0f} {height:.0f}", "width": f"{width:.0f}"}
    words = {"height": f"{height:.0f}", "role": "group", "aria-label": label}
    return (
        f'{start("svg", size | words)}<defs><marker id="{arrow}" viewBox="0 0 8 8" refX="7" '
        'refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0.8 7 4 0 7.2Z"/>'
        "</marker></defs>"
    )


def _visit_tag(self: Any, node: Tag) -> None:
    self.body.append(start(node["tag"], node["html"]))


def _depart_tag(self: Any, node: Tag) -> None:
    if node["tag"] != "input":
        self.body.append(f"</{node['tag']}>")


def _visit_link(self: Any, node: Link) -> None:
    href = uri(self.builder, self.builder.current_docname, node["target"])
    html = {**node["html"], **({"href": href} if href else {})}
    self.body.append(start("a" if href else "span", html))
    node["closing"] = "</a>" if href else "</span>"


def _depart_link(self: Any, node: Link) -> None:
    self.body.append(node["closing"])


def _pass(self: Any, node: nodes.Node) -> None:
    return


def _skip(self: Any, node: nodes.Node) -> None:
    raise nodes.SkipNode


def add_node(app: Sphinx, node: type, visit: Any, depart: Any, others: Any = (_skip, None)) -> None:
    """Tell every builder what to do with a node; builders without HTML leave it out."""
    rest = dict.fromkeys(("latex", "text", "man", "texinfo"), others)
    app.add_node(node, html=(visit, depart), **rest)


def add_drawing(app: Sphinx, node: type, draw: Callable[[Any, Any], str]) -> None:
    """Let ``draw(builder, node)`` give the HTML of a node when its page is written."""

    def visit(self: Any, node: nodes.Element) -> None:
        self.body.append(draw(self.builder, node))
        raise nodes.SkipNode

    add_node(app, node, visit, None)


def register(app: Sphinx) -> None:
    """Tell every builder what to do with these nodes."""
    add_node(app, Tag, _visit_tag, _depart_tag, (_pass, _pass))
    add_node(app, Link, _visit_link, _depart_link, (_pass, _pass))
    add_node(app, HtmlOnly, _visit_tag, _depart_tag)
