r"""Clip constant, step size and schedule of one-pass clipped DP-SGD with the least final risk.

The search runs over the risk equation for :math:`\Sigma = I`, in coordinates in which its minimum
stays put: with :math:`\mu_0, \beta = c/\zeta` the descent factor and the clip ratio at zero risk,
the total contraction :math:`D = 2\mu_0\int_0^1\tilde\eta` is near :math:`\log(1/\gamma)` for every
clip constant.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import Array, nonnegative_array, positive_array, whole
from dpdynamics.problems import InverseTimeDecay, PolynomialDecay

from .clipped_risk import one_pass_risk
from .clipping import factors, positive_or_inf

_RATIOS = (0.01, 30.0)  # of the clip constant to the standard deviation of the label noise
_POWERS = (1.05, 1000.0)  # of the contraction in inverse time


class Tuning(NamedTuple):
    """The least risk and where it is attained; arrays of one shape.

    `risk` is the noiseless risk of the released iterate, the noise of the last step included.
    """

    risk: Array
    clip_constant: Array
    schedule: PolynomialDecay | InverseTimeDecay


def tune_one_pass(
    exponent: ArrayLike | None = None,
    *,
    initial_risk: ArrayLike,
    aspect_ratio: ArrayLike,
    label_variance: ArrayLike,
    rho: ArrayLike,
    clip_constant: ArrayLike | None = None,
    steps: int = 200,
) -> Tuning:
    r"""Minimise the released risk over clip constant and step size, for :math:`\Sigma = I`.

    By grids that shrink around the minimum. Relative error of the risk below 1e-4 for
    :math:`\gamma\ge10^{-4}` and the default steps, most of it from the risk equation.

    Parameters
    ----------
    exponent : array, optional
        :math:`\alpha\ge0` of the schedule :math:`\tilde\eta_0(1-t)^\alpha`. If it is left out the
        schedule is :math:`s/(t + q)`, and the search runs over q too.
    initial_risk, aspect_ratio, label_variance, rho : array
        As in `clipped_risk`; positive, only rho may be inf. All arrays broadcast.
    clip_constant : array, optional
        A clip constant to keep, in (0, inf); the search is over the steps alone.
    steps : int
        Cells of the risk equation.

    Returns
    -------
    Tuning
        With :math:`\tilde\eta(0) < 2/\gamma`, where the adaptive step is idle (ValueError if no
        such step is found), and c between :math:`\zeta/100` and :math:`30\zeta`.

    Examples
    --------
    >>> found = tune_one_pass(
    ...     0.5, initial_risk=0.5, aspect_ratio=0.05, label_variance=0.25, rho=1.0
    ... )
    >>> print(f"{found.risk:.3f} {found.clip_constant:.2f} {found.schedule.initial:.1f}")
    0.022 0.42 8.5
    """
    alpha = None if exponent is None else nonnegative_array("exponent", exponent)
    start = positive_array("initial_risk", initial_risk)
    aspect = positive_array("aspect_ratio", aspect_ratio, smallest=1e-300)
    labels = positive_array("label_variance", label_variance)
    privacy = positive_or_inf("rho", rho)
    kept = None if clip_constant is None else positive_array("clip_constant", clip_constant)
    given = [a for a in (alpha, start, aspect, labels, privacy, kept) if a is not None]
    shape = np.broadcast_shapes(*(a.shape for a in given))
    settings: dict[str, Any] = {
        "aspect_ratio": aspect,
        "label_variance": labels,
        "rho": privacy,
        "times": _graded(whole("steps", steps, minimum=1)),
        "steps": 1,
    }

    def unpack(point: Array) -> tuple[Array, Array, PolynomialDecay | InverseTimeDecay]:
        """Return the clip constant, where the step is allowed, and the schedule, 0 elsewhere."""
        coordinates = list(np.exp(point))
        clip = kept if kept is not None else coordinates.pop(0) * np.sqrt(labels)
        half = 0.5 / factors(np.asarray(clip / np.sqrt(labels))).descent_factor
        contraction = coordinates[0]
        offset = (
            np.asarray(1.0) if alpha is not None else 1 / np.expm1(contraction / coordinates[1])
        )
        scale = half * (contraction * (alpha + 1) if alpha is not None else coordinates[1])
        allowed = scale / offset < 2 / aspect
        scale = np.where(allowed, scale, 0.0)
        return (
            np.broadcast_to(clip, scale.shape),
            allowed,
            InverseTimeDecay(scale, offset) if alpha is None else PolynomialDecay(scale, alpha),
        )

    def risk(point: Array) -> Array:
        clip, allowed, schedule = unpack(point)
        value = one_pass_risk(start, schedule, clip_constant=clip, **settings)
        return np.where(allowed, value, np.inf)

    contractions = (np.full(shape, 1e-3), np.broadcast_to(40 + 2 * np.log1p(1 / aspect), shape))
    box = [(np.full(shape, low), np.full(shape, high)) for low, high in (_RATIOS, _POWERS)]
    sides, first = ([], []) if kept is not None else ([box[0]], [13])
    sides, first = [*sides, contractions], [*first, 61]
    if alpha is None:
        sides, first = [*sides, box[1]], [*first, 11]
    low, high = np.log(np.array(sides)).swapaxes(0, 1)
    best = _refine(risk, low, high, first)
    value = risk(best)
    if not np.all(np.isfinite(value)):
        raise ValueError(
            "clip_constant, label_variance and exponent leave no step size below the limit "
            "2 / aspect_ratio"
        )
    clip, _, schedule = unpack(best)
    return Tuning(value, clip, schedule)


def _graded(cells: int) -> Array:
    """Return cells + 1 times from 0 to 1, dense at both ends: there steps and risk change fast."""
    u = np.linspace(0, 1, cells + 1)
    return np.asarray(u**2 / (u**2 + (1 - u) ** 2))


def _refine(function: Any, low: Array, high: Array, first: list[int]) -> Array:
    """Minimise over boxes (k, ...) by grids that shrink around the best point of each problem."""
    later = 9 if len(low) < 3 else 7
    centre, half, counts = (low + high) / 2, (high - low) / 2, first
    for _ in range(12):
        grid = np.stack(np.meshgrid(*(np.linspace(-1, 1, n) for n in counts), indexing="ij"))
        grid = grid.reshape(len(low), -1, *(low.ndim - 1) * (1,))
        points = np.clip(centre[:, None] + half[:, None] * grid, low[:, None], high[:, None])
        best = np.argmin(function(points), axis=0)
        centre = np.take_along_axis(points, best[None, None], axis=1)[:, 0]
        cell = 2 / (np.array(counts).reshape(-1, *(low.ndim - 1) * (1,)) - 1)
        half, counts = 1.5 * cell * half, [later] * len(low)
    return np.asarray(centre)
