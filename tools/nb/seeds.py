"""The same verdicts under other seeds: notebooks executed again, in memory, and compared."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import nbformat

from nb.execute import run_cells
from nb.normalise import read

VERDICT = "application/vnd.dpdynamics.verdict+json"
VARIABLE = "DPDYNAMICS_SEED"


def decisions(notebook: nbformat.NotebookNode) -> dict[str, Any]:
    """Claim -> (verdict, [(check, outcome), ...]) of the outputs of a notebook."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            evidence = output.get("data", {}).get(VERDICT)
            if evidence:
                checks = [(check["name"], check["outcome"]) for check in evidence["checks"]]
                found[evidence["claim"]] = (evidence["verdict"], checks)
    return found


def differences(path: Path, seed: int, timeout: float) -> list[str]:
    """Execute a copy of a notebook under `seed`; one line for each claim decided differently."""
    stored = read(path)
    notebook = copy.deepcopy(stored)
    if error := run_cells(notebook, path.parent, timeout, {VARIABLE: str(seed)}):
        return [error]
    expected, found = decisions(stored), decisions(notebook)
    return [
        f"claim {claim}: stored {expected.get(claim)}, under this seed {found.get(claim)}"
        for claim in sorted({*expected, *found})
        if expected.get(claim) != found.get(claim)
    ]
