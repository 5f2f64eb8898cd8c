"""Shuffled epochs: the attacks against simulation, limits and plain releases."""

from __future__ import annotations

import numpy as np
import pytest

from accounting.asking import ask
from dpdynamics.accounting import Shuffled, epoch_attacks
from dpdynamics.accounting.epoch_attacks import attacked
from dpdynamics.divergence import gaussian_epsilon
from dpdynamics.numerics.privacy_loss import composed_epsilon_lower


@pytest.mark.parametrize(
    ("relation", "noise", "largest", "found"),
    [
        ("zero_out", 1.0, (17.6, 17.7), (17.9, 17.95)),
        ("zero_out", 2.0, (1.76, 1.78), (2.19, 2.2)),
        ("replace", 1.0, (22.2, 22.3), (23.05, 23.15)),
    ],
)
def test_the_sum_of_an_epoch_proves_more_than_its_largest_release(
    relation: str, noise: float, largest: tuple, found: tuple
) -> None:
    """Thirty epochs of a hundred batches; the largest release composed by itself."""
    run = {"noise_multiplier": noise, "batch_size": 500, "samples": 50_000, "steps": 3000}
    shifts = 2 / noise, (1.0 if relation == "zero_out" else 0.0) / noise
    p, q = epoch_attacks._largest(epoch_attacks._START, 100, 1.0, shifts, 2**14)
    alone = composed_epsilon_lower(p=p, q=q, times=30, delta=1e-6)
    assert largest[0] < alone < largest[1]
    assert (
        found[0] < ask(Shuffled, "epsilon", **run, delta=1e-6, relation=relation).lower < found[1]
    )


def test_the_weaker_kind_of_epoch_decides() -> None:
    """Three batches, the last one smaller by one record: an epoch that drops it hides more."""
    run = Shuffled(batch_size=100, samples=299, steps=3)
    dropped, kept = (
        attacked(2.0, 1e-5, (batches, present), 1, (2.0, 1.0))
        for batches, present in ((2, 200 / 299), (3, 1.0))
    )
    assert run.epsilon(noise_multiplier=2.0, delta=1e-5).lower == min(dropped, kept)
    assert dropped < 0.99 * kept


def test_epochs_are_not_pieced_together_from_several_runs() -> None:
    sizes, at = {"batch_size": 10, "samples": 100}, {"noise_multiplier": 1.0, "delta": 1e-3}
    ends = [Shuffled(**sizes, steps=steps, runs=2).epsilon(**at).lower for steps in (10, 15)]
    assert ends[0] == ends[1] > 0


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
    assert 0.98e-4 < delta.lower < delta.upper  # the lower noise is found to a thousandth
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
