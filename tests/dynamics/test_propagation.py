"""The exact law in one dimension: closed forms, brute force, simulation, mesh refinement."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from dpdynamics.accounting import (
    gaussian_delta,
    one_pass_gdp,
    one_pass_zcdp_by_record,
    optimal_noise_schedule,
)
from dpdynamics.dynamics import one_pass_law


def step(theta, x, y, eta, clip):
    """Algorithm 1 as printed: adaptive step, gradient, clipping by the norm."""
    gradient = (x * theta - y) * x
    size = np.maximum(np.abs(gradient), 1e-300)
    return theta - min(eta, 2 / x**2 if x else np.inf) * gradient * np.minimum(1, clip / size)


def two_steps(point, records, eta, tau, clip):
    """Density after two noisy steps from 0: the three linear pieces in closed form."""
    with mpmath.workdps(30):
        first = mpmath.mpf(float(step(np.array(0.0), *records[0], eta[0], clip)))
        x, y = map(mpmath.mpf, records[1])
        size = min(mpmath.mpf(eta[1]), 2 / x**2)
        low, high = sorted([(y - clip / x) / x, (y + clip / x) / x])
        pieces = [
            (-mpmath.inf, low, 1, size * clip),
            (low, high, 1 - size * x**2, size * x * y),
            (high, mpmath.inf, 1, -size * clip),
        ]
        total = mpmath.mpf(0)
        for a, b, slope, shift in pieces:  # N(u; first, tau0) N(point; slope u + shift, tau1) du
            spread = mpmath.sqrt(slope**2 * tau[0] ** 2 + mpmath.mpf(tau[1]) ** 2)
            gap = point - slope * first - shift
            center = first + slope * tau[0] ** 2 * gap / spread**2
            width = tau[0] * tau[1] / spread
            ends = [mpmath.ncdf((end - center) / width) for end in (a, b)]
            total += mpmath.npdf(gap, 0, spread) * (ends[1] - ends[0])
        return float(mpmath.log(total))


@pytest.mark.parametrize("features", [(0.8, 1.2), (-1.0, 2.5), (1.0, np.sqrt(2.5))])
def test_two_steps_in_closed_form(features):
    """The slopes in the middle: positive, -1 (the step is shortened), and 0."""
    eta, sigma, clip = [0.5, 0.4], np.array([0.6, 0.35]), 0.9
    records = list(zip(features, (2.0, -0.3), strict=True))
    law = one_pass_law(*zip(*records, strict=True), eta, sigma, clip_norm=clip)
    tau = (np.sqrt(2) * clip * sigma).tolist()
    points = np.linspace(-6, 6, 13)
    exact = [two_steps(u, records, eta, tau, clip) for u in points]
    np.testing.assert_allclose(law.logpdf(points), exact, rtol=1e-12, atol=1e-12)


def test_without_clipping_the_law_is_normal():
    rng = np.random.default_rng(0)
    x, y, eta = rng.normal(size=5), rng.normal(size=5), np.linspace(0.5, 0.1, 5)
    sigma, clip = 1e-5 * rng.uniform(0.5, 1, 5), 1e3
    law = one_pass_law(x, y, eta, sigma, clip_norm=clip)
    mean, variance = 0.0, 0.0
    for k in range(5):
        slope = 1 - min(eta[k], 2 / x[k] ** 2) * x[k] ** 2
        mean = mean * slope + min(eta[k], 2 / x[k] ** 2) * x[k] * y[k]
        variance = variance * slope**2 + 2 * (clip * sigma[k]) ** 2
    points = mean + np.sqrt(variance) * np.linspace(-7, 7, 15)
    exact = -((points - mean) ** 2) / (2 * variance) - np.log(2 * np.pi * variance) / 2
    np.testing.assert_allclose(law.logpdf(points), exact, atol=1e-11)


def test_steps_without_noise_are_composed():
    """Noise in the first and the last of five steps, against one long trapezoidal sum."""
    x, y = np.array([1.0, 1.1, -0.7, 1.5, 0.9]), np.array([0.4, -1.0, 0.8, 1.0, 0.2])
    eta, sigma, clip = np.full(5, 0.9), np.array([0.5, 0, 0, 0, 0.3]), 0.6
    law = one_pass_law(x, y, eta, sigma, clip_norm=clip)
    tau = np.sqrt(2) * clip * sigma
    start = step(np.array(0.0), x[0], y[0], eta[0], clip)
    nodes = start + tau[0] * np.linspace(-9, 9, 400_001)
    mass = np.exp(-(((nodes - start) / tau[0]) ** 2) / 2)
    for k in range(1, 5):
        nodes = step(nodes, x[k], y[k], eta[k], clip)
    for point in np.linspace(-1.5, 2, 8):
        kernel = np.exp(-(((point - nodes) / tau[4]) ** 2) / 2) / (tau[4] * np.sqrt(2 * np.pi))
        exact = mass @ kernel / mass.sum()
        assert np.exp(law.logpdf(point)) == pytest.approx(exact, rel=1e-8)


def test_noise_that_comes_late():
    """Output perturbation: a normal about the noise-free end."""
    law = one_pass_law([1.0, 2.0], [1.0, -1.0], [0.3, 0.3], [0.0, 0.5], clip_norm=0.2, start=0.7)
    end = 0.7
    for x, y in ((1.0, 1.0), (2.0, -1.0)):
        end = float(step(np.array(end), x, y, 0.3, 0.2))
    np.testing.assert_allclose(law.means, [end], rtol=1e-15)
    assert law.std == pytest.approx(np.sqrt(2) * 0.2 * 0.5)


def test_trailing_idle_steps():
    law = one_pass_law([1.0, 5.0], [1.0, 1.0], [0.3, 0.0], [0.5, 0.0], clip_norm=1.0)
    short = one_pass_law([1.0], [1.0], [0.3], [0.5], clip_norm=1.0)
    np.testing.assert_allclose(law.means, short.means)


def test_against_simulation():
    rng = np.random.default_rng(2)
    x, y = 1.5 * rng.normal(size=6), rng.normal(size=6)
    eta, clip = np.linspace(1, 0.3, 6), 0.8
    sigma = optimal_noise_schedule(eta, 0.7)
    law, theta = one_pass_law(x, y, eta, sigma, clip_norm=clip), np.zeros(20_000)
    for k in range(6):
        noise = np.sqrt(2) * clip * sigma[k] * rng.standard_normal(theta.size)
        theta = step(theta, x[k], y[k], eta[k], clip) + noise
    grid = np.linspace(*law.interval, 400)
    cdf = np.cumsum([law.probability(a, b) for a, b in pairwise(grid)])

    def interpolated(values):
        return np.interp(values, grid[1:], cdf)

    assert kstest(theta, interpolated).pvalue > 1e-4
    assert kstest(theta + 0.05 * theta.std(), interpolated).pvalue < 1e-4


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_refinement_changes_nothing(exponent):
    rng = np.random.default_rng(4)
    eta = (1 - np.arange(5) / 5) ** exponent
    sigma = optimal_noise_schedule(eta, 0.5)
    x, y = rng.normal(size=5), 3 * rng.normal(size=5)
    other = np.where(np.arange(5) == 1, -4.0, y)
    laws = [
        [one_pass_law(x, v, eta, sigma, clip_norm=1.0, reach=r, panels=m) for v in (y, other)]
        for r, m in ((12, 1), (15, 3))
    ]
    orders = [0.5, 1.5, 4.0]
    coarse, fine = (p.renyi(q, orders) for p, q in laws)
    np.testing.assert_allclose(coarse, fine, rtol=1e-11, atol=3e-13)
    coarse, fine = (p.hockey_stick(q, [0.0, 1.0]) for p, q in laws)
    np.testing.assert_allclose(coarse, fine, rtol=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.02, 3))
def test_no_neighbours_exceed_the_bounds(seed, exponent, rho):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    k, scale = rng.integers(n), 10.0 ** rng.uniform(-0.5, 1)
    eta = (1 - np.arange(n) / n) ** exponent
    sigma = optimal_noise_schedule(eta, rho)
    x, y = rng.normal(size=n), scale * rng.normal(size=n)
    x2, y2 = x.copy(), y.copy()
    x2[k], y2[k] = rng.normal(), scale * rng.normal()
    p, q = (one_pass_law(u, v, eta, sigma, clip_norm=1.0) for u, v in ((x, y), (x2, y2)))
    bound = one_pass_zcdp_by_record(eta, sigma)[k]
    orders = np.array([1.2, 2.0])
    assert np.all(p.renyi(q, orders) <= bound * orders * (1 + 1e-9) + 1e-12)
    levels = np.array([0.0, 0.5, 2.0])
    assert np.all(
        p.hockey_stick(q, levels) <= gaussian_delta(mu=np.sqrt(2 * bound), epsilon=levels) + 1e-12
    )


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_large_labels_attain_both_bounds_for_the_largest_step(exponent):
    """For the others the noise that came before them counts as well."""
    eta = (1 - np.arange(4) / 4) ** exponent
    sigma, x = optimal_noise_schedule(eta, 0.5), np.array([0.5, -0.7, 0.3, 1.0])
    for k in range(4):
        y, y2 = 1e3 * x, 1e3 * x
        y2[k] = -y[k]
        p, q = (one_pass_law(x, v, eta, sigma, clip_norm=1.0) for v in (y, y2))
        mu = one_pass_gdp(eta, sigma) * eta[k] / eta[0]
        assert p.renyi(q, 2.0) == pytest.approx(mu**2, rel=1e-9)
        assert p.hockey_stick(q, 0.5) == pytest.approx(gaussian_delta(mu=mu, epsilon=0.5), rel=1e-9)


def test_other_records_can_contract_the_noise_that_came_before():
    """At little noise the loss of record k is that of the noise from step k - 1 on."""
    n, k = 8, 5
    eta = np.sqrt(1 - np.arange(n) / n)
    sigma = optimal_noise_schedule(eta, 8.0)
    x, y = np.full(n, 0.3), np.full(n, 300.0)
    x[:k], y[:k] = 1 / np.sqrt(eta[:k]), 0.0  # these contract to 0
    other = np.where(np.arange(n) == k, -300.0, y)
    p, q = (one_pass_law(x, v, eta, sigma, clip_norm=1.0, reach=17) for v in (y, other))
    bound = one_pass_zcdp_by_record(eta, sigma)[k]
    share = np.sum(sigma[k:] ** 2) / np.sum(sigma[k - 1 :] ** 2)
    assert p.renyi(q, 2.0) == pytest.approx(2 * bound * share, rel=1e-3)
    assert bound * share > 1.9 * eta[k] ** 2 / np.sum(sigma**2)  # all gradients clipped


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("features", {"features": [[1.0, 2.0]]}),
        ("labels", {"labels": [1.0]}),
        ("step_sizes", {"step_sizes": [1.0, -1.0]}),
        ("noise_scales", {"noise_scales": [-1.0, 1.0]}),
        ("noise_scales", {"noise_scales": [1.0, 0.0]}),
        ("noise_scales", {"noise_scales": [1.0, 1e-6]}),
        ("clip_norm", {"clip_norm": 0.0}),
        ("start", {"start": np.nan}),
        ("reach", {"reach": -1.0}),
        ("panels", {"panels": 0}),
    ],
)
def test_bad_arguments_are_named(name, change):
    good = {
        "features": [1.0, 2.0],
        "labels": [0.0, 1.0],
        "step_sizes": [0.5, 0.5],
        "noise_scales": [1.0, 1.0],
        "clip_norm": 1.0,
    }
    one_pass_law(**good)
    with pytest.raises(ValueError, match=name):
        one_pass_law(**(good | change))


def test_too_short_a_reach_is_noticed():
    with pytest.raises(ArithmeticError, match="reach"):
        one_pass_law([1.0, 1.0], [0, 0], [0.1, 0.1], [1.0, 1.0], clip_norm=1.0, reach=1.0)


def test_a_noise_that_is_lost_to_rounding_is_refused():
    with pytest.raises(ArithmeticError, match="start"):
        one_pass_law([1.0], [1.0], [0.1], [0.1], clip_norm=1.0, start=1e13)
