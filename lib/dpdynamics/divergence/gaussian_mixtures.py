r"""Mixtures of shifted normals against the unshifted one: exactly once, from above composed.

With means :math:`0=m_0<m_1<\dots` in units of the noise,

.. math:: P = \sum_iw_iN(m_i,1),\qquad Q = N(0,1),\qquad
   \ell(x) = \ln\frac{dP}{dQ} = \ln\sum_iw_ie^{m_ix-m_i^2/2}.

The loss grows with x, so half lines are the best tests, and one of level a has the power
:math:`\sum_iw_i\Phi(m_i-z_a)`. Two consequences:

* A larger mean makes every hockey-stick divergence larger, in both directions. Rounding means up
  bounds from above, rounding them down from below.
* Any law :math:`\sum_iw_iP_i` against any Q, where a test of level a has at most the power
  :math:`\Phi(m_i-z_a)` against :math:`P_i`, is dominated, in both directions: no test is better
  against the sum than the best ones against its parts together.

**Composition from above.** The line is cut into cells. In a cell the ratio of P to Q lies between
its values at the ends; putting the two masses on these two values, such that both are kept, only
raises the divergences (the ratio becomes more spread out). Losses above a height that no test
reaches count as infinite, and the rest is composed as a privacy loss distribution that is rounded
up, see `numerics.privacy_loss`.
"""

from dataclasses import dataclass
from math import exp, expm1, inf, log, log1p

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, logsumexp, ndtr

from ..arguments import Array
from ..numerics.normal_masses import normal_masses
from ..numerics.privacy_loss import composed_delta_upper

_CELLS = 2400  # the second-order loss of as many cells is that of the mesh
_REACH = 9.5  # beyond which a normal law has 2e-21


@dataclass(frozen=True, eq=False)
class GaussianMixturePair:
    """The pair of laws: `means` increase from 0, `weights` add up to 1."""

    means: Array
    weights: Array

    @property
    def base(self) -> float:
        """The least loss, that of x at minus infinity."""
        return log(self.weights[0]) if self.weights[0] else -inf

    def scaled(self, noise_multiplier: float) -> "GaussianMixturePair":
        """Return the pair at a noise multiplier, if this one is at 1."""
        return GaussianMixturePair(self.means / noise_multiplier, self.weights)

    def loss(self, x: Array) -> Array:
        """Return ln dP/dQ at points x of shape (n,)."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights)
        terms = np.multiply.outer(x, self.means) + (logs - self.means**2 / 2)
        largest = terms.max(axis=1, keepdims=True)
        return np.asarray(largest[:, 0] + np.log(np.exp(terms - largest).sum(axis=1)))

    def delta(self, epsilon: float, relation: str) -> tuple[float, float]:
        """Return bounds below and above the profile of one use, apart by rounding only.

        `relation` is "remove" for P against Q, "add" for Q against P.
        """
        sign = 1 if relation == "remove" else -1
        if sign * epsilon <= self.base:
            value = -expm1(epsilon) if relation == "remove" else 0.0
            return value, value

        def excess(x: float) -> float:
            return float(self.loss(np.array([x]))[0]) - sign * epsilon

        low, high = -1.0, 1.0
        while excess(low) > 0:
            low *= 2
        while excess(high) < 0:
            high *= 2
        cut = sign * float(brentq(excess, low, high, xtol=1e-10, rtol=1e-12))
        mixed = float(logsumexp(log_ndtr(sign * self.means - cut), b=self.weights))
        single = float(log_ndtr(-cut))
        first, second = (mixed, single) if sign == 1 else (single, mixed)
        # In logarithms, since exp(epsilon) may overflow; the second term never exceeds the first.
        value = exp(first) - exp(min(epsilon + second, first))
        rounding = (1e-13 + 1e-15 * abs(epsilon)) * exp(first)
        return max(value - rounding, 0.0), min(max(value, 0.0) + rounding, 1.0)

    def composed_delta(self, steps: int, epsilon: float, relation: str) -> float:
        """Bound the profile of `steps` uses from above.

        A relative 1e-3 above the exact value, or 1e-18 if that is more.
        """
        base = self.base if relation == "remove" else -self.base
        if steps == 1 or (relation == "add" and epsilon >= base * steps):
            return self.delta(epsilon / steps, relation)[1]
        if relation == "remove" and epsilon <= base * steps:
            return -expm1(epsilon)
        losses, masses, infinite = self._law(relation, epsilon + steps * abs(base) + 45)
        kept = masses > 0
        value = composed_delta_upper(losses[kept], masses[kept], steps, epsilon, base)
        return min(value - expm1(steps * log1p(-infinite)), 1.0)

    def _law(self, relation: str, top: float) -> tuple[Array, Array, float]:
        """Return losses, their masses under the first law, and the mass of infinite losses."""
        rough = np.linspace(-_REACH, self.means[-1] + _REACH, 1001)
        loss = self.loss(rough)
        keep = loss <= max(top, loss[1])
        rough, loss = rough[keep], loss[keep]
        density = np.exp(-(rough**2) / 2 + (loss if relation == "remove" else 0.0))
        need = np.cbrt(np.gradient(loss, rough) ** 2 * np.sqrt(density))
        need += 1e-3 * need.max() + 1e-300
        spent = np.concatenate([[0.0], np.cumsum((need[1:] + need[:-1]) * np.diff(rough))])
        x = np.interp(np.linspace(0.0, spent[-1], _CELLS + 1), spent, rough)
        z = np.subtract.outer(x, self.means)
        cells = np.concatenate([ndtr(z[:1]), normal_masses(z), ndtr(-z[-1:])])
        p, q = cells @ self.weights, cells[:, 0]
        ends = np.concatenate([[self.base], self.loss(x)])
        masses = np.zeros(ends.size)
        if relation == "remove":  # nothing is above the last cell
            first, second, infinite = p[:-1], q[:-1], float(p[-1])
        else:  # the last cell has the least losses, which go up to the next
            first, second, infinite = q[-2::-1], p[-2::-1], 0.0
            ends, masses[0] = -ends[::-1], q[-1]
        width = np.diff(ends)
        narrow = width <= 0
        right = (first - second * np.exp(np.minimum(ends[:-1], 700.0))) / np.where(
            narrow, 1.0, -np.expm1(-width)
        )
        right = np.where(narrow, first, np.clip(right, 0.0, first))
        masses[:-1] += first - right
        masses[1:] += right
        return ends, masses, infinite
