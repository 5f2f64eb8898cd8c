"""Training: private models on data, many configurations at once.

A trainer for linear classifiers on sparse rows whose configurations share one pass, and a runner
for grids of configurations that resumes and scales out. Second floor: imports
:mod:`~dpdynamics.problems` and :mod:`~dpdynamics.accounting`.
"""

from .batches import Batches
from .grids import grid, run_grid
from .sparse_trainer import SparseTrainer, train_configurations

__all__ = [
    "Batches",
    "SparseTrainer",
    "grid",
    "run_grid",
    "train_configurations",
]
