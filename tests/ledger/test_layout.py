"""The layout of the graph: nothing overlaps, arrows point to the right, the same every time."""

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import networkx as nx
import pytest

from book_ledger.graph import ACROSS, DOWN, HEIGHT, WIDTH
from book_ledger.inventory import load, uses_graph
from book_ledger.layout import arrange


@pytest.mark.parametrize("paper", ["lin2025", "bombari2025", "anon2025", "wang2026"])
def test_papers(root: Path, paper: str) -> None:
    graph = uses_graph(load(root).of_paper(paper))
    layout = arrange(graph)
    assert set(layout.places) == set(graph)
    assert set(layout.paths) == set(graph.edges)
    for (x0, y0), (x1, y1) in combinations(layout.places.values(), 2):
        assert ACROSS * abs(x0 - x1) >= WIDTH or DOWN * abs(y0 - y1) >= HEIGHT + 4
    for u, v in graph.edges:
        assert ACROSS * layout.places[u][0] + WIDTH < ACROSS * layout.places[v][0]
    for x, y in layout.places.values():
        assert WIDTH / 2 <= ACROSS * x <= ACROSS * layout.width
        assert HEIGHT / 2 <= DOWN * y <= DOWN * layout.height


def test_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="acyclic"):
        arrange(nx.DiGraph([("a", "b"), ("b", "a")]))


def test_layout_does_not_depend_on_string_hashes(root: Path) -> None:
    """Of this process and of another one, whose seed differs."""
    program = (
        "import sys; from pathlib import Path; "
        "from book_ledger.inventory import load, uses_graph; "
        "from book_ledger.layout import arrange; "
        "print(arrange(uses_graph(load(Path(sys.argv[1])).of_paper('bombari2025'))))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, str(root)],
        env=os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": str(root / "book/extensions")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert found == f"{arrange(uses_graph(load(root).of_paper('bombari2025')))}\n"
