r"""Noise of weights that no record of a batch touches, drawn when the weight is next looked at.

The gradient of an untouched weight is noise alone. After k idle steps DP-SGD has moved it by
:math:`-\eta s` times a sum of k normals, one draw of :math:`\sqrt k\,N(0,1)`; DP-SignSGD by
:math:`-\eta` times a sum of k fair signs, one draw of :math:`2\,\mathrm{Bin}(k,\frac12)-k`. Drawn
late, the law of everything that is looked at is the same. DP-Adam has no such shortcut: its second
moment remembers the size of each draw.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp] | slice
Counts = NDArray[np.int64]
Sum = Callable[[np.random.Generator, Counts, int], NDArray[np.float32]]


class LazyNoise:
    """Count the steps whose noise weights (dimension, outputs) have not received; draw the sums."""

    def __init__(self, rng: np.random.Generator, dimension: int, outputs: int) -> None:
        self.rng, self.outputs = rng, outputs
        self.seen = np.zeros(dimension, dtype=np.int64)

    def received(self, rows: Rows, step: int, draw: Sum) -> NDArray[np.float32]:
        """Sums (rows, outputs) of what the steps before `step` owe, now received."""
        idle = step - self.seen[rows]
        self.seen[rows] = step
        sums = np.zeros((idle.size, self.outputs), dtype=np.float32)
        waiting = np.flatnonzero(idle)
        sums[waiting] = draw(self.rng, idle[waiting], self.outputs)
        return sums


def sum_of_normals(rng: np.random.Generator, counts: Counts, outputs: int) -> NDArray[np.float32]:
    """Draw sums (rows, outputs) of `counts` standard normals."""
    draws = rng.standard_normal((counts.size, outputs), dtype=np.float32)
    draws *= np.sqrt(counts, dtype=np.float32)[:, None]
    return draws


def sum_of_signs(rng: np.random.Generator, counts: Counts, outputs: int) -> NDArray[np.float32]:
    """Draw sums (rows, outputs) of `counts` >= 1 fair signs: random bits, counted, up to 64."""
    size = (counts.size, outputs)
    bits = rng.integers(np.iinfo(np.uint64).max, size=size, dtype=np.uint64, endpoint=True)
    bits >>= (64 - np.minimum(counts, 64)).astype(np.uint64)[:, None]
    heads = np.bitwise_count(bits).astype(np.int64)
    if (many := counts > 64).any():
        heads[many] = rng.binomial(counts[many, None], 0.5, (int(many.sum()), outputs))
    return (2 * heads - counts[:, None]).astype(np.float32)
