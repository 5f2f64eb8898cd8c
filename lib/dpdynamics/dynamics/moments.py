"""Exact moments of noisy SGD on least squares: over one step, given the data, and overall."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dsymv, dsyr2

from dpdynamics.arguments import (
    Array,
    finite_array,
    last_axis,
    nonnegative,
    nonnegative_array,
    vector,
)
from dpdynamics.problems import LeastSquares

from .gaussian_law import GaussianLaw


class ExpectedRisks(NamedTuple):
    """Expected `population` and `regularized` risks after 0, 1, ..., n steps, each (n + 1,)."""

    population: Array
    regularized: Array


def conditional_law(
    a: ArrayLike,
    b: ArrayLike,
    x0: ArrayLike,
    learning_rates: ArrayLike,
    noise_scale: float,
    ridge: float,
) -> GaussianLaw:
    r"""Law of the iterate of noisy SGD given the data: it is Gaussian.

    Each step is the affine map :math:`x\mapsto C_kx + \eta_kb_ka_k - \eta_k\sigma Z_k` with
    :math:`C_k = (1-\eta_k\delta)I - \eta_ka_ka_k^\top`, at a cost of O(d^2).
    Claim lin2025.alg1.

    Parameters
    ----------
    a, b : (n, d) and (n,) arrays
        Features in any basis, and labels, in the order of use.
    x0 : (d,) array
    learning_rates : (n,) array
        :math:`\eta_k`, nonnegative.
    noise_scale, ridge : float
        :math:`\sigma` and :math:`\delta` in [0, inf).

    Returns
    -------
    GaussianLaw
        Of :math:`x_n`, with a full covariance.
    """
    a = finite_array("a", a, ndim=2)
    steps, dimension = a.shape
    b = vector("b", b, steps)
    mean = vector("x0", x0, dimension).copy()
    rates = last_axis(
        "learning_rates", nonnegative_array("learning_rates", learning_rates, 1), steps
    )
    sigma, delta = nonnegative("noise_scale", noise_scale), nonnegative("ridge", ridge)

    upper = np.zeros((dimension, dimension), order="F")
    diagonal = np.einsum("ii->i", upper)
    with np.errstate(over="ignore", invalid="ignore"):
        for a_k, b_k, eta in zip(a, b, rates, strict=True):
            shrink = 1 - eta * delta
            mean = shrink * mean - eta * (a_k @ mean - b_k) * a_k
            image = dsymv(1.0, upper, a_k)
            update = eta**2 / 2 * (a_k @ image) * a_k - shrink * eta * image
            upper *= shrink**2
            upper = dsyr2(1.0, a_k, update, a=upper, overwrite_a=True)
            diagonal += (eta * sigma) ** 2
    if not (np.isfinite(mean).all() and np.isfinite(upper).all()):
        raise ValueError("learning_rates, a, ridge: the law grows beyond floating point")
    return GaussianLaw(mean, np.triu(upper) + np.triu(upper, 1).T)


def gaussian_moment_recursion(
    problem: LeastSquares, x0: ArrayLike, learning_rates: ArrayLike, noise_scale: float
) -> ExpectedRisks:
    r"""Exact expected risks of one-pass noisy SGD with Gaussian features, without Monte Carlo.

    For :math:`v = x - \tilde x` the moments :math:`E v_i` and :math:`E v_i^2` close, because
    :math:`E\,a_i^2(a^\top v)^2 = \lambda_i\sum_j\lambda_jv_j^2 + 2\lambda_i^2v_i^2`. O(d) a step.
    Claims lin2025.alg1, lin2025.eq1; the second-moment recursion of stochastic approximation.

    Parameters
    ----------
    problem, x0, noise_scale
        As in `risk_curve`.
    learning_rates : (n,) array
        :math:`\eta_k`, nonnegative.

    Returns
    -------
    ExpectedRisks
        Expectation over data and private noise after 0, ..., n steps.
    """
    lam, truth, delta = problem.eigenvalues, problem.truth, problem.ridge
    mean = vector("x0", x0, problem.dimension) - truth
    rates = nonnegative_array("learning_rates", learning_rates, ndim=1)
    sigma = nonnegative("noise_scale", noise_scale)
    second = mean**2
    squares, sums = np.empty(rates.size + 1), np.empty(rates.size + 1)
    noise, bias = problem.label_variance, delta * truth
    with np.errstate(over="ignore", invalid="ignore"):
        for k, eta in enumerate(rates):
            squares[k], sums[k] = lam @ second, second.sum() + 2 * (truth @ mean)
            shrink = 1 - eta * delta
            contraction = shrink - eta * lam
            second = (
                (contraction**2 + (eta * lam) ** 2) * second
                + eta**2 * (lam * (squares[k] + noise) + sigma**2)
                + eta * bias * (eta * bias - 2 * contraction * mean)
            )
            mean = contraction * mean - eta * bias
        squares[-1], sums[-1] = lam @ second, second.sum() + 2 * (truth @ mean)
    if not (np.isfinite(squares).all() and np.isfinite(sums).all()):
        raise ValueError("learning_rates: the risk grows beyond floating point; lower them")
    population = 0.5 * (squares + noise)
    return ExpectedRisks(population, population + 0.5 * delta * (sums + truth @ truth))
