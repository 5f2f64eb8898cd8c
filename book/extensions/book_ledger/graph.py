"""The picture of the graph of claims: what rests on what, paper under paper."""

from __future__ import annotations

from typing import Any

from dpdynamics.verification import words

from .inventory import KINDS, uses_graph
from .layout import Point, arrange, curve
from .ledger import Ledger

WIDTH, HEIGHT = 68.0, 40.0  # of a node
ACROSS, DOWN = 0.74, 1.18  # of the layout
GAP = 56.0  # between papers
HEAD = 40.0  # above a paper's graph, for its name


def draw(ledger: Ledger, papers: list[str]) -> dict[str, Any]:
    """The graphs of some papers in one picture, one above the other: the data of ``graph.html``."""
    drawings: list[dict[str, Any]] = []
    width = top = 0.0
    for key in papers:
        claims = ledger.inventory.of_paper(key)
        layout = arrange(uses_graph(claims))
        box = 0.0, top, ACROSS * layout.width, DOWN * layout.height + HEAD  # x, y, width, height
        edges = [
            (used, user, _curve([_moved(point) for point in path]))
            for (used, user), path in layout.paths.items()
        ]
        places = {claim.id: _moved(layout.places[claim.id]) for claim in claims}
        paper = ledger.inventory.sources[key]
        drawings.append({"paper": paper, "box": box, "places": places, "edges": edges})
        width, top = max(width, box[2]), top + box[3] + GAP
    return {
        "drawings": drawings,
        "first": papers[0],
        "width": width,
        "height": top - GAP,
        "verdicts": words.VERDICTS,
        "kinds": KINDS,
    }


def _moved(point: Point) -> Point:
    return ACROSS * point[0], DOWN * point[1]


def _curve(path: list[Point]) -> str:
    """A smooth line from the right side of one node to the left side of another."""
    (x0, y0), *between, (x1, y1) = path
    return curve([(x0 + WIDTH / 2, y0), *between, (x1 - WIDTH / 2 - 1, y1)])
