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
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book_ledger.pages import ENVIRONMENT

SOURCE = Path(__file__).resolve().parents[1] / "notation.yml"
FIELDS = {"symbol", "meaning", "unit", "names", "code"}
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
            if set(entry) != FIELDS:
                raise ValueError(f"{where}: fields must be {sorted(FIELDS)}, got {sorted(entry)}")
            if set(entry["names"]) != set(notation["papers"]):
                raise ValueError(f"{where}: names must have exactly the keys {notation['papers']}")
            texts = [symbol, entry["meaning"], entry["unit"], *entry["names"].values()]
            if any("|" in text for text in texts if text is not None):
                raise ValueError(f"{where}: write \\lvert or \\Vert, not a vertical bar")
    return notation


def table(notation: Mapping[str, Any], group_id: str) -> str:
    """Return one group's table in MyST Markdown."""
    groups = {group["id"]: group["symbols"] for group in notation["groups"]}
    if group_id not in groups:
        raise ValueError(f"notation group must be one of {sorted(groups)}, got {group_id!r}")
    symbols = groups[group_id]
    papers = [p for p in notation["papers"] if any(e["names"][p] is not None for e in symbols)]
    return ENVIRONMENT.get_template("notation.md").render(symbols=symbols, papers=papers)


class Notation(SphinxDirective):
    """``{notation} GROUP``: the table of one group of symbols."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the table where the directive stands."""
        try:
            text = table(load(), self.arguments[0])
        except ValueError as problem:
            raise self.error(str(problem)) from problem
        found = self.parse_text_to_nodes(text)
        holder = nodes.container("", *found, classes=["notation-table"])
        return [nodes.raw("", STYLE, format="html"), holder]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_directive("notation", Notation)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
