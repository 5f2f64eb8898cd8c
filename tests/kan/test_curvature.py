"""Curvature against dense eigenvalues, optimisers, and chi distributions."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi

from dpdynamics.kan.curvature import (
    LOGISTIC_SELF_BOUND,
    comparator_factors,
    hessian_extremes,
    network_bounds,
    self_bounding,
    suprema,
)
from dpdynamics.kan.network import TwoLayerKAN, logistic_loss
from dpdynamics.kan.piecewise import largest_absolute

CASES = [(a, c) for a in ("tanh", "sigmoid") for c in (False, True)]


def example(kind, n=5, width=6, dimension=2, splines=6, seed=0):
    rng = np.random.default_rng(seed)
    kan, weights = TwoLayerKAN.initial(
        width, dimension, splines, rng=rng, activation=kind[0], clamped=kind[1]
    )
    features = kan.features(rng.uniform(-0.7, 0.7, (n, dimension)))
    return kan, weights, features, rng.choice([-1.0, 1.0], n)


def dense_hessians(kan, weights, inputs, labels):
    """Hessians of the losses by automatic differentiation, (n, mdp, mdp)."""
    torch = pytest.importorskip("torch")
    network = kan.torch_module(weights)
    result = []
    for x, y in zip(torch.from_numpy(inputs), torch.from_numpy(labels), strict=True):

        def loss(w, x=x, y=y):
            f = torch.func.functional_call(network, {"weights": w}, (x[None],))[0]
            return torch.nn.functional.softplus(-y * f)

        hessian = torch.autograd.functional.hessian(loss, network.weights.detach())
        result.append(hessian.numpy().reshape(kan.parameters, kan.parameters))
    return np.array(result)


@pytest.mark.parametrize("kind", CASES)
def test_extremes_of_the_loss_by_dense_eigenvalues(kind) -> None:
    rng = np.random.default_rng(5)
    kan, weights = TwoLayerKAN.initial(6, 2, 6, rng=rng, activation=kind[0], clamped=kind[1])
    inputs, labels = rng.uniform(-0.7, 0.7, (5, 2)), rng.choice([-1.0, 1.0], 5)
    features = kan.features(inputs)
    dense = dense_hessians(kan, weights, inputs, labels)
    expected = np.linalg.eigvalsh(dense)[:, [0, -1]]
    found = hessian_extremes(kan, weights, features, labels)
    np.testing.assert_allclose(found, expected, atol=2e-14)
    flipped = hessian_extremes(kan, weights, features, -labels)
    assert np.abs(flipped - expected).max() > 1e-3  # the sign of the curvature term matters


@pytest.mark.parametrize("kind", CASES)
def test_extremes_of_the_output(kind) -> None:
    kan, weights, features, _ = example(kind)
    curvatures = kan.factors(weights, features).curvatures
    found = hessian_extremes(kan, weights, features)
    for row, q, ends in zip(features, curvatures, found, strict=True):
        dense = np.kron(np.diag(q), np.outer(row, row)) / np.sqrt(6)
        np.testing.assert_allclose(np.linalg.eigvalsh(dense)[[0, -1]], ends, atol=1e-14)


@pytest.mark.parametrize("width", [1, 2, 3, 40])
def test_extremes_with_repeated_and_missing_entries(width) -> None:
    """Equal diagonal entries and vanishing slopes, where the secular equation degenerates."""
    coefficients = np.repeat(np.random.default_rng(2).standard_normal((1, 5)), width, axis=0)
    coefficients[width // 2 :: 3] = 0
    kan = TwoLayerKAN(coefficients, 1)
    weights = np.zeros(kan.shape)
    weights[::2] = 0.3
    features, labels = kan.features([[0.1], [0.8]]), np.array([1.0, -1.0])
    found = hessian_extremes(kan, weights, features, labels)
    dense = dense_hessians(kan, weights, np.array([[0.1], [0.8]]), labels)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(dense)[:, [0, -1]], atol=1e-14)


@pytest.mark.parametrize(("kind", "splines"), list(itertools.product(CASES, [4, 5, 8])))
def test_suprema_are_attained_and_not_exceeded(kind, splines) -> None:
    kan, _, features, _ = example(kind, splines=splines, seed=splines)
    feature = features[:1]
    square = float((feature**2).sum())
    bounds = suprema(kan, feature_square=square)
    grid = np.linspace(-9, 9, 4001)

    def factors(activations):  # every unit at its own pre-activation: (6,) -> S, Q
        weights = (np.asarray(activations)[:, None] * feature / square).reshape(kan.shape)
        return kan.factors(weights, feature)

    rows = [factors(np.full(6, a)) for a in grid]
    best = {}
    for name in ("slopes", "curvatures"):
        size = np.abs(np.array([getattr(row, name)[0] for row in rows]))
        supremum = getattr(bounds, name)
        assert np.all(size.max(axis=0) <= supremum * (1 + 1e-12))
        best[name] = np.zeros(6)
        for j in range(6):
            start = grid[size[:, j].argmax()]
            polished = minimize_scalar(
                lambda a, j=j, name=name: -abs(getattr(factors(np.full(6, a)), name)[0, j]),
                bounds=(start - 0.01, start + 0.01),
                method="bounded",
                options={"xatol": 1e-10},
            )
            best[name][j] = polished.x
            assert -polished.fun == pytest.approx(supremum[j], rel=1e-6)
    weights = (best["slopes"][:, None] * feature / square).reshape(kan.shape)
    gradient = np.linalg.norm(kan.output_gradients(weights, feature))
    assert gradient == pytest.approx(bounds.gradient, rel=1e-6)
    weights = (best["curvatures"][:, None] * feature / square).reshape(kan.shape)
    norm = np.abs(hessian_extremes(kan, weights, feature)).max()
    assert norm == pytest.approx(bounds.hessian, rel=1e-6)


def test_enclosure_of_polynomials() -> None:
    cases = np.random.default_rng(0).standard_normal((50, 3, 6))
    cases[0] = 0
    cases[1, :, 1:] = 0  # constants
    found = largest_absolute(cases)
    for pieces, value in zip(cases, found, strict=True):
        candidates = []
        for piece in pieces:
            polynomial = np.polynomial.Polynomial(piece)
            roots = polynomial.deriv().roots() if piece[1:].any() else np.array([])
            points = np.append(roots[np.isreal(roots)].real.clip(0, 1), [0, 1])
            candidates.append(np.abs(polynomial(points)).max())
        assert value == pytest.approx(max(candidates), rel=1e-12)


@pytest.mark.parametrize(("kind", "splines"), list(itertools.product(CASES, [4, 5, 6, 12])))
def test_bounds_are_ordered(kind, splines) -> None:
    keywords = {"activation": kind[0], "clamped": kind[1]}
    for seed in range(5):
        kan, _, _, _ = example(kind, width=64, splines=splines, seed=seed)
        exact = suprema(kan)
        sharp = network_bounds(64, splines, 1e-3, **keywords)
        printed = network_bounds(64, splines, 1e-3, **keywords, form="printed")
        assert exact.gradient < sharp.gradient < printed.gradient
        assert exact.hessian < sharp.hessian < printed.hessian


def test_printed_bounds_by_hand() -> None:
    h, m, p, delta = 2 / 5, 100, 8, 0.1
    printed = network_bounds(m, p, delta, form="printed").gradient
    expected = 2 / 3 * 2 / (3 * h) * p * (4 * p**0.5 + 2 * (math.log(20) / m) ** 0.5)
    assert printed == pytest.approx(expected)
    bend = 4 / 27**0.5 * 2 / (3 * h) + 2 / h**2
    tail = 4 * p**0.5 + 2 * math.log(2 * m / delta) ** 0.5
    assert network_bounds(m, p, delta, form="printed").hessian == pytest.approx(
        4 / 9 * bend * p**1.5 / m**0.5 * tail
    )


@pytest.mark.parametrize(
    ("m", "p", "delta"), list(itertools.product([1, 16, 4096], [4, 9], [1e-6, 0.05, 0.9]))
)
def test_coefficient_bounds_by_the_chi_law(m, p, delta) -> None:
    norm, largest, *_ = network_bounds(m, p, delta)
    failure = chi.sf(norm, m * p) - np.expm1(m * chi.logcdf(largest, p))
    assert 0 < failure <= delta
    printed = network_bounds(m, p, delta, form="printed")
    assert printed[0] > norm
    assert printed[1] > largest
    assert chi.sf(math.sqrt(p * m) / 2, m * p) > 0.4  # half the mean would not do


def test_self_bounding() -> None:
    z = np.linspace(-2, 0, 200001)
    ratio = logistic_loss(z, 1) ** 2 / logistic_loss(z)
    assert ratio.max() == pytest.approx(LOGISTIC_SELF_BOUND, rel=1e-9)
    assert z[ratio.argmax()] == pytest.approx(-0.921, abs=1e-3)
    kan, weights, features, labels = example(CASES[0], n=40, width=20)
    exact = suprema(kan, feature_square=float((features**2).sum(axis=1).max()))
    constants = self_bounding(exact.gradient, exact.hessian)
    losses = logistic_loss(labels * kan.values(weights, features))
    ends = hessian_extremes(kan, weights, features, labels)
    assert np.all(ends[:, 0] >= -constants.weak_convexity * losses)
    assert np.all(ends[:, 1] <= constants.smoothness)
    square = np.sum(kan.gradient(weights, features, labels) ** 2)
    assert square <= constants.gradient_factor * losses.mean()
    assert constants.gradient_factor < constants.gradient_factor_printed / 2.4


def test_comparator_factors_are_sharp() -> None:
    """Equality for L = cos(w) on segments of length theta, and no smaller factor will do."""
    angle = np.array([1e-8, 0.1, 0.7, 1.5, 3.0])
    start = 0.2 - angle / 2
    descent, comparator = comparator_factors(angle)
    right = -np.sin(start) * (-angle) + comparator * np.cos(start + angle)
    np.testing.assert_allclose(descent * np.cos(start), right, atol=1e-13)
    assert comparator_factors(0.0) == (1.0, 1.0)
    for bad in (-0.1, np.pi):
        with pytest.raises(ValueError, match="angle must lie in"):
            comparator_factors(bad)


def test_bad_arguments() -> None:
    for arguments in ((0, 5, 0.1), (3, 3, 0.1), (3, 5, 1.0)):
        with pytest.raises(ValueError, match="must"):
            network_bounds(*arguments)
    with pytest.raises(ValueError, match="form must be one of"):
        network_bounds(3, 5, 0.1, form="best")
    kan, weights, features, labels = example(CASES[0])
    with pytest.raises(ValueError, match="feature_square"):
        suprema(kan, feature_square=-1)
    with pytest.raises(ValueError, match="labels"):
        hessian_extremes(kan, weights, features, labels * 2)
    with pytest.raises(ValueError, match="number of splines"):
        network_bounds(3, 10**80, 0.1)
    with pytest.raises(ValueError, match="gradient"):
        self_bounding(-1, 1)
