"""The risk curve and the law against dense matrix exponentials, mpmath and general solvers."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from dpdynamics.dynamics import (
    gradient_flow,
    law,
    risk_curve,
    stability_limit,
    stationary_risk,
)
from dpdynamics.dynamics.variances import Diffusion
from dpdynamics.problems import Constant, ExponentialDecay, LeastSquares, PowerDecay

SCHEDULES = [Constant(0.7), ExponentialDecay(1.1, 0.8), PowerDecay(1.1, 0.3, 0.6)]
TIMES = np.array([0.0, 1e-6, 0.03, 0.4, 1.5, 4.0])


def solve_second_moments(problem, x0, schedule, sigma, times):
    """The plain way: the dense mean and second-moment matrices of the nonlinear equation (1).

    S = E vv' and m = E v for v = x - truth, in a random rotation so that nothing is diagonal.
    """
    d = problem.dimension
    basis, _ = np.linalg.qr(np.random.default_rng(9).standard_normal((d, d)))
    cov = basis @ np.diag(problem.eigenvalues) @ basis.T
    drift = cov + problem.ridge * np.eye(d)
    truth, start = basis @ problem.truth, basis @ (x0 - problem.truth)

    def slope(t, state):
        m, s = state[:d], state[d:].reshape(d, d)
        gamma = float(schedule(t))
        pull = problem.ridge * truth
        twice_risk = np.trace(cov @ s) + problem.label_variance
        ds = -gamma * (drift @ s + s @ drift + np.outer(pull, m) + np.outer(m, pull))
        ds += gamma**2 / d * (twice_risk * cov + sigma**2 * np.eye(d))
        return np.concatenate([-gamma * (drift @ m + pull), ds.ravel()])

    state = np.concatenate([start, np.outer(start, start).ravel()])
    solution = solve_ivp(slope, (0, times[-1]), state, t_eval=times, rtol=1e-12, atol=1e-14)
    m, s = solution.y[:d].T, solution.y[d:].T.reshape(-1, d, d)
    population = 0.5 * (np.einsum("ij,tji->t", cov, s) + problem.label_variance)
    square = np.einsum("tii->t", s) + 2 * m @ truth + truth @ truth
    covariance = np.einsum("ji,tjk,kl->til", basis, s - m[:, :, None] * m[:, None], basis)
    return population, population + problem.ridge / 2 * square, covariance


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("ridge", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("spectrum", [None, [0.0, 0.5, 0.5, 0.5, 1.0, 2.0]])
def test_risks_and_law_solve_the_second_moment_equations(make_problem, schedule, ridge, spectrum):
    problem, x0 = make_problem(ridge=ridge, spectrum=spectrum)
    population, regularized, covariance = solve_second_moments(problem, x0, schedule, 1.2, TIMES)
    curve = risk_curve(problem, x0, schedule, 1.2, TIMES)
    np.testing.assert_allclose(curve.population, population, rtol=2e-10)
    np.testing.assert_allclose(curve.regularized, regularized, rtol=2e-10)
    mean, variance = law(problem, x0, schedule, 1.2, TIMES)
    np.testing.assert_allclose(mean, gradient_flow(problem, x0, schedule, TIMES), rtol=1e-13)
    expected = variance[:, :, None] * np.eye(problem.dimension)
    np.testing.assert_allclose(covariance, expected, atol=1e-9)


def exact_risk(problem, x0, gamma, sigma, t):
    """Population risk by a 40-digit matrix exponential of the closed linear system."""
    with mpmath.workdps(40):
        d = problem.dimension
        lam = [mpmath.mpf(v) for v in problem.eigenvalues]
        truth = [mpmath.mpf(v) for v in problem.truth]
        ridge, gamma, sigma = mpmath.mpf(problem.ridge), mpmath.mpf(gamma), mpmath.mpf(sigma)
        # State: second moments of x - truth, its means, and the constant 1.
        system = mpmath.zeros(2 * d + 1)
        for i in range(d):
            a = lam[i] + ridge
            system[i, i] = -2 * gamma * a
            for j in range(d):
                system[i, j] += gamma**2 / d * lam[i] * lam[j]
            system[i, d + i] = -2 * gamma * ridge * truth[i]
            system[i, 2 * d] = (
                gamma**2 / d * (lam[i] * mpmath.mpf(problem.label_variance) + sigma**2)
            )
            system[d + i, d + i] = -gamma * a
            system[d + i, 2 * d] = -gamma * ridge * truth[i]
        v = [mpmath.mpf(a) - b for a, b in zip(x0, truth, strict=True)]
        state = mpmath.matrix([u**2 for u in v] + v + [1])
        final = mpmath.expm(system * mpmath.mpf(t)) * state
        risk = mpmath.fdot(lam, final[:d]) + mpmath.mpf(problem.label_variance)
        return float(risk / 2)


@pytest.mark.parametrize(
    ("spectrum", "ridge", "gamma"),
    [
        ([0.3, 1.0, 1.7], 0.1, 0.8),
        ([0.3, 0.3 + 1e-9, 1.7], 0.1, 0.8),  # nearly equal eigenvalues
        ([1e-8, 1.0, 1e4], 1e-3, 1e-4),  # twelve orders of magnitude
        ([0.5, 1.1, 1.1], 0.05, 1e-7),  # hardly any motion
        ([0.5, 1.1, 2.0], 0.05, 4.0),  # above the stability limit
    ],
)
def test_exponentials_reach_rounding(spectrum, ridge, gamma):
    rng = np.random.default_rng(4)
    problem = LeastSquares(spectrum, rng.standard_normal(3), 0.2, ridge)
    x0 = rng.standard_normal(3)
    curve = risk_curve(problem, x0, gamma, 1.3, [1e-3, 0.5, 7.0])
    exact = [exact_risk(problem, x0, gamma, 1.3, t) for t in curve.times]
    np.testing.assert_allclose(curve.population, exact, rtol=1e-12)


def test_the_forcing_may_resonate_with_a_mode():
    # delta is chosen so that a mode of the system, -2 a + lam^2 (one group, gamma = 1), meets -a.
    problem = LeastSquares([1.5, 1.5], [1.0, -2.0], 0.2, 1.5**2 - 1.5)
    x0 = np.array([0.5, 3.0])
    curve = risk_curve(problem, x0, 1.0, 0.9, [0.1, 1.0, 5.0])
    exact = [exact_risk(problem, x0, 1.0, 0.9, t) for t in curve.times]
    np.testing.assert_allclose(curve.population, exact, rtol=1e-13)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.01, 2), st.floats(0, 3), st.floats(0, 2))
def test_parts_are_nonnegative_and_linear_in_their_causes(seed, gamma, sigma, ridge):
    rng = np.random.default_rng(seed)
    problem = LeastSquares(rng.uniform(0, 1.5, 5), rng.standard_normal(5), rng.uniform(), ridge)
    x0 = rng.standard_normal(5)
    curve = risk_curve(problem, x0, gamma, sigma, TIMES)
    calm = risk_curve(problem, x0, gamma, 0.0, TIMES)
    twice = risk_curve(problem, x0, gamma, 2 * sigma, TIMES)
    for part in (curve.gradient_flow, curve.sampling, curve.private):
        assert np.all(part >= 0)
    np.testing.assert_array_equal(calm.private, 0)
    np.testing.assert_allclose(twice.private, 4 * curve.private, rtol=1e-12)
    np.testing.assert_array_equal(twice.sampling, curve.sampling)
    np.testing.assert_allclose(
        curve.population, curve.gradient_flow + curve.sampling + curve.private, rtol=1e-15
    )
    flow = problem.regularized_risk(gradient_flow(problem, x0, gamma, TIMES))
    assert np.all(calm.regularized >= flow * (1 - 1e-12))
    np.testing.assert_allclose(
        twice.regularized - calm.regularized,
        4 * (curve.regularized - calm.regularized),
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_parts_solve_their_own_volterra_equations(make_problem, schedule):
    """The kernels G and G' of equations (6) and (7), integrated over [0, 2] by a Gauss rule."""
    problem, x0 = make_problem(d=4, spectrum=[0.4, 0.4, 1.0, 2.0])
    nodes, weights = np.polynomial.legendre.leggauss(60)
    curve = risk_curve(problem, x0, schedule, 1.1, [*(1 + nodes), 2.0])
    lapse = schedule.integral(2.0) - schedule.integral(1 + nodes)
    flow = np.exp(-2 * np.multiply.outer(lapse, problem.curvature))
    weights = weights * schedule(1 + nodes) ** 2 / problem.dimension
    driven = {}
    for name, hessian in (("P", problem.eigenvalues), ("R", problem.curvature)):
        kernel = weights * (flow @ (problem.eigenvalues * hessian))
        noise = weights * (flow @ hessian) * 1.1**2 / 2
        driven["private", name] = kernel @ curve.private[:-1] + noise.sum()
        driven["sampling", name] = kernel @ (curve.gradient_flow + curve.sampling)[:-1]
    assert curve.private[-1] == pytest.approx(driven["private", "P"], rel=1e-9)
    assert curve.sampling[-1] == pytest.approx(driven["sampling", "P"], rel=1e-9)
    calm = risk_curve(problem, x0, schedule, 0.0, [2.0]).regularized[0]
    noisy = curve.regularized[-1]
    end = problem.regularized_risk(gradient_flow(problem, x0, schedule, [2.0])[0])
    assert noisy - calm == pytest.approx(driven["private", "R"], rel=1e-9)
    assert calm - end == pytest.approx(driven["sampling", "R"], rel=1e-9)


def test_without_sampling_kernel_only_the_private_noise_remains():
    # In the direction of no eigenvalue the variance is that of a noise-driven ridge.
    problem = LeastSquares([0.0, 1.0], [0.0, 0.0], 0.5, 0.25)
    _, variance = law(problem, np.zeros(2), 0.8, 1.5, TIMES)
    exact = 0.8 * 1.5**2 / 2 * -np.expm1(-2 * 0.8 * 0.25 * TIMES) / (2 * 0.25)
    np.testing.assert_allclose(variance[:, 0], exact, rtol=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_gradient_flow_is_the_flow(make_problem, schedule):
    problem, x0 = make_problem()
    solution = solve_ivp(
        lambda t, x: -float(schedule(t)) * problem.regularized_gradient(x),
        (0, 4),
        x0,
        t_eval=TIMES,
        rtol=1e-12,
        atol=1e-13,
        method="DOP853",
    )
    np.testing.assert_allclose(
        gradient_flow(problem, x0, schedule, TIMES), solution.y.T, rtol=1e-9, atol=1e-11
    )
    dense = expm(-np.diag(problem.curvature) * float(schedule.integral(1.5)))
    limit = np.linalg.solve(np.diag(problem.curvature), problem.eigenvalues * problem.truth)
    exact = dense @ x0 + (np.eye(6) - dense) @ limit
    np.testing.assert_allclose(gradient_flow(problem, x0, schedule, [1.5])[0], exact, atol=1e-13)


@pytest.mark.parametrize("rate", [1e-3, 0.8, 2.0])
def test_collocation_exponentials_and_integration_agree_in_high_dimension(make_problem, rate):
    # 200 distinct eigenvalues are solved by collocation; one more time, far away, by exponentials.
    problem, x0 = make_problem(d=200, spectrum=np.linspace(0.0, 1.5, 200))
    times = np.linspace(0, 1.5, 31)
    ours = risk_curve(problem, x0, rate, 0.7, times)
    exponentials = risk_curve(problem, x0, rate, 0.7, [*times, 1e4])
    integrated = risk_curve(problem, x0, PowerDecay(rate, 1.0, 0.0), 0.7, times)
    diffusion = Diffusion(problem, x0, rate, 0.7)
    assert diffusion.collocation_grid(times) is not None
    assert diffusion.collocation_grid(np.array([1e4])) is None
    for mine, theirs, slow in zip(ours[1:], exponentials[1:], integrated[1:], strict=True):
        # Exponentials subtract the decay of the start, so they round like the whole risk.
        rounding = 2e-15 * ours.population.max()
        np.testing.assert_allclose(mine, theirs[:-1], rtol=1e-12, atol=rounding)
        np.testing.assert_allclose(mine, slow, rtol=1e-9, atol=1e-14)


def test_near_the_stability_limit_many_eigenvalues_are_solved_by_exponentials(make_problem):
    problem, x0 = make_problem(d=200, spectrum=np.linspace(0.2, 1.5, 200))
    rate = 0.99 * stability_limit(problem)
    assert Diffusion(problem, x0, rate, 0.7).collocation_grid(np.array([1.0])) is None
    late = risk_curve(problem, x0, rate, 0.7, [1e4]).population
    np.testing.assert_allclose(late, stationary_risk(problem, rate, 0.7).population, rtol=1e-9)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_times_come_in_any_order_and_may_repeat(make_problem, schedule):
    problem, x0 = make_problem()
    times = np.array([1.0, 0.0, 0.2, 1.0])
    curve = risk_curve(problem, x0, schedule, 1.0, times)
    ordered = risk_curve(problem, x0, schedule, 1.0, np.unique(times))
    np.testing.assert_allclose(curve.population, ordered.population[[2, 0, 1, 2]], rtol=1e-11)
    assert curve.population[1] == pytest.approx(problem.population_risk(x0), rel=1e-14)
    assert risk_curve(problem, x0, schedule, 1.0, []).population.size == 0
    assert risk_curve(problem, x0, schedule, 1.0, [0.0]).private[0] == 0


@pytest.mark.parametrize("schedule", [5.0, PowerDecay(5.0, 1.0, 0.0)])
def test_an_overflowing_risk_is_refused(schedule):
    problem = LeastSquares([1.0, 2.0], [1.0, 1.0], 0.1, 0.0)
    with pytest.raises(ValueError, match="times"):
        risk_curve(problem, [1.0, 0.0], schedule, 1.0, [30.0])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("x0", {"x0": [1.0]}),
        ("x0", {"x0": [1.0, np.nan]}),
        ("schedule", {"schedule": "fast"}),
        ("schedule", {"schedule": -0.1}),
        ("noise_scale", {"noise_scale": -1.0}),
        ("times", {"times": [-1.0]}),
        ("times", {"times": 1.0}),
    ],
)
@pytest.mark.parametrize("function", [risk_curve, law])
def test_bad_arguments_are_named(function, name, change):
    arguments = {
        "problem": LeastSquares([1.0, 2.0], [1.0, 1.0], 0.1, 0.0),
        "x0": [0.0, 0.0],
        "schedule": 0.1,
        "noise_scale": 1.0,
        "times": [1.0],
    }
    with pytest.raises(ValueError, match=name):
        function(**(arguments | change))


def test_the_variance_of_the_risk_is_that_of_gaussian_draws(make_problem):
    problem, x0 = make_problem(seed=3)
    gaussian = law(problem, x0, 0.7, 0.9, [0.4, 2.0])
    draws = np.random.default_rng(5).standard_normal((400_000, 2, problem.dimension))
    risks = problem.population_risk(gaussian.mean + np.sqrt(gaussian.variance) * draws)
    centred = (risks - risks.mean(axis=0)) ** 2
    error = centred.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(centred.mean(axis=0) - gaussian.risk_variance(problem)) < 5 * error).all()
