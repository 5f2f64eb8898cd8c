"""The vectorised algorithm against a literal loop and against exact moments."""

from dataclasses import replace

import numpy as np
import pytest

from dpdynamics.dynamics import conditional_law, gaussian_moment_recursion, noisy_sgd
from dpdynamics.problems import Constant, PowerDecay, literal_preset, theory_preset


@pytest.fixture(name="setting")
def fixture_setting():
    return theory_preset(np.random.default_rng(0), 12)


def literal_loop(setting, a, b, clip_norm=None):
    """Algorithm 1 line by line, without private noise."""
    x, path = setting.x0.copy(), [setting.x0.copy()]
    for k in range(setting.steps):
        gradient = a[k] * (a[k] @ x - b[k]) + setting.problem.ridge * x
        if clip_norm is not None:
            gradient = gradient * min(1, clip_norm / np.linalg.norm(gradient))
        x = x - setting.learning_rates[k] * gradient
        path.append(x.copy())
    return np.array(path)


@pytest.mark.parametrize("clip_norm", [None, 0.5, 1e9])
def test_without_noise_it_is_algorithm_1(setting, clip_norm):
    setting = replace(setting, schedule=PowerDecay(1.1, 0.4, 0.7))
    data = setting.sample_data(np.random.default_rng(1), setting.steps)
    path = literal_loop(setting, *data, clip_norm=clip_norm)
    runs = noisy_sgd(
        setting,
        rng=np.random.default_rng(2),
        replicates=3,
        noise_scale=0.0,
        clip_norm=clip_norm,
        data=data,
    )
    for row in range(3):
        np.testing.assert_allclose(runs.final[row], path[-1], rtol=1e-12)
    np.testing.assert_allclose(runs.population[0], setting.problem.population_risk(path))
    np.testing.assert_allclose(runs.regularized[0], setting.problem.regularized_risk(path))
    np.testing.assert_array_equal(runs.checkpoints, np.arange(setting.steps + 1))


def test_given_the_data_iterates_follow_the_conditional_law(setting):
    data = setting.sample_data(np.random.default_rng(1), setting.steps)
    n = 20_000
    final = noisy_sgd(
        setting, rng=np.random.default_rng(3), replicates=n, checkpoints=[], data=data
    ).final
    mean, covariance = conditional_law(
        *data, setting.x0, setting.learning_rates, setting.noise_scale, setting.problem.ridge
    )
    white = np.linalg.solve(np.linalg.cholesky(covariance), (final - mean).T)
    # 12 means and 78 second moments: 4.9 standard errors each keeps false alarms below 1e-4.
    assert np.abs(white.mean(axis=1)).max() < 4.9 / np.sqrt(n)
    error = white @ white.T / n - np.eye(12)
    assert np.abs(error / np.sqrt(1 + np.eye(12))).max() < 4.9 / np.sqrt(n)


def test_fresh_data_has_the_exact_mean_risk(setting):
    n = 20_000
    runs = noisy_sgd(
        setting, rng=np.random.default_rng(4), replicates=n, checkpoints=[0, 1, 5, setting.steps]
    )
    exact = gaussian_moment_recursion(
        setting.problem, setting.x0, setting.learning_rates, setting.noise_scale
    )
    for ours, theirs in (
        (runs.population, exact.population),
        (runs.regularized, exact.regularized),
    ):
        error = ours.mean(axis=0) - theirs[[0, 1, 5, setting.steps]]
        assert np.all(np.abs(error) <= 4.5 * ours.std(axis=0) / np.sqrt(n) + 1e-12)


def test_replicates_do_not_share_their_randomness(setting):
    final = noisy_sgd(setting, rng=np.random.default_rng(5), replicates=2, noise_scale=0.0).final
    assert not np.allclose(final[0], final[1])


def test_the_same_seed_gives_the_same_runs(setting):
    one, two = (noisy_sgd(setting, rng=np.random.default_rng(6)).final for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_clipping_bounds_every_step():
    setting = literal_preset(np.random.default_rng(0), dimension=20, samples=30)
    a, b = setting.sample_data(np.random.default_rng(1), 30)
    path = [setting.x0]
    for k in range(1, 31):
        first = replace(setting, steps=k)
        runs = noisy_sgd(
            first,
            rng=np.random.default_rng(1),
            noise_scale=0.0,
            clip_norm=0.1,
            data=(a[:k], b[:k]),
        )
        path.append(runs.final[0])
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert np.all(steps <= 0.05 * 0.1 * (1 + 1e-12))
    assert steps.max() == pytest.approx(0.05 * 0.1)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("replicates", {"replicates": 0}),
        ("checkpoints", {"checkpoints": [0, 99]}),
        ("checkpoints", {"checkpoints": [3, 2]}),
        ("checkpoints", {"checkpoints": [0.5]}),
        ("noise_scale", {"noise_scale": -1.0}),
        ("clip_norm", {"clip_norm": 0.0}),
        (r"data\[0\]", {"data": (np.zeros((3, 12)), np.zeros(18))}),
        (r"data\[1\]", {"data": (np.zeros((18, 12)), np.zeros(3))}),
    ],
)
def test_bad_arguments_are_named(setting, name, change):
    with pytest.raises(ValueError, match=name):
        noisy_sgd(setting, rng=np.random.default_rng(0), **change)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_an_exploding_run_is_refused(setting):
    wild = replace(setting, schedule=Constant(1e90))
    with pytest.raises(ValueError, match="overflow at step"):
        noisy_sgd(wild, rng=np.random.default_rng(0))
