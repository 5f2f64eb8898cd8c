"""Neighbouring releases against dense covariances built block by block, formula (18)."""

from __future__ import annotations

import numpy as np
import pytest

from dpdynamics.divergence import renyi_divergence_gaussian
from dpdynamics.dynamics import law, release
from dpdynamics.problems import Constant, ExponentialDecay, LeastSquares

LAM = np.array([0.2, 0.2, 0.5, 1.0, 1.5, 0.9])
D, SIGMA, RIDGE = LAM.size, 0.7, 0.1
RNG = np.random.default_rng(5)
PROBLEM = LeastSquares(LAM, RNG.standard_normal(D), 0.3, RIDGE)
X0 = RNG.standard_normal(D)
RECORDS = RNG.standard_normal((5, D)), RNG.standard_normal(5)
SCHEDULES = [Constant(0.8), ExponentialDecay(0.8, 0.5)]


def dense(schedule, a, b, s: float, times) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance (Jd, Jd) of all releases, with nothing left out."""

    def phi(t, u):
        return np.exp(-(LAM + RIDGE) * (schedule.integral(t) - schedule.integral(u)))

    def at(t):
        mean, variance = law(PROBLEM, X0, schedule, SIGMA, np.array([t]))
        return mean[0], variance[0]

    g = float(schedule(s)) / D
    step = (1 - g * RIDGE) * np.eye(D) - g * np.outer(a, a)
    m, v = at(s)
    after = step @ np.diag(v) @ step.T + (g * SIGMA) ** 2 * np.eye(D)
    mean, cov = [], np.zeros((len(times), len(times), D, D))
    for r, t in enumerate(times):
        jump = phi(t, s) * (step @ m + g * b * a - m) if t >= s else 0.0
        mean.append(at(t)[0] + jump)
        for j, u in enumerate(times[: r + 1]):
            if t < s:
                block = np.diag(phi(t, u) * at(u)[1])
            elif u < s:
                block = np.diag(phi(t, s)) @ step @ np.diag(phi(s, u) * at(u)[1])
            else:
                down = np.diag(phi(u, s))
                own = down @ after @ down + np.diag(at(u)[1] - phi(u, s) ** 2 * v)
                block = np.diag(phi(t, u)) @ own
            cov[r, j], cov[j, r] = block, block.T
    cov = cov.swapaxes(1, 2).reshape(len(times) * D, -1)
    return np.concatenate(mean), (cov + cov.T) / 2


CASES = [
    (1.0, [1.0]),
    (1.0, [1.4]),
    (0.0, [0.5, 1.0]),
    (1.0, [0.7, 1.0]),
    (1.0, [1.1, 1.2, 3.0]),
    (1.0, [0.3, 0.6, 1.2, 2.0]),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["constant", "decaying"])
@pytest.mark.parametrize(("s", "times"), CASES)
@pytest.mark.parametrize("order", [1.2, 2.0, 3.0])
def test_several_and_average(schedule, s: float, times: list[float], order: float) -> None:
    (a, c), (b, e) = RECORDS[0][:2], RECORDS[1][:2]
    p, q = dense(schedule, a, b, s, times), dense(schedule, c, e, s, times)
    common = PROBLEM, X0, schedule, SIGMA
    joint = release(*common, step_time=s, times=times)
    exact = renyi_divergence_gaussian(*p, *q, order)
    assert joint.divergence(a, b, c, e, order) == pytest.approx(exact, rel=1e-10)

    mean = np.kron(np.full(len(times), 1 / len(times)), np.eye(D))
    laws = [x for m, v in (p, q) for x in (mean @ m, mean @ v @ mean.T)]
    laws = [x if x.ndim == 1 else (x + x.T) / 2 for x in laws]
    average = release(*common, step_time=s, times=times, average=True)
    exact = renyi_divergence_gaussian(*laws, order)
    assert average.divergence(a, b, c, e, order) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["constant", "decaying"])
def test_the_mean_of_a_release_after_one_before(schedule) -> None:
    """The coordinates are y and what is left of x when y is carried on."""
    a, b = RECORDS[0][0], RECORDS[1][0]
    y, x = dense(schedule, a, b, 1.0, [0.7, 1.3])[0].reshape(2, D)
    kappa = 1 - float(schedule(1.0)) / D * RIDGE
    phi = np.exp(-(LAM + RIDGE) * (schedule.integral(1.3) - schedule.integral(0.7)))
    given = PROBLEM, X0, schedule, SIGMA
    found = release(*given, step_time=1.0, times=[0.7, 1.3]).law(a, b).mean
    np.testing.assert_allclose(found, [*y, *(x - kappa * phi * y)], rtol=1e-12)


def test_a_release_before_the_step_adds_to_the_loss() -> None:
    """Theorem 4.4 drops it; conditioning on it makes the later state sharper."""
    (a, c), (b, e) = RECORDS[0][:2], RECORDS[1][:2]
    common = PROBLEM, X0, SCHEDULES[0], SIGMA
    alone = release(*common, step_time=1.0, times=[1.2])
    both = release(*common, step_time=1.0, times=[0.9, 1.2])
    assert both.divergence(a, b, c, e, 1.2) > 1.5 * alone.divergence(a, b, c, e, 1.2)


@pytest.mark.parametrize(("s", "times"), CASES)
@pytest.mark.parametrize("order", [1.2, 4.0])
def test_all_pairs(s: float, times: list[float], order: float) -> None:
    laws = release(PROBLEM, X0, SCHEDULES[1], SIGMA, step_time=s, times=times)
    a, b = RECORDS
    a = 0.5 * a
    table = laws.pairwise_divergence(a, b, order)
    exact = [[laws.divergence(a[i], b[i], a[j], b[j], order) for j in range(5)] for i in range(5)]
    np.testing.assert_allclose(table, exact, rtol=1e-9, atol=1e-14)


def test_all_pairs_finds_the_infinite_ones() -> None:
    laws = release(PROBLEM, X0, 0.8, SIGMA, step_time=1.0, times=1.0)
    a, b = np.linspace(0.2, 4, 12)[:, None] * RECORDS[0][:1], np.zeros(12)
    table = laws.pairwise_divergence(a, b, 2.0)
    exact = [[laws.divergence(x, 0.0, y, 0.0, 2.0) for y in a] for x in a]
    assert 0 < np.isinf(table).sum() < table.size
    np.testing.assert_array_equal(np.isinf(table), np.isinf(exact))


def test_a_tiny_loss_keeps_its_digits() -> None:
    a, b = 1e-4 * RECORDS[0], 1e-4 * RECORDS[1]
    laws = release(PROBLEM, X0, 0.8, SIGMA, step_time=1.0, times=1.5)
    value = laws.divergence(a[0], b[0], a[1], b[1], 2.0)
    assert 0 < value < 1e-8
    assert laws.pairwise_divergence(a, b, 2.0)[0, 1] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"times": []}, "times"),
        ({"times": [2.0, 1.5]}, "times"),
        ({"times": [[1.5]]}, "times"),
        ({"times": [0.5]}, "times"),
        ({"times": [0.0, 1.5]}, "times"),
        ({"step_time": -1.0}, "step_time"),
        ({"noise_scale": 0.0}, "noise_scale"),
    ],
)
def test_bad_input(change: dict, name: str) -> None:
    given = {"noise_scale": SIGMA, "step_time": 1.0, "times": [1.5], **change}
    with pytest.raises(ValueError, match=name):
        release(PROBLEM, X0, 0.8, **given)


def test_bad_records() -> None:
    laws = release(PROBLEM, X0, 0.8, SIGMA, step_time=1.0, times=1.5)
    with pytest.raises(ValueError, match="a must have"):
        laws.pairwise_divergence(np.ones((3, D + 1)), np.ones(3), 2.0)
    with pytest.raises(ValueError, match="order"):
        laws.pairwise_divergence(*RECORDS, 1.0)
    with pytest.raises(ValueError, match="b must"):
        laws.pairwise_divergence(RECORDS[0], np.ones(3), 2.0)
    with pytest.raises(ValueError, match="a must be smaller"):
        laws.pairwise_divergence(1e60 * RECORDS[0], RECORDS[1], 2.0)
    with pytest.raises(ValueError, match="order"):
        laws.pairwise_divergence(*RECORDS, np.nan)
    with pytest.raises(ValueError, match="b must"):
        laws.law(RECORDS[0][0], np.nan)
    with pytest.raises(ValueError, match="other_a"):
        laws.divergence(RECORDS[0][0], 1.0, [np.nan] * D, 1.0, 2.0)
    with pytest.raises(ValueError, match="other_b"):
        laws.divergence(RECORDS[0][0], 1.0, RECORDS[0][0], np.nan, 2.0)


def test_unsigned_orders_and_far_records() -> None:
    laws = release(PROBLEM, X0, 0.8, SIGMA, step_time=1.0, times=1.5)
    a, b = RECORDS
    np.testing.assert_array_equal(
        laws.pairwise_divergence(0.5 * a, b, np.uint8(2)),
        laws.pairwise_divergence(0.5 * a, b, 2.0),
    )
    for far in (1e40, 1e60):
        with pytest.raises(ValueError, match=r"\ba must"):
            laws.divergence(far * a[0], b[0], a[1], b[1], 2.0)
        with pytest.raises(ValueError, match="other_b must"):
            laws.divergence(a[0], b[0], a[1], far, 2.0)
