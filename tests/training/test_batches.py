"""Sampling of batches: sizes, coverage and the laws of inclusion."""

import pickle

import numpy as np
import pytest

from dpdynamics.batches import Batches


def batches(n, size, sampling, seed=0):
    return Batches(n, size, sampling, np.random.default_rng(seed))


def test_a_shuffled_epoch_holds_every_record_at_most_once():
    draws = batches(23, 5, "shuffle")
    epochs = [np.concatenate([draws.draw() for _ in range(4)]) for _ in range(300)]
    assert all(len(set(epoch)) == 20 for epoch in epochs)
    left_out = [set(range(23)) - set(epoch) for epoch in epochs]
    counts = np.bincount([record for records in left_out for record in records], minlength=23)
    assert np.all(np.abs(counts - 300 * 3 / 23) < 5 * np.sqrt(300 * 3 / 23))
    assert len({tuple(epoch) for epoch in epochs}) == 300


@pytest.mark.parametrize("sampling", ["fixed", "poisson"])
def test_inclusion_is_uniform_and_pairs_have_their_law(sampling):
    n, size, repeats = 8, 3, 20_000
    draws = batches(n, size, sampling)
    included = np.zeros((repeats, n))
    for row in included:
        batch = draws.draw()
        assert len(set(batch)) == len(batch)
        row[batch] = 1
    q = size / n
    counts = included.sum(axis=1)
    assert np.all(np.abs(included.mean(axis=0) - q) < 5 * np.sqrt(q * (1 - q) / repeats))
    pair = size * (size - 1) / (n * (n - 1)) if sampling == "fixed" else q**2
    pairs = (included.T @ included / repeats)[np.triu_indices(n, 1)]
    assert np.all(np.abs(pairs - pair) < 5 * np.sqrt(pair * (1 - pair) / repeats))
    assert counts.var() == pytest.approx(0 if sampling == "fixed" else n * q * (1 - q), rel=0.06)


@pytest.mark.parametrize("sampling", ["shuffle", "fixed", "poisson"])
def test_a_pickled_copy_goes_on_alike(sampling):
    draws = batches(30, 7, sampling)
    draws.draw()
    copy = pickle.loads(pickle.dumps(draws))
    for _ in range(12):
        np.testing.assert_array_equal(draws.draw(), copy.draw())


@pytest.mark.parametrize("sampling", ["shuffle", "fixed", "poisson"])
def test_a_full_batch_is_everything(sampling):
    assert sorted(batches(5, 5, sampling).draw()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("size", (0, 1, "fixed")),
        ("batch_size", (5, 0, "fixed")),
        ("batch_size", (5, 6, "fixed")),
        ("sampling", (5, 1, "cyclic")),
    ],
)
def test_bad_input(name, arguments):
    with pytest.raises(ValueError, match=name):
        batches(*arguments)
