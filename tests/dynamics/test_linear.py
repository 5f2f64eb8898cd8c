"""Moments of linear equations and recursions: quadrature, loops, closed forms, weak order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad_vec, solve_ivp
from scipy.linalg import expm, solve_continuous_lyapunov

from dpdynamics.dynamics import linear_recursion, linear_sde

A = np.array([[-1.0, 2.0, 0.0], [-2.0, -1.0, 0.3], [0.0, 0.1, -0.2]])
B = np.array([0.5, -1.0, 0.2])
S = np.array([[0.6, 0.1], [0.2, 0.3], [0.0, 0.4]])


@pytest.mark.parametrize("shift", [0.0, 0.7])
@pytest.mark.parametrize("time", [0.0, 0.3, 4.0])
def test_a_transition_is_that_of_quadrature(time, shift):
    matrix = A + shift * np.eye(3)  # 0.7 makes the equation unstable
    step = linear_sde(matrix, B, S, time)
    mean = quad_vec(lambda s: expm(matrix * s) @ B, 0, time, epsabs=1e-12)[0]
    covariance = quad_vec(
        lambda s: expm(matrix * s) @ S @ S.T @ expm(matrix * s).T, 0, time, epsabs=1e-12
    )[0]
    np.testing.assert_allclose(step.matrix, expm(matrix * time), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(step.shift, mean, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(step.covariance, covariance, rtol=1e-11, atol=1e-12)


def test_moments_solve_their_differential_equations():
    mean, covariance = np.array([1.0, 0.0, -2.0]), np.diag([0.1, 0.0, 0.5])
    times = np.array([0.0, 0.2, 1.0, 3.0])

    def rhs(_, y):
        m, V = y[:3], y[3:].reshape(3, 3)
        return np.concatenate([A @ m + B, (A @ V + V @ A.T + S @ S.T).ravel()])

    start = np.concatenate([mean, covariance.ravel()])
    y = solve_ivp(rhs, (0, 3), start, t_eval=times, rtol=1e-11, atol=1e-12).y.T
    for t, row in zip(times, y, strict=True):
        got = linear_sde(A, B, S, t).moments(mean, covariance)
        np.testing.assert_allclose(got.mean, row[:3], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(got.covariance.ravel(), row[3:], rtol=1e-8, atol=1e-9)


def test_stiff_and_long_equations_reach_the_stationary_law():
    stiff = np.diag([-1e-3, -1.0, -1e6])
    step = linear_sde(stiff, B, S, 1e5)
    rates = -np.diagonal(stiff)
    covariance = S @ S.T / np.add.outer(rates, rates)
    np.testing.assert_allclose(step.covariance, covariance, rtol=1e-8, atol=1e-16)
    np.testing.assert_allclose(step.shift, B / rates, rtol=1e-8)


def test_closed_forms_of_brownian_motion_and_of_its_integral():
    t, s = 1.7, 0.3
    step = linear_sde([[0.0, 1.0], [0.0, 0.0]], [0.0, 0.5], [[0.0], [s]], t)
    np.testing.assert_allclose(step.shift, [0.25 * t**2, 0.5 * t], rtol=1e-14)
    expected = s**2 * np.array([[t**3 / 3, t**2 / 2], [t**2 / 2, t]])
    np.testing.assert_allclose(step.covariance, expected, rtol=1e-14)


def test_a_sampled_equation_has_the_stationary_law_of_the_equation():
    law = linear_sde([[-1.0]], [0.0], [[0.2]], 0.5).power(1000)
    np.testing.assert_allclose(law.covariance, [[0.02]], rtol=1e-13)
    shifted = A - np.eye(3)
    general = linear_sde(shifted, B, S, 0.5).power(1000)
    lyapunov = solve_continuous_lyapunov(shifted, -S @ S.T)
    np.testing.assert_allclose(general.covariance, lyapunov, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(shifted @ general.shift, -B, rtol=1e-12)


def test_a_recursion_is_its_own_loop():
    F, C = np.eye(3) + 0.1 * A, 0.1 * S @ S.T
    mean, covariance = np.ones(3), np.eye(3)
    for k in range(65):
        if k in (0, 1, 7, 64):
            got = linear_recursion(F, B, C).power(k).moments(np.ones(3), np.eye(3))
            np.testing.assert_allclose(got.mean, mean, rtol=1e-12)
            np.testing.assert_allclose(got.covariance, covariance, rtol=1e-12, atol=1e-14)
        mean, covariance = F @ mean + B, F @ covariance @ F.T + C


def test_euler_maruyama_has_weak_order_one_without_monte_carlo():
    start, horizon = (np.ones(3), np.zeros((3, 3))), 1.0
    exact = linear_sde(A, B, S, horizon).moments(*start)
    errors = []
    for count in 2 ** np.arange(6, 13):
        h = horizon / count
        step = linear_recursion(np.eye(3) + h * A, h * B, h * S @ S.T)
        got = step.power(count).moments(*start)
        errors.append([np.abs(a - b).max() for a, b in zip(got, exact, strict=True)])
    ratios = np.divide(errors[:-1], errors[1:])
    assert np.all(np.diff(np.abs(ratios - 2), axis=0) < 0)
    np.testing.assert_allclose(ratios[-1], 2, atol=2e-3)


@settings(max_examples=25)
@given(d=st.integers(1, 4), m=st.integers(1, 3), first=st.floats(0, 2), second=st.floats(0, 2))
def test_transitions_compose(d, m, first, second):
    rng = np.random.default_rng(d + 10 * m)
    equation = rng.standard_normal((d, d)), rng.standard_normal(d), rng.standard_normal((d, m))
    whole = linear_sde(*equation, first + second)
    parts = linear_sde(*equation, first).then(linear_sde(*equation, second))
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    assert np.linalg.eigvalsh(whole.covariance)[0] >= -1e-9 * np.abs(whole.covariance).max()


def after(steps, scale=1.0):
    """Moments after a number of steps."""
    return linear_recursion(scale * A, B, np.eye(3)).power(steps).moments(B, np.eye(3))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("A", lambda: linear_sde(np.ones((2, 3)), B, S, 1.0)),
        ("b and S", lambda: linear_sde(A, B[:2], S, 1.0)),
        ("time", lambda: linear_sde(A, B, S, -1.0)),
        ("mean", lambda: linear_sde(A, B, S, 1.0).moments([1.0], np.eye(3))),
        ("covariance", lambda: linear_sde(A, B, S, 1.0).moments(B, -np.eye(3))),
        ("covariance", lambda: linear_sde(A, B, S, 1.0).moments(B, np.eye(2))),
        ("steps", lambda: after(1.5)),
        ("steps", lambda: after(-1)),
        ("A, F", lambda: after(3, scale=1e60)),
        ("steps", lambda: linear_recursion(3 * A, B, np.eye(3)).power(10_000)),
        ("g", lambda: linear_recursion(A, B[:1], np.eye(3))),
        ("C", lambda: linear_recursion(A, B, A)),
    ],
)
def test_bad_arguments_are_named(name, call):
    with pytest.raises(ValueError, match=name):
        call()
