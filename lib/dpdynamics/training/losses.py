"""Logistic and softmax losses of linear models, for many configurations at once.

Logits have shape (rows, outputs, configurations). The gradient of a record in the weights is its
row times the derivative of the loss in the logits, an outer product: its norm is the product of
the norms, so that clipping it multiplies the derivative by a number.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from ..arguments import Array, whole

Logits = NDArray[np.float32]
Labels = NDArray[np.int64]


class Loss(Protocol):
    """What the trainer asks of a loss."""

    @property
    def outputs(self) -> int:
        """Columns of weights a configuration has."""

    def derivative(self, logits: Logits, labels: Labels) -> Logits:
        """Derivatives in the logits, in their shape."""

    def values(self, logits: Logits, labels: Labels) -> Array:
        """Losses (rows, configurations) in double precision, in nats."""

    def correct(self, logits: Logits, labels: Labels) -> NDArray[np.bool_]:
        """Whether each row is classified correctly, (rows, configurations)."""


class Logistic:
    r"""Two classes and one logit u: :math:`\ln(1 + e^{-u})` in class 1, with +u in class 0."""

    outputs = 1

    def derivative(self, logits: Logits, labels: Labels) -> Logits:
        """Derivatives in the logits, in their shape."""
        signs = _signs(labels)[:, None]
        return np.asarray(-signs * expit(-signs * logits))

    def values(self, logits: Logits, labels: Labels) -> Array:
        """Losses (rows, configurations) in double precision, in nats."""
        margins = _signs(labels) * logits[:, 0].astype(np.float64)
        return np.asarray(np.logaddexp(0, -margins))

    def correct(self, logits: Logits, labels: Labels) -> NDArray[np.bool_]:
        """Whether each row is classified correctly, (rows, configurations)."""
        return np.asarray((logits[:, 0] > 0) == (labels[:, None] == 1))


class Softmax:
    """Cross-entropy of `outputs` classes, one logit each."""

    def __init__(self, outputs: int) -> None:
        self.outputs = whole("outputs", outputs, minimum=2)

    def derivative(self, logits: Logits, labels: Labels) -> Logits:
        """Derivatives in the logits, in their shape."""
        slope = np.exp(logits - logits.max(axis=1, keepdims=True))
        slope /= slope.sum(axis=1, keepdims=True)
        slope[np.arange(len(labels)), labels] -= 1
        return slope

    def values(self, logits: Logits, labels: Labels) -> Array:
        """Losses (rows, configurations) in double precision, in nats."""
        double = logits.astype(np.float64)
        return np.asarray(logsumexp(double, axis=1) - double[np.arange(len(labels)), labels])

    def correct(self, logits: Logits, labels: Labels) -> NDArray[np.bool_]:
        """Whether each row is classified correctly, (rows, configurations)."""
        return np.asarray(logits.argmax(axis=1) == labels[:, None])


def loss_for(classes: int) -> Logistic | Softmax:
    """Return the loss of a number of classes: one logit for two of them."""
    return Logistic() if whole("classes", classes, minimum=2) == 2 else Softmax(classes)


def gradient_norms(derivative: Logits, row_norms: NDArray) -> NDArray:
    """Norms (rows, configurations) of the gradients of single records."""
    if derivative.shape[1] == 1:
        return np.asarray(np.abs(derivative[:, 0]) * row_norms[:, None])
    return (
        np.asarray(np.sqrt(np.einsum("rok,rok->rk", derivative, derivative))) * row_norms[:, None]
    )


def clip(derivative: Logits, row_norms: NDArray, clip_norm: NDArray) -> Logits:
    """Scale derivatives (in place) so that no gradient of a record is longer than `clip_norm`."""
    with np.errstate(divide="ignore"):
        factors = np.minimum(1, clip_norm / gradient_norms(derivative, row_norms))
    derivative *= factors[:, None].astype(np.float32, copy=False)
    return derivative


def _signs(labels: Labels) -> NDArray[np.float32]:
    return (2 * labels - 1).astype(np.float32)[:, None]
