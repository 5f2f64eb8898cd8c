"""The chapters as a graph: one builds on another if its claims use that one's claims.

A chapter without claims builds on those that it says one must have read.
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import networkx as nx

from book_ledger.inventory import Chapter, Inventory
from book_ledger.layout import Point, arrange

WIDTH, HEIGHT = 108.0, 62.0  # of a chapter: seven columns fill a page of 1280 px, text at its size
DOWN = 1.56  # stretch of a layout that is made for the lower boxes of claims
LINE = 15  # characters
ROWS, LEADING = 4, 13.5  # lines of a title
MARGIN = 4.0


def uses(inventory: Inventory) -> list[tuple[str, str]]:
    """Pairs of chapters of which the second uses claims of the first; no appendix, each once."""
    owner = {k: chapter.key for k, chapter in inventory.owner.items() if not chapter.appendix}
    claims = [claim for claim in inventory.claims.values() if claim.id in owner]
    pairs = ((owner[used], owner[c.id]) for c in claims for used in c.uses if used in owner)
    return list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))


def order(inventory: Inventory) -> dict[str, int]:
    """Place in the book of every chapter to read: a notebook, and no appendix."""
    chapters = enumerate(inventory.chapters.items())
    return {k: n for n, (k, c) in chapters if c.notebook and not c.appendix}


def earlier(inventory: Inventory) -> nx.DiGraph:
    """Graph of the uses of earlier chapters; the others look ahead, and are no prerequisites."""
    place = order(inventory)
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(place)
    pairs = sorted(uses(inventory), key=lambda pair: (place[pair[0]], place[pair[1]]))
    graph.add_edges_from(pair for pair in pairs if place[pair[0]] < place[pair[1]])
    return graph


def ahead(inventory: Inventory) -> dict[str, list[str]]:
    """By chapter, the later chapters that it looks ahead to."""
    place = order(inventory)
    found: dict[str, list[str]] = {}
    for used, user in uses(inventory):
        if place[used] > place[user]:
            found.setdefault(user, []).append(used)
    return {user: sorted(found[user], key=place.__getitem__) for user in place if user in found}


def draw(inventory: Inventory, needs: dict[str, list[Chapter]]) -> dict[str, Any]:
    """The graph as a picture, without the arrows that follow from others; for ``graph.html``."""
    full, later = earlier(inventory), ahead(inventory)
    without = [key for key in full if not inventory.chapters[key].owns]
    full.add_edges_from((c.key, k) for k in without for c in needs.get(k, []) if c.key in full)
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(full)
    reduced = nx.transitive_reduction(full)
    graph.add_edges_from(edge for edge in full.edges if reduced.has_edge(*edge))
    layout = arrange(graph)
    columns = [x for x, _ in layout.places.values()] or [0.0]
    left = min(columns) - WIDTH / 2 - MARGIN

    def moved(point: Point) -> Point:
        return point[0] - left, DOWN * point[1] + MARGIN

    chapters, parts = inventory.chapters, list(inventory.parts)
    nodes = [
        {
            "chapter": chapters[key],
            "part": parts.index(chapters[key].part) + 1,
            "before": [chapters[k] for k in full.predecessors(key)],
            "ahead": [chapters[k] for k in later.get(key, [])],
            "place": moved(layout.places[key]),
            "lines": lines(chapters[key].title),
        }
        for key in full
    ]
    return {
        "nodes": nodes,
        "edges": [_edge([moved(p) for p in path]) for path in layout.paths.values()],
        "width": max(columns) + WIDTH / 2 + MARGIN - left,
        "height": DOWN * layout.height + 2 * MARGIN,
    }


def lines(title: str) -> list[tuple[str, float]]:
    """The lines of a title with their heights in its box."""
    words = wrap(title, LINE, max_lines=ROWS, placeholder=" …", break_on_hyphens=False)
    return [(line, 4.5 + LEADING * (row - (len(words) - 1) / 2)) for row, line in enumerate(words)]


def _edge(points: list[Point]) -> str:
    """Curves between the columns; straight along a column that the edge passes."""
    (x, y), *between, (x1, y1) = points
    x += WIDTH / 2
    line = f"M{x:.1f} {y:.1f}"
    for a, b in [*between, (x1 - 1, y1)]:
        left, half = a - WIDTH / 2, (x + a - WIDTH / 2) / 2
        line += f"C{half:.1f} {y:.1f} {half:.1f} {b:.1f} {left:.1f} {b:.1f}"
        x, y = a + WIDTH / 2, b
        if (a, b) in between:
            line += f"H{x:.1f}"
    return line
