"""Moments of the algorithm against dense recursions, brute-force expectations and each other."""

import itertools

import numpy as np
import pytest

from dpdynamics.dynamics import conditional_law, gaussian_moment_recursion
from dpdynamics.problems import LeastSquares


def test_one_step_of_the_recursion_is_that_of_gaussian_features(make_problem):
    problem, x = make_problem(d=4)
    # Gauss-Hermite quadrature over the features is exact for these polynomials of degree four.
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights = weights / weights.sum()
    grid = np.array(list(itertools.product(nodes, repeat=4))) * np.sqrt(problem.eigenvalues)
    mass = np.prod(list(itertools.product(weights, repeat=4)), axis=1)
    eta, sigma = 0.3, 0.8
    # The label noise is independent: it adds to the residual's second moment only.
    residual = grid @ (x - problem.truth)
    gradient = residual[:, None] * grid + problem.ridge * x
    mean = mass @ gradient
    second = (gradient * mass[:, None]).T @ gradient - np.outer(mean, mean)
    second += problem.label_variance * np.diag(problem.eigenvalues) + sigma**2 * np.eye(4)
    trace = eta**2 / 2 * np.diag(second)
    expected = problem.population_risk(x - eta * mean) + problem.eigenvalues @ trace
    ours = gaussian_moment_recursion(problem, x, [eta], sigma)
    assert ours.population[1] == pytest.approx(expected, rel=1e-13)
    expected = problem.regularized_risk(x - eta * mean) + problem.curvature @ trace
    assert ours.regularized[1] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("ridge", [0.0, 0.4])
def test_conditional_law_is_the_dense_affine_recursion(ridge):
    rng = np.random.default_rng(0)
    n, d, sigma = 30, 7, 0.6
    a, b, x0 = rng.standard_normal((n, d)), rng.standard_normal(n), rng.standard_normal(d)
    rates = rng.uniform(0, 0.3, n)
    mean, covariance = x0, np.zeros((d, d))
    for a_k, b_k, eta in zip(a, b, rates, strict=True):
        step = (1 - eta * ridge) * np.eye(d) - eta * np.outer(a_k, a_k)
        mean = step @ mean + eta * b_k * a_k
        covariance = step @ covariance @ step.T + (eta * sigma) ** 2 * np.eye(d)
    ours = conditional_law(a, b, x0, rates, sigma, ridge)
    np.testing.assert_allclose(ours[0], mean, rtol=1e-11)
    np.testing.assert_allclose(ours[1], covariance, rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(ours[1], ours[1].T)


def test_conditional_law_without_data_is_the_start():
    mean, covariance = conditional_law(np.zeros((0, 2)), [], [1.0, 2.0], [], 1.0, 0.1)
    np.testing.assert_array_equal(mean, [1.0, 2.0])
    assert not covariance.any()


def test_moment_recursion_is_the_full_matrix_recursion(make_problem):
    problem, x0 = make_problem(d=5)
    rates = np.random.default_rng(1).uniform(0, 0.2, 60)
    sigma, ridge = 0.7, problem.ridge
    cov = np.diag(problem.eigenvalues)
    mean = x0 - problem.truth
    second = np.outer(mean, mean)
    bias = ridge * problem.truth
    population, square = [], []
    for eta in [*rates, 0.0]:
        population.append(0.5 * (np.trace(cov @ second) + problem.label_variance))
        square.append(np.trace(second) + 2 * mean @ problem.truth + problem.truth @ problem.truth)
        drift = cov + ridge * np.eye(5)
        # E (B v + c)(B v + c)' with B = aa' + ridge, c = bias, by Isserlis' theorem.
        noise = np.trace(cov @ second) * cov + 2 * cov @ second @ cov - cov @ second @ cov
        squares = drift @ second @ drift + noise + problem.label_variance * cov
        squares += np.outer(drift @ mean, bias) + np.outer(bias, drift @ mean)
        squares += np.outer(bias, bias) + sigma**2 * np.eye(5)
        linear = drift @ second + np.outer(bias, mean)
        second = second - eta * (linear + linear.T) + eta**2 * squares
        mean = mean - eta * (drift @ mean + bias)
    ours = gaussian_moment_recursion(problem, x0, rates, sigma)
    np.testing.assert_allclose(ours.population, population, rtol=1e-11)
    np.testing.assert_allclose(
        ours.regularized, np.array(population) + ridge / 2 * np.array(square), rtol=1e-11
    )


def test_divergence_is_reported():
    problem = LeastSquares([1.0], [1.0], 0.1, 0.0)
    with pytest.raises(ValueError, match="learning_rates"):
        gaussian_moment_recursion(problem, [0.0], np.full(2000, 50.0), 1.0)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("learning_rates", lambda p: gaussian_moment_recursion(p, [0.0], [-0.1], 1.0)),
        ("noise_scale", lambda p: gaussian_moment_recursion(p, [0.0], [0.1], np.nan)),
        ("a must", lambda p: conditional_law([1.0], [1.0], [0.0], [0.1], 1.0, 0.0)),
        ("b must", lambda p: conditional_law([[1.0]], [1.0, 2.0], [0.0], [0.1], 1.0, 0.0)),
        ("x0", lambda p: conditional_law([[1.0]], [1.0], [0.0, 0.0], [0.1], 1.0, 0.0)),
        ("learning_rates", lambda p: conditional_law([[1.0]], [1.0], [0.0], [0.1] * 2, 1.0, 0.0)),
        (
            "learning_rates",
            lambda p: conditional_law([[1e60], [1e60]], [1.0, 1.0], [0.0], [1e99] * 2, 1.0, 0.0),
        ),
        ("ridge", lambda p: conditional_law([[1.0]], [1.0], [0.0], [0.1], 1.0, -1.0)),
    ],
)
def test_bad_arguments_are_named(name, call):
    with pytest.raises(ValueError, match=name):
        call(LeastSquares([1.0], [1.0], 0.1, 0.0))
