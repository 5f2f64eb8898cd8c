"""The steps of `steps.py` by compiled kernels, on the same random draws; needs the package numba.

Every weight is read and written as few times as possible; rounding apart, the numbers are those of
the NumPy steps.
"""

from functools import cache
from math import sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .lazy_noise import Rows
from .losses import Labels
from .steps import Floats, Steps


class CompiledSteps(Steps):
    """`Steps` with compiled arithmetic."""

    def __post_init__(self) -> None:
        super().__post_init__()
        kernels()

    def localised(self, features: csr_array) -> tuple[Rows, csr_array]:
        """Columns that occur in a batch, and the batch as it is: the kernels find their rows."""
        occurs = np.zeros(self.dimension, dtype=np.bool_)
        occurs[features.indices] = True
        return np.flatnonzero(occurs), features

    def descend(self, rows: Rows, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take a step of DP-SGD, or of DP-SignSGD."""
        rows, w = np.arange(self.dimension)[rows], self.weights
        kernels().receive(w, rows, self.owed(rows), self.kick)
        slopes = self.slopes(self._logits(features), norms, labels)
        if self.optimizer == "sgd":
            slopes *= -self.rate
            kernels().scatter(*_parts(features), _flat(slopes), _flat(w))
            kernels().receive(w, rows, self.normals(len(rows)), self.kick)
        else:
            gradient, noise = self._gradient(features, slopes), self.normals(len(rows))
            kernels().sign(w, rows, gradient, noise, self.noise_scale, self.rate)

    def adam(self, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take a step of DP-Adam."""
        noise = self.all_normals(features)
        slopes = self.slopes(self._logits(features), norms, labels)
        gradient = self._gradient(features, slopes)
        state = (self.weights, *self.moments, gradient, noise)
        kernels().adam(*state, self.noise_scale, *self.factors())

    def _logits(self, features: csr_array) -> Floats:
        logits = np.zeros((features.shape[0], *self.weights.shape[1:]), dtype=np.float32)
        kernels().gather(*_parts(features), _flat(self.weights), _flat(logits))
        return logits

    def _gradient(self, features: csr_array, slopes: Floats) -> Floats:
        """The scratch array of gradients, filled; the kernels leave it zero again."""
        if not hasattr(self, "_scratch"):
            self._scratch = np.zeros_like(self.weights)
        kernels().scatter(*_parts(features), _flat(slopes), _flat(self._scratch))
        return self._scratch


def _parts(features: csr_array) -> tuple[Any, Any, Any]:
    return features.indptr, features.indices, features.data


def _flat(array: Floats) -> Floats:
    return array.reshape(len(array), array.shape[1] * array.shape[2])


@cache
def kernels() -> SimpleNamespace:
    """Compile the kernels at their first use; ModuleNotFoundError without numba."""
    try:
        import numba
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("engine='numba' needs the package numba") from error

    compiled = numba.njit(fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")

    @compiled
    def receive(weights: Any, rows: Any, owed: Any, kick: Any) -> None:
        for i in range(rows.size):
            for o in range(owed.shape[1]):
                row, z = weights[rows[i], o], owed[i, o]
                for k in range(kick.size):
                    row[k] -= z * kick[k]

    @compiled
    def gather(start: Any, columns: Any, values: Any, weights: Any, logits: Any) -> None:
        for r in range(logits.shape[0]):
            sums = logits[r]
            for u in range(start[r], start[r + 1]):
                row, x = weights[columns[u]], values[u]
                for k in range(sums.size):
                    sums[k] += x * row[k]

    @compiled
    def scatter(start: Any, columns: Any, values: Any, slopes: Any, out: Any) -> None:
        for r in range(slopes.shape[0]):
            slope = slopes[r]
            for u in range(start[r], start[r + 1]):
                row, x = out[columns[u]], values[u]
                for k in range(slope.size):
                    row[k] += x * slope[k]

    @compiled
    def sign(weights: Any, rows: Any, gradient: Any, noise: Any, scale: Any, rate: Any) -> None:
        for i in range(rows.size):
            for o in range(noise.shape[1]):
                row, g, z = weights[rows[i], o], gradient[rows[i], o], noise[i, o]
                for k in range(rate.size):
                    private = g[k] + scale[k] * z
                    g[k] = 0
                    row[k] -= rate[k] * (np.float32(private > 0) - np.float32(private < 0))

    @compiled
    def adam(
        weights: Any, first: Any, second: Any, gradient: Any, noise: Any, scale: Any,
        old1: Any, new1: Any, old2: Any, new2: Any, rate: Any, floor: Any,
    ) -> None:  # fmt: skip
        for j in range(weights.shape[0]):
            for o in range(weights.shape[1]):
                w, m, v, g = weights[j, o], first[j, o], second[j, o], gradient[j, o]
                z = noise[j, o]
                for k in range(g.size):  # loops over few arrays, which the compiler vectorises
                    g[k] += scale[k] * z
                for k in range(g.size):
                    m[k] = old1[k] * m[k] + new1[k] * g[k]
                for k in range(g.size):
                    v[k] = old2[k] * v[k] + new2[k] * g[k] * g[k]
                for k in range(g.size):
                    g[k] = m[k] / (sqrt(v[k]) + floor[k])
                for k in range(g.size):
                    w[k] -= rate[k] * g[k]
                    g[k] = 0

    return SimpleNamespace(receive=receive, gather=gather, scatter=scatter, sign=sign, adam=adam)
