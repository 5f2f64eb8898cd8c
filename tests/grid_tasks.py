"""Tasks for the tests of grids; processes and clusters import them from here."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np


def walk(configurations, rng, data=None):
    """Return a random walk per configuration, recorded twice.

    For the tests of interruptions: exits at the replicate that the environment variable GRID_STOP
    names, and logs its calls in the file GRID_LOG.
    """
    rows = []
    for configuration in configurations:
        if os.environ.get("GRID_STOP") == str(configuration["replicate"]):
            os._exit(9)
        if log := os.environ.get("GRID_LOG"):
            with Path(log).open("a", encoding="utf-8") as stream:
                stream.write(f"{configuration['replicate']}\n")
        path = np.cumsum(configuration["scale"] * rng.standard_normal(50))
        shift = 0.0 if data is None else float(data.values.sum())
        rows += [{**configuration, "step": k, "place": path[k] + shift} for k in (9, 49)]
    return rows


def first_place(configurations, rng, data=None):
    """Return the first rows of another walk."""
    return walk(configurations, rng, data)[::2]


def where(configurations, rng):
    """Return the process that runs each configuration."""
    return [{**configuration, "process": os.getpid()} for configuration in configurations]


def first_norm(configurations, rng, data):
    """Return the norm of the first document."""
    return [{**configuration, "norm": data.row_norms[0]} for configuration in configurations]


def fail_at_two(configurations, rng):
    """Fail where the replicate is 2."""
    if any(configuration["replicate"] == 2 for configuration in configurations):
        raise ZeroDivisionError("planted")
    return configurations


@dataclass(frozen=True)
class Data:
    """Something to bind to a task."""

    values: np.ndarray
    name: str = "planted"
