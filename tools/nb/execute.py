"""Run notebooks in place, several at a time, each in a process of its own.

A notebook that fails leaves its file untouched and is reported with its cell and its error; the
others go on. The kernel works in the notebook's folder, as it does in JupyterLab and in nbval.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from nb.bootstrap import ensure_bootstrap
from nb.fingerprint import Library, fingerprint, outputs_hash
from nb.layout import LIBRARY
from nb.normalise import normalise, read, write

# One thread per kernel (they run side by side), and nothing left to chance.
KERNEL_ENVIRONMENT = {
    "JUPYTER_PREFER_ENV_PATH": "1",
    "MATPLOTLIBRC": str(LIBRARY / "matplotlibrc"),
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "0",
}
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_TRACEBACK_LINES = 25
_TIMEOUT = 600.0  # seconds for one cell


@dataclass(frozen=True)
class Outcome:
    """What became of one notebook: how long it took, and the error if it failed."""

    path: Path
    seconds: float
    error: str = ""
    changed: bool = False


def cell_name(notebook: nbformat.NotebookNode, index: int) -> str:
    """How messages name a cell: its place among all cells, and its number among code cells."""
    number = sum(cell.cell_type == "code" for cell in notebook.cells[: index + 1])
    return f"cell {index + 1} (code cell {number})"


def run_cells(notebook: nbformat.NotebookNode, folder: Path) -> str:
    """Execute every code cell in a fresh kernel, in place; returns the error, "" if none."""
    where = {"cell": 0}
    client = NotebookClient(
        notebook,
        timeout=_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        on_cell_execute=lambda cell, cell_index: where.update(cell=cell_index),
    )
    try:
        client.execute(env={**os.environ, **KERNEL_ENVIRONMENT})
    except CellExecutionError as error:
        lines = _ANSI.sub("", str(error.traceback)).strip().splitlines()[-_TRACEBACK_LINES:]
        named = f"{cell_name(notebook, where['cell'])}: {error.ename}: {error.evalue}"
        return "\n    ".join([named, *lines])
    except Exception as error:  # a dead kernel, a time-out
        return f"{cell_name(notebook, where['cell'])}: {type(error).__name__}: {error}"
    return ""


def execute(path: Path) -> Outcome:
    """Execute one notebook, normalise it, store its fingerprint, and write it in one step."""
    started = time.perf_counter()
    try:
        notebook = read(path)
        ensure_bootstrap(notebook)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.update(execution_count=None, outputs=[])
        error = run_cells(notebook, path.parent)
        seconds = time.perf_counter() - started
        if error:
            return Outcome(path, seconds, error)
        normalise(notebook)
        notebook.metadata["dpdynamics"] = {
            "fingerprint": fingerprint(notebook, path, Library()),
            "outputs": outputs_hash(notebook),
        }
        return Outcome(path, seconds, changed=write(notebook, path))
    except Exception as error:
        return Outcome(path, time.perf_counter() - started, f"{type(error).__name__}: {error}")


def execute_all(paths: list[Path], jobs: int) -> Iterator[Outcome]:
    """Execute notebooks in `jobs` processes; what became of each, as it ends."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=jobs, mp_context=context) as pool:
        for future in as_completed([pool.submit(execute, path) for path in paths]):
            yield future.result()
