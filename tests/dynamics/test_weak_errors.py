"""Coupled weak errors against exact ones."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpdynamics.dynamics import (
    chain_expectation,
    diffusion_expectation,
    linear_recursion,
    linear_sde,
    weak_error,
)

RATES = np.array([0.2, 0.1, 0.05])
SIGMA, HORIZON = 0.8, 1.0


def sgd(x, z, eta):
    return x - eta * (x + SIGMA * z)


def equation(eta, factor=1.0):
    return lambda t, x: -factor * x, lambda t, x: -np.sqrt(eta) * SIGMA  # the sign of sgd


def moments(x):
    return np.stack([x[:, 0], x[:, 1] ** 2], axis=1)


def exact(start=(1.0, -0.5)):
    rows = []
    for eta in RATES:
        sde = linear_sde(-np.eye(2), [0, 0], np.sqrt(eta) * SIGMA * np.eye(2), HORIZON)
        step = linear_recursion((1 - eta) * np.eye(2), [0, 0], (eta * SIGMA) ** 2 * np.eye(2))
        chain = step.power(round(HORIZON / eta))
        first, second = (
            np.array([m.mean[0], m.mean[1] ** 2 + m.covariance[1, 1]])
            for m in (step.moments(start, np.zeros((2, 2))) for step in (sde, chain))
        )
        rows.append(first - second)
    return np.array(rows)


def run(step=sgd, sde=equation, g=moments, x0=(1.0, -0.5), rates=RATES, horizon=HORIZON, **changes):
    options = {"rng": np.random.default_rng(0), "replicates": 4000}
    return weak_error(step, sde, g, x0, rates, horizon, **(options | changes))


@pytest.mark.parametrize("coupled", [True, False])
def test_intervals_cover_the_exact_weak_error(coupled):
    got = run(coupled=coupled)
    assert got.differences.shape == (3, 2)
    assert np.all(np.abs(got.differences - exact()) < got.half_widths + 1e-2 * np.abs(exact()))


def test_coupling_makes_intervals_short_and_a_wrong_drift_visible():
    coupled, independent = run(), run(coupled=False)
    assert np.all(coupled.standard_errors < independent.standard_errors / 5)
    wrong = run(sde=lambda eta: equation(eta, 1.1))
    assert np.all(np.abs(wrong.differences - exact())[:, 0] > wrong.half_widths[:, 0])


def test_extrapolation_removes_the_bias_of_the_scheme():
    """Without noise the samples are exact: what is left is of second order in the step."""
    left = []
    for substeps in (2, 4, 8):
        got = run(
            step=lambda x, z, eta: x - eta * x,
            sde=lambda eta: (lambda t, x: -x, lambda t, x: 0.0),
            substeps=substeps,
            replicates=2,
        )
        truth = np.exp(-HORIZON) - (1 - RATES) ** np.rint(HORIZON / RATES)
        left.append(np.abs(got.differences[:, 0] - truth))
        assert np.all(left[-1] < np.abs(got.corrections[:, 0]) / 5)
    np.testing.assert_allclose(np.divide(left[:-1], left[1:]), 4, rtol=0.15)


def test_a_nonlinear_optimiser_with_uniform_noise():
    """Noise of another law is a function of the normals, and stays coupled."""
    eta, spread = 0.1, np.sqrt(3.0)
    points, weights = np.polynomial.legendre.leggauss(20)

    def gradient(x):
        return x + np.sin(2 * x)

    def kernel(x):
        return x - eta * (gradient(x) + spread * points[:, None]), weights[:, None] / 2

    options = {"interval": (-4, 4), "nodes": 192}
    chain = chain_expectation(kernel, np.sin, [1.0], [10], **options).values.item()
    z, weights = np.polynomial.hermite_e.hermegauss(32)

    def gaussian(x):
        return x - eta * gradient(x) + eta * z[:, None], weights[:, None] / weights.sum()

    other = chain_expectation(gaussian, np.sin, [1.0], [10], **options).values.item()
    assert abs(chain - other) > 1e-8  # the law of the noise matters
    sde = diffusion_expectation(
        lambda x: -gradient(x), lambda x: np.sqrt(eta), np.sin, [1.0], [1.0], **options
    ).values.item()
    coupled, independent = (
        run(
            step=lambda x, z, eta: x - eta * (gradient(x) + spread * (2 * ndtr(z) - 1)),
            sde=lambda eta: (lambda t, x: -gradient(x), lambda t, x: -np.sqrt(eta)),
            g=lambda x: np.sin(x[:, 0]),
            x0=[1.0],
            rates=[eta],
            replicates=10_000,
            coupled=choice,
        )
        for choice in (True, False)
    )
    for got in (coupled, independent):
        assert abs(got.differences.item() - (sde - chain)) < got.half_widths.item()
    assert coupled.half_widths.item() < min(abs(sde - chain), independent.half_widths.item() / 3)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("x0", {"x0": 1.0}),
        ("learning_rates", {"rates": [0.3]}),
        ("learning_rates", {"rates": []}),
        ("learning_rates", {"rates": [-0.1]}),
        ("horizon", {"horizon": 0.0}),
        ("replicates", {"replicates": 1}),
        ("substeps", {"substeps": 3}),
        ("confidence", {"confidence": 1.0}),
        ("optimizer_step", {"step": lambda x, z, eta: x[:1]}),
        ("optimizer_step", {"step": lambda x, z, eta: x * np.nan}),
        ("test_functions", {"g": lambda x: x[:2]}),
    ],
)
def test_bad_arguments_are_named(name, changes):
    with pytest.raises(ValueError, match=name):
        run(**changes)
