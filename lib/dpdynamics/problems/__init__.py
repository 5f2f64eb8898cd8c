"""Problems: what is trained.

Least squares seen through its population (eigenvalues, truth, label variance, ridge), quadratic
statistics of an iterate, laws of features and labels, learning-rate schedules, and the two settings
that the chapters on least squares share. Classification: bundled real data, loaders for movie
reviews and posts, and laws of synthetic texts. First floor: imports no other room.

Everything about least squares is written in the eigenbasis of the second moment of the features:
a vector is rotated once, when it is drawn, and every matrix of the theory is then diagonal.
"""

from .data import Classification, Regression, breast_cancer, diabetes, digits
from .designs import GaussianDesign, GaussianLabelNoise, RademacherDesign, UniformDesign
from .least_squares import LeastSquares, QuadraticStatistic
from .pass_schedules import CappedDecay, InverseTimeDecay, PassSchedule, PolynomialDecay
from .presets import Setting, literal_preset, theory_preset
from .reviews import load_posts, load_reviews
from .schedules import (
    Constant,
    ExponentialDecay,
    PowerDecay,
    Schedule,
    as_schedule,
)
from .text import (
    BagOfWordsLaw,
    TextData,
    movie_review_law,
    movie_reviews,
    stack_overflow,
    stack_overflow_law,
)

__all__ = [
    "BagOfWordsLaw",
    "CappedDecay",
    "Classification",
    "Constant",
    "ExponentialDecay",
    "GaussianDesign",
    "GaussianLabelNoise",
    "InverseTimeDecay",
    "LeastSquares",
    "PassSchedule",
    "PolynomialDecay",
    "PowerDecay",
    "QuadraticStatistic",
    "RademacherDesign",
    "Regression",
    "Schedule",
    "Setting",
    "TextData",
    "UniformDesign",
    "as_schedule",
    "breast_cancer",
    "diabetes",
    "digits",
    "literal_preset",
    "load_posts",
    "load_reviews",
    "movie_review_law",
    "movie_reviews",
    "stack_overflow",
    "stack_overflow_law",
    "theory_preset",
]
