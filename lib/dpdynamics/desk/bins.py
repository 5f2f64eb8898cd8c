r"""Balls and bins, epoch after epoch: each record has one random batch of each epoch.

One epoch is `accounting.BallsInBins`. Several compose by `accounting.many_epochs` if a record is
zeroed out and by `accounting.bins_replaced` if it is replaced. Where nothing is computed there they
compose from above by Renyi divergences, which add up. From below the better counts of
`accounting.epoch_attacks`, on data where all other records are zero, and, if the record is
replaced, of `accounting.bins_replaced`.

With T batches and :math:`L_t=e^{z_t/\sigma-1/(2\sigma^2)}` the likelihood ratio of an epoch is
:math:`S/T`, S the sum of T independent terms. If the record is there in P and zeroed out in Q,

* :math:`E_Q S^a` is a! times the coefficient of :math:`x^a` in
  :math:`(\sum_k e^{k(k-1)/(2\sigma^2)}x^k/k!)^T`, for whole a (Feldman and Shenfeld, 2025);
* the other way round :math:`E_Q S^{-z}=\frac1{\Gamma(z)}\int_0^\infty t^{z-1}(Ee^{-tL})^T\,dt`.

If the record is replaced, Cauchy and Schwarz go by way of the law Q where it is zeroed out,
:math:`\int p^{z+1}r^{-z}\le(\int p^{2z+2}q^{-2z-1}\int q^{2z+1}r^{-2z})^{1/2}`.
"""

from dataclasses import dataclass
from math import inf, lgamma, log, sqrt

import numpy as np
from scipy.special import gammaln, logsumexp

from ..accounting import BallsInBins, bins_replaced
from ..accounting.balls_in_bins import epochs_above
from ..accounting.epoch_attacks import attacked
from ..accounting.runs import BoundedRun
from ..arguments import Array, one_of, whole
from ..divergence import gaussian_epsilon

_MOST = 128  # the largest order


@dataclass(frozen=True, kw_only=True)
class EpochsOfBins(BoundedRun):
    """Noisy sums of epochs of balls and bins: bounds.

    Parameters
    ----------
    batches : int
        Batches of an epoch, T.
    steps : int
        Releases; a started epoch counts from above and not from below.
    runs : int
        Number of such runs on the same records.
    relation : {"zero_out", "replace"}
        One record zeroed out or put back, or replaced.
    """

    batches: int
    steps: int = 1
    runs: int = 1
    relation: str = "zero_out"

    def __post_init__(self) -> None:
        for name in ("batches", "steps", "runs"):
            whole(name, getattr(self, name), 1)
        one_of("relation", self.relation, ("zero_out", "replace"))

    def _bound(self, noise: float, delta: float, side: int, rough: bool = False) -> float:
        begun, ended = (
            self.runs * (count // self.batches)
            for count in (self.steps + self.batches - 1, self.steps)
        )
        replaced = self.relation == "replace"
        place = -1.0 if replaced else 0.0
        plain = float(gaussian_epsilon(mu=(1 - place) * sqrt(begun) / noise, delta=delta))
        if self.batches == 1:
            return plain
        epochs = ended if side < 0 else begun
        run = noise, self.batches, epochs, delta
        exact = epochs == 1 and self.relation == "zero_out" and delta >= 1e-8
        if side < 0:
            return max(
                bins_replaced.epsilon_below(*run, rough) if replaced and epochs else 0.0,
                self._one(noise, delta, side) if exact else 0.0,
                attacked(noise, delta, (self.batches, 1.0), epochs, (1.0, place), rough),
            )
        found = min(
            epochs_above(*run, self.relation, rough),
            self._one(noise, delta, side) if exact else inf,
        )
        return min(plain, found if found < inf else self._renyi(noise, delta, begun))

    def _one(self, noise: float, delta: float, side: int) -> float:
        """Round the exact value of one epoch, whose delta may err by 1e-9 and 1e-5 of it."""
        target = delta if side > 0 else delta * (1 + 3e-5) + 3e-9
        if target >= 1:
            return 0.0
        try:
            one = BallsInBins(batches=self.batches)
            found = float(one.epsilon(noise_multiplier=noise, delta=target))
        except ArithmeticError:  # its accuracy is not reached
            return inf if side > 0 else 0.0
        return found if side > 0 else max(found - 2e-7, 0.0)

    def _renyi(self, noise: float, delta: float, epochs: int) -> float:
        orders, highest = [1], _MOST // 2 if self.relation == "replace" else _MOST
        while orders[-1] + -(-orders[-1] // 24) < highest:
            orders.append(orders[-1] + -(-orders[-1] // 24))
        z = np.array(orders)
        powers = _powers(noise, self.batches)
        if self.relation == "replace":
            logs = [(powers[2 * z + 2] + _inverse(noise, self.batches, 2 * z)) / 2]
        else:
            logs = [powers[z + 1], _inverse(noise, self.batches, z)]
        paid = log(delta * (1 - 1e-4))
        found = [
            np.min((epochs * x + z * np.log(z / (z + 1)) - np.log(z + 1) - paid) / z) for x in logs
        ]
        return max(0.0, float(max(found)))


def _powers(noise: float, batches: int) -> Array:
    r"""Return :math:`\ln E_Q(S/T)^a` for a = 0, 1, ..."""
    k = np.arange(_MOST + 2)
    factor = k * (k - 1) / (2 * noise**2) - gammaln(k + 1)
    total, left = np.where(k == 0, 0.0, -np.inf), batches

    def times(f: Array, g: Array) -> Array:
        back = np.subtract.outer(k, k)
        return np.asarray(logsumexp(np.where(back < 0, -np.inf, f + g[back]), axis=1))

    while left:
        if left % 2:
            total = times(total, factor)
        left //= 2
        if left:
            factor = times(factor, factor)
    return np.asarray(total + gammaln(k + 1) - k * log(batches))


def _inverse(noise: float, batches: int, orders: Array) -> Array:
    r"""Return :math:`\ln E_Q(S/T)^{-z}`, infinite for an order that the grid does not reach.

    By the trapezoidal rule in v = ln t and, for each batch, in the noise u. Large orders see the
    noise at u = -z/(T sigma), within 1/sqrt(T): nine deviations further must be at most 13, so that
    16 leave out exp(-43) of a mean and exp(-40) of the integral; to the left exp(-28 z)/z! is left
    out. Shifted by i d, the integrand grows by exp(z d^2/2) at the most, so that the step h errs by
    exp(-2 pi^2/(h^2 z)) < exp(-42); the rule for a mean, by exp(-23) at u = -13.
    """
    step, spacing = 0.06, min(0.2, noise / 4)
    u = np.arange(-16, 9 + spacing, spacing)
    weights = spacing * np.exp(-(u**2) / 2) / sqrt(2 * np.pi)
    v = np.arange(-log(batches) - 28, 1 / (2 * noise**2) + 14 / noise + 10, step)
    logs = []
    with np.errstate(over="ignore", divide="ignore"):
        for t in v:
            terms = np.exp(t + u / noise - 1 / (2 * noise**2))
            gone, left = -np.expm1(-terms) @ weights, np.exp(-terms) @ weights
            logs.append(batches * (np.log1p(-gone) if gone < 0.5 else np.log(left)))
    found = [logsumexp(z * v + logs) + log(step) - lgamma(z) + z * log(batches) for z in orders]
    reached = orders / (batches * noise) + 9 / sqrt(batches) <= 13
    return np.where(reached, found, np.inf)
