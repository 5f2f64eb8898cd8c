"""Correlated noise: where the exact noise lies between the two bounds of its chapter.

Run from the root of the book; on one core it takes a quarter of an hour:

    python tools/sweeps/correlated_truth.py notebooks/kan/data/correlated_truth.csv

For some schedules, budgets and correlations of `calibrations.csv` the table has the noise
multiplier at which removing a record has delta 1e-5, with its standard error. Poisson sampling,
zero-out neighbours.

The method is sequential importance sampling. Runs with the record are drawn step by step,
participations and noise, with their privacy loss so far, which the forward filter of
`correlated_loss` gives. They are weighted by the exponential of the loss times a tilt, and
resampled when the weights become uneven. So the mean over the runs at the end estimates delta
without bias but for the grid of the filter, also where a delta of 1e-5 comes from rare runs of
participations that no fixed proposal finds. Estimates at three noises and their common slope give
the noise; the error is that of independent repetitions. A reference, not a certificate.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

COMMAND = "python tools/sweeps/correlated_truth.py"
DELTA, RUNS, NODES, REPEATS = 1e-5, 2000, 61, 6
CASES = (
    [(0.01, 1000, e, lam) for e in (2.0, 8.0) for lam in (0.25, 0.5, 0.9, 0.98)]
    + [(0.02, 150, 8.0, lam) for lam in (0.25, 0.5, 0.9, 0.98)]
    + [(0.1, 400, 8.0, lam) for lam in (0.25, 0.5, 0.9, 0.98)]
)


def filtering(q: float, lam: float) -> tuple[NDArray[np.float64], csr_array]:
    """Return the grid of the record's memory, and how a step moves mass on it."""
    states = np.linspace(0.0, 1 / (1 - lam), NODES)
    origin = np.arange(NODES)
    moves = csr_array((NODES, NODES))
    for part, weight in ((0.0, 1 - q), (1.0, q)):
        place = np.minimum((lam * states + part) / states[1], NODES - 1)
        low = np.minimum(place.astype(int), NODES - 2)
        shares = weight * np.concatenate([low + 1 - place, place - low])
        rows, columns = np.concatenate([low, low + 1]), np.concatenate([origin, origin])
        moves = moves + csr_array((shares, (rows, columns)), shape=(NODES, NODES))
    return states, csr_array(moves)


def sampled(
    kappa: float, case: tuple[float, int, float, float], tilt: float, runs: int, seed: int
) -> tuple[float, float, float]:
    """Estimate delta once; also the share of losses above epsilon and the effective sample."""
    q, releases, epsilon, lam = case
    rng = np.random.default_rng([seed, 97])
    states, moves = filtering(q, lam)
    offsets = (-(states**2) / (2 * kappa**2))[:, None]
    law = np.zeros((NODES, runs))
    law[0] = 1.0
    memory, loss, log_weights = np.zeros((3, runs))
    log_mean = 0.0
    for step in range(releases):
        memory = lam * memory + (rng.random(runs) < q)
        output = memory + kappa * rng.standard_normal(runs)
        exponents = np.multiply.outer(states / kappa**2, output) + offsets
        law = (moves @ law) * np.exp(exponents)
        total = law.sum(axis=0)
        law /= total
        loss += np.log(total)
        log_weights += tilt * np.log(total)
        weights = np.exp(log_weights - log_weights.max())
        if weights.sum() ** 2 < runs / 2 * (weights @ weights) and step < releases - 1:
            log_mean += np.log(weights.mean()) + log_weights.max()
            places = (np.arange(runs) + rng.random()) / runs
            kept = np.searchsorted(np.cumsum(weights) / weights.sum(), places)
            kept = kept.clip(max=runs - 1)
            law, memory, loss = law[:, kept], memory[kept], loss[kept]
            log_weights = np.zeros(runs)
    gain = -np.expm1(np.minimum(epsilon - loss, 0.0))
    values = np.exp(log_mean + log_weights - tilt * loss) * gain
    effective = values.sum() ** 2 / max(float(values @ values), 1e-300)
    return float(values.mean()), float(np.mean(loss > epsilon)), float(effective)


def tilted(kappa: float, case: tuple[float, int, float, float]) -> float:
    """Find a tilt at which about two runs in five end above epsilon."""
    low, high = 0.2, 12.0
    for seed in range(6):
        middle = np.sqrt(low * high)
        if sampled(kappa, case, middle, 300, 1000 + seed)[1] < 0.4:
            low = middle
        else:
            high = middle
    return float(np.sqrt(low * high))


def exact_noise(
    case: tuple[float, int, float, float], lower: float, upper: float
) -> tuple[float, float, float]:
    """Return the noise of delta 1e-5, its standard error, and the least effective sample."""
    places, logs, spread, least = [], [], [], np.inf
    guess = np.sqrt(lower * upper)
    for _ in range(2):  # the second time around the first solution
        tilt = tilted(guess, case)
        for factor in (0.96, 1.0, 1.04):
            runs = [sampled(factor * guess, case, tilt, RUNS, seed) for seed in range(REPEATS)]
            values = np.array([run[0] for run in runs])
            places.append(np.log(factor * guess))
            logs.append(np.log(values.mean()))
            spread.append(values.std(ddof=1) / values.mean() / np.sqrt(REPEATS))
            least = min(least, min(run[2] for run in runs))
        slope, offset = np.polyfit(places[-3:], logs[-3:], 1)
        guess = np.exp((np.log(DELTA) - offset) / slope)
        if abs(guess / np.exp(places[-2]) - 1) < 0.04:
            break
        least = np.inf
    error = float(np.mean(spread[-3:]) / abs(slope))
    return float(guess), float(guess) * error, float(least)


def main(path: str) -> None:
    """Write the table to a file."""
    here = Path(path).parent / "calibrations.csv"
    with here.open() as file:
        next(file)
        bracket = {
            tuple(float(row[c]) for c in ("q", "releases", "epsilon", "correlation")): row
            for row in csv.DictReader(file)
        }
    columns = ("q", "releases", "epsilon", "correlation", "noise", "standard_error", "effective")
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {COMMAND} {path}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        for case in CASES:
            row = bracket[case]
            noise, error, least = exact_noise(case, float(row["lower"]), float(row["upper"]))
            table.writerow([*case, f"{noise:.4g}", f"{error:.2g}", f"{least:.0f}"])
            file.flush()
            print(*case, row["lower"], f"{noise:.4g} ({error:.2g})", row["upper"], f"{least:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
