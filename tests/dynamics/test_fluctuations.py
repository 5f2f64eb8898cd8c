"""Backward quadratics against the risk curve and the law; fluctuations against exact moments."""

import numpy as np
import pytest

from dpdynamics.dynamics import (
    backward_quadratics,
    fluctuations,
    isotropic_hsgd,
    isotropic_sgd,
    law,
    risk_curve,
)
from dpdynamics.problems import ExponentialDecay, LeastSquares


@pytest.mark.parametrize("schedule", [0.7, ExponentialDecay(0.9, 0.5)])
def test_the_backward_quadratic_starts_at_the_expected_risk(make_problem, schedule):
    problem, x0 = make_problem(d=6)
    back = backward_quadratics(problem, schedule, 0.6, problem.eigenvalues, np.zeros(6), [0, 1, 2])
    v = x0 - problem.truth
    start = 0.5 * v**2 @ back.h[0] + back.u[0] @ v + back.c[0] + problem.label_variance / 2
    curve = risk_curve(problem, x0, schedule, 0.6, [2.0])
    assert start == pytest.approx(curve.population[0], rel=1e-7)


def test_linear_statistics_of_the_diffusion_are_exact(make_problem):
    problem, x0 = make_problem(d=6)
    u = np.arange(6.0)
    parts = fluctuations(problem, x0, 0.7, 0.6, np.zeros(6), u, 1.5)
    exact = 6 * law(problem, x0, 0.7, 0.6, [1.5]).variance[0] @ u**2
    assert parts.diffusion == pytest.approx(exact, rel=1e-7)
    assert parts.random_length == 0


@pytest.mark.parametrize("gamma", [0.3, 1.2])
def test_fluctuations_are_the_limit_of_exact_moments(gamma):
    d = 20_000
    problem = LeastSquares(np.ones(40), np.zeros(40), 0.25, 0.0)
    parts = fluctuations(problem, np.eye(40)[0], gamma, 0.7, np.ones(40), np.zeros(40), 1.0)
    exact = isotropic_sgd(d, d, gamma, 0.7, 0.25), isotropic_hsgd(d, 1.0, gamma, 0.7, 0.25)
    assert d * exact[0].risk_variance == pytest.approx(sum(parts), rel=0.05)
    assert d * exact[1].risk_variance == pytest.approx(parts.diffusion, rel=0.05)


def test_a_direction_with_spectrum_ridge_and_decay_against_runs(make_problem):
    problem, x0 = make_problem(d=40)
    schedule, rng, runs = ExponentialDecay(0.9, 0.5), np.random.default_rng(5), 20_000
    x = np.tile(x0, (runs, 1))
    for k in range(40):
        a = rng.standard_normal((runs, 40)) * np.sqrt(problem.eigenvalues)
        noise = np.sqrt(problem.label_variance) * rng.standard_normal(runs)
        residual = np.sum(a * (x - problem.truth), axis=1) - noise
        gradient = a * residual[:, None] + problem.ridge * x
        gradient += 0.6 * rng.standard_normal((runs, 40))
        x -= schedule(k / 40) / 40 * gradient
    u = x.mean(axis=0) - problem.truth
    u /= np.linalg.norm(u)
    parts = fluctuations(problem, x0, schedule, 0.6, np.zeros(40), u, 1.0)
    measured = 40 * (x @ u).var()
    assert measured == pytest.approx(parts.diffusion + parts.rank_one, rel=0.1)
    assert measured > 1.15 * parts.diffusion


def test_bad_input(make_problem):
    problem, x0 = make_problem(d=6)
    with pytest.raises(ValueError, match="times"):
        backward_quadratics(problem, 0.5, 0.1, np.ones(6), np.ones(6), [1.0, 0.5])
    with pytest.raises(ValueError, match="h must"):
        backward_quadratics(problem, 0.5, 0.1, np.ones(5), np.ones(6), [0.0, 0.5])
    with pytest.raises(ValueError, match="time"):
        fluctuations(problem, x0, 0.5, 0.1, np.ones(6), np.ones(6), 0.0)


@pytest.mark.parametrize("change", [{"time": 1e90}, {"schedule": 1e90}, {"noise_scale": 1e90}])
def test_far_numbers_neither_hang_nor_give_nan(make_problem, change):
    problem, x0 = make_problem(d=2)
    good = {"schedule": 0.5, "noise_scale": 0.5, "h": x0, "u": x0, "time": 1.0}
    with pytest.raises(ValueError, match=next(iter(change))):
        fluctuations(problem, x0, **good | change)
