r"""Privacy loss distributions (PLD) on a mesh: rounded to one side, composed, read off.

The loss :math:`L=\ln(dP/dQ)` of one release, under P, is put on the points base + j h. Then it is
that of a pair whose profile :math:`\delta(\varepsilon)=E(1-e^{\varepsilon-L})_+` is

* nowhere smaller, *rounded up*, if the masses of P and Q between two points go to these such that
  both are kept: the new profile interpolates, linearly in :math:`e^\varepsilon`;
* nowhere larger, *rounded down*, if outcomes are merged, losses lowered, masses of P dropped.

Losses of independent releases add up: those of k live on k base + j h, and the Fourier transform
finds their law in a window, outside of which Chernoff's bound leaves next to nothing. Tilted by
:math:`e^{cL}` to where epsilon is, tiny values of delta keep their relative accuracy.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, exp, floor, inf, log, log1p, sqrt
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import minimize_scalar
from scipy.signal import lfilter

from ..arguments import Array
from .inversion import InversionError

_LONGEST = 1 << 22  # points of a window in which an epsilon is sought
_LARGEST = 1 << 20  # and a delta, again and again in a search
_MESH = 0.002  # the loss of a relative 2e-4 of delta
_TAIL = 34.0  # of the tilted law e^-34 = 2e-15 is outside the window, and added by Chernoff's bound
_TILTS = np.geomspace(0.02, 50.0, 40)  # tails of e^-1 to e^-1000, in deviations


@dataclass(frozen=True, eq=False)
class PrivacyLossDistribution:
    """Masses of P at the losses base + j mesh, j = first, first + 1, ...

    They are the `masses` times e^(log_scale - tilt loss). The class of this name in dp-accounting
    is rounded up if `pessimistic_estimate` is set; its `self_compose` is `composed` here.
    """

    base: float
    mesh: float
    first: int
    masses: Array
    tilt: float = 0.0
    log_scale: float = 0.0

    @property
    def losses(self) -> Array:
        j = np.arange(self.first, self.first + self.masses.size, dtype=np.float64)
        return np.asarray(self.base + self.mesh * j)

    def tilted(self, tilt: float, log_mgf: float) -> "PrivacyLossDistribution":
        """Return the same law with masses that are tilted and divided by M(tilt)."""
        some, masses = self.masses != 0, np.zeros(self.masses.size)
        logs = np.log(np.abs(self.masses[some])) + tilt * self.losses[some] - log_mgf
        with np.errstate(under="ignore", over="ignore"):
            masses[some] = np.sign(self.masses[some]) * np.exp(logs)
        return replace(self, masses=masses, tilt=tilt, log_scale=log_mgf)

    def composed(self, times: int, low: float, high: float) -> "PrivacyLossDistribution":
        """Return the law of so many releases from `low` to `high`; what is outside reappears."""
        base = times * self.base
        size = next_fast_len(ceil((high - low) / self.mesh) + 3, real=True)
        first = floor((low - base) / self.mesh)
        j = np.arange(self.first, self.first + self.masses.size) % size
        total = float(self.masses.sum())
        law = irfft((rfft(np.bincount(j, self.masses, size)) / total) ** times, size)
        law, log_scale = np.roll(law, -(first % size)), times * (self.log_scale + log(total))
        return PrivacyLossDistribution(base, self.mesh, first, law, self.tilt, log_scale)

    def tail(self, epsilon: float) -> tuple[Array, Array]:
        """Return how far losses are above epsilon, and masses over e^(log_scale - tilt epsilon)."""
        gaps = self.losses - epsilon
        start = int(np.searchsorted(gaps, 0.0, "right"))
        with np.errstate(under="ignore"):
            return gaps[start:], self.masses[start:] * np.exp(-self.tilt * gaps[start:])

    def highest(self, delta: float) -> tuple[float, float] | None:
        """Return the highest loss with a profile above `delta`, and where it is `delta`."""
        profile = exp(self.log_scale) * profile_on_mesh(self.masses, self.mesh)
        above = np.flatnonzero(profile > delta)
        if not above.size or above[-1] + 1 == profile.size:
            return None
        at = int(above[-1])
        share = (profile[at] - delta) / (profile[at] - profile[at + 1])
        loss = self.base + self.mesh * (self.first + at)
        return loss, loss + log1p(share * np.expm1(self.mesh))


def profile_on_mesh(masses: Array, mesh: float) -> Array:
    """Return the profile at ascending losses with these masses of P (..., n)."""
    law = masses[..., ::-1]
    shrunk = lfilter([1.0], [1.0, -exp(-mesh)], law, axis=-1)  # sums of the law times e^-L
    return np.asarray((np.cumsum(law, axis=-1) - shrunk)[..., ::-1])


def log_mgf(losses: Array, masses: Array, tilts: ArrayLike) -> Array:
    """Return ln E e^(tL) for tilts t (n,) over the positive masses."""
    kept = masses > 0
    exponents = np.multiply.outer(np.asarray(tilts), losses[kept]) + np.log(masses[kept])
    top = exponents.max(axis=1)
    exponents -= top[:, None]
    with np.errstate(under="ignore"):
        return np.asarray(np.log(np.exp(exponents, out=exponents).sum(axis=1)) + top)


def tails(
    losses: Array, masses: Array, times: int, depth: float, tilt: float = 0.0
) -> tuple[float, float, float]:
    """Return two losses of so many releases, tilted, with e^-depth outside of each at most.

    These are Chernoff's bounds; the third number is the further tilt that the upper one takes.
    """
    kept = masses > 0
    losses, masses = losses[kept], masses[kept]
    here = float(log_mgf(losses, masses, [tilt])[0])
    tilted = np.exp(tilt * losses + np.log(masses) - here)
    spread = sqrt(times * float(tilted @ (losses - tilted @ losses) ** 2)) + 1e-12
    tilts = _TILTS / spread
    right = (times * (log_mgf(losses, masses, tilt + tilts) - here) + depth) / tilts
    left = (times * (log_mgf(losses, masses, tilt - tilts) - here) + depth) / tilts
    best = int(right.argmin())
    return -float(left.min()), float(right[best]), float(tilts[best])


def composed_delta_upper(
    losses: Array, masses: Array, times: int, epsilon: float, base: float
) -> float:
    r"""Bound :math:`E(1-e^{\varepsilon-L})_+` from above, L a sum of independent finite losses.

    The `losses` of one release, with `masses` under P, are rounded up to a mesh through `base`.
    """

    def height(log_c: float) -> float:
        c = exp(log_c)
        return float(times * log_mgf(losses, masses, [c])[0] - c * epsilon - log(c) - log1p(c))

    c = exp(float(minimize_scalar(height, bounds=(-8.0, 8.0), method="bounded").x))
    low, high, further = tails(losses, masses, times, _TAIL, c)
    low, high = min(low, epsilon), max(high, epsilon)
    mesh = max(sqrt(_MESH / times) / (1 + c), (high - low) / _LARGEST)
    one, here = rounded_up(losses, masses, base, mesh), float(log_mgf(losses, masses, [c])[0])
    law, level = one.tilted(c, here).composed(times, low, high), epsilon - 1e-13 * times
    gaps, tail = law.tail(level)
    most = times * float(log_mgf(one.losses, one.masses, [c + further])[0] - here) - further * high
    beyond = exp(min(most - c * (high - level), 300.0))
    value = float(np.maximum(tail, 0.0) @ -np.expm1(-gaps)) + beyond + 1e-300
    return (1 + 1e-9) * exp(min(law.log_scale - c * level + log(value), 0.0))


def rounded_up(losses: Array, masses: Array, base: float, mesh: float) -> PrivacyLossDistribution:
    """Put losses on a mesh such that P and Q keep their masses."""
    place = np.floor((losses - base) / mesh)
    rest = np.maximum(losses - base - mesh * place, 0.0)
    right = np.minimum(np.expm1(-rest) / np.expm1(-mesh), 1.0) * masses
    j = place.astype(np.int64)
    first, last = int(j.min()), int(j.max())
    law = np.zeros(last - first + 2)
    law[:-1] += np.bincount(j - first, masses - right)
    law[1:] += np.bincount(j - first, right)
    return PrivacyLossDistribution(base, mesh, first, law)


def interpolated(
    j: Array, p: Array, q: Array, *, base: float, mesh: float, spread: Array
) -> PrivacyLossDistribution:
    """Put the masses `p`, `q` of cells with ends base + `j` mesh on points, one more at each end.

    The mass of a cell goes to its two ends such that P and Q keep theirs: the profile of the result
    interpolates the exact one, linearly in exp(epsilon). What this adds to the variance, `spread`,
    the integral of x (1 - x) under P with x from 0 to 1 in the cell, is taken off again.
    """
    if base + mesh * j[-1] > 700:
        raise InversionError("the losses range too far for a mesh")
    right = (p - q * np.exp(base + mesh * j[:-1])) / -np.expm1(-mesh)
    result = np.zeros(j.size + 2)
    result[1:-2] += p - right
    result[2:-1] += right
    start, outward = np.arange(1, j.size), j[:-1] >= 0  # away from the base
    at, sign = np.where(outward, start, start + 1), np.where(outward, 1, -1)
    for shift, factor in ((0, -0.5), (1, 1.0), (2, -0.5)):
        result += np.bincount(at + sign * shift, factor * spread, result.size)
    return PrivacyLossDistribution(base, mesh, int(j[0]) - 1, result)


class OnMesh(Protocol):
    """A pair that puts itself on a mesh; see `Gaussian`."""

    @property
    def base(self) -> float: ...
    def support(self, steps: int, smallest: float) -> tuple[float, float]: ...
    def on_mesh(
        self, mesh: float, lowest: int, highest: int, above: bool = False
    ) -> PrivacyLossDistribution: ...


class Between(NamedTuple):
    """A law of losses between two `ends`; `put` lays it on a mesh, from one index to another."""

    ends: tuple[float, float]
    put: Callable[[float, int, int], PrivacyLossDistribution]
    base: float = 0.0

    def support(self, steps: int, smallest: float) -> tuple[float, float]:
        return self.ends

    def on_mesh(
        self, mesh: float, lowest: int, highest: int, above: bool = False
    ) -> PrivacyLossDistribution:
        return self.put(mesh, lowest, highest)


def composed_epsilon_upper(
    step: OnMesh, times: int, delta: float, *, cells: int = 1 << 18
) -> float:
    """Bound from above the epsilon at which the profile is `delta`, on a mesh of so many cells.

    What the mesh adds to a law is left in, and what leaves its window counts as if no epsilon
    covered it. Infinite where `delta` is too small for that, from 1e-12 or so on.
    """
    rounding = 1e-13 + 1e-15 * times
    if delta <= rounding:
        return inf
    share, ends, start = 1e-6 * delta, step.support(times, delta), times * step.base

    def law(mesh: float) -> PrivacyLossDistribution:
        lowest, highest = (int(np.rint((end - step.base) / mesh)) for end in ends)
        found = step.on_mesh(mesh, lowest - 1, highest + 1, above=True)
        return replace(found, masses=np.maximum(found.masses, 0.0))

    wide = law((ends[1] - ends[0]) / 4096)  # coarser, so that its window holds the finer ones
    low, high, _ = tails(wide.losses, wide.masses, times, -log(share))
    low, high = min(low, start), max(high, start)
    one = law((high - low) / cells)
    lost = share + times * max(1 - float(one.masses.sum()), 0.0) + rounding
    found = one.composed(times, low, high).highest(delta - lost)
    if found is None:
        return 0.0 if lost < delta else inf
    return max(found[1], 0.0)


def composed_epsilon_lower(
    *, p: Array, q: Array, times: int, delta: float, cells: int = 2**13
) -> float:
    r"""Bound from below the epsilon of independent releases of one discrete outcome.

    The outcomes have the chances `p` and `q`, each with a sum of 1 at most. If other outputs were
    merged into them, it is a lower bound for these: proved, up to rounding of the floats, for which
    a margin is kept. `cells` are points of the mesh in the range of the losses of one release.
    Below a `delta` of 1e-12 or so the bound is loose.

    Examples
    --------
    Randomised response, once and ten times:

    >>> truth = {"p": np.array([0.75, 0.25]), "q": np.array([0.25, 0.75]), "delta": 0.01}
    >>> [round(composed_epsilon_lower(**truth, times=k), 2) for k in (1, 10)]
    [1.08, 10.79]
    """
    kept = p > 1e-6 * delta / times / p.size
    chances, rivals = p[kept], np.maximum(q[kept], 1e-300)
    losses = np.log(chances) - np.log(rivals)
    if not losses.size or np.ptp(losses) < 1e-9:
        return 0.0
    while True:
        one = rounded_down(chances, rivals, float(np.ptp(losses)) / cells)
        # What leaves the window above reappears below, which lowers losses.
        low, high, _ = tails(one.losses, one.masses, times, log(1e6) - log(delta))
        if high - low <= _LONGEST * one.mesh or cells < 32:
            break
        cells //= 2
    target = delta * (1 + 2e-6) + 1e-13 + 1e-15 * times
    found = one.composed(times, low, high).highest(target)
    return max(found[0], 0.0) if found else 0.0


def rounded_down(p: Array, q: Array, mesh: float) -> PrivacyLossDistribution:
    r"""Merge outcomes of positive chances until their losses lie on a mesh.

    Outcomes near the likeliest loss are merged, and the mesh is laid through their common loss.
    From the largest loss downwards outcomes are gathered until their common loss,
    :math:`\ln(\sum p/\sum q)`, has fallen to the point of the mesh below the first of them; the
    last outcome is split. Such groups lie on the mesh without rounding: the error is of second
    order.
    """
    losses = np.log(p) - np.log(q)
    weights, edges = np.histogram(losses, bins=int(np.ptp(losses) / mesh), weights=p)
    near = np.abs(losses - edges[weights.argmax()] - mesh / 2) <= 3 * mesh
    base = float(np.log(p[near].sum() / q[near].sum()))
    p, q = (np.append(x[~near], x[near].sum()) for x in (p, q * exp(base)))
    losses = np.append(losses[~near] - base, 0.0)
    points = np.floor(losses / mesh).astype(int)
    lowest = int(points.min())
    masses = np.zeros(int(points.max()) - lowest + 1)
    order = np.argsort(-losses)
    surplus, level, ratio = 0.0, 0, 1.0
    for chance, rival, point in zip(*(x[order].tolist() for x in (p, q, points)), strict=True):
        if surplus <= 0:
            level, ratio = point, exp(mesh * point)
        gain = chance - ratio * rival
        if surplus + gain >= 0:
            surplus += gain
            masses[level - lowest] += chance
            continue
        share = surplus / -gain  # of this outcome completes the group, the rest begins another
        masses[level - lowest] += share * chance
        level, ratio = point, exp(mesh * point)
        masses[level - lowest] += (1 - share) * chance
        surplus = max((1 - share) * (chance - ratio * rival), 0.0)
    return PrivacyLossDistribution(base, mesh, lowest, masses)
