r"""Composition by convolving the privacy loss on a mesh.

A step is put on a mesh such that its profile is interpolated, and composed as in `privacy_loss`,
tilted to the saddle point. The mesh is laid through epsilon and, as the base is where a law
concentrates on which little has been spent, through k base: then the error is a series in h, from
:math:`h^2` on, that is extrapolated away.

Slower than the inversion by orders of magnitude, and needed only where few participations and
little noise make the transform decay too slowly.
"""

from typing import Protocol, runtime_checkable

import numpy as np

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
from .privacy_loss import OnMesh

_LARGEST = 1 << 22


@runtime_checkable
class OneStep(OnMesh, Protocol):
    """A pair on a mesh whose transform is known, for the saddle point."""

    def cumulants(self, steps: int, smallest: float) -> Cumulants: ...


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
    one = step.on_mesh(mesh, round(single[0] / mesh), round(single[1] / mesh))
    one = one.tilted(saddle.center, saddle.log_mgf / steps)
    with np.errstate(divide="ignore"):
        drift = steps * np.log(one.masses.sum())  # 0 for the exact law
    if not abs(drift) < 1:
        return np.full(2, np.nan)
    gaps, tail = one.composed(steps, *window).tail(epsilon)
    both = [tail @ -np.expm1(-gaps), tail @ (np.exp(-gaps) * (gaps > mesh / 2))]
    return np.exp(drift) * np.array(both)
