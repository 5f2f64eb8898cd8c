"""One canonical text for a notebook, so that two executions are byte-identical.

What is taken out: timing metadata, widget state and widget views that have a static form beside
them, versions of the interpreter, editors' marks. What is made regular: cell ids, kernel name,
the split of streams, the order of keys. What stays: sources, outputs, execution counts, tags.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}
NOTEBOOK_NOISE = ("widgets", "execution", "vscode", "colab", "accelerator", "toc", "interpreter")
CELL_NOISE = (
    "execution",
    "ExecuteTime",
    "collapsed",
    "scrolled",
    "vscode",
    "colab",
    "id",
    "trusted",
)


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
    for key in NOTEBOOK_NOISE:
        notebook.metadata.pop(key, None)
    notebook.metadata["kernelspec"] = dict(KERNEL)
    notebook.metadata["language_info"] = dict(LANGUAGE)
    width = max(2, len(str(len(notebook.cells))))
    views: dict[str, str] = {}
    for number, cell in enumerate(notebook.cells, start=1):
        cell["id"] = f"cell-{number:0{width}d}"
        cell["source"] = cell.source.strip("\n").rstrip()
        for key in CELL_NOISE:
            cell.metadata.pop(key, None)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        if cell.cell_type == "code":
            cell["outputs"] = _joined_streams(cell.outputs)
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output["execution_count"] = cell.execution_count
                _settle_widget_view(output.get("data", {}), views)


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


def _settle_widget_view(data: dict[str, Any], views: dict[str, str]) -> None:
    """Drop a live view that has a static form beside it; number the ids of the others."""
    if WIDGET_VIEW not in data:
        return
    if "text/html" in data:
        del data[WIDGET_VIEW]
    else:
        model = data[WIDGET_VIEW]["model_id"]
        data[WIDGET_VIEW]["model_id"] = views.setdefault(model, f"{len(views) + 1:032x}")
