"""Stationary laws of the walk: invariance, long runs, eigenvectors, identities and limits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf

from dpdynamics.adaptive import gaussian_sign, sign_walk, stationary_sign_law


def as_dict(law, x0, rate):
    sites = np.rint((law.points - x0) / rate).astype(int)
    return dict(zip(sites.tolist(), law.weights.tolist(), strict=True))


@settings(max_examples=40)
@given(st.floats(-2, 2), st.floats(0.05, 20), st.floats(0.1, 5))
def test_a_step_takes_even_to_odd_and_back(x0, rate, scale):
    down = gaussian_sign(lambda x: x + 0.3 * x**3, scale)
    laws = stationary_sign_law(down, x0, rate)
    for before, after in ((laws.even, laws.odd), (laws.odd, laws.even)):
        moved = {}
        for site, weight in as_dict(before, x0, rate).items():
            p = float(down(x0 + rate * site))
            moved[site - 1] = moved.get(site - 1, 0) + weight * p
            moved[site + 1] = moved.get(site + 1, 0) + weight * (1 - p)
        expected = as_dict(after, x0, rate)
        for site in expected.keys() | moved.keys():
            assert moved.get(site, 0) == pytest.approx(expected.get(site, 0), abs=1e-12)
    for law in laws:
        assert law.weights.sum() == pytest.approx(1, abs=1e-12)
        assert law.lost < 1e-30


@pytest.mark.parametrize("noise", ["normal", "own"])
def test_a_long_run_arrives_there(noise):
    x0, rate = 0.55, 0.4
    down = {
        "normal": gaussian_sign(lambda x: 2 * x, 0.5),
        "own": lambda x: 0.5 + np.arctan(2 * x) / np.pi,
    }[noise]
    laws = stationary_sign_law(down, x0, rate)
    late = list(sign_walk(down, x0, rate, [4000, 4001]))
    for limit, law in zip((laws.even, laws.odd), late, strict=True):
        assert law.mean == pytest.approx(limit.mean, abs=1e-9)
        assert law.variance == pytest.approx(limit.variance, rel=1e-9)
    assert abs(late[0].variance / late[1].variance - 1) > 1e-3  # the two limits differ


def test_the_average_is_the_eigenvector():
    x0, rate = 0.1, 0.5
    laws = stationary_sign_law(gaussian_sign(lambda x: x, 1.0), x0, rate)
    x = x0 + rate * np.arange(-30, 31)
    p = gaussian_sign(lambda x: x, 1.0)(x)
    matrix = np.diag(p[1:], 1) + np.diag((1 - p)[:-1], -1)
    values, vectors = np.linalg.eig(matrix)
    vector = vectors[:, np.argmin(np.abs(values - 1))].real
    vector /= vector.sum()
    assert laws.average.variance == pytest.approx(vector @ x**2 - (vector @ x) ** 2, rel=1e-10)
    assert laws.average.mean == pytest.approx((laws.even.mean + laws.odd.mean) / 2, abs=1e-14)


@pytest.mark.parametrize("ratio", [1e-4, 0.01, 0.3, 3.0])
def test_the_balance_of_the_second_moment(ratio):
    """x_{k+1}^2 - x_k^2 has mean 0: E x erf(x / sqrt 2) = eta/2."""
    law = stationary_sign_law(gaussian_sign(lambda x: x, 1.0), 0.3 * ratio, ratio).average
    assert law.expectation(lambda x: x * erf(x / np.sqrt(2))) == pytest.approx(ratio / 2, rel=1e-11)


def test_the_product_formula_in_many_digits():
    rate, scale = 0.35, 0.8
    laws = stationary_sign_law(gaussian_sign(lambda x: x, scale), 0.0, rate)
    with mpmath.workdps(30):
        weights = {0: mpmath.mpf(1)}
        for j in range(40):
            up = mpmath.ncdf(-mpmath.mpf(rate) * j / scale)
            down = mpmath.ncdf(mpmath.mpf(rate) * (j + 1) / scale)
            weights[j + 1] = weights[-j - 1] = weights[j] * up / down
        parts = [{j: w for j, w in weights.items() if j % 2 == parity} for parity in (0, 1)]
        for law, part in zip((laws.even, laws.odd), parts, strict=True):
            total = mpmath.fsum(part.values())
            second = mpmath.fsum(w * (rate * j) ** 2 for j, w in part.items()) / total
            fourth = mpmath.fsum(w * (rate * j) ** 4 for j, w in part.items()) / total
            assert law.variance == pytest.approx(float(second), rel=1e-12)
            assert law.kurtosis == pytest.approx(float(fourth / second**2), rel=1e-12)


def test_small_learning_rates():
    """Variance over eta S sqrt(pi/2)/(2 lambda) is 1 + sqrt(pi/2)/4 r + O(r^2)."""
    ratios = np.array([1e-2, 1e-3, 1e-4])
    leading = np.sqrt(np.pi / 2) / 2
    excess = [
        stationary_sign_law(gaussian_sign(lambda x: x, 1.0), 0.0, r).average.variance
        / (leading * r)
        - 1
        for r in ratios
    ]
    rest = np.array(excess) / ratios - np.sqrt(np.pi / 2) / 4
    assert np.all(np.abs(rest) < 0.1 * ratios + 1e-9)


@pytest.mark.parametrize("theta", [0.0, 0.25, 0.5, 0.9])
def test_without_noise_it_jumps_between_two_points(theta):
    down = gaussian_sign(lambda x: x, 1e-3)
    laws = stationary_sign_law(down, theta, 1.0)
    squares = [law.expectation(np.square) for law in (laws.even, laws.odd)]
    expected = [theta**2, (1 - theta) ** 2] if theta > 0 else [0, 1]
    assert squares == pytest.approx(expected, abs=1e-12)
    shifted = stationary_sign_law(down, theta + 1.0, 1.0)  # the other parity
    assert shifted.even.mean == pytest.approx(laws.odd.mean, abs=1e-12)


def test_two_wells():
    """A barrier of e^160 between them; the left one is the deeper."""
    rate, tilt, scale = 0.001, 0.005, 10.0
    down = gaussian_sign(lambda x: 4 * x * (x**2 - 1) + tilt, scale)
    both = stationary_sign_law(down, 0.0, rate).average
    left = both.weights[both.points < 0].sum()
    temperature = rate * scale * np.sqrt(np.pi / 2) / 2
    assert np.log(left / (1 - left)) == pytest.approx(2 * tilt / temperature, rel=0.05)
    one = stationary_sign_law(down, 0.0, rate, interval=(1.0, 1.0)).average
    assert one.points.min() > 0
    again = stationary_sign_law(down, 0.0, rate, interval=(-1.5, 1.5)).average
    assert again.mean == pytest.approx(both.mean, rel=1e-10)


def test_no_stationary_law():
    with pytest.raises(ArithmeticError, match="learning_rate"):
        stationary_sign_law(lambda x: np.full_like(x, 0.5), 0.0, 1.0)
    with pytest.raises(ArithmeticError, match="learning_rate"):
        stationary_sign_law(gaussian_sign(lambda x: -np.tanh(x), 1.0), 0.0, 1.0)


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("x0", (np.inf, 1.0), {}),
        ("learning_rate", (0.0, -1.0), {}),
        ("interval", (0.0, 1.0), {"interval": (0.0, np.inf)}),
        ("interval", (0.0, 1.0), {"interval": (1.0, 0.0)}),
    ],
)
def test_bad_arguments(name, arguments, options):
    with pytest.raises(ValueError, match=name):
        stationary_sign_law(gaussian_sign(lambda x: x, 1.0), *arguments, **options)


def test_a_bad_probability():
    with pytest.raises(ValueError, match="down_probability"):
        stationary_sign_law(lambda x: x, 0.0, 1.0)
