"""The same call on a Dask cluster of two worker processes gives the same table."""

import os
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from dpdynamics.training.grids import grid, run_grid
from grid_tasks import Data, fail_at_two, walk, where

CONFIGURATIONS = grid(scale=[0.5, 1], replicate=range(6))


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


def test_the_table_is_identical(client, tmp_path, recwarn):
    task = partial(walk, data=Data(np.arange(2_000_000.0)))
    table = run_grid(task, CONFIGURATIONS, seed=3)
    with joblib.parallel_config(backend="dask"):
        on_cluster = run_grid(task, CONFIGURATIONS, seed=3, path=tmp_path)
    pd.testing.assert_frame_equal(table, on_cluster, check_exact=True)
    # 16 MB are bound to the task: Dask warns where a copy goes with each chunk.
    assert [str(warning.message) for warning in recwarn] == []
    # What the cluster stored is what one process would have stored: it has nothing left to do.
    assert len(list(tmp_path.rglob("output.pkl"))) == len(CONFIGURATIONS)
    pd.testing.assert_frame_equal(
        table, run_grid(task, CONFIGURATIONS, seed=3, path=tmp_path), check_exact=True
    )


def test_the_workers_do_the_work(client):
    workers = set(client.run(os.getpid).values())
    assert len(workers) == 2
    with joblib.parallel_config(backend="dask"):
        processes = set(run_grid(where, grid(replicate=range(40)), seed=0)["process"])
    assert processes <= workers
    assert os.getpid() not in workers


def test_an_error_on_a_worker_names_its_configuration(client):
    with (
        joblib.parallel_config(backend="dask"),
        pytest.raises(RuntimeError, match=r"'replicate': 2}: ZeroDivisionError: planted"),
    ):
        run_grid(fail_at_two, grid(replicate=range(4)), seed=1)
