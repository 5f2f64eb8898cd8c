import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from dpdynamics.divergence.covariances import DiagonalPlusLowRank
from dpdynamics.divergence.gaussian import gaussian_delta
from dpdynamics.divergence.hockey_stick import hockey_stick_gaussian


def _two_roots(mean, variance, epsilon):
    """N(mean, variance) against N(0, 1): the loss is a parabola."""
    with mp.workdps(150):
        m, r, e = mp.mpf(mean), mp.mpf(variance), mp.mpf(epsilon)
        a, b, c = (1 - 1 / r) / 2, m / r, -(m**2) / (2 * r) - mp.log(r) / 2 - e
        rest = b * b - 4 * a * c
        if rest <= 0:
            return 1 - mp.exp(e) if a > 0 else mp.mpf(0)
        low, high = sorted([(-b - mp.sqrt(rest)) / (2 * a), (-b + mp.sqrt(rest)) / (2 * a)])

        def p(x):
            return mp.ncdf((x - m) / mp.sqrt(r))

        inner = p(high) - p(low) - mp.exp(e) * (mp.ncdf(high) - mp.ncdf(low))
        return inner if a < 0 else 1 - mp.exp(e) - inner


@pytest.mark.parametrize("mean", [0.0, 1e-4, 0.3, 5.0])
@pytest.mark.parametrize("variance", [0.01, 0.9, 1 - 1e-6, 1 + 1e-8, 1.1, 2.0, 50.0])
def test_one_dimension_has_two_roots(mean, variance):
    epsilons = np.array([-2.0, -0.1, 0.0, 1e-3, 0.1, 1.0, 5.0])
    values = hockey_stick_gaussian(mean, variance, 0.0, 1.0, epsilons)
    exact = np.array([float(_two_roots(mean, variance, e)) for e in epsilons])
    np.testing.assert_allclose(values, exact, rtol=1e-10, atol=1e-280)


@pytest.mark.parametrize("dimension", [2, 3, 10, 200])
@pytest.mark.parametrize("variance", [0.5, 1.3])
def test_spread_alone_is_a_chi_square(dimension, variance):
    for epsilon in (-1.0, 0.0, 0.7, 3.0):
        cut = (2 * epsilon + dimension * np.log(variance)) / (1 - 1 / variance)
        if variance > 1:
            exact = chi2.sf(cut / variance, dimension) - np.exp(epsilon) * chi2.sf(cut, dimension)
        else:
            exact = chi2.cdf(cut / variance, dimension) - np.exp(epsilon) * chi2.cdf(cut, dimension)
        value = hockey_stick_gaussian(
            np.zeros(dimension), variance, np.zeros(dimension), 1.0, epsilon
        )
        assert value == pytest.approx(exact, rel=1e-9, abs=1e-15)


def _pair(seed, dimension=5, rank=2):
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.5, 2, dimension)
    laws = []
    for _ in range(2):
        core = np.diag(rng.uniform(-0.05, 0.3, rank))
        laws.append(DiagonalPlusLowRank(base, rng.normal(size=(dimension, rank)) / 2, core))
    return rng.normal(size=dimension) / 2, np.zeros(dimension), laws


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_structures_and_directions_agree(seed):
    mean_p, mean_q, (p, q) = _pair(seed)
    epsilons = np.array([-0.5, 0.2, 1.0])
    low_rank = hockey_stick_gaussian(mean_p, p, mean_q, q, epsilons)
    dense = hockey_stick_gaussian(mean_p, p.dense(), mean_q, q.dense(), epsilons)
    np.testing.assert_allclose(low_rank, dense, rtol=1e-9)
    back = hockey_stick_gaussian(mean_q, q, mean_p, p, -epsilons)
    np.testing.assert_allclose(
        low_rank, 1 - np.exp(epsilons) + np.exp(epsilons) * back, rtol=1e-9, atol=1e-14
    )


def test_against_sampling():
    mean_p, mean_q, (p, q) = _pair(7)
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal(mean_p, p.dense(), 400_000)

    def log_density(mean, cov):
        gap = x - mean
        quadratic = np.einsum("ni,ij,nj->n", gap, np.linalg.inv(cov), gap)
        return -(quadratic + np.linalg.slogdet(cov)[1]) / 2

    loss = log_density(mean_p, p.dense()) - log_density(mean_q, q.dense())
    for epsilon in (0.1, 1.0, 2.0):
        sample = -np.expm1(np.minimum(epsilon - loss, 0))
        exact = hockey_stick_gaussian(mean_p, p, mean_q, q, epsilon)
        assert abs(sample.mean() - exact) < 5 * sample.std() / np.sqrt(sample.size)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6), dimension=st.integers(1, 30), epsilon=st.floats(-3, 5), d=st.data()
)
def test_profile_is_decreasing_and_bounded(seed, dimension, epsilon, d):
    rng = np.random.default_rng(seed)
    mean, variances = rng.normal(size=dimension), np.exp(rng.normal(size=dimension))
    later = epsilon + d.draw(st.floats(0.01, 3))
    first, second = hockey_stick_gaussian(
        mean, variances, np.zeros(dimension), 1.0, np.array([epsilon, later])
    )
    assert max(0.0, -np.expm1(epsilon)) - 1e-12 <= first <= 1
    assert second <= first


def test_common_covariance_is_the_gaussian_mechanism():
    cov = np.array([[2.0, 0.3], [0.3, 1.0]])
    gap = np.array([1.0, -0.4])
    mu = np.sqrt(gap @ np.linalg.solve(cov, gap))
    epsilons = np.array([[-1.0, 0.0], [1.0, 4.0]])
    np.testing.assert_allclose(
        hockey_stick_gaussian(gap, cov, np.zeros(2), cov, epsilons),
        gaussian_delta(mu=mu, epsilon=epsilons),
        rtol=1e-12,
    )


def test_bounded_losses_reach_their_ends():
    assert hockey_stick_gaussian(0.0, 0.5, 0.0, 1.0, 0.5) == 0.0  # the loss is below ln(2)/2
    assert hockey_stick_gaussian(0.0, 2.0, 0.0, 1.0, -0.5) == pytest.approx(-np.expm1(-0.5))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([0.0], -1.0, [0.0], 1.0, 1.0), "cov_p"),
        (([0.0], 1.0, [0.0, 1.0], 1.0, 1.0), "mean_q"),
        (([0.0], 1.0, [0.0], 1.0, np.inf), "epsilon"),
    ],
)
def test_bad_arguments(arguments, name):
    with pytest.raises(ValueError, match=name):
        hockey_stick_gaussian(*arguments)
