r"""Composition of pairs: exact, by the inversion of the transform of the privacy loss.

The logarithms of transforms add up (`numerics.inversion`). Where that of one step decays too
slowly, its law is convolved on a mesh, if the pair puts it there (`numerics.convolution`). Where
losses have atoms at their ends, outcomes with at most one step off them are summed in closed form,
and the law given two such steps or more, whose transform decays, is inverted.
"""

from math import exp, expm1, hypot, inf, log, log1p

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from ..arguments import Array, elementwise, finite_array, fraction_array
from ..divergence.gaussian import gaussian_delta, gaussian_epsilon
from ..divergence.gaussian_pair import Gaussian
from ..divergence.pairs import Pair
from ..numerics.convolution import OneStep, epsilon_convolution, hockey_stick_convolution
from ..numerics.inversion import (
    Complex,
    Cumulants,
    Inversion,
    InversionError,
    epsilon_inversion,
    hockey_stick_inversion,
    saddle_at_epsilon,
)
from ..numerics.roots import certified_root

Direction = list[tuple[Pair, int]]  # pairs and how often


class Composition:
    """Releases one after another, exactly. Made by `compose`."""

    def __init__(self, directions: list[Direction]) -> None:
        self._directions = []
        for direction in directions:
            found: dict[Pair, int] = {}
            for pair, count in direction:
                found[pair] = found.get(pair, 0) + count
            self._directions.append(list(found.items()))
        self._mu: float | None = 0.0
        for pair, count in directions[0]:
            if not isinstance(pair, Gaussian) or pair.sampling_probability < 1:
                self._mu = None
                break
            self._mu = hypot(self._mu, np.sqrt(count) * pair.mu)

    def delta(self, *, epsilon: ArrayLike) -> float | Array:
        """Compute the privacy profile, as `Poisson.delta` does."""
        epsilons = finite_array("epsilon", epsilon)
        if self._mu is not None:
            return gaussian_delta(mu=self._mu, epsilon=epsilons)
        return elementwise(lambda e: max(profile(d, e).value for d in self._directions), epsilons)

    def epsilon(self, *, delta: ArrayLike) -> float | Array:
        """Compute the smallest epsilon that meets `delta`, as `Poisson.epsilon` does."""
        deltas = fraction_array("delta", delta)
        if self._mu is not None:
            return gaussian_epsilon(mu=self._mu, delta=deltas)
        return elementwise(lambda x: max(_epsilon(d, x) for d in self._directions), deltas)


def _cumulants(direction: Direction, smallest: float) -> Cumulants:
    each = [pair.cumulants(count, smallest) for pair, count in direction]
    return lambda *at: np.asarray(sum(part(*at) for part in each))


def profile(direction: Direction, epsilon: float) -> Inversion:
    """Return delta and its error."""
    least, largest = (sum(count * pair.bounds[i] for pair, count in direction) for i in (0, 1))
    if epsilon >= largest:
        return Inversion(0.0, 0.0)
    if epsilon <= least:
        return Inversion(-expm1(epsilon), 0.0)
    (first, count), alone = direction[0], len(direction) == 1
    if alone and count == 1:
        value = float(first.delta(epsilon))
        return Inversion(value, 1e-10 * value)
    if alone and first.atoms[0].size:
        return _with_atoms(first, count, epsilon)
    for smallest in (1e-12, 1e-40, 1e-290):
        try:
            result = hockey_stick_inversion(_cumulants(direction, smallest), epsilon)
        except InversionError:
            if not (alone and isinstance(first, OneStep)):
                raise
            result = hockey_stick_convolution(first, count, epsilon, smallest)
        if result.value >= smallest:
            return result
    return Inversion(result.value, 1e-290)


def _epsilon(direction: Direction, delta: float) -> float:
    (first, count), alone = direction[0], len(direction) == 1
    variations = [(float(pair.delta(0.0)), count) for pair, count in direction]
    if delta >= -expm1(sum(k * (log1p(-x) if x < 1 else -inf) for x, k in variations)):
        return 0.0
    if alone and (count == 1 or first.atoms[0].size):
        return _root(direction, delta)
    try:
        return max(epsilon_inversion(_cumulants(direction, delta), delta).value, 0.0)
    except InversionError:
        if not (alone and isinstance(first, OneStep)):
            raise
        if profile(direction, 0.0).value <= delta:
            return 0.0
        return max(epsilon_convolution(first, count, delta).value, 0.0)


def _root(direction: Direction, delta: float) -> float:
    """Solve for the logarithm of epsilon where the profile is known by itself."""

    def excess(log_epsilon: float) -> float:
        value = profile(direction, exp(log_epsilon)).value
        return max((log(value) if value > 0 else -inf) - log(delta), -1e3)

    if profile(direction, 0.0).value <= delta:
        return 0.0
    tolerance = 1e-14 if direction[0][1] == 1 else 1e-9
    return exp(certified_root(excess, 0.0, side=1, tolerance=tolerance))


def _with_atoms(pair: Pair, count: int, epsilon: float) -> Inversion:
    """Return the profile by how many steps are off the atoms: none, one, or the rest."""
    losses, masses = pair.atoms
    alone, share = pair.cumulants(1, 1e-290), float(masses.sum())

    def at_ends(steps: int) -> tuple[Array, Array]:
        """Return the losses of steps that are all on atoms, and their masses."""
        high = np.arange(steps + 1)
        law = binom.pmf(high, steps, masses[1] / share) * share**steps
        return losses[1] * high + losses[0] * (steps - high), law

    def gains(levels: Array) -> Array:
        return np.asarray(-np.expm1(np.minimum(levels, 0.0)))

    levels, law = at_ends(count)
    value = float(law @ gains(epsilon - levels))
    levels, law = at_ends(count - 1)
    inner = epsilon - levels
    off = np.asarray(pair.delta(inner)) - gains(np.subtract.outer(inner, losses)) @ masses
    value += count * float(law @ np.maximum(off, 0.0))

    def rest(first: Complex, second: Complex, fineness: float) -> Complex:
        log_mgf, z = alone(first, second, fineness), first[:, None] + second
        on = sum(m * np.exp(z * x - log_mgf) for x, m in zip(losses, masses, strict=True))
        with np.errstate(divide="ignore"):
            off = np.log(1 - np.exp((count - 1) * np.log(on)) * (on + count * (1 - on)))
        return np.asarray(count * log_mgf + off)

    zero = np.zeros(1, dtype=np.complex128)
    p, q = (float(rest(x, zero, 1.0)[0, 0].real) for x in (zero, zero - 1))

    def given(first: Complex, second: Complex, fineness: float) -> Complex:
        return rest(first, second, fineness) - p + (first[:, None] + second) * (q - p)

    try:
        further = hockey_stick_inversion(given, epsilon + q - p, tail=1e-9)
    except InversionError:  # next to the largest loss, where two such steps are negligible
        saddle = saddle_at_epsilon(given, epsilon + q - p)
        c = saddle.center
        most = exp(p + saddle.log_mgf - c * (epsilon + q - p) - c * log1p(1 / c)) / (1 + c)
        if most > 1e-7 * value:
            raise
        return Inversion(value + most, most)
    return Inversion(value + exp(p) * further.value, 1e-15 + exp(p) * further.error)
