"""Stability limit and stationary risk against the general solution, and it against an integral."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpdynamics.dynamics import risk_curve, stability_limit, stationary_risk
from dpdynamics.problems import LeastSquares

seeds = st.integers(0, 10_000)


def draw(seed, d=5, ridge=0.2):
    rng = np.random.default_rng(seed)
    problem = LeastSquares(rng.uniform(0, 2, d), rng.standard_normal(d), rng.uniform(), ridge)
    return problem, rng.standard_normal(d)


@given(seeds, st.sampled_from([0.0, 0.2, 5.0]))
def test_the_limit_is_where_the_system_loses_stability(seed, ridge):
    problem, _ = draw(seed, ridge=ridge)
    limit = stability_limit(problem)
    for factor, sign in ((0.999, -1), (1.001, 1)):
        gamma = factor * limit
        system = -2 * gamma * np.diag(problem.curvature)
        system += gamma**2 / 5 * np.outer(problem.eigenvalues, problem.eigenvalues)
        assert np.sign(np.linalg.eigvalsh(system)[-1]) == sign


def test_limits_in_simple_cases():
    assert stability_limit(LeastSquares([1.0, 3.0], [0.0, 0.0], 0.1, 0.0)) == 2 * 2 / 4
    assert stability_limit(LeastSquares([0.0, 0.0], [0.0, 0.0], 0.1, 0.0)) == np.inf


@given(seeds, st.sampled_from([0.0, 0.2, 5.0]), st.floats(0.01, 0.95), st.floats(0, 3))
def test_the_curve_tends_to_the_stationary_risk(seed, ridge, fraction, sigma):
    problem, x0 = draw(seed, ridge=ridge)
    assume(problem.eigenvalues.min() > 0.02)
    gamma = fraction * stability_limit(problem)
    curve = risk_curve(problem, x0, gamma, sigma, [2000 / fraction / gamma])
    limit = stationary_risk(problem, gamma, sigma)
    for ours, late in zip(limit[1:], curve[1:], strict=True):
        np.testing.assert_allclose(ours, late[0], rtol=1e-8, atol=1e-10)


def test_a_direction_without_curvature_does_not_enter():
    problem = LeastSquares([0.0, 1.0], [1.0, 1.0], 0.3, 0.0)
    alone = LeastSquares([1.0], [1.0], 0.3, 0.0)
    both = stationary_risk(problem, 0.4, 1.2)
    one = stationary_risk(alone, 0.2, 1.2)  # the same gamma/d
    assert both.population == pytest.approx(one.population, rel=1e-14)
    assert both.regularized == pytest.approx(both.population, rel=1e-14)


@given(
    st.sampled_from([0.0, 0.3, 2.0]),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.floats(0, 3),
    st.floats(0, 3),
)
def test_isotropic_closed_form(lam, ridge, gamma, sigma):
    rng = np.random.default_rng(7)
    problem = LeastSquares(np.full(4, lam), rng.standard_normal(4), 0.3, ridge)
    x0, times = rng.standard_normal(4), np.array([0.0, 1e-5, 0.3, 1.0, 2.0])
    # Ito's formula for Z = E|X - A^-1 Sigma truth|^2: Z' = mu Z + drive + swing e^{-gamma a t}.
    a, bias = lam + ridge, problem.shrinkage * problem.truth
    z0, mu = x0 - problem.fixed_point, -2 * gamma * a + gamma**2 * lam**2
    fixed, cross = lam * (bias @ bias) + problem.label_variance, -2 * lam * (bias @ z0)
    drive, swing = gamma**2 * (sigma**2 + lam * fixed), gamma**2 * lam * cross
    flow = np.exp(-gamma * a * times)
    grown = [np.expm1(r * times) / r if r else times for r in (mu, mu + gamma * a)]
    second = np.exp(mu * times) * (z0 @ z0) + drive * grown[0] + swing * flow * grown[1]
    population = (lam * second + fixed + cross * flow) / 2
    limit = problem.fixed_point
    regularized = population + ridge / 2 * (second + 2 * (limit @ z0) * flow + limit @ limit)
    curve = risk_curve(problem, x0, gamma, sigma, times)
    np.testing.assert_allclose(population, curve.population, rtol=1e-12)
    np.testing.assert_allclose(regularized, curve.regularized, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("learning_rate", lambda p, x: stationary_risk(p, stability_limit(p), 1.0)),
        ("learning_rate", lambda p, x: stationary_risk(p, 0.0, 1.0)),
        ("noise_scale", lambda p, x: stationary_risk(p, 0.1, -1.0)),
    ],
)
def test_bad_arguments_are_named(name, call):
    with pytest.raises(ValueError, match=name):
        call(*draw(0))
