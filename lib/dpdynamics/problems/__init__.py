"""Problems: what is trained.

Least squares seen through its population (eigenvalues, truth, label variance, ridge), quadratic
statistics of an iterate, laws of features and labels, learning-rate schedules, the two settings
that the chapters on least squares share, and bundled real data. First floor: imports no other room.

Everything about least squares is written in the eigenbasis of the second moment of the features:
a vector is rotated once, when it is drawn, and every matrix of the theory is then diagonal.
"""

from .data import Regression, diabetes
from .designs import GaussianDesign, GaussianLabelNoise, RademacherDesign, UniformDesign
from .least_squares import LeastSquares, QuadraticStatistic
from .pass_schedules import CappedDecay, InverseTimeDecay, PassSchedule, PolynomialDecay
from .presets import Setting, literal_preset, theory_preset
from .schedules import (
    Constant,
    ExponentialDecay,
    PowerDecay,
    Schedule,
    as_schedule,
)

__all__ = [
    "CappedDecay",
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
    "UniformDesign",
    "as_schedule",
    "diabetes",
    "literal_preset",
    "theory_preset",
]
