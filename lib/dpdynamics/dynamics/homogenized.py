r"""Noisy homogenised SGD on least squares: gradient flow, risk curve and Gaussian law.

The covariance is solved for in :mod:`~dpdynamics.dynamics.variances`; here it becomes a risk curve
with its parts, or a law.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import Array, nonnegative_array, vector
from dpdynamics.problems import LeastSquares
from dpdynamics.problems.schedules import Schedule, as_schedule

from .variances import Diffusion


class Parts(NamedTuple):
    """A risk as the sum of what the gradient flow, the sampling and the private noise cause."""

    gradient_flow: Array
    sampling: Array
    private: Array

    @property
    def total(self) -> Array:
        """The risk itself."""
        return self.gradient_flow + self.sampling + self.private


@dataclass(frozen=True, eq=False)
class RiskCurve:
    r"""Expected risks of noisy homogenised SGD and where they come from.

    With the kernels G, G' of lin2025.thm4.2, the Volterra equation :math:`P = P^{gf} + \int GP +
    \int G'` is linear. Its parts are :math:`P^{gf}` itself, the private part
    :math:`y = \int Gy + \int G'` and the sampling part :math:`y = \int G(P^{gf} + y)`; those of the
    regularized risk belong to the same two covariances.

    Attributes
    ----------
    times : (N,) array
        Continuous times t = k/d.
    population_parts, regularized_parts : Parts of (N,) arrays
        Parts of :math:`P_t = E\mathcal P(X_t)` and of :math:`R_t = E\mathcal R(X_t)`.
    """

    times: Array
    population_parts: Parts
    regularized_parts: Parts

    @property
    def population(self) -> Array:
        r"""Expected population risk :math:`P_t` (N,)."""
        return self.population_parts.total

    @property
    def regularized(self) -> Array:
        r"""Expected regularized risk :math:`R_t` (N,)."""
        return self.regularized_parts.total

    @property
    def gradient_flow(self) -> Array:
        r"""Population risk of the gradient flow (N,)."""
        return self.population_parts.gradient_flow

    @property
    def sampling(self) -> Array:
        """Part of the population risk (N,) that sampling noise causes."""
        return self.population_parts.sampling

    @property
    def private(self) -> Array:
        """Part of the population risk (N,) that private noise causes."""
        return self.population_parts.private


class Law(NamedTuple):
    """Gaussian laws at N times: `mean` (N, d) and the diagonal `variance` (N, d)."""

    mean: Array
    variance: Array

    def risk_variance(self, problem: LeastSquares) -> Array:
        r"""Variance (N,) of the population risk under the law.

        It is :math:`\sum_i\lambda_i^2V_i(V_i/2 + (m_i-\tilde x_i)^2)`.
        """
        offset = self.mean - problem.truth
        return (self.variance * (self.variance / 2 + offset**2)) @ problem.eigenvalues**2


def gradient_flow(
    problem: LeastSquares, x0: ArrayLike, schedule: Schedule | float, times: ArrayLike
) -> Array:
    r"""Solve the gradient flow of the regularized risk in the clock of the schedule.

    :math:`X_t = \Phi(t)x_0 + (I - \Phi(t))A^{-1}\Sigma\tilde x`, :math:`\Phi(t) = e^{-A\Gamma(t)}`.
    Arguments and errors are those of `risk_curve`.

    Returns
    -------
    (N, d) array

    References
    ----------
    Claim lin2025.eq5.
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
        Continuous times t = k/d, nonnegative, in any order.

    Returns
    -------
    RiskCurve

    Raises
    ------
    ValueError
        If a shape or a range is violated, or the risk exceeds the range of floating point (a
        learning rate above `stability_limit` for a long time).

    References
    ----------
    Claim lin2025.thm4.2.
    """
    times = nonnegative_array("times", times, ndim=1)
    diffusion = Diffusion(problem, x0, schedule, noise_scale)
    if grid := diffusion.collocation_grid(times):
        interpolate, flows = grid.interpolation(times), diffusion.flow_risks(grid.nodes)
        noises = diffusion.collocated(grid, flows[0])
        parts = [
            Parts(interpolate @ flow, *(np.maximum(interpolate @ part, 0.0) for part in noise.T))
            for flow, noise in zip(flows, noises, strict=True)
        ]
        return RiskCurve(times, *parts)
    weights = diffusion.size / 2 * np.stack([diffusion.eigenvalue, diffusion.curvature])
    sampling, private = diffusion.variances(times, weights)
    flows = diffusion.flow_risks(times)
    return RiskCurve(times, *map(Parts, flows, sampling.T, private.T))


def law(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    times: ArrayLike,
) -> Law:
    """Compute the Gaussian law :math:`N(m(t), V(t))` of linearised homogenised SGD.

    Arguments and errors are those of `risk_curve`.

    References
    ----------
    Claim lin2025.eq10.
    """
    times = nonnegative_array("times", times, ndim=1)
    mean = gradient_flow(problem, x0, schedule, times)
    diffusion = Diffusion(problem, x0, schedule, noise_scale)
    sampling, private = diffusion.variances(times, np.eye(diffusion.size.size))
    return Law(mean, (sampling + private)[:, diffusion.member])
