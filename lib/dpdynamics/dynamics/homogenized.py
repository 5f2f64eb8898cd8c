r"""Noisy homogenised SGD on least squares: flow, risk curve, Gaussian law, limit and paths.

The covariance is solved for in :mod:`~dpdynamics.dynamics.variances`; here it becomes a risk curve
with its parts, or a law. Paths of the nonlinear equation are simulated.
"""

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
from dpdynamics.problems import LeastSquares
from dpdynamics.problems.schedules import Schedule, as_schedule

from ..runs import Runs
from .gaussian_law import GaussianLaw
from .sde import euler_maruyama
from .variances import Diffusion, stability_limit


class RiskCurve(NamedTuple):
    r"""Expected risks (N,) of noisy homogenised SGD at `times` t = k/d, and where they come from.

    With the kernels G, G' of lin2025.thm4.2, the Volterra equation :math:`P = P^{gf} + \int GP +
    \int G'` of the population risk is linear. It is the sum of `gradient_flow` :math:`P^{gf}`, of
    the `private` part :math:`y = \int Gy + \int G'`, and of the `sampling` part
    :math:`y = \int G(P^{gf} + y)`. The `regularized` risk is that of the same two covariances.
    """

    times: Array
    gradient_flow: Array
    sampling: Array
    private: Array
    regularized: Array

    @property
    def population(self) -> Array:
        r"""Expected population risk :math:`P_t = E\mathcal P(X_t)`."""
        return self.gradient_flow + self.sampling + self.private


def gradient_flow(
    problem: LeastSquares, x0: ArrayLike, schedule: Schedule | float, times: ArrayLike
) -> Array:
    r"""Solve the gradient flow of the regularized risk in the clock of the schedule.

    :math:`X_t = \Phi(t)x_0 + (I - \Phi(t))A^{-1}\Sigma\tilde x`, :math:`\Phi(t) = e^{-A\Gamma(t)}`.
    Arguments and errors are those of `risk_curve`.
    Claim lin2025.eq5.

    Returns
    -------
    (N, d) array
    """
    x0 = vector("x0", x0, problem.dimension)
    clock = as_schedule(schedule).integral(nonnegative_array("times", times, ndim=1))
    limit = problem.fixed_point
    return limit + np.exp(-np.multiply.outer(clock, problem.curvature)) * (x0 - limit)


def risk_curve(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    times: ArrayLike,
) -> RiskCurve:
    r"""Compute the expected risks of noisy homogenised SGD, with their parts.

    Exact for the nonlinear process (1) and for its linearisation (9), at every d. A constant
    schedule is solved to rounding (relative to the largest value of a part when there are many
    distinct eigenvalues); any other schedule is integrated to a relative tolerance of 1e-11.
    Claim lin2025.thm4.2.

    Parameters
    ----------
    problem : LeastSquares
    x0 : (d,) array
        Deterministic initial parameter.
    schedule : Schedule or float
        :math:`\gamma(t)`; a float is a constant learning rate.
    noise_scale : float
        :math:`\sigma` in [0, inf).
    times : (N,) array
        Continuous times t = k/d, nonnegative, in any order; above `stability_limit` the risk
        exceeds the range of floating point at late ones.

    Returns
    -------
    RiskCurve
    """
    times = nonnegative_array("times", times, ndim=1)
    diffusion = Diffusion(problem, x0, schedule, noise_scale)
    if grid := diffusion.collocation_grid(times):
        interpolate, at_nodes = grid.interpolation(times), diffusion.flow_risks(grid.nodes)
        noises = diffusion.collocated(grid, at_nodes[0])
        flow, regularized = (interpolate @ risk for risk in at_nodes)
        sampling, private = (
            np.maximum([interpolate @ column for column in part.T], 0.0).T for part in noises
        )
    else:
        weights = diffusion.size / 2 * np.stack([diffusion.eigenvalue, diffusion.curvature])
        sampling, private = diffusion.variances(times, weights)
        flow, regularized = diffusion.flow_risks(times)
    regularized = regularized + sampling[:, 1] + private[:, 1]
    return RiskCurve(times, flow, sampling[:, 0], private[:, 0], regularized)


def law(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    times: ArrayLike,
) -> GaussianLaw:
    """Compute the Gaussian law :math:`N(m(t), V(t))` of linearised homogenised SGD.

    Arguments and errors are those of `risk_curve`.

    Claim lin2025.eq10.
    """
    times = nonnegative_array("times", times, ndim=1)
    mean = gradient_flow(problem, x0, schedule, times)
    diffusion = Diffusion(problem, x0, schedule, noise_scale)
    sampling, private = diffusion.variances(times, np.eye(diffusion.size.size))
    return GaussianLaw(mean, (sampling + private)[:, diffusion.member])


def stationary_risk(problem: LeastSquares, learning_rate: float, noise_scale: float) -> RiskCurve:
    r"""Return the limit of the risk curve for a constant learning rate (claim lin2025.thm4.2).

    With :math:`\kappa = \gamma/\text{stability limit}` the population risk is
    :math:`P_\infty = \bigl(\mathcal P(A^{-1}\Sigma\tilde x) + \frac{\gamma\sigma^2}{4d}\sum_i
    \lambda_i/a_i\bigr)/(1 - \kappa)`, and :math:`V_i = \frac\gamma{2da_i}(2P_\infty\lambda_i +
    \sigma^2)`.

    Parameters
    ----------
    problem, noise_scale
        As in `risk_curve`.
    learning_rate : float
        :math:`\gamma` in (0, stability limit); at or above it the risk has no limit.

    Returns
    -------
    RiskCurve
        At time inf; every array is 0-dimensional.
    """
    limit = stability_limit(problem)
    learning_rate = positive("learning_rate", learning_rate)
    noise_scale = nonnegative("noise_scale", noise_scale)
    if learning_rate >= limit:
        raise ValueError(f"learning_rate must lie in (0, {limit}), got {learning_rate}")
    gain = learning_rate / (2 * problem.dimension)
    squares = problem.over_curvature(problem.eigenvalues**2).sum()
    flow = problem.fixed_point
    floor = problem.population_risk(flow)
    amplification = 1 / (1 - gain * squares)
    noise = gain * noise_scale**2 / 2 * problem.over_curvature(problem.eigenvalues).sum()
    sampling, private = floor * (amplification - 1), noise * amplification

    # The regularized risk reads the same variances with weights a instead of the eigenvalues.
    mass, count = gain * problem.eigenvalues.sum(), np.count_nonzero(problem.curvature)
    regularized = problem.regularized_risk(flow) + mass * (floor + sampling)
    regularized += mass * private + gain * noise_scale**2 / 2 * count
    return RiskCurve(np.asarray(np.inf), floor, sampling, private, regularized)


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
    r"""Simulate the nonlinear diffusion (1) of lin2025 by the Euler-Maruyama method.

    .. math:: dX = -\gamma\nabla\mathcal R(X)\,dt +
              \gamma\sqrt{\tfrac1d(2\mathcal P(X)\Sigma + \sigma^2I)}\,dB.

    Arguments are those of `risk_curve`, with times that do not decrease, and those of
    `euler_maruyama`; `replicates` independent paths. The expected risks carry a bias of first order
    in the step. Claim lin2025.eq1.

    Returns
    -------
    Runs
        `values` are (replicates, N) arrays, "population" and "regularized".
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
    population, regularized = paths.values[np.searchsorted(grid, times)].transpose(1, 2, 0)
    return Runs(times, {"population": population, "regularized": regularized}, paths.final)
