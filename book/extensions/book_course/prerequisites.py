"""The chapters as a graph: one builds on another if its claims use that one's claims."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from textwrap import wrap

import networkx as nx

from book_ledger.inventory import Chapter, Inventory
from book_ledger.layout import Point, arrange
from book_ledger.markup import picture, start

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
    """Place in the book of every chapter that decides claims."""
    chapters = enumerate(inventory.chapters.items())
    return {k: n for n, (k, chapter) in chapters if chapter.owns and not chapter.appendix}


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


def draw(inventory: Inventory, href: Callable[[Chapter], str | None]) -> str:
    """The graph as SVG, without the arrows that follow from others."""
    full = earlier(inventory)
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(full)
    reduced = nx.transitive_reduction(full)
    graph.add_edges_from(edge for edge in full.edges if reduced.has_edge(*edge))
    layout = arrange(graph)
    columns = [x for x, _ in layout.places.values()]
    left = min(columns, default=0.0) - WIDTH / 2 - MARGIN
    width = max(columns, default=0.0) + WIDTH / 2 + MARGIN - left
    height = DOWN * layout.height + 2 * MARGIN

    def moved(point: Point) -> Point:
        return point[0] - left, DOWN * point[1] + MARGIN

    edges = "".join(_edge([moved(p) for p in path]) for path in layout.paths.values())
    parts = list(inventory.parts)
    nodes = "".join(
        _node(
            inventory.chapters[key],
            parts.index(inventory.chapters[key].part) + 1,
            [inventory.chapters[k].title for k in full.predecessors(key)],
            moved(at),
            href(inventory.chapters[key]),
        )
        for key, at in layout.places.items()
    )
    label = "Arrows run from a chapter to the chapters that build on it"
    svg = picture(width, height, label, "course-arrow")
    return (
        '<div class="course-graph" tabindex="0" role="region" '
        f'aria-label="Graph of prerequisites">{svg}{edges}{nodes}</svg></div>'
    )


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
    return f'<path class="course-edge" d="{line}"/>'


def _node(chapter: Chapter, part: int, before: list[str], at: Point, address: str | None) -> str:
    rests = f"builds on {'; '.join(before)}" if before else "builds on no other chapter"
    html = {
        "class": f"course-node part-{part}",
        "data-chapter": chapter.key,
        "aria-label": f"{chapter.title}: {rests}",
        **({"href": address} if address else {}),
        "transform": f"translate({at[0]:.1f} {at[1]:.1f})",
    }
    words = wrap(chapter.title, LINE, max_lines=ROWS, placeholder=" …", break_on_hyphens=False)
    text = " ".join(  # the space keeps the words apart for whoever listens
        f'<text y="{4.5 + LEADING * (row - (len(words) - 1) / 2):.1f}">{escape(line)}</text>'
        for row, line in enumerate(words)
    )
    box = f'x="{-WIDTH / 2}" y="{-HEIGHT / 2}" width="{WIDTH}" height="{HEIGHT}" rx="6"'
    name = "a" if address else "g"
    if not address:
        html["role"] = "img"
    title = f"<title>{escape(chapter.title)}: {escape(rests)}</title>"
    return f"{start(name, html)}{title}<rect {box}/>{text}</{name}>"
