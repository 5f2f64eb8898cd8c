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
from scipy.special import log_ndtr, logsumexp, ndtri

from ..arguments import Array, elementwise, finite_array, orders_array, plain
from ..numerics.inversion import Complex, Cumulants, InversionError
from .pairs import NoisySum

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
_FLAT = 1e-12  # what no loss in any step may leave of the transform, far up the line


@dataclass(frozen=True)
class WithoutReplacement(NoisySum):
    """The dominating pair of one step with Gaussian noise, see the head of this file.

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
        reach = -float(ndtri(1e-10 * smallest / steps / 2))

        def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
            height = float(np.abs(first.imag).max() + np.abs(second.imag).max())
            ends = float(first.real.min()), float(first.real.max())
            loss, log_mass = self._law(*ends, height, fineness, reach)
            flat = steps * (log_mass[0] - logsumexp(ends[0] * loss + log_mass)) > np.log(_FLAT)
            if second.size > 1 and (flat or loss.size * first.size * second.size > _WORK):
                raise InversionError("the transform of the privacy loss decays too slowly")
            tilt = first[:, None] * loss + log_mass
            shift = tilt.real.max(axis=1, keepdims=True)
            with np.errstate(under="ignore"):
                values = np.exp(tilt - shift) @ np.exp(np.multiply.outer(loss, second))
            return np.asarray(steps * (np.log(values) + shift))

        return log_mgf

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
            count = np.ceil(fineness * (_CELL * (8 + 8 / k) + steep) / 4).astype(int)
            within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            half = np.repeat(_CELL / 2 / count, count)[:, None]
            u = (
                np.repeat(rough[: last + 1], count)[:, None]
                + half * (2 * within[:, None] + 1 + _NODES)
            ).ravel()
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

    def _profile(self, a: float, b: float, epsilon: Array) -> Array:
        """Return the profile of (a, b) at epsilon >= 0, beyond the one x where the loss is it."""
        k, q = self.noise_multiplier, self.sampling_probability
        idle = np.log1p(-q) - np.log(q)
        with np.errstate(divide="ignore"):
            grown = epsilon + np.log(-np.expm1(-epsilon))  # ln(e^epsilon - 1)
        if b == 0:  # q e^(a (x - a/2)/k^2) = q + e^epsilon - 1
            x = a / 2 + k**2 / a * np.logaddexp(0.0, grown - np.log(q))
        else:  # a quadratic equation for y = e^((x - 3/2)/k^2)
            root = np.logaddexp(2 * epsilon, np.log(4) + idle + grown - k**-2)
            x = 1.5 + k**2 * (np.logaddexp(epsilon, root / 2) - np.log(2))
        near, far = log_ndtr((a - x) / k), log_ndtr((b - x) / k)
        taking_part = q * np.exp(near) * -np.expm1(np.minimum(epsilon + far - near, 0.0))
        return np.asarray(np.maximum(taking_part - (1 - q) * np.exp(grown + log_ndtr(-x / k)), 0.0))
