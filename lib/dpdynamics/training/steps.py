r"""One step of DP-SGD, DP-SignSGD and DP-Adam for many configurations of a sparse linear model.

The weights have shape (columns of the data, outputs, configurations), in single precision. With
:math:`\bar g` the sum of the clipped gradients of the batch over B, and the private gradient
:math:`g = \bar g + s z`, :math:`s = C\sigma/B`, :math:`z\sim N(0, I)` the same for all
configurations, the steps are :math:`-\eta g`, :math:`-\eta\,\mathrm{sign}\,g` (zero where g is),
and :math:`-\eta\hat m/(\sqrt{\hat v}+\epsilon)` with the bias-corrected moments of g.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .idle_noise import IdleNoise, Rows
from .losses import Labels, Loss, clip

OPTIMIZERS = ("sgd", "sign", "adam")
Floats = NDArray[np.float32]
_BLOCK = 1 << 15  # entries of a dense pass over the weights that stay in the cache


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """Settings (configurations,) of one optimizer: `noise_scale` is s of the private gradient."""

    optimizer: str
    learning_rate: Floats
    clip_norm: Floats
    noise_scale: Floats
    beta1: Floats
    beta2: Floats
    adam_epsilon: Floats
    batch_size: int


@dataclass(eq=False)
class Steps:
    """Weights and what belongs to them, moved by `step`; NumPy and scipy.sparse.

    With `lazy`, DP-SGD and DP-SignSGD touch the columns that occur in the batch only, and
    `settle` gives the others the noise that they are owed. The columns that occur have their draws
    from a stream of their own, so that all optimizers see the same ones.
    """

    settings: Hyperparameters
    loss: Loss
    dimension: int
    rng: np.random.Generator
    lazy: bool = True
    taken: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        shape = (self.dimension, self.loss.outputs, self.settings.learning_rate.size)
        self.weights = np.zeros(shape, dtype=np.float32)
        self.fresh, idle = self.rng.spawn(2)
        self.idle = IdleNoise(idle, self.dimension, self.loss.outputs)
        if self.settings.optimizer == "adam":
            self.first, self.second = np.zeros_like(self.weights), np.zeros_like(self.weights)

    def step(self, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take one step on a batch: its rows, their norms and their labels."""
        rows: Rows = slice(None)
        if self.lazy and self.settings.optimizer != "adam":
            rows, features = self.localised(features)
        move = {"sgd": self.sgd, "sign": self.sign, "adam": self.adam}[self.settings.optimizer]
        move(rows, features, norms, labels)
        self.taken += 1
        self.idle.seen[rows] = self.taken

    def localised(self, features: csr_array) -> tuple[Rows, csr_array]:
        """Columns that occur in a batch, and the batch with these columns alone."""
        place = np.zeros(self.dimension, dtype=features.indices.dtype)
        place[features.indices] = 1
        rows = np.flatnonzero(place)
        place[rows] = np.arange(rows.size)
        entries = (features.data, place[features.indices], features.indptr)
        return rows, csr_array(entries, shape=(features.shape[0], rows.size))

    def slopes(self, logits: Floats, norms: Floats, labels: Labels) -> Floats:
        """Clipped derivatives in the logits, over B."""
        slopes = clip(self.loss.derivative(logits, labels), norms, self.settings.clip_norm)
        slopes /= self.settings.batch_size
        return slopes

    def private_gradient(
        self, features: csr_array, block: Floats, norms: Floats, labels: Labels, noise: Floats
    ) -> Floats:
        """The private gradient at the weights `block` of the columns of `features`."""
        slopes = self.slopes(product(features, block), norms, labels)
        gradient = product(features.T, slopes)
        gradient += self.settings.noise_scale * noise[..., None]
        return gradient

    def owed(self, rows: Rows) -> Floats:
        """Idle noise (rows, outputs) up to now, to be multiplied by `kick`."""
        draw = self.idle.normals if self.settings.optimizer == "sgd" else self.idle.signs
        return draw(rows, self.taken)

    @property
    def kick(self) -> Floats:
        """What a unit of idle noise subtracts from a weight, (configurations,)."""
        s = self.settings.noise_scale
        return self.settings.learning_rate * (s if self.settings.optimizer == "sgd" else s > 0)

    def sgd(self, rows: Rows, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take a step of DP-SGD, or of DP-SignSGD."""
        block = self.weights[rows]
        block -= self.owed(rows)[..., None] * self.kick
        noise = self.normals(len(block))
        gradient = self.private_gradient(features, block, norms, labels, noise)
        if self.settings.optimizer == "sign":
            np.sign(gradient, out=gradient)
        block -= self.settings.learning_rate * gradient
        self.weights[rows] = block

    sign = sgd

    def normals(self, rows: int) -> Floats:
        """Draw the noise (rows, outputs) of this step."""
        return self.fresh.standard_normal((rows, self.loss.outputs), dtype=np.float32)

    def all_normals(self, features: csr_array) -> Floats:
        """Draw the noise (dimension, outputs) of this step, first where the batch has words."""
        if not self.lazy:
            return self.normals(self.dimension)
        occurs = np.zeros(self.dimension, dtype=np.bool_)
        occurs[features.indices] = True
        noise = np.empty((self.dimension, self.loss.outputs), dtype=np.float32)
        noise[occurs] = self.normals(occurs.sum())
        others = (self.dimension - int(occurs.sum()), self.loss.outputs)
        noise[~occurs] = self.idle.rng.standard_normal(others, dtype=np.float32)
        return noise

    def adam(self, rows: Rows, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take a step of DP-Adam."""
        noise = self.all_normals(features)
        gradient = self.private_gradient(features, self.weights, norms, labels, noise)
        old1, new1, old2, new2, rate, floor = self.adam_factors()
        height = max(1, _BLOCK // gradient[0].size)
        for start in range(0, self.dimension, height):
            part = slice(start, start + height)
            g, m, v, w = (a[part] for a in (gradient, self.first, self.second, self.weights))
            m *= old1
            m += new1 * g
            np.square(g, out=g)
            g *= new2
            v *= old2
            v += g
            np.sqrt(v, out=g)
            g += floor
            np.divide(m, g, out=g)
            g *= rate
            w -= g

    def adam_factors(self) -> list[Floats]:
        r"""Factors of m, g, v and :math:`g^2`, and (rate, floor): the step is
        rate m / (sqrt v + floor), the bias corrections included.
        """
        h, steps = self.settings, self.taken + 1
        debias1, debias2 = (1 - b.astype(np.float64) ** steps for b in (h.beta1, h.beta2))
        rate = h.learning_rate * np.sqrt(debias2) / debias1
        factors = (h.beta1, 1 - h.beta1, h.beta2, 1 - h.beta2, rate)
        return [
            np.asarray(f, dtype=np.float32) for f in (*factors, h.adam_epsilon * np.sqrt(debias2))
        ]

    def settle(self) -> None:
        """Give every weight the noise that it is owed."""
        if self.settings.optimizer != "adam":
            self.weights -= self.owed(slice(None))[..., None] * self.kick

    def host_weights(self) -> Floats:
        """The weights as they are, as a NumPy array."""
        return self.weights


def product(matrix: Any, block: Floats) -> Floats:
    """Multiply a sparse matrix and (columns, outputs, configurations)."""
    flat = block.reshape(len(block), block.shape[1] * block.shape[2])
    return (matrix @ flat).reshape(matrix.shape[0], *block.shape[1:])
