"""Moments of a direction against Kummer's and Gauss's functions, Bessel functions and sums."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import erf, ive
from scipy.stats import chi2

from dpdynamics.adaptive import NoisyVector, scaled_chi_mean

RATIOS = [1e-3, 0.3, 2.0, 20.0, 140.0]


def kummer(a, b, z):
    """1F1(a; b; -z) by a series of positive terms."""
    return mp.exp(-z) * mp.hyp1f1(b - a, b, z, maxterms=10**6)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 1024, 10**6])
@pytest.mark.parametrize("rho", RATIOS)
def test_gaussian_moments_by_kummers_function(d, rho):
    z, half = mp.mpf(rho) ** 2 / 2, mp.mpf(d) / 2
    factor = mp.gammaprod([half + 0.5], [half + 1]) / mp.sqrt(2)
    assert NoisyVector(rho, 1.0, d).direction.mean == pytest.approx(
        float(factor * rho * kummer(0.5, half + 1, z)), rel=1e-12
    )
    across = kummer(1, half + 1, z) / d
    moments = NoisyVector(rho, 1.0, d).direction
    assert moments.parallel == pytest.approx(float(1 - (d - 1) * across), rel=1e-12)
    assert moments.perpendicular == pytest.approx(float(across) if d > 1 else 0.0, rel=1e-12)


def poisson_sum(rho, d):
    """The same mean as an average of central inverse lengths over a Poisson number."""
    z = rho**2 / 2
    j = np.arange(max(0, int(z - 15 * np.sqrt(z) - 50)), int(z + 15 * np.sqrt(z) + 60))
    top = int(np.clip(np.searchsorted(j, z), 0, j.size - 1))
    steps = np.log(z / j[1:])
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs[top])
    a = (d + 1) / 2 + j
    first = [float(mp.gammaprod([a[0]], [a[0] + 0.5]))]
    inverse = np.concatenate([first, first * np.cumprod(a[:-1] / (a[:-1] + 0.5))]) / np.sqrt(2)
    return rho * (weights @ inverse) / weights.sum()


@pytest.mark.parametrize("z", [1e4, 1e5, 1e6])
@pytest.mark.parametrize("d", [1, 7, 100, 10_001])
def test_large_ratios_by_a_sum(z, d):
    rho = np.sqrt(2 * z)
    assert NoisyVector(rho, 1.0, d).direction.mean == pytest.approx(poisson_sum(rho, d), rel=1e-10)


def test_closed_forms():
    rho = np.geomspace(1e-4, 1e4, 41)
    np.testing.assert_allclose(
        NoisyVector(rho, 1.0, 1).direction.mean, erf(rho / np.sqrt(2)), rtol=1e-12
    )
    y = rho**2 / 4
    np.testing.assert_allclose(
        NoisyVector(rho, 1.0, 2).direction.mean,
        np.sqrt(np.pi / 8) * rho * (ive(0, y) + ive(1, y)),
        rtol=1e-11,
    )


@pytest.mark.parametrize("nu", [0.4, 1.0, 2.5, 30.0, 1500.5])
@pytest.mark.parametrize("d", [1, 2, 50, 1024])
@pytest.mark.parametrize("rho", [0.3, 20.0, 140.0])
def test_student_mean_by_gauss_function(nu, d, rho):
    degrees, half = mp.mpf(nu), mp.mpf(d) / 2
    factor = mp.gammaprod([(degrees + 1) / 2, half + 0.5], [degrees / 2, half + 1])
    series = mp.hyp2f1(0.5, (degrees + 1) / 2, half + 1, -(mp.mpf(rho) ** 2) / degrees)
    expected = float(factor * rho / mp.sqrt(degrees) * series)
    assert NoisyVector(rho, 1.0, d, nu).direction.mean == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("nu", [1.0, 4.0])
def test_student_second_moments_average_the_gaussian_ones(nu):
    rho, d = 3.0, 12

    def average(name):
        def value(u):
            w = np.sqrt(chi2.ppf(u, nu) / nu)
            return getattr(NoisyVector(rho * w, 1.0, d).direction, name)

        return quad(value, 0, 1, epsabs=1e-11, limit=200)[0]

    found = NoisyVector(rho, 1.0, d, nu).direction
    assert found.parallel == pytest.approx(average("parallel"), rel=1e-8)
    assert found.perpendicular == pytest.approx(average("perpendicular"), rel=1e-8)


def test_the_scaled_chi_mean():
    for nu in (0.2, 1.0, 7.0, 199.0, 201.0, 1e5, 1e9):
        half = mp.mpf(nu) / 2
        expected = float(mp.gammaprod([half + 0.5], [half]) / mp.sqrt(half))
        assert scaled_chi_mean(nu) == pytest.approx(expected, rel=2e-13)
    assert scaled_chi_mean(np.inf) == 1.0
    # the limit of a weak mean: the linearisation of Lemma A.2 up to its relative error 1/(4 d)
    weak = NoisyVector(1e-4, 1.0, 10**4, 3.0).direction.mean / 1e-4 * 100
    assert weak == pytest.approx(scaled_chi_mean(3.0), rel=3e-5)


@settings(max_examples=60)
@given(
    rho=st.floats(0, 1e4),
    d=st.integers(2, 10**6),
    nu=st.floats(0.3, 1e6) | st.just(float("inf")),
)
def test_the_direction_has_length_one(rho, d, nu):
    mean, parallel, perpendicular, _ = NoisyVector(rho, 1.0, d, nu).direction
    assert 0 <= mean <= 1 + 1e-12
    assert mean**2 <= parallel * (1 + 1e-10)
    assert parallel + (d - 1) * perpendicular == pytest.approx(1, rel=1e-11)


def test_shapes_and_errors():
    assert isinstance(NoisyVector(1.0, 1.0, 3).direction.mean, float)
    assert NoisyVector(np.ones((2, 1)), 1.0, [3, 4, 5], 2.0).direction.mean.shape == (2, 3)
    assert NoisyVector(np.ones(2), 1.0, 5).direction.parallel.shape == (2,)
    assert NoisyVector(0.0, 1.0, 5).direction.mean == 0.0
    for call, name in (
        (lambda: NoisyVector(-1.0, 1.0, 3).direction, "mean_norm"),
        (lambda: NoisyVector(np.nan, 1.0, 3).direction, "mean_norm"),
        (lambda: NoisyVector(1.0, 1.0, 0).direction, "dimension"),
        (lambda: NoisyVector(1.0, 1.0, 2.5).direction, "dimension"),
        (lambda: NoisyVector(1.0, 1.0, 3, 0.0).direction, "degrees_of_freedom"),
        (lambda: scaled_chi_mean(-1.0), "degrees_of_freedom"),
    ):
        with pytest.raises(ValueError, match=name):
            call()
