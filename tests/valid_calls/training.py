"""A valid call of every public function of the room training: the arguments, by name."""

from __future__ import annotations

from typing import Any

from valid_calls.calls import Call, of


def doubled(configurations: Any, rng: Any) -> Any:
    """A task."""
    return [{**c, "twice": 2 * c["a"]} for c in configurations]


CALLS: dict[str, Call] = {
    "run_grid": of(
        task=doubled, configurations=[{"a": 1}, {"a": 2}], seed=0, n_jobs=1, chunk_size=1
    ),
}
