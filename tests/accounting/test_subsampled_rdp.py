"""Subsampled Gaussian divergences against multiprecision sums, quadrature and published values."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.asking import ask
from accounting.subsampled_reference import exact_rdp, exact_rdp_whole
from dpdynamics.accounting import Poisson
from dpdynamics.divergence.quadrature import renyi_divergence_quadrature

# (sampling probability, noise multiplier, order): dp-accounting's own list for its test against
# multiprecision (rdp_privacy_accountant_test.py), there to 1e-4 of ln A.
HARD = [
    (1e-7, 0.1, 1.01),
    (1e-6, 0.1, 256),
    (1e-5, 0.1, 256.1),
    (1e-6, 1.0, 27),
    (1e-4, 1.0, 1.5),
    (1e-3, 1.0, 2),
    (0.01, 10.0, 20),
    (0.1, 100.0, 20.5),
    (0.99, 0.1, 256),
    (0.999, 100.0, 256.1),
]


def rdp(q, sigma, orders, relation="add_remove", steps=1):
    return Poisson(sampling_probability=q, steps=steps, relation=relation).rdp(
        noise_multiplier=sigma, orders=orders
    )


@pytest.mark.parametrize(("q", "sigma", "order"), HARD)
@pytest.mark.parametrize("relation", ["remove", "add"])
def test_hard_cases(q, sigma, order, relation):
    exact = exact_rdp(q, sigma, order, relation)
    assert rdp(q, sigma, order, relation) == pytest.approx(exact, rel=2e-12, abs=0)


@pytest.mark.parametrize("relation", ["remove", "add"])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 100.0])
@pytest.mark.parametrize("q", [1e-7, 0.02, 0.999])
def test_fractional_orders(q, sigma, relation):
    for order in (1 + 1e-7, 1.3, 20.5):
        exact = exact_rdp(q, sigma, order, relation)
        assert rdp(q, sigma, order, relation) == pytest.approx(exact, rel=2e-12, abs=0)


@pytest.mark.parametrize("order", [1.3, 20.5])
def test_adding_to_an_almost_certain_sample(order):
    q, sigma = 1 - 1e-12, 0.3  # most of the mass is where the ratio of the densities is near 1 - q
    exact = exact_rdp(q, sigma, order, "add")
    assert rdp(q, sigma, order, "add") == pytest.approx(exact, rel=2e-12)


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.3, 0.7, 1.0, 2.5, 10.0, 41.4, 100.0, 1000.0])
@pytest.mark.parametrize("q", [1e-7, 1e-3, 0.0576, 0.5, 0.7, 0.999, 1 - 1e-9])
def test_whole_orders_in_one_pass(q, sigma):
    orders = [2, 3, 7, 64, 256, 512, 900]
    exact = [exact_rdp_whole(q, sigma, order) for order in orders]
    assert rdp(q, sigma, orders) == pytest.approx(exact, rel=2e-11, abs=0)


def test_long_meshes_lose_no_mass():
    # Two bumps 5,000 standard deviations apart, each in turn the larger one, and equal ones.
    for q in (1e-12, 1e-3, 0.9):
        for sigma, order in ((0.01, 50), (0.01, 3), (0.1, 512), (0.3, 2000), (1.0, 9000)):
            exact = exact_rdp_whole(q, sigma, order)
            assert rdp(q, sigma, order) == pytest.approx(exact, rel=1e-12, abs=0)
    sigma, order = 0.15, 3
    q = float(np.exp(-(order - 1) / (2 * sigma**2)))
    assert 0 < q < 1e-18
    exact = exact_rdp_whole(q, sigma, order)
    assert rdp(q, sigma, order) == pytest.approx(exact, rel=1e-12, abs=0)


@pytest.mark.parametrize(("q", "sigma", "order"), [c for c in HARD if c[2] % 1 == 0 and c[2] < 99])
def test_the_two_references_agree(q, sigma, order):
    whole = exact_rdp_whole(q, sigma, order)
    assert exact_rdp(q, sigma, order) == pytest.approx(whole, rel=1e-14, abs=0)


@pytest.mark.parametrize("q", [1e-100, 1e-7, 0.3, 0.999])
@pytest.mark.parametrize("sigma", [0.01, 0.03])
def test_almost_no_noise(q, sigma):
    # The supports are apart: releases without the record are 1 - q times as likely with it.
    orders = [1.001, 2.0, 30.0, 500.0]
    assert rdp(q, sigma, orders, "add") == pytest.approx([-np.log1p(-q)] * 4, rel=1e-12, abs=0)
    plain = np.array(orders) / (2 * sigma**2) + np.log(q) * (1 + 1 / (np.array(orders) - 1))
    assert rdp(q, sigma, orders[1:], "remove") == pytest.approx(plain[1:], rel=1e-12)


def test_published_values():
    # dp-accounting, rdp_privacy_accountant_test.py. Its values at orders 1.5 and 2.5, 6.70579741e-4
    # and 1.08548710e-3, are those of a bound and too large: see tests/peers.
    published = [2.18075656e-3, 2.38460375e-2, 1.67416308e2]
    assert rdp(0.01, 2.5, [5, 50, 100], steps=50) == pytest.approx(published, rel=5e-9)
    # autodp, unit_test_dp_sgd_poisson_sampling_add_remove.py.
    published = [39.47435359, 90.78965963, 494.88314424]
    assert rdp(0.01, 0.1, [1.25, 2, 10]) == pytest.approx(published, abs=6e-9, rel=0)


def test_general_quadrature_agrees():
    def centre(x):
        return -(x**2) / 8 - np.log(2 * np.sqrt(2 * np.pi))

    def mixture(x):
        return centre(x) + np.logaddexp(np.log(0.8), np.log(0.2) + (2 * x - 1) / 8)

    for order in (1.5, 6.25):
        value = renyi_divergence_quadrature(mixture, centre, order, scale=2.0).value
        assert rdp(0.2, 2.0, order, "remove") == pytest.approx(value, rel=1e-8)
        value = renyi_divergence_quadrature(centre, mixture, order, scale=2.0).value
        assert rdp(0.2, 2.0, order, "add") == pytest.approx(value, rel=1e-8)


def test_ends_of_the_sampling_probability():
    orders = np.array([1 + 1e-7, 1.5, 30.0])
    for relation in ("add", "remove", "add_remove"):
        assert np.all(rdp(1e-99, 0.7, orders, relation) < 1e-90)
        plain = Poisson(sampling_probability=1.0).rdp(noise_multiplier=0.7, orders=orders)
        assert rdp(1.0, 0.7, orders, relation) == pytest.approx(plain, rel=1e-15)
    near = rdp(1 - 2**-53, 3.0, orders, "remove")
    assert near == pytest.approx(
        Poisson(sampling_probability=1.0).rdp(noise_multiplier=3.0, orders=orders), rel=1e-12
    )


@pytest.mark.parametrize("relation", ["remove", "add"])
@pytest.mark.parametrize(("q", "sigma"), [(1e-7, 1.0), (0.1, 0.4), (0.9, 20.0)])
def test_the_limit_at_order_one_is_kullback_leibler(q, sigma, relation):
    with mpmath.workdps(40):
        p, s = mpmath.mpf(q), mpmath.mpf(sigma)

        def integrand(t):
            excess = p * mpmath.expm1(t / s - 1 / (2 * s * s))
            ratio = 1 + excess
            log_ratio = mpmath.log1p(excess)
            if relation == "remove":
                return mpmath.npdf(t) * (ratio * log_ratio - excess)
            return mpmath.npdf(t) * (excess - log_ratio)

        exact = float(mpmath.quad(integrand, mpmath.linspace(-14, 14 + 1 / s, 20)))
    # The slope at 1 is half the variance of the loss: of the order of the divergence itself here.
    assert rdp(q, sigma, 1 + 1e-12, relation) == pytest.approx(exact, rel=1e-10, abs=0)


PROBABILITIES = st.one_of(st.floats(1e-7, 0.999), st.floats(-7, -0.01).map(lambda x: 10**x))
MULTIPLIERS = st.floats(-1, 2).map(lambda x: 10**x)
INCREMENTS = st.floats(-7, 2.7).map(lambda x: 10**x)
SLACK = 1 + 1e-10


@settings(max_examples=60)
@given(PROBABILITIES, MULTIPLIERS, st.lists(INCREMENTS, min_size=1, max_size=9), st.data())
def test_shape_of_the_curve(q, sigma, increments, data):
    orders = 1 + np.array(increments)
    remove, add = (rdp(q, sigma, orders, relation) for relation in ("remove", "add"))
    assert np.all(np.isfinite(remove)) and np.all(add > 0)
    assert np.all(add <= remove * SLACK)
    assert np.all(
        remove
        <= Poisson(sampling_probability=1.0).rdp(noise_multiplier=sigma, orders=orders) * SLACK
    )
    assert np.array_equal(rdp(q, sigma, orders), remove)
    more = data.draw(st.floats(1.01, 3))
    for relation, values in (("remove", remove), ("add", add)):
        ranking = np.argsort(orders)
        ascending = values[ranking]
        assert np.all(ascending[:-1] <= ascending[1:] * SLACK)
        log_moments = np.append(0.0, ascending * (orders[ranking] - 1))
        steps = np.append(0.0, orders[ranking] - 1)
        if np.all(np.diff(steps) > 1e-3 * steps[1:]):
            slopes = np.diff(log_moments) / np.diff(steps)
            assert np.all(slopes[:-1] <= slopes[1:] * (1 + 1e-6))  # ln M is convex
        assert np.all(values <= rdp(min(q * more, 1.0), sigma, orders, relation) * SLACK)
        assert np.all(rdp(q, sigma * more, orders, relation) <= values * SLACK)


@settings(max_examples=40)
@given(PROBABILITIES, MULTIPLIERS, st.lists(INCREMENTS, min_size=1, max_size=9))
def test_company_does_not_matter(q, sigma, increments):
    # Orders share a mesh with their neighbours: alone they must get the same value.
    orders = 1 + np.array(increments)
    for relation in ("remove", "add"):
        alone = [rdp(q, sigma, order, relation) for order in orders]
        assert rdp(q, sigma, orders, relation) == pytest.approx(alone, rel=3e-11, abs=0)


@given(st.integers(1, 50_000), st.integers(1, 50_000))
@settings(max_examples=20)
def test_steps_add(first, second):
    together = rdp(0.01, 1.0, 3.3, steps=first + second)
    apart = rdp(0.01, 1.0, 3.3, steps=first) + rdp(0.01, 1.0, 3.3, steps=second)
    assert together == pytest.approx(apart, rel=1e-14)
    single = Poisson(sampling_probability=1.0).rdp(noise_multiplier=2.0, orders=3.3)
    many = Poisson(sampling_probability=1.0, steps=first).rdp(noise_multiplier=2.0, orders=3.3)
    assert many == pytest.approx(first * single, rel=1e-14)


def test_shapes():
    assert isinstance(rdp(0.1, 1.0, 2), float)
    assert isinstance(Poisson(sampling_probability=1.0).rdp(noise_multiplier=1.0, orders=2), float)
    orders = np.array([[8.0, 1.5, 300.0], [2.0, 2.0, 1.1]])
    table = rdp(0.1, 1.0, orders)
    assert (
        table.shape
        == Poisson(sampling_probability=1.0).rdp(noise_multiplier=1.0, orders=orders).shape
        == (2, 3)
    )
    assert table[1, 1] == table[1, 0] == pytest.approx(rdp(0.1, 1.0, 2.0), rel=1e-12)
    assert rdp(0.1, 1.0, []).shape == (0,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("noise_multiplier", 0.0),
        ("noise_multiplier", 0.009),
        ("noise_multiplier", np.nan),
        ("noise_multiplier", np.inf),
        ("sampling_probability", -1e-9),
        ("sampling_probability", 1.1),
        ("sampling_probability", np.nan),
        ("steps", 0),
        ("steps", 2.5),
        ("orders", 1.0),
        ("orders", [2.0, 0.5]),
        ("orders", [2.0, np.nan]),
        ("orders", np.inf),
        ("orders", 1.1e6),
        ("orders", "two"),
        ("relation", "replace"),
    ],
)
def test_bad_input(name, value):
    good = {"noise_multiplier": 1.0, "sampling_probability": 0.1, "steps": 1, "orders": 2.0}
    with pytest.raises(ValueError, match=name):
        ask(Poisson, "rdp", **(good | {name: value}))


@pytest.mark.parametrize(
    ("name", "value"), [("noise_multiplier", 0.0), ("orders", 1.0), ("steps", 0)]
)
def test_bad_input_without_sampling(name, value):
    with pytest.raises(ValueError, match=name):
        ask(
            Poisson,
            "rdp",
            sampling_probability=1.0,
            **({"noise_multiplier": 1.0, "orders": 2.0} | {name: value}),
        )
