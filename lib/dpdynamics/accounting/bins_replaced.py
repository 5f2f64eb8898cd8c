r"""Epochs of balls and bins, a record replaced: the profile of one, level by level, and many.

With T batches and noise :math:`\sigma` the worst pair has the densities :math:`\sum_tL_t^\pm/T`
over that of the noise, :math:`L_t^\pm=e^{\pm z_t/\sigma-1/(2\sigma^2)}` with independent standard
normal :math:`z_t`, see the chapter on accounting. So for every level :math:`\gamma`

.. math:: H_\gamma=\tfrac1T\,E\big(\textstyle\sum_tX_t\big)_+,\qquad X_t=L_t^+-\gamma L_t^-,

one convolution of T equal laws. A convex function of a sum grows if a term is spread with its mean
kept, and falls if it is merged. The pair is symmetric: levels from 1 on are enough.

**From above** X is spread on a mesh. A term lower than a window is raised to its end; of what is
higher the excess is added to the mean, since :math:`(x+e)_+\le x_++e`, for sums of some terms, too;
lower sums are charged for. The profile between levels is interpolated, also between
:math:`1/\gamma` and :math:`\gamma`.

**From below** X is merged on the mesh. What is lower than the window is dropped, higher sums are
lowered to its end. A single term above it counts with its mean, if all others are in the window, by
Jensen's inequality. Between levels a convex function lies above the extended chords of its
neighbours, so that far below the chord of its own levels at most.
"""

from functools import lru_cache
from math import ceil, exp, expm1, hypot, inf, log, log1p, sqrt

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import isotonic_regression

from ..arguments import Array
from ..divergence.pairs import NOTHING
from ..numerics.normal_masses import normal_masses
from ..numerics.privacy_loss import (
    Between,
    composed_epsilon_lower,
    composed_epsilon_upper,
    log_mgf,
    rounded_up,
)
from .many_epochs import least_delta, rounding, spread

FAINTEST = 0.5  # with less noise single terms range too far for one window
_LONGEST = 1 << 15  # points of a window
_FINENESS = 0.1, 0.35  # of the mesh, in deviations of X: with a noise of 1 or more; at most
_SHARE = 1 / 2048  # of the mesh in the mean of both sums, at most
_SWING = 9.0, 8.0  # of a window, in deviations of the sum and in means of its negative part
_STEP = 0.1  # between levels, in deviations of the loss, up to four of them; then it grows
_NOISE = 1e-16  # what a transform leaves where there is no mass
_KEPT = 1e-11  # how well the mean of a merged law is that of the term
_ROUNDED = 1e-13  # less than this share of a sum of chances is no change
_CLOSE = 1e-8  # relative: 2^15 roundings in the split of a cell move T tilted terms by less
_TILTS = np.geomspace(0.3, 60.0, 12)  # e to these from the end of a window to its centre
_LEFT = 1e-4  # of delta is left beyond the last level
_CELLS = 1 << 15  # of the mesh of losses


def epsilon_above(
    noise: float, batches: int, epochs: int, delta: float, rough: bool = False
) -> float:
    """Bound epsilon from above, if `rough` in less time; infinite where no bound is computed."""
    if not _reaches(noise, batches) or delta < least_delta(batches, epochs):
        return inf
    levels, _, most = _profile(noise, batches, _LEFT * delta / epochs, rough)
    # At 1 it is below the chord from 1 / level to the level.
    most[0] = min(most[0], np.min((levels[1:] - 1 + 2 * most[1:]) / (levels[1:] + 1), initial=1.0))
    p, q = _kinks(levels, most)
    losses, rest = np.log(levels[1:]), 1 - p.sum() - q.sum() - most[-1]  # not negative: most[0]
    masses = np.concatenate([q[::-1], [rest], p])
    losses = np.concatenate([-losses[::-1], [0.0], losses])
    losses, masses = losses[masses > 1e-18], masses[masses > 1e-18]
    ends = float(losses[0]), float(losses[-1])
    law = Between(ends, lambda mesh, lowest, highest: rounded_up(losses, masses, 0.0, mesh))
    return composed_epsilon_upper(law, epochs, delta, cells=_CELLS)


def epsilon_below(
    noise: float, batches: int, epochs: int, delta: float, rough: bool = False
) -> float:
    """Bound epsilon from below, if `rough` in less time; 0 where no bound is computed."""
    if not _reaches(noise, batches):
        return 0.0
    levels, least, most = _profile(noise, batches, _LEFT * delta / epochs, rough)
    known = least > 0
    known[-1] = True
    levels, values = _minorant(levels[known], least[known], most[known])
    if levels.size < 2:
        return 0.0
    p, q = _kinks(levels, values)
    rest = 1 - p.sum() - q.sum()
    if rest < 0:
        return 0.0
    p, q = np.concatenate([p, [rest], q]), np.concatenate([q, [rest], p])
    kept = np.minimum(p, q) > 0
    return composed_epsilon_lower(
        p=p[kept], q=q[kept], times=epochs, delta=delta, cells=2**11 if rough else 2**13
    )


def _profile(noise: float, batches: int, least: float, rough: bool) -> tuple[Array, Array, Array]:
    """Return levels from 1 up to one where the profile is `least`, with bounds below and above."""
    deviation = sqrt(log1p(2 * (exp(noise**-2) - exp(-(noise**-2))) / batches))
    step = (2 if rough else 1) * _STEP * min(deviation, 2.5)
    found: list[tuple[float, float, float]] = []
    loss, smallest = 0.0, 1.0
    while smallest > least and (not found or found[-1][2] < 4 * smallest):  # else rounding decides
        level = exp(loss)
        below, above = (_excess(noise, batches, level, up, rough) for up in (False, True))
        found.append((level, min(below, above), above))
        smallest = min(smallest, above)
        loss += step * max(1.0, loss / (4 * deviation))
    levels, lower, upper = np.transpose(found)
    end = int(upper.argmin()) + 1
    return levels[:end], lower[:end], upper[:end]


def _reaches(noise: float, batches: int) -> bool:
    """Tell whether the windows for so many batches are neither too wide nor too long."""
    if noise < FAINTEST or batches < 2:
        return False
    unit, deviation = _window(noise, batches, 1.0, False)[0], sqrt(2 * expm1(noise**-2))
    return unit <= _FINENESS[1] * deviation


def _window(noise: float, batches: int, level: float, rough: bool) -> tuple[float, int, int]:
    """Return the mesh of X less 1 - level, and the ends of the window in its units."""
    coarser = 2 if rough else 1
    deviation = sqrt(expm1(noise**-2)) * hypot(1.0, level)
    swing = min(_SWING[0] * sqrt(batches) * deviation, _SWING[1] * level * batches)
    length = 2 * swing + batches * (level - 1)
    fineness = _FINENESS[0] * min(1.0, noise**2)
    unit = min(fineness * deviation, (1 + level) * batches * _SHARE)
    unit = coarser * max(unit, length / _LONGEST)
    return unit, -ceil(swing / unit), ceil((length - swing) / unit)


@lru_cache(maxsize=4096)
def _excess(noise: float, batches: int, level: float, above: bool, rough: bool) -> float:
    """Bound E(sum of X)_+ / T from above or below."""
    unit, low, high = _window(noise, batches, level, rough)
    mean, size = 1 - level, high - low + 1
    x = np.asarray(unit * np.arange(low, high + 1), dtype=np.float64)
    mass, moment = _cells(noise, level, mean, x)
    inside = mass[1:-1]
    right = np.clip((moment[1:-1] - inside * x[:-1]) / unit, 0.0, inside)
    if above:
        law = spread(inside - right, right)
        law[[0, -1]] += mass[[0, -1]]
        extra = batches * max(moment[-1] - mass[-1] * x[-1], 0.0)
    else:
        law = _gathered(inside - right, right)
        if not law.size:
            return 0.0
        rest = (batches - 1) * (moment[1:-1].sum() / inside.sum() + mean)
        jump = moment[-1] + mass[-1] * (mean + rest)
        extra = batches * inside.sum() ** (batches - 1) * max(jump, 0.0)
    logs = log_mgf(x, law, _TILTS / -x[0])
    best = int((logs + _TILTS / -x[0] * mean).argmin())
    tilt, scale = float(_TILTS[best]) / -x[0], float(logs[best])
    law = law * np.exp(tilt * x - scale)
    fading, long = np.exp(-tilt * unit * np.arange(1, size)), next_fast_len(2 * size - 1, real=True)
    lost = rounding(batches)

    def convolved(f: Array, g: Array, terms: int, times: int) -> Array:
        """Return the tilted law of so many terms in the window; such sums occur so many times."""
        nonlocal extra, lost
        whole = np.maximum(irfft(f * g, long)[: 2 * size - 1], 0.0)
        law, beyond = whole[-low : size - low].copy(), whole[size - low :]
        seen = beyond > _NOISE
        lost += times * (whole[:-low].sum() + beyond[~seen].sum())
        beyond = np.where(seen, beyond, 0.0) * fading[: beyond.size]
        law[-1] += beyond.sum()
        if above:
            excess = unit * float(beyond @ np.arange(1, beyond.size + 1))
            extra += times * excess * exp(terms * scale - tilt * x[-1])
        return law

    total, left, terms = NOTHING, batches, 1
    while left:
        transform = rfft(law, long)
        if left % 2:
            done = batches % (2 * terms)
            total = convolved(rfft(total, long), transform, done, 1) if total.size else law
        left //= 2
        if left:
            terms *= 2
            law = convolved(transform, transform, terms, batches // terms)
    sums = batches * mean + x
    positive = sums > 0
    weights = sums[positive] * np.exp(batches * scale - tilt * x[positive])
    margin = lost * exp(batches * (scale + tilt * mean) - 1) / tilt
    found = float(total[positive] @ weights) + extra
    if above:
        return (found * (1 + _CLOSE) + margin) / batches
    return max(found * (1 - _CLOSE) - margin, 0.0) / batches


def _cells(noise: float, level: float, mean: float, ends: Array) -> tuple[Array, Array]:
    """Return mass and moment of X - mean in the cells between the ends, and beyond."""
    half = (mean + ends) * exp(1 / (2 * noise**2)) / 2
    larger = np.abs(half) + np.hypot(half, sqrt(level))
    z = noise * np.where(half > 0, np.log(larger), log(level) - np.log(larger))
    z = np.concatenate([[-inf], z, [inf]])
    mass = normal_masses(z)
    return mass, normal_masses(z - 1 / noise) - level * normal_masses(z + 1 / noise) - mean * mass


def _gathered(left: Array, right: Array) -> Array:
    """Merge the law in these cells on their ends; where that fails, empty.

    In units of the mesh the interpolation of E(x - X)_+ exceeds it in a cell by
    left right / (left + right) at most. So much is taken off at both ends; where masses fall fast,
    or end, `right` at the left end alone does as well, and on the other slope `left` at the right
    one.
    """
    mass, cells = left + right, np.arange(left.size)
    whole, gap = spread(left, right), left * right / np.maximum(mass, 1e-300)
    first, last = cells < mass.argmax(), cells > cells.size - 3
    rises = (cells < 2) | (first & ~last & (mass > 2 * np.append(0.0, mass[:-1])))
    falls = ~rises & (last | (~first & (mass > 2 * np.append(mass[1:], 0.0))))
    at_left = np.where(falls, right, np.where(rises, 0.0, gap))
    at_right = np.where(rises, left, np.where(falls, 0.0, gap))
    off = np.maximum(np.append(at_left, 0.0), np.append(0.0, at_right))
    law = whole - np.diff(off, 2, prepend=0.0, append=0.0)
    mode = int(law.argmax())  # up to it sums from the left are exact, after it from the right
    law[: mode + 1] = _convex(law[: mode + 1])
    law[mode:] = _convex(law[mode:][::-1])[::-1]
    law, points = np.maximum(law, 0.0), np.arange(law.size)
    kept = abs(law.sum() / whole.sum() - 1), abs(law @ points / (whole @ points) - 1)
    return law if kept[0] < 1e-13 and kept[1] < _KEPT else NOTHING


def _convex(law: Array) -> Array:
    """Make what is left of E(x - X)_+ convex; the last chance takes what is missing of the sum."""
    if law.size < 2:
        return law
    slopes, law = np.cumsum(law[:-1]), law.copy()
    convex = isotonic_regression(slopes).x
    lifted = np.abs(slopes - convex) > _ROUNDED * slopes
    changed = np.append(lifted, False) | np.append(False, lifted)
    law[changed] = np.diff(convex, prepend=0.0, append=law.sum())[changed]
    return law


def _minorant(levels: Array, least: Array, most: Array) -> tuple[Array, Array]:
    """Return levels, and values whose interpolation is below the profile, up to its zero.

    Between two levels the profile is above the lines through an end and what is known of a level
    before or after it, so that it is below the chord by the height of a triangle at most.
    """
    width, chord = np.diff(levels), -np.diff(least) / np.diff(levels)
    apart = np.maximum(np.subtract.outer(levels, levels), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        falls = (most - least[:, None]) / apart  # from an earlier level to a later one, at most
        rises = (least[:, None] - most) / apart.T  # at least
    flat = rises.max(axis=1, where=apart.T > 0, initial=0.0)
    steep = falls.min(axis=1, where=apart > 0, initial=(1 - least[0]) / 2)[:-1]
    flat = flat[1:]
    gap = width * np.maximum(steep - chord, 0.0) * np.maximum(chord - flat, 0.0)
    gap /= np.maximum(steep - flat, 1e-300)
    values = least - np.maximum(np.append(gap, 0.0), np.append(0.0, gap))
    values[-1] = min(values[-1], 0.0)
    end = int(np.flatnonzero(values <= 0)[0])
    if not end:
        return NOTHING, NOTHING
    zero = levels[end - 1] + width[end - 1] * values[end - 1] / (values[end - 1] - values[end])
    return np.append(levels[:end], zero), np.append(values[:end], 0.0)


def _kinks(levels: Array, values: Array) -> tuple[Array, Array]:
    """Return the chances of the losses above 0 of the pair with this profile, made convex."""
    falls = isotonic_regression(
        -np.diff(values) / np.diff(levels), weights=np.diff(levels), increasing=False
    ).x
    q = -np.diff(falls, append=0.0)
    return levels[1:] * q, q
