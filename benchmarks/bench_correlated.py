"""Correlated noise: the composition of a block pair, and the whole certified interval."""

from dp_accounting.pld.privacy_loss_distribution import from_mixture_gaussian_mechanism
from timing import result, timed

from dpdynamics.accounting import CorrelatedPoisson, sampled_delta


def bench_block_composition():
    """Blocks of 3 of 400 steps, both directions, at like errors: about 2e-4 of delta."""
    noise, count = 76.2, 134
    run = CorrelatedPoisson(correlation=0.9, sampling_probability=0.1, steps=3 * count)
    one = run.block_pair(block=3)

    def ours():
        pair = one.scaled(noise)
        return max(pair.composed_delta(count, 1.0, name) for name in ("remove", "add"))

    def theirs(mesh=3e-4):
        pair = from_mixture_gaussian_mechanism(
            standard_deviation=noise,
            sensitivities=one.means,
            sampling_probs=one.weights,
            value_discretization_interval=mesh,
            use_connect_dots=True,
        )
        return pair.self_compose(count).get_delta_for_epsilon(1.0)

    times = []
    for _ in range(5):
        mine, value = timed(ours)
        other, reference = timed(theirs)
        times.append((mine, other))
    exact = theirs(5e-5)
    if not (exact < value < 1.0003 * exact and exact < reference < 1.0003 * exact):
        raise ValueError(f"the accountants disagree: {value}, {reference} and {exact}")
    name = "Block pair, 134-fold, against PLD at like errors"
    return result(name, *zip(*times, strict=True), 8)


def bench_interval():
    """The certified interval by seven block lengths, against a sample of the exact value."""
    run = {"correlation": 0.9, "sampling_probability": 0.1, "steps": 400}
    at = {"noise_multiplier": 13.0, "epsilon": 8.0}
    times = []
    for _ in range(3):
        mine, bracket = timed(CorrelatedPoisson(**run).delta, **at)
        other, sampled = timed(sampled_delta, **run, **at, samples=10_000)
        times.append((mine, other))
    error = 4 * sampled.standard_error
    if not bracket.lower - error < sampled.value < bracket.upper + error:
        raise ValueError(f"the sample is not in the interval: {sampled} and {bracket}")
    name = "Correlated noise, interval, T = 400, against 10^4 samples"
    return result(name, *zip(*times, strict=True), None)
