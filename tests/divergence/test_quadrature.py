"""Quadrature of the Renyi divergence against closed forms, on both sides of divergence."""

import numpy as np
import pytest
from scipy.stats import cauchy, laplace, multivariate_normal, norm, t

from dpdynamics.divergence import renyi_divergence_gaussian, renyi_divergence_quadrature
from dpdynamics.divergence.quadrature import _largest, _Polar

STANDARD = norm(0, 1).logpdf


def check(p, q, order, exact, **options):
    result = renyi_divergence_quadrature(p, q, order, **options)
    if np.isinf(exact):
        assert result == (np.inf, 0.0)
    else:
        assert abs(result.value - exact) <= max(result.error, 1e-13 * exact)
        assert result.error <= 1e-6 * exact + 1e-15


@pytest.mark.parametrize("order", [0.01, 0.5, 1 - 1e-9, 1 + 1e-9, 1.5, 2.0, 3.0, 50.0])
@pytest.mark.parametrize(
    "pair",
    [
        (0.0, 1.0, 0.7, 1.5),
        (0.7, 1.5, 0.0, 1.0),
        (0.0, 1.0, 0.0, 1.0),
        (0.0, 1.0, 30.0, 1.0),
        (0.0, 1.0, 1e-6, 1.0),
        (0.0, 1e-4, 0.1, 1.0),
        (3.0, 2.0, 0.0, 1.0),
    ],
)
def test_one_dimensional_gaussians(pair, order):
    mean_p, var_p, mean_q, var_q = pair
    exact = renyi_divergence_gaussian(mean_p, var_p, mean_q, var_q, order)
    check(norm(mean_p, var_p**0.5).logpdf, norm(mean_q, var_q**0.5).logpdf, order, exact)


@pytest.mark.parametrize("excess", [-1e-3, -1e-6, 0.0, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("gap", [0.0, 1e-3, 1.0])
def test_both_sides_of_the_boundary(excess, gap):
    exact = renyi_divergence_gaussian(gap, 2 + excess, 0, 1, 2)
    assert np.isinf(exact) == (excess >= 0)
    check(norm(gap, (2 + excess) ** 0.5).logpdf, STANDARD, 2.0, exact)


@pytest.mark.parametrize("gap", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("excess", [-1e-8, -1e-9, -1e-10, -1e-11])
def test_very_near_the_boundary_it_is_right_or_refuses(excess, gap):
    exact = renyi_divergence_gaussian(gap, 2 + excess, 0, 1, 2)
    try:
        result = renyi_divergence_quadrature(
            norm(gap, (2 + excess) ** 0.5).logpdf, STANDARD, 2.0, rtol=1e-3
        )
    except ArithmeticError:
        return
    assert result.value == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize("angle", [0.0, 0.7, 1.9])
@pytest.mark.parametrize("wide", [0.3, 1.9, 1.9999, 2.0001, 5.0])
@pytest.mark.parametrize("order", [0.4, 2.0])
def test_two_dimensional_gaussians_with_a_narrow_cone(angle, wide, order):
    c, s = np.cos(angle), np.sin(angle)
    basis = np.array([[c, -s], [s, c]])
    cov = basis @ np.diag([wide, 0.01]) @ basis.T
    cov = (cov + cov.T) / 2
    mean = np.array([0.2, -0.1])
    exact = renyi_divergence_gaussian(mean, cov, np.zeros(2), 1.0, order)
    check(
        multivariate_normal(mean, cov).logpdf,
        multivariate_normal(np.zeros(2), np.eye(2)).logpdf,
        order,
        exact,
        dimension=2,
    )


@pytest.mark.parametrize(("order", "ratio"), [(2.0, 1.9), (2.0, 2.1), (0.5, 7.0), (5.0, 1.2)])
def test_laplace_laws(order, ratio):
    # D = ln(int) / (order - 1), int = (1/r)^(order) r / (order/r + 1 - order) for scales r and 1.
    rate = order / ratio + 1 - order
    exact = np.log(ratio**-order / rate) / (order - 1) if rate > 0 else np.inf
    check(lambda x: -np.abs(x) / ratio - np.log(2 * ratio), laplace_log_density, order, exact)


def laplace_log_density(x):
    return -np.abs(x) - np.log(2)


def test_an_underflowing_density_is_not_taken_for_a_missing_one():
    with pytest.raises(ArithmeticError, match="underflow"):
        renyi_divergence_quadrature(STANDARD, laplace().logpdf, 2.0)


def test_heavy_tails_need_a_larger_box():
    # Two Cauchy laws with scales 1 and 2 at order 2: int p^2/q = (4 + 1) / 4.
    p, q = cauchy(0, 1).logpdf, cauchy(0, 2).logpdf
    with pytest.raises(ArithmeticError, match="box"):
        renyi_divergence_quadrature(p, q, 2.0)
    check(p, q, 2.0, np.log(1.25), box=1e25)
    # A Cauchy law against a lighter tail: infinite at order 2.5 (t with 4 degrees of freedom).
    assert renyi_divergence_quadrature(p, t(4).logpdf, 2.5, box=1e25).value == np.inf


def test_where_q_has_no_mass_the_divergence_is_infinite_above_order_one():
    half = lambda x: np.where(x > 0, np.log(2) + STANDARD(x), -np.inf)  # noqa: E731
    check(STANDARD, half, 2.0, np.inf)
    check(half, STANDARD, 2.0, np.log(2))
    check(STANDARD, half, 0.5, np.log(2))


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("order", {"order": 1.0}),
        ("order", {"order": -2.0}),
        ("dimension", {"dimension": 3}),
        ("box", {"box": 1.0}),
        ("rtol", {"rtol": 0.0}),
        ("scale", {"scale": -1.0}),
        ("scale", {"scale": [1.0, 1.0]}),
        ("center", {"center": np.nan}),
        ("logpdf_p", {"logpdf_p": lambda x: STANDARD(x) + 0.1}),
        ("logpdf_q", {"logpdf_q": lambda x: STANDARD(x) - 1e-3}),
        ("logpdf_q", {"logpdf_q": lambda x: np.full(len(x), np.nan)}),
        ("logpdf_p", {"logpdf_p": lambda x: np.zeros(3)}),
        ("logpdf_p", {"logpdf_p": lambda x: np.zeros(len(x))}),
    ],
)
def test_bad_arguments_are_named(message, change):
    arguments = {"logpdf_p": STANDARD, "logpdf_q": STANDARD, "order": 2.0}
    with pytest.raises(ValueError, match=message):
        renyi_divergence_quadrature(**(arguments | change))


def test_a_mass_far_from_the_centre_is_found_or_refused():
    far = norm(1e3, 1).logpdf
    near = norm(1e3 + 0.5, 1).logpdf
    check(far, near, 2.0, 0.25)
    check(far, near, 2.0, 0.25, center=1e3)


@pytest.mark.parametrize("width", [0.5, 1.25, 4.0])
@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
def test_kinks_converge_slowly_but_are_never_infinite(width: float, order: float) -> None:
    """Two Laplace laws: the integrand is log-linear, with two kinks."""
    p, q = laplace(1, width).logpdf, laplace(0, width).logpdf
    b, s = width, order - 1
    right = order * np.exp(s / b) + s * np.exp(-order / b)
    exact = np.log(right / (order + s)) / s
    assert renyi_divergence_quadrature(p, q, order, rtol=1e-5).value == pytest.approx(
        exact, rel=1e-4
    )


def test_the_frame_is_whitened_at_a_curvature_and_stays_at_a_kink() -> None:
    mesh = _Polar(np.zeros(1), np.eye(1), 1e5)
    assert mesh.fitted(lambda x: -(x[:, 0] ** 2)).frame == pytest.approx(2**-0.5, rel=1e-12)
    assert mesh.fitted(lambda x: -np.abs(x[:, 0])).frame == 1


def test_the_largest_of_two_narrow_cones_lies_between_two_directions() -> None:
    def log_f(x: np.ndarray) -> np.ndarray:
        at = np.arctan2(x[:, 1], x[:, 0]) * 128 / np.pi  # in the steps between directions
        return np.maximum(1 - ((at - 10.4) / 0.3) ** 2, 0.9 - ((at - 12) / 0.3) ** 2)

    value, _ = _largest(log_f, _Polar(np.zeros(2), np.eye(2), 1e5), 1.0)
    assert value == pytest.approx(1, abs=1e-12)
