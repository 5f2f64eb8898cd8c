"""Grids of configurations: run in parallel or on a cluster, resumable, as one tidy table."""

import hashlib
import itertools
import json
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ..arguments import whole

Scalar = bool | int | float | str | None
Row = dict[str, Scalar]
Task = Callable[[list[Row], np.random.Generator], "Iterable[Mapping[str, Any]] | pd.DataFrame"]

SHOWN = 3  # configurations that a message spells out


def grid(**axes: Any) -> list[Row]:
    """Return the product of the axes as configurations, the last axis varying fastest.

    An axis is an iterable of numbers, texts, booleans or None, or one of them alone, the same in
    every configuration. ValueError if it is empty or holds anything else.

    Examples
    --------
    >>> grid(method="DP-SGD", epsilon=[0.5, 1.0], replicate=range(2))[1]
    {'method': 'DP-SGD', 'epsilon': 0.5, 'replicate': 1}
    """
    values = {}
    for name, axis in axes.items():
        alone = isinstance(axis, str) or not isinstance(axis, Iterable)
        values[name] = [_scalar(name, value) for value in ([axis] if alone else axis)]
        if not values[name]:
            raise ValueError(f"{name} must have at least one value")
    return [
        dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())
    ]


def run_grid(
    task: Task,
    configurations: Sequence[Mapping[str, Any]],
    *,
    seed: int,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    chunk_size: int = 1,
    progress: bool = False,
) -> pd.DataFrame:
    """Run a task on every configuration and return all its rows as one table.

    The configurations are cut, in their order, into chunks; the task is called once per chunk with
    the child of ``SeedSequence(seed)`` whose spawn key is the SHA-256 digest of its configurations.
    So the table is the same for every number of jobs, every backend of joblib, every order of
    execution and after an interruption (as far as the task's own arithmetic is). Inside
    ``joblib.parallel_config(backend="dask")`` the chunks run on the Dask cluster to which a
    ``distributed.Client`` is connected.

    Parameters
    ----------
    task : callable
        ``task(configurations, rng)`` gets the list of the configurations of a chunk and returns
        rows: mappings with the same columns everywhere, or a data frame. A row holds numbers,
        texts, booleans or None, and repeats those entries of its configuration that the table shall
        show. Data are bound by ``functools.partial(task, data=data)``.
    configurations : sequence of mappings
        As `grid` makes them; no two are equal (tell repetitions apart by an entry ``replicate``).
    seed : int
        At least 0.
    path : path, optional
        Folder of a ``joblib.Memory``, which all workers see. A finished chunk is stored there at
        once, under its configurations, the seed, the task's name and its bound arguments: the same
        call again computes the rest, and another grid shares nothing with it. The task's code is
        not part of the key: change the folder when you change the code.
    n_jobs : int, optional
        As in joblib. Default: what the surrounding ``joblib.parallel_config`` says, otherwise 1.
    chunk_size : int
        Configurations in a chunk. It decides which share a generator: it changes the draws.
    progress : bool
        Show a bar that counts chunks.

    Raises
    ------
    ValueError
        If an argument is out of range, the rows are not as described, or `path` is given for a task
        without a name of its own (a lambda or a function inside a function).
    RuntimeError
        If the task fails: names its configurations and the error. Chunks stored by then stay.

    Examples
    --------
    >>> def mean(configurations, rng):
    ...     return [{**c, "mean": rng.normal(size=c["n"]).mean()} for c in configurations]
    >>> run_grid(mean, grid(n=[10, 1000], replicate=range(5)), seed=0).shape
    (10, 3)
    """
    seed = whole("seed", seed, 0)
    chunks = _chunks(configurations, whole("chunk_size", chunk_size, 1))
    if not isinstance(n_jobs, int | np.integer | None) or abs(n_jobs or 0) > 2**20:
        raise ValueError(f"n_jobs must be an integer, got {n_jobs!r}")
    run, name = _run, ""
    if path is not None:
        name = _digest(task)
        memory = joblib.Memory(os.fspath(path), verbose=0, compress=True)
        run = memory.cache(_run, ignore=["shared"])
    shared = _Shared(task)
    tasks = [joblib.delayed(run)(shared, name, chunk, seed) for chunk in chunks]
    results = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    bar = tqdm(results, total=len(chunks), unit="chunk", disable=not progress)
    table: list[Row] = []
    for chunk, (found, rows) in zip(chunks, bar, strict=True):
        if found != chunk:
            raise ValueError(f"path {path} is damaged: it gives {found} for {chunk}")
        _check_columns([*table[:1], *rows], chunk)
        table += rows
    return pd.DataFrame(table)


@dataclass(frozen=True)
class _Chunk:
    configurations: tuple[Row, ...]

    @property
    def text(self) -> str:
        return json.dumps(self.configurations, sort_keys=True)

    def generator(self, seed: int) -> np.random.Generator:
        words = np.frombuffer(hashlib.sha256(self.text.encode()).digest(), dtype=">u4")
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=words.tolist()))

    def __str__(self) -> str:
        shown = ", ".join(str(c) for c in self.configurations[:SHOWN])
        more = len(self.configurations) - SHOWN
        return shown + (f" and {more} more" if more > 0 else "")


def _chunks(configurations: Sequence[Mapping[str, Any]], size: int) -> list[_Chunk]:
    rows = [_row(configuration) for configuration in configurations]
    if not rows:
        raise ValueError("configurations must not be empty")
    (text, count), *_ = Counter(_Chunk((row,)).text for row in rows).most_common(1)
    if count > 1:
        raise ValueError(f"configurations must differ: {text} comes {count} times")
    return [_Chunk(tuple(rows[i : i + size])) for i in range(0, len(rows), size)]


@dataclass(frozen=True, eq=False)
class _Shared:
    """A task with its data, which the Dask backend of joblib shall send once to each worker."""

    task: Task

    def __sizeof__(self) -> int:
        return 10_000  # joblib scatters an argument that is larger than 1000, else sends copies


def _digest(task: Task) -> str:
    """Return a digest of a task, of the content of what is bound to it included."""
    try:
        return joblib.hash(task)
    except (AttributeError, pickle.PicklingError) as error:
        raise ValueError(
            f"task must be a function with a name of its own to be stored: {error}"
        ) from None


def _run(shared: _Shared, name: str, chunk: _Chunk, seed: int) -> tuple[_Chunk, list[Row]]:
    try:
        rows = shared.task([dict(c) for c in chunk.configurations], chunk.generator(seed))
        records = rows.to_dict("records") if isinstance(rows, pd.DataFrame) else rows
        return chunk, [_row(record) for record in records]
    except Exception as error:
        message = f"the task failed on {chunk}: {type(error).__name__}: {error}"
        raise RuntimeError(message) from error


def _scalar(name: str, value: Any) -> Scalar:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{name} must be a number, a text, a boolean or None, got {value!r}")


def _row(record: Mapping[Any, Any]) -> Row:
    if not isinstance(record, Mapping) or not all(isinstance(name, str) for name in record):
        raise ValueError(f"a row or a configuration must map names to values, got {record!r}")
    return {name: _scalar(name, value) for name, value in record.items()}


def _check_columns(rows: list[Row], chunk: _Chunk) -> None:
    if not rows:
        raise ValueError(f"the task must return at least one row, got none for {chunk}")
    for row in rows:
        if row.keys() != rows[0].keys():
            difference = sorted(row.keys() ^ rows[0].keys())
            raise ValueError(f"rows must have equal columns, {chunk} differs in {difference}")
