"""Closed forms of the risk curve: stability, the stationary value."""

import numpy as np

from dpdynamics.arguments import Array, nonnegative, positive
from dpdynamics.problems import LeastSquares

from .homogenized import Parts, RiskCurve


def _ratio(numerator: Array, problem: LeastSquares) -> Array:
    """Divide by the curvature; a coordinate without curvature counts 0."""
    a = problem.curvature
    return np.divide(numerator, a, out=np.zeros_like(a), where=a > 0)


def stability_limit(problem: LeastSquares) -> float:
    r"""Return the learning rate at which the expected risk stops being bounded.

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
    problem, noise_scale
        As in `risk_curve`.
    learning_rate : float
        :math:`\gamma` in (0, stability limit).

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
