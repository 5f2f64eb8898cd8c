"""Longer sweeps behind the chapter on private training of text classifiers.

    python tools/sweeps/private_training.py [--jobs 2] [--engine numba] [--cache FOLDER] [NAME ...]

writes notebooks/adaptive/data/NAME.csv for NAME in crossing, noise, tuning, table. Every table is a
grid of chunks; a chunk draws a law of texts, a training set and a test set from it, and trains the
optimisers on the same batches with the same noise. The engines give the same numbers up to
rounding: numba is faster, numpy needs nothing besides the book's own dependencies.
"""

import argparse
import copy
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from dpdynamics.problems import movie_reviews
from dpdynamics.training import grid, run_grid, train_configurations

FOLDER = Path(__file__).parents[2] / "notebooks" / "adaptive" / "data"
SEED = 0
TRAIN, TEST, EVALUATED = 25_000, 5_000, 10_000
EPOCH = TRAIN // 64  # steps at batch size 64
EPOCHS = 4
STEPS = EPOCHS * EPOCH
TABLE = {"sgd": 5.0, "sign": 0.1, "adam": 0.1}  # learning rates of the paper's Table C.1
POWERS = {"sgd": 1.0, "sign": 0.5, "adam": 0.5}  # of the number of steps that one stands for
COLUMNS = {
    "crossing": ["train_loss"],
    "noise": ["step", "train_loss", "test_loss"],
    "tuning": ["train_loss", "test_loss", "clipped_share"],
    "table": ["train_loss", "diverged"],
}


def runs(experiment, batch_size, steps):
    """Return the optimisers of an experiment with the arguments of their trainer."""
    clips = 0.5
    if experiment == "crossing":
        noise = np.geomspace(1.6, 4.8, 6) * batch_size / 64
        rates = {o: TABLE[o] for o in ("sgd", "sign")}
    elif experiment == "noise":
        noise = np.array([0.25, 0.5, 0.8, 1.0, 1.2, 1.6, 2.0, 4.0, 6.0, 8.0, 12.0])
        rates = TABLE
    elif experiment == "tuning":
        noise = np.array([0.2, 0.4, 0.8, 1.6, 3.2, 6.4])
        scaled = np.geomspace(0.002, 0.2, 14)[:, None]  # eta' = eta C sigma / B for DP-SGD
        rates = {
            "sgd": scaled * batch_size / (clips * noise),
            "sign": scaled * np.sqrt(np.pi / 2),
            "adam": scaled,
        }
    else:
        factor = 100 * EPOCH / steps  # 100 epochs in fewer steps: see the chapter
        noise = factor**-0.5
        printed = np.array([0.001, 0.01, 0.1, 1.0, 3.0, 5.0, 10.0])[:, None]
        rates = {o: printed * factor**power for o, power in POWERS.items()}
        clips = np.array([0.1, 0.25, 0.5, 1.0, 5.0])
    return {
        o: {"learning_rate": rate, "noise_multiplier": noise, "clip_norm": clips}
        for o, rate in rates.items()
    }


def train_chunk(configurations, rng, *, engine="numpy"):
    """Train every run of one chunk; the optimisers start from the same state of the generator."""
    (chunk,) = configurations
    train, test = movie_reviews(rng, train_size=TRAIN, test_size=TEST, rows=chunk["rows"])
    if chunk["labels"] == "permuted":
        train = train.with_permuted_labels(rng)
    steps = chunk["steps"]
    record = (
        np.unique(np.geomspace(10, steps, 16).round().astype(int))
        if chunk["experiment"] == "noise"
        else None
    )
    frames = [
        train_configurations(
            train,
            test,
            optimizer=optimizer,
            rng=copy.deepcopy(rng),
            steps=steps,
            batch_size=chunk["batch_size"],
            sampling="shuffle",
            record=record,
            evaluation_rows=EVALUATED,
            engine=engine,
            **arguments,
        )
        for optimizer, arguments in runs(chunk["experiment"], chunk["batch_size"], steps).items()
    ]
    frame = pd.concat(frames)
    settings = ["optimizer", "learning_rate", "clip_norm", "noise_multiplier"]
    return frame[settings + COLUMNS[chunk["experiment"]]].assign(**chunk)


def chunks(experiment):
    """Return the chunks of an experiment."""
    common = {"experiment": experiment, "rows": "unit", "labels": "true"}
    if experiment == "crossing":
        settings = [(b, EPOCHS * (TRAIN // b), "true") for b in (48, 64, 80)]  # fixed epochs
        settings += [(b, STEPS, "true") for b in (16, 48, 80, 256)]  # fixed steps
        settings += [(b, EPOCHS * (TRAIN // b), "permuted") for b in (48, 80)]
        return [
            c
            for batch_size, steps, labels in settings
            for c in grid(
                **{**common, "labels": labels},
                batch_size=batch_size,
                steps=steps,
                replicate=range(8),
            )
        ]
    at_64 = {"batch_size": 64, "steps": STEPS}
    if experiment == "noise":
        return grid(**common, **at_64, replicate=range(8))
    if experiment == "tuning":
        multi_hot = grid(**{**common, "rows": "multi-hot"}, **at_64, replicate=range(3))
        return grid(**common, **at_64, replicate=range(8)) + multi_hot
    return grid(**{**common, "rows": ["unit", "multi-hot"]}, **at_64, replicate=range(2))


def write(experiment, jobs, engine, cache):
    """Run one experiment and write its table."""
    folder = None if cache is None else Path(cache) / f"{experiment}-{engine}"
    task = partial(train_chunk, engine=engine)
    table = run_grid(task, chunks(experiment), seed=SEED, path=folder, n_jobs=jobs, progress=True)
    table = table.loc[:, table.nunique() > 1]  # what is the same in all rows is in `chunks`
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{experiment}.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(f"# python tools/sweeps/private_training.py {experiment}\n")
        table.to_csv(file, index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(COLUMNS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--engine", default="numba", choices=["numba", "numpy"])
    parser.add_argument("--cache", help="folder of finished chunks, to resume an interrupted sweep")
    options = parser.parse_args()
    for name in options.names:
        write(name, options.jobs, options.engine, options.cache)
