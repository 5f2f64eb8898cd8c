"""Probabilities of a step down against SciPy and mpmath."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpdynamics.adaptive import gaussian_sign


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
    down, up = gaussian_sign(lambda x: x, 1.0).tails([slope], logarithms=True)
    with mpmath.workdps(40):
        tail = mpmath.log(mpmath.erfc(mpmath.mpf(abs(slope)) / mpmath.sqrt(2)) / 2)
        rest = mpmath.log1p(-mpmath.exp(tail))
    expected = (rest, tail) if slope > 0 else (tail, rest)
    np.testing.assert_allclose([down[0], up[0]], [float(e) for e in expected], rtol=1e-13)


def test_both_directions_add_up_to_one():
    down, x = gaussian_sign(lambda x: x, 1.0), np.linspace(-40, 40, 81)
    np.testing.assert_array_almost_equal_nulp(down(x) + down(-x), np.ones(81), nulp=2)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("scale", lambda: gaussian_sign(np.sin, 0.0)),
        ("x", lambda: gaussian_sign(np.sin, 1.0)([np.nan])),
        ("gradient", lambda: gaussian_sign(lambda x: np.full_like(x, np.inf), 1.0)([0.0])),
    ],
)
def test_bad_arguments(name, make):
    with pytest.raises(ValueError, match=name):
        make()
