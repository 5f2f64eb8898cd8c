"""Blocks of a spectrum and Gauss rules of their measures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdynamics.dynamics.spectra import SpectralBlocks, gauss_rule


@settings(max_examples=30)
@given(st.integers(1, 10), st.integers(1, 40), st.integers(0, 2**31))
def test_gauss_rules_integrate_polynomials(nodes, points, seed):
    rng = np.random.default_rng(seed)
    x, mass = rng.uniform(0, 2, points), rng.exponential(size=points) ** 3
    node, weight = gauss_rule(x, mass, nodes)
    assert node.size <= nodes
    assert np.all(weight > 0)
    for degree in range(2 * nodes):
        legendre = np.polynomial.legendre.Legendre.basis(degree)
        exact = mass @ legendre(x - 1)
        assert weight @ legendre(node - 1) == pytest.approx(exact, abs=1e-11 * mass.sum())


def test_gauss_rules_of_a_fine_grid_are_those_of_legendre():
    x = (np.arange(20_000) + 0.5) / 10_000 - 1
    node, weight = gauss_rule(x + 2, np.full(x.size, 1e-4), 5)
    exact = np.polynomial.legendre.leggauss(5)
    np.testing.assert_allclose([node - 2, weight], exact, atol=1e-7)


def test_gauss_rules_of_measures_with_few_points():
    x, mass = np.array([0.5, 1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0, 0.5])
    node, weight = gauss_rule(x, mass, 3)
    np.testing.assert_array_equal([node, weight], [[0.5, 2.0, 3.0], [1.0, 2.0, 0.5]])
    repeated = np.repeat([0.5, 1.5], 50)  # two points in a hundred coordinates
    node, weight = gauss_rule(repeated, np.full(100, 0.02), 8)
    np.testing.assert_allclose([node, weight], [[0.5, 1.5], [1, 1]], rtol=1e-12)


def test_grouping_and_spreading():
    eigenvalues, offset = np.array([2.0, 0.5, 2.0, 0.5, 0.5]), np.array([3.0, 0.0, 4.0, 1.0, 0.0])
    blocks = SpectralBlocks.grouped(eigenvalues, offset)
    np.testing.assert_array_equal(blocks.multiplicities, [3, 2])
    np.testing.assert_allclose(blocks.offsets, [1.0, 5.0])
    assert blocks.risk == pytest.approx(eigenvalues @ offset**2 / 2)
    again = SpectralBlocks.grouped(*blocks.coordinates())
    np.testing.assert_allclose(again.offsets, blocks.offsets)
    assert again.dimension == 5


def test_the_isotropic_block():
    blocks = SpectralBlocks.isotropic(7, 0.6)
    assert (blocks.dimension, blocks.risk) == (7, pytest.approx(0.6))


@pytest.mark.parametrize("nodes", [None, 3])
def test_modes_hold_the_initial_risk_and_the_trace(nodes):
    rng = np.random.default_rng(1)
    lam = rng.uniform(0.1, 2, 40)
    blocks = SpectralBlocks.grouped(lam / lam.mean(), rng.standard_normal(40))
    rates, sampling, private, weights, initial = blocks.modes(nodes)
    assert weights @ initial == pytest.approx(blocks.risk, rel=1e-12)
    assert weights @ private == pytest.approx(1, rel=1e-12)
    assert weights @ sampling == pytest.approx(np.mean(lam**2) / lam.mean() ** 2, rel=1e-12)
    assert (weights * rates) @ initial == pytest.approx(
        blocks.eigenvalues**2 @ blocks.offsets**2 / 2, rel=1e-12
    )


def test_a_start_at_the_truth_has_no_free_modes():
    blocks = SpectralBlocks(np.array([0.5, 1.5]), np.array([1, 1]), np.zeros(2))
    assert blocks.modes(8).rates.size == 2


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("eigenvalues", lambda: SpectralBlocks(np.zeros(1), np.ones(1, int), np.ones(1))),
        ("eigenvalues", lambda: SpectralBlocks(-np.ones(1), np.ones(1, int), np.ones(1))),
        ("multiplicities", lambda: SpectralBlocks(np.ones(1), np.zeros(1, int), np.ones(1))),
        ("multiplicities", lambda: SpectralBlocks(np.ones(1), np.ones(1), np.ones(1))),
        ("offsets", lambda: SpectralBlocks(np.ones(1), np.ones(1, int), -np.ones(1))),
        ("offset", lambda: SpectralBlocks.grouped(np.ones(2), np.ones(3))),
        ("risk", lambda: SpectralBlocks.isotropic(3, -1.0)),
        ("mean 1", lambda: SpectralBlocks.grouped([1.0, 2.0], [1.0, 1.0]).modes()),
        ("nodes", lambda: SpectralBlocks.isotropic(3, 1.0).modes(0)),
    ],
)
def test_bad_input_is_named(name, build):
    with pytest.raises(ValueError, match=name):
        build()
