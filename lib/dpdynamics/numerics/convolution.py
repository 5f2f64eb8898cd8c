r"""Composition by convolving the privacy loss on a mesh.

The law of one step is put on the points base + j h such that its profile is interpolated. The law
of k steps lives on k base + i h; it is found by a Fourier transform of the law tilted by
:math:`e^{cL}`, c the saddle point, so that tiny values of delta keep their relative accuracy. The
mesh is laid through epsilon and, as the base is where a law concentrates on which little has been
spent, through k base: then the error is a series in h, from :math:`h^2` on, that is extrapolated
away.

Slower than the inversion by orders of magnitude, and needed only where few participations and
little noise make the transform decay too slowly.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import lfilter

from ..arguments import Array
from .inversion import (
    Cumulants,
    Inversion,
    InversionError,
    Saddle,
    saddle_at_delta,
    saddle_at_epsilon,
    tilted_tails,
)

_LARGEST = 1 << 22
_TILTS = np.geomspace(1e-3, 1e5, 400)


@runtime_checkable
class OneStep(Protocol):
    """What a mechanism must offer; see `Gaussian`."""

    @property
    def base(self) -> float: ...
    def cumulants(self, steps: int, smallest: float) -> Cumulants: ...
    def support(self, steps: int, smallest: float) -> tuple[float, float]: ...
    def masses(
        self, mesh: float, lowest: int, highest: int, above: bool = False
    ) -> tuple[int, Array]: ...


def hockey_stick_convolution(
    step: OneStep, steps: int, epsilon: float, smallest: float, *, rtol: float = 3e-8
) -> Inversion:
    """Compute delta at `epsilon` after `steps` steps, where it is at least `smallest`.

    Raises InversionError if `rtol` is not reached with the largest mesh.
    """
    log_delta, _, error = _profile(step, steps, epsilon, smallest, rtol)
    value = min(float(np.exp(log_delta)), 1.0)
    return Inversion(value, error * value)


def epsilon_convolution(
    step: OneStep, steps: int, delta: float, *, rtol: float = 3e-8
) -> Inversion:
    """Compute the epsilon at which the profile is `delta`, by Newton's method.

    Steps that leave the interval known so far halve it: where the law has a narrow peak and a far
    tail, the profile bends so much that they go astray. Errors are those of
    `hockey_stick_convolution`.
    """
    target, low, high = float(np.log(delta)), -np.inf, np.inf
    epsilon = saddle_at_delta(step.cumulants(steps, delta), delta).epsilon
    for _ in range(60):
        log_delta, slope, error = _profile(step, steps, epsilon, delta, rtol)
        change = (target - log_delta) / slope
        low, high = (max(low, epsilon), high) if change > 0 else (low, min(high, epsilon))
        if abs(change) <= 1e-3 * rtol * max(abs(epsilon), 1e-3) or abs(change * slope) < 1e-10:
            return Inversion(epsilon, abs(change) + error / abs(slope))
        nearer = epsilon + float(np.clip(change, -2.0, 2.0))
        epsilon = nearer if low < nearer < high else (low + high) / 2
    raise InversionError("epsilon was not found by convolution")


def epsilon_above(step: OneStep, steps: int, delta: float, *, cells: int = 1 << 18) -> float:
    """Bound from above the epsilon at which the profile is `delta`, on a mesh of so many cells.

    What the mesh adds to a law is left in, and what leaves its window counts as if no epsilon
    covered it. Infinite where `delta` is too small for that, from 1e-12 or so on.
    """
    rounding = 1e-13 + 1e-15 * steps
    if delta <= rounding:
        return float(np.inf)
    shares, ends = 1e-6 * delta, step.support(steps, delta)

    def law(mesh: float) -> tuple[Array, Array]:
        lowest, highest = (int(np.rint((end - step.base) / mesh)) for end in ends)
        first, masses = step.masses(mesh, lowest - 1, highest + 1, above=True)
        return first + np.arange(masses.size, dtype=np.float64), np.maximum(masses, 0.0)

    mesh = (ends[1] - ends[0]) / 4096
    j, masses = law(mesh)  # coarser, so that its window holds the finer ones
    j, masses = j[masses > 0], masses[masses > 0]
    levels, tilts = step.base + mesh * j, _TILTS[:, None]

    def log_mgf(tilts: Array) -> Array:
        top = (tilts * levels).max(axis=1)
        return np.asarray(np.log(np.exp(tilts * levels - top[:, None]) @ masses) + top)

    high = float(np.min((steps * log_mgf(tilts) - np.log(shares)) / _TILTS))
    low = float(np.max(-(steps * log_mgf(-tilts) - np.log(shares)) / _TILTS))
    start = steps * step.base
    low, high = max(min(low, start), steps * levels[0]), min(max(high, start), steps * levels[-1])
    mesh = (high - low) / cells
    j, masses = law(mesh)
    size = next_fast_len(cells + 3, real=True)
    first = int(np.floor((low - start) / mesh))
    composed = irfft(rfft(np.bincount((j % size).astype(int), masses, size)) ** steps, size)
    downwards = np.roll(composed, -(first % size))[::-1]
    profile = np.cumsum(downwards) - lfilter([1], [1, -np.exp(-mesh)], downwards)
    lost = shares + steps * max(1 - float(masses.sum()), 0.0) + rounding
    at = int(np.argmax(profile + lost > delta))  # the highest point that is not covered
    if at == 0:
        return 0.0 if lost < delta else float(np.inf)
    share = (profile[at] + lost - delta) / (profile[at] - profile[at - 1])
    epsilon = start + (first + size - 1 - at) * mesh + np.log1p(share * np.expm1(mesh))
    return max(float(epsilon), 0.0)


def interpolated(j: Array, p: Array, q: Array, *, base: float, mesh: float, spread: Array) -> Array:
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
    return result


def _profile(
    step: OneStep, steps: int, epsilon: float, smallest: float, rtol: float
) -> tuple[float, float, float]:
    """Return ln delta, its derivative in epsilon, and the error of the first."""
    cumulants = step.cumulants(steps, smallest)
    saddle = saddle_at_epsilon(cumulants, epsilon)
    lower, upper = tilted_tails(cumulants, saddle)
    start = steps * step.base
    low, high = min(lower, start, epsilon), max(upper, start, epsilon)
    alone = saddle._replace(log_mgf=saddle.log_mgf / steps, curvature=saddle.curvature / steps)
    (below, above), (least, most) = (
        tilted_tails(step.cumulants(1, smallest), alone),
        step.support(steps, smallest),
    )
    single = (max(below, least) - step.base, min(above, most) - step.base)
    low, high = min(low, start + single[0]), max(high, start + single[1])
    mesh = (high - low) / (1 << 15)
    if epsilon != start:
        gap = abs(epsilon - start)
        mesh = gap / np.ceil(max(gap / mesh, 8))
    rows: list[list[Array]] = []
    error = np.inf
    while (high - low) / mesh <= _LARGEST:
        row = [_on_mesh(step, steps, epsilon, saddle, mesh, (low, high), single)]
        mesh /= 2
        if not row[0][0] > 0:  # far too coarse
            rows.clear()
            continue
        for level, coarse in enumerate(rows[-1][:3] if rows else []):
            row.append(row[-1] + (row[-1] - coarse) / (2.0 ** (level + 2) - 1))
        rows.append(row)
        if len(rows) > 2:
            best = row[-1]
            error = abs(float(rows[-2][-1][0] / best[0]) - 1)
            if error <= rtol and best[0] > 0:
                height = saddle.log_mgf - saddle.center * epsilon
                return height + float(np.log(best[0])), float(-best[1] / best[0]), error
    if not error < np.inf:
        raise InversionError("the losses range too far for a mesh of the largest size")
    raise InversionError(f"accuracy {error:.1e} instead of {rtol:.1e}")


def _on_mesh(
    step: OneStep,
    steps: int,
    epsilon: float,
    saddle: Saddle,
    mesh: float,
    window: tuple[float, float],
    single: tuple[float, float],
) -> Array:
    """Return delta and minus its derivative in epsilon, over M(c) exp(-c epsilon).

    NaN when the mesh is too coarse for the law to be told from a point.
    """
    c, start = saddle.center, steps * step.base
    lowest, highest = (round((end - start) / mesh) for end in window)
    first, masses = step.masses(mesh, round(single[0] / mesh), round(single[1] / mesh))
    size = next_fast_len(highest - lowest + 3, real=True)
    j = first + np.arange(masses.size)
    folded = np.zeros(size)
    some = masses != 0
    tilt = c * (step.base + mesh * j[some]) - saddle.log_mgf / steps
    with np.errstate(under="ignore", over="ignore", divide="ignore"):
        folded[j[some] % size] = np.sign(masses[some]) * np.exp(np.log(np.abs(masses[some])) + tilt)
        drift = steps * np.log(folded.sum())  # 0 for the exact law
        if not abs(drift) < 1:
            return np.full(2, np.nan)
        composed = irfft((rfft(folded) / folded.sum()) ** steps, size) * np.exp(drift)
    at = round((epsilon - start) / mesh)
    i = np.arange(1, highest - at + 1)
    gap = mesh * i
    with np.errstate(under="ignore"):
        tail = composed[(at + i) % size] * np.exp(-c * gap)
        return np.array([tail @ -np.expm1(-gap), tail @ np.exp(-gap)])
