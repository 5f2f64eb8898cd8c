"""One pass: linear programs, exact laws, a simulated coupling, the hidden-state bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpdynamics.accounting import (
    hidden_state_rdp,
    one_pass_gdp,
    one_pass_zcdp_by_record,
    optimal_noise_schedule,
)
from dpdynamics.divergence import gaussian_delta, renyi_divergence_gaussian, zcdp_to_epsilon

STEPS = st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 10)), min_size=1, max_size=8).filter(any)


def cheapest(step_sizes, rho, weights):
    """Least weighted sum of variances under the privacy constraint, and its variances."""
    n = len(step_sizes)
    result = linprog(
        weights,
        A_ub=-np.triu(np.ones((n, n))),
        b_ub=-np.square(step_sizes) / rho,
        bounds=[(0, None)] * n,
        method="highs",
    )
    assert result.success
    return result.fun, result.x


def test_by_hand():
    steps, noise = [2.0, 0.0, 3.0, 1.0], [1.0, 0.0, 2.0, 1.0]
    np.testing.assert_allclose(one_pass_zcdp_by_record(steps, noise), [4 / 6, 0, 9 / 5, 1])
    assert one_pass_zcdp_by_record(steps, noise).max() == pytest.approx(9 / 5)
    assert one_pass_gdp(steps, noise) == pytest.approx(np.sqrt(18 / 5))


def test_a_step_without_later_noise_is_not_private():
    assert one_pass_zcdp_by_record([1.0, 1.0], [3.0, 0.0]).max() == np.inf
    assert one_pass_gdp([1.0, 1.0], [3.0, 0.0]) == np.inf
    assert one_pass_zcdp_by_record([1.0, 0.0], [0.5, 0.0]).max() == 4.0
    assert one_pass_zcdp_by_record([0.0, 0.0], [0.0, 0.0]).max() == 0.0


def test_extreme_scales():
    assert one_pass_zcdp_by_record([1e-200, 2e-200], [1e-150, 1e-150]).max() == pytest.approx(
        4e-100
    )
    tiny = optimal_noise_schedule([2e-160, 1e-160], 1.0)
    np.testing.assert_allclose(tiny, [np.sqrt(3) * 1e-160, 1e-160], rtol=1e-3)


@settings(max_examples=50)
@given(STEPS, st.floats(1e-3, 100))
def test_the_schedule_meets_the_budget_and_no_suffix_can_be_smaller(steps, rho):
    noise = optimal_noise_schedule(steps, rho)
    assert one_pass_zcdp_by_record(steps, noise).max() == pytest.approx(rho, rel=1e-12)
    suffix = np.cumsum(noise[::-1] ** 2)[::-1]
    peaks = [max(steps[k:]) ** 2 for k in range(len(steps))]
    np.testing.assert_allclose(suffix * rho, peaks, rtol=1e-12, atol=1e-14)


@settings(max_examples=40)
@given(STEPS, st.floats(0.1, 10), st.integers(0, 2**32 - 1))
def test_optimal_for_nondecreasing_weights(steps, rho, seed):
    weights = np.cumsum(np.random.default_rng(seed).exponential(size=len(steps)))
    least, _ = cheapest(steps, rho, weights)
    ours = weights @ optimal_noise_schedule(steps, rho) ** 2
    assert ours == pytest.approx(least, rel=1e-9)


def test_not_optimal_for_decreasing_weights():
    steps, weights = [3.0, 2.0, 1.0], [3.0, 2.0, 1.0]
    least, variances = cheapest(steps, 1.0, weights)
    assert weights @ optimal_noise_schedule(steps, 1.0) ** 2 > 1.2 * least
    np.testing.assert_allclose(variances, [0, 0, 9], atol=1e-12)  # all of it at the end


def test_constant_and_linear_steps():
    np.testing.assert_allclose(optimal_noise_schedule(np.full(5, 0.3), 2.0)[:-1], 0)
    falling = np.sqrt(np.arange(5, 0, -1))
    np.testing.assert_allclose(optimal_noise_schedule(falling, 2.0), np.sqrt(0.5))
    warm_up = optimal_noise_schedule([1.0, 2.0, 3.0, 2.0], 1.0)
    np.testing.assert_allclose(warm_up**2, [0, 0, 5, 4])


def test_agrees_with_the_hidden_state_bound():
    """Constant steps and noise; the record of step k has a sensitivity in that step only."""
    eta, clip, sigma, n = 0.7, 1.3, 0.4, 9
    by_record = one_pass_zcdp_by_record(np.full(n, eta), np.full(n, sigma))
    for k in range(n):
        bound = hidden_state_rdp(
            step_size=eta,
            smoothness=2 / eta,
            sensitivity=np.where(np.arange(n) == k, 2 * clip, 0.0),
            noise_std=np.sqrt(2) * clip * sigma / eta,
            steps=n,
            orders=3.0,
        )
        assert 3 * by_record[k] == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("order", [1.1, 2.0, 8.0])
def test_attained_when_every_gradient_is_clipped(order):
    """Then the iterate is a sum: the record moves its mean by 2 eta C, and all noise adds up."""
    rng, clip = np.random.default_rng(1), 0.8
    eta = rng.uniform(0.1, 1, 6)
    for sigma in (rng.uniform(0.1, 1, 6), optimal_noise_schedule(eta, 0.3)):
        variance = 2 * clip**2 * np.sum(sigma**2)
        by_record = one_pass_zcdp_by_record(eta, sigma)
        for k in range(6):
            exact = renyi_divergence_gaussian(2 * eta[k] * clip, variance, 0.0, variance, order)
            if not sigma[:k].any():
                assert order * by_record[k] == pytest.approx(exact, rel=1e-12)
            else:
                assert order * by_record[k] > exact
    assert not sigma[: np.argmax(eta)].any()  # so the worst record attains the last bound


def test_the_profile_is_below_every_conversion():
    steps = np.linspace(1, 0.2, 12)
    for rho in (0.01, 1.0, 30.0):
        mu = one_pass_gdp(steps, optimal_noise_schedule(steps, rho))
        assert mu == pytest.approx(np.sqrt(2 * rho))
        epsilon = zcdp_to_epsilon(rho=rho, delta=1e-6)
        assert gaussian_delta(mu=mu, epsilon=epsilon) < 1e-6


def test_the_coupling_of_the_proof():
    """In two dimensions: the shifts are short enough, and the shifted run ends on the other."""
    rng = np.random.default_rng(3)
    n, changed, clip = 7, 2, 0.6
    eta, tau = rng.uniform(0.2, 1, n), rng.uniform(0.2, 1, n)
    records = rng.standard_normal((n, 3)) * [1, 1, 2]
    others = records.copy()
    others[changed] = [-1.0, 0.4, -5.0]

    def step(k, record, theta):
        x, y = record[:2], record[2]
        gradient = (theta @ x - y)[:, None] * x
        length = np.linalg.norm(gradient, axis=1, keepdims=True)
        clipped = gradient * np.minimum(1, clip / np.maximum(length, 1e-300))
        return theta - min(eta[k], 2 / (x @ x)) * clipped

    budget = 2 * eta[changed] * clip
    shares = budget * tau[changed:] ** 2 / np.sum(tau[changed:] ** 2)
    energy = np.sum((shares / tau[changed:]) ** 2)
    assert energy == pytest.approx(budget**2 / np.sum(tau[changed:] ** 2))

    theta = moved = np.zeros((4000, 2))
    used = np.zeros(len(theta))
    for k in range(n):
        noise = tau[k] * rng.standard_normal(theta.shape)
        ahead, behind = step(k, records[k], theta), step(k, others[k], moved)
        gap, share = ahead - behind, shares[k - changed] if k >= changed else 0.0
        length = np.linalg.norm(gap, axis=1, keepdims=True)
        shift = gap * np.minimum(1, share / np.maximum(length, 1e-300))
        theta, moved = ahead + noise, behind + noise + shift
        used += np.sum(shift**2, axis=1) / tau[k] ** 2
    np.testing.assert_allclose(theta, moved, atol=1e-12)
    assert 0.5 * energy < used.max() <= energy * (1 + 1e-12)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("step_sizes", lambda: one_pass_zcdp_by_record([], [])),
        ("step_sizes", lambda: one_pass_zcdp_by_record([-1.0], [1.0])),
        ("step_sizes", lambda: one_pass_gdp([np.nan], [1.0])),
        ("step_sizes", lambda: one_pass_zcdp_by_record(1.0, [1.0])),
        ("noise_scales", lambda: one_pass_zcdp_by_record([1.0], [1.0, 2.0])),
        ("noise_scales", lambda: one_pass_gdp([1.0], [-1.0])),
        ("noise_scales", lambda: one_pass_zcdp_by_record([1.0], [np.inf])),
        ("rho", lambda: optimal_noise_schedule([1.0], 0.0)),
        ("rho", lambda: optimal_noise_schedule([1.0], np.inf)),
        ("step_sizes", lambda: optimal_noise_schedule([[1.0]], 1.0)),
    ],
)
def test_bad_arguments_are_named(name, call):
    with pytest.raises(ValueError, match=name):
        call()
