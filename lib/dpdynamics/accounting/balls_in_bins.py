r"""What the random place of one record in an epoch is worth.

An epoch of T batches releases T sums with noise :math:`\sigma` (in units of the clip norm). The
record sits in one batch, chosen uniformly, and all other records contribute zero:

.. math:: P = \frac1T\sum_{t=1}^T N(e_t,\sigma^2I_T),\qquad Q = N(0,\sigma^2I_T).

**Computation.** The density ratio is the mean :math:`\bar L` of T independent
:math:`L_t = e^{z_t/\sigma-1/(2\sigma^2)}`, :math:`z_t` standard normal under Q, and

.. math::

   H_{e^\varepsilon}(Q\|P) = e^\varepsilon E(e^{-\varepsilon}-\bar L)_+,\qquad
   H_{e^\varepsilon}(P\|Q) = 1 - e^\varepsilon + E(e^\varepsilon-\bar L)_+ :

only the law of the sum below a known level matters. It is found by convolving masses on a mesh,
doubling the number of terms, cut off at that level: nothing wraps around. The mass between mesh
points goes to its two ends such that the mean is kept. This errs upwards (Jensen) by
:math:`O(h^2)`, which meshes of width h and h/2 remove.

Where :math:`Te^\varepsilon` is large the second formula cancels. There one term, seen under P, is
kept apart from the sum R of the others, which is nearly always far below :math:`Te^\varepsilon`:
:math:`H_{e^\varepsilon}(P\|Q) = E_P(1-e^\varepsilon/\bar L)_+`, with R on a mesh up to 16 times
that level and the single term by quadrature.
"""

from dataclasses import dataclass
from functools import partial
from math import inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import (
    Array,
    elementwise,
    fraction_array,
    nonnegative_array,
    one_of,
    positive,
    whole,
)
from ..divergence.gaussian import gaussian_delta, gaussian_epsilon, gaussian_noise_multiplier
from ..numerics.panels import panels
from . import bins_replaced, many_epochs
from .many_epochs import cells_of_a_term, least_delta, sum_of_terms
from .runs import Run, delta_at, least_epsilon, least_noise

_SIGNS = {"add_remove": (1, -1), "zero_out": (1, -1), "remove": (1,), "add": (-1,)}
_POINTS = 1 << 16  # of the coarser mesh of one epoch
_ROUNDING = 2e-16  # what rounding costs 1 - e^epsilon + E(e^epsilon - L)_+, over T e^epsilon


@dataclass(frozen=True, kw_only=True)
class BallsInBins(Run[float | Array, float]):
    r"""Independent Gaussian noise on epochs in which each record has a random batch; exact for one.

    Every record is assigned to a batch independently; also called random allocation. For an epoch
    shuffled into batches of equal size the profile is a lower bound only: see `Shuffled`.

    Parameters
    ----------
    batches : int
        T, at least 1. With 1 the place is known: one Gaussian release.
    relation : {"add_remove", "add", "remove", "zero_out", "replace"}
        "remove" for :math:`H(P\|Q)`, "add" for :math:`H(Q\|P)`; "add_remove" and "zero_out" for
        the larger of the two. "replace" for P against the same with :math:`-e_t`, rounded up also
        for one epoch, see `bins_replaced`.
    epochs : int
        Number of epochs, the batches drawn anew in each. With 2 or more the answers are rounded up:
        epsilon by 0.2 % as a rule, by up to 1 % where epsilon is small or epochs are very long, and
        by up to 1.5 % if a record is replaced. Not covered, with an ArithmeticError: noise
        multipliers below 0.2 (replaced: 0.5), and so many batches that a mesh were too long, from
        about 25 000 or 90 000 over the noise multiplier on. `noise_for` answers this noise where
        less would do.

    Notes
    -----
    `epsilon` is nonnegative. `delta` has an error of at most about 1e-9 and a hundred-thousandth of
    its value; it is refused with an ArithmeticError where two meshes differ by more than 1e-9 and a
    hundredth of the value. `epsilon` and `noise_for` have this error on the safe side, so they need
    a `delta` above 1e-8.

    References
    ----------
    Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang (2024 and 2025); Feldman and Shenfeld
    (2025).

    Examples
    --------
    >>> release = {"noise_multiplier": 0.5, "epsilon": 1.0}
    >>> [round(BallsInBins(batches=t).delta(**release), 6) for t in (1, 10, 1000)]
    [0.509862, 0.187449, 0.001277]
    >>> run = BallsInBins(batches=100, epochs=30)
    >>> round(run.epsilon(noise_multiplier=1.0, delta=1e-6), 2)
    3.45
    """

    batches: int
    relation: str = "add_remove"
    epochs: int = 1

    def __post_init__(self) -> None:
        for name in ("batches", "epochs"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1))
        one_of("relation", self.relation, (*_SIGNS, "replace"))

    def delta(self, *, noise_multiplier: float, epsilon: ArrayLike) -> float | Array:
        sigma = positive("noise_multiplier", noise_multiplier)
        eps = nonnegative_array("epsilon", epsilon)
        if self.batches == 1:
            return gaussian_delta(mu=self._full / sigma, epsilon=eps)
        verb = self._composed_delta if self._bounded else self._larger
        return elementwise(partial(verb, sigma), eps)

    def epsilon(self, *, noise_multiplier: float, delta: ArrayLike) -> float | Array:
        sigma, deltas = positive("noise_multiplier", noise_multiplier), _resolved(delta)
        if self.batches == 1:
            return gaussian_epsilon(mu=self._full / sigma, delta=deltas)
        verb = self._composed if self._bounded else self._one_epsilon
        return elementwise(partial(verb, sigma), deltas)

    def _noise_for(self, epsilon: float, delta: float) -> float:
        _resolved(delta)
        full = float(gaussian_noise_multiplier(epsilon=epsilon, delta=delta))
        if self.batches == 1:
            return self._full * full * (1 + 1e-12)
        if self._bounded:
            least = (bins_replaced if self.relation == "replace" else many_epochs).FAINTEST
            start = max(self._full / sqrt(self.batches) * full, 0.5)

            def excess(noise: float) -> float:
                return self._composed(max(noise, least), delta) - epsilon

            return least if excess(least) <= 0 else least_noise(excess, start, tolerance=1e-3)
        return least_noise(lambda noise: self._excess(noise, epsilon, delta), full)

    @property
    def _full(self) -> float:
        """How far all epochs shift a record whose place is known, in units of the noise."""
        return (2 if self.relation == "replace" else 1) * sqrt(self.epochs)

    @property
    def _bounded(self) -> bool:
        return self.epochs > 1 or self.relation == "replace"

    def _larger(self, sigma: float, epsilon: float) -> float:
        return max(_delta(sigma, self.batches, sign * epsilon) for sign in _SIGNS[self.relation])

    def _one_epsilon(self, sigma: float, delta: float) -> float:
        return least_epsilon(lambda e: self._excess(sigma, max(e, 0.0), delta), reach=1e6)

    def _composed(self, sigma: float, delta: float) -> float:
        found = epochs_above(sigma, self.batches, self.epochs, delta, self.relation)
        if found == inf:
            raise ArithmeticError("nothing is computed for so little noise, or so many batches")
        return found

    def _composed_delta(self, sigma: float, epsilon: float) -> float:
        least = max(1e-8, 1.01 * least_delta(self.batches, self.epochs))
        start = -epsilon - 1
        return delta_at(lambda d: self._composed(sigma, d), epsilon, start=start, least=least)

    def _excess(self, sigma: float, epsilon: float, delta: float) -> float:
        return log(self._larger(sigma, epsilon) * (1 + 1e-5) + 1e-9) - log(delta)


def epochs_above(
    noise: float, batches: int, epochs: int, delta: float, relation: str, rough: bool = False
) -> float:
    """Bound epsilon from above; infinite where no bound is computed."""
    run = noise, batches, epochs, delta
    if relation == "replace":
        return bins_replaced.epsilon_above(*run, rough)
    return max(many_epochs.epsilon_above(*run, sign < 0) for sign in _SIGNS[relation])


def _resolved(delta: ArrayLike) -> Array:
    deltas = fraction_array("delta", delta)
    if np.any(deltas < 1e-8):
        raise ValueError(f"delta must be at least 1e-8, where the error begins, got {delta!r}")
    return deltas


def _delta(sigma: float, count: int, level: float, points: int = _POINTS) -> float:
    """Return H(P||Q) at epsilon = `level` if that is nonnegative, else H(Q||P) at -`level`."""
    meshes = (points, 2 * points)
    if level >= 0:
        lost = _ROUNDING * count * np.exp(np.minimum(level, 700.0))
        usable = lost < 1e-5
        if usable:
            coarse, fine = (
                max(_put(sigma, count, count * np.exp(level), n) / count - np.expm1(level), 0.0)
                for n in meshes
            )
        if not usable or lost > 1e-9 + 1e-5 * fine:
            coarse, fine = (_far(sigma, count, level, n) for n in meshes)
    else:
        inner = count * np.exp(level)  # 0 if even its logarithm is out of reach
        coarse, fine = (
            _put(sigma, count, inner, n) / count * np.exp(-level) if inner > 1e-280 else 0.0
            for n in meshes
        )
    if abs(coarse - fine) > 1e-9 + 0.01 * fine:
        raise ArithmeticError(f"the mesh is too coarse: {coarse} and {fine} on two meshes")
    return float(np.clip(fine - (coarse - fine) / 3, 0.0, 1.0))


def _put(sigma: float, count: int, level: float, points: int) -> float:
    """Return E(level - S)_+ for the sum S of `count` terms L, on a mesh up to `level`."""
    total = _sum(sigma, count, np.log(level) - log(points), points)
    return float(level / points * (total @ np.arange(points, -1, -1)))


def _far(sigma: float, count: int, epsilon: float, points: int) -> float:
    """Return H(P||Q) as the mean of 1 - 1 / (L + R) where that is positive.

    L is one term under P, R the sum of the others, both in units of the level.
    """
    log_level = np.log(count) + epsilon
    rest = _sum(sigma, count - 1, log_level + log(16 / points), points)
    place, beyond = 16 * np.arange(rest.size) / points, max(1 - rest.sum(), 0.0)
    fine, group = points // 16, points // 1024  # beyond the level a coarser mesh is enough
    starts = np.append(np.arange(fine), np.arange(fine, rest.size, group))
    first = np.add.reduceat(rest * place, starts)
    rest = np.add.reduceat(np.maximum(rest, 1e-300), starts)
    place = np.maximum(first / rest, 0.0)
    kink = sigma * log_level - 1 / (2 * sigma)  # where L alone is at the level
    near = sigma * np.geomspace(1e-5, 3, 12)
    ends = np.concatenate([np.linspace(-9.0, 9.0, 19), kink - near, [kink], kink + near])
    ends = np.unique(np.clip(ends, -9.0, 9.0))
    z, lengths = panels(ends, 20)
    weights = lengths * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    terms = np.exp(np.minimum(z / sigma + 1 / (2 * sigma**2) - log_level, 300.0))
    with np.errstate(divide="ignore", over="ignore"):
        means = [float(rest @ np.maximum(1 - 1 / (term + place), 0)) for term in terms]
    return float(weights @ np.array(means)) + beyond


def _sum(sigma: float, count: int, log_unit: float, points: int) -> Array:
    """Return the masses of the sum of `count` terms L on a mesh from 0 to `points` units."""
    left, right = cells_of_a_term(sigma, log_unit, points + 1)
    return sum_of_terms(left + np.append(0.0, right[:-1]), count)
