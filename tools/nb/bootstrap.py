"""The first code cell of every notebook, which makes it run when it is opened alone.

It uses an installed library, else the library of the clone that the notebook lies in, at any depth
up to eight folders, else it installs the library from the repository's address; without an address
its last line says what to install. It prints nothing. Its text is defined here and nowhere else;
``tools/notebooks.py run`` writes it, with the current address, and ``tools/notebooks.py check``
compares.
"""

from __future__ import annotations

import nbformat

from nb.layout import repository_address

TAGS = ["bootstrap", "remove-cell"]

_PATH = """\
import sys

sys.path += ["../" * folders + "lib" for folders in range(9)]  # of a clone
"""
_ALONE = (
    "import dpdynamics  # noqa: F401  missing? pip install dpdynamics-*.whl of notebooks-to-run.zip"
)
_INSTALL = """\
try:
    import dpdynamics  # noqa: F401
except ModuleNotFoundError:
    %pip install --quiet "dpdynamics @ git+@ADDRESS@"
"""


def bootstrap_source(address: str | None = None) -> str:
    """Exact text of the cell, for an address (default: the repository's own)."""
    address = repository_address() if address is None else address
    if set(address) & set("\"'\\\n"):
        raise ValueError(f"address: a plain URL without quotes or backslashes, got {address!r}")
    return _PATH + (_INSTALL.replace("@ADDRESS@", address).strip() if address else _ALONE)


def is_bootstrap(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell is the bootstrap cell (by its tag, whatever its text)."""
    return cell.cell_type == "code" and "bootstrap" in cell.metadata.get("tags", [])


def ensure_bootstrap(notebook: nbformat.NotebookNode) -> None:
    """Give a notebook the current bootstrap cell, in place, before its first code cell."""
    code = [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    if code and is_bootstrap(notebook.cells[code[0]]):
        cell = notebook.cells[code[0]]
        cell.source = bootstrap_source()
    else:
        cell = nbformat.v4.new_code_cell(bootstrap_source())
        notebook.cells.insert(code[0] if code else len(notebook.cells), cell)
    cell.metadata["tags"] = list(TAGS)
