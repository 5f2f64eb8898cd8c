"""One small valid call of every public function, and the functions that have none here."""

from __future__ import annotations

import importlib

from valid_calls.calls import Call

ROOMS = (
    "accounting",
    "adaptive",
    "desk",
    "display",
    "divergence",
    "dynamics",
    "extras",
    "kan",
    "problems",
    "training",
    "verification",
)

CALLS: dict[str, Call] = {
    f"{room}.{name}": call
    for room in ROOMS
    if room != "extras"  # files and an estimator
    for name, call in importlib.import_module(f"valid_calls.{room}").CALLS.items()
}

# Functions that have no call here, each with the reason and where its bad input is tested.
ELSEWHERE: dict[str, str] = {
    "accounting.compose": "pairs: tests/accounting/test_compose.py",
    "dynamics.one_pass_risk": "settings by **: tests/dynamics/test_tuning.py",
    "extras.load_posts": "files: tests/extras/test_reviews.py",
    "extras.load_reviews": "files: tests/extras/test_reviews.py",
    "training.grid": "arguments of any name: tests/training/test_grids.py",
    "training.train_configurations": "settings by **: tests/training/test_sparse_trainer.py",
    "verification.verdict": "positional checks: tests/verification/test_verdicts.py",
}
