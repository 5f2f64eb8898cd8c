"""Moments for isotropic features against vectors in the full space and Ito's formula there."""

import numpy as np
import pytest

from dpdynamics.dynamics import isotropic_moments, risk_curve
from dpdynamics.dynamics.isotropic import _POWERS, _generator
from dpdynamics.problems import LeastSquares


@pytest.mark.parametrize("lengths", [(1.0,), (0.5**0.5, 1.5**0.5)])
def test_moments_of_simulated_vectors(lengths):
    d, steps, gamma, sigma, zeta2, start = 4, 5, 0.5, 0.6, 0.3, 1.3
    exact = isotropic_moments(d, gamma, sigma, zeta2, steps=steps, start=start, lengths=lengths)
    rng, runs = np.random.default_rng(3), 200_000
    v = np.zeros((runs, d))
    v[:, 2] = start  # the direction must not matter
    for _ in range(steps):
        a = rng.choice(lengths, runs)[:, None] * rng.standard_normal((runs, d))
        residual = np.sum(a * v, axis=1) - np.sqrt(zeta2) * rng.standard_normal(runs)
        v -= gamma / d * (a * residual[:, None] + sigma * rng.standard_normal((runs, d)))
    y, off = v[:, 2], np.sum(v**2, axis=1) - v[:, 2] ** 2
    risk = (y**2 + off + zeta2) / 2
    for sample, mean, variance in (
        (y, exact.mean, exact.variance),
        (off, exact.off_axis, exact.off_axis_variance),
        (risk, exact.risk, exact.risk_variance),
    ):
        assert abs(sample.mean() - mean) < 4.5 * np.sqrt(variance / runs)
        squares = (sample - mean) ** 2
        assert abs(squares.mean() - variance) < 4.5 * squares.std() / np.sqrt(runs)
    cubes = ((y - exact.mean) / np.sqrt(exact.variance)) ** 3
    assert abs(cubes.mean() - exact.skewness) < 4.5 * cubes.std() / np.sqrt(runs)


@pytest.mark.parametrize("rank_one", [0.0, 1.0, 0.5])
def test_generator_by_differentiation_in_the_full_space(rank_one):
    d, gamma, sigma, zeta2 = 5, 0.8, 0.7, 0.25
    v, e, h = np.random.default_rng(1).standard_normal(d), np.eye(d)[0], 1e-2
    covariance = (v @ v + zeta2 + sigma**2) * np.eye(d) + rank_one * np.outer(v, v)
    frame = np.linalg.cholesky(covariance)
    matrix = _generator(d, gamma, sigma, zeta2, rank_one)
    values = np.array([(e @ v) ** i * (v @ v) ** j for i, j in _POWERS])
    for row, (i, j) in enumerate(_POWERS):

        def along(direction, s, i=i, j=j):
            w = v + s * direction
            return (e @ w) ** i * (w @ w) ** j

        def second(direction):  # five points: exact up to degree five
            outer = along(direction, 2 * h) + along(direction, -2 * h)
            inner = along(direction, h) + along(direction, -h)
            return (-outer + 16 * inner - 30 * along(direction, 0)) / (12 * h**2)

        drift = 8 * (along(v, h) - along(v, -h)) - along(v, 2 * h) + along(v, -2 * h)
        ito = -gamma * drift / (12 * h)
        ito += gamma**2 / (2 * d) * sum(second(column) for column in frame.T)
        assert matrix[row] @ values == pytest.approx(ito, rel=1e-7, abs=1e-7)


def test_risk_of_the_diffusion_is_the_risk_curve():
    problem = LeastSquares(np.ones(30), np.zeros(30), 0.25, 0.0)
    curve = risk_curve(problem, np.eye(30)[0], 0.8, 0.7, [1.5])
    assert isotropic_moments(30, 0.8, 0.7, 0.25, time=1.5).risk == pytest.approx(
        curve.population[0], rel=1e-11
    )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"dimension": 1}, "dimension"),
        ({"steps": 0}, "steps"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"lengths": (1.0, 2.0)}, "lengths"),
        ({"start": 0.0, "noise_scale": 0.0, "label_variance": 0.0}, "must not be 0"),
        ({"steps": 10**6, "learning_rate": 5.0}, "floating-point"),
        ({"learning_rate": 1e-5}, "rounding"),
        ({"learning_rate": 1e-8}, "rounding"),
        ({"start": 1e80}, "start"),
    ],
)
def test_bad_input(change, word):
    good = {"dimension": 5, "steps": 3, "learning_rate": 0.5, "noise_scale": 0.1}
    with pytest.raises(ValueError, match=word):
        isotropic_moments(**({"label_variance": 0.1} | good | change))


def test_bad_input_of_the_diffusion():
    with pytest.raises(ValueError, match="time"):
        isotropic_moments(5, 0.5, 0.1, 0.1, time=0.0)
    with pytest.raises(ValueError, match="rank_one"):
        isotropic_moments(5, 0.5, 0.1, 0.1, time=1.0, rank_one=-1.0)
    with pytest.raises(ValueError, match="rounding"):
        isotropic_moments(4, 1e-4, 0.5, 0.3, time=1.0, rank_one=1.0)
    for both in ({}, {"steps": 3, "time": 1.0}):
        with pytest.raises(ValueError, match="steps or time"):
            isotropic_moments(5, 0.5, 0.1, 0.1, **both)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_moments_do_not_depend_on_the_unit_of_length(unit):
    """Squares scale with the unit, also where the three lengths are far apart."""
    for start, sigma, zeta2 in ((1.3, 0.5, 0.3), (1.0, 0.5, 3e23), (1.0, 1e9, 0.3)):
        one = isotropic_moments(4, 0.5, sigma, zeta2, steps=4, start=start)
        other = isotropic_moments(
            4, 0.5, sigma * unit, zeta2 * unit**2, steps=4, start=start * unit
        )
        powers = np.array([1, 2, 0, 2, 4, 2, 4])
        assert other == pytest.approx(one * unit**powers, rel=1e-9)


def test_one_huge_label_noise_leaves_the_variance_of_the_risk_alone():
    """With everything else negligible, the risk is quadratic in the label noise."""
    large, larger = (isotropic_moments(4, 0.5, 0.5, v, steps=4) for v in (1e12, 1e14))
    assert larger.risk_variance == pytest.approx(1e4 * large.risk_variance, rel=1e-9)
