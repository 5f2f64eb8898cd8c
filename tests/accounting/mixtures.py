"""Mixtures of normals on the line, and the divergences of two of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..arguments import Array, elementwise, finite_array, plain, positive, vector
from ..numerics.normal_masses import normal_mass


@dataclass(frozen=True, eq=False)
class NormalMixture:
    r"""The law :math:`\sum_iw_iN(m_i, s^2)` on the line.

    The weights (m,) are positive and add up to 1. In `interval` densities are compared: it holds
    nearly all of the mass, and the mixture, if it approximates another law, does so with a small
    relative error there.
    """

    means: Array
    weights: Array
    std: float
    interval: tuple[float, float]

    def __post_init__(self) -> None:
        means = finite_array("means", self.means, ndim=1)
        weights = vector("weights", self.weights, means.size)
        if not np.all(weights > 0) or abs(weights.sum() - 1) > 1e-8:
            raise ValueError("weights must be positive and add up to 1")
        low, high = map(float, self.interval)
        if not -np.inf < low < high < np.inf:
            raise ValueError(f"interval must be finite and increase, got {self.interval}")
        clean = means, weights, positive("std", self.std), (low, high)
        for name, value in zip(("means", "weights", "std", "interval"), clean, strict=True):
            object.__setattr__(self, name, value)

    def logpdf(self, x: ArrayLike) -> Array:
        """Logarithm of the density, of the shape of x."""
        points, logs = finite_array("x", x), []
        scale = np.log(self.weights) - np.log(self.std * np.sqrt(2 * np.pi))
        for part in np.array_split(points.ravel(), 1 + points.size * self.means.size // 2**20):
            terms = scale - (np.subtract.outer(part, self.means) / self.std) ** 2 / 2
            logs.append(logsumexp(terms, axis=1))
        return np.asarray(np.concatenate(logs).reshape(points.shape))

    def probability(self, low: float, high: float) -> float:
        """Probability of an interval, whose ends may be infinite."""
        ends = (low - self.means) / self.std, (high - self.means) / self.std
        return float(self.weights @ normal_mass(*ends))

    def renyi(self, other: "NormalMixture", orders: ArrayLike) -> float | Array:
        r"""Compute the Renyi divergence at orders in (0, 1) or (1, inf) of this law from another.

        By the trapezoidal rule, which loses little but rounding, of about 1e-13/|alpha - 1|. Raises
        ArithmeticError if the integral goes on beyond the intervals of the laws (enlarge `reach`),
        or the rule has not settled.
        """
        alpha = finite_array("orders", orders)
        if not np.all((alpha > 0) & (alpha != 1)):
            raise ValueError(f"orders must lie in (0, 1) or (1, inf), got {orders!r}")
        x, log_p, log_q = self._against(other)
        a = alpha[..., None]
        exponents = a * log_p + (1 - a) * log_q
        if np.any(exponents[..., [0, -1]] > exponents.max(axis=-1, keepdims=True) - 32):
            raise ArithmeticError("the divergence goes on beyond the laws; enlarge their reach")
        logs = logsumexp(exponents, axis=-1) + np.log(x[1] - x[0])
        coarse = logsumexp(exponents[..., ::2], axis=-1) + np.log(x[2] - x[0])
        if np.any(np.abs(logs - coarse) > 1e-8):
            raise ArithmeticError("the divergence is not resolved: the order is too high")
        return plain(logs / (alpha - 1))

    def hockey_stick(self, other: "NormalMixture", epsilon: ArrayLike) -> float | Array:
        r"""Compute :math:`\delta(\varepsilon) = \int(p - e^\varepsilon q)_+` against another law.

        By the probabilities of the intervals on which :math:`p > e^\varepsilon q`. Rounding of
        about 1e-15 apart it errs on the low side, by some 1e-9 of its value; the mesh is an eighth
        of `std`.
        """
        levels = finite_array("epsilon", epsilon)
        x, log_p, log_q = self._against(other)
        loss = log_p - log_q

        def delta(level: float) -> float:
            above, total = loss > level, 0.0
            at = np.nonzero(np.diff(above))[0]
            left, slope = x[at], (loss[at + 1] - loss[at]) / (x[1] - x[0])
            cuts = left + (level - loss[at]) / slope
            for _ in range(4):  # the value is stationary in the cuts: they need half its digits
                miss = self.logpdf(cuts) - other.logpdf(cuts) - level
                cuts = np.clip(cuts - miss / slope, left, left + x[1] - x[0])
            ends = [-np.inf] * bool(above[0]) + cuts.tolist() + [np.inf] * bool(above[-1])
            for low, high in zip(ends[::2], ends[1::2], strict=True):
                total += self.probability(low, high)
                total -= np.exp(level) * other.probability(low, high)
            return min(max(total, 0.0), 1.0)

        return elementwise(delta, levels)

    def _against(self, other: "NormalMixture") -> tuple[Array, Array, Array]:
        """Points on which both laws can be trusted, and the log densities there."""
        low, high = map(float, np.sort([self.interval, other.interval], axis=0)[[1, 0], [0, 1]])
        if not low < high:
            raise ArithmeticError("the laws do not overlap within their reach; enlarge it")
        count = 3 + 2 * int(4 * (high - low) / min(self.std, other.std))
        x = np.linspace(low, high, count)
        return x, self.logpdf(x), other.logpdf(x)
