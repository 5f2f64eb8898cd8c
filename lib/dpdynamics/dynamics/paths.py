"""Paths of noisy homogenised SGD: Euler-Maruyama on the nonlinear equation."""

from math import ceil, sqrt
from typing import NamedTuple

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
from dpdynamics.problems import LeastSquares, Schedule, as_schedule

from .sde import MOST_STEPS


class Paths(NamedTuple):
    """`times` (N,), risks `population`, `regularized` (replicates, N), `final` (replicates, d)."""

    times: Array
    population: Array
    regularized: Array
    final: Array


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
) -> Paths:
    r"""Simulate the nonlinear diffusion (1) by the Euler-Maruyama method.

    .. math:: dX = -\gamma\nabla\mathcal R(X)\,dt +
              \gamma\sqrt{\tfrac1d(2\mathcal P(X)\Sigma + \sigma^2I)}\,dB.

    The expected risks carry a bias of first order in the step; the step 1/d makes the scheme noisy
    SGD with its gradient noise replaced by Gaussian noise of the homogenised covariance.

    Parameters
    ----------
    problem : LeastSquares
    x0 : (d,) array
    schedule : Schedule or float
    noise_scale : float
        :math:`\sigma` in [0, inf).
    times : (N,) array
        Nondecreasing, nonnegative; the risks are recorded there.
    rng : numpy.random.Generator
    max_step : float
        Largest time step, positive; each interval between times is divided evenly.
    replicates : int
        Number of independent paths, at least 1.

    Returns
    -------
    Paths

    Raises
    ------
    ValueError
        If a shape or a range is violated, or a path leaves the range of floating point.

    References
    ----------
    Claim lin2025.eq1.
    """
    schedule = as_schedule(schedule)
    sigma = nonnegative("noise_scale", noise_scale)
    max_step = positive("max_step", max_step)
    times = nonnegative_array("times", times, ndim=1)
    if np.any(np.diff(times) < 0):
        raise ValueError("times must not decrease")
    x = np.tile(
        vector("x0", x0, problem.dimension), (whole("replicates", replicates, minimum=1), 1)
    )
    noise = np.empty_like(x)
    population = np.empty((len(x), times.size))
    regularized = np.empty_like(population)
    now = 0.0
    for n, target in enumerate(times):
        pieces = ceil((target - now) / max_step)
        if pieces > MOST_STEPS:
            raise ValueError(f"times, max_step: more than {MOST_STEPS:g} steps")
        for t in np.linspace(now, target, pieces, endpoint=False):
            step = (target - now) / pieces
            rate = float(schedule(t))
            variance = np.multiply.outer(2 * problem.population_risk(x), problem.eigenvalues)
            variance += sigma**2
            rng.standard_normal(out=noise)
            noise *= np.sqrt(variance, out=variance)
            noise *= rate * sqrt(step / problem.dimension)
            x -= rate * step * problem.regularized_gradient(x)
            x += noise
            if not np.all(np.abs(x) <= LARGEST):
                raise ValueError(
                    f"max_step, schedule, noise_scale: the paths overflow at time {t}; lower them"
                )
        now = target
        population[:, n] = problem.population_risk(x)
        regularized[:, n] = problem.regularized_risk(x)
    return Paths(times, population, regularized, x)
