"""Grids of configurations: run in parallel or on a cluster, resumable, as one tidy table."""

import hashlib
import inspect
import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.sparse import issparse
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
        Folder of this grid, made if absent. A finished chunk is stored there at once; the same call
        again reads what is there and computes the rest. The files know the configurations, the
        seed, the name of the task and its bound arguments, but not the task's code: change the
        folder when you change the code.
    n_jobs : int, optional
        As in joblib. Default: what the surrounding ``joblib.parallel_config`` says, otherwise 1.
    chunk_size : int
        Configurations in a chunk. It decides which share a generator: it changes the draws.
    progress : bool
        Show a bar that counts chunks.

    Raises
    ------
    ValueError
        If an argument is out of range, the rows are not as described, `path` holds files of another
        grid or a damaged file, or is given for a task without a name of its own (a lambda or a
        function inside a function).
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
    store = None if path is None else _Store(Path(path), _name(task), seed)
    done = {} if store is None else store.read(chunks)
    shared = _Shared(task)
    calls = (
        joblib.delayed(_run)(shared, index, chunk, seed)
        for index, chunk in enumerate(chunks)
        if index not in done
    )
    with tqdm(total=len(chunks), initial=len(done), unit="chunk", disable=not progress) as bar:
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for index, rows in parallel(calls):
            _check_columns([*next(iter(done.values()), []), *rows], chunks[index])
            if store is not None:
                store.write(chunks[index], rows)
            done[index] = rows
            bar.update()
    return pd.DataFrame([row for index in range(len(chunks)) for row in done[index]])


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


def _run(shared: _Shared, index: int, chunk: _Chunk, seed: int) -> tuple[int, list[Row]]:
    try:
        rows = shared.task([dict(c) for c in chunk.configurations], chunk.generator(seed))
        records = rows.to_dict("records") if isinstance(rows, pd.DataFrame) else rows
        return index, [_row(record) for record in records]
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


def _name(task: Task) -> str:
    """Return what a task is called, with a digest of what is bound to it."""
    function: Any = task
    while isinstance(function, partial):
        function = function.func
    if not hasattr(function, "__qualname__"):
        function = type(function)
    name = f"{function.__module__}.{function.__qualname__}"
    if "<" in name:
        raise ValueError(f"task must be a function with a name of its own to be stored, got {name}")
    return name if inspect.isfunction(task) else f"{name} with {joblib.hash(_bare(task))}"


def _bare(value: Any) -> Any:
    """Return what a digest shall see: the content of data classes and matrices, no caches."""
    if isinstance(value, partial):
        return ["partial", _bare(value.func), _bare(value.args), _bare(value.keywords)]
    if inspect.ismethod(value):
        return [value.__func__.__qualname__, _bare(value.__self__)]
    if is_dataclass(value) and not isinstance(value, type):
        content = {field.name: _bare(getattr(value, field.name)) for field in fields(value)}
        return [type(value).__qualname__, content]
    if issparse(value):
        entries = value.tocoo()
        return [entries.shape, *entries.coords, entries.data]
    if isinstance(value, dict):
        return {name: _bare(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_bare(entry) for entry in value]
    return value


@dataclass(frozen=True)
class _Store:
    """Folder with one file per finished chunk: a line that says whose it is, a line per row."""

    folder: Path
    task: str
    seed: int

    def file(self, chunk: _Chunk) -> Path:
        """Return the place of a chunk; the name is a digest of what decides its rows."""
        key = json.dumps([self.task, self.seed, chunk.text])
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.jsonl"

    def head(self, chunk: _Chunk, body: str) -> str:
        """Return the first line of a file, which also vouches for the others."""
        digest = hashlib.sha256(body.encode()).hexdigest()
        described = {"task": self.task, "seed": self.seed, "configurations": chunk.configurations}
        return json.dumps({**described, "sha256": digest})

    def write(self, chunk: _Chunk, rows: list[Row]) -> None:
        """Store the rows of a chunk: the file is there in full or not at all."""
        body = "".join(json.dumps(row) + "\n" for row in rows)
        target = self.file(chunk)
        temporary = target.with_name(f".{target.stem}.{os.getpid()}.tmp")
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(self.head(chunk, body) + "\n" + body)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)

    def read(self, chunks: list[_Chunk]) -> dict[int, list[Row]]:
        """Return the rows of the chunks that are stored, by the chunk's number."""
        self.folder.mkdir(parents=True, exist_ok=True)
        files = [self.file(chunk) for chunk in chunks]
        present = {file for file in self.folder.iterdir() if not file.name.startswith(".")}
        if foreign := sorted(present - set(files)):
            raise ValueError(
                f"path {self.folder} holds {len(foreign)} file(s) that are not of this grid, such "
                f"as {foreign[0].name}{_owner(foreign[0])}; this grid has task {self.task}, seed "
                f"{self.seed} and {len(chunks)} chunk(s): give another path or delete them"
            )
        done = {}
        for index, (chunk, file) in enumerate(zip(chunks, files, strict=True)):
            if file in present:
                head, _, body = file.read_bytes().decode("utf-8", "replace").partition("\n")
                if head != self.head(chunk, body):
                    raise ValueError(f"{file} is damaged: delete it and its chunk is run again")
                done[index] = [json.loads(line) for line in body.splitlines()]
        return done


def _owner(file: Path) -> str:
    """Return what the first line of a foreign file says about its task and seed, if it does."""
    try:
        with file.open(encoding="utf-8") as lines:
            head = json.loads(next(lines))
        return f" (task {head['task']}, seed {head['seed']})"
    except (OSError, ValueError, StopIteration, KeyError, TypeError):
        return ""
