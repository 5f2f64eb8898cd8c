"""Correlated noise: where the exact noise lies between the two bounds of its chapter.

Run from the root of the book; on one core it takes seven minutes:

    python tools/sweeps/correlated_truth.py truth notebooks/kan/data/correlated_truth.csv

For two correlations at a schedule where the bounds are wide apart, the table has the noise
multiplier at which removing a record has delta 1e-5, with its standard error. Poisson sampling,
zero-out neighbours.

The method is sequential importance sampling. Runs with the record are drawn step by
step, participations and noise, with their privacy loss so far, which the forward filter of
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
DELTA, RUNS, NODES, REPEATS = 1e-5, 8000, 61, 3
CASES = tuple((0.01, 1000, 8.0, lam) for lam in (0.5, 0.9))


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
    """Find a tilt with many effective samples."""

    def quality(tilt: float) -> float:
        return sum(np.sqrt(sampled(kappa, case, tilt, 2000, 1000 + k)[2]) for k in range(2))

    return float(max(np.geomspace(1.0, 3.0, 5), key=quality))


def exact_noise(
    case: tuple[float, int, float, float], lower: float, upper: float
) -> tuple[float, float, float]:
    """Return the noise of delta 1e-5, its standard error, and the least effective sample.

    Three noises about the middle of the bracket give a slope and a guess, two about the guess the
    value.
    """

    def estimates(noise: float, tilt: float, repeats: int) -> NDArray[np.float64]:
        return np.array([sampled(noise, case, tilt, RUNS, seed) for seed in range(repeats)])

    guess = np.sqrt(lower * upper)
    tilt = tilted(guess, case)
    places = guess * np.array([0.9, 1.0, 1.1])
    logs = [np.log(estimates(noise, tilt, REPEATS)[:, 0].mean()) for noise in places]
    slope, offset = np.polyfit(np.log(places), logs, 1)
    guess = np.exp((np.log(DELTA) - offset) / slope)
    tilt = tilted(guess, case)
    near = [estimates(factor * guess, tilt, 2 * REPEATS) for factor in (0.97, 1.03)]
    means = [runs[:, 0].mean() for runs in near]
    error = [runs[:, 0].std(ddof=1) / runs[:, 0].mean() / np.sqrt(len(runs)) for runs in near]
    noise = guess * np.exp((np.log(DELTA) - np.log(means).mean()) / slope)
    least = min(float(runs[:, 2].min()) for runs in near)
    return float(noise), float(noise * np.mean(error) / abs(slope)), least


def stored(folder: Path) -> dict[tuple[float, int, float, float], tuple[float, float]]:
    """Read the brackets of the correlations above zero."""
    with (folder / "calibrations.csv").open() as file:
        next(file)
        rows = [[float(v) for v in row.values()] for row in csv.DictReader(file)]
    return {(q, int(t), e, lam): (low, high) for q, t, e, lam, low, high in rows if lam > 0}


def main(kind: str, path: str) -> None:
    """Write the table "truth" to a file."""
    bracket = stored(Path(path).parent)
    columns = ["q", "releases", "epsilon", "correlation"]
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {COMMAND} {kind} {path}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*columns, "noise", "standard_error", "effective"])
        for case in CASES:
            noise, error, least = exact_noise(case, *bracket[case])
            table.writerow([*case, f"{noise:.4g}", f"{error:.2g}", f"{least:.0f}"])


if __name__ == "__main__":
    main(*sys.argv[1:])
