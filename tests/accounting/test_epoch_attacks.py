"""The outcome of an epoch that an attacker looks at: against simulation and extended precision."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy.fft import rfft
from scipy.special import ndtr
from scipy.stats import norm

from dpdynamics.accounting import Poisson, epoch_attacks
from dpdynamics.accounting.epoch_attacks import attacked
from dpdynamics.numerics.privacy_loss import composed_epsilon_lower


def test_the_largest_release_by_simulation() -> None:
    """What the bound allows is not less than what the attack gains on simulated epochs."""
    p, q = epoch_attacks._largest(epoch_attacks._START, 6, 1.0, (2.0, 1.0), 2**15)
    epsilon = composed_epsilon_lower(p=p, q=q, times=3, delta=0.05)
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


@pytest.mark.parametrize("places", [(2.0, 1.0), (1.0, 2.0), (2.0, 0.0), (0.0, 2.0)])
@pytest.mark.parametrize("present", [1.0, 0.9])
def test_the_ratio_of_all_releases_by_simulation(present: float, places: tuple) -> None:
    """Six batches, three epochs; the record may miss an epoch. No attack gains a tenth more."""
    epsilon = attacked(1.5, 0.05, (6, present), 3, places)
    rng = np.random.default_rng(3)
    x = 1.5 * rng.standard_normal((100_000, 3, 6))
    x[..., 0] += places[0] * (rng.random((100_000, 3)) < present)
    p, q = (
        present * np.exp((a * x - a * a / 2) / 1.5**2).mean(axis=2) + 1 - present for a in places
    )
    losses = np.log(p / q).sum(axis=1)
    gains = np.maximum(-np.expm1(epsilon - losses), 0)
    error = gains.std() / 100_000**0.5
    assert 0.05 - 4 * error < gains.mean() < 0.055 + 4 * error


def whole_sums(run: tuple, precision: type = np.float64) -> tuple:
    """The laws of the sums before faint outcomes are joined, and what is taken off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(epoch_attacks, "_FAINT", -1e9)
        patch.setattr(epoch_attacks, "rfft", lambda x: rfft(x.astype(precision)))
        [found] = epoch_attacks._sums(*run)
    return found


@pytest.mark.parametrize("places", [(2.0, 1.0), (2.0, 0.0), (1.0, -1.0)])
@pytest.mark.parametrize(
    ("noise", "batches", "present", "rough"),
    [
        (0.8, 2, 1.0, False),
        (0.8, 5000, 1.0, False),
        (1.0, 100, 1.0, False),
        (1.13, 8, 0.1, True),
        (5.0, 5000, 0.9, False),
        (1.0, 100_000, 1.0, True),
    ],
)
def test_the_sums_are_rounded_by_no_more_than_is_taken_off(
    noise: float, batches: int, present: float, rough: bool, places: tuple
) -> None:
    """Against the same transforms in extended precision."""
    run = 1e-6, batches, present, (places[0] / noise, places[1] / noise), rough
    laws, off = whole_sums(run)
    exact, _ = whole_sums(run, np.longdouble)
    for law, known in zip(laws, exact, strict=True):
        assert np.abs(law - known).max() < off
        assert law.sum() == pytest.approx(1, abs=1e-9)


def test_every_outcome_is_charged_whether_it_is_joined_or_not() -> None:
    seen: list[dict] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(epoch_attacks, "composed_epsilon_lower", lambda **x: seen.append(x) or 0.0)
        attacked(3.0, 1e-6, (100, 1.0), 1, (2.0, 1.0))
    (p, q), off = whole_sums((1e-6, 100, 1.0, (2 / 3, 1 / 3), False))
    assert seen[1]["p"].size < 0.9 * p.size, "some are joined"
    charge = off * p.size
    assert p.sum() - seen[1]["p"].sum() == pytest.approx(charge, rel=0.01)
    assert seen[1]["q"].sum() - q.sum() == pytest.approx(charge, rel=0.01)


@pytest.mark.parametrize(("noise", "batches"), [(0.1276, 166_451), (0.2401, 24_868), (0.3104, 439)])
def test_no_sum_is_looked_at_where_nearly_all_releases_are_one(noise: float, batches: int) -> None:
    assert not epoch_attacks._sums(1e-6, batches, 1.0, (2 / noise, 0.0), False)


@pytest.mark.parametrize("present", [0.01, 0.5])
def test_one_batch_that_a_record_may_miss_is_a_poisson_step(present: float) -> None:
    step = Poisson(sampling_probability=present, relation="remove")
    exact = step.epsilon(noise_multiplier=1.0, delta=1e-3)
    assert 0.99 * exact < attacked(1.0, 1e-3, (1, present), 1, (1.0, 0.0)) <= exact


def test_so_many_batches_that_nothing_can_be_seen_prove_nothing() -> None:
    assert attacked(1.0, 1e-6, (10**13, 1.0), 1, (2.0, 1.0)) == 0.0
