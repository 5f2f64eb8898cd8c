"""Epochs of balls and bins: the two bounds against quadrature, simulation and exact epochs."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr

from dpdynamics.accounting import BallsInBins
from dpdynamics.accounting.epoch_attacks import attacked
from dpdynamics.accounting.many_epochs import _windows, epsilon_above
from dpdynamics.divergence import gaussian_epsilon


def epsilon_below(noise, batches, epochs, delta, add):
    return attacked(noise, delta, (batches, 1.0), epochs, (0.0, 1.0) if add else (1.0, 0.0))


@pytest.mark.parametrize(
    ("noise", "batches", "delta"),
    [
        (1.0, 100, 1e-6),
        (0.6, 100, 1e-6),
        (0.5, 4, 1e-5),
        (0.3, 100, 1e-4),
        (0.2, 10, 1e-6),
        (2.0, 2, 1e-6),
        (1.0, 2, 1e-7),
        (3.0, 500, 1e-6),
    ],
)
def test_one_epoch_is_bounded_on_both_sides(noise, batches, delta):
    for relation in ("remove", "add"):
        run = BallsInBins(batches=batches, relation=relation)
        exact = run.epsilon(noise_multiplier=noise, delta=delta)
        at = noise, batches, 1, delta, relation == "add"
        slack = 1e-9 / delta  # of what `exact` is rounded up
        assert epsilon_below(*at) <= exact * (1 + 1e-7)
        assert exact - slack <= epsilon_above(*at) <= exact * 1.003 + 1e-4
        if relation == "remove":
            assert epsilon_below(*at) >= exact * 0.998 - slack


def two_batches(noise, points=1601):
    """Masses of P on cells of the plane of both outputs, with the least and largest losses."""
    z = np.linspace(-9, 9 + 1 / noise, points)
    ratio = np.exp(z / noise - 1 / (2 * noise**2))
    idle, taken = np.diff(ndtr(z)), np.diff(ndtr(z - 1 / noise))
    mass = (np.outer(idle, taken) + np.outer(taken, idle)) / 2
    losses = np.log(np.add.outer(ratio, ratio) / 2)
    return mass.ravel(), losses[:-1, :-1].ravel(), losses[1:, 1:].ravel()


@pytest.mark.parametrize(("noise", "epochs"), [(0.7, 2), (1.0, 5), (2.0, 3)])
def test_epochs_of_two_batches_by_quadrature(noise, epochs):
    """Losses rounded down and up in the plane of one epoch, added up on a line."""
    mesh, size = 1e-3, 1 << 17
    mass, *ends = two_batches(noise)
    known = []
    for losses, way in zip(ends, (np.floor, np.ceil), strict=True):
        places = way(losses / mesh).astype(int)
        once = np.bincount(places % size, mass, size)
        law = np.fft.irfft(np.fft.rfft(once) ** epochs, size)
        spread = mesh * ((np.arange(size) + size // 2) % size - size // 2)
        known.append((law, spread))
    for delta in (1e-3, 1e-6):
        low, high = (
            bound(noise, 2, epochs, delta, False) for bound in (epsilon_below, epsilon_above)
        )
        assert low <= high <= 1.002 * low
        (least, losses), (most, _) = known
        assert least @ np.maximum(-np.expm1(high - losses), 0) <= delta * (1 + 1e-6)
        assert most @ np.maximum(-np.expm1(low - losses), 0) >= delta * (1 - 1e-6)
        # and the rounding of the losses is no more than a few of their cells
        assert least @ np.maximum(-np.expm1(low - 0.05 * epochs - losses), 0) >= delta


@pytest.mark.parametrize(
    ("noise", "batches", "epochs"), [(0.5, 3, 4), (0.7, 30, 10), (1.5, 200, 50)]
)
def test_many_epochs_by_importance_sampling(noise, batches, epochs):
    """Under P, and under Q for a record that is added: within 5 standard errors."""
    rng, draws = np.random.default_rng(8), 200_000 // batches
    loss = {"remove": np.zeros(draws), "add": np.zeros(draws)}
    for _ in range(epochs):
        z = rng.standard_normal((draws, batches))
        for relation, shift in (("remove", 1 / noise), ("add", 0.0)):
            z[:, 0] += shift
            ratio = np.exp(z / noise - 1 / (2 * noise**2)).mean(1)
            loss[relation] += np.log(ratio) * (1 if relation == "remove" else -1)
            z[:, 0] -= shift
    for relation, losses in loss.items():
        epsilon = float(np.quantile(losses, 0.7))
        gains = np.maximum(-np.expm1(epsilon - losses), 0)
        run = BallsInBins(batches=batches, epochs=epochs, relation=relation)
        found = run.delta(noise_multiplier=noise, epsilon=epsilon)
        assert abs(found - gains.mean()) < 5 * gains.std() / np.sqrt(draws)


@pytest.mark.parametrize(
    ("noise", "batches", "epochs", "delta"),
    [
        (1.0, 100, 30, 1e-6),
        (0.2, 2, 10, 1e-5),
        (0.3, 100, 10, 1e-6),
        (0.5, 4, 10, 1e-6),
        (2.0, 100, 30, 1e-6),
        (4.0, 200, 1000, 1e-6),
        (1.0, 20_000, 30, 1e-6),
        (10.0, 10, 100, 1e-4),
    ],
)
def test_the_bracket_is_narrow(noise, batches, epochs, delta):
    low, high = (
        max(bound(noise, batches, epochs, delta, add) for add in (False, True))
        for bound in (epsilon_below, epsilon_above)
    )
    assert 0 < low <= high <= 1.006 * low
    assert high < gaussian_epsilon(mu=epochs**0.5 / noise, delta=delta)


def test_the_run_of_the_figure():
    """3.74 by Renyi divergences, 2.49 by the largest release of each epoch."""
    run = BallsInBins(batches=100, epochs=30)
    assert run.epsilon(noise_multiplier=1.0, delta=1e-6) == pytest.approx(3.4536, abs=1e-3)
    assert epsilon_below(1.0, 100, 30, 1e-6, False) == pytest.approx(3.452, abs=2e-3)


def test_no_vectors_chosen_from_earlier_outputs_exceed_the_pair():
    """Two batches; the second vector follows from the first output: quadrature in the plane."""
    noise, x = 0.8, np.linspace(-8, 9, 1701)
    first, second = np.meshgrid(x, x, indexing="ij")

    def normal(y):
        return np.exp(-((y / noise) ** 2) / 2) / (noise * np.sqrt(2 * np.pi)) * (x[1] - x[0])

    idle = normal(first) * normal(second)
    levels = np.exp([-0.7, -0.2, 0.0, 0.2, 0.7, 1.5])
    relations = {name: BallsInBins(batches=2, relation=name) for name in ("remove", "add")}
    exact = [
        relations["remove"].delta(noise_multiplier=noise, epsilon=max(np.log(c), 0.0))
        if c >= 1
        else 1 - c + c * relations["add"].delta(noise_multiplier=noise, epsilon=-np.log(c))
        for c in levels
    ]
    for chosen in (np.sign(first), np.clip(first, -1, 1), 1.0 * (first > 0), 0 * first + 1):
        taken = (normal(first - 1) * normal(second) + normal(first) * normal(second - chosen)) / 2
        for level, most in zip(levels, exact, strict=True):
            assert np.maximum(taken - level * idle, 0).sum() <= most + 1e-5
    for level, most in zip(levels, exact, strict=True):  # the last choice attains it
        assert np.maximum(taken - level * idle, 0).sum() == pytest.approx(most, abs=1e-5)


def test_the_laws_of_all_windows_have_mass_and_mean_one():
    for noise, batches in ((0.2, 2), (0.3, 100), (1.0, 5000)):
        windows = _windows(noise, batches)
        assert all(a.last < b.last for a, b in pairwise(windows))
        assert windows[0].q.sum() <= 1 + 1e-11 and windows[-1].p.sum() == pytest.approx(1)
        assert windows[-1].q.sum() <= 1 + 1e-11
        assert sum(w.first < 1 < w.last for w in windows) >= 1


def test_the_answers_of_many_epochs_invert_each_other():
    run = BallsInBins(batches=50, epochs=4)
    noise = run.noise_for(epsilon=2.0, delta=1e-5)
    epsilon = run.epsilon(noise_multiplier=noise, delta=1e-5)
    assert 1.98 < epsilon <= 2.0
    assert run.delta(noise_multiplier=noise, epsilon=epsilon) == pytest.approx(1e-5, rel=1e-3)
    assert run.delta(noise_multiplier=noise, epsilon=epsilon) >= 1e-5 * (1 - 1e-6)
    known = BallsInBins(batches=1, epochs=9)
    assert known.epsilon(noise_multiplier=3.0, delta=1e-5) == pytest.approx(
        gaussian_epsilon(mu=1.0, delta=1e-5), rel=1e-12
    )
    assert known.noise_for(epsilon=2.0, delta=1e-5) == pytest.approx(
        3 * BallsInBins(batches=1).noise_for(epsilon=2.0, delta=1e-5), rel=1e-12
    )


@pytest.mark.parametrize(
    ("noise", "batches", "epochs", "delta"),
    [
        (0.2, 500, 2, 1e-6),  # the mesh is as wide as the mean of a term
        (0.22, 5000, 2, 1e-6),
        (50.0, 1800, 1000, 1e-13),  # rounding must not count as an outcome
        (10.0, 9000, 1000, 1e-6),
        (1.5, 15, 10, 1e-6),
    ],
)
@pytest.mark.parametrize("add", [False, True])
def test_the_lower_bound_stays_below_the_upper_one(noise, batches, epochs, delta, add):
    low = epsilon_below(noise, batches, epochs, delta, add)
    assert low <= epsilon_above(noise, batches, epochs, delta, add)
    assert low < gaussian_epsilon(mu=epochs**0.5 / noise, delta=delta)


def test_the_lower_bound_falls_as_delta_grows():
    bounds = [epsilon_below(4.0, 20_000, 1000, delta, False) for delta in (1e-8, 1e-7, 1e-6)]
    assert bounds[0] > bounds[1] > bounds[2] > 0.2


@pytest.mark.parametrize(
    ("noise", "batches", "epochs", "epsilon"),
    [(1.5, 100, 30, 2.0), (1.0, 20_000, 30, 0.215), (1.0, 20_000, 1000, 0.5), (1.0, 100, 30, 0.0)],
)
def test_delta_is_found_wherever_epsilon_is(noise, batches, epochs, epsilon):
    run = BallsInBins(batches=batches, epochs=epochs)
    delta = run.delta(noise_multiplier=noise, epsilon=epsilon)
    assert run.epsilon(noise_multiplier=noise, delta=delta * (1 + 1e-9)) <= epsilon + 1e-12
    back = run.epsilon(noise_multiplier=noise, delta=delta * (1 - 1e-3))
    assert back > epsilon


def test_no_less_noise_than_is_covered_is_named():
    run = BallsInBins(batches=100, epochs=2)
    assert run.noise_for(epsilon=60.0, delta=1e-5) == 0.2


def test_what_is_not_covered_is_refused():
    for batches, noise in ((10, 0.1), (10**6, 1.0)):
        with pytest.raises(ArithmeticError, match="little noise, or so many"):
            BallsInBins(batches=batches, epochs=2).epsilon(noise_multiplier=noise, delta=1e-6)
    with pytest.raises(ValueError, match="epochs"):
        BallsInBins(batches=10, epochs=0)
