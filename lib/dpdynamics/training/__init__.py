"""Training: private models on data, many configurations at once.

A trainer for linear classifiers on sparse rows whose configurations share one pass, and a runner
for grids of configurations that resumes and scales out. A shape or range that is violated is a
ValueError that names the argument. Second floor: imports :mod:`~dpdynamics.problems`.
"""

from .grids import grid, run_grid
from .sparse_trainer import SparseTrainer, train_configurations

__all__ = [
    "SparseTrainer",
    "grid",
    "run_grid",
    "train_configurations",
]
