"""The exact law of DP-SignSGD in one coordinate, against simulating the algorithm.

The simulation is the two lines of the algorithm on many runs at once. Its error falls like one over
the square root of the number of runs: the time for the error asked for is that of a smaller
simulation times (error reached / error asked for)^2, with the standard error for the error. Ours
is correct to rounding, which no number of runs would reach.
"""

import numpy as np
from timing import result, timed

from dpdynamics.adaptive import gaussian_sign, sign_walk


def bench_one_coordinate():
    """The mean loss after 10^4 steps, to one part in a thousand."""
    return _measure(steps=10_000, scales=np.array([1.0]), accuracy=1e-3, runs=1000, target=100)


def bench_privacy_levels():
    """Thirty noise levels at once."""
    return _measure(
        steps=3000, scales=np.geomspace(0.1, 10, 30), accuracy=1e-3, runs=100, target=100
    )


def _measure(steps, scales, accuracy, runs, target, rate=0.01, start=0.5):
    rng, ours, theirs = np.random.default_rng(0), [], []
    for _ in range(3):
        for _ in range(5):
            seconds, exact = timed(_exact, steps, scales, rate, start)
            ours.append(seconds)
        seconds, losses = timed(_simulated, steps, scales, rate, start, runs, rng)
        theirs.append(seconds)
    errors = losses.std(axis=0, ddof=1) / np.sqrt(runs)
    if not np.all(np.abs(losses.mean(axis=0) - exact) < 6 * errors):
        raise ValueError(f"the two losses disagree: {losses.mean(axis=0)} and {exact}")
    factor = (np.median(errors / exact) / accuracy) ** 2
    title = f"law of DP-SignSGD, {scales.size} x {steps} steps, error {accuracy:g}"
    return result(title, ours, [factor * seconds for seconds in theirs], target)


def _exact(steps, scales, rate, start):
    down = gaussian_sign(lambda x: x, scales)
    starts = np.full(scales.size, start)
    (law,) = sign_walk(down, starts, rate, [steps])
    return law.expectation(lambda x: x**2 / 2)


def _simulated(steps, scales, rate, start, runs, rng):
    x = np.full((runs, scales.size), start)
    for _ in range(steps):
        x -= rate * np.sign(x + scales * rng.standard_normal(x.shape))
    return x**2 / 2
