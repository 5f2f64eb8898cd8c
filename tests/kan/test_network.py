"""The network against PyTorch's automatic differentiation and against clipping one by one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline

import dpdynamics.kan.network as module
from dpdynamics.kan.activations import activation
from dpdynamics.kan.network import (
    TwoLayerKAN,
    logistic_loss,
)

CASES = [(a, c) for a in ("tanh", "sigmoid") for c in (False, True)]


def example(kind, n=9, width=7, dimension=3, splines=6, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    name, clamped = kind
    kan, weights = TwoLayerKAN.initial(
        width, dimension, splines, rng=rng, activation=name, clamped=clamped, dtype=dtype
    )
    inputs = rng.uniform(-1, 1, (n, dimension)) / np.sqrt(dimension)
    return kan, weights, inputs, rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("kind", CASES)
def test_values_by_the_definition(kind) -> None:
    kan, weights, inputs, _ = example(kind)
    spline = BSpline(kan.basis.knots, np.eye(6), 3)
    sigma = {"tanh": np.tanh, "sigmoid": lambda a: 1 / (1 + np.exp(-a))}[kind[0]]
    expected = np.zeros(9)
    for i, x in enumerate(inputs):
        for j in range(7):
            hidden = sum(weights[j, q] @ spline(x[q]) for q in range(3)) / np.sqrt(3)
            expected[i] += kan.coefficients[j] @ spline(sigma(hidden)) / np.sqrt(7)
    values = kan.values(weights, kan.features(inputs))
    np.testing.assert_allclose(values, expected, atol=1e-14)


@pytest.mark.parametrize("kind", CASES)
def test_gradients_and_hessian_by_autograd(kind) -> None:
    torch = pytest.importorskip("torch")
    kan, weights, inputs, labels = example(kind)
    network, x = kan.torch_module(weights), torch.from_numpy(inputs)
    outputs = network(x)
    features = kan.features(inputs)
    np.testing.assert_allclose(kan.values(weights, features), outputs.detach().numpy(), atol=1e-14)
    gradients = [torch.autograd.grad(f, network.weights, retain_graph=True)[0] for f in outputs]
    ours = kan.output_gradients(weights, features)
    np.testing.assert_allclose(ours, torch.stack(gradients).numpy(), atol=3e-15)
    loss = torch.nn.functional.softplus(-torch.from_numpy(labels) * outputs).mean()
    loss.backward()
    assert kan.loss(weights, features, labels) == pytest.approx(loss.item(), rel=1e-14)
    np.testing.assert_allclose(
        kan.gradient(weights, features, labels), network.weights.grad.numpy(), atol=1e-15
    )

    def first_output(w):
        return torch.func.functional_call(network, {"weights": w}, (x[:1],))[0]

    hessian = torch.autograd.functional.hessian(first_output, network.weights.detach())
    curvatures = kan.factors(weights, features).curvatures[0] / np.sqrt(7)
    blocks = np.kron(np.diag(curvatures), np.outer(features[0], features[0]))
    np.testing.assert_allclose(hessian.numpy().reshape(126, 126), blocks, atol=3e-15)


@pytest.mark.parametrize("kind", CASES)
def test_the_forgotten_curvature_term_is_seen(kind) -> None:
    kan, weights, inputs, _ = example(kind)
    _, slopes, curvatures = kan.factors(weights, kan.features(inputs))
    hidden = np.einsum("nk,jk->nj", kan.features(inputs), weights.reshape(7, -1))
    u = kan.sigma.function(hidden)
    second = np.einsum("njk,jk->nj", kan.basis(u, 2), kan.coefficients)
    sigma1 = kan.sigma.polynomial[0] + kan.sigma.polynomial[1] * u - u**2
    sigma2_over_sigma1 = kan.sigma.polynomial[1] - 2 * u
    np.testing.assert_allclose(
        curvatures, sigma2_over_sigma1 * slopes + sigma1**2 * second, atol=1e-12
    )
    assert np.abs(curvatures - sigma2_over_sigma1 * slopes).max() > 1e-3


@given(
    st.sampled_from(CASES),
    st.tuples(st.integers(1, 6), st.integers(1, 9), st.integers(1, 4), st.integers(4, 11)),
    st.floats(0.01, 2),
    st.integers(0, 10**6),
)
@settings(max_examples=40)
def test_clipped_sum_one_by_one(kind, sizes, clip_norm, seed) -> None:
    n, m, d, p = sizes
    kan, weights, inputs, labels = example(kind, n, m, d, p, seed)
    features = kan.features(inputs)
    total, norms, margins = kan.clipped_gradient_sum(weights, features, labels, clip_norm)
    expected = np.zeros(kan.shape)
    for i in range(n):
        gradient = kan.gradient(weights, features[i : i + 1], labels[i : i + 1])
        norm = np.linalg.norm(gradient)
        assert norms[i] == pytest.approx(norm, rel=1e-12)
        expected += gradient * min(1, clip_norm / norm) if norm > 0 else 0
    np.testing.assert_allclose(total, expected, atol=1e-13)
    np.testing.assert_allclose(margins, labels * kan.values(weights, features), atol=1e-15)


def test_one_forgotten_clip_is_seen() -> None:
    kan, weights, inputs, labels = example(CASES[0])
    features = kan.features(inputs)
    free = kan.clipped_gradient_sum(weights, features, labels)
    clip = np.sort(free.norms)[-2:].mean()  # between the two largest
    clipped = kan.clipped_gradient_sum(weights, features, labels, clip)
    moved = np.linalg.norm(clipped.total - free.total)
    assert moved == pytest.approx(free.norms.max() - clip, rel=1e-10)


def test_blocks_do_not_matter(monkeypatch) -> None:
    kan, weights, inputs, labels = example(CASES[0], n=50)
    features = kan.features(inputs)
    at_once = [*kan.factors(weights, features), kan.gradient(weights, features, labels)]
    monkeypatch.setattr(module, "_BLOCK", 25)
    in_parts = [*kan.factors(weights, features), kan.gradient(weights, features, labels)]
    for a, b in zip(at_once, in_parts, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-15)


@pytest.mark.parametrize("kind", CASES)
def test_single_precision(kind) -> None:
    kan, weights, inputs, labels = example(kind)
    single, small, _, _ = example(kind, dtype=np.float32)
    assert small.dtype == single.dtype == np.float32
    features = single.features(inputs)
    found = single.clipped_gradient_sum(small, features, labels, 0.1)
    assert {found.total.dtype, found.norms.dtype, features.dtype} == {np.dtype(np.float32)}
    exact = kan.clipped_gradient_sum(weights, kan.features(inputs), labels, 0.1)
    np.testing.assert_allclose(found.total, exact.total, atol=2e-6)
    np.testing.assert_allclose(found.norms, exact.norms, atol=2e-6)


@pytest.mark.parametrize("kind", CASES)
def test_the_outer_splines_are_expanded_at_the_point_one(kind) -> None:
    """The cell after the last, where rounding puts units that are nearly saturated."""
    kan, h = example(kind)[0], example(kind)[0].basis.spacing
    table, begin = kan._outer
    np.testing.assert_array_equal(begin, np.arange(7) * (kan.basis.cells + 1))
    end = table[:, begin.astype(int) + kan.basis.cells]
    for power in range(4):
        taylor = kan.coefficients @ kan.basis(1.0, power) * h**power / math.factorial(power)
        np.testing.assert_allclose(end[power], taylor, atol=1e-12)


@pytest.mark.parametrize("kind", CASES)
def test_saturated_units(kind) -> None:
    kan, _, inputs, _ = example(kind)
    features = kan.features(inputs)
    values, slopes, curvatures = kan.factors(np.full(kan.shape, 1e4), features)
    expected = (kan.basis(1.0) @ kan.coefficients.T).sum() / np.sqrt(7)
    np.testing.assert_allclose(values, expected, rtol=1e-13)
    assert not slopes.any()
    assert not curvatures.any()


def test_initialisation_is_the_prescribed_one() -> None:
    kan, weights = TwoLayerKAN.initial(400, 5, 7, rng=np.random.default_rng(3))
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(weights, rng.standard_normal((400, 5, 7)))
    np.testing.assert_array_equal(kan.coefficients, rng.standard_normal((400, 7)))
    assert (kan.width, kan.dimension, kan.splines, kan.parameters) == (400, 5, 7, 14000)


@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_constants_of_the_activations(name) -> None:
    sigma = activation(name)
    u = sigma.function(np.linspace(-6, 6, 200001))
    free, linear, square = sigma.polynomial
    first = free + linear * u + square * u**2
    second = (linear + 2 * square * u) * first
    step = 12 / 200000
    np.testing.assert_allclose(np.gradient(u, step)[1:-1], first[1:-1], atol=1e-8)
    np.testing.assert_allclose(np.gradient(first, step)[1:-1], second[1:-1], atol=1e-8)
    assert first.max() == pytest.approx(sigma.slope, rel=1e-8)
    assert np.abs(second).max() == pytest.approx(sigma.curvature, rel=1e-8)
    assert sigma.lower < u.min() < sigma.lower + 0.01
    assert 0.99 < u.max() < 1


def test_logistic_functions() -> None:
    z = np.linspace(-5, 5, 2001)
    loss, slope, curvature = logistic_loss(z), logistic_loss(z, 1), logistic_loss(z, 2)
    np.testing.assert_allclose(loss, np.log(1 + np.exp(-z)), rtol=1e-13)
    np.testing.assert_allclose(np.gradient(loss, z)[1:-1], slope[1:-1], atol=1e-5)
    np.testing.assert_allclose(np.gradient(slope, z)[1:-1], curvature[1:-1], atol=1e-5)
    np.testing.assert_array_equal(logistic_loss([-800.0, 800.0]), [800.0, 0.0])
    np.testing.assert_array_equal(logistic_loss([-800.0, 800.0], 1), [-1.0, 0.0])


def test_bad_arguments() -> None:
    kan, weights, inputs, labels = example(CASES[0])
    features = kan.features(inputs)
    with pytest.raises(ValueError, match=r"weights must have shape \(7, 3, 6\)"):
        kan.values(weights[0], features)
    with pytest.raises(ValueError, match=r"features must have shape \(n, 18\)"):
        kan.values(weights, inputs)
    for bad in (np.nan, np.inf, 1j):
        with pytest.raises(ValueError, match=r"weights (and features )?must"):
            kan.clipped_gradient_sum(np.where(weights > 1, bad, weights), features, labels, 1)
    for wrong in (labels[1:], 0 * labels):
        with pytest.raises(ValueError, match="labels must be 9 numbers -1 or 1"):
            kan.loss(weights, features, wrong)
    for clip in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="clip_norm"):
            kan.clipped_gradient_sum(weights, features, labels, clip)
    for mean in (kan.loss, kan.gradient):
        with pytest.raises(ValueError, match="features must have shape"):
            mean(weights, kan.features(inputs[:0]), [])
    np.testing.assert_array_equal(logistic_loss(np.array([1, 2], np.uint8)), logistic_loss([1, 2]))
    with pytest.raises(ValueError, match="inputs must have a last axis of length 3"):
        kan.features(inputs[:, :2])
    with pytest.raises(ValueError, match="points must lie in"):
        kan.features(3 * np.ones((1, 3)))
    with pytest.raises(ValueError, match="coefficients must be"):
        TwoLayerKAN(np.ones((4, 3)), 2)
    with pytest.raises(ValueError, match="activation must be one of"):
        TwoLayerKAN(np.ones((4, 5)), 2, "relu")


@pytest.mark.parametrize("clamped", [False, True])
def test_units_that_are_nearly_or_wholly_saturated(clamped) -> None:
    """Activations at 1 and one rounding below it, where the cell after the last is used."""
    pulls = np.linspace(17.5, 20, 51)
    rng = np.random.default_rng(0)
    kan = TwoLayerKAN(rng.standard_normal((pulls.size, 5)), 1, clamped=clamped)
    weights = np.broadcast_to(pulls[:, None, None], kan.shape)  # the splines sum to one
    features = kan.features([[0.25]])
    u = np.tanh((features @ weights.reshape(pulls.size, -1).T)[0])
    assert {1.0, np.nextafter(1, 0)} <= set(u)
    value, slope = (kan.basis([1.0], order)[0] @ kan.coefficients.T for order in (0, 1))
    found = kan.factors(weights, features)
    assert found.values == pytest.approx(value.sum() / np.sqrt(pulls.size), rel=1e-13)
    np.testing.assert_allclose(found.slopes[0], (1 - u * u) * slope, rtol=1e-13)
    np.testing.assert_allclose(found.curvatures[0], -2 * u * (1 - u * u) * slope, rtol=1e-12)
