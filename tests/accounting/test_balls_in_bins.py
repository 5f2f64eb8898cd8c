"""Random allocation against quadrature over the outputs, importance sampling and limits."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from accounting.asking import ask
from dpdynamics.accounting import BallsInBins
from dpdynamics.accounting.balls_in_bins import _delta, _far
from dpdynamics.divergence.gaussian import gaussian_delta


def two_batches(sigma, epsilon, relation):
    """Integrate over the first output the closed form over the second."""

    def place(second):
        return sigma**2 * np.log(second) + 0.5 if second > 0 else -np.inf

    def inner(x):
        first = np.exp((x - 0.5) / sigma**2)
        weight = np.exp(-((x / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi))
        if relation == "remove":  # E (mean - e^eps)_+
            u = place(2 * np.exp(epsilon) - first)
            tails = ndtr(-u / sigma), ndtr(-(u - 1) / sigma)
            return weight * ((first / 2 - np.exp(epsilon)) * tails[0] + tails[1] / 2)
        u = place(2 * np.exp(-epsilon) - first)
        below = ndtr(u / sigma), ndtr((u - 1) / sigma)
        return weight * (
            (1 - np.exp(epsilon) * first / 2) * below[0] - np.exp(epsilon) * below[1] / 2
        )

    split = sigma**2 * (np.log(2) + (epsilon if relation == "remove" else -epsilon)) + 0.5
    ends = ((-10 * sigma, split), (split, max(split, 0) + 1 + 12 * sigma))
    return sum(quad(inner, *e, epsabs=1e-13, epsrel=1e-11, limit=400)[0] for e in ends)


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("relation", ["remove", "add"])
def test_two_batches_by_quadrature(sigma, epsilon, relation):
    found = BallsInBins(batches=2, relation=relation).delta(noise_multiplier=sigma, epsilon=epsilon)
    assert found == pytest.approx(two_batches(sigma, epsilon, relation), abs=1e-10, rel=1e-8)


@pytest.mark.parametrize(("sigma", "batches"), [(0.5, 10), (0.4, 300), (1.0, 37)])
def test_many_batches_by_importance_sampling(sigma, batches):
    """P and Q are both sampled; the exact value must lie within 5 standard errors."""
    epsilon, rng = 0.3, np.random.default_rng(11)
    z = rng.standard_normal((20000, batches))
    means = []
    for shift in (1 / sigma, 0.0):
        z[:, 0] += shift
        means.append(np.exp(z / sigma - 1 / (2 * sigma**2)).mean(1))
        z[:, 0] -= shift
    estimates = {
        "remove": np.maximum(1 - np.exp(epsilon) / means[0], 0),
        "add": np.maximum(1 - np.exp(epsilon) * means[1], 0),
    }
    for relation, draws in estimates.items():
        found = BallsInBins(batches=batches, relation=relation).delta(
            noise_multiplier=sigma, epsilon=epsilon
        )
        assert abs(found - draws.mean()) < 5 * draws.std() / np.sqrt(draws.size)


@pytest.mark.parametrize(
    ("sigma", "batches", "epsilon", "draws"), [(0.1, 10, 50.0, 200_000), (0.15, 1000, 30.0, 20_000)]
)
def test_large_epsilon_by_simulation(sigma, batches, epsilon, draws):
    """Seen under P, where the values are of the order of the noise of the simulation."""
    rng = np.random.default_rng(5)
    z = rng.standard_normal((draws, batches))
    z[:, 0] += 1 / sigma
    mean = np.exp(z / sigma - 1 / (2 * sigma**2)).mean(1)
    gains = np.maximum(1 - np.exp(epsilon) / mean, 0)
    settings = {"noise_multiplier": sigma, "batches": batches, "relation": "remove"}
    found = ask(BallsInBins, "delta", **settings, epsilon=epsilon)
    assert found > 0.005
    assert abs(found - gains.mean()) < 5 * gains.std() / np.sqrt(draws)
    assert ask(BallsInBins, "delta", **settings, epsilon=800.0) < 1e-12


@pytest.mark.parametrize(("sigma", "batches"), [(0.3, 2), (0.25, 10), (0.2, 1000)])
def test_two_formulas_agree_where_both_are_accurate(sigma, batches):
    one, other = (_far(sigma, batches, 9.5, 2**n) for n in (15, 16))
    settings = {"noise_multiplier": sigma, "batches": batches, "relation": "remove"}
    found = ask(BallsInBins, "delta", **settings, epsilon=9.5)
    assert other - (one - other) / 3 == pytest.approx(found, abs=1e-8)


def test_rounding_is_met_by_the_other_formula_and_not_refused():
    """Of 1 - e^epsilon + E(e^epsilon - L)_+ rounding leaves three digits, and none, here."""
    many = {"noise_multiplier": 0.2, "batches": 10**6, "relation": "remove"}
    delta = ask(BallsInBins, "delta", **many, epsilon=np.linspace(9.6, 10.6, 6))
    assert delta[4] == pytest.approx(0.0061333, abs=2e-7)
    bends = np.diff(np.log(delta), 2)
    assert np.all((bends > -0.004) & (bends < 0))
    few = {"noise_multiplier": 1.0, "batches": 1000, "relation": "remove"}
    assert ask(BallsInBins, "delta", **few, epsilon=10.0) < 1e-11


def test_known_place_is_one_gaussian_release():
    found = BallsInBins(batches=1).delta(noise_multiplier=0.7, epsilon=[0.0, 1.0])
    assert found == pytest.approx(gaussian_delta(mu=1 / 0.7, epsilon=[0.0, 1.0]), rel=1e-15)


def test_more_batches_hide_more():
    for relation in ("remove", "add"):
        profile = [
            BallsInBins(batches=t, relation=relation).delta(noise_multiplier=0.6, epsilon=0.2)
            for t in (1, 2, 3, 10, 100, 10000)
        ]
        assert np.all(np.diff(profile) < 0)


def test_profile_falls_and_is_convex_in_its_threshold():
    epsilon = np.log(np.linspace(1, 4, 7))
    for relation in ("remove", "add"):
        delta = BallsInBins(batches=20, relation=relation).delta(
            noise_multiplier=0.5, epsilon=epsilon
        )
        assert np.all(np.diff(delta) <= 0)
        assert np.all(np.diff(delta, 2) >= -1e-11)


def test_directions_agree_at_zero():
    found = [
        BallsInBins(batches=20, relation=r).delta(noise_multiplier=0.5, epsilon=0.0)
        for r in ("remove", "add")
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def test_finer_mesh_changes_nothing_that_is_promised():
    for sigma, batches in ((0.7, 10000), (0.3, 50), (2.0, 10)):
        for level in (0.5, -0.5):
            coarse, fine = (_delta(sigma, batches, level, points) for points in (2**15, 2**17))
            assert coarse == pytest.approx(fine, abs=3e-10)


def test_coarse_mesh_is_refused():
    with pytest.raises(ArithmeticError, match="mesh"):
        _delta(0.5, 50_000, 0.1, 1024)


@pytest.mark.parametrize(
    "bad",
    [
        {"noise_multiplier": 0.0},
        {"batches": 0},
        {"batches": 2.5},
        {"epsilon": -1.0},
        {"epsilon": np.nan},
        {"relation": "substitute"},
    ],
)
def test_bad_input(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=name):
        ask(BallsInBins, "delta", **({"noise_multiplier": 1.0, "batches": 3, "epsilon": 1.0} | bad))


@pytest.mark.parametrize("batches", [1, 10])
def test_the_answers_of_a_run_invert_each_other(batches):
    run = BallsInBins(batches=batches)
    noise = run.noise_for(epsilon=1.0, delta=1e-4)
    assert run.delta(noise_multiplier=noise, epsilon=1.0) == pytest.approx(1e-4, rel=1e-4)
    assert run.epsilon(noise_multiplier=noise, delta=1e-4) <= 1.0
    assert run.epsilon(noise_multiplier=noise, delta=1e-4) == pytest.approx(1.0, rel=1e-4)
    assert run.delta(noise_multiplier=noise, epsilon=1.0) <= 1e-4
    with pytest.raises(ValueError, match="delta must be at least"):
        run.epsilon(noise_multiplier=noise, delta=1e-9)
