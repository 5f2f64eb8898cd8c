"""Schedules: each stated integral against quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad

from dpdynamics.problems import Constant, ExponentialDecay, PowerDecay
from dpdynamics.problems.schedules import Schedule, as_schedule

SCHEDULES = [
    Constant(0.8),
    Constant(0.0),
    ExponentialDecay(0.8, 1.3),
    ExponentialDecay(0.8, 1e-12),
    PowerDecay(0.8, 0.5, 0.0),
    PowerDecay(0.8, 0.5, 0.5),
    PowerDecay(0.8, 0.5, 1.0),
    PowerDecay(0.8, 0.5, 1 + 1e-13),
    PowerDecay(0.8, 0.5, 2.5),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("t", [0.0, 1e-9, 0.7, 30.0])
def test_the_integrals_are_the_integrals(schedule, t):
    for power, integral in ((1, schedule.integral), (2, schedule.square_integral)):
        exact, _ = quad(
            lambda s, p=power: float(schedule(s)) ** p, 0, t, epsabs=0, epsrel=1e-12, limit=200
        )
        assert float(integral(t)) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_schedules_are_elementwise(schedule):
    t = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert schedule(t).shape == schedule.integral(t).shape == t.shape
    np.testing.assert_allclose(schedule.step_sizes(4)[1], schedule(0.5) / 4, rtol=1e-15)
    assert float(schedule(2.0)) == schedule(t)[1, 0]


def test_a_number_is_a_constant_schedule_and_a_schedule_is_itself():
    assert as_schedule(0.3) == Constant(0.3)
    assert as_schedule(SCHEDULES[2]) is SCHEDULES[2]
    assert isinstance(SCHEDULES[2], Schedule)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("value", lambda: Constant(-1.0)),
        ("schedule", lambda: as_schedule(np.nan)),
        ("schedule", lambda: as_schedule("fast")),
        ("schedule", lambda: as_schedule([0.1])),
        ("initial", lambda: ExponentialDecay(np.inf, 1.0)),
        ("rate", lambda: ExponentialDecay(1.0, 0.0)),
        ("timescale", lambda: PowerDecay(1.0, 0.0, 1.0)),
        ("power", lambda: PowerDecay(1.0, 1.0, -1.0)),
        ("t must be", lambda: Constant(1.0)(-1.0)),
        ("t must be", lambda: PowerDecay(1.0, 1.0, 1.0).integral(-1.0)),
    ],
)
def test_bad_schedules_are_named(name, build):
    with pytest.raises(ValueError, match=name):
        build()
