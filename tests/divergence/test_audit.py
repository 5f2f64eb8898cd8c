"""Audits: measured coverage, measured sharpness, and auditors that must be caught lying."""

import numpy as np
import pytest
from scipy import stats

from dpdynamics.divergence import audit_epsilon, audit_mu, gaussian_epsilon

CONFIDENCE, REPEATS = 0.8, 600
# More violations than this have probability 1e-4 when each has probability 1 - CONFIDENCE.
ALLOWED = stats.binom.isf(1e-4, REPEATS, 1 - CONFIDENCE)


def randomised_response(rng, epsilon, n):
    truth = 1 / (1 + np.exp(-epsilon))
    return (rng.random(n) < truth).astype(float), (rng.random(n) >= truth).astype(float)


def gaussian(rng, mu, n):
    return rng.standard_normal(n) + mu, rng.standard_normal(n)


def shameless(p, q, delta):
    """The best Clopper-Pearson bound over all thresholds, counted on the data that chose it."""
    t = np.quantile(np.concatenate([p, q]), np.linspace(0.01, 0.99, 50))[:, None]
    error, best = (1 - CONFIDENCE) / 2, 0.0
    for a, b in [(p >= t, q >= t), (q >= t, p >= t), (p <= t, q <= t), (q <= t, p <= t)]:
        hits, false = a.sum(axis=1), b.sum(axis=1)
        low = np.nan_to_num(stats.beta.ppf(error, hits, p.size - hits + 1))
        high = np.nan_to_num(stats.beta.isf(error, false + 1, q.size - false), nan=1.0)
        best = max(best, float(np.log(np.maximum(low - delta, 1e-9) / high).max()))
    return best


@pytest.mark.parametrize(
    ("sample", "parameter", "delta", "truth"),
    [
        (randomised_response, 1.0, 0.0, 1.0),
        (randomised_response, 0.0, 0.0, 0.0),
        (gaussian, 0.0, 0.0, 0.0),
        (gaussian, 1.0, 0.1, gaussian_epsilon(mu=1.0, delta=0.1)),
    ],
)
def test_the_bound_exceeds_the_truth_no_more_often_than_stated(sample, parameter, delta, truth):
    rng = np.random.default_rng(0)
    above = 0
    for _ in range(REPEATS):
        p, q = sample(rng, parameter, 300)
        bound = audit_epsilon(p, q, delta=delta, confidence=CONFIDENCE, rng=rng).lower_bound
        above += bound > truth
    assert above <= ALLOWED


def test_auditors_that_lie_are_caught():
    rng = np.random.default_rng(0)
    chosen = plugged = 0
    for _ in range(REPEATS):
        chosen += shameless(*gaussian(rng, 0.0, 300), 0.0) > 0
        p, q = randomised_response(rng, 1.0, 300)
        plugged += np.log(p.mean() / q.mean()) > 1
    assert chosen > ALLOWED
    assert plugged > ALLOWED


def test_the_bound_on_mu_exceeds_the_truth_no_more_often_than_stated():
    rng = np.random.default_rng(0)
    above = [
        audit_mu(*gaussian(rng, mu, 300), confidence=CONFIDENCE, rng=rng).lower_bound > mu
        for mu in np.repeat([0.0, 1.0], REPEATS // 2)
    ]
    assert sum(above) <= ALLOWED


def test_sharpness():
    """What 1e5 runs prove about mu = 1: below the worst of 30 seeds."""
    rng = np.random.default_rng(0)
    p, q = gaussian(rng, 1.0, 100_000)
    mu = audit_mu(p, q, confidence=0.95, rng=rng).lower_bound
    assert 0.88 < mu < 1
    for delta, share in [(1e-5, 0.53), (1e-2, 0.76), (0.1, 0.9)]:
        truth = gaussian_epsilon(mu=1.0, delta=delta)
        bound = audit_epsilon(p, q, delta=delta, confidence=0.95, rng=rng).lower_bound
        assert share * truth < bound < truth
    bits = randomised_response(rng, 1.0, 100_000)
    assert 0.97 < audit_epsilon(*bits, delta=0.0, confidence=0.95, rng=rng).lower_bound < 1


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("swap", [False, True])
def test_either_direction_and_either_side(sign, swap):
    # Only one event tells: a score of 9 (or -9), which q never shows.
    rng = np.random.default_rng(0)
    q = rng.random(20_000)
    p = np.where(rng.random(20_000) < 0.05, 9.0, rng.random(20_000))
    runs = (sign * q, sign * p) if swap else (sign * p, sign * q)
    audit = audit_epsilon(*runs, delta=0.01, confidence=0.95, rng=rng)
    assert audit.p_likely is not swap
    assert audit.above is (sign == 1)
    assert audit.false_hits == 0
    assert audit.trials == audit.false_trials == 16_000
    assert audit.hits == pytest.approx(0.05 * 16_000, rel=0.2)
    low = stats.beta.ppf(0.025, audit.hits, audit.trials - audit.hits + 1)
    high = 1 - 0.025 ** (1 / 16_000)
    assert audit.lower_bound == pytest.approx(np.log((low - 0.01) / high), rel=1e-9)
    confident = audit_epsilon(*runs, delta=0.01, confidence=0.999, rng=rng)
    assert confident.lower_bound < audit.lower_bound


def test_infinite_and_equal_scores():
    rng = np.random.default_rng(0)
    certain = np.full(1000, np.inf), np.full(900, -np.inf)
    audit = audit_epsilon(*certain, delta=1e-5, confidence=0.95, rng=rng)
    assert (
        audit.hits == audit.trials == 720
    )  # the larger sample is the better one to be absent from
    assert (audit.false_hits, audit.false_trials) == (0, 800)
    proven = np.log((0.025 ** (1 / 720) - 1e-5) / (1 - 0.025 ** (1 / 800)))
    assert audit.lower_bound == pytest.approx(proven, rel=1e-9)
    silent = audit_epsilon(np.ones(50), np.ones(50), delta=0.1, confidence=0.95, rng=rng)
    assert silent.lower_bound == 0
    hopeless = audit_epsilon(*certain, delta=0.999, confidence=0.95, rng=rng)
    assert hopeless.lower_bound == 0


def test_sorted_runs_do_no_harm():
    rng = np.random.default_rng(0)
    p, q = gaussian(rng, 0.0, 5000)
    bounds = [
        audit_epsilon(np.sort(p), np.sort(q)[::-1], delta=0.0, confidence=0.9, rng=rng).lower_bound
        for _ in range(20)
    ]
    assert np.median(bounds) == 0


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"outputs_p": np.ones(9)}, "outputs_p"),
        ({"outputs_q": np.ones((10, 2))}, "outputs_q"),
        ({"outputs_q": [np.nan] * 10}, "outputs_q"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -0.1}, "delta"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_bad_input(changed, named):
    good = {"outputs_p": np.ones(10), "outputs_q": np.ones(10), "delta": 0.1, "confidence": 0.9}
    arguments = {**good, **changed}
    p, q = arguments.pop("outputs_p"), arguments.pop("outputs_q")
    with pytest.raises(ValueError, match=named):
        audit_epsilon(p, q, rng=np.random.default_rng(0), **arguments)
