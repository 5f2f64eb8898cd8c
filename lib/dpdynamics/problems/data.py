"""Bundled real data."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import Array


@dataclass(frozen=True)
class Records:
    """Real data, arrays read-only.

    Attributes
    ----------
    features : array of shape (n, d)
    labels : array of shape (n,)
        Numbers; of a classification the integers of the classes, from 0, or, of two classes made
        by :meth:`two_classes`, -1 and 1.
    names : tuple of d str
        What the features are called.
    classes : tuple of str
        What the classes are called, in the order of their labels.
    """

    features: Array
    labels: NDArray[Any]
    names: tuple[str, ...]
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.features.flags.writeable = self.labels.flags.writeable = False

    def two_classes(self, first: int | Collection[int], second: int | Collection[int]) -> "Records":
        """Return the records of two sides: those of `first` labelled -1, those of `second` 1.

        A side is a class or a collection of classes; classes of neither side are left out.
        ValueError if a side has no class, if a class is unknown, or on both sides.

        Examples
        --------
        >>> digits().two_classes(3, 8).features.shape
        (357, 64)
        >>> digits().two_classes({0, 2, 4, 6, 8}, {1, 3, 5, 7, 9}).classes
        ('0 or 2 or 4 or 6 or 8', '1 or 3 or 5 or 7 or 9')
        """
        sides = [
            sorted({side} if isinstance(side, int | np.integer) else set(side))
            for side in (first, second)
        ]
        known = np.unique(self.labels).tolist()
        for name, side in zip(("first", "second"), sides, strict=True):
            if not side or not set(side) <= set(known):
                raise ValueError(f"{name} must be among the labels {known}, got {side}")
        if both := set(sides[0]) & set(sides[1]):
            raise ValueError(f"second must differ from first, both hold {sorted(both)}")
        sign = np.isin(self.labels, sides[1]).astype(np.int64) - np.isin(self.labels, sides[0])
        kept = sign != 0
        names = [" or ".join(self.classes[known.index(label)] for label in side) for side in sides]
        return Records(self.features[kept], sign[kept], self.names, tuple(names))


def _table(file: str, classes: tuple[str, ...] = ()) -> Records:
    """Read a bundled table, whose last column is the label."""
    with (files(__package__) / file).open(encoding="utf-8") as lines:
        names = next(lines).strip().split(",")
        table = np.loadtxt(lines, delimiter=",")
    labels = table[:, -1].astype(np.int64 if classes else np.float64)
    return Records(table[:, :-1], labels, tuple(names[:-1]), classes)


@cache
def diabetes() -> Records:
    """Load the diabetes data: 442 patients, ten features, raw units.

    Age (years), sex (1 or 2), body mass index, blood pressure and six serum measurements; the
    label is a measure of the progression of the disease one year later (25 to 346).

    References
    ----------
    Efron, Hastie, Johnstone, Tibshirani, "Least angle regression", Annals of Statistics 32 (2004),
    407-499.

    Examples
    --------
    >>> diabetes().features.shape
    (442, 10)
    """
    return _table("diabetes.csv")


@cache
def breast_cancer() -> Records:
    """Load the breast cancer data: 569 tumours, 30 features, raw units.

    Ten measurements of the nuclei of the cells (radius, texture, perimeter, area, ...):
    mean, standard error and "worst" (mean of the three largest). Label 0 is malignant (212
    records), 1 benign (357).

    References
    ----------
    Wolberg, Mangasarian, Street, Street, "Breast Cancer Wisconsin (Diagnostic)", UCI Machine
    Learning Repository (1993), doi:10.24432/C5DW2B, CC BY 4.0; scikit-learn's copy.

    Examples
    --------
    >>> breast_cancer().classes
    ('malignant', 'benign')
    """
    return _table("breast_cancer.csv", ("malignant", "benign"))


@cache
def digits() -> Records:
    """Load the digits: 1797 handwritten digits, 8 by 8 pixels from 0 to 16.

    A pixel counts the ink in a block of 4 by 4; rows of the image one after the other. About half
    of the pixels are 0. The label is the digit.

    References
    ----------
    Alpaydin, Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository
    (1998), doi:10.24432/C50P49, CC BY 4.0; scikit-learn's copy of its test part.

    Examples
    --------
    >>> digits().features[0].reshape(8, 8)[0]
    array([ 0.,  0.,  5., 13.,  9.,  1.,  0.,  0.])
    """
    with (files(__package__) / "digits.npz").open("rb") as stream, np.load(stream) as arrays:
        features, labels = arrays["features"].astype(np.float64), arrays["labels"].astype(np.int64)
    names = tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8))
    return Records(features, labels, names, tuple("0123456789"))
