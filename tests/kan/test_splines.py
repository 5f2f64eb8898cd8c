"""Splines against SciPy's, and the closed forms of their suprema against maximised pieces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline, PPoly

from dpdynamics.kan.splines import CubicSplines

KINDS = [(size, clamped) for size in (4, 5, 6, 7, 12, 20) for clamped in (False, True)]


def reference(basis: CubicSplines) -> BSpline:
    return BSpline(basis.knots, np.eye(basis.size), 3, extrapolate=False)


@pytest.mark.parametrize(("size", "clamped"), KINDS)
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_values_and_derivatives_are_those_of_scipy(size: int, clamped: bool, order: int) -> None:
    basis = CubicSplines(size, clamped)
    points = np.random.default_rng(size).uniform(-1, 1, (7, 50))  # almost surely not at a knot
    expected = reference(basis).derivative(order)(points) if order else reference(basis)(points)
    assert basis(points, order).shape == (7, 50, size)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(basis(points, order), expected, rtol=0, atol=3e-13 * scale)


@pytest.mark.parametrize(("size", "clamped"), KINDS)
def test_knots_and_ends(size: int, clamped: bool) -> None:
    basis = CubicSplines(size, clamped)
    assert basis.knots.shape == (size + 4,)
    assert (basis.knots[3], basis.knots[-4]) == (-1, 1)
    assert (basis.knots[0] == -1) == clamped
    ends = basis(basis.breakpoints)
    np.testing.assert_allclose(ends.sum(axis=1), 1, rtol=1e-14)
    if clamped:
        np.testing.assert_array_equal(ends[[0, -1]][:, [0, -1]], np.eye(2))
    else:
        np.testing.assert_allclose(ends[0][:3] * 6, [1, 4, 1], rtol=1e-14)
    np.testing.assert_allclose(basis(-basis.breakpoints), ends[:, ::-1], atol=1e-15)


@given(st.integers(4, 30), st.booleans(), st.floats(-1, 1))
@settings(max_examples=60)
def test_partition_of_unity(size: int, clamped: bool, point: float) -> None:
    basis = CubicSplines(size, clamped)
    assert basis(point).min() >= -1e-15
    assert basis(point).sum() == pytest.approx(1, abs=1e-14)
    for order in (1, 2, 3):
        derivatives = basis(point, order)
        assert abs(derivatives.sum()) <= 1e-13 * np.abs(derivatives).max()


@pytest.mark.parametrize(("size", "clamped"), KINDS)
def test_compiled_pieces(size: int, clamped: bool) -> None:
    basis = CubicSplines(size, clamped)
    coefficients = np.random.default_rng(1).standard_normal((2, 3, size))
    pieces = basis.compiled(coefficients)
    assert pieces.shape == (2, 3, size - 3, 4)
    powers = pieces / basis.spacing ** np.arange(4)
    cubic = PPoly(powers.transpose(3, 2, 0, 1)[::-1], basis.breakpoints)
    points = np.linspace(-1, 1, 101)
    expected = BSpline(basis.knots, coefficients.transpose(2, 0, 1), 3)(points[:-1])
    np.testing.assert_allclose(cubic(points[:-1]), expected, atol=1e-13)


def largest(polynomials: list[np.polynomial.Polynomial]) -> float:
    """The maximum on [0, 1] by the roots of the derivative."""
    values = []
    for polynomial in polynomials:
        roots = polynomial.deriv().roots()
        inside = roots[np.isreal(roots)].real
        points = np.append(inside[(inside > 0) & (inside < 1)], [0, 1])
        values.append(np.max(polynomial(points)))
    return max(values)


@pytest.mark.parametrize(("size", "clamped"), KINDS)
def test_suprema_by_the_roots_of_derivatives(size: int, clamped: bool) -> None:
    basis = CubicSplines(size, clamped)
    bounds = basis.bounds
    t = basis.knots
    splines = [PPoly.from_spline(BSpline(t, row, 3)) for row in np.eye(size)]  # not our pieces
    for order in range(3):
        squares, pieces = [], []
        for cell in np.flatnonzero((t[:-1] >= -1) & (t[1:] <= 1) & (np.diff(t) > 0)):
            width = t[cell + 1] - t[cell]
            local = [
                np.polynomial.Polynomial(s.c[::-1, cell] * width ** np.arange(4)).deriv(order)
                / width**order
                for s in splines
            ]
            pieces += [sign * q for q in local for sign in (1, -1)]
            squares.append(sum((q * q for q in local), np.polynomial.Polynomial([0.0])))
        assert largest(pieces) == pytest.approx(bounds[order], rel=1e-9)
        assert largest(squares) == pytest.approx(bounds[order + 3], rel=1e-9)


def test_constants_depend_on_the_knots() -> None:
    h = 2 / 7
    assert CubicSplines(10).bounds == pytest.approx(
        (2 / 3, 2 / (3 * h), 2 / h**2, 1 / 2, 13 / (16 * h**2), 6 / h**4)
    )
    assert CubicSplines(10, clamped=True).bounds == pytest.approx(
        (1, 3 / h, 9 / h**2, 1, 18 / h**2, 126 / h**4)
    )
    assert CubicSplines(4, clamped=True).bounds[2] == 12 / 4


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="size must be at least 4"):
        CubicSplines(3)
    basis = CubicSplines(5)
    for points in (1.0001, [0, -2], np.nan):
        with pytest.raises(ValueError, match="points must"):
            basis(points)
    with pytest.raises(ValueError, match="derivative must be at most 3"):
        basis(0, 4)
    with pytest.raises(ValueError, match="coefficients must have a last axis of length 5"):
        basis.compiled(np.ones((2, 4)))
