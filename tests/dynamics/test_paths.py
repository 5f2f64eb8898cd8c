"""Euler-Maruyama paths against the exact moments of their own scheme and the risk curve."""

import numpy as np
import pytest

from dpdynamics.dynamics import gradient_flow, hsgd_paths, risk_curve
from dpdynamics.problems import ExponentialDecay

TIMES = np.array([0.0, 0.3, 0.5, 1.2])


def scheme_risk(problem, x0, schedule, sigma, times, step):
    """Exact expected population risk of the Euler-Maruyama scheme (all steps equal)."""
    lam, ridge, d = problem.eigenvalues, problem.ridge, problem.dimension
    mean = x0 - problem.truth
    second, now, risks = mean**2, 0, []
    for target in np.rint(times / step).astype(int):
        for k in range(now, target):
            gamma = float(schedule(k * step))
            shrink = 1 - gamma * step * (lam + ridge)
            push = -gamma * step * ridge * problem.truth
            twice_risk = lam @ second + problem.label_variance
            second = shrink**2 * second + 2 * shrink * mean * push + push**2
            second += gamma**2 * step / d * (twice_risk * lam + sigma**2)
            mean = shrink * mean + push
        now = target
        risks.append(0.5 * (lam @ second + problem.label_variance))
    return np.array(risks)


def test_paths_have_the_mean_risk_of_the_scheme_and_tend_to_the_curve(make_problem):
    problem, x0 = make_problem()
    schedule, n = ExponentialDecay(0.9, 0.4), 20_000
    paths = hsgd_paths(
        problem,
        x0,
        schedule,
        1.1,
        TIMES,
        rng=np.random.default_rng(0),
        max_step=0.05,
        replicates=n,
    )
    exact = scheme_risk(problem, x0, schedule, 1.1, TIMES, 0.05)
    error = paths.population.mean(axis=0) - exact
    assert np.all(np.abs(error) <= 4.5 * paths.population.std(axis=0) / np.sqrt(n) + 1e-12)
    curve = risk_curve(problem, x0, schedule, 1.1, TIMES).population
    gaps = [
        np.abs(scheme_risk(problem, x0, schedule, 1.1, TIMES, h) - curve).max()
        for h in (0.02, 0.01, 0.005)
    ]
    np.testing.assert_allclose(np.divide(gaps[:-1], gaps[1:]), 2, rtol=0.1)


def test_without_any_noise_paths_follow_the_gradient_flow(make_problem):
    problem, x0 = make_problem(spectrum=np.zeros(6), ridge=0.5)
    paths = hsgd_paths(
        problem, x0, 0.8, 0.0, [1.0], rng=np.random.default_rng(0), max_step=1e-4, replicates=2
    )
    np.testing.assert_allclose(paths.final[1], gradient_flow(problem, x0, 0.8, [1.0])[0], rtol=1e-4)
    np.testing.assert_array_equal(paths.regularized[:, 0], problem.regularized_risk(paths.final))


def test_risks_at_time_zero_are_those_of_the_start(make_problem):
    problem, x0 = make_problem()
    paths = hsgd_paths(
        problem, x0, 0.5, 1.0, [0.0, 0.0], rng=np.random.default_rng(0), max_step=0.1
    )
    np.testing.assert_allclose(paths.population, problem.population_risk(x0))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("times", {"times": [1.0, 0.5]}),
        ("max_step", {"max_step": 0.0}),
        ("replicates", {"replicates": 0}),
        ("noise_scale", {"noise_scale": -1.0}),
        ("x0", {"x0": [1.0]}),
    ],
)
def test_bad_arguments_are_named(make_problem, name, change):
    problem, x0 = make_problem()
    arguments = {
        "problem": problem,
        "x0": x0,
        "schedule": 0.1,
        "noise_scale": 1.0,
        "times": [1.0],
        "rng": np.random.default_rng(0),
        "max_step": 0.1,
    }
    with pytest.raises(ValueError, match=name):
        hsgd_paths(**(arguments | change))


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
def test_an_exploding_path_is_refused(make_problem):
    problem, x0 = make_problem()
    with pytest.raises(ValueError, match="max_step"):
        hsgd_paths(problem, x0, 1e90, 1.0, [10.0], rng=np.random.default_rng(0), max_step=1.0)
