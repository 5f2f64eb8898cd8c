"""Stationary densities against mpmath, SciPy, closed forms and stationarity itself."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import erf, ndtr

from dpdynamics.adaptive import sign_diffusion_law


@pytest.mark.parametrize("equation", ["full", "constant noise"])
@pytest.mark.parametrize("ratio", [0.05, 1.0, 20.0])
def test_the_sign_equation_in_many_digits(ratio, equation):
    """The Gibbs formula with its inner integral, by mpmath."""
    law = sign_diffusion_law(1.0, 1.0, ratio, equation=equation)
    root = mpmath.sqrt(2)

    def D(y):
        return mpmath.erfc(y / root) * (1 + mpmath.erf(y / root)) if equation == "full" else 1

    def inner(low, high):
        return mpmath.quad(lambda v: mpmath.erf(v / root) / D(v), [low, high])

    points = np.sqrt(law.variance) * np.array([0.0, 0.4, 1.1, 1.3])
    steps = [0.0, *(float(inner(a, b)) for a, b in pairwise(points))]
    exponents = 2 / ratio * np.cumsum(steps)
    logs = np.array([-float(mpmath.log(D(y))) for y in points]) - exponents
    ours = law.log_density(points)
    np.testing.assert_allclose(ours - ours[0], logs - logs[0], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("equation", ["full", "constant noise"])
@pytest.mark.parametrize("ratio", [1e-12, 1e-4, 0.3, 5.0, 300.0, 1e12])
def test_nothing_flows(ratio, equation):
    """E[b g' + a g''/2] = 0 for g = x^2 and x^4, also at extremes, in other units too."""
    curvature, scale = 3.0, 0.2
    rate = ratio * scale / curvature
    law = sign_diffusion_law(curvature, scale, rate, equation=equation)

    def b(x):
        return -erf(curvature * x / (scale * np.sqrt(2)))

    def D(y):
        return 4 * ndtr(y) * ndtr(-y) if equation == "full" else np.ones_like(y)

    for power in (2, 4):
        pull = law.expectation(lambda x, n=power: -n * x ** (n - 1) * b(x))
        push = law.expectation(
            lambda x, n=power: n * (n - 1) * x ** (n - 2) * rate / 2 * D(curvature * x / scale)
        )
        assert pull == pytest.approx(push, rel=1e-8)
    assert law.weights.sum() == pytest.approx(1, rel=1e-12)
    assert law.weights.min() > 0  # no node lies where the law has ended
    assert law.mean == pytest.approx(0, abs=1e-12 * np.sqrt(law.variance))


def test_the_density_is_normalised_and_has_these_moments():
    law = sign_diffusion_law(2.0, 0.7, 0.3)
    total, _ = integrate.quad(law.density, -4, 4, epsabs=1e-12, limit=200)
    second, _ = integrate.quad(lambda x: x**2 * law.density(x), -4, 4, epsabs=1e-12, limit=200)
    assert total == pytest.approx(1, abs=1e-9)
    assert second == pytest.approx(law.variance, rel=1e-9)
    assert law.density(100.0) == 0.0


def test_expansions_at_small_rates():
    """Variance over its limit: 1 - .0856 r with D = 1 - erf^2, 1 - .3989 r when linearised."""
    r = 1e-4
    leading = r * np.sqrt(np.pi / 2) / 2
    full = sign_diffusion_law(1.0, 1.0, r).variance / leading - 1
    linear = sign_diffusion_law(1.0, 1.0, r, equation="linear").variance / leading - 1
    assert full / r == pytest.approx(-0.0856, abs=1e-3)
    assert linear / r == pytest.approx(-1 / np.sqrt(2 * np.pi), abs=1e-3)


@settings(max_examples=50)
@given(st.floats(1e-6, 1e6), st.floats(0.1, 10), st.floats(0.1, 10))
def test_the_beta_law(rate, curvature, scale):
    law = sign_diffusion_law(curvature, scale, rate, equation="linear")
    kappa = np.sqrt(2 / np.pi) * curvature / scale
    m = 1 / (rate * kappa)
    assert law.variance == pytest.approx(rate / (2 * kappa + rate * kappa**2), rel=1e-10)
    assert law.kurtosis == pytest.approx(3 * (2 * m + 1) / (2 * m + 3), rel=1e-10)
    x = np.array([-1.5, -0.9, 0.0, 0.2, 0.5]) / kappa
    peer = stats.beta(m, m, loc=-1 / kappa, scale=2 / kappa).logpdf(x)
    np.testing.assert_allclose(law.log_density(x), peer, rtol=1e-7, atol=1e-7 * max(1, m * 1e-3))
    assert law.expectation(lambda x: np.cos(kappa * x)) == pytest.approx(
        float(mpmath.hyp0f1(m + 0.5, -0.25)), rel=1e-10
    )


@pytest.mark.parametrize("m", [1e-3, 0.5, 40.0, 1e4, 1e12])
def test_the_height_of_the_beta_law(m):
    law = sign_diffusion_law(np.sqrt(np.pi / 2), 1.0, 1 / m, equation="linear")  # kappa = 1
    with mpmath.workdps(40):
        height = mpmath.gammaprod([m + mpmath.mpf(1) / 2], [m]) / mpmath.sqrt(mpmath.pi)
    assert law.density(0.0) == pytest.approx(float(height), rel=1e-10)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("curvature", lambda: sign_diffusion_law(0.0, 1.0, 1.0)),
        ("scale", lambda: sign_diffusion_law(1.0, 0.0, 1.0, equation="linear")),
        ("learning_rate", lambda: sign_diffusion_law(1.0, 1.0, 0.0, equation="linear")),
        ("learning_rate", lambda: sign_diffusion_law(1.0, 1.0, 1e-20)),
        ("equation", lambda: sign_diffusion_law(1.0, 1.0, 1.0, equation="other")),
    ],
)
def test_bad_arguments(name, make):
    with pytest.raises(ValueError, match=name):
        make()
