"""What is asked of a run of noisy releases.

A class says how records are drawn, how often, and which data are neighbours: one for every
combination for which something is proved. The noise is an argument, never a field.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import exp, expm1, inf, log, log1p
from typing import Generic, NamedTuple, TypeVar

from numpy.typing import ArrayLike

from ..arguments import (
    Array,
    elementwise,
    fraction,
    fraction_array,
    nonnegative,
    nonnegative_array,
    one_of,
    positive,
)
from ..divergence.gaussian import gaussian_noise_multiplier
from ..numerics.roots import certified_root

# How well logarithms of delta and of the noise are found: lower bounds are stairs, and slow.
_FINE = {1: 1e-6, -1: 1e-3}


class Bracket(NamedTuple):
    """Bounds below and above a quantity: two floats, or two arrays of one shape."""

    lower: float | Array
    upper: float | Array


Reply = TypeVar("Reply", bound=float | Array | Bracket)
Noise = TypeVar("Noise", bound=float | Bracket)


class Run(ABC, Generic[Reply, Noise]):
    """A run of noisy releases but for its noise.

    Each step adds Gaussian noise to the sum of the sampled records' vectors, whose norms are at
    most the clip norm, and releases the result; `noise_multiplier` is the standard deviation of the
    noise over the clip norm. What a class knows exactly it returns as numbers, what it bounds as a
    `Bracket`, both of the shape of `epsilon` or `delta`.
    """

    @abstractmethod
    def delta(self, *, noise_multiplier: float, epsilon: ArrayLike) -> Reply:
        r"""Compute the privacy profile :math:`\delta(\varepsilon)`."""

    @abstractmethod
    def epsilon(self, *, noise_multiplier: float, delta: ArrayLike) -> Reply:
        r"""Compute the least :math:`\varepsilon\ge0` that meets a `delta` in (0, 1)."""

    def noise_for(self, *, epsilon: float, delta: float) -> Noise:
        """Calibrate the noise multiplier to a budget, which is never exceeded.

        The number, or the upper end of the bracket, is enough; less than the lower end is not. From
        the probability of taking part at all, a `delta` is met without noise, and refused. Known as
        `get_noise_multiplier` in Opacus and `calibrate_dp_mechanism` in dp-accounting.
        """
        budget = nonnegative("epsilon", epsilon), fraction("delta", delta)
        noiseless = self._noiseless(budget[0])
        if budget[1] >= noiseless:
            raise ValueError(f"delta must be below {noiseless:g}, from where no noise is needed")
        return self._noise_for(*budget)

    def _noiseless(self, epsilon: float) -> float:
        """Return the delta that is met without noise."""
        return 1.0

    @abstractmethod
    def _noise_for(self, epsilon: float, delta: float) -> Noise:
        """Answer `noise_for`, by `least_noise`."""


def least_noise(
    excess: Callable[[float], float], start: float, side: int = 1, **accuracy: float
) -> float:
    """Return the noise next to which a decreasing excess changes its sign.

    Side, tolerance and reach are those of `certified_root`, for the logarithm of the noise.
    """
    return exp(certified_root(lambda x: excess(exp(x)), log(start), side=side, **accuracy))


def least_epsilon(
    excess: Callable[[float], float], start: float = 0.0, side: int = 1, **accuracy: float
) -> float:
    """Return the epsilon >= 0 from which on a decreasing excess is not positive."""
    if excess(0.0) <= 0:
        return 0.0
    return max(certified_root(excess, start, side=side, **accuracy), 0.0)


def unseen(sampling_probability: float, steps: int, relation: str, epsilon: float) -> float:
    """Return the delta that Poisson samples meet without noise: of a part in one step or more."""
    never = steps * log1p(-sampling_probability) if sampling_probability < 1 else -inf
    return max(0.0, -expm1(never + (epsilon if relation == "add" else 0.0)))


def delta_at(
    bound: Callable[[float], float],
    epsilon: float,
    *,
    side: int = 1,
    start: float = log(1e-5),
    least: float = 1e-265,
    tolerance: float = 1e-5,
) -> float:
    """Return the delta, not below `least`, at which a bound of epsilon in delta is `epsilon`.

    `start` and `tolerance` are those of the logarithm of delta.
    """
    level = max(epsilon, 1e-12)  # at 0, where epsilon is cut, delta is larger by that at most
    lowest = log(least)

    def excess(log_delta: float) -> float:
        return bound(exp(min(max(log_delta, lowest), -1e-12))) - level

    if excess(0.0) > 0:
        return 1.0
    if excess(lowest) <= 0:
        return least if side > 0 else 0.0
    root = certified_root(excess, max(start, lowest), side=side, tolerance=tolerance, reach=700.0)
    return min(exp(root) + (level - epsilon if side > 0 else 0.0), 1.0)


class BoundedRun(Run[Bracket, Bracket]):
    """A run whose epsilon is bounded on both sides; its other answers invert these bounds."""

    @abstractmethod
    def _bound(self, noise: float, delta: float, side: int, rough: bool = False) -> float:
        """Bound epsilon from above for side 1, from below for side -1, if `rough` in little time.

        Not increasing in the noise and in delta.
        """

    def delta(self, *, noise_multiplier: float, epsilon: ArrayLike) -> Bracket:
        noise = positive("noise_multiplier", noise_multiplier)
        epsilons = nonnegative_array("epsilon", epsilon)
        return _both(lambda e, side: self._delta_bound(noise, e, side), epsilons)

    def _delta_bound(self, noise: float, epsilon: float, side: int) -> float:
        def bound(delta: float) -> float:
            return self._bound(noise, delta, side, rough=side < 0)

        return delta_at(bound, epsilon, side=side, tolerance=_FINE[side])

    def epsilon(self, *, noise_multiplier: float, delta: ArrayLike) -> Bracket:
        noise = positive("noise_multiplier", noise_multiplier)
        deltas = fraction_array("delta", delta)
        return _both(lambda target, side: self._bound(noise, target, side), deltas)

    def _noise_for(self, epsilon: float, delta: float) -> Bracket:
        def bound(side: int, start: float, tolerance: float, rough: bool) -> float:
            return least_noise(
                lambda noise: self._bound(noise, delta, side, rough) - epsilon,
                start,
                side=side,
                tolerance=tolerance,
            )

        start = float(gaussian_noise_multiplier(epsilon=epsilon, delta=delta))
        try:
            lower = bound(-1, start, _FINE[-1], rough=True)
        except ArithmeticError:  # nothing is proved
            lower = 0.0
        upper = bound(1, start, _FINE[1], rough=True)
        if self._bound(upper, delta, 1) < self._bound(upper, delta, 1, rough=True):
            upper = min(upper, bound(1, upper, 2e-5, rough=False))
        return Bracket(lower, upper)


def _both(bound: Callable[[float, int], float], targets: Array) -> Bracket:
    """Bound every entry on both sides."""
    return Bracket(
        elementwise(lambda x: bound(x, -1), targets), elementwise(lambda x: bound(x, 1), targets)
    )


def no_other_number(
    relation: str, where: str, known: Sequence[str] = ("zero_out", "replace")
) -> None:
    """Check a relation that leaves the number of records as it is."""
    if relation == "add_remove":
        raise ValueError(f"relation must not be add_remove: for {where} zero_out is covered")
    one_of("relation", relation, known)
