"""What an accelerator gains: the same computation, in torch, on `device="cuda"` and on the CPU.

The ratio says how many times faster the accelerator is, all cores of the machine being the
baseline. Without an accelerator the CPU is measured alone, which the name says.

On an H200 against 16 cores, torch 2.11: trainer 9.2 (DP-SGD) and 4.4 (DP-Adam), DP-SignSGD 11,
Euler-Maruyama 45; on an H100 of another machine 3.5, 1.9, 2.9 and 26. The first three are small
enough that launching kernels is most of their time.
"""

import numpy as np
from timing import result, seconds

from dpdynamics.adaptive import private_ensemble
from dpdynamics.dynamics import euler_maruyama
from dpdynamics.problems import movie_reviews
from dpdynamics.training import SparseTrainer

CONFIGURATIONS, REPLICATES, DIMENSION = 256, 2000, 1024


def bench_trainer_sgd():
    """DP-SGD on sparse rows of 10^4 words."""
    return _trainer("sgd")


def bench_trainer_adam():
    """DP-Adam, of three times as many passes over the weights."""
    return _trainer("adam")


def bench_ensemble():
    """DP-SignSGD on a quadratic."""

    def run(device):
        private_ensemble(
            lambda x: x,
            np.ones((REPLICATES, DIMENSION)),
            np.full(20, 0.01),
            method="sign",
            clip_norm=1.0,
            noise_multiplier=1.0,
            gradient_noise=0.1,
            batch_size=8,
            statistic=lambda x: (x * x).sum(1),
            **_torch(device),
        )

    return _compared(f"DP-SignSGD, {REPLICATES} runs, d {DIMENSION}", run)


def bench_paths():
    """An Ornstein-Uhlenbeck ensemble."""

    def run(device):
        euler_maruyama(
            lambda t, x: -x,
            lambda t, x: 0.2,
            np.zeros((REPLICATES, DIMENSION)),
            [0.0, 1.0],
            substeps=50,
            statistic=lambda x: (x * x).mean(0),
            **_torch(device),
        )

    return _compared(f"Euler-Maruyama, {REPLICATES} paths, d {DIMENSION}", run)


def _torch(device):
    rng = np.random.default_rng(0)
    return {"rng": rng, "backend": "torch", "dtype": "float32", "device": device}


def _trainer(optimizer):
    train, _ = movie_reviews(np.random.default_rng(0), train_size=6400, test_size=1, rows="unit")
    trainers = {}

    def run(device):
        if device not in trainers:
            trainers[device] = SparseTrainer(
                train,
                optimizer=optimizer,
                learning_rate=np.geomspace(0.01, 1, CONFIGURATIONS),
                clip_norm=0.5,
                noise_multiplier=2.0,
                rng=np.random.default_rng(1),
                engine="torch",
                device=device,
            )
        trainers[device].advance(20)

    return _compared(f"trainer, {optimizer}, {CONFIGURATIONS} at once", run)


def _compared(name, run, rounds=3):
    """Time `run(device)`; the first call is not counted, and the device has finished each."""
    import torch

    def measured():
        run(device)
        if device == "cuda":
            torch.cuda.synchronize()

    taken = {}
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        measured()
        taken[device] = [seconds(measured) for _ in range(rounds)]
    if "cuda" not in taken:
        return result(f"{name}: no accelerator", taken["cpu"], taken["cpu"], None)
    return result(f"{name}: cuda and cpu", taken["cuda"], taken["cpu"], None)
