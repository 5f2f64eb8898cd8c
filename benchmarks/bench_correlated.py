"""Correlated noise: the composition of a block pair, and the whole certified interval."""

from statistics import median
from time import perf_counter

import numpy as np
from dp_accounting.pld.privacy_loss_distribution import from_mixture_gaussian_mechanism

from dpdynamics.accounting.correlated import block_pair, correlated_gaussian_delta
from dpdynamics.accounting.correlated_sampling import sampled_delta
from dpdynamics.accounting.shift_mixtures import ShiftMixture


def _timed(function):
    start = perf_counter()
    value = function()
    return value, perf_counter() - start


def bench_block_composition():
    """Blocks of 3 of 400 steps, both directions, at like errors: about 2e-4 of delta."""
    noise, count = 76.2, 134
    shifts, weights = block_pair(correlation=0.9, block=3, sampling_probability=0.1)

    def ours():
        pair = ShiftMixture(shifts, weights).scaled(noise)
        return max(pair.composed_delta(count, 1.0, name) for name in ("remove", "add"))

    def theirs(mesh=3e-4):
        pair = from_mixture_gaussian_mechanism(
            standard_deviation=noise,
            sensitivities=shifts,
            sampling_probs=weights,
            value_discretization_interval=mesh,
            use_connect_dots=True,
        )
        return pair.self_compose(count).get_delta_for_epsilon(1.0)

    times = []
    for _ in range(5):
        value, mine = _timed(ours)
        reference, other = _timed(theirs)
        times.append((mine, other))
    exact = theirs(5e-5)
    if not (exact < value < 1.0003 * exact and exact < reference < 1.0003 * exact):
        raise ValueError(f"the accountants disagree: {value}, {reference} and {exact}")
    first, second = np.median(times, axis=0)
    return {
        "name": "Block pair, 134-fold, against PLD at like errors",
        "ours_s": float(first),
        "theirs_s": float(second),
        "ratio": float(second / first),
        "target": 8,
    }


def bench_interval():
    """The certified interval by seven block lengths, against a sample of the exact value."""
    run = {
        "noise_multiplier": 13.0,
        "correlation": 0.9,
        "sampling_probability": 0.1,
        "steps": 400,
        "epsilon": 8.0,
    }
    times = []
    for _ in range(3):
        bracket, mine = _timed(lambda: correlated_gaussian_delta(**run))
        sampled, other = _timed(lambda: sampled_delta(**run, samples=10_000))
        times.append((mine, other))
    error = 4 * sampled.standard_error
    if not bracket.lower - error < sampled.value < bracket.upper + error:
        raise ValueError(f"the sample is not in the interval: {sampled} and {bracket}")
    ours, theirs = (median(column) for column in zip(*times, strict=True))
    return {
        "name": "Correlated noise, interval, T = 400, against 10^4 samples",
        "ours_s": ours,
        "theirs_s": theirs,
        "ratio": theirs / ours,
        "target": None,
    }
