"""Grids: the same table however it is computed, and nothing foreign in it."""

import hashlib
import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

from dpdynamics.problems.text import review_law
from dpdynamics.training.grids import grid, run_grid
from grid_tasks import Data, fail_at_two, first_norm, first_place, walk, where

CONFIGURATIONS = grid(scale=[0.5, 1], replicate=range(4))


def stored(folder: Path) -> list[Path]:
    """The finished chunks of a folder."""
    return sorted(folder.rglob("output.pkl"))


def rng(seed):
    return np.random.default_rng(seed)


def same(table: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Whether two tables agree in every bit, type and name."""
    pd.testing.assert_frame_equal(table, other, check_exact=True)
    return table.to_json(double_precision=15) == other.to_json(double_precision=15)


def test_grid_is_the_product():
    made = grid(method="a", epsilon=np.array([0.5, math.inf]), replicate=range(2), private=True)
    assert len(made) == 4
    assert made[1] == {"method": "a", "epsilon": 0.5, "replicate": 1, "private": True}
    assert {type(c["epsilon"]) for c in made} == {float}
    assert grid() == [{}]


@pytest.mark.parametrize("axis", [[], [1j], [[1, 2]], object(), [np.zeros(2)]])
def test_grid_refuses(axis):
    with pytest.raises(ValueError, match="rate must"):
        grid(rate=axis)


@pytest.mark.parametrize("chunk_size", [1, 3, 8, 100])
def test_the_table_depends_on_no_backend(chunk_size):
    run = partial(run_grid, walk, CONFIGURATIONS, seed=3, chunk_size=chunk_size)
    table = run()
    assert table.columns.tolist() == ["scale", "replicate", "step", "place"]
    assert table["replicate"].tolist() == [r for r in [*range(4), *range(4)] for _ in range(2)]
    assert same(table, run(n_jobs=2))
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert same(table, run())


def test_the_jobs_are_processes_and_the_surrounding_configuration_counts():
    processes = run_grid(where, CONFIGURATIONS, seed=0, n_jobs=2)["process"]
    assert os.getpid() not in set(processes)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert os.getpid() not in set(run_grid(where, CONFIGURATIONS, seed=0)["process"])
    assert set(run_grid(where, CONFIGURATIONS, seed=0)["process"]) == {os.getpid()}


def test_a_row_depends_on_its_configuration_alone():
    table = run_grid(walk, CONFIGURATIONS, seed=3)
    backwards = run_grid(walk, CONFIGURATIONS[::-1], seed=3)
    order = ["scale", "replicate", "step"]
    assert same(table.sort_values(order), backwards.sort_values(order).set_index(table.index))
    assert same(table[:4], run_grid(walk, CONFIGURATIONS[:2], seed=3))
    renamed = [dict(reversed(c.items())) for c in CONFIGURATIONS]
    assert same(table, run_grid(walk, renamed, seed=3)[table.columns.tolist()])


def test_the_generator_is_the_documented_child_of_the_seed():
    def draw(configurations, rng):
        return [{**configurations[0], "draw": rng.random()}]

    chunk = [{"a": 1, "b": 0.5}]
    digest = hashlib.sha256(json.dumps(chunk).encode()).hexdigest()
    key = tuple(int(digest[i : i + 8], 16) for i in range(0, 64, 8))
    child = np.random.default_rng(np.random.SeedSequence(7, spawn_key=key))
    assert run_grid(draw, chunk, seed=7)["draw"].item() == child.random()
    draws = run_grid(draw, grid(a=range(200), b=[1, 1.0]), seed=7)["draw"]
    assert draws.nunique() == 400
    assert not set(draws) & set(run_grid(draw, grid(a=range(200), b=[1, 1.0]), seed=8)["draw"])


KILLED = """
import numpy as np
from functools import partial
from grid_tasks import Data, walk
from dpdynamics.problems.text import review_law
from dpdynamics.training.grids import grid, run_grid
run_grid(partial(walk, data=Data(np.arange(3.0))), grid(scale=0.1, replicate=range(6)), seed=5,
         path=__import__("sys").argv[1])
"""


def test_a_killed_run_goes_on(tmp_path, monkeypatch):
    """The process dies in chunk 4 of 6; another process computes the last two alone."""
    folder, log = tmp_path / "grid", tmp_path / "log"
    root = Path(__file__).parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root / "tests"), str(root / "lib")]),
        "PYTHONHASHSEED": "1",
        "GRID_STOP": "4",
    }
    killed = subprocess.run([sys.executable, "-c", KILLED, str(folder)], env=environment)
    assert killed.returncode == 9
    before = {file: file.read_bytes() for file in stored(folder)}
    assert len(before) == 4

    def run(**changes):
        task = partial(walk, data=Data(np.arange(3.0)))
        return run_grid(task, grid(scale=0.1, replicate=range(6)), seed=5, **changes)

    monkeypatch.setenv("GRID_LOG", str(log))
    resumed = run(path=folder)
    assert log.read_text().split() == ["4", "5"]
    assert same(resumed, run(path=folder))
    assert log.read_text().split() == ["4", "5"]
    assert same(resumed, run())
    assert {file: file.read_bytes() for file in before} == before
    assert len(stored(folder)) == 6


def test_a_grid_grows(tmp_path):
    run_grid(walk, CONFIGURATIONS[3:6], seed=1, path=tmp_path)
    kept = {file: file.stat().st_mtime_ns for file in stored(tmp_path)}
    assert len(kept) == 3
    table = run_grid(walk, CONFIGURATIONS, seed=1, path=tmp_path)
    assert same(table, run_grid(walk, CONFIGURATIONS, seed=1))
    assert {file: file.stat().st_mtime_ns for file in kept} == kept


def test_values_survive_the_file(tmp_path):
    values = [1, 0.1, -0.0, 5e-324, math.inf, math.nan, True, None, "é\u2028\n", np.float32(0.1)]

    def listed(configurations, rng):
        return [{"i": c["i"], "value": values[c["i"]]} for c in configurations]

    globals()["listed"] = listed
    listed.__qualname__ = "listed"
    run = partial(run_grid, listed, grid(i=range(len(values))), seed=0, path=tmp_path)
    first, second = run()["value"].tolist(), run()["value"].tolist()
    assert list(map(repr, first)) == list(map(repr, second))
    assert first[:5] == values[:5]
    assert math.copysign(1, second[2]) == -1
    assert second[-1] == float(np.float32(0.1))


def test_a_damaged_file_is_computed_again(tmp_path):
    run = partial(run_grid, walk, CONFIGURATIONS[:1], seed=1, path=tmp_path)
    table = run()
    (file,) = stored(tmp_path)
    good = file.read_bytes()
    for position in range(0, len(good), 3):
        for bad in (good[:position], good[:position] + b"7" + good[position + 1 :]):
            file.write_bytes(bad)
            assert same(table, run())


def test_a_file_under_the_name_of_another_chunk_is_refused(tmp_path):
    run_grid(walk, CONFIGURATIONS[:2], seed=1, path=tmp_path)
    first, second = stored(tmp_path)
    second.write_bytes(first.read_bytes())
    with pytest.raises(ValueError, match=r"is damaged: it gives .*'replicate': [01]"):
        run_grid(walk, CONFIGURATIONS[:2], seed=1, path=tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 2},
        {"task": first_place},
        {"task": partial(walk, data=Data(np.ones(2)))},
        {"configurations": CONFIGURATIONS[1:]},
        {"chunk_size": 2},
    ],
    ids=["seed", "task", "bound", "configurations", "chunk_size"],
)
def test_grids_in_one_folder_are_told_apart(tmp_path, other):
    mine = {"task": partial(walk, data=Data(np.zeros(2))), "configurations": CONFIGURATIONS}
    mine |= {"seed": 1, "chunk_size": 1}
    run_grid(**mine, path=tmp_path)
    assert same(run_grid(**mine | other, path=tmp_path), run_grid(**mine | other))
    assert same(run_grid(**mine, path=tmp_path), run_grid(**mine))


def test_data_that_cache_something_stay_the_same_data(tmp_path):
    data = review_law(rng(0), 30).sample(rng(1), 20)
    run = partial(run_grid, configurations=CONFIGURATIONS, seed=1, path=tmp_path)
    table = run(partial(first_norm, data=data))
    assert data.row_norms.size == 20
    assert same(table, run(partial(first_norm, data=data)))
    other = partial(first_norm, data=data.subset(slice(1, None)))
    assert same(run(other), run_grid(other, CONFIGURATIONS, seed=1))


@pytest.mark.parametrize("backend", ["sequential", "loky", "threading"])
def test_an_error_names_its_configuration(tmp_path, backend):
    configurations = grid(scale=0.25, replicate=range(4))
    jobs = 1 if backend == "sequential" else 2
    with (
        joblib.parallel_config(backend=backend, n_jobs=jobs),
        pytest.raises(RuntimeError, match=r"'scale': 0.25, 'replicate': 2}: ZeroDiv.*: planted"),
    ):
        run_grid(fail_at_two, configurations, seed=1, path=tmp_path)
    if backend == "sequential":
        assert len(stored(tmp_path)) == 2


def test_an_error_in_a_long_chunk_names_a_few():
    with pytest.raises(RuntimeError, match=r"'replicate': 2} and 7 more: ZeroDivisionError"):
        run_grid(fail_at_two, grid(replicate=range(10)), seed=1, chunk_size=10)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (lambda c: [], "at least one row"),
        (lambda c: [[1]], "must map names to values"),
        (lambda c: [{1: 2}], "must map names to values"),
        (lambda c: [{"loss": np.zeros(2)}], "loss must be a number"),
        (lambda c: [{"a": 1}, {"b": 1}], r"equal columns.*\['a', 'b'\]"),
        (lambda c: [{"loss": 1, f"of_{c[0]['replicate']}": 1}], "equal columns"),
    ],
)
def test_rows_that_are_no_table(rows, message):
    with pytest.raises((ValueError, RuntimeError), match=message):
        run_grid(lambda c, rng: rows(c), grid(replicate=range(2)), seed=1)


def test_a_task_may_return_a_frame(tmp_path):
    table = run_grid(walk, CONFIGURATIONS, seed=1, chunk_size=3)

    def framed(configurations, rng):
        return pd.DataFrame(walk(configurations, rng))

    assert same(table, run_grid(framed, CONFIGURATIONS, seed=1, chunk_size=3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"configurations": []}, "configurations must not be empty"),
        ({"configurations": [{"a": 1}, {"a": 1}]}, "configurations must differ"),
        ({"configurations": [{"a": [1]}]}, "a must be a number"),
        ({"configurations": ["a"]}, "must map names to values"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": 0.5}, "seed must be an integer"),
        ({"chunk_size": 0}, "chunk_size must be at least 1"),
    ],
)
def test_bad_arguments(changes, message):
    with pytest.raises(ValueError, match=message):
        run_grid(**{"task": walk, "configurations": CONFIGURATIONS, "seed": 1, **changes})


def test_a_stored_task_needs_a_name(tmp_path):
    with pytest.raises(ValueError, match="name of its own"):
        run_grid(lambda c, rng: c, CONFIGURATIONS, seed=1, path=tmp_path)


def test_the_bar_counts_chunks(tmp_path, capsys):
    run_grid(walk, CONFIGURATIONS[:2], seed=1, path=tmp_path)
    assert capsys.readouterr().err == ""
    run_grid(walk, CONFIGURATIONS, seed=1, path=tmp_path, progress=True)
    bar = capsys.readouterr().err
    assert "8/8" in bar
