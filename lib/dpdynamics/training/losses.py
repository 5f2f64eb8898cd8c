"""Logistic and softmax losses of linear models, for many configurations at once.

Logits have shape (rows, outputs, configurations). The gradient of a record in the weights is its
row times the derivative of the loss in the logits, an outer product: its norm is the product of
the norms, so that clipping it multiplies the derivative by a number. Derivatives and norms are
also those of torch tensors.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ..arguments import Array, whole

Logits = NDArray[np.float32]
Labels = NDArray[np.int64]


class Loss:
    r"""Cross-entropy of classes, a logit each; of two, one logit u stands against zero."""

    def __init__(self, classes: int) -> None:
        self.outputs = 1 if whole("classes", classes, minimum=2) == 2 else classes

    def derivative(self, logits: Logits, labels: Labels) -> Logits:
        """Derivatives in the logits, in their shape."""
        space, functions = _spaces(logits)
        if self.outputs == 1:
            signs = space.ones_like(logits[:, :, :1])
            signs[labels == 0] = -1
            return -signs * functions.expit(-signs * logits)
        slope = functions.softmax(logits, axis=1)
        slope[np.arange(len(labels)), labels] -= 1
        return slope

    def values(self, logits: Logits, labels: Labels) -> Array:
        """Losses (rows, configurations) in double precision, in nats."""
        double = logits.astype(np.float64)
        if self.outputs == 1:
            return np.asarray(np.logaddexp(0, np.where(labels == 1, -1, 1)[:, None] * double[:, 0]))
        chosen = double[np.arange(len(labels)), labels]
        return np.asarray(special.logsumexp(double, axis=1) - chosen)

    def correct(self, logits: Logits, labels: Labels) -> NDArray[np.bool_]:
        """Whether each row is classified correctly, (rows, configurations)."""
        found = logits[:, 0] > 0 if self.outputs == 1 else logits.argmax(axis=1)
        return np.asarray(found == labels[:, None])


def gradient_norms(derivative: Logits, row_norms: NDArray) -> NDArray:
    """Norms (rows, configurations) of the gradients of single records."""
    space, _ = _spaces(derivative)
    if derivative.shape[1] == 1:
        return abs(derivative[:, 0]) * row_norms[:, None]
    return space.sqrt(space.einsum("rok,rok->rk", derivative, derivative)) * row_norms[:, None]


def clip(derivative: Logits, row_norms: NDArray, clip_norm: NDArray) -> Logits:
    """Scale derivatives (in place) so that no gradient of a record is longer than `clip_norm`."""
    with np.errstate(divide="ignore"):
        factors = (clip_norm / gradient_norms(derivative, row_norms)).clip(max=1)
    derivative *= factors[:, None]
    return derivative


def _spaces(array: Any) -> tuple[Any, Any]:
    """NumPy and scipy.special, or torch and torch.special."""
    if isinstance(array, np.ndarray):
        return np, special
    torch = sys.modules["torch"]
    return torch, torch.special
