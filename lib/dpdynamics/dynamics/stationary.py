"""Closed forms of the risk curve: stability, the stationary value, isotropic features."""

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import Array, nonnegative, nonnegative_array, positive, vector
from dpdynamics.problems import LeastSquares

from .homogenized import Parts, RiskCurve
from .variances import relative_growth


def _ratio(numerator: Array, problem: LeastSquares) -> Array:
    """Divide by the curvature; a coordinate without curvature counts 0."""
    a = problem.curvature
    return np.divide(numerator, a, out=np.zeros_like(a), where=a > 0)


def stability_limit(problem: LeastSquares) -> float:
    r"""Return the learning rate at which the expected risk stops being bounded.

    The system :math:`-2\gamma A + \frac{\gamma^2}d\lambda\lambda^\top` is negative definite if and
    only if :math:`\frac\gamma{2d}\sum_i\lambda_i^2/(\lambda_i + \delta) < 1`.

    Returns
    -------
    float
        :math:`2d/\sum_i\frac{\lambda_i^2}{\lambda_i+\delta}`, inf when every eigenvalue is 0.

    References
    ----------
    The exact stability threshold of claim lin2025.thm4.2.
    """
    total = _ratio(problem.eigenvalues**2, problem).sum()
    return float(2 * problem.dimension / total) if total > 0 else np.inf


def stationary_risk(problem: LeastSquares, learning_rate: float, noise_scale: float) -> RiskCurve:
    r"""Return the limit of the risk curve for a constant learning rate.

    With :math:`\kappa = \gamma/\text{stability limit}` the population risk is
    :math:`P_\infty = \bigl(\mathcal P(A^{-1}\Sigma\tilde x) + \frac{\gamma\sigma^2}{4d}\sum_i
    \lambda_i/a_i\bigr)/(1 - \kappa)`, and :math:`V_i = \frac\gamma{2da_i}(2P_\infty\lambda_i +
    \sigma^2)`.

    Parameters
    ----------
    problem : LeastSquares
    learning_rate : float
        :math:`\gamma` in (0, stability limit).
    noise_scale : float
        :math:`\sigma` in [0, inf).

    Returns
    -------
    RiskCurve
        At time inf; every array is 0-dimensional.

    Raises
    ------
    ValueError
        If a range is violated; at or above the stability limit there is no limit.

    References
    ----------
    The stationary point of the equations of claim lin2025.thm4.2.
    """
    limit = stability_limit(problem)
    learning_rate = positive("learning_rate", learning_rate)
    noise_scale = nonnegative("noise_scale", noise_scale)
    if learning_rate >= limit:
        raise ValueError(f"learning_rate must lie in (0, {limit}), got {learning_rate}")
    gain = learning_rate / (2 * problem.dimension)
    squares = _ratio(problem.eigenvalues**2, problem).sum()
    flow = problem.fixed_point
    floor = problem.population_risk(flow)
    amplification = 1 / (1 - gain * squares)
    noise = gain * noise_scale**2 / 2 * _ratio(problem.eigenvalues, problem).sum()
    sampling, private = floor * (amplification - 1), noise * amplification

    # The regularized risk reads the same variances with weights a instead of the eigenvalues.
    mass, count = gain * problem.eigenvalues.sum(), np.count_nonzero(problem.curvature)
    return RiskCurve(
        np.asarray(np.inf),
        Parts(floor, sampling, private),
        Parts(
            problem.regularized_risk(flow),
            mass * (floor + sampling),
            mass * private + gain * noise_scale**2 / 2 * count,
        ),
    )


def isotropic_risk(
    problem: LeastSquares,
    x0: ArrayLike,
    learning_rate: float,
    noise_scale: float,
    times: ArrayLike,
) -> tuple[Array, Array]:
    r"""Evaluate the expected risks for :math:`\Sigma = \lambda I` and a constant learning rate.

    Ito's formula for :math:`Z = E|X - A^{-1}\Sigma\tilde x|^2` gives the scalar equation

    .. math:: \dot Z = \mu Z + \gamma^2(\sigma^2 + \lambda p) + \gamma^2\lambda\,c\,e^{-\gamma at},
              \quad \mu = -2\gamma a + \gamma^2\lambda^2,

    with :math:`2P = \lambda Z + p + c\,e^{-\gamma at}`, solved by three exponentials.

    Parameters
    ----------
    problem : LeastSquares
        All eigenvalues equal.
    x0 : (d,) array
    learning_rate, noise_scale : float
        :math:`\gamma` and :math:`\sigma` in [0, inf).
    times : (N,) array
        Nonnegative.

    Returns
    -------
    (population, regularized) : (N,) arrays

    Raises
    ------
    ValueError
        If the eigenvalues differ, a range is violated, or the risk exceeds the range of floating
        point.

    References
    ----------
    The special case announced after lin2025.thm4.2.
    """
    if np.ptp(problem.eigenvalues) != 0:
        raise ValueError("problem must be isotropic: all eigenvalues equal")
    x0 = vector("x0", x0, problem.dimension)
    t = nonnegative_array("times", times, ndim=1)
    gamma = nonnegative("learning_rate", learning_rate)
    sigma = nonnegative("noise_scale", noise_scale)
    lam, ridge = problem.eigenvalues[0], problem.ridge
    a, limit = lam + ridge, problem.fixed_point
    z0, bias = x0 - limit, problem.shrinkage * problem.truth
    p = lam * (bias @ bias) + problem.label_variance
    c = -2 * lam * (bias @ z0)

    mu = -2 * gamma * a + gamma**2 * lam**2
    flow = np.exp(-gamma * a * t)
    with np.errstate(over="ignore", invalid="ignore"):
        second = (
            np.exp(mu * t) * (z0 @ z0)
            + gamma**2 * (sigma**2 + lam * p) * t * relative_growth(mu * t)
            + gamma**2 * lam * c * flow * t * relative_growth((mu + gamma * a) * t)
        )
    if not np.isfinite(second).all():
        raise ValueError("learning_rate, times: the risk grows beyond floating point; lower them")
    population = (lam * second + p + c * flow) / 2
    square = second + 2 * (limit @ z0) * flow + limit @ limit
    return population, population + ridge / 2 * square
