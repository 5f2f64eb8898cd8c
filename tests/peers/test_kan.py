"""Clipped gradient sums against Opacus, torch.func and pykan: the same numbers, less memory."""

import importlib.util
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from kan.spline import B_batch

from dpdynamics.kan.network import TwoLayerKAN
from dpdynamics.kan.splines import CubicSplines

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench_kan.py"
spec = importlib.util.spec_from_file_location("bench_kan", BENCH)
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)


@pytest.mark.parametrize("sizes", [(30, 20, 3), (17, 64, 16)])
def test_every_way_to_the_clipped_sum(sizes) -> None:
    case = bench._example(*sizes)
    kan, *arguments = case
    expected = kan.clipped_gradient_sum(*arguments, bench.CLIP)
    assert np.any(expected.norms > bench.CLIP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in bench._peers(*case).items():
            found = run().detach().numpy().reshape(kan.shape)
            # ghost clipping divides by the norm plus 1e-6
            slack = np.sum(1e-6 / expected.norms) * bench.CLIP if "ghost" in name else 1e-13
            assert np.linalg.norm(found - expected.total) <= slack, name


@pytest.mark.parametrize("size", [4, 7, 12])
def test_splines_of_pykan(size) -> None:
    basis = CubicSplines(size)
    points = np.random.default_rng(0).uniform(-1, 1, (40, 3))
    knots = torch.from_numpy(basis.knots)
    theirs = B_batch(torch.from_numpy(points), knots.expand(3, -1), k=3).numpy()
    np.testing.assert_allclose(basis(points), theirs, atol=1e-13)


def test_values_do_not_depend_on_the_module() -> None:
    kan, weights = TwoLayerKAN.initial(11, 4, 7, rng=np.random.default_rng(1))
    inputs = np.random.default_rng(2).uniform(-0.5, 0.5, (6, 4))
    features = kan.features(inputs)
    linear = bench._network(kan, weights, bench._pykan)(torch.from_numpy(features))
    whole = kan.torch_module(weights)(torch.from_numpy(inputs))
    np.testing.assert_allclose(linear.detach(), whole.detach(), atol=1e-14)


def test_peak_memory_is_below_a_third_of_ghost_clipping() -> None:
    """All of ours against what ghost clipping holds at the end of its forward pass alone."""
    case = bench._example(256, 512, 64)
    kan, weights, features, labels = case
    kan.clipped_gradient_sum(weights, features[:4], labels[:4], bench.CLIP)  # compiles the splines
    tracemalloc.start()
    kan.clipped_gradient_sum(weights, features, labels, bench.CLIP)
    ours = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ours >= kan.parameters * 8  # the sum itself is counted
    network = bench._network(kan, weights, bench._recursion)
    given = {t.untyped_storage().data_ptr() for t in network.state_dict().values()}
    held: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in given | {features.ctypes.data, labels.ctypes.data}:
            held[storage.data_ptr()] = storage.nbytes()
        return tensor

    run = bench._opacus_ghost(network, torch.from_numpy(features), torch.from_numpy(labels))
    with warnings.catch_warnings(), torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        warnings.simplefilter("ignore")
        run()
    ghost = sum(held.values())
    assert 3 * ours <= ghost, (ours, ghost)
