r"""Many steps on batches of fixed size: a profile that no data exceed.

A step is the pair of `fixed_size`. Its profile depends on a *triangle* alone, the distances a of g
and u, b of g and v, d of u and v. Let A be the triangle whose loss spreads most, and G the
dominating pair of `without_replacement`, which is no triangle. With :math:`\delta_{cd\dots}` for
the profile of c, d, ... together and :math:`\tau\ge0`, suppose that at all levels

.. math:: \delta_{c\,G^mA^k}\le e^\tau\,\delta_{A\,G^mA^k} + \xi\qquad\text{for every step } c.

The same is then true of every larger k. So no T adaptive steps, of which the last m are bounded by
G, exceed :math:`e^{\sum\tau}(\delta_{G^mA^{T-m}} + T\xi)`, where the sum has a term for each of the
T - m others. Here :math:`\tau` is computed for k = 0, m, 3m, 7m, ..., with m = T/30, or several m
if a record is added, and for several :math:`\xi`; the least of the bounds counts.

All steps lie in boxes of a, b and d, in which profiles grow with some sides and fall with others:
two triangles bound those of a box, one above and one below level 1. Losses are put on a mesh such
that profiles are interpolated linearly in :math:`e^\varepsilon`, which only raises them. The proof
is in the chapter on accounting.
"""

from functools import lru_cache
from itertools import pairwise
from math import asin, exp, expm1, inf, log, sin, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr

from ..arguments import Array
from ..divergence.pairs import NOTHING
from ..numerics.privacy_loss import profile_on_mesh, tails

Triangle = tuple[float, float, float]  # the distances a, b and d, in clip norms

_FEWEST = 100  # steps; with fewer the dominating pair is nearly as good
_NOISES = 0.7, 50.0  # with less the bracket is wide, with more the mesh is long
_LARGEST = 1 << 17
_REACH = 8.3  # beyond which a normal law has 5e-17
_CHARGED = {"replace": (30,), "remove": (30,), "add": (10, 2, 1)}  # m, as parts of all steps
_LOWEST = 34.0  # a loss is below -34 with probability e^-34 = 2e-15 at most, as E e^-L = 1
_SURE = 14.0  # at epsilon = -14 all profiles are within e^-14 = 8e-7 of 1
# xi: from more than what transforms and sums of 1e4 masses round in one step
_SLACKS = np.geomspace(1e-13, 1e-6, 15)
_FINENESS = 0.12  # of the mesh, in deviations of a loss: adds 0.25 % to its variance if q is small
_LEGS = (0.0, 0.02, 0.06, 0.12, 0.25, 0.45, 0.7, 0.95, 1.2, 1.45, 1.65, 1.8, 1.9, 1.97, 2.0)
_OPENINGS = (0.0, 0.003, 0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.8, 1.1, 1.4, 1.7, 1.9, 2.0)
_PAIRS: dict[str, tuple[Triangle, Triangle, Triangle]] = {  # A; what is largest above, and below
    "replace": ((2.0, 0.0, 2.0), (2.0, 0.0, 2.0), (2.0, 0.0, 2.0)),
    "remove": ((2.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.0, 0.0, 1.0)),
    "add": ((1.0, 2.0, 1.0), (1.0, 0.0, 1.0), (2.0, 1.0, 1.0)),
}


def delta_above(relation: str, noise: float, share: float, steps: int, epsilon: float) -> float:
    """Bound delta after `steps` steps; 1 where no bound is computed."""
    epsilons, bounds = _profile(relation, noise, share, steps)
    if not epsilons.size or epsilon < epsilons[0]:
        return 1.0
    return float(bounds[np.searchsorted(epsilons, epsilon, side="right") - 1])


def epsilon_above(relation: str, noise: float, share: float, steps: int, delta: float) -> float:
    """Bound epsilon after `steps` steps; infinite where no bound is computed."""
    epsilons, bounds = _profile(relation, noise, share, steps)
    enough = bounds <= delta
    return float(epsilons[enough.argmax()]) if enough.any() else inf


@lru_cache(maxsize=16)
def _profile(relation: str, noise: float, share: float, steps: int) -> tuple[Array, Array]:
    """Return ascending epsilons and a bound of the profile at them; none if none is computed."""
    if steps < _FEWEST or not _NOISES[0] <= noise <= _NOISES[1]:
        return NOTHING, NOTHING
    best, *largest = _PAIRS[relation]
    a, b, d = (side / noise for side in best)
    variance = exp(a * a) + exp(b * b) - 2 * exp((a * a + b * b - d * d) / 2)  # over share^2
    mesh = _FINENESS * share * sqrt(variance)
    reach = max((1 / noise + _REACH) * 2 / noise + log(share), 1.0)
    if reach / mesh > _LARGEST / 4:
        return NOTHING, NOTHING
    one = _OnMesh(noise, share, mesh, int(reach / mesh) + 1)
    _, top, _ = tails(one.losses, one.masses(*largest), steps, _LOWEST)
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
        return profile_on_mesh(np.roll(irfft(transforms, size), lowest, axis=-1), mesh)

    exchanged, boxes = (best[1], best[0], best[2]), _boxes(relation)
    step = transform(best, exchanged)
    ahead = np.array([transform(first, exchanged) for first, _ in boxes])
    behind = np.array([transform(best, second) for _, second in boxes])
    charged = transform(*largest)

    def bounds(done: int) -> Array:
        """Bound the profile if `done` steps are charged at the largest."""
        law = charged**done
        growth = np.full(_SLACKS.size, -log(-expm1(-_SURE)) * steps)
        while done < steps:
            most = np.zeros(sure.sum())
            for some in np.array_split(np.arange(len(boxes)), 12):
                most = np.maximum(
                    most, profiles((ahead[some] + behind[some] - step) * law)[:, sure].max(0)
                )
            least = np.maximum(profiles(step * law)[sure], 1e-300)
            times = min(done, steps - done)
            growth += times * np.log([max(1.0, np.max((most - xi) / least)) for xi in _SLACKS])
            law, done = law * step**times, done + times
        left = np.maximum(profiles(law)[epsilons >= 0], 0.0) + steps * _SLACKS[:, None]
        return np.asarray(np.min(np.exp(np.minimum(growth, 700.0))[:, None] * left, axis=0))

    found = np.min([bounds(max(steps // part, 1)) for part in _CHARGED[relation]], axis=0)
    return epsilons[epsilons >= 0], np.minimum(found, 1.0)


class _OnMesh:
    """Laws of the loss of one step on a mesh, of size 2 `last` + 1, under P."""

    def __init__(self, noise: float, share: float, mesh: float, last: int) -> None:
        self.noise, self.share, self.mesh, self.last = noise, share, mesh, last
        self.losses = mesh * np.arange(-last, last + 1, dtype=np.float64)
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

        Seen from u, v is at d on the line and g beside it, at `foot`; how far the noise goes there
        says what g weighs. The level that is reached is a known function of the noise along the
        line. It is exceeded to the left of a place, if g is behind u also to the right of another.
        """
        if triangle in self._known:
            return self._known[triangle]
        a, b, d = (x / self.noise for x in triangle)
        q, foot = self.share, (a * a + d * d - b * b) / (2 * d)
        height = sqrt(max(a * a - foot * foot, 0.0))
        kinked = foot < 0.5  # where the integrand ends in a kink, or nearly
        half = int(max(21.0, 25 * height)) * (4 if kinked else 1)
        spare = 1.006 if kinked else 1.0  # interpolation near a kink falls 0.4 % short
        beside = np.linspace(-_REACH, _REACH, 2 * half + 1)  # by the trapezoidal rule
        density = np.exp(-(beside**2) / 2)
        x = np.linspace(d / 2, -9.5, 800)  # level 1 is at d/2
        weights = (1 - q) * np.exp(height * beside - height**2 / 2)
        absent = weights[:, None] * np.exp((x - foot / 2) * foot)
        levels = (q + absent) / (q * np.exp((x - d / 2) * d) + absent)
        levels[:, 0] = 1.0
        found, wanted = np.zeros_like(self._levels), np.exp(self._levels)
        for share, weight, level in zip(density / density.sum(), weights, levels, strict=True):
            last = int(level.argmax()) + 1
            right, behind = x[:last], level[last:][::-1]
            left = (
                np.interp(level[:last], behind, x[last:][::-1], left=-40.0)
                if behind.size
                else -40.0
            )
            u, v, g = (ndtr(right - at) - ndtr(left - at) for at in (0.0, d, foot))
            gain = q * (u - level[:last] * v) - weight * (level[:last] - 1) * g
            found += (
                spare * share * np.interp(wanted, level[:last], np.maximum(gain, 0.0), right=0.0)
            )
        self._known[triangle] = found
        return found


def _boxes(relation: str) -> list[tuple[Triangle, Triangle]]:
    """Return two triangles for every box: above level 1, and below, with P and Q exchanged."""
    if relation != "replace":
        sides = [sqrt(4 - 2 * opening) for opening in _OPENINGS]
        removed = [((a2, 1.0, 1.0), (1.0, a1, 1.0)) for a2, a1 in pairwise(sides)]
        return removed if relation == "remove" else [pair[::-1] for pair in removed]
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
