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


@runtime_checkable
class OneStep(Protocol):
    """What a mechanism must offer; see `Gaussian`."""

    @property
    def base(self) -> float: ...
    def cumulants(self, steps: int, smallest: float) -> Cumulants: ...
    def support(self, steps: int, smallest: float) -> tuple[float, float]: ...
    def masses(self, mesh: float, lowest: int, highest: int) -> tuple[int, Array]: ...


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

    Errors are those of `hockey_stick_convolution`.
    """
    target = float(np.log(delta))
    epsilon = saddle_at_delta(step.cumulants(steps, delta), delta).epsilon
    for _ in range(20):
        log_delta, slope, error = _profile(step, steps, epsilon, delta, rtol)
        change = (target - log_delta) / slope
        epsilon += float(np.clip(change, -2.0, 2.0))
        if abs(change) <= 1e-3 * rtol * max(abs(epsilon), 1e-3) or abs(change * slope) < 1e-10:
            return Inversion(epsilon, abs(change) + error / abs(slope))
    raise InversionError("epsilon was not found by convolution")


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
    first, masses = step.masses(mesh, *(round(end / mesh) for end in single))
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
