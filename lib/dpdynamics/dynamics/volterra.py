"""The Volterra equations of the expected risks, solved in the plain way.

The route of the paper, with O(N^2) evaluations of a kernel that is a sum over eigenvalues.
:func:`~dpdynamics.dynamics.risk_curve` reaches the same curve without quadrature.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from dpdynamics.arguments import Array, finite_array, nonnegative, nonnegative_array
from dpdynamics.problems import LeastSquares
from dpdynamics.problems.schedules import Schedule, as_schedule

from .homogenized import gradient_flow


def volterra_kernels(
    problem: LeastSquares,
    schedule: Schedule,
    noise_scale: float,
    t: Array,
    s: Array,
    hessian: Array,
) -> tuple[Array, Array]:
    r"""Evaluate the sampling kernel G(t, s; M) and the private kernel G'(t, s; M).

    .. math::

       G = \frac{\gamma^2(s)}d\,\mathrm{tr}(\Sigma M\Phi^2(t, s)),\qquad
       G' = \frac{\sigma^2\gamma^2(s)}{2d}\,\mathrm{tr}(M\Phi^2(t, s)).

    Times broadcast, 0 <= s <= t; `hessian` (d,) is the diagonal of M: `problem.eigenvalues` for
    the population risk, `problem.curvature` for the regularized risk.
    """
    rates, index = np.unique(problem.curvature, return_inverse=True)
    trace = np.stack(
        [
            np.bincount(index, weights=problem.eigenvalues * hessian),
            np.bincount(index, weights=hessian) * noise_scale**2 / 2,
        ]
    )
    elapsed = schedule.integral(t) - schedule.integral(s)
    squared_flow = np.exp(-2 * np.multiply.outer(elapsed, rates))
    scale = schedule(s) ** 2 / problem.dimension
    return scale * (squared_flow @ trace[0]), scale * (squared_flow @ trace[1])


def trapezoid(kernel: Array, times: Array) -> Array:
    r"""Return the lower triangular matrix of :math:`y\mapsto\int_0^{t_n}K(t_n, s)y(s)\,ds`.

    By the trapezoidal rule; `kernel[n, j]` is K(t_n, t_j), used for j <= n.
    """
    half = np.diff(times) / 2
    weights = np.tri(times.size) * (np.append(half, 0.0) + np.append(0.0, half))
    np.fill_diagonal(weights, np.append(0.0, half))  # a node that is last has its left half only
    return kernel * weights


def solve_volterra(forcing: Array, integral: Array) -> Array:
    """Solve y = f + Iy for a matrix of `trapezoid`."""
    if np.any(np.diagonal(integral) >= 1):
        raise ValueError(
            "times must be finer: half a mesh width times the kernel must stay below 1"
        )
    return solve_triangular(np.eye(forcing.size) - integral, forcing, lower=True)


def risk_curve_volterra(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    times: ArrayLike,
) -> tuple[Array, Array]:
    """Compute the expected risks by trapezoidal quadrature of equations (6) and (7).

    Claim lin2025.thm4.2.

    Parameters
    ----------
    problem, x0, schedule, noise_scale
        As in `risk_curve`.
    times : (N,) array
        Increasing, starting at 0; they are also the quadrature nodes.

    Returns
    -------
    (population, regularized) : (N,) arrays

    Raises
    ------
    ValueError
        As in `risk_curve`; or if half a mesh width times the kernel reaches 1.
    """
    times = nonnegative_array("times", times, ndim=1)
    if times.size == 0 or times[0] != 0 or np.any(np.diff(times) <= 0):
        raise ValueError("times must increase from 0")
    schedule, sigma = as_schedule(schedule), nonnegative("noise_scale", noise_scale)
    flow = gradient_flow(problem, x0, schedule, times)
    hessians = problem.eigenvalues, problem.curvature
    kernels = np.zeros((2, 2, times.size, times.size))
    for n, t in enumerate(times):
        for of_risk, hessian in zip(kernels, hessians, strict=True):
            past = times[: n + 1]
            of_risk[:, n, : n + 1] = volterra_kernels(problem, schedule, sigma, t, past, hessian)
    finite_array("schedule, noise_scale: the kernels", kernels)
    (own, private), (other, other_private) = trapezoid(kernels, times)
    forcing = problem.population_risk(flow) + private.sum(axis=1)
    regularized = problem.regularized_risk(flow) + other_private.sum(axis=1)
    finite_array("x0, times, noise_scale: the risk without sampling noise", [forcing, regularized])
    population = solve_volterra(forcing, own)
    return population, regularized + other @ population
