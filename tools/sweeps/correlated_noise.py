"""Correlated noise: the two tables of its chapter.

Run from the root of the book; on one core the first takes five minutes, the second fifteen:

    python tools/sweeps/correlated_noise.py calibrations notebooks/kan/data/calibrations.csv
    python tools/sweeps/correlated_noise.py trainings notebooks/kan/data/correlated_noise.csv

*Calibrations*: the smallest noise that is certified to be enough, and a noise below which none is,
for schedules, budgets and correlations. Poisson sampling, zero-out neighbours.

*Trainings* of the KAN at equal certified budgets. One row is a data set, a schedule, a budget, a
correlation and a step size; its last column counts the test records that are classified correctly
in each of the runs 0, 1, ..., of which each has its own split of the records, initial weights,
batches and noise, common to all correlations.

The chapter computes some of the rows again with the functions of this file.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

from dpdynamics.accounting import CorrelatedPoisson, Poisson
from dpdynamics.kan import Training, TwoLayerKAN

COMMAND = "python tools/sweeps/correlated_noise.py"
COLUMNS = ("data", "q", "updates", "epsilon", "correlation", "noise_multiplier", "step_size")
DELTA, CLIP_NORM, WIDTH, SPLINES = 1e-5, 0.3, 64, 6

SCHEDULES = ((0.1, 400), (0.01, 1000), (0.02, 150))
BUDGETS = (0.5, 1.0, 2.0, 4.0, 8.0)
GRID = (0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)

TRAINED = {"digits": 250, "breast cancer": 400}
RATES = ((0.2, 160), (0.02, 150))
EPSILONS = (1.0, 3.0, 8.0)
CORRELATIONS = (0.0, 0.5, 0.9)
STEP_SIZES = (1.0, 3.0, 10.0, 30.0)
RUNS = 40


def records(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return inputs in [-1, 1] and labels -1, 1.

    Pixels have the bounds 0 and 16 by their definition. The bounds of the tumours' measurements
    are the least and largest values of the table: they are **not** protected.
    """
    if name == "digits":
        pixels, digit = load_digits(return_X_y=True)
        chosen = np.isin(digit, (3, 8))
        return pixels[chosen] / 8 - 1, np.where(digit[chosen] == 8, 1.0, -1.0)
    cells, benign = load_breast_cancer(return_X_y=True)
    low, high = cells.min(axis=0), cells.max(axis=0)
    return 2 * (cells - low) / (high - low) - 1, 2.0 * benign - 1


def noise(name: str, q: float, updates: int, epsilon: float, correlation: float) -> float:
    """Return the certified noise multiplier: Poisson sampling, zero-out neighbours."""
    return bracket(round(q * TRAINED[name]) / TRAINED[name], updates, epsilon, correlation)[1]


def correct(
    name: str, q: float, updates: int, noises: Sequence[float], step_size: float, run: int
) -> list[int]:
    """Count the right predictions of one run for each correlation, of the averaged weights."""
    x, y = records(name)
    rng = np.random.default_rng([run, 53])
    order, n = rng.permutation(len(y)), TRAINED[name]
    train, test = order[:n], order[n:]
    network, start = TwoLayerKAN.initial(WIDTH, x.shape[1], SPLINES, rng=rng)
    training = Training(
        network,
        x[train],
        y[train],
        rng=rng,
        step_size=step_size,
        sampling="poisson",
        batch_size=round(q * n),
        clip_norm=CLIP_NORM,
        noise_multiplier=list(noises),
        correlation=CORRELATIONS,
        initial=start,
    )
    training.advance(updates // 2)
    mean = np.zeros(training.weights.shape[1:])
    for _ in range(updates - updates // 2):
        mean += training.advance(1).weights[0]
    rows = network.features(x[test])
    return [int(np.sum(y[test] * network.values(w, rows) > 0)) for w in mean]


def bracket(q: float, releases: int, epsilon: float, correlation: float) -> tuple[float, float]:
    """Return a noise multiplier that is too small and one that is enough."""
    if correlation == 0:
        exact = Poisson(sampling_probability=q, steps=releases).noise_for(
            epsilon=epsilon, delta=DELTA
        )
        return exact, exact
    run = CorrelatedPoisson(correlation=correlation, sampling_probability=q, steps=releases)
    return run.noise_for(epsilon=epsilon, delta=DELTA)


def calibrations() -> list[list[object]]:
    """Compute the first table."""
    table: list[list[object]] = [["q", "releases", "epsilon", "correlation", "lower", "upper"]]
    for q, releases in SCHEDULES:
        for epsilon in BUDGETS:
            for lam in (0.0, *GRID):
                low, high = bracket(q, releases, epsilon, lam)
                table.append([q, releases, epsilon, lam, f"{low:.6g}", f"{high:.6g}"])
            print(q, releases, epsilon, flush=True)
    return table


def trainings() -> list[list[object]]:
    """Compute the second table."""
    table: list[list[object]] = [[*COLUMNS, "correct"]]
    for name in TRAINED:
        for q, updates in RATES:
            for epsilon in EPSILONS:
                noises = [noise(name, q, updates, epsilon, lam) for lam in CORRELATIONS]
                for step_size in STEP_SIZES:
                    counts = np.array(
                        [correct(name, q, updates, noises, step_size, k) for k in range(RUNS)]
                    )
                    for lam, kappa, column in zip(CORRELATIONS, noises, counts.T, strict=True):
                        setting = (name, q, updates, epsilon, lam, f"{kappa:.6g}", step_size)
                        table.append([*setting, " ".join(map(str, column))])
                print(name, q, epsilon, flush=True)
    return table


def main(kind: str, path: str) -> None:
    """Write a table, "calibrations" or "trainings", to a file."""
    table = {"calibrations": calibrations, "trainings": trainings}[kind]()
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {COMMAND} {kind} {path}\n")
        csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
