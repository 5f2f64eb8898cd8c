"""Idle noise: the exact laws of the sums, and the book-keeping of who has received what."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest

from dpdynamics.training.lazy_noise import LazyNoise, sum_of_normals, sum_of_signs


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("count", [1, 2, 7, 63, 64, 65, 400])
def test_sums_of_signs_are_binomial(count, seed):
    rng, size = np.random.default_rng(seed), 20_000
    heads = (sum_of_signs(rng, np.full(size // 4, count), 4).ravel() + count) / 2
    law = binom(count, 0.5)
    cuts = np.unique(law.ppf(np.linspace(0.02, 0.98, 25)))
    probabilities = np.diff(law.cdf(np.concatenate([[-1], cuts, [count]])))
    edges = np.concatenate([[-1], cuts, [count]]) + 0.5
    kept = probabilities > 1e-12
    observed = np.histogram(heads, edges)[0]
    assert observed[~kept].sum() == 0
    assert chisquare(observed[kept], size * probabilities[kept]).pvalue > 1e-5


def test_signs_of_different_rows_and_outputs_are_independent():
    draws = sum_of_signs(np.random.default_rng(0), np.full(40_000, 9), 3) / 3
    assert np.all(np.abs(np.corrcoef(draws.T) - np.eye(3)) < 5 / 200)
    assert abs(np.mean(draws[1:] * draws[:-1])) < 5 / np.sqrt(3 * 40_000)


def test_nothing_is_owed_to_what_was_just_looked_at():
    idle = LazyNoise(np.random.default_rng(0), 4, 2)
    assert np.all(idle.received(slice(None), 7, sum_of_signs) % 2 == 1)
    assert np.all(idle.received(np.array([1, 3]), 7, sum_of_signs) == 0)
    assert np.all(idle.received(np.array([1, 3]), 7, sum_of_normals) == 0)
    assert np.all(idle.received(np.array([2]), 8, sum_of_normals) != 0)


def test_normals_have_the_variance_of_the_steps_missed():
    idle = LazyNoise(np.random.default_rng(0), 40_000, 1)
    early = idle.received(np.arange(20_000), 4, sum_of_normals)
    late = idle.received(slice(None), 13, sum_of_normals)
    assert kstest(early.ravel() / 2, "norm").pvalue > 1e-4
    assert kstest(late[:20_000].ravel() / 3, "norm").pvalue > 1e-4
    assert kstest(late[20_000:].ravel() / np.sqrt(13), "norm").pvalue > 1e-4
    assert abs(np.mean(early * late[:20_000])) < 5 * 6 / np.sqrt(20_000)
