r"""Many steps on batches of fixed size, one record replaced: a profile that no data exceed.

A step is the pair of `fixed_size`: the second component of P is at u - g, that of Q at v - g, for
g, u and v in the unit ball. So its profile depends on the distances a of g and u, b of g and v, d
of u and v alone. Above level 1 it grows with a and d and falls with b; below level 1 it grows with
b and d and falls with a (Kahane's inequality). Largest above level 1 is the profile of the pair
A = (2, 0), below level 1 that of its opposite; the dominating pair G of `without_replacement` has
both, and no step does.

With :math:`\delta_{cd\dots}` for the profile of c, d, ... together, suppose that at all levels

.. math:: \delta_{c\,G^mA^k}\le e^\kappa\,\delta_{A\,G^mA^k} + \xi\qquad\text{for every step } c.

The same is then true of every larger k, as further steps A average both sides. So no T adaptive
steps, of which the last m are bounded by G, exceed
:math:`e^{\sum\kappa}(\delta_{G^mA^{T-m}} + T\xi)`, where the sum has a term for each of the T - m
others. Here :math:`\kappa` is computed for k = 0, m, 3m, 7m, ..., and m = T/30.

All steps lie in boxes of a, b and d. By the monotony two triangles bound the profile of a box, one
above and one below level 1. Losses are put on a mesh such that profiles are interpolated linearly
in :math:`e^\varepsilon`, which only raises them.
"""

from functools import lru_cache
from itertools import pairwise
from math import asin, expm1, inf, log, sin, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import log_ndtr, ndtr

from ..arguments import Array
from .pairs import NOTHING

Triangle = tuple[float, float, float]  # the distances a, b and d, in clip norms

_FEWEST = 100  # steps; with fewer the dominating pair is nearly as good
_NOISES = 0.7, 50.0  # with less noise `_HEIGHTS` err by more than 1e-5
_LARGEST = 1 << 17
_REACH = 8.3  # beyond which a normal law has 5e-17
_LOWEST = 34.0  # a loss is below -34 with probability e^-34 = 2e-15 at most, as E e^-L = 1
_SURE = 14.0  # at epsilon = -14 all profiles are within e^-14 = 8e-7 of 1
_ROUNDING = 1e-13  # xi: transforms and sums of 1e4 masses err by 1e-14
_FINENESS = 0.12  # of the mesh, in deviations of a loss: adds at most 0.25 % to its variance
_HEIGHTS = np.linspace(-6.0, 6.0, 31)  # of a standard normal variable, by the trapezoidal rule
_WEIGHTS = np.exp(-(_HEIGHTS**2) / 2) / np.exp(-(_HEIGHTS**2) / 2).sum()
_STEPS = np.linspace(0.0, 1.0, 500) ** 2
_LEGS = (0.0, 0.02, 0.06, 0.12, 0.25, 0.45, 0.7, 0.95, 1.2, 1.45, 1.65, 1.8, 1.9, 1.97, 2.0)
_A, _OPPOSITE = (2.0, 0.0, 2.0), (0.0, 2.0, 2.0)


def replaced_delta(noise: float, share: float, steps: int, epsilon: float) -> float:
    """Bound delta after `steps` steps; 1 where no bound is computed."""
    epsilons, bounds = _profile(noise, share, steps)
    if not epsilons.size or epsilon < epsilons[0]:
        return 1.0
    return float(bounds[np.searchsorted(epsilons, epsilon, side="right") - 1])


def replaced_epsilon(noise: float, share: float, steps: int, delta: float) -> float:
    """Bound epsilon after `steps` steps; infinite where no bound is computed."""
    epsilons, bounds = _profile(noise, share, steps)
    enough = bounds <= delta
    return float(epsilons[enough.argmax()]) if enough.any() else inf


@lru_cache(maxsize=16)
def _profile(noise: float, share: float, steps: int) -> tuple[Array, Array]:
    """Return ascending epsilons and a bound of the profile at them; none if none is computed."""
    if steps < _FEWEST or not _NOISES[0] <= noise <= _NOISES[1]:
        return NOTHING, NOTHING
    mesh = _FINENESS * share * sqrt(expm1(4 / noise**2))
    reach = max((1 / noise + _REACH) * 2 / noise + log(share), 1.0)
    if reach / mesh > _LARGEST / 4:
        return NOTHING, NOTHING
    one = _OnMesh(noise, share, mesh, int(reach / mesh))
    tilts = np.geomspace(0.05, 20.0, 60)
    log_mgf = np.log(np.exp(np.multiply.outer(tilts, one.losses)) @ one.masses(_A, _A))
    top = float(np.min((steps * log_mgf + _LOWEST) / tilts))
    size = next_fast_len(int((_LOWEST + top) / mesh) + 2, real=True)
    if size > _LARGEST:
        return NOTHING, NOTHING
    lowest = int(_LOWEST / mesh)
    epsilons = mesh * (np.arange(size) - lowest)
    sure = epsilons > -_SURE

    def transform(ahead: Triangle, behind: Triangle) -> NDArray[np.complex128]:
        places = np.arange(-one.last, one.last + 1) % size
        return np.asarray(rfft(np.bincount(places, one.masses(ahead, behind), size)))

    def profiles(transforms: NDArray[np.complex128]) -> Array:
        law = np.roll(irfft(transforms, size), lowest, axis=-1)[..., ::-1]
        above, shrunk = np.cumsum(law, axis=-1), np.cumsum(law * np.exp(-epsilons[::-1]), axis=-1)
        return np.asarray((above - shrunk * np.exp(epsilons[::-1]))[..., ::-1])

    a, boxes = transform(_A, _OPPOSITE), _boxes()
    ahead = np.array([transform(first, _OPPOSITE) for first, _ in boxes])
    behind = np.array([transform(_A, second) for _, second in boxes])
    rest = steps // 30
    done, growth, law = rest, -log(-expm1(-_SURE)) * steps, transform(_A, _A) ** rest
    while done < steps:
        most = np.full(sure.sum(), 0.0)
        for some in np.array_split(np.arange(len(boxes)), 12):
            most = np.maximum(
                most, profiles((ahead[some] + behind[some] - a) * law)[:, sure].max(0)
            )
        least, most = profiles(a * law)[sure], np.maximum(most - _ROUNDING, 0.0)
        if most[-1] > 0:
            return NOTHING, NOTHING
        times = min(done, steps - done)
        growth += times * max(0.0, float(np.log(np.max(most[most > 0] / least[most > 0]))))
        law, done = law * a**times, done + times
    kept = epsilons >= 0
    return epsilons[kept], np.minimum(np.exp(growth) * (profiles(law)[kept] + steps * _ROUNDING), 1)


class _OnMesh:
    """Laws of the loss of one step on a mesh, of size 2 `last` + 1, under P."""

    def __init__(self, noise: float, share: float, mesh: float, last: int) -> None:
        self.noise, self.share, self.mesh, self.last = noise, share, mesh, last
        self.losses = mesh * np.arange(-last, last + 1)
        self._levels = mesh * np.arange(last + 2)
        self._known: dict[Triangle, Array] = {}

    def masses(self, ahead: Triangle, behind: Triangle) -> Array:
        """Return the law with one profile above level 1, and below it one with P, Q exchanged."""
        e, decay = self._levels, np.exp(-self.mesh)
        below = np.exp(-e) * self._side(behind) - np.expm1(-e)
        profile = np.append(below[:0:-1], self._side(ahead))
        beyond = (profile[:-1] - decay * profile[1:]) / (1 - decay)
        law = -np.diff(beyond)
        law[0], law[-1] = 1 - beyond[1], beyond[-2]
        return np.asarray(law)

    def _side(self, triangle: Triangle) -> Array:
        """Return the profile at the levels, interpolated between exact values from above.

        The line of g and u is one coordinate, at whose thresholds the profile is in closed form;
        the height of v over it makes the weight of Q's second component random.
        """
        if triangle in self._known:
            return self._known[triangle]
        a, b, d = (x / self.noise for x in triangle)
        q, foot = self.share, (a * a + b * b - d * d) / (2 * a) if a else -b
        height = sqrt(max(b * b - foot * foot, 0.0))
        log_factor = height * _HEIGHTS[:, None] - height**2 / 2
        start = (log_factor + (a * a - foot * foot) / 2) / (a - foot)
        x = start + np.maximum(9.5 + a - start, 9.5) * _STEPS
        log_p, log_q = (log(q) + (x - place / 2) * place for place in (a, foot))
        log_p, log_q = (np.logaddexp(log(1 - q), y) for y in (log_p, log_q + log_factor))
        e = np.maximum(log_p - log_q, 0.0)
        e[:, 0] = 0.0
        gain = q * (ndtr(a - x) - np.exp(e + log_factor + log_ndtr(foot - x)))
        gain = np.maximum(gain - (1 - q) * np.expm1(e) * ndtr(-x), 0.0)
        grown, rows = np.expm1(self._levels), zip(np.expm1(e), gain, strict=True)
        found = _WEIGHTS @ [np.interp(grown, *row, right=0.0) for row in rows]
        self._known[triangle] = found
        return found


def _boxes() -> list[tuple[Triangle, Triangle]]:
    """Return two triangles for every box: above level 1, and below, with P and Q exchanged.

    If a + b < 2 the triangle in the ball can be enlarged, which is less noise. Else d is at most 2,
    and where the sum of their squares exceeds 4, the third side of a triangle in the unit circle.
    """
    found = []
    for b1, b2 in pairwise(_LEGS):
        low, bend = 2 - b2, sqrt(max(4 - b1 * b1, 0.0))
        parts = [np.linspace(low, bend, int((bend - low) / 0.25) + 2)]
        parts += [np.linspace(bend, 2, int((2 - bend) / 0.15) + 2)] if bend < 2 else []
        ends = np.unique(np.concatenate(parts)).tolist()
        for a1, a2 in pairwise(ends):
            round_ = a1 * a1 + b1 * b1 >= 4 - 1e-9
            d = 2 * sin(asin(min(a1 / 2, 1.0)) + asin(b1 / 2)) if round_ else 2.0
            found.append((_widened(a2, b1, d), _widened(b2, a1, d)))
    return found


def _widened(a: float, b: float, d: float) -> Triangle:
    """Return a triangle with these sides or a and d larger, b smaller."""
    d = max(d, a - b)
    return max(a, d - b), min(b, a + d), d
