r"""One step on a batch of fixed size, drawn without replacement: its dominating pair.

Lengths are in units of the clip norm, k is the noise multiplier and q = B/n. A pair (a, b) stands
for :math:`P=(1-q)N(0,k^2)+qN(a,k^2)` and Q with b for a. Whatever the data, the profile of a step
at :math:`\varepsilon\ge0` is at most that of

======================================= ======
the record ...                          pair
======================================= ======
is replaced                             (2, 0)
is in P, and zeroed out in Q: "remove"  (2, 1)
is zeroed out in P, and in Q: "add"     (1, 0)
======================================= ======

and at :math:`\varepsilon<0` what the pair of the other direction gives at :math:`-\varepsilon`,
P and Q exchanged. Both are attained, by different data; the proof, by joint convexity and Kahane's
inequality, is in the chapter on accounting. The supremum of profiles is one itself: of a loss
whose positive values have the law that they have in the first pair, whose negative ones are those
of the second with their sign turned, and which is 0 with the rest of the probability. Steps that
are chosen adaptively are dominated by the composition of such losses (Zhu, Dong and Wang, 2022).
"""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, logsumexp, ndtr

from ..arguments import Array, elementwise, finite_array, orders_array, plain
from ..numerics.convolution import interpolated
from ..numerics.inversion import Complex, Cumulants, InversionError, log_mgf_of_losses
from ..numerics.normal_masses import normal_masses
from .pairs import NoisySum, reach_of

Places = tuple[float, float]

PAIRS: dict[str, tuple[Places, Places]] = {
    "replace": ((2.0, 0.0), (2.0, 0.0)),
    "remove": ((2.0, 1.0), (1.0, 0.0)),
    "add": ((1.0, 0.0), (2.0, 1.0)),
}
FAINTEST = 0.02  # the losses of less noise range too far
_NODES, _WEIGHTS = leggauss(16)  # e^(4it) on [0, 1] to rounding
_END = 44.0  # e^-44 = 8e-20
_CELL = 0.125
_WORK = 3e8  # products in one evaluation of the transform
_PANELS = 1e6  # of 16 nodes
_SLOW = "the transform of the privacy loss decays too slowly"
_FLAT = 1e-12  # what no loss in any step may leave of the transform, far up the line


@dataclass(frozen=True)
class WithoutReplacement(NoisySum):
    """The dominating pair of one step with Gaussian noise, see the head of this file.

    Many steps compose by inversion, a few by convolution.

    Examples
    --------
    >>> f"{WithoutReplacement(1.0, 0.01, 'remove').delta(1.0):.3g}"
    '0.000169'
    """

    def delta(self, epsilon: ArrayLike) -> float | Array:
        eps = finite_array("epsilon", epsilon)
        ahead, behind = (self._profile(*places, np.abs(eps)) for places in PAIRS[self.relation])
        below = np.exp(np.minimum(eps, 0.0))
        return plain(np.where(eps < 0, 1 - below + below * behind, ahead))

    def renyi(self, orders: ArrayLike) -> float | Array:
        def at(order: float) -> float:
            reach = 40 + 2 * order / self.noise_multiplier
            loss, log_mass = self._law(order - 1, order - 1, 0.0, 1.0, reach)
            exponent = (order - 1) * loss
            if exponent.max() < 500:
                return float(np.log1p(np.exp(log_mass) @ np.expm1(exponent))) / (order - 1)
            return float(logsumexp(exponent + log_mass)) / (order - 1)

        return elementwise(at, orders_array("orders", orders))

    def cumulants(self, steps: int, smallest: float) -> Cumulants:
        """Return ln M of `steps` steps, without outcomes of probability 1e-10 `smallest`."""
        if self.noise_multiplier < FAINTEST:
            raise InversionError(f"noise_multiplier is below {FAINTEST}: losses range too far")
        reach = reach_of(steps, smallest)

        def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
            height = float(np.abs(first.imag).max() + np.abs(second.imag).max())
            ends = float(first.real.min()), float(first.real.max())
            loss, log_mass = self._law(*ends, height, fineness, reach)
            flat = steps * (log_mass[0] - logsumexp(ends[0] * loss + log_mass)) > np.log(_FLAT)
            if second.size > 1 and flat:
                raise InversionError(_SLOW)
            return steps * log_mgf_of_losses(loss, log_mass, first, second, _WORK)

        return log_mgf

    @property
    def base(self) -> float:
        """The loss at which the law has an atom."""
        return 0.0

    def support(self, steps: int, smallest: float) -> tuple[float, float]:
        """Return the range of the losses that `cumulants` keeps."""
        ends = []
        for a, b in PAIRS[self.relation]:
            last = np.array(reach_of(steps, smallest) + a / self.noise_multiplier)
            ends.append(float(self._log(last, a) - self._log(last, b)))
        return -ends[1], ends[0]

    def masses(self, mesh: float, lowest: int, highest: int) -> tuple[int, Array]:
        """Put the law of the loss on the points j mesh, j = `lowest`...`highest` and 0.

        Returns the first j and the masses under P.
        """
        k, q = self.noise_multiplier, self.sampling_probability
        j = np.arange(min(lowest, 0), max(highest, 0) + 1.0)
        cells, rest = [], 1.0
        sides = (j[j >= 0], -j[j <= 0])
        for ends, places, own in zip(sides, PAIRS[self.relation], (0, 1), strict=True):
            u, start = self._place(*places, mesh * ends) / k, sum(places) / (2 * k)
            both = [(1 - q) * normal_masses(u) + q * normal_masses(u - x / k) for x in places]
            cells.append((both[own], both[1 - own]))  # under P and under Q
            rest -= (1 - q) * ndtr(-start) + q * ndtr(places[own] / k - start)
        p, other = (np.append(below, above) for above, below in zip(*cells, strict=True))
        law = interpolated(j, p, other, base=0.0, mesh=mesh, spread=p / 6)
        law[1 - int(j[0])] += rest
        return int(j[0]) - 1, law

    def _law(
        self, low: float, high: float, height: float, fineness: float, reach: float
    ) -> tuple[Array, Array]:
        """Return losses with log masses under P, for all z of real part 0 or in [low, high].

        By Gauss-Legendre panels in units of the noise, cells or parts of them, which resolve
        exp(z loss) up to `height` and the strip of half-width pi k/2 without zeros of a mixture.
        """
        k, losses, logs = self.noise_multiplier, [np.zeros(1)], []
        for sign, (a, b) in zip((1, -1), PAIRS[self.relation], strict=True):
            start = (a + b) / (2 * k)
            rough = start + np.arange(0.0, reach + a / k - start + 3 * _CELL, _CELL)
            log_p, log_q = self._log(rough, a), self._log(rough, b)
            loss, seen = log_p - log_q, (log_p if sign > 0 else log_q) - rough**2 / 2
            last = 0
            for tilt in {0.0, low, high}:
                exponent = seen + sign * tilt * loss
                last = max(last, int(np.flatnonzero(exponent > exponent.max() - _END)[-1]))
            last = min(last, rough.size - 3)
            rise = np.maximum(np.diff(loss)[: last + 1], np.diff(loss)[1 : last + 2])
            steep = (height + max(abs(low), abs(high))) * rise
            count = np.ceil(fineness * (_CELL * (8 + 8 / k) + steep) / 4)
            if count.sum() > _PANELS:
                raise InversionError(_SLOW)
            count = count.astype(int)
            within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            half = np.repeat(_CELL / 2 / count, count)[:, None]
            left = np.repeat(rough[: last + 1], count)[:, None]
            u = (left + half * (2 * within[:, None] + 1 + _NODES)).ravel()
            log_p, log_q = self._log(u, a), self._log(u, b)
            seen = (log_p if sign > 0 else log_q) - u**2 / 2 - np.log(2 * np.pi) / 2
            losses.append(sign * (log_p - log_q))
            logs.append(seen + np.log((half * _WEIGHTS).ravel()))
        rest = 1 - float(sum(np.exp(log).sum() for log in logs))
        logs.insert(0, np.log(np.array([max(rest, 1e-300)])))
        return np.concatenate(losses), np.concatenate(logs)

    def _log(self, u: Array, place: float) -> Array:
        """Return the log density of a mixture over the standard normal one, u = x/k."""
        k, q = self.noise_multiplier, self.sampling_probability
        return np.asarray(np.logaddexp(np.log1p(-q), np.log(q) + (u - place / (2 * k)) * place / k))

    def _place(self, a: float, b: float, epsilon: Array) -> Array:
        """Return the x at which the loss of (a, b) is epsilon >= 0."""
        k, q = self.noise_multiplier, self.sampling_probability
        grown = _grown(epsilon)
        if b == 0:  # q e^(a (x - a/2)/k^2) = q + e^epsilon - 1
            return np.asarray(a / 2 + k**2 / a * np.logaddexp(0.0, grown - np.log(q)))
        # a quadratic equation for y = e^((x - 3/2)/k^2)
        root = np.logaddexp(2 * epsilon, np.log(4) + np.log1p(-q) - np.log(q) + grown - k**-2)
        return np.asarray(1.5 + k**2 * (np.logaddexp(epsilon, root / 2) - np.log(2)))

    def _profile(self, a: float, b: float, epsilon: Array) -> Array:
        """Return the profile of (a, b) at epsilon >= 0, beyond the one x where the loss is it."""
        k, q = self.noise_multiplier, self.sampling_probability
        x, grown = self._place(a, b, epsilon), _grown(epsilon)
        near, far = log_ndtr((a - x) / k), log_ndtr((b - x) / k)
        taking_part = q * np.exp(near) * -np.expm1(np.minimum(epsilon + far - near, 0.0))
        return np.asarray(np.maximum(taking_part - (1 - q) * np.exp(grown + log_ndtr(-x / k)), 0.0))


def _grown(epsilon: Array) -> Array:
    """Return ln(e^epsilon - 1)."""
    with np.errstate(divide="ignore"):
        return np.asarray(epsilon + np.log(-np.expm1(-epsilon)))
