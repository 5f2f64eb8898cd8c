r"""Bags of words with labels, and a law of synthetic ones: reviews.

A document has a class c, a lognormal number of words, and words drawn independently with
probabilities proportional to :math:`p_r e^{a_{cr}}`: p the Zipf-Mandelbrot law of the language,
:math:`p_r\propto(r+s)^{-\alpha}` for rank r, and a the log-odds of words in classes. Its features
say which words occur, with a last column for the bias. The law is fitted to no corpus: orders of
magnitude carry over to real text, digits do not.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..arguments import Array, integers, one_of, text, whole

ROWS = ("multi-hot", "unit")


@dataclass(frozen=True, eq=False)
class TextData:
    """Labelled documents as sparse rows.

    `features` (n, d) is any matrix of scipy.sparse, kept as a `csr_array` of float32 with sorted
    indices, the last column the bias; `labels` (n,) are integers in 0, ..., `classes` - 1;
    `classes` is at least 2 and `name` a text for tables and captions.
    """

    features: Any
    labels: NDArray[np.int64]
    classes: int
    name: str

    def __post_init__(self) -> None:
        text("name", self.name)
        try:
            features = csr_array(self.features, dtype=np.float32)
        except (TypeError, ValueError):
            raise ValueError(f"features must be a matrix, got {type(self.features)}") from None
        features.sum_duplicates()
        if features.ndim != 2 or 0 in features.shape or not np.isfinite(features.data).all():
            raise ValueError(f"features must be finite, of shape (n, d), got {features.shape}")
        labels = integers("labels", self.labels)
        if labels.shape != features.shape[:1]:
            raise ValueError(f"labels must be {features.shape[0]} integers, got {labels.shape}")
        if labels.min() < 0 or labels.max() >= whole("classes", self.classes, minimum=2):
            raise ValueError(f"labels must lie in [0, {self.classes})")
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)

    @property
    def size(self) -> int:
        """Number n of documents."""
        return int(self.features.shape[0])

    @property
    def dimension(self) -> int:
        """Number d of columns, the bias included."""
        return int(self.features.shape[1])

    @cached_property
    def row_norms(self) -> Array:
        """Euclidean norms (n,) of the rows."""
        squares = self.features.multiply(self.features).sum(axis=1)
        return np.sqrt(np.asarray(squares, dtype=np.float64).ravel())

    def subset(self, rows: Any) -> "TextData":
        """Keep some documents; `rows` is a slice or an array of indices."""
        return replace(self, features=self.features[rows], labels=self.labels[rows])

    def with_permuted_labels(self, rng: np.random.Generator) -> "TextData":
        """Shuffle the labels among the documents: the same rows, and nothing left to learn."""
        labels = rng.permutation(self.labels)
        return replace(self, labels=labels, name=f"{self.name}, labels permuted")


def indicators(
    entries: NDArray[np.int64], columns: NDArray[np.int64], width: int, rows: str
) -> csr_array:
    """Return rows of ones in sorted columns, or the same divided by their Euclidean norm.

    `entries` (n,) are the numbers of entries of the rows, `columns` their columns.
    """
    values = 1 / np.sqrt(entries) if rows == "unit" else np.ones(len(entries))
    start = np.concatenate([[0], np.cumsum(entries)])
    data = np.repeat(values.astype(np.float32), entries)
    return csr_array((data, columns, start), shape=(len(entries), width))


@dataclass(frozen=True, eq=False)
class TextLaw:
    r"""The law of a labelled document.

    `word_probabilities` (V,) are :math:`p_r`, up to a factor, `log_odds` (classes, V) are
    :math:`a_{cr}`, and the number of words is the integer part of :math:`e^{\mu+\tau N(0,1)}`
    (`log_length_mean`, `log_length_sd`), at least `minimum_length`.
    """

    word_probabilities: Array
    log_odds: Array
    class_probabilities: Array
    log_length_mean: float
    log_length_sd: float
    minimum_length: int
    name: str

    def sample(self, rng: np.random.Generator, size: int, *, rows: str = "multi-hot") -> TextData:
        """Draw `size` documents, with rows of ones or, if `rows` is "unit", of norm 1."""
        size, rows = whole("size", size, minimum=1), one_of("rows", rows, ROWS)
        classes, words = self.log_odds.shape
        labels = rng.choice(classes, size, p=self.class_probabilities)
        logarithms = self.log_length_mean + self.log_length_sd * rng.standard_normal(size)
        lengths = np.maximum(np.exp(logarithms).astype(np.int64), self.minimum_length)
        occurring = [np.arange(size) * (words + 1) + words]  # the bias, as one more word
        for label in np.unique(labels):
            documents = np.flatnonzero(labels == label)
            tokens = rng.random(lengths[documents].sum())
            mass = np.cumsum(self.word_probabilities * np.exp(self.log_odds[label]))
            drawn = np.searchsorted(mass[:-1], tokens * mass[-1], side="right")
            place = np.repeat(documents * (words + 1), lengths[documents])
            occurring.append(place + drawn)
        keys = np.sort(np.concatenate(occurring))
        row, column = np.divmod(keys[np.diff(keys, prepend=-1) > 0], words + 1)
        features = indicators(np.bincount(row), column, words + 1, rows)
        return TextData(features, labels, classes, f"{self.name}, {rows} rows")


def review_law(rng: np.random.Generator, vocabulary: int) -> TextLaw:
    """Draw the log-odds of `movie_reviews`."""
    zipf = (np.arange(1, whole("vocabulary", vocabulary, minimum=2) + 1) + 2.7) ** -1.1
    odds = 0.5 * rng.standard_normal(vocabulary)
    odds *= rng.random(vocabulary) < 0.1
    laws = zipf / zipf.sum(), np.stack([-odds, odds]), np.ones(2) / 2
    return TextLaw(*laws, 5.1, 0.6, 10, "synthetic reviews")


def movie_reviews(
    rng: np.random.Generator,
    *,
    train_size: int = 25_000,
    test_size: int = 25_000,
    rows: str = "multi-hot",
    vocabulary: int = 10_000,
) -> tuple[TextData, TextData]:
    r"""Draw a law of two balanced classes, and training data and test data from it.

    A document has about 130 distinct words; :math:`\alpha` = 1.1 and s = 2.7. With probability 0.1
    a word has log-odds :math:`\pm\frac12N(0,1)`, plus in class 1 and minus in class 0; the other
    words have none. The sizes are those of IMDB (anon2025, Appendix C).

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the law and then the documents.
    train_size, test_size, vocabulary : int
        Numbers of documents and of words.
    rows : {"multi-hot", "unit"}
        Ones for the words that occur and for the bias, or the same divided by the Euclidean
        norm of the row.

    Examples
    --------
    >>> train, test = movie_reviews(np.random.default_rng(0), train_size=100, vocabulary=500)
    >>> train.features.shape
    (100, 501)
    """
    sizes = whole("train_size", train_size, 1), whole("test_size", test_size, 1)
    law = review_law(rng, vocabulary)
    train, test = (law.sample(rng, size, rows=rows) for size in sizes)
    return train, test
