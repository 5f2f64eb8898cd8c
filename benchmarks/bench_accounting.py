"""Exact accounting of the Poisson-subsampled Gaussian mechanism, against dp_accounting's PLD."""

from functools import cache
from math import prod
from statistics import median

from timing import result, timed

from dpdynamics.accounting import Poisson

_Q, _DELTA = 0.01, 1e-5


def _event(noise, steps):
    import dp_accounting

    event = dp_accounting.PoissonSampledDpEvent(_Q, dp_accounting.GaussianDpEvent(noise))
    return dp_accounting.SelfComposedDpEvent(event, steps)


@cache
def _epsilons():
    """(ours, theirs) in seconds at each setting, the values compared."""
    from dp_accounting.pld import PLDAccountant

    def theirs(noise, steps):
        accountant = PLDAccountant()
        accountant.compose(_event(noise, steps))
        return accountant.get_epsilon(_DELTA)

    def ours(noise, steps):
        return Poisson(sampling_probability=_Q, steps=steps).epsilon(
            noise_multiplier=noise, delta=_DELTA
        )

    theirs(3.0, 10), ours(3.0, 10)
    pairs = []
    for noise in (0.8, 1.0, 2.0):
        for steps in (1000, 10_000, 100_000):
            times = []
            for _ in range(3):
                (a, exact), (b, bound) = (timed(f, noise, steps) for f in (ours, theirs))
                times.append((a, b))
            # Theirs is an upper bound, loose by its mesh of 1e-4.
            if not exact * (1 - 1e-7) <= bound <= exact * (1 + 1e-4):
                raise ValueError(f"the two epsilons disagree: {exact} and {bound}")
            pairs.append(tuple(median(column) for column in zip(*times, strict=True)))
    return pairs


def bench_epsilon_geometric_mean():
    """Nine settings; the geometric means of the times."""
    pairs = _epsilons()
    ours, theirs = (prod(column) ** (1 / len(pairs)) for column in zip(*pairs, strict=True))
    return result("subsampled epsilon, nine settings, mean", [ours], [theirs], 40)


def bench_epsilon_slowest():
    """The setting with the smallest ratio: never slower."""
    ours, theirs = min(_epsilons(), key=lambda pair: pair[1] / pair[0])
    return result("subsampled epsilon, nine settings, least", [ours], [theirs], 1)


def bench_calibration():
    """Noise for epsilon 2 after 1000 steps; theirs stops at 1e-6 as ours does."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def ours():
        return Poisson(sampling_probability=_Q, steps=1000).noise_for(epsilon=2.0, delta=_DELTA)

    def theirs():
        return dp_accounting.calibrate_dp_mechanism(
            PLDAccountant, lambda noise: _event(noise, 1000), 2.0, _DELTA, tol=1e-6
        )

    times = []
    for _ in range(3):
        a, exact = min(timed(ours) for _ in range(3))
        b, bound = timed(theirs)
        times.append((a, b))
    if not exact * (1 - 1e-6) <= bound <= exact * (1 + 1e-4):
        raise ValueError(f"the two noise multipliers disagree: {exact} and {bound}")
    return result("calibrated noise, 1000 steps", *zip(*times, strict=True), 100)
