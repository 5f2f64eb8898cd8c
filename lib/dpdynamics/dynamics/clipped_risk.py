r"""Deterministic risk of one-pass clipped DP-SGD on least squares, over grids of hyper-parameters.

Time is t = k/n in [0, 1], tr Sigma = d, :math:`\gamma = d/n`, the clip norm is :math:`c\sqrt d`,
and the private noise is the optimal one for :math:`\rho`-zCDP, :math:`\tilde\sigma^2 =
-(\tilde\eta^2)'/\rho`. The risk is the noiseless one, R.

Integrator: on each cell the factors :math:`\mu_c, \nu_c` and R are frozen at their midpoint
values, the integrals of :math:`\tilde\eta`, :math:`\tilde\eta^2` and :math:`\tilde\sigma^2` are
exact, and the linear equation that is left is solved exactly. The midpoint values come from the
same step over half a cell. Second order in the cell, positive, stable at every learning rate.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import Array, nonnegative_array, together, whole
from dpdynamics.problems import PassSchedule
from dpdynamics.problems.pass_schedules import as_pass_schedule

from .clipping import factors, positive_or_inf
from .sde import time_grid
from .spectra import RiskModes, SpectralBlocks


class RiskBounds(NamedTuple):
    """Solutions of the lower and of the upper scalar equation, arrays of one shape."""

    lower: Array
    upper: Array


def clipped_risk(
    initial_risk: ArrayLike,
    schedule: PassSchedule,
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
    r"""Solve the scalar equation of the risk.

    .. math::

       \dot R = -2a\tilde\eta\mu_c(R)R + b\gamma\tilde\eta^2\nu_c(R)(R + \tfrac{\zeta^2}2)
       + \gamma^2c^2\tilde\sigma^2

    with a = `descent` and b = `sampling`. It is exact in the limit for :math:`\Sigma = I`
    (a = b = 1), an upper bound for :math:`a = \lambda_{\min}, b = \lambda_{\max}`, a lower bound
    for :math:`a = \lambda_{\max}, b = 1`.

    Parameters
    ----------
    initial_risk : array
        R(0), nonnegative.
    schedule : PassSchedule
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
        a and b, nonnegative. All arrays broadcast against each other.
    times : (N,) array
        Increasing in [0, 1], starting at 0.
    steps : int
        Cells per unit of time, at least one in each interval between times.

    Returns
    -------
    (N, ...) array
        R at `times`; at time 1 before the last step, see `last_step_jump`.

    Raises
    ------
    ValueError
        If a shape or a range is violated, the schedule increases, or R is not finite (possible
        for an infinite clip constant only).

    Examples
    --------
    >>> from dpdynamics.problems import PolynomialDecay
    >>> clipped_risk(
    ...     0.5, PolynomialDecay([5.0, 10.0], 0.5), clip_constant=0.3, aspect_ratio=0.1,
    ...     label_variance=0.04, rho=0.5,
    ... )[-1].round(4)
    array([0.0829, 0.0559])

    References
    ----------
    Claim bombari2025.prop4.3.
    """
    rates, loads = nonnegative_array("descent", descent), nonnegative_array("sampling", sampling)
    start = nonnegative_array("initial_risk", initial_risk)
    one = np.ones((1, *np.broadcast_shapes(rates.shape, loads.shape, start.shape)))
    modes = RiskModes(one * rates, one * loads, one, one, one * start)
    return coupled_risk(
        modes,
        schedule,
        clip_constant=clip_constant,
        aspect_ratio=aspect_ratio,
        label_variance=label_variance,
        rho=rho,
        times=times,
        steps=steps,
    )


def risk_bounds(
    initial_risk: ArrayLike,
    schedule: PassSchedule,
    smallest: ArrayLike,
    largest: ArrayLike,
    **settings: Any,
) -> RiskBounds:
    r"""Solve the two equations that enclose the risk for every spectrum of mean 1.

    Parameters
    ----------
    initial_risk, schedule
        As in `clipped_risk`.
    smallest, largest : array
        :math:`\lambda_{\min}\le1\le\lambda_{\max}`.
    **settings
        The other keywords of `clipped_risk`.

    Returns
    -------
    RiskBounds of (N, ...) arrays

    Raises
    ------
    ValueError
        As in `clipped_risk`, or if the eigenvalues do not enclose 1.

    References
    ----------
    Claim bombari2025.prop4.3.
    """
    low, high = nonnegative_array("smallest", smallest), nonnegative_array("largest", largest)
    if np.any(low > 1) or np.any(high < 1):
        raise ValueError("smallest and largest must enclose 1, the mean of the eigenvalues")
    return RiskBounds(
        clipped_risk(initial_risk, schedule, descent=high, sampling=1.0, **settings),
        clipped_risk(initial_risk, schedule, descent=low, sampling=high, **settings),
    )


def coupled_risk(
    spectrum: SpectralBlocks | RiskModes,
    schedule: PassSchedule,
    *,
    clip_constant: ArrayLike,
    aspect_ratio: ArrayLike,
    label_variance: ArrayLike,
    rho: ArrayLike,
    times: ArrayLike = (0.0, 1.0),
    steps: int = 400,
) -> Array:
    r"""Solve the family of equations that only the risk couples, for a whole spectrum.

    Parameters
    ----------
    spectrum : SpectralBlocks or RiskModes
        Blocks are taken in full; ``RiskModes.quadrature(blocks)`` costs the same at every d.
    schedule, clip_constant, aspect_ratio, label_variance, rho, times, steps
        As in `clipped_risk`.

    Returns
    -------
    (N, ...) array
        The deterministic equivalent R at `times`; at time 1 before the last step.

    Raises
    ------
    ValueError
        As in `clipped_risk` and `RiskModes.of`.

    References
    ----------
    Claim bombari2025.lemC.1.
    """
    modes = RiskModes.of(spectrum) if isinstance(spectrum, SpectralBlocks) else spectrum
    clip, aspect, noise = hyperparameters(clip_constant, aspect_ratio, rho)
    half_labels = nonnegative_array("label_variance", label_variance) / 2
    schedule, private = as_pass_schedule(schedule), aspect**2 * noise
    grid = np.broadcast_shapes(
        clip.shape, private.shape, half_labels.shape, schedule(0.0).shape, modes[0].shape[1:]
    )
    tail = (len(grid) + 1 - modes[0].ndim) * (1,)
    rates, sampling, loads, weights, initial = (
        np.reshape(part, (len(part), *tail, *part.shape[1:])) for part in modes
    )
    single, own = len(rates) == 1, sampling * weights

    def step(state: Array, risk: Array, area: Array, square: Array, drop: Array) -> Array:
        """Solve one cell with the coefficients of the given risk."""
        total = risk + half_labels
        mu, nu = factors(clip / np.sqrt(2 * total))
        decay, diffusion = (2 * area * rates) * mu, (aspect * square) * nu
        if single:  # then the sampling noise is linear in the state
            decay, total = decay - diffusion * own, half_labels
        drive = (diffusion * total) * sampling + (private * drop) * loads
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


def last_step_jump(
    schedule: PassSchedule, *, clip_constant: ArrayLike, aspect_ratio: ArrayLike, rho: ArrayLike
) -> Array:
    r"""Compute :math:`\gamma^2c^2\tilde\eta(1)^2/\rho`, what the last private noise adds to R(1).

    The last step carries all the noise that its own record needs, :math:`\sigma_n^2 =
    \eta_n^2/\rho`. Arguments are those of `clipped_risk`.

    References
    ----------
    Claim bombari2025.prop4.4.
    """
    _, aspect, noise = hyperparameters(clip_constant, aspect_ratio, rho)
    return np.asarray(aspect**2 * noise * as_pass_schedule(schedule)(1.0) ** 2)


def schedule_cells(
    schedule: PassSchedule, intervals: list[tuple[float, float, int]], halves: int = 1
) -> Iterator[tuple[Array, Array, Array]]:
    r"""Yield the integrals of :math:`\tilde\eta, \tilde\eta^2, -(\tilde\eta^2)'` over every cell.

    `intervals` are those of `time_grid`; each of their pieces is divided into `halves` cells.
    """
    schedule = as_pass_schedule(schedule)
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
