"""Mixtures of normals against closed forms, a fine mesh and the general integrator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from dpdynamics.accounting import (
    gaussian_delta,
    hockey_stick_gaussian,
    renyi_divergence_quadrature,
)
from dpdynamics.accounting.mixtures import NormalMixture

SPAN = (-14.0, 15.0)


def normal(mean, std=1.0, interval=SPAN):
    return NormalMixture(np.array([mean]), np.ones(1), std, interval)


def random_mixture(seed, std=0.6):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=4)
    return NormalMixture(rng.uniform(-2, 2, 4), weights / weights.sum(), std, SPAN)


def test_density_and_probability_keep_their_tails():
    law = normal(0.0)
    x = np.array([[0.0, 1.5], [-9.0, 30.0]])
    np.testing.assert_allclose(law.logpdf(x), -(x**2) / 2 - np.log(2 * np.pi) / 2, rtol=1e-14)
    assert law.probability(10, 12) == pytest.approx(ndtr(-10) - ndtr(-12), rel=1e-13)
    assert law.probability(-12, -10) == pytest.approx(ndtr(-10) - ndtr(-12), rel=1e-13)
    assert law.probability(-np.inf, np.inf) == 1.0


def test_tiny_weights_are_kept():
    law = NormalMixture(np.array([0.0, 40.0]), np.array([1.0, 5e-324]), 10.0, SPAN)
    assert np.isfinite(law.logpdf(0.0))
    assert law.logpdf(2000.0) > -(200**2) / 2


@pytest.mark.parametrize("gap", [1e-3, 0.7, 1.5])
def test_two_normals(gap):
    p, q = normal(gap), normal(0.0)
    orders = np.array([[0.3, 1.5], [2.0, 4.0]])
    np.testing.assert_allclose(p.renyi(q, orders), orders * gap**2 / 2, rtol=1e-9, atol=1e-12)
    levels = np.linspace(-3, 3, 7)
    found = p.hockey_stick(q, levels)
    np.testing.assert_allclose(found, gaussian_delta(mu=gap, epsilon=levels), rtol=1e-9, atol=1e-14)


def test_unequal_widths():
    """The loss crosses a level twice."""
    p, q = normal(0.2, 1.0), normal(0.0, 1.4)
    for level in (-0.5, 0.0, 0.2):
        exact = hockey_stick_gaussian(0.2, 1.0, 0.0, 1.4**2, epsilon=level)
        assert p.hockey_stick(q, level) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_general_mixtures(seed):
    p, q = random_mixture(seed), random_mixture(seed + 100)
    for order in (0.5, 1.2, 3.0):
        other = renyi_divergence_quadrature(p.logpdf, q.logpdf, order, rtol=1e-10)
        assert p.renyi(q, order) == pytest.approx(other.value, rel=1e-9)
    x = np.linspace(-8, 8, 2**20 + 1)
    first, second = (np.exp(law.logpdf(x)) for law in (p, q))
    for level in (-1.0, 0.0, 0.5, 1.5):
        exact = np.trapezoid(np.maximum(first - np.exp(level) * second, 0), x)
        assert p.hockey_stick(q, level) == pytest.approx(exact, rel=1e-7, abs=1e-11)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_profile_decreases_and_is_convex_in_exp_epsilon(seed):
    p, q = random_mixture(seed), random_mixture(seed + 1)
    ratios = np.linspace(0.2, 5, 25)
    values = p.hockey_stick(q, np.log(ratios))
    assert np.all(np.diff(values) <= 1e-14)
    assert np.all(np.diff(values, 2) >= -1e-9)
    assert np.all(values >= 1 - ratios - 1e-14)


def test_a_law_against_itself():
    p = random_mixture(0)
    assert p.renyi(p, 2.0) == pytest.approx(0.0, abs=1e-13)
    assert p.hockey_stick(p, 0.0) == pytest.approx(0.0, abs=1e-13)
    assert p.hockey_stick(p, [-1.0])[0] == pytest.approx(1 - np.exp(-1))


def test_what_cannot_be_integrated_is_refused():
    short = normal(3.0, interval=(-5.0, 8.0)), normal(0.0, interval=(-8.0, 5.0))
    with pytest.raises(ArithmeticError, match="reach"):
        short[0].renyi(short[1], 3.0)
    with pytest.raises(ArithmeticError, match="overlap"):
        normal(0.0, interval=(-1, 1)).renyi(normal(9.0, interval=(8, 10)), 2.0)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("means", {"means": [[0.0, 1.0]]}),
        ("weights", {"weights": [1.0]}),
        ("weights", {"weights": [0.5, 0.6]}),
        ("weights", {"weights": [1.5, -0.5]}),
        ("std", {"std": 0.0}),
        ("interval", {"interval": (1.0, -1.0)}),
        ("interval", {"interval": (0.0, np.inf)}),
    ],
)
def test_bad_arguments_are_named(name, change):
    good = {"means": [0.0, 1.0], "weights": [0.5, 0.5], "std": 1.0, "interval": (-9.0, 9.0)}
    with pytest.raises(ValueError, match=name):
        NormalMixture(**(good | change))
    law = NormalMixture(**good)
    with pytest.raises(ValueError, match="orders"):
        law.renyi(law, 1.0)
    with pytest.raises(ValueError, match="epsilon"):
        law.hockey_stick(law, np.inf)
