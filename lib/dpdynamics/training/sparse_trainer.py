"""Differentially private training of linear classifiers: many configurations in one pass.

All configurations of a pass see the same batches and the same normal draws, each scaled by its own
noise. The gradient of a record is a number times its row, so that clipping it is clipping a number,
and a step costs a few operations per word of the batch and configuration. Configurations of one
pass are therefore dependent: good for differences between them, no replicates. Replicates are
passes with other generators.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..arguments import (
    finite_array,
    nonnegative_array,
    one_of,
    positive_array,
    together,
    whole,
)
from ..batches import Batches
from ..optimisers import METHODS
from ..problems.text import TextData
from .compiled_steps import CompiledSteps
from .losses import Loss, gradient_norms
from .steps import Steps, TorchSteps, product

ENGINES = {"numpy": Steps, "numba": CompiledSteps, "torch": TorchSteps}
_LOGITS = 1 << 22  # logits that an evaluation holds at once


class SparseTrainer:
    r"""Train K configurations of one optimizer on sparse rows, in single precision, from zero.

    Two classes give logistic regression, more give softmax regression. With B the batch size, the
    private gradient is :math:`\frac1B(\sum_i\mathrm{clip}_C(\nabla f_i) + C\sigma N(0, I))` over
    the batch; under Poisson sampling B is the expected size of it. A pickled copy resumes exactly,
    except under "torch". Equations (204) to (208) of anon2025; sampling and noise as in Abadi et
    al. (2016).

    Parameters
    ----------
    train, test : TextData
        Of the same columns and classes; `test` is optional.
    optimizer : {"sgd", "sign", "adam"}
        DP-SGD, DP-SignSGD, DP-Adam.
    learning_rate, clip_norm, noise_multiplier : numbers or arrays
        :math:`\eta`, C and :math:`\sigma`, broadcast together; K is the size of the result and
        configurations are numbered in C order. `clip_norm` may be inf where the noise is 0.
    rng : numpy.random.Generator
        Its children draw the batches and the noise: trainers with generators in equal states see
        the same batches and the same normals on the words that occur, whatever their optimizer.
    batch_size, sampling : int, {"shuffle", "fixed", "poisson"}
        B, and permutations cut into batches, the incomplete one dropped; B records anew at each
        step; or each record with probability B / n.
    beta1, beta2, adam_epsilon : numbers or arrays
        Of DP-Adam, broadcast like `learning_rate`: decay rates in [0, 1) and the positive number
        added to the root of the second moment.
    engine : {"numpy", "numba", "torch"}
        "numba" is compiled arithmetic on the draws of "numpy"; "torch" has its own dense noise.
        ModuleNotFoundError if it is not installed.
    device : str
        For "torch": "cpu" or "cuda".
    noise : {"lazy", "dense"}
        Draw the noise of words that do not occur when they are next looked at, or at once. The law
        is the same; DP-Adam and "torch" always draw it at once.
    evaluation_rows : int, optional
        Evaluate on the first so many rows of each data set; all of them by default.
    """

    def __init__(
        self,
        train: TextData,
        test: TextData | None = None,
        *,
        optimizer: str,
        learning_rate: ArrayLike,
        clip_norm: ArrayLike,
        noise_multiplier: ArrayLike,
        rng: np.random.Generator,
        batch_size: int = 64,
        sampling: str = "shuffle",
        beta1: ArrayLike = 0.9,
        beta2: ArrayLike = 0.999,
        adam_epsilon: ArrayLike = 1e-8,
        engine: str = "numpy",
        device: str = "cpu",
        noise: str = "lazy",
        evaluation_rows: int | None = None,
    ) -> None:
        self.train = train
        if test and (test.dimension, test.classes) != (train.dimension, train.classes):
            raise ValueError("test must have the columns and the classes of train")
        self.loss = Loss(train.classes)
        one_of("optimizer", optimizer, METHODS)
        self._table = _settings(
            learning_rate=positive_array("learning_rate", learning_rate),
            clip_norm=finite_array("clip_norm", clip_norm, infinite=True),
            noise_multiplier=nonnegative_array("noise_multiplier", noise_multiplier),
            beta1=nonnegative_array("beta1", beta1),
            beta2=nonnegative_array("beta2", beta2),
            adam_epsilon=positive_array("adam_epsilon", adam_epsilon),
        )
        draws, noises = rng.spawn(2)
        self.batches = Batches(train.size, batch_size, sampling, draws)
        lazy = one_of("noise", noise, ("lazy", "dense")) == "lazy"
        kind = ENGINES[one_of("engine", engine, tuple(ENGINES))]
        batch, shape = self.batches.batch_size, (train.dimension, self.loss)
        self.steps = kind(optimizer, self._table, batch, *shape, noises, lazy, device)
        rows = None if evaluation_rows is None else whole("evaluation_rows", evaluation_rows, 1)
        self._evaluated = {
            name: data.subset(slice(rows))
            for name, data in (("train", train), ("test", test))
            if data is not None
        }
        self._norms = train.row_norms.astype(np.float32)

    @property
    def taken(self) -> int:
        """Steps taken."""
        return self.steps.taken

    @property
    def weights(self) -> NDArray[np.float32]:
        """Weights (K, outputs, d), every word with the noise of all the steps taken."""
        self.steps.settle()
        return self.steps.host_weights().T

    def advance(self, steps: int) -> None:
        """Take so many steps more."""
        with np.errstate(over="ignore", invalid="ignore"):  # a configuration may diverge
            for _ in range(whole("steps", steps, minimum=0)):
                rows = self.batches.draw()
                features = self.train.features[rows]
                self.steps.step(features, self._norms[rows], self.train.labels[rows])

    def record(self) -> pd.DataFrame:
        """Evaluate all configurations where they are.

        A row per configuration: the settings, `step`; losses in nats and accuracies on the data
        sets; `clipped_share`, the share of training records whose gradient here is longer than
        `clip_norm`; `weight_norm`, Euclidean; `diverged`, whether a weight or a loss is not finite:
        then the losses and the norm are inf, the accuracies 0 and the share 1.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            self.steps.settle()
            weights = self.steps.host_weights()
            squares = np.einsum("jok,jok->k", weights, weights, dtype=np.float64)
            found: dict[str, NDArray] = {}
            for name, data in self._evaluated.items():
                found |= self._evaluation(name, data, weights)
            found["weight_norm"] = np.sqrt(squares)
        diverged = ~np.isfinite(list(found.values())).all(axis=0)
        worst = {"accuracy": 0.0, "share": 1.0}
        for name, values in found.items():
            values[diverged] = worst.get(name.split("_")[1], np.inf)
        settings = self._table
        if (optimizer := self.steps.optimizer) != "adam":
            settings = {name: settings[name] for name in list(settings)[:3]}
        columns = {
            "optimizer": optimizer,
            **{name: values.ravel() for name, values in settings.items()},
            "batch_size": self.batches.batch_size,
            "sampling": self.batches.sampling,
            "configuration": np.arange(weights.shape[-1]),
            "step": self.taken,
            **found,
            "diverged": diverged,
        }
        return pd.DataFrame(columns)

    def _evaluation(self, name: str, data: TextData, weights: NDArray) -> dict[str, NDArray]:
        height = max(1, _LOGITS // weights[0].size)
        total, correct, clipped = np.zeros((3, weights.shape[-1]))
        for start in range(0, data.size, height):
            part = slice(start, start + height)
            logits, labels = product(data.features[part], weights), data.labels[part]
            total += self.loss.values(logits, labels).sum(axis=0)
            correct += self.loss.correct(logits, labels).sum(axis=0)
            if name == "train":
                slopes = self.loss.derivative(logits, labels)
                lengths = gradient_norms(slopes, data.row_norms[part])
                clipped += (lengths > self.steps.single["clip_norm"]).sum(axis=0)
        found = {f"{name}_loss": total / data.size, f"{name}_accuracy": correct / data.size}
        return found | ({"clipped_share": clipped / data.size} if name == "train" else {})


def train_configurations(
    train: TextData,
    test: TextData | None = None,
    *,
    steps: int,
    record: ArrayLike | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Train K configurations in one pass and record them at some steps.

    Parameters
    ----------
    train, test, **settings
        Those of `SparseTrainer`.
    steps : int
    record : integers, optional
        Steps in [0, steps] at which to evaluate, in increasing order; the last one by default.

    Returns
    -------
    pandas.DataFrame
        A row per recorded step and configuration, with the columns of `SparseTrainer.record`.

    Examples
    --------
    >>> from dpdynamics.problems.text import movie_reviews
    >>> law = {"vocabulary": 300, "train_size": 400, "test_size": 100}
    >>> train, test = movie_reviews(np.random.default_rng(0), rows="unit", **law)
    >>> frame = train_configurations(train, test, optimizer="sgd", learning_rate=[1.0, 2.0],
    ...     clip_norm=0.5, noise_multiplier=1.0, rng=np.random.default_rng(1), steps=12)
    >>> frame[["learning_rate", "step", "diverged"]].values.tolist()
    [[1.0, 12, False], [2.0, 12, False]]
    """
    trainer = SparseTrainer(train, test, **settings)
    last = whole("steps", steps, minimum=0)
    stops = finite_array("record", [last] if record is None else record, ndim=1)
    if not stops.size or np.any(stops % 1) or np.any(np.diff(stops, prepend=0, append=last) < 0):
        raise ValueError(f"record must be integers in [0, {last}], increasing, got {record!r}")
    frames = []
    for stop in stops.astype(int).tolist():
        trainer.advance(stop - trainer.taken)
        frames.append(trainer.record())
    return pd.concat(frames, ignore_index=True)


def _settings(**columns: NDArray) -> dict[str, NDArray]:
    """Configurations as columns, (K,) each."""
    table = {name: array.ravel() for name, array in zip(columns, together(**columns), strict=True)}
    if np.any(table["clip_norm"] <= 0):
        raise ValueError("clip_norm must be positive")
    if np.any(np.isinf(table["clip_norm"]) & (table["noise_multiplier"] > 0)):
        raise ValueError("clip_norm must be finite where noise_multiplier is positive")
    for name in ("beta1", "beta2"):
        if np.any(table[name] >= 1):
            raise ValueError(f"{name} must lie in [0, 1)")
    return table
