"""What every simulator returns, and the loop of those that take steps."""

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from .arguments import Array


class Runs(NamedTuple):
    """An ensemble of runs.

    Attributes
    ----------
    checkpoints : (N,) array
        Numbers of steps, or times, at which the runs were looked at.
    values : array, or dict of arrays
        What was seen there: (replicates, N) of a statistic, a dict of them by their names, or
        (N, ...) of a statistic of the whole ensemble.
    final : (replicates, k) array
        States at the end.
    clipped : (replicates, N) array, or None
        Number of clipped steps so far, a step counting by its share of clipped examples.
    """

    checkpoints: NDArray
    values: Any
    final: NDArray
    clipped: Any = None

    @property
    def population(self) -> Array:
        """Population risks (replicates, N)."""
        return self.values["population"]

    @property
    def regularized(self) -> Array:
        """Regularized risks (replicates, N)."""
        return self.values["regularized"]


def recorded(
    checkpoints: NDArray,
    steps: int,
    step: Callable[[int], None],
    observe: Callable[[int], Any],
) -> list[Any]:
    """Take the steps k = 0, 1, ...; what is observed after the numbers of steps asked for."""
    wanted, seen = set(checkpoints.tolist()), []
    for k in range(steps + 1):
        if k in wanted:
            seen.append(observe(k))
        if k < steps:
            step(k)
    return seen
