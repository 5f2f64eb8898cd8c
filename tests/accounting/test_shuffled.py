"""Shuffled epochs: the attacks against simulation, limits and plain releases."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from accounting.asking import ask
from dpdynamics.accounting import Shuffled
from dpdynamics.accounting.many_epochs import epsilon_below
from dpdynamics.accounting.shuffled import attacked
from dpdynamics.divergence import gaussian_epsilon


def test_the_largest_release_by_simulation() -> None:
    """What the bound allows is not less than what the attack gains on simulated epochs."""
    run = {"noise_multiplier": 1.0, "batch_size": 5, "samples": 30, "steps": 18, "delta": 0.05}
    epsilon = ask(Shuffled, "epsilon", **run).lower
    rng = np.random.default_rng(7)
    loud = rng.standard_normal((40_000, 3, 6))
    quiet = loud.copy()
    place = np.arange(3), rng.integers(6, size=3)
    loud[:, *place] += 2
    quiet[:, *place] += 1
    losses = []
    for x in (loud.max(axis=2), quiet.max(axis=2)):
        p, q = (norm.pdf(x - a) * ndtr(x) ** 5 + 5 * norm.pdf(x) * ndtr(x - a) * ndtr(x) ** 4
                for a in (2, 1))  # fmt: skip
        losses.append(np.log(p / q).sum(axis=1))
    gain = max(np.mean(losses[0] > t) - exp(epsilon) * np.mean(losses[1] > t) for t in (2, 2.5, 3))
    assert epsilon > 2
    assert np.maximum(-np.expm1(epsilon - losses[0]), 0).mean() == pytest.approx(0.05, abs=0.003)
    assert gain < 0.053


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("present", [1.0, 0.9])
def test_all_releases_where_a_record_is_replaced_by_simulation(present: float, add: bool) -> None:
    """Six batches, of which one lies at 2 or none, three epochs; the record may miss an epoch."""
    epsilon = epsilon_below(1.5 / 2, 6, 3, 0.05, add, present=present)
    rng = np.random.default_rng(3)
    x = 1.5 * rng.standard_normal((100_000, 3, 6))
    if not add:
        x[..., 0] += 2 * (rng.random((100_000, 3)) < present)
    ratios = np.exp((2 * x - 2) / 1.5**2).mean(axis=2)
    losses = np.log(present * ratios + 1 - present).sum(axis=1) * (-1 if add else 1)
    gains = np.maximum(-np.expm1(epsilon - losses), 0)
    assert gains.mean() == pytest.approx(0.05, abs=4 * gains.std() / 100_000**0.5)


def test_the_ratio_of_an_epoch_proves_more_than_its_largest_release() -> None:
    """23.1 for thirty epochs of a hundred batches, where the largest release proves 22.25."""
    run = {"noise_multiplier": 1.0, "batch_size": 500, "samples": 50_000, "steps": 3000}
    found = ask(Shuffled, "epsilon", **run, delta=1e-6, relation="replace").lower
    of_largest = attacked(1.0, 1e-6, (100, 1.0), 30, (2.0, 0.0))
    assert 22.2 < of_largest < 22.3
    assert 23.0 < found < 23.2


def test_a_dropped_batch_hides_a_little() -> None:
    run = {"noise_multiplier": 1.0, "batch_size": 100, "delta": 1e-5, "steps": 400}
    even = ask(Shuffled, "epsilon", **run, samples=1000)
    odd = ask(Shuffled, "epsilon", **run, samples=1050)
    assert 0.8 * even.lower < odd.lower < even.lower
    assert odd.upper == even.upper


def test_shuffled_bounds_enclose_one_epoch_and_grow() -> None:
    settings = {"noise_multiplier": 0.5, "batch_size": 100, "samples": 1000, "delta": 1e-5}
    few = [ask(Shuffled, "epsilon", **settings, steps=10 * e) for e in (1, 2, 8)]
    assert all(b.lower < b.upper for b in few)
    assert np.all(np.diff([b.lower for b in few]) >= 0)
    half = ask(Shuffled, "epsilon", **settings, steps=5)
    assert half.lower == 0 and half.upper == few[0].upper
    replaced = ask(Shuffled, "epsilon", **settings, steps=10, relation="replace")
    assert replaced.lower > few[0].lower
    assert replaced.upper == pytest.approx(gaussian_epsilon(mu=4.0, delta=1e-5))


@pytest.mark.parametrize("changes", [{"steps": 10**12}, {"delta": 5e-324}])
def test_shuffled_bounds_of_endless_runs_and_of_next_to_no_delta(changes: dict[str, float]) -> None:
    run = {"noise_multiplier": 1.0, "batch_size": 10, "samples": 100, "steps": 20, "delta": 1e-3}
    low, high = ask(Shuffled, "epsilon", **run | changes)
    assert 11 < low < high < np.inf


@pytest.mark.parametrize("relation", ["zero_out", "replace"])
@pytest.mark.parametrize("noise", [0.03, 0.05, 0.1, 0.2])
def test_shuffled_bounds_hold_at_little_noise(noise: float, relation: str) -> None:
    run = {"batch_size": 500, "samples": 50_000, "delta": 1e-6, "relation": relation}
    one, many = (
        ask(Shuffled, "epsilon", noise_multiplier=noise, steps=steps, **run)
        for steps in (100, 3000)
    )
    alone = gaussian_epsilon(mu=(2 if relation == "replace" else 1) / noise, delta=1e-6)
    assert alone / 4 < one.lower <= many.lower <= many.upper < 40 * alone
    assert one.upper == pytest.approx(alone)


@pytest.mark.parametrize("relation", ["zero_out", "replace"])
def test_the_answers_of_a_run_invert_each_other(relation: str) -> None:
    run = Shuffled(batch_size=100, samples=1000, steps=40, runs=2, relation=relation)
    low, high = run.noise_for(epsilon=3.0, delta=1e-4)
    assert 0 < low < high
    epsilon = run.epsilon(noise_multiplier=high, delta=1e-4)
    assert epsilon.upper == pytest.approx(3.0, rel=1e-5) and epsilon.upper <= 3.0
    assert run.epsilon(noise_multiplier=low, delta=1e-4).lower > 3.0
    delta = run.delta(noise_multiplier=low, epsilon=3.0)
    assert 0.998e-4 < delta.lower < delta.upper  # the lower bound is found to a thousandth
    assert run.delta(noise_multiplier=high, epsilon=3.0).upper == pytest.approx(1e-4, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"batch_size": 60_000}, "batch_size"),
        ({"runs": 0}, "runs"),
        ({"relation": "add_remove"}, "relation .* zero_out is covered"),
        ({"relation": "add"}, "relation"),
    ],
)
def test_bad_input_is_named(changes: dict[str, object], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Shuffled(**({"batch_size": 500, "samples": 50_000, "steps": 10} | changes))  # type: ignore[arg-type]
