r"""Deterministic risk of one-pass clipped DP-SGD on least squares, over grids of hyper-parameters.

Time is t = k/n in [0, 1], tr Sigma = d, :math:`\gamma = d/n`, the clip norm is :math:`c\sqrt d`,
and the private noise is the optimal one for :math:`\rho`-zCDP, :math:`\tilde\sigma^2 =
-(\tilde\eta^2)'/\rho`. The risk is the noiseless one, R.

On each cell :math:`\mu_c, \nu_c` and R are frozen at their midpoint values (from the same step over
half a cell), the integrals of :math:`\tilde\eta`, :math:`\tilde\eta^2` and :math:`\tilde\sigma^2`
are exact, and the linear equation that is left is solved exactly: second order in the cell.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import Array, nonnegative_array, together, whole
from dpdynamics.problems.schedules import Schedule, as_schedule

from .clipping import factors, positive_or_inf
from .sde import time_grid
from .spectra import RiskModes, SpectralBlocks


def clipped_risk(
    start: ArrayLike | SpectralBlocks | RiskModes,
    schedule: Schedule,
    *,
    clip_constant: ArrayLike,
    aspect_ratio: ArrayLike,
    label_variance: ArrayLike,
    rho: ArrayLike,
    descent: ArrayLike = 1.0,
    sampling: ArrayLike = 1.0,
    times: ArrayLike = (0.0, 1.0),
    steps: int = 400,
) -> Array:
    r"""Solve the equation of the risk, or the family that only the risk couples.

    .. math::

       \dot R = -2a\tilde\eta\mu_c(R)R + b\gamma\tilde\eta^2\nu_c(R)(R + \tfrac{\zeta^2}2)
       + \gamma^2c^2\tilde\sigma^2

    with a = `descent` and b = `sampling`. It is exact in the limit for :math:`\Sigma = I`
    (a = b = 1), an upper bound for :math:`a = \lambda_{\min}, b = \lambda_{\max}`, a lower bound
    for :math:`a = \lambda_{\max}, b = 1`. For a spectrum there is one such equation for each
    eigenspace, see `SpectralBlocks.modes`.
    Claims bombari2025.prop4.3 and bombari2025.lemC.1.

    Parameters
    ----------
    start : array, SpectralBlocks or its modes
        R(0), nonnegative, for :math:`\Sigma = I`; or a spectrum of mean eigenvalue 1 with its
        initial error. Blocks are taken in full; ``blocks.modes(8)`` costs the same at every d.
    schedule : Schedule
        :math:`\tilde\eta`, nonincreasing; a `PolynomialDecay` may hold arrays.
    clip_constant : array
        c in (0, inf]; inf only without private noise.
    aspect_ratio : array
        :math:`\gamma = d/n`, nonnegative.
    label_variance : array
        :math:`\zeta^2`, nonnegative.
    rho : array
        Privacy in (0, inf]; inf adds no noise.
    descent, sampling : array
        a and b, nonnegative; they multiply the rates and loads of a spectrum. All arrays broadcast
        against each other.
    times : (N,) array
        Increasing in [0, 1], starting at 0.
    steps : int
        Cells per unit of time, at least one in each interval between times.

    Returns
    -------
    (N, ...) array
        R at `times`; at time 1 before the last step, see `one_pass_risk`.

    Examples
    --------
    >>> from dpdynamics.problems import PolynomialDecay
    >>> clipped_risk(
    ...     0.5, PolynomialDecay([5.0, 10.0], 0.5), clip_constant=0.3, aspect_ratio=0.1,
    ...     label_variance=0.04, rho=0.5,
    ... )[-1].round(4)
    array([0.0829, 0.0559])
    """
    clip, aspect, noise = hyperparameters(clip_constant, aspect_ratio, rho)
    half_labels = nonnegative_array("label_variance", label_variance) / 2
    faster, louder = nonnegative_array("descent", descent), nonnegative_array("sampling", sampling)
    schedule, private = as_schedule(schedule), aspect**2 * noise
    if isinstance(start, SpectralBlocks):
        start = start.modes()
    elif not isinstance(start, RiskModes):
        one = np.ones(1)
        start = RiskModes(one, one, one, one, nonnegative_array("start", start)[None])
    parts = clip, private, half_labels, schedule(0.0), faster, louder, *(part[0] for part in start)
    grid = np.broadcast_shapes(*(part.shape for part in parts))
    rates, own_loads, loads, weights, initial = (
        part.reshape(len(part), *(1 + len(grid) - part.ndim) * (1,), *part.shape[1:])
        for part in start
    )
    rates, own_loads = faster * rates, louder * own_loads
    single, own = len(rates) == 1, own_loads * weights

    def step(state: Array, risk: Array, area: Array, square: Array, drop: Array) -> Array:
        """Solve one cell with the coefficients of the given risk."""
        total = risk + half_labels
        mu, nu = factors(clip / np.sqrt(2 * total))
        decay, diffusion = (2 * area * rates) * mu, (aspect * square) * nu
        if single:  # then the sampling noise is linear in the state
            decay, total = decay - diffusion * own, half_labels
        drive = (diffusion * total) * own_loads + (private * drop) * loads
        decay = decay + 1e-300  # so that the mean of the exponential over the cell is 1 for 0
        return state * np.exp(-decay) - drive * (np.expm1(-decay) / decay)

    def observed(state: Array) -> Array:
        return np.asarray(weights[0] * state[0] if single else (weights * state).sum(axis=0))

    state = np.broadcast_to(initial, (len(initial), *grid))
    risk = observed(state)
    values, intervals = [risk], time_grid(times, 1 / whole("steps", steps, minimum=1), 1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        cells = schedule_cells(schedule, intervals, halves=2)
        for _, _, pieces in intervals:
            for _ in range(pieces):
                first, second = next(cells), next(cells)
                middle = observed(step(state, risk, *first))
                state = step(state, middle, *(a + b for a, b in zip(first, second, strict=True)))
                risk = observed(state)
            values.append(risk)
    if not np.all(np.isfinite(risk)):
        raise ValueError("schedule: the risk leaves the range of floating point")
    return np.stack(values)


def one_pass_risk(
    start: ArrayLike | SpectralBlocks | RiskModes, schedule: Schedule, **settings: Any
) -> Array:
    r"""Compute the risk of the iterate that is released.

    R(1-) of `clipped_risk`, whose arguments these are (`times`, if given, must end at 1), and what
    the last step adds, :math:`\gamma^2c^2\tilde\eta(1)^2/\rho`: it carries all the noise that its
    own record needs. Claims bombari2025.prop4.3 and bombari2025.prop4.4.
    """
    three = (settings[key] for key in ("clip_constant", "aspect_ratio", "rho"))
    _, aspect, noise = hyperparameters(*three)
    jump = aspect**2 * noise * as_schedule(schedule)(1.0) ** 2
    return np.asarray(clipped_risk(start, schedule, **settings)[-1] + jump)


def schedule_cells(
    schedule: Schedule, intervals: list[tuple[float, float, int]], halves: int = 1
) -> Iterator[tuple[Array, Array, Array]]:
    r"""Yield the integrals of :math:`\tilde\eta, \tilde\eta^2, -(\tilde\eta^2)'` over every cell.

    `intervals` are those of `time_grid`; each of their pieces is divided into `halves` cells.
    """
    schedule = as_schedule(schedule)
    edges = np.concatenate(
        [[intervals[0][0]]]
        + [begin + h * np.arange(1, halves * n + 1) / halves for begin, h, n in intervals]
    )
    shape = schedule(edges[0]).shape
    edges[np.abs(edges - 1) < 1e-12] = 1.0  # rounding must not leave the domain
    edges = edges.reshape(-1, *(1,) * len(shape))
    chunk = max(1, 200_000 // max(1, math.prod(shape)))
    for start in range(0, len(edges) - 1, chunk):
        t = edges[start : start + chunk + 1]
        drop = -np.diff(schedule(t) ** 2, axis=0)
        if np.any(drop < 0):
            raise ValueError("schedule must not increase")
        area, square = schedule.integral(t), schedule.square_integral(t)
        yield from zip(np.diff(area, axis=0), np.diff(square, axis=0), drop, strict=True)


def hyperparameters(
    clip_constant: ArrayLike, aspect_ratio: ArrayLike, rho: ArrayLike
) -> tuple[Array, Array, Array]:
    r"""Return c, :math:`\gamma` and :math:`c^2/\rho`, 0 for infinite :math:`\rho`."""
    clip = positive_or_inf("clip_constant", clip_constant)
    privacy = positive_or_inf("rho", rho)
    if np.any(np.isinf(clip) & np.isfinite(privacy)):
        raise ValueError("clip_constant must be finite unless rho is inf")
    clip, privacy = together(clip_constant=clip, rho=privacy)
    noise = np.divide(clip**2, privacy, out=np.zeros(clip.shape), where=np.isfinite(privacy))
    return clip, nonnegative_array("aspect_ratio", aspect_ratio), noise
