"""Balls and bins, a record replaced: against quadrature, simulation and other bounds."""

from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm

from dpdynamics.accounting import BallsInBins, bins_replaced
from dpdynamics.accounting.many_epochs import _mesh, cells_of_a_term
from dpdynamics.desk.bins import EpochsOfBins


def of_two(noise: float, level: float) -> float:
    """H of one epoch of two batches: closed form in the second draw, quadrature in the first."""
    shift = 1 / (2 * noise**2)

    def term(z: float) -> float:
        return exp(z / noise - shift) - level * exp(-z / noise - shift)

    def inner(first: float) -> float:
        known = term(first)
        zero = brentq(lambda z: known + term(z), -60.0, 60.0, xtol=1e-13)
        up, down = norm.sf(zero - 1 / noise), norm.sf(zero + 1 / noise)
        return (known * norm.sf(zero) + up - level * down) / 2

    points = [-8.0, -4.0, 0.0, 2.0, 4.0, 8.0]
    found = quad(lambda z: norm.pdf(z) * inner(z), -12, 12, points=points, limit=400, epsrel=1e-10)
    return found[0]


@pytest.mark.parametrize(
    ("noise", "losses", "width"),
    [(0.7, (0.0, 1.0, 4.0), 0.07), (1.0, (0.0, 0.5, 3.0), 0.02), (3.0, (0.0, 0.4, 0.8), 0.02)],
)
def test_profile_of_two_batches_is_bracketed(noise, losses, width):
    for loss in losses:
        exact = of_two(noise, exp(loss))
        below, above = (
            bins_replaced._excess(noise, 2, exp(loss), side, False) for side in (False, True)
        )
        assert below <= exact * (1 + 1e-9)
        assert exact <= above * (1 + 1e-9)
        assert above - below < width * exact


@pytest.mark.parametrize("noise", [1.0, 2.0])
def test_between_levels_the_interpolations_stay_on_their_sides(noise):
    known, least, most = bins_replaced._profile(noise, 2, 1e-7, False)
    levels, values = bins_replaced._minorant(known, least, most)
    for place in (0.003, 0.11, 0.37, 0.52, 0.83):
        level = float(np.exp(place * log(levels[-1])))
        exact = of_two(noise, level)
        assert np.interp(level, levels, values) <= exact * (1 + 1e-9)
        assert np.interp(level, known, most) >= exact * (1 - 1e-9)


def put(noise, x):
    """E(x - L)_+ in closed form."""
    z = noise * np.log(x) + 1 / (2 * noise)
    return x * ndtr(z) - ndtr(z - 1 / noise)


@pytest.mark.parametrize(("noise", "batches"), [(0.2, 2), (0.6, 100), (1.0, 3), (5.0, 300)])
def test_a_term_is_spread_upwards_and_merged_downwards(noise, batches):
    unit, cut = _mesh(noise, batches)
    left, right = cells_of_a_term(noise, np.log(unit), int(cut / unit / 2) + 1)
    spread = np.append(left, 0.0) + np.append(0.0, right)
    merged, points = bins_replaced._gathered(left, right), np.arange(spread.size)
    beyond = ndtr(-(noise * np.log(unit * points[-1]) + 1 / (2 * noise)))
    assert merged.sum() == pytest.approx(spread.sum(), rel=1e-13)
    assert merged @ points == pytest.approx(spread @ points, rel=1e-11)
    assert spread.sum() == pytest.approx(1 - beyond, abs=1e-14)
    nodes = np.unique(np.geomspace(1, points[-1] - 1, 300).astype(int))
    for at in (nodes, nodes + 0.37, nodes + 0.5):
        exact = put(noise, unit * at)
        up, down = (
            np.array([unit * (law @ np.maximum(x - points, 0)) for x in at])
            for law in (spread, merged)
        )
        assert np.all(down <= exact + 1e-12 * unit * points[-1])
        assert np.all(up >= exact - 1e-12 * unit * points[-1])
        near = exact > 0.05 * unit * batches**0.5
        np.testing.assert_allclose(up[near], exact[near], atol=unit)
        np.testing.assert_allclose(down[near], exact[near], atol=unit)


@pytest.mark.parametrize(("noise", "batches"), [(0.6, 30), (1.0, 100), (4.0, 7)])
def test_profile_agrees_with_simulation(noise, batches):
    rng = np.random.default_rng(5)
    z = rng.standard_normal((200_000, batches)) / noise
    plus, minus = (np.exp(s * z - 1 / (2 * noise**2)).mean(axis=1) for s in (1, -1))
    for level in (1.0, 1.3):
        gains = np.maximum(plus - level * minus, 0.0)
        error = 5 * gains.std() / sqrt(gains.size)
        below, above = (
            bins_replaced._excess(noise, batches, level, side, False) for side in (False, True)
        )
        assert below - error < gains.mean() < above + error


@pytest.mark.parametrize(
    ("noise", "epsilons", "width"),
    [(0.5, (2.0, 8.0, 12.0), 0.12), (1.0, (0.5, 4.0, 8.5), 0.025), (1.5, (2.0, 4.6), 0.015)],
)
def test_one_epoch_of_two_batches_has_the_epsilon_of_its_profile(noise, epsilons, width):
    for epsilon in epsilons:
        run = noise, 2, 1, of_two(noise, exp(epsilon))
        below, above = bins_replaced.epsilon_below(*run), bins_replaced.epsilon_above(*run)
        assert below - 1e-6 <= epsilon <= above + 1e-6
        assert above - below < width * epsilon + 0.01


def test_what_no_level_reaches_is_charged():
    """Beyond the last level of two batches lies more than delta: nothing is computed."""
    assert of_two(0.5, exp(16.86)) == pytest.approx(1e-6, rel=0.01)
    assert bins_replaced.epsilon_above(0.5, 2, 1, 1e-6) >= 16.86
    assert bins_replaced.epsilon_below(0.5, 2, 1, 1e-6) <= 16.87
    assert bins_replaced.epsilon_above(0.5, 2, 10, 1e-6) >= 81.7  # by transforms of the exact pair


@pytest.mark.parametrize(("noise", "loss"), [(0.687, 13.8), (0.761, 12.04), (1.0, 9.935)])
def test_far_levels_are_below_the_profile(noise, loss):
    """Where sums of chances from the other end would lose all digits."""
    exact = of_two(noise, exp(loss))
    below, above = (
        bins_replaced._excess(noise, 2, exp(loss), side, False) for side in (False, True)
    )
    assert 0 <= below <= exact * (1 + 1e-6) <= above * (1 + 2e-6)


@pytest.mark.parametrize(
    ("noise", "batches", "epochs", "delta", "accuracy"),
    [
        (1.0, 100, 30, 1e-6, 0.01),
        (2.0, 500, 100, 1e-6, 0.01),
        (0.7, 1000, 10, 1e-5, 0.02),
        (0.5, 100, 5, 1e-6, 0.03),
        (10.0, 2, 30, 1e-8, 0.01),
        (1.0, 1, 1, 1e-6, None),
        (0.4, 100, 5, 1e-6, None),
    ],
)
def test_many_epochs_are_known_well_or_not_at_all(noise, batches, epochs, delta, accuracy):
    run = noise, batches, epochs, delta
    below, above = bins_replaced.epsilon_below(*run), bins_replaced.epsilon_above(*run)
    if accuracy is None:
        assert below == 0
        assert above == float("inf")
        return
    assert below < above < (1 + accuracy) * below
    wide = EpochsOfBins(batches=batches, steps=batches * epochs, relation="replace")
    assert above < wide._renyi(noise, delta, epochs)
    zeroed = BallsInBins(batches=batches, epochs=epochs)
    assert below > float(zeroed.epsilon(noise_multiplier=noise, delta=delta))


def test_three_verbs_of_a_replaced_record_agree():
    run = BallsInBins(batches=50, epochs=4, relation="replace")
    epsilon = float(run.epsilon(noise_multiplier=1.5, delta=1e-5))
    assert run.delta(noise_multiplier=1.5, epsilon=epsilon) == pytest.approx(1e-5, rel=1e-3)
    assert run.noise_for(epsilon=epsilon, delta=1e-5) == pytest.approx(1.5, rel=2e-3)
    sure = BallsInBins(batches=1, epochs=4, relation="replace")
    plain = BallsInBins(batches=1, epochs=16)
    question = {"noise_multiplier": 3.0, "delta": 1e-5}
    assert sure.epsilon(**question) == pytest.approx(plain.epsilon(**question))
    with pytest.raises(ArithmeticError, match="nothing is computed"):
        run.epsilon(noise_multiplier=0.3, delta=1e-5)
