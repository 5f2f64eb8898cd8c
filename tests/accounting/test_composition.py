"""The composition from below against enumeration, closed forms and exact accountants."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom

from dpdynamics.accounting import Poisson, gaussian_epsilon
from dpdynamics.accounting.composition_below import composed_epsilon_lower


def exact(p, q, delta):
    """Epsilon of one release of finitely many outcomes."""

    def excess(epsilon):
        return np.maximum(p - np.exp(epsilon) * q, 0).sum() - delta

    return brentq(excess, 0, 700, xtol=1e-12) if excess(0.0) > 0 else 0.0


def powers(p, times):
    return np.array([np.prod(c) for c in product(p, repeat=times)])


@pytest.mark.parametrize("times", [1, 2, 4])
@pytest.mark.parametrize("delta", [1e-9, 1e-4, 0.1])
def test_by_enumeration(times, delta):
    rng = np.random.default_rng(3)
    for outcomes in (2, 3, 7):
        p, q = rng.dirichlet(np.ones(outcomes), 2)
        truth = exact(powers(p, times), powers(q, times), delta)
        found = composed_epsilon_lower(p=p, q=q, times=times, delta=delta)
        assert found <= truth + 1e-9
        assert found == pytest.approx(truth, rel=2e-3, abs=2e-3)


@pytest.mark.parametrize(("times", "chance"), [(50, 0.6), (2000, 0.51)])
def test_many_coins_by_the_binomial(times, chance):
    p = binom.pmf(np.arange(times + 1), times, chance)
    truth = exact(p, p[::-1], 1e-6)
    coin = np.array([chance, 1 - chance])
    found = composed_epsilon_lower(p=coin, q=coin[::-1], times=times, delta=1e-6)
    assert found <= truth + 1e-9
    assert found == pytest.approx(truth, rel=2e-3)


def cells(place, share=1.0):
    x = np.concatenate([[-np.inf], np.linspace(-9, 12, 2**14), [np.inf]])

    def masses(shift):
        below, above = ndtr(x - shift), ndtr(shift - x)
        return np.where(x[1:] < shift, np.diff(below), -np.diff(above))

    return (1 - share) * masses(0.0) + share * masses(place)


@pytest.mark.parametrize(("mu", "times"), [(1.0, 1), (2.0, 3), (0.2, 400)])
@pytest.mark.parametrize("delta", [1e-8, 1e-5])
def test_normal_releases(mu, times, delta):
    truth = gaussian_epsilon(mu=mu * np.sqrt(times), delta=delta)
    found = composed_epsilon_lower(p=cells(mu), q=cells(0.0), times=times, delta=delta)
    assert found <= truth
    assert found == pytest.approx(truth, rel=2e-3)


@pytest.mark.parametrize(("share", "times"), [(0.01, 3000), (0.3, 20), (1e-3, 50_000)])
def test_poisson_samples(share, times):
    for relation in ("remove", "add"):
        truth = Poisson(sampling_probability=share, steps=times, relation=relation).epsilon(
            noise_multiplier=1.0, delta=1e-6
        )
        p, q = cells(1.0, share), cells(0.0)
        if relation == "add":
            p, q = q, p
        found = composed_epsilon_lower(p=p, q=q, times=times, delta=1e-6)
        assert found <= truth
        assert found == pytest.approx(truth, rel=0.02)


def test_a_coarse_mesh_proves_less_but_nothing_false():
    p, q = cells(2.0, 0.01), cells(1.0, 0.01)
    found = [
        composed_epsilon_lower(p=p, q=q, times=3000, delta=1e-6, cells=c)
        for c in (64, 512, 4096, 32768)
    ]
    assert max(found) < 19.0551 and found[-1] > 19.05  # 19.0550 by inversion of the transform
    assert found[0] < found[-1]


def test_equal_laws_and_faint_delta():
    p = np.array([0.5, 0.5])
    assert composed_epsilon_lower(p=p, q=p, times=7, delta=1e-5) == 0
    faint = {"p": np.array([0.6, 0.4]), "q": np.array([0.4, 0.6]), "delta": 1e-20}
    assert 0 < composed_epsilon_lower(**faint, times=1) <= exact(faint["p"], faint["q"], 1e-20)
    assert composed_epsilon_lower(
        p=cells(1.0), q=cells(0.0), times=1, delta=1e-14
    ) <= gaussian_epsilon(mu=1.0, delta=1e-14)


@pytest.mark.parametrize(
    "bad",
    [
        {"p": [0.7, 0.7]},
        {"p": [-0.1, 0.5]},
        {"p": []},
        {"q": [0.2, 0.3, 0.5]},
        {"q": [np.nan, 0.5]},
        {"times": 0},
        {"delta": 0.0},
        {"cells": 3},
    ],
)
def test_bad_input(bad):
    (name,) = bad
    good = {"p": [0.6, 0.4], "q": [0.4, 0.6], "times": 2, "delta": 1e-3}
    with pytest.raises(ValueError, match=name):
        composed_epsilon_lower(**(good | bad))
