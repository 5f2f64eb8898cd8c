"""Plateaus against exact laws and simulations; moments under a schedule against the recursion."""

import numpy as np
import pytest

from dpdynamics.adaptive import (
    gaussian_sign,
    plateau,
    private_gradient_scale,
    quadratic_sgd_moments,
    stationary_sign_law,
)
from dpdynamics.dynamics import linear_recursion


@pytest.mark.parametrize("curvature", [0.2, 3.0])
def test_the_plateau_of_sgd_is_that_of_the_recursion(curvature):
    rate, scale = 0.01, 0.7
    step = linear_recursion([[1 - rate * curvature]], [0.0], [[(rate * scale) ** 2]])
    loss = curvature * step.power(10**6).covariance.item() / 2
    assert plateau(rate, scale) / (1 - rate * curvature / 2) == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("curvature", [0.2, 3.0])
def test_the_plateau_of_the_sign_is_that_of_the_walk(curvature):
    rate, scale = 1e-4, 0.7
    down = gaussian_sign(lambda x: curvature * x, scale)
    loss = curvature * stationary_sign_law(down, 0.0, rate).average.variance / 2
    correction = np.sqrt(np.pi / 2) / 4 * rate * curvature / scale
    assert loss / plateau(rate, scale, method="sign") - 1 == pytest.approx(correction, rel=1e-3)


@pytest.mark.parametrize("dimension", [None, 40])
def test_the_scale_of_the_private_gradient(dimension):
    """One step of the algorithm at the minimum: every gradient clipped, or none."""
    rng = np.random.default_rng(3)
    gradient_noise, B, multiplier, d = 0.8, 6, 1.5, 40
    clip = 100.0 if dimension is None else 0.5
    records = gradient_noise * rng.standard_normal((2000, B, d))
    norms = np.linalg.norm(records, axis=2, keepdims=True)
    total = np.sum(records * np.minimum(1, clip / norms), axis=1)
    gradient = (total + clip * multiplier * rng.standard_normal((2000, d))) / B
    S = private_gradient_scale(gradient_noise, B, clip, multiplier, clipped_dimension=dimension)
    assert gradient.std() == pytest.approx(S, rel=5 / np.sqrt(2 * gradient.size))


def test_both_plateaus_when_every_gradient_is_clipped():
    """Isotropic quadratic, B = 4; without the batch average S^2 would be 2.6 times as large."""
    rng = np.random.default_rng(7)
    d, B, gradient_noise, clip, multiplier, runs = 100, 4, 1.0, 1.0, 0.1, 40
    S = private_gradient_scale(gradient_noise, B, clip, multiplier, clipped_dimension=d)
    contraction = clip / (gradient_noise * np.sqrt(d))
    for rate, method in ((0.1, "sgd"), (0.004, "sign")):
        level = plateau(rate, S, contraction, method=method)
        x = np.sqrt(2 * level) * rng.standard_normal((runs, d))
        losses = []
        for k in range(1200):
            # The mean of four clipped gradients, one at a time to save memory.
            gradient = clip * multiplier * rng.standard_normal((runs, d))
            for _ in range(B):
                record = x + gradient_noise * rng.standard_normal((runs, d))
                norms = np.linalg.norm(record, axis=1, keepdims=True)
                gradient += record * np.minimum(1, clip / norms)
            gradient /= B
            x = x - rate * (np.sign(gradient) if method == "sign" else gradient)
            if k >= 400:
                losses.append(np.mean(x**2) / 2)
        assert np.mean(losses) == pytest.approx(level, rel=0.06)


def test_levels_are_arrays_where_the_arguments_are():
    levels = plateau([0.1, 0.2], 2.0, [[1.0], [0.5]])
    np.testing.assert_allclose(levels, [[0.1, 0.2], [0.2, 0.4]], rtol=1e-15)
    assert isinstance(plateau(0.1, 1.0, method="sign"), float)


def test_moments_at_a_constant_rate():
    marks = [0, 3, 3, 200]
    mean, variance = quadratic_sgd_moments(2.0, 0.7, 1.5, np.full(200, 0.05), marks)
    step = linear_recursion([[0.9]], [0.0], [[(0.05 * 0.7) ** 2]])
    exact = [step.power(k).moments([1.5], [[0.0]]) for k in marks]
    np.testing.assert_allclose(mean, [law.mean.item() for law in exact], rtol=1e-12)
    np.testing.assert_allclose(variance, [law.covariance.item() for law in exact], rtol=1e-12)


def test_moments_under_a_schedule_are_a_sum_over_the_noises():
    rates = 0.3 / np.arange(1.0, 31.0)
    curvature, scale = np.array([0.5, 2.0, 5.0]), np.array([[1.0], [0.1]])
    mean, variance = quadratic_sgd_moments(curvature, scale, 1.5, rates, [30])
    factors = 1 - np.multiply.outer(rates, curvature)
    after = np.stack([np.prod(factors[k + 1 :], axis=0) for k in range(30)])
    np.testing.assert_allclose(mean[0], np.broadcast_to(1.5 * np.prod(factors, axis=0), (2, 3)))
    expected = scale**2 * np.sum((rates[:, None] * after) ** 2, axis=0)
    np.testing.assert_allclose(variance[0], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("batch_size", lambda: private_gradient_scale(1.0, 0, 1.0, 1.0)),
        ("clip_norm", lambda: private_gradient_scale(1.0, 1, 0.0, 1.0)),
        ("clipped_dimension", lambda: private_gradient_scale(1, 1, 1, 1, clipped_dimension=0)),
        ("contraction", lambda: plateau(1.0, 1.0, 1.5)),
        ("learning_rate", lambda: plateau(0.0, 1.0, method="sign")),
        ("method", lambda: plateau(0.1, 1.0, method="adam")),
        ("scale", lambda: plateau(1.0, -1.0, method="sign")),
        ("steps", lambda: quadratic_sgd_moments(1.0, 1.0, 1.0, [0.1], [2])),
        ("steps", lambda: quadratic_sgd_moments(1.0, 1.0, 1.0, [0.1], [0.5])),
        ("learning_rates", lambda: quadratic_sgd_moments(1.0, 1.0, 1.0, [-0.1], [1])),
        ("learning_rates", lambda: quadratic_sgd_moments(1e90, 1.0, 1.0, [1.0] * 4, [4])),
    ],
)
def test_bad_arguments(name, make):
    with pytest.raises(ValueError, match=name):
        make()
