"""A valid call of every public function and checked class of the room problems."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from dpdynamics.problems import (
    Constant,
    GaussianDesign,
    GaussianLabelNoise,
    LeastSquares,
    PolynomialDecay,
)
from valid_calls.calls import Call, Text, of, rng

EIGENVALUES, TRUTH = np.array([1.0, 0.5]), np.array([1.0, -1.0])


CALLS: dict[str, Call] = {
    "CappedDecay": of(decay=PolynomialDecay(3.0, 0.5), cap=2.0),
    "Constant": of(value=0.5),
    "ExponentialDecay": of(initial=1.0, rate=0.5),
    "GaussianDesign": of(eigenvalues=EIGENVALUES),
    "GaussianLabelNoise": of(scale=1.0, clip=3.0),
    "InverseTimeDecay": of(scale=np.array([1.0, 2.0]), offset=0.5),
    "LeastSquares": of(eigenvalues=EIGENVALUES, truth=TRUTH, label_variance=0.3, ridge=0.1),
    "PolynomialDecay": of(initial=np.array([1.0, 2.0]), exponent=0.5),
    "PowerDecay": of(initial=1.0, timescale=2.0, power=0.5),
    "QuadraticStatistic": of(matrix=np.eye(2), vector=TRUTH, constant=1.0),
    "Setting": of(
        problem=LeastSquares(EIGENVALUES, TRUTH, 0.25, 0.1),
        design=GaussianDesign(EIGENVALUES),
        label_noise=GaussianLabelNoise(0.5),
        x0=np.array([0.5, 2.0]),
        schedule=Constant(0.5),
        steps=4,
        noise_scale=0.2,
    ),
    "TextData": of(
        features=csr_array(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])),
        labels=np.array([0, 1]),
        classes=2,
        name=Text("two documents"),
    ),
    "literal_preset": of(rng=rng(), dimension=3, samples=4, noise_scale=1.5),
    "movie_reviews": of(rng=rng(), train_size=5, test_size=4, rows="unit", vocabulary=30),
    "theory_preset": of(rng=rng(), dimension=3, noise_scale=0.7, learning_rate=0.8),
}
