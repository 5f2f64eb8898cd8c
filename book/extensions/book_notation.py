"""Sphinx extension: the notation table, rendered from ``book/notation.yml``.

The directive ``{notation} GROUP`` becomes the table of one group of symbols: symbol, meaning,
unit, its name in each paper that has it, its name in the library. A paper without any name in the
group gets no column. ``load`` validates the file and serves the tests too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SOURCE = Path(__file__).resolve().parents[1] / "notation.yml"
FIELDS = {"symbol", "meaning", "unit", "names", "code"}
ABSENT, PLANNED = "–", "(planned)"
# Eight columns: the page is as wide as the window allows, the words take what symbols leave.
STYLE = """<style>
.bd-main .bd-content .bd-article-container:has(.notation-table) { max-width: 66rem; }
.notation-table table.table :is(th, td) { padding-right: 0.8rem; font-size: 0.95rem; }
.notation-table table.table td:nth-child(2) { min-width: 11rem; }
.notation-table table.table td:last-child { min-width: 12.3rem; }
.notation-table table.table code .pre { white-space: normal; overflow-wrap: anywhere; }
</style>"""


def load(source: Path = SOURCE) -> dict[str, Any]:
    """Read and validate the notation: ``papers`` and ``groups`` as ``book/notation.yml`` says."""
    notation = yaml.safe_load(source.read_text("utf-8"))
    seen: set[str] = set()
    for group in notation["groups"]:
        for entry in group["symbols"]:
            symbol = entry.get("symbol", "?")
            where = f"{source.name}, group {group['id']}, symbol {symbol!r}"
            if symbol in seen:
                raise ValueError(f"{where}: symbols must be unique")
            seen.add(symbol)
            if not FIELDS <= set(entry) <= FIELDS | {"planned"}:
                raise ValueError(f"{where}: fields must be {sorted(FIELDS)}, got {sorted(entry)}")
            if set(entry["names"]) != set(notation["papers"]):
                raise ValueError(f"{where}: names must have exactly the keys {notation['papers']}")
            texts = [symbol, entry["meaning"], entry["unit"], *entry["names"].values()]
            if any("|" in text for text in texts if text is not None):
                raise ValueError(f"{where}: write \\lvert or \\Vert, not a vertical bar")
    return notation


def _mathematics(text: str | None) -> str:
    """A cell of LaTeX, unless it mixes words and mathematics itself."""
    if text is None:
        return ABSENT
    return text if "$" in text else f"${text}$"


def _code(entry: Mapping[str, Any]) -> str:
    names = ", ".join(f"`{name}`" for name in entry["code"])
    if not names:
        return ABSENT
    return f"{names} {PLANNED}" if entry.get("planned") else names


def table(notation: Mapping[str, Any], group_id: str) -> list[str]:
    """Return the lines of one group's table in MyST Markdown."""
    groups = {group["id"]: group for group in notation["groups"]}
    if group_id not in groups:
        raise ValueError(f"notation group must be one of {sorted(groups)}, got {group_id!r}")
    symbols = groups[group_id]["symbols"]
    papers = [
        paper
        for paper in notation["papers"]
        if any(entry["names"][paper] is not None for entry in symbols)
    ]
    header = ["Symbol", "Meaning", "Unit", *papers, "Code"]
    rows = [
        [
            _mathematics(entry["symbol"]),
            entry["meaning"],
            entry["unit"],
            *(_mathematics(entry["names"][paper]) for paper in papers),
            _code(entry),
        ]
        for entry in symbols
    ]
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


class Notation(SphinxDirective):
    """``{notation} GROUP``: the table of one group of symbols."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the table where the directive stands."""
        self.env.note_dependency(str(SOURCE))
        try:
            lines = table(load(), self.arguments[0])
        except ValueError as problem:
            raise self.error(str(problem)) from problem
        holder = nodes.container(classes=["notation-table"])
        self.state.nested_parse(StringList(lines, source=str(SOURCE)), 0, holder)
        return [nodes.raw("", STYLE, format="html"), holder]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_directive("notation", Notation)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
