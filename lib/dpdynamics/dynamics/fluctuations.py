r"""How much a quadratic of the iterate fluctuates, to leading order in 1/d.

A quadratic of the diffusion, seen from an earlier time, is a quadratic again. Its gradient along
the way says how much each step adds to the variance at the end.
"""

from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import integrate

from dpdynamics.arguments import Array, nonnegative, nonnegative_array, positive, vector
from dpdynamics.problems import LeastSquares
from dpdynamics.problems.schedules import Schedule, as_schedule

from .homogenized import law


class Backward(NamedTuple):
    r"""Quadratics :math:`\frac12\sum h_iv_i^2 + \sum u_iv_i + c`, :math:`v = x-\tilde x`, N times.

    `h` and `u` are (N, d), `c` is (N,).
    """

    h: Array
    u: Array
    c: Array


class Fluctuations(NamedTuple):
    """Parts of d times the variance of a quadratic: what the diffusion has, and what it lacks."""

    diffusion: float
    rank_one: float
    random_length: float


def backward_quadratics(
    problem: LeastSquares,
    schedule: Schedule | float,
    noise_scale: float,
    h: ArrayLike,
    u: ArrayLike,
    times: ArrayLike,
) -> Backward:
    r"""Compute :math:`q_t(x) = E[q(X_T)\mid X_t = x]` of noisy homogenised SGD for a quadratic q.

    Parameters
    ----------
    problem, schedule, noise_scale
        As in `risk_curve`.
    h, u : (d,) arrays
        :math:`q = \frac12\sum h_iv_i^2 + \sum u_iv_i` at T.
    times : (N,) array
        Increasing, nonnegative, N >= 2; the last is T.

    Returns
    -------
    Backward

    Raises
    ------
    ValueError
        If a shape or a range is violated, the time is too long to be integrated, or a number
        leaves the floating-point range.

    References
    ----------
    The drift (29) of claim lin2025.eq30, read backward; relative tolerance 1e-9.
    """
    d, lam, ridge = problem.dimension, problem.eigenvalues, problem.ridge
    sigma, gammas = nonnegative("noise_scale", noise_scale), as_schedule(schedule)
    t = nonnegative_array("times", times, ndim=1)
    if t.size < 2 or (np.diff(t) <= 0).any():
        raise ValueError("times must be at least two and increasing")

    def slope(elapsed: float, y: Array) -> Array:
        if next(calls) > 100_000:
            raise ValueError("times, schedule, h, u: the way back takes too many steps")
        gamma, h, u = gammas(t[-1] - elapsed), y[:d], y[d : 2 * d]
        trace = lam @ h
        dh = -2 * gamma * problem.curvature * h + gamma**2 / d * trace * lam
        du = -gamma * (problem.curvature * u + ridge * h * problem.truth)
        noise = gamma**2 / (2 * d) * (problem.label_variance * trace + sigma**2 * h.sum())
        return np.concatenate([dh, du, [noise - gamma * ridge * problem.truth @ u]])

    end = np.concatenate([vector("h", h, d), vector("u", u, d), [0.0]])
    span, when = (0.0, t[-1] - t[0]), t[-1] - t[::-1]
    calls, clock = count(), gammas.integral(t[[0, -1]])
    if problem.curvature.max() * (clock[1] - clock[0]) > 2e4:
        raise ValueError("times, schedule: the time from the first to the last is too long")
    with np.errstate(over="ignore", invalid="ignore"):
        found = integrate.solve_ivp(slope, span, end, t_eval=when, rtol=1e-9, atol=1e-11)
    if not (found.success and np.isfinite(found.y).all()):
        raise ValueError("schedule, noise_scale: the quadratics grow beyond floating point")
    y = found.y.T[::-1]
    return Backward(y[:, :d], y[:, d : 2 * d], y[:, -1])


def fluctuations(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    h: ArrayLike,
    u: ArrayLike,
    time: float,
) -> Fluctuations:
    r"""Compute the limit of :math:`d\operatorname{Var}q(x_n)` for noisy SGD, n = time d, in parts.

    For Gaussian features and label noise. With g the gradient of the backward quadratic, H its
    Hessian, :math:`B = g^\top\Sigma v` and :math:`\theta = \mathrm{tr}(\Sigma H)/d`, the parts are
    the integrals of :math:`\gamma^2` times :math:`2\mathcal Pg^\top\Sigma g + \sigma^2|g|^2` (which
    the diffusion has too), :math:`B^2`, and
    :math:`-4\gamma\theta\mathcal PB + 2\gamma^2\theta^2\mathcal P^2`. The relative error is of
    order 1/d; the diffusion part is exact for the diffusion when h = 0.

    Parameters
    ----------
    problem, x0, schedule, noise_scale, h, u
        As in `risk_curve` and :func:`backward_quadratics`; errors too.
    time : float
        T > 0.

    Returns
    -------
    Fluctuations

    References
    ----------
    Lemma A.1 of lin2025 (claim lin2025.lemA.1), summed over the steps.
    """
    t = np.linspace(0, positive("time", time), 301)
    gamma = np.broadcast_to(as_schedule(schedule)(t), t.shape)
    H, U, _ = backward_quadratics(problem, schedule, noise_scale, h, u, t)
    iterate = law(problem, x0, schedule, noise_scale, t)
    mean = iterate.mean - problem.truth
    second = mean**2 + iterate.variance
    with np.errstate(over="ignore", invalid="ignore"):
        squared_gradient = H**2 * second + 2 * H * U * mean + U**2
        B = (H * second + U * mean) @ problem.eigenvalues
        twice_risk = second @ problem.eigenvalues + problem.label_variance
        length = gamma * (H @ problem.eigenvalues) / problem.dimension * twice_risk
        own = twice_risk * (squared_gradient @ problem.eigenvalues)
        own += noise_scale**2 * squared_gradient.sum(axis=1)
        parts = (own, B**2, -2 * length * B + length**2 / 2)
        found = [float(integrate.simpson(gamma**2 * part, x=t)) for part in parts]
    if not np.isfinite(found).all():
        raise ValueError("x0, schedule, noise_scale, h, u: a part leaves the floating-point range")
    return Fluctuations(*found)
