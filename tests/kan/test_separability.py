"""Margins against the tangent features written out, a generic solver, and known geometries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from dpdynamics.kan.network import TwoLayerKAN
from dpdynamics.kan.separability import margin_direction, ntk_gram, ntk_margin


def example(n=20, width=30, dimension=3, seed=0, **keywords):
    rng = np.random.default_rng(seed)
    kan, weights = TwoLayerKAN.initial(width, dimension, 6, rng=rng, **keywords)
    inputs = rng.standard_normal((n, dimension))
    inputs *= 0.6 / np.linalg.norm(inputs, axis=1, keepdims=True)
    labels = np.where(inputs[:, 0] > 0, 1.0, -1.0)
    inputs[:, 0] += 0.3 * labels
    return kan, weights, kan.features(inputs), labels


@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_gram_matrix_of_the_features_written_out(name) -> None:
    kan, weights, features, labels = example(activation=name)
    rows = kan.output_gradients(weights, features).reshape(20, -1)
    np.testing.assert_allclose(ntk_gram(kan, weights, features), rows @ rows.T, atol=1e-14)
    signed = rows * labels[:, None]
    np.testing.assert_allclose(
        ntk_gram(kan, weights, features, labels), signed @ signed.T, atol=1e-14
    )


@pytest.mark.parametrize("seed", range(4))
def test_margin_by_a_generic_solver(seed) -> None:
    """The primal problem in the mdp variables: the smallest |u| with margins at least one."""
    kan, weights, features, labels = example(n=8, width=6, dimension=2, seed=seed)
    rows = kan.output_gradients(weights, features).reshape(8, -1) * labels[:, None]
    found = ntk_margin(rows @ rows.T)
    start = np.linalg.lstsq(rows, np.ones(8), rcond=None)[0]
    solved = minimize(
        lambda u: u @ u / 2,
        start,
        jac=lambda u: u,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda u: rows @ u - 1, "jac": lambda u: rows},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert solved.success
    assert found.margin == pytest.approx(1 / np.linalg.norm(solved.x), rel=1e-6)


@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_the_direction_attains_the_margin(name) -> None:
    kan, weights, features, labels = example(activation=name)
    found = ntk_margin(ntk_gram(kan, weights, features, labels))
    direction = margin_direction(kan, weights, features, labels, found.dual)
    rows = kan.output_gradients(weights, features)
    margins = labels * np.einsum("njik,jik->n", rows, direction)
    assert np.linalg.norm(direction) == pytest.approx(1, rel=1e-14)
    assert margins.min() == pytest.approx(found.margin, rel=1e-10)
    assert found.dual.sum() == pytest.approx(1, rel=1e-14)
    assert found.dual.min() >= 0
    assert found.upper - found.margin <= 1e-10 * found.upper
    np.testing.assert_allclose(margins[found.dual > 1e-9], found.margin, rtol=1e-6)
    class_means = np.where(labels > 0, 1 / (labels > 0).sum(), 1 / (labels < 0).sum())
    other = margin_direction(kan, weights, features, labels, class_means)
    assert (labels * np.einsum("njik,jik->n", rows, other)).min() < found.margin


@given(st.integers(1, 8), st.integers(0, 10**6), st.floats(0.01, 100))
@settings(max_examples=40)
def test_known_geometry(n, seed, scale) -> None:
    """Orthogonal points at the distances r_i: the margin is (sum of r_i^-2)^(-1/2)."""
    lengths = scale * np.random.default_rng(seed).uniform(0.5, 2, n)
    found = ntk_margin(np.diag(lengths**2))
    assert found.margin == pytest.approx(np.sum(lengths**-2.0) ** -0.5, rel=1e-10)
    np.testing.assert_allclose(found.dual, lengths**-2.0 / np.sum(lengths**-2.0), rtol=1e-9)


def test_width_and_distance() -> None:
    """Without 1/sqrt(m) the margin is sqrt(m) times as large; close opposite inputs ruin it."""
    kan, weights, features, labels = example()
    gram = ntk_gram(kan, weights, features, labels)
    assert ntk_margin(30 * gram).margin == pytest.approx(30**0.5 * ntk_margin(gram).margin)
    margins = []
    for distance in (1e-1, 1e-2, 1e-3):
        pair = kan.features([[0.1, 0, 0], [0.1 + distance, 0, 0]])
        margins.append(ntk_margin(ntk_gram(kan, weights, pair, [1, -1])).margin)
    np.testing.assert_allclose(np.divide(margins[1:], margins[:-1]), 0.1, rtol=0.2)


def test_unresolved_margins_are_refused() -> None:
    kan, weights, _, _ = example()
    for distance in (0.0, 1e-9):
        pair = kan.features([[0.1, 0, 0], [0.1 + distance, 0, 0]])
        with pytest.raises(ArithmeticError, match="not resolved"):
            ntk_margin(ntk_gram(kan, weights, pair, [1, -1]))
    points = np.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])  # around the origin
    with pytest.raises(ArithmeticError, match="not resolved"):
        ntk_margin(points @ points.T)


def test_bad_arguments() -> None:
    for gram in (np.ones((2, 3)), [[1.0, 2.0], [0.0, 1.0]], np.ones((0, 0))):
        with pytest.raises(ValueError, match="symmetric"):
            ntk_margin(gram)
    with pytest.raises(ValueError, match="positive diagonal"):
        ntk_margin(np.diag([1.0, 0.0]))
    with pytest.raises(ValueError, match="gram must be positive semidefinite"):
        ntk_margin([[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="tolerance"):
        ntk_margin(np.eye(2), tolerance=-1)
    kan, weights, features, labels = example()
    with pytest.raises(ValueError, match="labels"):
        ntk_gram(kan, weights, features, labels[1:])
    with pytest.raises(ValueError, match="dual must not give"):
        margin_direction(kan, weights, features, labels, np.zeros(20))
