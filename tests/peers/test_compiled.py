"""The compiled ensemble against exact moments; here because it needs numba."""

import numpy as np
import pytest
from ornstein_uhlenbeck import first_two_moments, ornstein_uhlenbeck_moments

from dpdynamics.dynamics import euler_maruyama

RATE, NOISE = np.array([0.5, 1.0, 2.0]), np.array([0.2, 0.0, 1.0])
TIMES, STEP, REPLICATES = np.array([0.0, 0.37, 2.0]), 0.01, 40_000


def run(seed: int, rate=RATE, replicates: int = REPLICATES):
    start = np.tile([1.0, -2.0, 0.5], (replicates, 1))
    rng = np.random.default_rng(seed)
    return ornstein_uhlenbeck_moments(
        start, TIMES, rate=rate, diffusion=NOISE, rng=rng, max_step=STEP
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_moments_are_those_of_the_euler_scheme(seed: int) -> None:
    mean, second = np.array([1.0, -2.0, 0.5]), np.array([1.0, 4.0, 0.25])
    found = run(seed)
    keep = 1 - STEP * RATE
    done = 0
    for k, t in enumerate(TIMES):
        for _ in range(round(t / STEP) - done):
            mean, second = keep * mean, keep**2 * second + STEP * NOISE**2
        done = round(t / STEP)
        error = np.sqrt(np.maximum(second - mean**2, 0) / REPLICATES)
        assert np.all(np.abs(found.values[k, 0] - mean) <= 5 * error + 2e-5)
        spread = np.sqrt(2 * second**2 / REPLICATES)
        assert np.all(np.abs(found.values[k, 1] - second) <= 5 * spread + 1e-4)


def test_entries_are_independent_and_nearly_gaussian() -> None:
    final = run(3).final[:, [0, 2]]
    z = (final - final.mean(0)) / final.std(0)
    assert abs(np.mean(z[:, 0] * z[:, 1])) < 5 / np.sqrt(REPLICATES)
    assert np.all(np.abs(np.mean(z**4, axis=0) - 3) < 0.15)
    assert abs(np.mean(z[1:] * z[:-1])) < 5 / np.sqrt(REPLICATES)


def test_one_seed_gives_one_ensemble_and_the_frame_of_euler_maruyama() -> None:
    one, two, other = run(5, replicates=50), run(5, replicates=50), run(6, replicates=50)
    np.testing.assert_array_equal(one.final, two.final)
    assert not np.array_equal(one.final, other.final)
    frame = euler_maruyama(
        lambda t, x: -RATE * x,
        lambda t, x: NOISE,
        np.ones((50, 3)),
        TIMES,
        rng=np.random.default_rng(0),
        max_step=STEP,
        statistic=first_two_moments,
    )
    assert one.values.shape == frame.values.shape
    assert one.final.shape == frame.final.shape


def test_bad_input() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="diffusion"):
        ornstein_uhlenbeck_moments(np.ones((2, 3)), [0, 1], rate=1.0, diffusion=-1.0, rng=rng)
    with pytest.raises(ValueError, match="not finite at time"):
        ornstein_uhlenbeck_moments(np.ones((2, 3)), [0, 50], rate=-900.0, diffusion=1.0, rng=rng,
                                   max_step=0.1)  # fmt: skip
    with pytest.raises(ValueError, match="x0"):
        ornstein_uhlenbeck_moments(np.ones(3), [0, 1], rate=1.0, diffusion=1.0, rng=rng)
