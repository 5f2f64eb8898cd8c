r"""The exact law of DP-SignSGD on a separable objective, one coordinate at a time.

:math:`x_{k+1} = x_k - \eta\,\mathrm{sign}(f'(x_k) + \zeta_k)` is a walk on the lattice
:math:`x_0 + \eta\mathbb Z` that goes down from x with probability p(x) and up with 1 - p(x). Its
whole law is carried along, one vectorised shift a step, on the sites that can matter; what is left
out is counted. The learning rate is constant: no other schedule stays on the lattice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtr

from ..arguments import (
    Array,
    finite_array,
    integers,
    nonnegative,
    plain,
    positive,
    positive_array,
    together,
    vector,
)
from .laws import Function, Law

CHECK_EVERY = 32  # steps between two looks for sites to leave out
MOST_SITES = 2**23
FARTHEST = 2**40  # steps between x0 and a site: beyond, rounding moves it by 2^-13 of a step
NEGLIGIBLE = -80.0  # logarithm of a weight, relative to the largest, at which a law ends


@dataclass(frozen=True)
class GaussianSign:
    """The probability of a step down as a function of x, accurate in both tails."""

    gradient: Function
    scale: Array

    def __call__(self, x: ArrayLike) -> Array:
        """Return the probability of a step down from x."""
        return self.tails(x)[0]

    def tails(self, x: ArrayLike, *, logarithms: bool = False) -> tuple[Array, Array]:
        """Return the probabilities of a step down and of a step up, or their logarithms."""
        ratio = finite_array("gradient(x)", self.gradient(finite_array("x", x))) / self.scale
        law = log_ndtr if logarithms else ndtr
        return np.asarray(law(ratio)), np.asarray(law(-ratio))


class StationarySignLaw(NamedTuple):
    """Limits of the law at `even` and at `odd` steps, and their `average`.

    `lost` of each is a bound on the probability of all sites outside, relative to the law, as long
    as steps towards the middle do not become less likely farther out.
    """

    even: Law
    odd: Law
    average: Law


def gaussian_sign(gradient: Function, scale: ArrayLike) -> GaussianSign:
    r"""Return :math:`x\mapsto\Phi(f'(x)/S)`: all the noise of the gradient is normal.

    Claim anon2025.thmB.10, second part.

    Parameters
    ----------
    gradient : callable
        x to :math:`f'(x)`, elementwise.
    scale : number or array
        S > 0, standard deviation of the coordinate of the private gradient; an array is broadcast
        against the last axes of x, one entry a configuration.
    """
    return GaussianSign(gradient, positive_array("scale", scale))


def sign_walk(
    down_probability: Function,
    x0: ArrayLike,
    learning_rate: ArrayLike,
    steps: ArrayLike,
    *,
    tolerance: float = 1e-14,
) -> Iterator[Law]:
    r"""Compute the law of :math:`x_k` at numbers of steps, without Monte Carlo.

    Claims anon2025.def3.3 and anon2025.thmB.10 (the algorithm in Phase 2).

    Parameters
    ----------
    down_probability : callable
        x (sites, *configurations) to the probability of a step down, of the same shape: from
        `gaussian_sign` or an own distribution function of the noise. Numbers for `x0` and
        `learning_rate` make one configuration and x (sites, 1).
    x0, learning_rate : numbers or arrays
        Starts and steps :math:`\eta>0`; together of shape (*configurations). All share a window
        of sites, so laws of similar width belong together.
    steps : (N,) integers
        Nondecreasing, nonnegative.
    tolerance : float
        Largest probability that may be left out by the last step; 0 keeps every site.

    Returns
    -------
    iterator of Law
        One for each number of steps, made when it is asked for: a loop over many steps keeps none.

    Examples
    --------
    >>> (law,) = sign_walk(gaussian_sign(lambda x: x, 1.0), 0.0, 0.1, [1000])
    >>> round(law.variance, 6), law.lost < 1e-14
    (0.064648, True)
    """
    lattice = _Lattice(down_probability, x0, learning_rate)
    marks = integers("steps", steps)
    if marks.size == 0 or np.any(np.diff(marks, prepend=0) < 0):
        raise ValueError("steps must be a vector of integers, nonnegative and not decreasing")
    allowance = nonnegative("tolerance", tolerance) / max(2 * marks[-1], 1)
    return _laws(lattice, marks.tolist(), allowance)


def stationary_sign_law(
    down_probability: Function,
    x0: float,
    learning_rate: float,
    *,
    interval: tuple[float, float] = (0.0, 0.0),
) -> StationarySignLaw:
    r"""Compute the laws to which DP-SignSGD with a constant learning rate tends.

    One limit at even and one at odd steps. Their average satisfies
    :math:`\pi(x)(1 - p(x)) = \pi(x+\eta)p(x+\eta)`, p the probability of a step down: a product
    formula, summed in logarithms. The exact counterpart of claim anon2025.thmB.15.

    Parameters
    ----------
    down_probability : callable
        x (sites,) to the probability of a step down, in (0, 1). The tails are accurate when it
        comes from `gaussian_sign`.
    x0, learning_rate : float
        A start, which says which sites the walk meets at even steps, and :math:`\eta>0`.
    interval : (low, high)
        Sites that are taken at least; more are added until the rest is negligible. Between two
        wells with a high barrier the search may stop in the first: give an interval with both.

    Raises
    ------
    ArithmeticError
        If there is no stationary law, or none within 2^23 sites.

    Examples
    --------
    >>> laws = stationary_sign_law(gaussian_sign(lambda x: x, 1e-3), 0.25, 1.0)  # nearly no noise
    >>> laws.even.variance < 1e-9, round(laws.even.mean, 6), round(laws.odd.mean, 6)
    (True, 0.25, -0.75)
    """
    start = float(finite_array("x0", x0, ndim=0))
    rate = positive("learning_rate", learning_rate)
    low, high = vector("interval", interval, 2).tolist()
    if low > high:
        raise ValueError(f"interval must not decrease, got {interval}")
    if max(abs(low - start), abs(high - start)) > FARTHEST * rate:
        raise ValueError("x0 and interval must lie within 2^40 learning_rate of each other")
    first, last = int(np.floor((low - start) / rate)), int(np.ceil((high - start) / rate))
    grow_front = grow_back = 32
    while True:
        first, last = first - grow_front, last + grow_back
        if last - first > MOST_SITES:
            raise ArithmeticError(
                f"learning_rate: no stationary law within {MOST_SITES} sites about {interval}"
            )
        sites = np.arange(first, last + 1)
        points: Array = start + rate * sites.astype(np.float64)
        down, up = _tails(down_probability, points, logarithms=True)
        if not (np.all(np.isfinite(down)) and np.all(np.isfinite(up))):
            raise ArithmeticError("down_probability: its logarithm is not finite")
        rises = up[:-1] - down[1:]
        peak = int(np.argmax(np.append(0.0, np.cumsum(rises))))
        before, after = np.cumsum(rises[:peak][::-1])[::-1], np.cumsum(rises[peak:])
        weights = np.concatenate([-before, [0.0], after])  # most precise at the peak
        # The factor by which the last weight on each side falls per site, as a logarithm.
        fall_front, fall_back = up[0] - down[1], down[-1] - up[-2]
        width = last - first + 1
        grow_front = width if weights[0] > NEGLIGIBLE or fall_front <= 0 else 0
        grow_back = width if weights[-1] > NEGLIGIBLE or fall_back <= 0 else 0
        if not (grow_front or grow_back):
            break
    law = np.exp(weights)
    ends, falls = weights[[0, -1]], np.array([fall_front, fall_back])
    outside = np.sum(np.exp(ends - falls) / -np.expm1(-falls))  # geometric series
    kept = law > 0

    def part(chosen: NDArray[np.bool_]) -> Law:
        total = law[chosen].sum()
        return Law(points[chosen], law[chosen] / total, float(outside / total))

    even = sites % 2 == 0
    return StationarySignLaw(part(kept & even), part(kept & ~even), part(kept))


class _Lattice:
    """Probabilities of a step down and up at the sites x0 + eta j.

    Site j = 2i + parity is row i - `low` of the table (2, rows, *shape) of its parity, which grows
    when asked to; the shape is (1,) for a configuration without axes.
    """

    def __init__(self, down_probability: Function, x0: ArrayLike, learning_rate: ArrayLike) -> None:
        start, rate = finite_array("x0", x0), positive_array("learning_rate", learning_rate)
        self.configurations = together(x0=start, learning_rate=rate)[0].shape
        if 0 in self.configurations:
            raise ValueError("x0 and learning_rate must not be empty")
        self.shape = self.configurations or (1,)
        self._start, self._rate, self._down_probability = start, rate, down_probability
        self.low = self.high = 0
        self._tables = [np.empty((2, 0, *self.shape))] * 2

    def points(self, sites: NDArray[np.int64]) -> Array:
        return self._start + self._rate * sites.reshape(-1, *[1] * len(self.shape))

    def chances(self, first: int, count: int, parity: int) -> Array:
        """Part of a table; the tables grow to reach over it, and as far again."""
        if first < self.low or self.low == self.high:
            self._extend(first - count - 64, self.low, front=True)
        if first + count > self.high:
            self._extend(self.high, first + 2 * count + 64, front=False)
        return self._tables[parity][:, first - self.low : first - self.low + count]

    def _extend(self, low: int, high: int, *, front: bool) -> None:
        x = self.points(np.arange(2 * low, 2 * high))
        tails = _tails(self._down_probability, x)
        new = np.stack([_of_shape("down_probability", p, x) for p in tails])
        for parity, old in enumerate(self._tables):
            parts = (new[:, parity::2], old) if front else (old, new[:, parity::2])
            self._tables[parity] = np.concatenate(parts, axis=1)
        self.low, self.high = min(low, self.low), max(high, self.high)


def _laws(lattice: _Lattice, marks: list[int], allowance: float) -> Iterator[Law]:
    """Yield the laws of `sign_walk`; row i of one stands for the site 2i + parity."""
    first, parity, step, looked = 0, 0, 0, 0
    law, lost = np.ones((1, *lattice.shape)), np.zeros(lattice.shape)
    for mark in marks:
        while step < mark:
            chances = lattice.chances(first, len(law), parity)
            after = np.empty((len(law) + 1, *lattice.shape))
            np.multiply(law, chances[0], out=after[:-1])
            after[-1] = 0.0
            after[1:] += law * chances[1]
            first += parity - 1
            law, parity, step = after, 1 - parity, step + 1
            if step - looked == CHECK_EVERY and allowance:
                front, back = (
                    _negligible(side, (step - looked) * allowance, lost)
                    for side in (law, law[::-1])
                )
                first, law, looked = first + front, law[front : len(law) - back], step
        points = lattice.points(2 * np.arange(first, first + len(law)) + parity)
        shape = (len(law), *lattice.configurations)
        left_out = plain(lost.reshape(lattice.configurations).copy())
        yield Law(points.reshape(shape), law.reshape(shape), left_out)


def _negligible(law: Array, allowance: float, lost: Array) -> int:
    """Count the rows in front that are worth at most the allowance; add them to what is lost."""
    totals = np.cumsum(law, axis=0)
    count = int(np.all(totals.reshape(len(law), -1) <= allowance, axis=1).sum())
    if count:
        lost += totals[count - 1]
    return count


def _tails(
    down_probability: Function, x: Array, *, logarithms: bool = False
) -> tuple[Array, Array]:
    """Probabilities of a step down and of a step up, or their logarithms."""
    if isinstance(down_probability, GaussianSign):
        return down_probability.tails(x, logarithms=logarithms)
    down = _of_shape("down_probability", down_probability(x), x)
    if np.any((down < 0) | (down > 1)):
        raise ValueError("down_probability must lie in [0, 1]")
    if not logarithms:
        return down, 1 - down
    tiny = np.finfo(float).tiny
    return np.log(np.maximum(down, tiny)), np.log(np.maximum(1 - down, tiny))


def _of_shape(name: str, values: ArrayLike, x: Array) -> Array:
    array = finite_array(f"{name} of x", values)
    if array.shape not in ((), x.shape):
        raise ValueError(
            f"{name} must keep the shape {x.shape}, got {array.shape}: give x0 or learning_rate "
            "one entry for each configuration"
        )
    return np.broadcast_to(array, x.shape)
