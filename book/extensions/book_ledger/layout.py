"""Layered layout of a directed acyclic graph, from left to right.

The method of Sugiyama, Tagawa and Toda (1981): ranks; a dummy vertex wherever an edge crosses a
rank; an order within each rank by barycentres, to avoid crossings; coordinates by least squares
with a minimal separation. Components are laid out apart and stacked, isolated vertices fill a grid.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import networkx as nx
from scipy.optimize import isotonic_regression

RANK = 138.0  # between the centres of neighbouring ranks
ROW = 45.0  # between the centres of neighbouring vertices of a rank
LANE = 14.0  # the same, where an edge passes
GRAVITY = 0.1  # pull towards the middle, in edges
COLUMN = 118.0  # of the grid of isolated vertices
SWEEPS = 24

Point = tuple[float, float]
Vertex = Hashable


@dataclass(frozen=True)
class Layout:
    """Centres of the vertices and, per edge, the points it runs through, in a box from (0, 0)."""

    places: dict[str, Point]
    paths: dict[tuple[str, str], list[Point]]
    width: float
    height: float


def arrange(graph: nx.DiGraph) -> Layout:
    """Lay out an acyclic graph whose vertices are strings, in the order in which they came."""
    if not nx.is_directed_acyclic_graph(graph):
        raise ValueError("graph must be acyclic")
    order = {vertex: index for index, vertex in enumerate(graph)}
    alone = [vertex for vertex in graph if graph.degree(vertex) == 0]
    parts = [sorted(part, key=order.__getitem__) for part in nx.weakly_connected_components(graph)]
    parts = sorted((p for p in parts if len(p) > 1), key=lambda p: (-len(p), order[p[0]]))
    places: dict[str, Point] = {}
    paths: dict[tuple[str, str], list[Point]] = {}
    width = top = 0.0
    shelf: list[float] = []  # x, y and height of the row that small components share
    for part in parts:
        layout = _component(_part(graph, part), part)
        if shelf and shelf[0] + layout.width <= width:
            x, y = shelf[0], shelf[1]
            shelf = [x + layout.width + RANK / 2, y, max(shelf[2], layout.height)]
        else:
            x, y = 0.0, top
            shelf = [layout.width + RANK / 2, y, layout.height]
        places |= {v: (x + a, y + b) for v, (a, b) in layout.places.items()}
        paths |= {e: [(x + a, y + b) for a, b in path] for e, path in layout.paths.items()}
        width, top = max(width, x + layout.width), max(top, y + layout.height + ROW / 3)
    columns = max(4, int(max(width, 5 * COLUMN) // COLUMN))
    for index, vertex in enumerate(alone):
        column, row = index % columns, index // columns
        places[vertex] = (COLUMN * (column + 0.5), top + ROW * (row + 0.5))
    if alone:
        width = max(width, COLUMN * min(columns, len(alone)))
        top += ROW * -(-len(alone) // columns)
    return Layout(places, paths, width, top)


def _part(graph: nx.DiGraph, vertices: Sequence[str]) -> nx.DiGraph:
    """Subgraph in a fixed order (a view's order depends on string hashes)."""
    part: nx.DiGraph = nx.DiGraph()
    part.add_nodes_from(vertices)
    part.add_edges_from((u, v) for u in vertices for v in graph.succ[u])
    return part


def _component(graph: nx.DiGraph, order: Sequence[str]) -> Layout:
    rank = _ranks(graph)
    layers: list[list[Vertex]] = [[] for _ in range(max(rank.values()) + 1)]
    for vertex in order:
        layers[rank[vertex]].append(vertex)
    chain: nx.DiGraph = nx.DiGraph()
    chain.add_nodes_from(order)
    paths: dict[tuple[str, str], list[Vertex]] = {}
    for u, v in sorted(graph.edges, key=lambda e: (order.index(e[0]), order.index(e[1]))):
        dummies: list[Vertex] = [(u, v, k) for k in range(rank[u] + 1, rank[v])]
        for k, dummy in enumerate(dummies, start=rank[u] + 1):
            layers[k].append(dummy)
        paths[u, v] = [u, *dummies, v]
        nx.add_path(chain, paths[u, v])
    layers = _order(layers, chain)
    heights = _coordinates(layers, chain)
    xs = {v: RANK * (k + 0.5) for k, layer in enumerate(layers) for v in layer}
    low = min(heights.values()) - ROW / 2
    points = {v: (xs[v], heights[v] - low) for v in chain}
    height = max(heights.values()) + ROW / 2 - low
    routes = {edge: [points[v] for v in path] for edge, path in paths.items()}
    return Layout({v: points[v] for v in order}, routes, RANK * len(layers), height)


def _ranks(graph: nx.DiGraph) -> dict[str, int]:
    """Longest-path ranks, then each vertex moved to where its edges are shortest in total."""
    rank = {v: k for k, layer in enumerate(nx.topological_generations(graph)) for v in layer}
    vertices = list(nx.topological_sort(graph))
    for _ in range(4):
        for v in reversed(vertices):
            before, after = list(graph.predecessors(v)), list(graph.successors(v))
            if after and len(after) >= len(before):
                rank[v] = min(rank[w] for w in after) - 1
            elif before:
                rank[v] = max(rank[w] for w in before) + 1
    lowest = min(rank.values())
    return {v: k - lowest for v, k in rank.items()}


def _order(layers: list[list[Vertex]], chain: nx.DiGraph) -> list[list[Vertex]]:
    """The order with the fewest crossings that barycentre sweeps in both directions find."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, chain)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        ranks = range(1, len(layers)) if forward else range(len(layers) - 2, -1, -1)
        neighbours = chain.pred if forward else chain.succ
        for k in ranks:
            fixed = {v: i for i, v in enumerate(layers[k - 1 if forward else k + 1])}
            now = {v: i for i, v in enumerate(layers[k])}
            centre = {
                v: sum(fixed[w] for w in neighbours[v]) / len(neighbours[v])
                if neighbours[v]
                else now[v]
                for v in layers[k]
            }
            layers[k] = sorted(layers[k], key=lambda v: (centre[v], now[v]))
        crossings = _crossings(layers, chain)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return best


def _crossings(layers: list[list[Vertex]], chain: nx.DiGraph) -> int:
    total = 0
    for left, right in itertools.pairwise(layers):
        position = {v: i for i, v in enumerate(right)}
        ends = [sorted(position[w] for w in chain.succ[v]) for v in left]
        flat = [end for group in ends for end in group]
        total += sum(a > b for i, a in enumerate(flat) for b in flat[i + 1 :])
    return total


def _coordinates(layers: list[list[Vertex]], chain: nx.DiGraph) -> dict[Vertex, float]:
    """Heights near the mean of the neighbours', never closer than vertices and edges need."""
    heights: dict[Vertex, float] = {}
    for layer in layers:
        offsets = _offsets(layer)
        heights |= {v: y - offsets[-1] / 2 for v, y in zip(layer, offsets, strict=True)}
    for sweep in range(4 * SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted, weights = [], []
            for v in layer:
                around = [*chain.pred[v], *chain.succ[v]]
                total = sum(heights[w] for w in around)  # the middle is at 0
                wanted.append(total / (len(around) + GRAVITY))
                weights.append(4.0 if isinstance(v, tuple) else 1.0)  # straight long edges
            offsets = _offsets(layer)
            shifted = [y - o for y, o in zip(wanted, offsets, strict=True)]
            fitted = isotonic_regression(shifted, weights=weights).x.tolist()
            heights |= {v: y + o for v, y, o in zip(layer, fitted, offsets, strict=True)}
    return heights


def _offsets(layer: Sequence[Vertex]) -> list[float]:
    """Heights of a layer packed as tightly as allowed."""
    result = [0.0]
    for above, below in itertools.pairwise(layer):
        lanes = isinstance(above, tuple) + isinstance(below, tuple)
        result.append(result[-1] + (ROW, 0.75 * ROW, LANE)[lanes])
    return result


def curve(points: Sequence[Point], digits: int = 1) -> str:
    """Return the data of a path through points, level at each of them."""
    line = "M{:.{d}f} {:.{d}f}".format(*points[0], d=digits)
    for (x, y), (u, v) in itertools.pairwise(points):
        half = (x + u) / 2
        corners = (half, y, half, v, u, v)
        line += "C" + " ".join(f"{number:.{digits}f}" for number in corners)
    return line
