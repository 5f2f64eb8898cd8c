"""Losses, their derivatives, and clipping by a number, against plain formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdynamics.training.losses import Loss, clip, gradient_norms


def draw(seed, classes, rows=6, configurations=3, scale=3.0):
    rng = np.random.default_rng(seed)
    outputs = 1 if classes == 2 else classes
    logits = scale * rng.standard_normal((rows, outputs, configurations))
    return logits.astype(np.float32), rng.integers(classes, size=rows)


def plain_losses(logits, labels):
    """Minus the logarithm of the probability of the label; a logit alone stands against zero."""
    logits = logits.astype(np.float64)
    if logits.shape[1] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(len(labels)), labels])


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_values_and_derivatives(classes):
    logits, labels = draw(classes, classes)
    loss = Loss(classes)
    np.testing.assert_allclose(loss.values(logits, labels), plain_losses(logits, labels), rtol=1e-6)
    slope, h = loss.derivative(logits, labels), 1e-5
    for output in range(loss.outputs):
        shift = np.zeros(logits.shape)
        shift[:, output] = h
        up, down = (plain_losses(logits.astype(float) + s * shift, labels) for s in (1, -1))
        np.testing.assert_allclose(slope[:, output], (up - down) / (2 * h), atol=2e-6)


def test_two_softmax_outputs_are_one_logit():
    logits, labels = draw(0, 2)
    third = np.full_like(logits, -np.inf)  # a class that never occurs
    triple = np.concatenate([np.zeros_like(logits), logits, third], axis=1)
    one, three = Loss(2), Loss(3)
    np.testing.assert_allclose(three.values(triple, labels), one.values(logits, labels), rtol=1e-5)
    np.testing.assert_allclose(
        three.derivative(triple, labels)[:, 1:2],
        one.derivative(logits, labels),
        rtol=1e-4,
        atol=1e-7,
    )
    np.testing.assert_array_equal(three.correct(triple, labels), one.correct(logits, labels))


@pytest.mark.parametrize("classes", [2, 4])
def test_large_logits_stay_finite(classes):
    logits, labels = draw(1, classes, scale=1e4)
    loss = Loss(classes)
    assert np.isfinite(loss.values(logits, labels)).all()
    assert np.isfinite(loss.derivative(logits, labels)).all()


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), classes=st.sampled_from([2, 3, 5]), c=st.floats(1e-3, 10))
def test_clipping_is_that_of_the_explicit_gradients(seed, classes, c):
    logits, labels = draw(seed, classes)
    rng = np.random.default_rng(seed + 1)
    rows = rng.standard_normal((len(labels), 9)) * rng.integers(0, 2, (len(labels), 9))
    limits = (c * np.array([0.5, 1.0, 4.0])).astype(np.float32)
    slope = Loss(classes).derivative(logits, labels)
    explicit = np.einsum("rj,rok->krjo", rows, slope)
    lengths = np.sqrt((explicit**2).sum(axis=(2, 3)))
    norms = np.sqrt((rows**2).sum(axis=1))
    np.testing.assert_allclose(gradient_norms(slope, norms).T, lengths, rtol=1e-5)
    factors = np.minimum(1, limits[:, None] / np.where(lengths > 0, lengths, 1e-30))
    clipped = np.einsum("rj,rok->krjo", rows, clip(slope, norms, limits))
    expected = factors[:, :, None, None] * explicit
    np.testing.assert_allclose(clipped, expected, rtol=1e-5, atol=1e-6)
    assert np.all(np.sqrt((clipped**2).sum(axis=(2, 3))) <= limits[:, None] * (1 + 1e-5))


def test_no_clipping_at_an_infinite_norm():
    logits, labels = draw(2, 2)
    slope = Loss(2).derivative(logits, labels)
    kept = clip(slope.copy(), np.ones(len(labels)), np.full(3, np.inf, dtype=np.float32))
    np.testing.assert_array_equal(kept, slope)


def test_bad_input():
    with pytest.raises(ValueError, match="classes"):
        Loss(1)
