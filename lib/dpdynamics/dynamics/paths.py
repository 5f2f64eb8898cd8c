"""Paths of noisy homogenised SGD: Euler-Maruyama on the nonlinear equation."""

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import (
    LARGEST,
    Array,
    nonnegative,
    nonnegative_array,
    positive,
    vector,
    whole,
)
from dpdynamics.problems import LeastSquares
from dpdynamics.problems.schedules import Schedule, as_schedule

from .runs import Runs
from .sde import euler_maruyama


def hsgd_paths(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    times: ArrayLike,
    *,
    rng: np.random.Generator,
    max_step: float,
    replicates: int = 1,
) -> Runs:
    r"""Simulate the nonlinear diffusion (1) by the Euler-Maruyama method.

    .. math:: dX = -\gamma\nabla\mathcal R(X)\,dt +
              \gamma\sqrt{\tfrac1d(2\mathcal P(X)\Sigma + \sigma^2I)}\,dB.

    Parameters
    ----------
    problem, x0, schedule, noise_scale
        As in `risk_curve`.
    times : (N,) array
        Nondecreasing, nonnegative; the risks are recorded there.
    rng : numpy.random.Generator
    max_step : float
        As in `euler_maruyama`. The expected risks carry a bias of first order in the step.
    replicates : int
        Number of independent paths, at least 1.

    Returns
    -------
    Runs
        `values` are (replicates, N) arrays, "population" and "regularized".

    Raises
    ------
    ValueError
        If a shape or a range is violated, or a path leaves the range of floating point.

    References
    ----------
    Claim lin2025.eq1.
    """
    gamma, sigma = as_schedule(schedule), nonnegative("noise_scale", noise_scale)
    times = nonnegative_array("times", times, ndim=1)
    if np.any(np.diff(times) < 0):
        raise ValueError("times must not decrease")
    runs = whole("replicates", replicates, minimum=1)

    def drift(t: float, x: Array) -> Array:
        if not np.all(np.abs(x) <= LARGEST):
            raise ValueError(
                f"max_step, schedule, noise_scale: the paths overflow at time {t}; lower them"
            )
        return -gamma(t) * problem.regularized_gradient(x)

    def diffusion(t: float, x: Array) -> Array:
        variance = np.multiply.outer(2 * problem.population_risk(x), problem.eigenvalues)
        return gamma(t) * np.sqrt((variance + sigma**2) / problem.dimension)

    grid = np.unique(np.append(times, 0.0))
    paths = euler_maruyama(
        drift,
        diffusion,
        np.tile(vector("x0", x0, problem.dimension), (runs, 1)),
        grid,
        rng=rng,
        max_step=positive("max_step", max_step),
        statistic=lambda x: np.stack([problem.population_risk(x), problem.regularized_risk(x)]),
    )
    risks = paths.values[np.searchsorted(grid, times)].transpose(1, 2, 0)
    names = ("population", "regularized")
    return Runs(times, dict(zip(names, risks, strict=True)), paths.final)
