"""One canonical text for a notebook, so that two executions are byte-identical.

What is taken out: metadata but :data:`KEPT` and :data:`CELLS_KEEP`, and widget views that have a
static form beside them. What is made regular: cell ids, kernel name, the split of streams, the
order of keys. What stays: sources, outputs, execution counts.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import nbformat

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}
KEPT = ("dpdynamics",)  # of a notebook's metadata
CELLS_KEEP = ("mystnb", "nbgrader", "tags")


def read(path: Path) -> nbformat.NotebookNode:
    """The notebook in a file, in format 4."""
    return nbformat.reads(path.read_text("utf-8"), as_version=4)


def text_of(notebook: nbformat.NotebookNode) -> str:
    """The text that a notebook's file holds: sorted keys, one space, one final newline."""
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"


def write(notebook: nbformat.NotebookNode, path: Path) -> bool:
    """Write a notebook in one step, or not at all; returns whether the file changed."""
    nbformat.validate(notebook)
    text = text_of(notebook)
    if path.is_file() and path.read_text("utf-8") == text:
        return False
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(temporary).chmod(path.stat().st_mode if path.is_file() else 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True


def normalise(notebook: nbformat.NotebookNode) -> None:
    """Give a notebook its canonical form, in place."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    _keep(notebook, KEPT)
    notebook.metadata["kernelspec"] = dict(KERNEL)
    notebook.metadata["language_info"] = dict(LANGUAGE)
    width = max(2, len(str(len(notebook.cells))))
    for number, cell in enumerate(notebook.cells, start=1):
        cell["id"] = f"cell-{number:0{width}d}"
        cell["source"] = cell.source.strip("\n").rstrip()
        _keep(cell, CELLS_KEEP)
        if cell.cell_type == "code":
            cell["outputs"] = _joined_streams(cell.outputs)
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output["execution_count"] = cell.execution_count
                if "text/html" in output.get("data", {}):
                    output.data.pop(WIDGET_VIEW, None)


def _keep(node: nbformat.NotebookNode, keys: tuple[str, ...]) -> None:
    """Drop all metadata but those of some keys that say something."""
    for key in set(node.metadata) - {key for key in keys if node.metadata.get(key)}:
        del node.metadata[key]


def _joined_streams(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Adjacent pieces of one stream as one piece: where a stream is cut is chance."""
    joined: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if output.output_type == "stream" and last and last.get("name") == output.name:
            last["text"] += output.text
        else:
            joined.append(output)
    return joined
