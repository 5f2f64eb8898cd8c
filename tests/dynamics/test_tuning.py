"""Tuned clip constant, step and schedule against other optimisers and solvers of the equation."""

import numpy as np
import pytest
from scipy import integrate, optimize

from dpdynamics.dynamics import (
    clipped_risk,
    clipping_factors,
    one_pass_risk,
    tune_one_pass,
)
from dpdynamics.problems import InverseTimeDecay, PolynomialDecay

PRESET = {"initial_risk": 0.5, "label_variance": 0.25}


def settings(**changes):
    values = {"clip_constant": 0.3, "aspect_ratio": 0.05, "label_variance": 0.25, "rho": 1.0}
    return values | changes


def test_one_pass_risk_solves_the_equation_with_all_its_noise():
    schedule, values = InverseTimeDecay(1.2, 0.1), settings()

    def slope(t, state):
        total = state[0] + 0.125
        mu, nu = clipping_factors(0.3 / np.sqrt(2 * total))
        eta = float(schedule(t))
        drop = 2 * 1.2**2 / (t + 0.1) ** 3
        return [-2 * eta * mu * state[0] + 0.05 * eta**2 * nu * total + (0.05 * 0.3) ** 2 * drop]

    exact = integrate.solve_ivp(slope, (0, 1), [0.5], rtol=1e-10, atol=1e-13).y[0, -1]
    exact += (0.05 * 0.3 * 1.2 / 1.1) ** 2
    np.testing.assert_allclose(one_pass_risk(0.5, schedule, **values, steps=4000), exact, rtol=1e-6)


@pytest.mark.parametrize(
    ("exponent", "aspect", "rho"),
    [(0.0, 0.001, 1.29e-4), (0.5, 0.05, 1.0), (2.0, 0.01, np.inf), (None, 0.01, 0.01)],
)
def test_no_other_optimiser_finds_less(exponent, aspect, rho):
    found = tune_one_pass(exponent, aspect_ratio=aspect, rho=rho, **PRESET)

    def risk(u):
        if exponent is None:
            schedule = InverseTimeDecay(*np.exp(u[1:]))
        else:
            schedule = PolynomialDecay(np.exp(u[1]), exponent)
        if schedule(0.0) >= 2 / aspect:
            return np.inf
        values = settings(clip_constant=np.exp(u[0]), aspect_ratio=aspect, rho=rho)
        return float(np.log(one_pass_risk(0.5, schedule, **values, steps=300)))

    parts = (
        [found.schedule.scale, found.schedule.offset]
        if exponent is None
        else [found.schedule.initial]
    )
    start = np.log([float(found.clip_constant), *map(float, parts)])
    rng = np.random.default_rng(7)
    for spread in (0.05, 0.8):
        simplex = start + spread * rng.standard_normal((len(start) + 1, len(start)))
        options = {"initial_simplex": simplex, "maxfev": 120}
        best = optimize.minimize(risk, simplex[0], method="Nelder-Mead", options=options)
        assert np.exp(best.fun) > found.risk * (1 - 2e-3)
    assert risk(start) == pytest.approx(np.log(found.risk), abs=2e-3)


def test_problems_are_tuned_together_as_they_are_alone():
    aspects, exponents = np.array([0.1, 0.01])[:, None], np.array([0.0, 1.0])
    together = tune_one_pass(exponents, aspect_ratio=aspects, rho=0.5, steps=60, **PRESET)
    assert together.risk.shape == together.clip_constant.shape == (2, 2)
    for i, aspect in enumerate(aspects[:, 0]):
        for j, exponent in enumerate(exponents):
            alone = tune_one_pass(exponent, aspect_ratio=aspect, rho=0.5, steps=60, **PRESET)
            np.testing.assert_allclose(together.risk[i, j], alone.risk, rtol=1e-9)


def test_a_kept_clip_constant_is_kept_and_the_step_stays_below_its_limit():
    clips = np.array([0.02, 0.3, 3.0])
    found = tune_one_pass(0.5, aspect_ratio=0.05, rho=1.0, clip_constant=clips, **PRESET)
    np.testing.assert_array_equal(found.clip_constant, clips)
    assert np.all(found.schedule.initial < 2 / 0.05)
    free = tune_one_pass(0.5, aspect_ratio=0.05, rho=1.0, **PRESET)
    assert np.all(found.risk >= free.risk * (1 - 1e-6))


def test_inverse_time_loses_every_logarithm():
    """Its tuned risk approaches the value of the linearised end phase, without a factor log."""
    aspect = 1e-4
    found = tune_one_pass(aspect_ratio=aspect, rho=np.inf, steps=400, **PRESET)
    assert found.risk / (0.25 * aspect / 2) == pytest.approx(1.0, abs=0.02)
    slow = tune_one_pass(0.0, aspect_ratio=aspect, rho=np.inf, **PRESET)
    assert slow.risk > 3 * found.risk


def test_jump_is_part_of_the_one_pass_risk():
    schedule, values = PolynomialDecay(4.0, 0.0), settings()
    jump = (0.05 * 0.3 * 4.0) ** 2
    before = clipped_risk(0.5, schedule, **values)[-1]
    assert one_pass_risk(0.5, schedule, **values) == pytest.approx(before + jump, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("initial_risk", 0.0),
        ("aspect_ratio", -1.0),
        ("label_variance", 0.0),
        ("rho", 0.0),
        ("clip_constant", 0.0),
        ("clip_constant", 1e-6),
        ("exponent", -1.0),
    ],
)
def test_bad_input_is_named(name, value):
    good = PRESET | {"aspect_ratio": 0.5, "rho": 1.0, "exponent": 0.5}
    with pytest.raises(ValueError, match=name):
        tune_one_pass(**(good | {name: value}))


def test_bad_schedules_are_named():
    with pytest.raises(ValueError, match="offset"):
        InverseTimeDecay(1.0, 0.0)
    with pytest.raises(ValueError, match="scale"):
        InverseTimeDecay(-1.0, 1.0)


@pytest.mark.parametrize("name", ["clip_constant", "aspect_ratio", "rho", "label_variance"])
@pytest.mark.parametrize("value", ["abc", None, np.nan, [[1.0], [1.0, 2.0]], -1.0, 1e300])
def test_bad_settings_of_a_one_pass_risk_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        one_pass_risk(0.5, PolynomialDecay(4.0, 0.0), **settings() | {name: value})
