"""Synthetic bags of words: the law that is documented, and the form of what is drawn."""

import inspect

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import kstest

from dpdynamics.problems.text import (
    TextData,
    TextLaw,
    movie_reviews,
    review_law,
)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("seed", [0, 1])
def test_words_occur_with_the_probabilities_of_their_class(seed):
    """Documents of fixed length L: word r occurs with probability 1 - (1 - q_r)^L."""
    odds = np.array([[0.0, 1.0, -1.0, 0.0], [0.5, 0.0, 0.0, -2.0], [0.0, 0.0, 3.0, 0.0]])
    p, length = np.array([0.4, 0.3, 0.2, 0.1]), 3
    law = TextLaw(p, odds, np.array([1.0, 2.0, 1.0]) / 4, np.log(length) + 1e-9, 0.0, 1, "small")
    data = law.sample(rng(seed), 40_000)
    q = p * np.exp(odds)
    q /= q.sum(axis=1, keepdims=True)
    counts = np.bincount(data.labels, minlength=3)
    np.testing.assert_allclose(counts / 40_000, [0.25, 0.5, 0.25], atol=5 * 0.5 / 200)
    for label in range(3):
        rows = data.features[data.labels == label].toarray()
        assert np.all(rows[:, -1] == 1)
        expected = 1 - (1 - q[label]) ** length
        error = np.sqrt(expected * (1 - expected) / counts[label])
        assert np.all(np.abs(rows[:, :-1].mean(axis=0) - expected) < 5 * error)


def test_lengths_are_lognormal():
    """With very many equally likely words nearly all words of a document are distinct."""
    words = 2_000_000
    law = TextLaw(np.ones(words), np.zeros((2, words)), np.ones(2) / 2, 5.1, 0.6, 10, "flat")
    entries = np.diff(law.sample(rng(), 4000).features.indptr) - 1
    z = (np.log(entries + 0.5) - 5.1) / 0.6
    assert kstest(z[entries > 20], "norm").pvalue > 1e-3
    assert entries.min() >= 10


def test_zipf_mandelbrot_law():
    law = review_law(rng(), 1000)
    ratio = law.word_probabilities[[0, 9, 999]] / law.word_probabilities[0]
    np.testing.assert_allclose(ratio, (np.array([3.7, 12.7, 1002.7]) / 3.7) ** -1.1)
    assert law.word_probabilities.sum() == pytest.approx(1)


def test_log_odds_of_reviews_are_opposite_and_sparse():
    odds = review_law(rng(), 10_000).log_odds
    np.testing.assert_array_equal(odds[0], -odds[1])
    informative = odds[1][odds[1] != 0]
    assert abs(informative.size - 1000) < 5 * np.sqrt(900)
    assert informative.std() == pytest.approx(0.5, rel=0.12)


def test_size_of_a_review_is_that_of_the_prototype():
    train, _ = movie_reviews(rng(), train_size=2000, test_size=1)
    entries = np.diff(train.features.indptr)
    assert train.dimension == 10_001
    assert 125 < entries.mean() < 142
    assert 112 < np.median(entries) < 126


def test_defaults_are_those_of_the_papers_data():
    given = inspect.signature(movie_reviews).parameters
    assert (given["train_size"].default, given["test_size"].default) == (25_000, 25_000)
    assert given["vocabulary"].default == 10_000


def test_unit_rows_are_the_multi_hot_rows_over_their_norms():
    sizes = {"train_size": 50, "test_size": 20, "vocabulary": 300}
    unit, hot = (movie_reviews(rng(3), rows=rows, **sizes) for rows in ("unit", "multi-hot"))
    for one, other in zip(unit, hot, strict=True):
        np.testing.assert_allclose(one.row_norms, 1, rtol=1e-6)
        np.testing.assert_array_equal(other.features.data, 1)
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_allclose(
            one.features.toarray() * other.row_norms[:, None],
            other.features.toarray(),
            rtol=1e-6,
        )
        assert one.features.dtype == np.float32
        assert one.features.has_sorted_indices


def test_train_and_test_follow_one_law_but_differ():
    train, test = movie_reviews(rng(), train_size=4000, test_size=4000, vocabulary=50)
    difference = (train.features - test.features).sum(axis=0) / 4000
    assert np.all(np.abs(difference) < 5 * np.sqrt(0.5 / 4000))
    signal = [
        d.features[d.labels == 1].mean(axis=0) - d.features[d.labels == 0].mean(axis=0)
        for d in (train, test)
    ]
    assert np.corrcoef(*signal)[0, 1] > 0.8
    assert (train.features != test.features).nnz > 0


def test_permuted_labels_leave_rows_and_counts_and_no_signal():
    train, _ = movie_reviews(rng(), train_size=4000, test_size=1, vocabulary=50)
    null = train.with_permuted_labels(rng(1))
    assert (null.features != train.features).nnz == 0
    np.testing.assert_array_equal(np.bincount(null.labels), np.bincount(train.labels))
    gap = null.features[null.labels == 1].mean(axis=0) - null.features[null.labels == 0].mean(0)
    assert np.all(np.abs(gap) < 5 * 0.5 * 2 / np.sqrt(4000))
    assert "permuted" in null.name


def test_one_generator_state_gives_one_sample():
    one, two = (movie_reviews(rng(5), train_size=30, test_size=5, vocabulary=40) for _ in range(2))
    assert (one[0].features != two[0].features).nnz == 0
    np.testing.assert_array_equal(one[1].labels, two[1].labels)


def test_subset():
    train, _ = movie_reviews(rng(), train_size=30, test_size=5, vocabulary=40)
    part = train.subset(np.array([4, 2]))
    np.testing.assert_array_equal(part.features.toarray(), train.features.toarray()[[4, 2]])
    np.testing.assert_array_equal(part.labels, train.labels[[4, 2]])


FEATURES, LABELS = csr_array(np.eye(3)), np.array([0, 1, 1])


@pytest.mark.parametrize(
    ("message", "features", "labels", "classes"),
    [
        ("labels", FEATURES, LABELS[:2], 2),
        ("labels", FEATURES, LABELS.astype(float), 2),
        ("labels", FEATURES, LABELS + 1, 2),
        ("labels", FEATURES, LABELS - 1, 2),
        ("classes", FEATURES, LABELS * 0, 1),
        ("features", csr_array(np.full((3, 3), np.inf)), LABELS, 2),
        ("features", csr_array((0, 3)), LABELS[:0], 2),
    ],
)
def test_bad_data(message, features, labels, classes):
    with pytest.raises(ValueError, match=message):
        TextData(features, labels, classes, "name")


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("size", lambda law: law.sample(rng(), 0)),
        ("rows", lambda law: law.sample(rng(), 1, rows="counts")),
        ("vocabulary", lambda law: review_law(rng(), 1)),
    ],
)
def test_bad_law(name, make):
    with pytest.raises(ValueError, match=name):
        make(review_law(rng(), 20))
