"""Batches of records, for every trainer: shuffled epochs, fixed size, Poisson."""

import numpy as np
from numpy.typing import NDArray

from .arguments import one_of, whole

SAMPLINGS = ("shuffle", "fixed", "poisson")


class Batches:
    """Draw one batch of indices of n records after the other; pickling keeps the place.

    "shuffle": a fresh permutation every epoch, cut into batches, the incomplete one dropped;
    "fixed": B records without replacement, anew at each step; "poisson": every record independently
    with probability B / n, so that sums are to be divided by the expected size B.
    """

    def __init__(self, size: int, batch_size: int, sampling: str, rng: np.random.Generator) -> None:
        self.size = whole("size", size, minimum=1)
        self.batch_size = whole("batch_size", batch_size, minimum=1)
        if self.batch_size > self.size:
            raise ValueError(f"batch_size must be at most the {size} records, got {batch_size}")
        self.sampling = one_of("sampling", sampling, SAMPLINGS)
        self._rng = rng
        self._order: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def draw(self) -> NDArray[np.int64]:
        """Return the indices of the next batch."""
        if self.sampling == "shuffle":
            if self._order.size < self.batch_size:
                self._order = self._rng.permutation(self.size)
            batch, self._order = np.split(self._order, [self.batch_size])
            return batch
        return subsample(self._rng, self.size, self.batch_size, self.sampling)


def subsample(
    rng: np.random.Generator, size: int, batch_size: int, sampling: str
) -> NDArray[np.int64]:
    """Draw the increasing indices of a batch, "fixed" or "poisson", by one uniform a record."""
    keys = rng.random(size)
    if sampling == "poisson":
        return np.flatnonzero(keys < batch_size / size)
    return np.sort(np.argpartition(keys, batch_size - 1)[:batch_size])
