"""Privacy loss distributions against enumeration, closed forms and exact accountants."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom

from dpdynamics.accounting import Poisson
from dpdynamics.divergence import gaussian_epsilon
from dpdynamics.numerics.privacy_loss import (
    PrivacyLossDistribution,
    composed_delta_upper,
    composed_epsilon_lower,
    rounded_down,
    rounded_up,
    tails,
)

LAW = PrivacyLossDistribution(0.1, 0.3, -2, np.array([0.2, 0.05, 0.6, 0.15]))


def profile(losses, masses, epsilon):
    return float(masses @ np.maximum(-np.expm1(epsilon - losses), 0))


def thrice():
    masses = np.convolve(np.convolve(LAW.masses, LAW.masses), LAW.masses)
    return 0.3 + 0.3 * np.arange(-6, masses.size - 6), masses


@pytest.mark.parametrize("tilt", [0.0, 0.7, -0.4])
def test_composed_losses_by_convolution(tilt):
    losses, masses = thrice()
    law = LAW.tilted(tilt, 0.25).composed(3, losses[0], losses[-1])
    assert law.first == -6
    np.testing.assert_allclose(law.losses[: losses.size], losses, rtol=1e-14, atol=1e-15)
    for epsilon in (-2.0, -0.3, 0.0, 0.9):
        gaps, tail = law.tail(epsilon)
        value = np.exp(law.log_scale - tilt * epsilon) * (tail @ -np.expm1(-gaps))
        assert value == pytest.approx(profile(losses, masses, epsilon), rel=1e-12)
        assert gaps.min() > 0


def test_the_epsilon_of_a_law_on_a_mesh():
    losses, masses = thrice()
    law = LAW.composed(3, losses[0], losses[-1])
    for delta in (0.5, 0.01, 1e-4):
        below, epsilon = law.highest(delta)
        assert profile(losses, masses, epsilon) == pytest.approx(delta, rel=1e-11)
        assert below <= epsilon < below + law.mesh
    assert law.highest(1.0) is None  # exceeded nowhere
    assert law.highest(-1.0) is None  # and everywhere


def test_what_leaves_the_window_comes_back():
    losses, masses = thrice()
    law = LAW.composed(3, losses[3], losses[-1])
    assert law.masses.sum() == pytest.approx(1, rel=1e-14)
    size = law.masses.size
    np.testing.assert_allclose(
        law.masses, np.roll(np.bincount(np.arange(10) % size, masses, size), -3), atol=1e-15
    )


@pytest.mark.parametrize("seed", range(3))
def test_rounded_up_and_down(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(40), 2)
    exact = np.log(p / q)
    up, down = rounded_up(exact, p, -0.7, 0.05), rounded_down(p, q, 0.05)
    assert up.masses.sum() == pytest.approx(1, rel=1e-14)
    assert up.masses @ np.exp(-up.losses) == pytest.approx(1, rel=1e-14)
    assert up.masses.min() >= 0
    for epsilon in np.linspace(-3, 3, 41):
        value = profile(exact, p, epsilon)
        assert profile(up.losses, up.masses, epsilon) >= value - 1e-15
        assert profile(down.losses, down.masses, epsilon) <= value + 1e-15
    at = -0.7 + 0.05 * 9  # where the profile is interpolated
    assert profile(up.losses, up.masses, at) == pytest.approx(profile(exact, p, at), rel=1e-13)


@pytest.mark.parametrize("tilt", [0.0, 0.5])
def test_the_tails_by_the_binomial(tilt):
    times, chance = 200, 0.3
    losses, masses = np.array([-0.4, 0.8, 9.0]), np.array([1 - chance, chance, 0.0])
    low, high, _ = tails(losses, masses, times, 15.0, tilt)
    tilted = chance * np.exp(0.8 * tilt) / (masses @ np.exp(tilt * losses))
    count = np.arange(times + 1)
    law, sums = binom.pmf(count, times, tilted), -0.4 * (times - count) + 0.8 * count
    for beyond in (law[sums < low], law[sums > high]):
        assert np.exp(-20) < beyond.sum() <= np.exp(-15)


@pytest.mark.parametrize("times", [2, 30, 1000])
def test_delta_from_above_by_the_binomial(times):
    losses, chance = np.array([-0.3, 0.5]), -np.expm1(0.3) / (np.exp(-0.5) - np.exp(0.3))
    count = np.arange(times + 1)
    law, sums = binom.pmf(count, times, chance), -0.3 * (times - count) + 0.5 * count
    mean = float(law @ sums)
    for far in (0.0, 3.0, 12.0):
        epsilon = mean + far * np.sqrt(float(law @ (sums - mean) ** 2))
        truth = profile(sums, law, epsilon)
        masses = np.array([1 - chance, chance])
        found = composed_delta_upper(losses, masses, times, epsilon, -0.3)
        assert truth <= found <= truth * (1 + 1e-3) + 1e-290


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
