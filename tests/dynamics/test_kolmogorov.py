"""Expectations without Monte Carlo: closed forms, invariant laws, a chain."""

import numpy as np
import pytest

from dpdynamics.dynamics import diffusion_expectation, euler_maruyama
from dpdynamics.dynamics.collocation import ChebyshevGrid

X = np.linspace(-1, 1, 5)
TIMES = np.array([0.0, 0.3, 1.0, 4.0])


def chain_mean(step, noise, g, start, steps, *, edge, nodes):
    """E g of the chain x -> step(x) + noise Z, on Chebyshev nodes of [-edge, edge]."""
    z, weights = np.polynomial.hermite_e.hermegauss(32)
    grid = ChebyshevGrid(2 * edge, nodes)
    points = edge + step(grid.nodes - edge) + np.multiply.outer(noise * z, np.ones(nodes))
    images = np.stack([grid.interpolation(np.clip(p, 0, 2 * edge)) for p in points])
    matrix = np.tensordot(weights / weights.sum(), images, axes=1)
    values = np.linalg.matrix_power(matrix, steps) @ g(grid.nodes - edge)
    return (grid.interpolation(np.array([edge + start])) @ values).item()


@pytest.mark.parametrize(("sigma", "nodes"), [(1.0, 96), (0.2, 128), (0.05, 224)])
def test_ornstein_uhlenbeck(sigma, nodes):
    half = 1.1 + 7 * sigma
    mean = np.multiply.outer(np.exp(-TIMES), X)
    variance = sigma**2 / 2 * -np.expm1(-2 * TIMES)[:, None]
    cases = [
        (lambda x: np.cos(2 * x), np.cos(2 * mean) * np.exp(-2 * variance)),
        (lambda x: x**2, mean**2 + variance),
        (lambda x: x**4, mean**4 + 6 * mean**2 * variance + 3 * variance**2),
    ]
    for g, exact in cases:
        u = diffusion_expectation(
            lambda x: -x, lambda x: sigma, g, X, TIMES, interval=(-half, half), nodes=nodes
        )
        assert np.abs(u.values - exact).max() < 1e-10


def test_brownian_motion_and_geometric_brownian_motion():
    u = diffusion_expectation(
        lambda x: 0.0, lambda x: 1.0, np.cos, X, [1.0], interval=(-11, 11), nodes=96
    )
    np.testing.assert_allclose(u.values[0], np.cos(X) * np.exp(-0.5), atol=1e-11)
    # dX = 0.1 X dt + 0.3 X dW: X stays positive, so that 0 is an end that is never reached.
    u = diffusion_expectation(
        lambda x: 0.1 * x,
        lambda x: 0.3 * x,
        lambda x: np.exp(-x),
        [1.0],
        [0.5],
        interval=(0.0, 5.0),
        nodes=128,
    )
    z, weights = np.polynomial.hermite_e.hermegauss(80)
    law = np.exp((0.1 - 0.045) * 0.5 + 0.3 * np.sqrt(0.5) * z)
    exact = weights @ np.exp(-law) / weights.sum()
    assert abs(u.values.item() - exact) < 1e-10


def test_a_double_well_keeps_its_gibbs_law_and_agrees_with_simulation():
    sigma = 0.8
    options = {"interval": (-3.2, 3.2), "nodes": 160}
    y, weights = np.polynomial.legendre.leggauss(200)
    y, weights = 2.7 * y, 2.7 * weights
    gibbs = weights * np.exp(2 / sigma**2 * (y**2 / 2 - y**4 / 4))
    gibbs /= gibbs.sum()

    def g(x):
        return np.exp(-((x - 0.7) ** 2))

    u = diffusion_expectation(lambda x: x - x**3, lambda x: sigma, g, y, [0.5, 3.0], **options)
    np.testing.assert_allclose(u.values @ gibbs, gibbs @ g(y), atol=1e-10)
    wrong = diffusion_expectation(
        lambda x: 1.001 * x - x**3, lambda x: sigma, g, y, [3.0], **options
    )
    assert abs(wrong.values[0] @ gibbs - gibbs @ g(y)) > 1e-6

    n = 40_000
    ends = euler_maruyama(
        lambda t, x: x - x**3,
        lambda t, x: sigma,
        np.full((n, 1), -0.9),
        [0.0, 3.0],
        rng=np.random.default_rng(0),
        max_step=0.01,
    ).final[:, 0]
    exact = diffusion_expectation(
        lambda x: x - x**3, lambda x: sigma, g, [-0.9], [3.0], **options
    ).values.item()
    assert abs(g(ends).mean() - exact) < 4.5 * g(ends).std() / np.sqrt(n) + 2e-3  # bias of the step


def test_weak_errors_far_below_monte_carlo_are_resolved():
    """SGD on a double well against its equation: 1e-5, a slope of one, and a control."""
    rates, sigma, horizon = 0.02 / 2.0 ** np.arange(6), 1.0, 1.0
    errors, wrong = [], []
    for eta in rates:
        scale = np.sqrt(eta) * sigma
        options = {"interval": (-2.0, 2.0), "nodes": 224, "tolerance": 1e-8}
        chain = chain_mean(
            lambda x, eta=eta: x - eta * (x**3 - x),
            eta * sigma,
            np.cos,
            0.8,
            round(horizon / eta),
            edge=2.0,
            nodes=224,
        )
        for factor, out in ((1.0, errors), (1.01, wrong)):
            value = diffusion_expectation(
                lambda x, f=factor: f * (x - x**3),
                lambda x, s=scale: s,
                np.cos,
                [0.8],
                [horizon],
                **options,
            ).values.item()
            out.append(abs(value - chain))
    slopes = np.diff(np.log(errors)) / np.diff(np.log(rates))
    np.testing.assert_allclose(slopes[-1], 1, atol=0.01)
    assert np.all(np.diff(np.abs(slopes - 1)) < 0)
    assert errors[-1] < 5e-5
    assert abs(np.diff(np.log(wrong)) / np.diff(np.log(rates)))[-1] < 0.5


def ou(**changes):
    options = {
        "drift": lambda x: -x,
        "diffusion": lambda x: 1.0,
        "g": np.cos,
        "x": X,
        "times": [1.0],
        "interval": (-9, 9),
    }
    return diffusion_expectation(**(options | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"interval": (-2, 2)},  # the ends are reached
        {"nodes": 12},  # too coarse
        {"drift": lambda x: 3 * x},  # driven out of the interval
    ],
)
def test_what_cannot_be_trusted_is_refused(changes):
    with pytest.raises(ArithmeticError, match="interval"):
        ou(**changes)


def test_the_error_estimate_covers_the_error():
    for half in (2.0, 3.0, 4.0, 5.0):
        u = ou(interval=(-half, half), tolerance=1.0)
        exact = np.cos(X * np.exp(-1)) * np.exp(np.expm1(-2) / 4)
        assert np.abs(u.values[0] - exact).max() <= u.errors[0] + 1e-12


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("x must lie", lambda: ou(x=[8.9])),
        ("x must", lambda: ou(x=[])),
        ("interval", lambda: ou(interval=(1, -1))),
        ("nodes", lambda: ou(nodes=3)),
        ("tolerance", lambda: ou(tolerance=0.0)),
        ("times", lambda: ou(times=[1.0, 0.5])),
        ("drift", lambda: ou(drift=lambda x: x[:3])),
        ("diffusion", lambda: ou(diffusion=lambda x: np.nan)),
    ],
)
def test_bad_arguments_are_named(name, call):
    with pytest.raises(ValueError, match=name):
        call()
