"""What every simulator of the room returns."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from dpdynamics.arguments import Array


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
    """

    checkpoints: NDArray
    values: Any
    final: NDArray

    @property
    def population(self) -> Array:
        """Population risks (replicates, N)."""
        return self.values["population"]

    @property
    def regularized(self) -> Array:
        """Regularized risks (replicates, N)."""
        return self.values["regularized"]
