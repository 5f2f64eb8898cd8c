"""Reduction factors against high precision, quadrature and a joint Gaussian."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from dpdynamics.dynamics.clipping import clipping_factors

RATIOS = np.unique(np.r_[np.logspace(-150, 2, 200), np.linspace(0.05, 12, 400), 0.1 - 1e-16])


def test_factors_in_high_precision():
    with mpmath.workdps(330):
        for ratio in RATIOS:
            b = mpmath.mpf(float(ratio))
            tail = mpmath.erfc(b / mpmath.sqrt(2))
            density = mpmath.sqrt(2 / mpmath.pi) * b * mpmath.exp(-b * b / 2)
            mu, nu = clipping_factors(float(ratio))
            assert abs(float(mu) / (1 - tail) - 1) < 1e-14
            assert abs(float(nu) / (1 - tail - density + b * b * tail) - 1) < 1e-14


@pytest.mark.parametrize("ratio", [1e-3, 0.3, 1.0, 4.0])
def test_factors_are_the_moments_that_define_them(ratio):
    def mean(f):
        pieces = [(-np.inf, -ratio), (-ratio, 0), (0, ratio), (ratio, np.inf)]
        return sum(quad(lambda g: f(g) * norm.pdf(g), a, b, epsrel=1e-12)[0] for a, b in pieces)

    mu, nu = clipping_factors(ratio)
    assert float(mu) == pytest.approx(mean(lambda g: g * np.clip(g, -ratio, ratio)), rel=1e-9)
    assert float(nu) == pytest.approx(mean(lambda g: min(g * g, ratio**2)), rel=1e-9)


def test_a_clipped_gradient_points_along_the_gradient():
    rng = np.random.default_rng(2)
    variances, error, zeta, c, runs = (
        np.array([0.3, 1.0, 1.7]),
        np.array([1, -0.5, 0.4]),
        0.6,
        0.5,
        400_000,
    )
    x = np.sqrt(variances) * rng.standard_normal((runs, 3))
    r = x @ error - zeta * rng.standard_normal(runs)
    mu, nu = clipping_factors(c / np.sqrt(variances @ error**2 + zeta**2))
    sample = x * np.clip(r, -c, c)[:, None]
    assert np.all(
        np.abs(sample.mean(0) - mu * variances * error) < 5 * sample.std(0) / np.sqrt(runs)
    )
    square = np.clip(r, -c, c) ** 2
    expected = nu * (variances @ error**2 + zeta**2)
    assert abs(square.mean() - expected) < 5 * square.std() / np.sqrt(runs)


@given(st.floats(1e-12, 30), st.floats(1.0001, 3))
def test_monotone_as_in_lemma_b2(ratio, factor):
    (mu, nu), (mu2, nu2) = clipping_factors(ratio), clipping_factors(ratio * factor)
    slack = 1 + 1e-13
    assert 0 < mu <= mu2 * slack
    assert 0 < nu <= nu2 * slack
    assert mu2 / factor <= mu * slack <= np.sqrt(2 / np.pi) * ratio * slack**2
    assert nu2 / factor**2 <= nu * slack <= ratio**2 * slack**2


def test_ends_and_shapes():
    mu, nu = clipping_factors([[0.0, np.inf]])
    np.testing.assert_array_equal([mu, nu], [[[0.0, 1.0]]] * 2)
    assert clipping_factors(1).descent_factor.shape == ()
    for bad in (-1e-9, np.nan, "a"):
        with pytest.raises(ValueError, match="ratio"):
            clipping_factors(bad)
