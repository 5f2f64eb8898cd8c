"""The graph of claims as inline SVG: what rests on what, and how much of it has a verdict."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from .boxes import LedgerDirective
from .evidence import VERDICTS
from .inventory import KINDS, uses_graph
from .layout import Layout, Point, arrange
from .ledger import Ledger, Row
from .markup import SYMBOLS, add_drawing, picture, start, uri, verdict_class

WIDTH, HEIGHT = 98.0, 32.0  # of a node
GAP = 56.0  # between papers
HEAD = 40.0  # above a paper's graph, for its name

Href = Callable[[str], str | None]


class ClaimGraph(nodes.General, nodes.Element):
    """The place of a graph; it is drawn when the page is written, since links need the page."""


class GraphDirective(LedgerDirective):
    """``{claim-graph}``: all sources with a selector; with a source's key, that source."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave the place; an unknown key is an error."""
        self.depend()
        sources = self.ledger.inventory.sources
        if self.arguments and self.arguments[0] not in sources:
            raise self.error(f"{self.arguments[0]!r} is no source: {', '.join(sources)}")
        return [ClaimGraph("", papers=self.arguments or list(sources))]


def render(ledger: Ledger, papers: list[str], href: Href) -> str:
    """Draw the graphs of some papers in one picture, two in a row, with tools and a legend."""
    drawn = {key: arrange(uses_graph(ledger.inventory.of_paper(key))) for key in papers}
    boxes: dict[str, tuple[float, float, float, float]] = {}
    groups, y, width = [], 0.0, 0.0
    for pair in (papers[i : i + 2] for i in range(0, len(papers), 2)):
        x = 0.0
        for key in pair:
            layout = drawn[key]
            boxes[key] = (x, y, layout.width, layout.height + HEAD)
            groups.append(_group(ledger, key, layout, boxes[key], href))
            x += layout.width + GAP
        width = max(width, x - GAP)
        y += max(boxes[key][3] for key in pair) + GAP
    label = "Arrows run from a claim to the claims that rest on it"
    svg = picture(width, y - GAP, label, "claim-arrow")
    return (
        f'<div class="claim-graph" data-first="{_first(ledger, papers)}">'
        f"{_tools(ledger, papers)}"
        '<div class="claim-canvas" tabindex="0" role="region" aria-label="Graph of claims: arrow '
        f'keys move, plus and minus zoom, 0 fits">{svg}{"".join(groups)}</svg></div>'
        f"{_legend()}</div>"
    )


def _first(ledger: Ledger, papers: list[str]) -> str:
    """The paper that the page shows at first: the first one with a verdict."""
    begun = {row.claim.paper for row in ledger.rows.values() if row.decision}
    return next((key for key in papers if key in begun), papers[0])


def _group(
    ledger: Ledger, key: str, layout: Layout, box: tuple[float, float, float, float], href: Href
) -> str:
    paper = ledger.inventory.sources[key]
    frame = {
        "class": "claim-paper",
        "data-paper": key,
        "data-box": " ".join(f"{v:.0f}" for v in box),
    }
    frame["transform"] = f"translate({box[0]:.0f} {box[1]:.0f})"
    lines = "".join(_edge(u, v, path) for (u, v), path in layout.paths.items())
    claims = "".join(
        _node(ledger.rows[claim.id], layout.places[claim.id], claim.id in ledger.complete, href)
        for claim in ledger.inventory.of_paper(key)
    )
    title = f'<text class="claim-heading" x="10" y="24">{escape(paper.cited)}</text>'
    return (
        f'{start("g", frame)}{title}<g transform="translate(0 {HEAD:.0f})">{lines}{claims}</g></g>'
    )


def _edge(used: str, user: str, path: list[Point]) -> str:
    """A smooth line from the right side of one node to the left side of another."""
    points = [
        (path[0][0] + WIDTH / 2, path[0][1]),
        *path[1:-1],
        (path[-1][0] - WIDTH / 2 - 1, path[-1][1]),
    ]
    line = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        half = (x0 + x1) / 2
        line += f"C{half:.1f} {y0:.1f} {half:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    return f'<path class="claim-edge" data-from="{used}" data-to="{user}" d="{line}"/>'


def _node(row: Row, at: Point, complete: bool, href: Href) -> str:
    claim = row.claim
    rest = (
        "everything it rests on has a verdict too"
        if complete
        else "something it rests on has no verdict"
    )
    state = f"{row.verdict}; {rest}" if row.decided else row.verdict
    address = href(claim.id)
    classes = [
        "claim-node",
        f"k-{claim.kind}",
        verdict_class(row.verdict),
        *["complete"] * complete,
    ]
    html = {
        "class": " ".join(classes),
        "data-claim": claim.id,
        "aria-label": f"{claim.short}, {claim.name}: {state}",
        **({"href": address} if address else {}),
        "transform": f"translate({at[0]:.1f} {at[1]:.1f})",
    }
    title = f"{claim.label}, {claim.name}: {state}"
    text = f'<text y="5">{SYMBOLS[row.verdict]} {escape(claim.short)}</text>'
    return f"{start('a', html)}<title>{escape(title)}</title>{_shape(claim.kind)}{text}</a>"


def _shape(kind: str) -> str:
    """Outline of a node: what a claim is can be seen without its colour."""
    w, h = WIDTH / 2, HEIGHT / 2
    outlines = {
        "algorithm": f"M{-w + 12} {-h}H{w - 12}L{w} 0L{w - 12} {h}H{-w + 12}L{-w} 0Z",
        "equation": f"M{-w + 10} {-h}H{w}L{w - 10} {h}H{-w}Z",
        "remark": f"M{-w} {-h}H{w - 11}L{w} {-h + 11}V{h}H{-w}ZM{w - 11} {-h}V{-h + 11}H{w}",
        "figure": f"M{-w} {-h}H{w}V{h}H{-w}ZM{-w + 5} {-h}V{h}M{w - 5} {-h}V{h}",
        "table": f"M{-w} {-h}H{w}V{h}H{-w}ZM{-w} {-h + 5}H{w}M{-w} {h - 5}H{w}",
        "assumption": (
            f"M{7 - w} {-h}H{w - 7}L{w} {7 - h}V{h - 7}L{w - 7} {h}H{7 - w}L{-w} {h - 7}V{7 - h}Z"
        ),
    }
    if kind in outlines:
        return f'<path class="claim-shape" d="{outlines[kind]}"/>'
    if kind in ("theorem", "conjecture"):
        return f'<ellipse class="claim-shape" rx="{w}" ry="{h + 2}"/>'
    radius = {"definition": 0.0, "proposition": 6.0, "corollary": 6.0}.get(kind, h)
    box = f'x="{-w}" y="{-h}" width="{WIDTH}" height="{HEIGHT}" rx="{radius}"'
    return f'<rect class="claim-shape" {box}/>'


def _tools(ledger: Ledger, papers: list[str]) -> str:
    names = [(key, ledger.inventory.sources[key].cited) for key in papers]
    views = [("", "All"), *names] if len(papers) > 1 else []
    buttons = [
        f'<button type="button" data-view="{key}" aria-pressed="false">{escape(name)}</button>'
        for key, name in views
    ]
    zooms = (("in", "+", "Zoom in"), ("out", "−", "Zoom out"), ("fit", "⤢", "Fit the picture"))
    buttons += [
        f'<button type="button" data-zoom="{key}" aria-label="{words}" title="{words}">'
        f"{sign}</button>"
        for key, sign, words in zooms
    ]
    return (
        f'<div class="claim-tools" role="toolbar" aria-label="View" hidden>{"".join(buttons)}</div>'
    )


def _legend() -> str:
    def sample(classes: str, kind: str, text: str) -> str:
        box = f"{-WIDTH / 2 - 3} {-HEIGHT / 2 - 4} {WIDTH + 6} {HEIGHT + 8}"
        return (
            f'<li><svg viewBox="{box}" width="{0.62 * WIDTH:.0f}" height="{0.78 * HEIGHT:.0f}" '
            f'aria-hidden="true"><g class="claim-node {classes} k-{kind}">{_shape(kind)}'
            f'<text y="5">{text}</text></g></svg>'
        )

    verdicts = [f"{sample(verdict_class(v), 'lemma', SYMBOLS[v])}{v}</li>" for v in VERDICTS]
    complete = sample(f"{verdict_class('holds')} complete", "lemma", SYMBOLS["holds"])
    kinds = [f"{sample('v-planned', kind, '')}{kind}</li>" for kind in KINDS]
    return (
        '<div class="claim-legend">'
        f"{_list('Verdict: colour and symbol', verdicts)}"
        f"{_list('Full colour', [f'{complete}everything it rests on has a verdict too</li>'])}"
        f"{_list('Kind: shape', kinds)}</div>"
    )


def _list(title: str, items: Iterable[str]) -> str:
    return f"<div><p>{title}</p><ul>{''.join(items)}</ul></div>"


def _draw(builder: Any, node: ClaimGraph) -> str:
    page = builder.current_docname
    found, papers = builder.app.book_ledger, node["papers"]
    return render(found, papers, lambda claim: uri(builder, page, f"claim:{claim}"))


def register(app: Sphinx) -> None:
    """Add the directive and its node."""
    add_drawing(app, ClaimGraph, _draw)
    app.add_directive("claim-graph", GraphDirective)
