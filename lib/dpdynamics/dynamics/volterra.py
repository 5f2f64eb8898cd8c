"""The Volterra equations of the expected risks, solved in the plain way.

The route of the paper, with O(N^2) evaluations of a kernel that is a sum over eigenvalues.
:func:`~dpdynamics.dynamics.risk_curve` reaches the same curve without quadrature.
"""

import numpy as np
from numpy.typing import ArrayLike

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


def solve_volterra(forcing: Array, kernel: Array, width: Array) -> Array:
    r"""Solve :math:`y(t) = f(t) + \int_0^tK(t, s)y(s)\,ds` by the trapezoidal rule.

    `forcing` (N,) holds f, `kernel[n, j]` is K(t_n, t_j), used for j <= n, `width` (N - 1,) the
    widths of the mesh. ValueError if it is too coarse for the implicit step.
    """
    # The trapezoidal weight of a node: both its half widths, but only the left one when it is last.
    inner = np.append(width, 0.0) / 2 + np.append(0.0, width) / 2
    last = np.append(0.0, width) / 2
    implicit = 1 - last * np.diagonal(kernel)
    if np.any(implicit <= 0):
        raise ValueError(
            "times must be finer: half a mesh width times the kernel must stay below 1"
        )
    y = np.empty_like(forcing)
    for n in range(y.size):
        y[n] = (forcing[n] + kernel[n, :n] @ (inner[:n] * y[:n])) / implicit[n]
    return y


def risk_curve_volterra(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    times: ArrayLike,
) -> tuple[Array, Array]:
    """Compute the expected risks by trapezoidal quadrature of equations (6) and (7).

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

    References
    ----------
    Claim lin2025.thm4.2.
    """
    times = nonnegative_array("times", times, ndim=1)
    width = np.diff(times)
    if times.size == 0 or times[0] != 0 or np.any(width <= 0):
        raise ValueError("times must increase from 0")
    schedule, sigma = as_schedule(schedule), nonnegative("noise_scale", noise_scale)
    flow = gradient_flow(problem, x0, schedule, times)
    hessians = problem.eigenvalues, problem.curvature
    kernels = np.zeros((2, 2, times.size, times.size))
    for n, t in enumerate(times):
        for of_risk, hessian in zip(kernels, hessians, strict=True):
            past = times[: n + 1]
            of_risk[:, n, : n + 1] = volterra_kernels(problem, schedule, sigma, t, past, hessian)
    kernels = finite_array("schedule, noise_scale: the kernels", kernels)
    forcing = [problem.population_risk(flow), problem.regularized_risk(flow)]
    for of_risk, (_, private) in zip(forcing, kernels, strict=True):
        of_risk += _trapezoid(private, width)
    finite_array("x0, times, noise_scale: the risk without sampling noise", forcing)
    population = solve_volterra(forcing[0], kernels[0, 0], width)
    return population, forcing[1] + _trapezoid(kernels[1, 0] * population, width)


def _trapezoid(values: Array, width: Array) -> Array:
    """Integrate each row n of a lower triangular (N, N) array from 0 to time n."""
    below = np.tril(values[:, :-1] + values[:, 1:], k=-1)
    return below @ (width / 2)
