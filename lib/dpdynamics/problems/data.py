"""Bundled real data."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from ..arguments import Array


@dataclass(frozen=True)
class Regression:
    """Records of a regression: features (n, d), labels (n,), and the d names of the features."""

    features: Array
    labels: Array
    names: tuple[str, ...]


@cache
def diabetes() -> Regression:
    """Load the diabetes data: 442 patients, ten features, raw units, arrays read-only.

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
    source = files(__package__) / "diabetes.csv"
    with source.open(encoding="utf-8") as lines:
        names = tuple(next(lines).strip().split(","))
        table = np.loadtxt(lines, delimiter=",")
    table.flags.writeable = False
    return Regression(table[:, :-1], table[:, -1], names[:-1])
