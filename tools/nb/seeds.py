"""The same verdicts under other seeds: the cells that they need run again, and are compared."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat

from dpdynamics.claims import Notebook
from nb.layout import ROOT
from nb.normalise import read

VERDICT = "application/vnd.dpdynamics.verdict+json"
VARIABLE = "DPDYNAMICS_SEED"


def decided(evidence: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """Verdict and outcomes of the checks, (verdict, [(check, outcome), ...])."""
    return evidence["verdict"], [(c["name"], c["outcome"]) for c in evidence["checks"]]


def decisions(notebook: nbformat.NotebookNode) -> dict[str, Any]:
    """What the outputs of a notebook decided, by claim."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    stored = (output.get("data", {}).get(VERDICT) for output in outputs)
    return {evidence["claim"]: decided(evidence) for evidence in stored if evidence}


def differences(path: Path, seed: int) -> list[str]:
    """Compute the verdicts of a notebook under `seed`; a line for each claim decided differently.

    To be called in a process of its own: it sets the environment and the working directory.
    """
    os.environ[VARIABLE] = str(seed)
    os.chdir(ROOT)
    notebook = Notebook(path)
    try:
        verdicts = notebook.verdicts(notebook.claims)
    except Exception as error:
        where = " ".join(getattr(error, "__notes__", []))
        return [f"{where}: {type(error).__name__}: {error}"]
    expected = decisions(read(path))
    found = {claim: decided(verdict.evidence) for claim, verdict in verdicts.items()}
    return [
        f"claim {claim}: stored {expected.get(claim)}, under this seed {found.get(claim)}"
        for claim in sorted({*expected, *found})
        if expected.get(claim) != found.get(claim)
    ]
