"""The schedules of one pass: integrals against quadrature, broadcasting, the domain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from dpdynamics.problems import CappedDecay, InverseTimeDecay, PolynomialDecay
from dpdynamics.problems.schedules import Schedule

EXPONENTS = [0.0, 0.3, 0.5, 1.0, 2.7]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("t", [0.0, 1e-9, 0.4, 1.0])
def test_the_integrals_are_the_integrals(exponent, t):
    schedule = PolynomialDecay(1.7, exponent)
    for power, integral in ((1, schedule.integral), (2, schedule.square_integral)):
        exact, _ = quad(lambda s, p=power: float(schedule(s)) ** p, 0, t, epsabs=0, epsrel=1e-11)
        assert float(integral(t)) == pytest.approx(exact, rel=1e-9)


@given(st.sampled_from(EXPONENTS), st.floats(0.01, 0.98))
def test_the_decrease_of_the_square_is_its_derivative(exponent, t):
    schedule, h = PolynomialDecay(1.7, exponent), 1e-5
    slope = (schedule(t - h) ** 2 - schedule(t + h) ** 2) / (2 * h)
    assert float(schedule.square_decrease(t)) == pytest.approx(float(slope), rel=1e-5, abs=1e-9)


def test_the_decrease_at_the_end():
    values = PolynomialDecay(2.0, [0.0, 0.3, 0.5, 1.0]).square_decrease(1.0)
    np.testing.assert_array_equal(values, [0.0, np.inf, 4.0, 0.0])


def test_arrays_broadcast():
    schedule = PolynomialDecay(np.array([1.0, 2.0]), np.array([[0.0], [0.5], [2.0]]))
    assert isinstance(schedule, Schedule)
    for function in (schedule, schedule.integral, schedule.square_integral):
        values = function(np.array([0.1, 0.9])[:, None, None])
        assert values.shape == (2, 3, 2)
        one = getattr(PolynomialDecay(2.0, 0.5), getattr(function, "__name__", "__call__"))
        assert values[1, 1, 1] == pytest.approx(float(one(0.9)), rel=1e-15)


def test_step_sizes():
    steps = PolynomialDecay(3.0, [0.5, 1.0]).step_sizes(4)
    expected = 3 * (1 - np.arange(1, 5)[:, None] / 4) ** np.array([0.5, 1.0]) / 4
    np.testing.assert_allclose(steps, expected, rtol=1e-15)
    np.testing.assert_array_equal(PolynomialDecay(3.0, 0.0).step_sizes(3), np.ones(3))


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("initial", lambda: PolynomialDecay(-1.0, 0.5)),
        ("exponent", lambda: PolynomialDecay(1.0, [0.5, np.nan])),
        ("exponent", lambda: PolynomialDecay(1.0, 1e7)),
        ("offset", lambda: InverseTimeDecay(1e60, 1e-60)),
        ("t must", lambda: PolynomialDecay(1.0, 0.5)(1.01)),
        ("t must", lambda: PolynomialDecay(1.0, 0.5).integral([0.2, -0.1])),
        ("steps", lambda: PolynomialDecay(1.0, 0.5).step_sizes(0)),
    ],
)
def test_bad_input_is_named(name, build):
    with pytest.raises(ValueError, match=name):
        build()


def test_inverse_time_integrals_are_those_of_quadrature():
    schedule = InverseTimeDecay([1.5, 2.0], [0.3, 0.02])
    assert isinstance(schedule, Schedule)
    for t in (0.2, 1.0):
        for k in range(2):
            area, _ = quad(lambda s, k=k: schedule(s)[k], 0, t, epsabs=0)
            square, _ = quad(lambda s, k=k: schedule(s)[k] ** 2, 0, t, epsabs=0)
            np.testing.assert_allclose(schedule.integral(t)[k], area, rtol=1e-10)
            np.testing.assert_allclose(schedule.square_integral(t)[k], square, rtol=1e-10)
    np.testing.assert_allclose(schedule.step_sizes(4)[-1], schedule(1.0) / 4)


def test_capped_integrals_are_those_of_the_minimum():
    decay = PolynomialDecay([3.0, 9.0, 9.0, 9.0, 2.0], [0.5, 0.0, 0.5, 2.0, 0.0])
    schedule = CappedDecay(decay, 4.0)
    t = np.linspace(0, 0.9, 200_001)[:, None]
    least = np.minimum(decay(t), 4.0)
    np.testing.assert_allclose(
        schedule.integral(0.9), np.trapezoid(least, t[:, 0], axis=0), rtol=1e-6
    )
    np.testing.assert_allclose(
        schedule.square_integral(0.9), np.trapezoid(least**2, t[:, 0], axis=0), rtol=1e-6
    )
    np.testing.assert_array_equal(schedule(0.3), decay(0.3))


@pytest.mark.parametrize(("cap", "t"), [(1e-60, 1.0), (0.5, 1e-20)])
def test_a_capped_square_does_not_vanish(cap, t):
    square = CappedDecay(PolynomialDecay(1.0, 0.0), cap).square_integral(t)
    assert float(square) == pytest.approx(cap**2 * t, rel=1e-12)
