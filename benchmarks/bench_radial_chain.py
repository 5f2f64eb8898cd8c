"""Clipped DP-SGD on an isotropic quadratic: norms against vectors, merged draws against literal."""

import math

import numpy as np
from timing import result, timed

from dpdynamics.adaptive import private_ensemble, radial_chain

SETTING = {"clip_norm": 1.0, "noise_multiplier": 0.3}


def _norms(x):
    return np.sqrt(np.vecdot(x, x))


def _race(name, ours, theirs, runs, target):
    """Seconds a run of two simulators, interleaved; their mean final norms must agree."""
    times, means = ([], []), ([], [])
    for _ in range(5):
        for which, simulate in enumerate((ours, theirs)):
            seconds, final = timed(simulate)
            times[which].append(seconds / runs[which])
            means[which].append(final.mean())
    if not math.isclose(np.mean(means[0]), np.mean(means[1]), rel_tol=0.02):
        raise ValueError(f"the mean norms disagree: {means}")
    return result(name, *times, target)


def _chain(dimension, steps, runs, batch):
    def simulate():
        return radial_chain(
            1.0,
            np.full(steps, 0.1),
            eigenvalues=1.0,
            multiplicities=dimension,
            gradient_noise=1 / math.sqrt(dimension),
            batch_size=batch,
            rng=np.random.default_rng(0),
            replicates=runs,
            checkpoints=[steps],
            **SETTING,
        ).values

    return simulate


def _vectors(dimension, steps, runs, batch, literal, dtype="float64"):
    start = np.full((runs, dimension), 1 / math.sqrt(dimension))

    def simulate():
        return private_ensemble(
            lambda x: x,
            start,
            np.full(steps, 0.1),
            gradient_noise=1 / math.sqrt(dimension),
            batch_size=batch,
            rng=np.random.default_rng(1),
            checkpoints=[steps],
            statistic=_norms,
            literal=literal,
            dtype=dtype,
            **SETTING,
        ).values

    return simulate


def bench_chain():
    """A run of 100 steps in 64 dimensions, each simulator on an ensemble of a good size."""
    ours, theirs = _chain(64, 100, 4000, 1), _vectors(64, 100, 500, 1, True)
    return _race("DP-SGD run, d = 64, norms against vectors", ours, theirs, (4000, 500), 10)


def bench_chain_batch():
    """The same with 16 examples a batch."""
    ours, theirs = _chain(64, 20, 4000, 16), _vectors(64, 20, 500, 16, True)
    return _race("DP-SGD run, d = 64, B = 16, norms", ours, theirs, (4000, 500), 5)


def bench_merged_draws():
    """Vectors with one draw a step, or every example drawn; 1024 dimensions, 16 examples."""
    ours, theirs = (_vectors(1024, 20, 200, 16, literal, "float32") for literal in (False, True))
    return _race("DP-SGD run, d = 1024, B = 16, one draw a step", ours, theirs, (200, 200), 4)
