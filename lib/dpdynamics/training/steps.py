r"""One step of DP-SGD, DP-SignSGD and DP-Adam for many configurations of a sparse linear model.

The weights have shape (columns of the data, outputs, configurations), in single precision. With
:math:`\bar g` the sum of the clipped gradients of the batch over B, the private gradient is
:math:`g = \bar g + s z`, :math:`s = C\sigma/B`, :math:`z\sim N(0, I)` the same for all
configurations.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..optimisers import TorchArrays, adam, adam_factors, descend
from .lazy_noise import LazyNoise, Rows, sum_of_normals, sum_of_signs
from .losses import Labels, Loss, clip

Floats = NDArray[np.float32]


@dataclass(eq=False)
class Steps:
    """Weights and what belongs to them, moved by `step`; NumPy and scipy.sparse.

    With `lazy`, DP-SGD and DP-SignSGD touch the columns that occur in the batch only, and
    `settle` gives the others the noise that they are owed. The columns that occur have their draws
    from a stream of their own, so that all optimizers see the same ones. The settings are columns
    (configurations,) by name.
    """

    optimizer: str
    settings: dict[str, NDArray]
    batch_size: int
    dimension: int
    loss: Loss
    rng: np.random.Generator
    lazy: bool = True
    device: str = "cpu"  # of torch
    taken: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        single = {name: column.astype(np.float32) for name, column in self.settings.items()}
        clip_norm, multiplier = self.settings["clip_norm"], self.settings["noise_multiplier"]
        scale = np.where(multiplier > 0, clip_norm, 0) * multiplier / self.batch_size
        self.single, scale = single, scale.astype(np.float32)
        shape = (self.dimension, self.loss.outputs, scale.size)
        self.fresh, idle = self.rng.spawn(2)
        self.idle = LazyNoise(idle, self.dimension, self.loss.outputs)
        self.weights = self.placed(np.zeros(shape, dtype=np.float32))
        self.rate, self.clip_norm, self.noise_scale = (
            self.placed(a) for a in (single["learning_rate"], single["clip_norm"], scale)
        )
        with np.errstate(over="ignore"):  # what a unit of idle noise subtracts from a weight
            self.kick = single["learning_rate"] * (scale if self.optimizer == "sgd" else scale > 0)
        if self.optimizer == "adam":
            self.moments = self.weights * 0, self.weights * 0

    @property
    def space(self) -> Any:
        """NumPy or torch."""
        return np

    def placed(self, array: Any) -> Any:
        """Return an array where the weights are."""
        return array

    def step(self, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take one step on a batch: its rows, their norms and their labels."""
        rows: Rows = slice(None)
        if self.optimizer == "adam":
            self.adam(features, norms, labels)
        else:
            if self.lazy:
                rows, features = self.localised(features)
            self.descend(rows, features, norms, labels)
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
        slopes = clip(self.loss.derivative(logits, labels), norms, self.clip_norm)
        slopes /= self.batch_size
        return slopes

    def private_gradient(
        self, features: csr_array, block: Floats, norms: Floats, labels: Labels, noise: Floats
    ) -> Floats:
        """The private gradient at the weights `block` of the columns of `features`."""
        slopes = self.slopes(product(features, block), norms, labels)
        gradient = product(features.T, slopes)
        gradient += self.noise_scale * noise[..., None]
        return gradient

    def owed(self, rows: Rows) -> Floats:
        """Idle noise (rows, outputs) up to now, to be multiplied by `kick`."""
        draw = sum_of_normals if self.optimizer == "sgd" else sum_of_signs
        return self.idle.received(rows, self.taken, draw)

    def descend(self, rows: Rows, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take a step of DP-SGD, or of DP-SignSGD."""
        block = self.weights[rows]
        if self.lazy:
            block -= self.owed(rows)[..., None] * self.kick
        gradient = self.private_gradient(features, block, norms, labels, self.normals(len(block)))
        descend(self.space, block, gradient, self.rate, signs=self.optimizer == "sign")
        if self.lazy:
            self.weights[rows] = block

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

    def adam(self, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take a step of DP-Adam."""
        noise = self.all_normals(features)
        gradient = self.private_gradient(features, self.weights, norms, labels, noise)
        adam(self.space, self.weights, gradient, self.moments, self.factors())

    def factors(self) -> list[Floats]:
        """The factors of the step of DP-Adam, formed in double precision."""
        names = ("learning_rate", "beta1", "beta2", "adam_epsilon")
        rate, beta1, beta2, epsilon = (self.single[name].astype(np.float64) for name in names)
        factors = adam_factors(rate, beta1, beta2, epsilon, self.taken + 1)
        return [self.placed(f.astype(np.float32)) for f in factors]

    def settle(self) -> None:
        """Give every weight the noise that it is owed."""
        if self.lazy and self.optimizer != "adam":
            self.weights -= self.owed(slice(None))[..., None] * self.kick

    def host_weights(self) -> Floats:
        """The weights as they are, as a NumPy array."""
        return self.weights


@dataclass(eq=False)
class TorchSteps(Steps):
    """`Steps` by PyTorch on `device`, "cpu" or "cuda"; ModuleNotFoundError without torch.

    The noise is dense and comes from a generator on the device, so that only the law is that of
    the other engines.
    """

    def __post_init__(self) -> None:
        try:
            self.arrays = TorchArrays("float32", self.device, self.rng)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("engine='torch' needs the package torch") from error
        self.lazy = False
        super().__post_init__()

    @property
    def space(self) -> Any:
        """NumPy or torch."""
        return self.arrays.space

    def placed(self, array: Any) -> Any:
        """Return an array where the weights are."""
        return self.arrays.array(array)

    def step(self, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take one step on a batch: its rows, their norms and their labels."""
        batch, torch = features.tocoo(), self.space
        where = torch.as_tensor(np.stack(batch.coords).astype(np.int64), device=self.device)
        sparse = torch.sparse_coo_tensor(
            where, self.placed(batch.data), batch.shape, check_invariants=False
        )
        labels = torch.as_tensor(labels, device=self.device)
        super().step(sparse, self.placed(norms), labels)

    def normals(self, rows: int) -> Any:
        """Draw the noise (rows, outputs) of this step."""
        noise = self.space.empty((rows, self.loss.outputs), device=self.device)
        self.arrays.fill(noise)
        return noise

    def host_weights(self) -> Floats:
        """The weights as a NumPy array."""
        return self.arrays.numpy(self.weights)


def product(matrix: Any, block: Floats) -> Floats:
    """Multiply a sparse matrix and (columns, outputs, configurations)."""
    flat = block.reshape(len(block), block.shape[1] * block.shape[2])
    return (matrix @ flat).reshape(matrix.shape[0], *block.shape[1:])
