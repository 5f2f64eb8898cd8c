"""Mixtures of normals on the line, and the divergences of two of them: a plain route."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpdynamics.numerics.normal_masses import normal_masses


@dataclass(frozen=True, eq=False)
class NormalMixture:
    r"""The law :math:`\sum_iw_iN(m_i, s^2)` on the line.

    The weights (m,) are positive and add up to 1. In `interval` densities are compared: it holds
    nearly all of the mass, and the mixture, if it approximates another law, does so with a small
    relative error there.
    """

    means: np.ndarray
    weights: np.ndarray
    std: float
    interval: tuple[float, float]

    def logpdf(self, points):
        """Logarithm of the density, of the shape of the points."""
        logs = []
        scale = np.log(self.weights) - np.log(self.std * np.sqrt(2 * np.pi))
        for part in np.array_split(points.ravel(), 1 + points.size * self.means.size // 2**20):
            terms = scale - (np.subtract.outer(part, self.means) / self.std) ** 2 / 2
            logs.append(logsumexp(terms, axis=1))
        return np.asarray(np.concatenate(logs).reshape(points.shape))

    def probability(self, low, high):
        """Probability of an interval, whose ends may be infinite."""
        ends = (low - self.means) / self.std, (high - self.means) / self.std
        return float(self.weights @ normal_masses(np.stack(ends))[0])

    def renyi(self, other, order):
        """Renyi divergence of this law from another, by the trapezoidal rule."""
        x, log_p, log_q = self._against(other)
        exponents = order * log_p + (1 - order) * log_q
        assert exponents[[0, -1]].max() < exponents.max() - 32  # nothing is left out
        return (logsumexp(exponents) + np.log(x[1] - x[0])) / (order - 1)

    def hockey_stick(self, other, epsilon):
        """The profile, by the probabilities of the intervals on which p exceeds e^epsilon q."""
        x, log_p, log_q = self._against(other)
        loss = log_p - log_q
        above, total = loss > epsilon, 0.0
        at = np.nonzero(np.diff(above))[0]
        left, slope = x[at], (loss[at + 1] - loss[at]) / (x[1] - x[0])
        cuts = left + (epsilon - loss[at]) / slope
        for _ in range(4):  # the value is stationary in the cuts: they need half its digits
            miss = self.logpdf(cuts) - other.logpdf(cuts) - epsilon
            cuts = np.clip(cuts - miss / slope, left, left + x[1] - x[0])
        ends = [-np.inf] * bool(above[0]) + cuts.tolist() + [np.inf] * bool(above[-1])
        for low, high in zip(ends[::2], ends[1::2], strict=True):
            total += self.probability(low, high)
            total -= np.exp(epsilon) * other.probability(low, high)
        return min(max(total, 0.0), 1.0)

    def _against(self, other):
        """Points on which both laws can be trusted, and the log densities there."""
        low, high = map(float, np.sort([self.interval, other.interval], axis=0)[[1, 0], [0, 1]])
        count = 3 + 2 * int(4 * (high - low) / min(self.std, other.std))
        x = np.linspace(low, high, count)
        return x, self.logpdf(x), other.logpdf(x)
