"""Problems: what is trained.

Least squares seen through its population (eigenvalues, truth, label variance, ridge), quadratic
statistics of an iterate, laws of features and labels, learning-rate schedules, and the two settings
that the chapters on least squares share. Classification: laws of synthetic texts. First
floor: imports no other room.

Everything about least squares is written in the eigenbasis of the second moment of the features:
a vector is rotated once, when it is drawn, and every matrix of the theory is then diagonal.
An argument that has a wrong shape or is outside its range raises ValueError with its name.
"""

from .designs import GaussianDesign, GaussianLabelNoise
from .least_squares import LeastSquares, QuadraticStatistic
from .presets import Setting, literal_preset, theory_preset
from .schedules import (
    CappedDecay,
    Constant,
    ExponentialDecay,
    InverseTimeDecay,
    PolynomialDecay,
    PowerDecay,
)
from .text import TextData, movie_reviews

__all__ = [
    "CappedDecay",
    "Constant",
    "ExponentialDecay",
    "GaussianDesign",
    "GaussianLabelNoise",
    "InverseTimeDecay",
    "LeastSquares",
    "PolynomialDecay",
    "PowerDecay",
    "QuadraticStatistic",
    "Setting",
    "TextData",
    "literal_preset",
    "movie_reviews",
    "theory_preset",
]
