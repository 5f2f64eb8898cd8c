r"""Many epochs of balls and bins: the law of one epoch, rounded up, composed.

With T batches the density ratio of an epoch is S/T, S the sum of the T terms L of `balls_in_bins`.
This pair dominates every adaptive epoch, see the chapter on accounting, so that epochs compose. A
divergence is the mean of a convex function of the ratio: it grows if L is spread with its mean
kept.

A term between two points of a mesh goes to these such that its mean is kept. Sums are convolved up
to a cut; P beyond it counts as if no epsilon covered it. One window for levels up to a quarter of
its cut, coarser ones for larger levels; only the last is used up to its cut. The profile at the
points of a mesh of losses, interpolated linearly in :math:`e^\varepsilon` and made convex, is that
of a pair which dominates the epoch. From below see `epoch_attacks`.
"""

from functools import lru_cache
from math import exp, expm1, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import isotonic_regression
from scipy.signal import fftconvolve

from ..arguments import Array
from ..numerics.normal_masses import normal_masses
from ..numerics.privacy_loss import Between, PrivacyLossDistribution, composed_epsilon_upper

FAINTEST = 0.2  # with less noise the ratio ranges too far
_LONGEST = 1 << 18
_COARSE = 1 << 14  # points of the windows for large levels
_FINENESS = 0.1, 0.35  # of the mesh, in deviations of L: wanted, and the most
_CELLS = 1 << 15  # of the mesh of losses
_SHARE = 1 / 2048  # of the mesh in the mean of S, at most
_REACH = 8.3  # beyond which a normal law has 5e-17


class _Window(NamedTuple):
    """The ratio S/T on a mesh and its laws, for levels from `first` to `last`."""

    ratios: Array
    p: Array
    q: Array
    first: float
    last: float


def least_delta(batches: int, epochs: int) -> float:
    """Return the delta below which rounding would decide a bound from above."""
    return 10 * epochs * rounding(batches)


def epsilon_above(noise: float, batches: int, epochs: int, delta: float, add: bool) -> float:
    """Bound epsilon from above; infinite where no bound is computed."""
    windows = _windows(noise, batches)
    if not windows or delta < least_delta(batches, epochs):
        return inf
    return composed_epsilon_upper(_epoch(windows, batches, add), epochs, delta, cells=_CELLS)


def _epoch(windows: list[_Window], batches: int, add: bool) -> Between:
    """Return a pair that dominates an epoch, P and Q exchanged if `add`; what is missing is P's."""
    lowest, highest = log(windows[0].first), log(windows[-1].last)

    def put(mesh: float, first: int, last: int) -> PrivacyLossDistribution:
        levels = np.exp(
            mesh * (np.arange(-last, -first + 1) if add else np.arange(first, last + 1))
        )
        under, over = _profile(windows, levels, rounding(batches))
        steps = np.diff(levels)
        falls = np.where(levels[:-1] < 1, 1 - np.diff(under) / steps, -np.diff(over) / steps)
        slopes = isotonic_regression(falls, weights=steps, increasing=False).x
        q = -np.diff(slopes, prepend=1 - under[0] / levels[0], append=0.0)
        q = np.maximum(q, 0.0)
        return PrivacyLossDistribution(0.0, mesh, first, q[::-1] if add else q * levels)

    return Between((-highest, -lowest) if add else (lowest, highest), put)


def _profile(windows: list[_Window], levels: Array, rounded: float) -> tuple[Array, Array]:
    """Return bounds of E_Q(x - ratio)_+ and of E_Q(ratio - x)_+, at 1 the same.

    What lies beyond a cut counts for P, and against Q as far as it exceeds rounding.
    """
    under, over = np.empty_like(levels), np.empty_like(levels)
    lasts = [window.last for window in windows]
    places = np.minimum(np.searchsorted(lasts, levels), len(lasts) - 1)
    for k in np.unique(places):
        (ratios, p, q, _, _), here = windows[k], places == k
        x = levels[here]
        at = np.searchsorted(ratios, x, side="right")
        below = [np.append(0.0, np.cumsum(law))[at] for law in (p, q)]
        above = [np.append(np.cumsum(law[::-1])[::-1], 0.0)[at] for law in (p, q)]
        far_p, far_q = 1 - p.sum() + rounded, 1 - q.sum() + rounded
        sure = max(far_q - 2 * rounded, 0.0)
        under[here] = np.maximum(x * below[1] - below[0], 0.0) + x * (far_q - sure)
        over[here] = np.maximum(above[0] - x * above[1], 0.0) + far_p - x * sure
    return under, over


def rounding(batches: int) -> float:
    """Return more than what the transforms round of all chances of an epoch."""
    return 1e-13 + 1e-15 * batches


@lru_cache(maxsize=16)
def _windows(noise: float, batches: int) -> list[_Window]:
    """Return windows for all levels that matter, in their order; none if they were too long."""
    unit, cut = _mesh(noise, batches)
    found: list[_Window] = []
    if not unit:
        return found

    def add(place: int, unit: float, cut: float) -> _Window:
        left, right = cells_of_a_term(noise, log(unit), int(cut / unit) + 1)
        laws = _sums(spread(left, right)[:-1], unit, batches)
        least = int(np.count_nonzero(np.cumsum(laws[2]) < rounding(batches)))
        found.insert(place, _Window(*laws, max(least, 1) * unit / batches, cut / batches / 4))
        return found[place]

    low, fine = add(0, unit, cut), unit
    while low.q[:64].sum() > rounding(batches):
        low, fine = add(0, fine / 64, 256 * fine), fine / 64
    high = found[-1]
    while cut >= 16 * batches and 1 - high.p.sum() > rounding(batches):
        cut *= 4
        high = add(len(found), max(unit, cut / _COARSE), cut)
    found[-1] = high._replace(last=cut / batches)
    return found


def _mesh(noise: float, batches: int) -> tuple[float, float]:
    """Return the mesh of the first window and its cut; zeros if it were too long."""
    if noise < FAINTEST or batches < 2:
        return 0.0, 0.0
    deviation, largest = sqrt(expm1(noise**-2)), exp(_REACH / noise + 1 / (2 * noise**2))
    cut = min(16.0 * batches, batches + 9 * sqrt(batches) * deviation + largest)
    unit = min(_FINENESS[0] * deviation, _SHARE * batches)
    if cut / unit > _LONGEST:
        unit = cut / _LONGEST
    return (unit, cut) if unit <= _FINENESS[1] * deviation else (0.0, 0.0)


def cells_of_a_term(noise: float, log_unit: float, size: int) -> tuple[Array, Array]:
    """Split the mass of L in each cell between the left and the right end, its mean kept."""
    with np.errstate(divide="ignore"):
        z = noise * (np.log(np.arange(size + 1)) + log_unit) + 1 / (2 * noise)
    mass, mean = normal_masses(z), normal_masses(z - 1 / noise) * np.exp(-log_unit)
    right = np.clip(mean - mass * np.arange(size), 0.0, mass)
    return mass - right, right


def spread(left: Array, right: Array) -> Array:
    """Return the masses at the ends of cells of which each gives `left` and `right` to its two."""
    return np.append(left, 0.0) + np.append(0.0, right)


def sum_of_terms(law: Array, count: int) -> Array:
    """Return the law of the sum of so many terms on the mesh of one, cut off at its end."""
    size, total = law.size, np.ones(1)
    long = next_fast_len(2 * size - 1, real=True)
    power = rfft(law, long)
    while count:
        if count % 2:
            total = irfft(rfft(total, long) * power, long)[:size]
        count //= 2
        if count:
            power = rfft(irfft(power**2, long)[:size], long)
    return total


def _sums(law: Array, unit: float, count: int) -> tuple[Array, Array, Array]:
    """Return the ratio S/T of `count` terms on their mesh, with the laws under P and Q.

    Each is found where it is the larger one, and is a share of that one elsewhere.
    """
    size, rest = law.size, sum_of_terms(law, count - 1)
    ratios = unit / count * np.arange(size, dtype=np.float64)
    q, p = (np.maximum(fftconvolve(rest, one)[:size], 0.0) for one in (law, law * ratios * count))
    heavy = ratios > 1
    return ratios, np.where(heavy, p, q * ratios), np.where(heavy, p / np.maximum(ratios, 1.0), q)
