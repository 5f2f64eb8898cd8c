"""Gibbs laws of the radius against incomplete gamma functions, chi laws and simulation."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpdynamics.adaptive import radial_gibbs_law


def huber_law(curvature, clip, temperature, d):
    """The law under gradients that are clipped at a knee."""
    knee = clip / curvature

    def potential(r):
        within = np.minimum(r, knee)
        return curvature * within**2 / 2 + clip * (r - within)

    return radial_gibbs_law(potential, temperature, d, breaks=[knee])


def huber_moment(power, curvature, clip, temperature, d):
    """E r^power by incomplete gamma functions, in many digits."""
    with mpmath.workdps(60):
        lam, C, T = (mpmath.mpf(v) for v in (curvature, clip, temperature))
        knee = C / lam

        def integral(n):
            a = mpmath.mpf(n) / 2
            inside = (2 * T / lam) ** a / 2 * mpmath.gammainc(a, 0, lam * knee**2 / (2 * T))
            shift = mpmath.exp(C**2 / (2 * lam * T))
            return inside + shift * (T / C) ** n * mpmath.gammainc(n, C * knee / T, mpmath.inf)

        return float(integral(d + power) / integral(d))


@settings(max_examples=40)
@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(1e-2, 3), st.sampled_from([1, 2, 7, 64]))
def test_the_huber_law(curvature, clip, temperature, d):
    law = huber_law(curvature, clip, temperature, d)
    assert law.weights.sum() == pytest.approx(1, rel=1e-12)
    for power in (1, 2, 4):
        expected = huber_moment(power, curvature, clip, temperature, d)
        assert law.expectation(lambda r, n=power: r**n) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("temperature", [1e-12, 1e-4, 1e-3, 1e-2, 1e6])
def test_the_huber_law_in_a_thousand_dimensions(temperature):
    law = huber_law(1.0, 1.0, temperature, 1024)
    quadratic, linear = 1024 * temperature, 1024 * 1025 * temperature**2
    second = law.expectation(np.square)
    if temperature <= 1e-4:
        assert second == pytest.approx(quadratic, rel=1e-9)
    elif temperature >= 1e-2:
        assert second == pytest.approx(linear, rel=1e-9)
    else:  # the knee is at d T = 1
        assert second == pytest.approx(quadratic, rel=0.1)
        assert second > quadratic


@pytest.mark.parametrize("d", [1, 3, 1000, 10**7])
def test_a_normal_law(d):
    law = radial_gibbs_law(lambda r: 3 * r**2 / 2, 0.6, d)
    chi = stats.chi(d, scale=np.sqrt(0.2))
    assert law.expectation(np.square) == pytest.approx(0.2 * d, rel=max(1e-11, 1e-15 * d))
    if d <= 1000:
        assert law.mean == pytest.approx(chi.mean(), rel=1e-9)
        radii = chi.ppf([0.01, 0.5, 0.99])
        np.testing.assert_allclose(law.log_density(radii), chi.logpdf(radii), rtol=1e-7)


def test_a_smooth_potential_by_quadrature():
    def potential(r):
        return 2.0 * (np.sqrt(9 + r**2) - 3)

    law = radial_gibbs_law(potential, 0.5, 4)
    parts = [
        integrate.quad(lambda r, n=n: r ** (3 + n) * np.exp(-potential(r) / 0.5), 0, 60)[0]
        for n in (0, 2)
    ]
    assert law.expectation(np.square) == pytest.approx(parts[1] / parts[0], rel=1e-8)


@pytest.mark.parametrize("noise", [0.5, 1.5])
def test_clipped_sgd_settles_there(noise):
    """The discrete algorithm at a small rate, on both sides of the threshold of clipping."""
    rng = np.random.default_rng(11)
    d, rate, clip = 100, 0.02, 1.0
    law = huber_law(1.0, clip, rate * noise**2 / 2, d)
    scale = np.sqrt(law.expectation(np.square) / d)
    x = scale * rng.standard_normal((40, d))
    losses = []
    for k in range(3000):
        norms = np.linalg.norm(x, axis=1, keepdims=True)
        x = x - rate * (x * np.minimum(1, clip / norms) + noise * rng.standard_normal(x.shape))
        if k >= 1000:
            losses.append(np.sum(x**2, axis=1) / 2)
    by_run = np.mean(losses, axis=0)
    error = by_run.std(ddof=1) / np.sqrt(len(by_run))
    expected = law.expectation(lambda r: r**2 / 2)
    assert abs(by_run.mean() - expected) < 4.5 * error + rate * expected  # rate: weak error
    unclipped = d * rate * noise**2 / 4
    assert (abs(by_run.mean() - unclipped) > 8 * error) == (noise == 1.5)


@pytest.mark.parametrize(
    ("error", "name", "make"),
    [
        (ValueError, "temperature", lambda: radial_gibbs_law(np.square, 0.0, 2)),
        (ValueError, "dimension", lambda: radial_gibbs_law(np.square, 1.0, 0)),
        (ValueError, "breaks", lambda: radial_gibbs_law(np.square, 1.0, 1, breaks=[-1.0])),
        (ValueError, "x", lambda: radial_gibbs_law(np.square, 1.0, 1).log_density(-1.0)),
        (ArithmeticError, "potential", lambda: radial_gibbs_law(np.log1p, 1.0, 3)),
    ],
)
def test_bad_arguments(error, name, make):
    with pytest.raises(error, match=name):
        make()
