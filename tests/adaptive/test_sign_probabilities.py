"""Probabilities of a step down against SciPy, mpmath and numerical convolution."""

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from dpdynamics.adaptive.sign_probabilities import gaussian_sign, student_sign


def test_normal_noise():
    x = np.linspace(-3, 3, 13)
    down = gaussian_sign(lambda x: x**3 - x, 0.7)
    np.testing.assert_allclose(down(x), stats.norm.cdf(x**3 - x, scale=0.7), rtol=1e-13)


def test_an_array_of_scales_belongs_to_the_last_axis():
    scales = np.array([0.1, 1.0, 10.0])
    x = np.linspace(-1, 1, 5)[:, None] * np.ones(3)
    together = gaussian_sign(lambda x: 2 * x, scales)(x)
    for column, scale in enumerate(scales):
        alone = gaussian_sign(lambda x: 2 * x, scale)(x[:, column])
        np.testing.assert_array_equal(together[:, column], alone)


@pytest.mark.parametrize("slope", [-30.0, -5.0, 0.0, 1.0, 30.0])
def test_logarithms_keep_their_digits(slope):
    down, up = gaussian_sign(lambda x: x, 1.0).logarithms([slope])
    with mpmath.workdps(40):
        tail = mpmath.log(mpmath.erfc(mpmath.mpf(abs(slope)) / mpmath.sqrt(2)) / 2)
        rest = mpmath.log1p(-mpmath.exp(tail))
    expected = (rest, tail) if slope > 0 else (tail, rest)
    np.testing.assert_allclose([down[0], up[0]], [float(e) for e in expected], rtol=1e-13)


@pytest.mark.parametrize("nu", [0.5, 1.0, 3.0, 30.0, 1e4, 1e6])
def test_student_noise_alone(nu):
    x = np.array([-20.0, -1.0, -0.01, 0.3, 4.0])
    ours = student_sign(lambda x: x, 1.3, nu, 0.0)
    expected = stats.t(nu, scale=1.3)
    np.testing.assert_allclose(ours(x), expected.cdf(x), rtol=1e-10 if nu < 1e4 else 1e-7)


def test_a_far_student_tail():
    ours = student_sign(lambda x: x, 1.0, 3.0, 0.0).logarithms([-1e5])[0]
    assert ours[0] == pytest.approx(stats.t.logcdf(-1e5, 3.0), rel=1e-12)


@pytest.mark.parametrize("nu", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("noise", [0.05, 1.0, 8.0])
def test_student_and_normal_noise_together(nu, noise):
    ours = student_sign(lambda x: x, 0.4, nu, noise)
    for slope in (-3.0, 0.2, 1.0):
        value, _ = integrate.quad(
            lambda z, slope=slope: stats.t.cdf((slope - noise * z) / 0.4, nu) * stats.norm.pdf(z),
            *(-12, 12),
            epsabs=1e-12,
            limit=500,
        )
        assert ours(slope) == pytest.approx(value, abs=1e-10)


def test_both_directions_add_up_to_one():
    for down in (gaussian_sign(lambda x: x, 1.0), student_sign(lambda x: x, 1.0, 2.0, 1.0)):
        x = np.linspace(-40, 40, 81)
        np.testing.assert_array_almost_equal_nulp(down(x) + down(-x), np.ones(81), nulp=2)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("scale", lambda: gaussian_sign(np.sin, 0.0)),
        ("gradient_noise", lambda: student_sign(np.sin, 0.0, 1.0, 1.0)),
        ("degrees_of_freedom", lambda: student_sign(np.sin, 1.0, 0.4, 1.0)),
        ("degrees_of_freedom", lambda: student_sign(np.sin, 1.0, 1e7, 1.0)),
        ("noise_scale", lambda: student_sign(np.sin, 1.0, 1.0, -1.0)),
        ("x", lambda: gaussian_sign(np.sin, 1.0)([np.nan])),
        ("gradient", lambda: gaussian_sign(lambda x: np.full_like(x, np.inf), 1.0)([0.0])),
    ],
)
def test_bad_arguments(name, make):
    with pytest.raises(ValueError, match=name):
        make()
