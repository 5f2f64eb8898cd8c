"""One fold for the code between two paragraphs: figures and verdicts first, the rest under one bar.

Cells that follow one another and hide their input are read as one: what they show to a reader
(figures, explorers, verdicts) comes first, and one bar under it unfolds to their code, each piece
under its prompt, with what it prints. A print that is meant to be read has the tag ``table``; a
cell whose code is the lesson does not hide its input.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

SHOW, HIDE = "Code{}", "Hide code{}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(FoldRuns)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class FoldRuns(SphinxPostTransform):
    """Fold each run of cells; before myst-nb gives every cell a bar of its own."""

    default_priority = 198
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Go through all elements that hold cells."""
        for parent in {id(cell.parent): cell.parent for cell in cells(self.document)}.values():
            kept: list[nodes.Node] = []
            for folds, run in groupby(parent.children, hidden):
                members = list(run)
                kept += folded(members) if folds else members
            parent.children = []
            parent.extend(kept)


def cells(document: nodes.document) -> list[nodes.Element]:
    """All code cells of a page."""
    return [node for node in document.findall(nodes.container) if hidden(node)]


def hidden(node: nodes.Node) -> bool:
    """Whether a node is a cell whose input is hidden."""
    return isinstance(node, nodes.container) and node.get("hide_mode") == "input"


def folded(run: list[nodes.Element]) -> list[nodes.Node]:
    """What a run of cells shows, and a bar for its code and prints."""
    shown: list[nodes.Node] = []
    code: list[nodes.Node] = []
    printed = False
    for cell in run:
        source, *outputs = cell.children
        if "{type}" not in cell["prompt_show"]:  # the cell names its code itself
            code.append(nodes.paragraph(text=cell["prompt_show"], classes=["dp-code-title"]))
        code.append(source)
        for output in outputs if "tag_table" not in cell["classes"] else []:
            prints = [node for node in output.children if isinstance(node, nodes.literal_block)]
            for node in prints:
                output.remove(node)
            if prints:
                printed = True
                code.append(nodes.container("", *prints, classes=["cell_output"]))
        cell.children = []
        cell.extend(output for output in outputs if output.children)
        cell["hide_mode"] = None
        if cell.children:
            shown.append(cell)
    what = " and what it prints" if printed else ""
    bar = HideCodeCellNode("", *code, prompt_show=SHOW.format(what), prompt_hide=HIDE.format(what))
    bar["classes"].append("above-input")
    return [*shown, nodes.container("", bar, classes=["cell", "dp-code"])]
