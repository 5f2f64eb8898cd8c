"""The sparse trainer, per configuration and step, against a dense loop and against Opacus.

64 configurations share a pass: synthetic reviews, 10^4 words and a bias, batches of 64. The dense
loop is the textbook's: one configuration, rows of the batch as dense vectors (made dense before
the clock starts), one gradient after the other, noise on all coordinates; single precision. Opacus
trains one linear layer on the same dense batches. One core each.
"""

import warnings
from functools import cache

import numpy as np
from timing import result, seconds

from dpdynamics.problems import movie_reviews
from dpdynamics.training import SparseTrainer

CONFIGURATIONS, BATCH, CLIP, SIGMA = 64, 64, 0.5, 2.0
RATES = {"sgd": 4.0, "sign": 0.01, "adam": 0.01}


@cache
def _data():
    return movie_reviews(np.random.default_rng(0), train_size=6400, test_size=1, rows="unit")[0]


def _batches(count):
    rng, data = np.random.default_rng(1), _data()
    for _ in range(count):
        rows = rng.choice(data.size, BATCH, replace=False)
        yield data.features[rows].toarray(), data.labels[rows]


def _trainer(optimizer, engine):
    trainer = SparseTrainer(
        _data(),
        optimizer=optimizer,
        learning_rate=RATES[optimizer] * np.geomspace(0.25, 4, CONFIGURATIONS),
        clip_norm=CLIP,
        noise_multiplier=SIGMA,
        batch_size=BATCH,
        rng=np.random.default_rng(2),
        engine=engine,
    )
    trainer.advance(2)
    return trainer


class _DenseLoop:
    """One configuration, record by record."""

    def __init__(self, optimizer, dimension):
        self.optimizer, self.rng, self.taken = optimizer, np.random.default_rng(3), 0
        self.w, self.m, self.v = np.zeros((3, dimension), dtype=np.float32)

    def step(self, x, labels):
        total = np.zeros_like(self.w)
        for row, label in zip(x, labels, strict=True):
            gradient = row * np.float32(1 / (1 + np.exp(-(row @ self.w))) - label)
            total += gradient * min(1.0, CLIP / float(np.sqrt(gradient @ gradient)))
        total += CLIP * SIGMA * self.rng.standard_normal(self.w.size, dtype=np.float32)
        g, rate = total / BATCH, RATES[self.optimizer]
        self.taken += 1
        if self.optimizer == "sgd":
            self.w -= rate * g
        elif self.optimizer == "sign":
            self.w -= rate * np.sign(g)
        else:
            self.m = 0.9 * self.m + 0.1 * g
            self.v = 0.999 * self.v + 0.001 * g**2
            m, v = self.m / (1 - 0.9**self.taken), self.v / (1 - 0.999**self.taken)
            self.w -= rate * m / (np.sqrt(v) + 1e-8)


class _Opacus:
    """One configuration, a linear layer under the optimizer of Opacus."""

    def __init__(self, optimizer, dimension):
        import torch
        from opacus import GradSampleModule
        from opacus.optimizers import DPOptimizer

        torch.set_num_threads(1)
        warnings.filterwarnings("ignore", message="Full backward hook")
        self.torch = torch
        self.model = GradSampleModule(torch.nn.Linear(dimension, 1, bias=False))
        kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer]
        self.optimizer = DPOptimizer(
            kind(self.model.parameters(), lr=RATES[optimizer]),
            noise_multiplier=SIGMA,
            max_grad_norm=CLIP,
            expected_batch_size=BATCH,
        )

    def step(self, x, labels):
        self.optimizer.zero_grad()
        logits = self.model(self.torch.from_numpy(x))[:, 0]
        target = self.torch.from_numpy(labels).float()
        self.torch.nn.functional.binary_cross_entropy_with_logits(logits, target).backward()
        self.optimizer.step()


def _measured(name, optimizer, engine, baseline, target):
    trainer, other = _trainer(optimizer, engine), baseline(optimizer, _data().dimension)
    batches = list(_batches(6))
    other.step(*batches[0])
    steps, ours, theirs = 20, [], []
    for _ in range(7):
        ours.append(seconds(lambda: trainer.advance(steps)) / steps / CONFIGURATIONS)
        theirs += [seconds(lambda b=batch: other.step(*b)) for batch in batches]
    return result(f"{name}, {engine}, 64 at once", ours, theirs, target)


def bench_sgd_against_dense_loop():
    """DP-SGD, compiled."""
    return _measured("DP-SGD step against a dense loop", "sgd", "numba", _DenseLoop, 80)


def bench_sgd_numpy_against_dense_loop():
    """DP-SGD without the compiler."""
    return _measured("DP-SGD step against a dense loop", "sgd", "numpy", _DenseLoop, None)


def bench_sign_against_dense_loop():
    """DP-SignSGD, compiled."""
    return _measured("DP-SignSGD step against a dense loop", "sign", "numba", _DenseLoop, 80)


def bench_adam_against_dense_loop():
    """DP-Adam, compiled: its noise is dense on both sides."""
    return _measured("DP-Adam step against a dense loop", "adam", "numba", _DenseLoop, 30)


def bench_adam_numpy_against_dense_loop():
    """DP-Adam without the compiler."""
    return _measured("DP-Adam step against a dense loop", "adam", "numpy", _DenseLoop, None)


def bench_sgd_against_opacus():
    """DP-SGD, compiled, against Opacus on the same model and batches."""
    return _measured("DP-SGD step against Opacus", "sgd", "numba", _Opacus, 10)


def bench_adam_against_opacus():
    """DP-Adam, compiled, against Opacus on the same model and batches."""
    return _measured("DP-Adam step against Opacus", "adam", "numba", _Opacus, 10)
