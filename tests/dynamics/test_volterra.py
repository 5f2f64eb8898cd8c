"""The trapezoidal solution of the Volterra equations converges to the risk curve."""

import numpy as np
import pytest

from dpdynamics.dynamics.homogenized import risk_curve
from dpdynamics.dynamics.volterra import (
    risk_curve_volterra,
    solve_volterra,
    trapezoid,
    volterra_kernels,
)
from dpdynamics.problems import Constant, ExponentialDecay, LeastSquares

SPECTRUM = [0.4, 0.4, 1.0, 2.0]


@pytest.mark.parametrize("schedule", [0.9, ExponentialDecay(1.2, 0.5)])
def test_trapezoid_converges_to_the_risk_curve_at_second_order(make_problem, schedule):
    problem, x0 = make_problem(d=4, spectrum=SPECTRUM)
    errors = []
    for nodes in (51, 101, 201):
        times = np.linspace(0, 2, nodes)
        curve = risk_curve(problem, x0, schedule, 1.1, times)
        population, regularized = risk_curve_volterra(problem, x0, schedule, 1.1, times)
        errors.append(
            [
                np.abs(population - curve.population).max(),
                np.abs(regularized - curve.regularized).max(),
            ]
        )
    assert np.all(np.array(errors[-1]) < 1e-4)
    np.testing.assert_allclose(np.divide(errors[0], errors[1]), 4, rtol=0.05)
    np.testing.assert_allclose(np.divide(errors[1], errors[2]), 4, rtol=0.05)


def test_parts_solve_their_own_volterra_equations(make_problem):
    problem, x0 = make_problem(d=4, spectrum=SPECTRUM)
    times = np.linspace(0, 2, 401)
    curve = risk_curve(problem, x0, 0.9, 1.1, times)
    t, s = np.maximum.outer(times, times), np.minimum.outer(times, times)
    sampling, private = volterra_kernels(problem, Constant(0.9), 1.1, t, s, problem.eigenvalues)
    # For a constant rate the private forcing has the primitive sum_i (1 - e^{-2 g a t}) / (2 g a).
    rates = 2 * 0.9 * problem.curvature
    primitive = -np.expm1(-np.multiply.outer(times, rates)) / rates @ problem.eigenvalues
    forcing = 1.1**2 * 0.9**2 / (2 * problem.dimension) * primitive
    integral = trapezoid(sampling, times)
    np.testing.assert_allclose(solve_volterra(forcing, integral), curve.private, rtol=1e-4)
    both = solve_volterra(curve.gradient_flow, integral) - curve.gradient_flow
    np.testing.assert_allclose(both, curve.sampling, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(private[:, 0], private[0, 0] * _decay(problem, times), rtol=1e-12)


def _decay(problem, times):
    flow = np.exp(-2 * 0.9 * np.multiply.outer(times, problem.curvature))
    return flow @ problem.eigenvalues / problem.eigenvalues.sum()


def test_kernels_are_the_printed_traces(make_problem):
    problem, _ = make_problem(d=5)
    schedule = ExponentialDecay(1.2, 0.5)
    cov, drift = np.diag(problem.eigenvalues), np.diag(problem.curvature)
    t, s = 1.3, 0.4
    elapsed = float(schedule.integral(t) - schedule.integral(s))
    flow = np.diag(np.exp(-np.diag(drift) * elapsed))
    for hessian in (problem.eigenvalues, problem.curvature):
        ours = volterra_kernels(problem, schedule, 0.7, t, s, hessian)
        gamma2 = float(schedule(s)) ** 2
        m = np.diag(hessian)
        exact = (
            gamma2 / 5 * np.trace(cov @ m @ flow @ flow),
            0.7**2 * gamma2 / 10 * np.trace(m @ flow @ flow),
        )
        np.testing.assert_allclose(ours, exact, rtol=1e-13)


def test_solver_reproduces_the_exponential():
    times = np.linspace(0, 1, 401)
    y = solve_volterra(np.ones(401), trapezoid(np.ones((401, 401)), times))
    np.testing.assert_allclose(y, np.exp(times), rtol=1e-6)


def test_solver_accepts_uneven_times():
    times = np.linspace(0, 1, 801) ** 2
    y = solve_volterra(np.ones(801), trapezoid(np.ones((801, 801)), times))
    np.testing.assert_allclose(y, np.exp(times), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("times", lambda p: risk_curve_volterra(p, [0.0], 1.0, 1.0, [0.1, 0.2])),
        ("times", lambda p: risk_curve_volterra(p, [0.0], 1.0, 1.0, [0.0, 0.0])),
        ("times", lambda p: risk_curve_volterra(p, [0.0], 9.0, 1.0, [0.0, 1.0])),
        ("noise_scale", lambda p: risk_curve_volterra(p, [0.0], 1.0, -1.0, [0.0, 1.0])),
        ("x0", lambda p: risk_curve_volterra(p, [0.0, 1.0], 1.0, 1.0, [0.0, 1.0])),
    ],
)
def test_bad_arguments_are_named(name, call):
    with pytest.raises(ValueError, match=name):
        call(LeastSquares([1.0], [1.0], 0.1, 0.0))
