"""Conversions against closed forms, small discrete pairs, minimisation and published values."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from dpdynamics.divergence import (
    epsilon_to_zcdp,
    gaussian_delta,
    gaussian_epsilon,
    rdp_to_delta,
    rdp_to_epsilon,
    zcdp_to_delta,
    zcdp_to_epsilon,
)

ORDERS = 1 + np.geomspace(1e-3, 1e4, 3000)
BOTH = pytest.mark.parametrize("conversion", ["tight", "mironov"])
kinds = st.sampled_from(["tight", "mironov"])
rhos, small = st.floats(-8, 2).map(lambda x: 10.0**x), st.floats(-8, 1).map(lambda x: 10.0**x)
deltas = st.floats(-100, -0.01).map(lambda x: 10.0**x)
weights = st.lists(st.floats(0.02, 1), min_size=6, max_size=6)


def discrete_pair(values):
    p, q = np.reshape(values, (2, 3))
    return p / p.sum(), q / q.sum()


def stick(p, q):
    """The profile of a discrete pair."""
    return lambda e: np.maximum(p - np.exp(np.minimum(e, 600))[..., None] * q, 0).sum(axis=-1)


def discrete_renyi(p, q, order):
    return float(np.log(np.sum(p**order * q ** (1 - order))) / (order - 1))


# --- Renyi and concentrated privacy to (epsilon, delta) -------------------------------------------


@pytest.mark.parametrize("order", [1.1, 2.0, 7.5, 100.0])
def test_the_tight_constant_is_the_best_one_for_a_moment(order):
    best = minimize_scalar(
        lambda z: np.expm1(-z) * np.exp(-(order - 1) * z), bounds=(0, 20), method="bounded",
        options={"xatol": 1e-12},
    )  # fmt: skip
    delta = rdp_to_delta(orders=[order], rdp=[0.1], epsilon=1.0)
    assert delta == pytest.approx(min(1, -best.fun * np.exp((order - 1) * (0.1 - 1))), rel=1e-9)


def test_a_law_that_attains_the_tight_constant():
    # The loss takes one finite value z, else it is minus infinity: P(loss = z) and its image in Q.
    order, epsilon, mass = 3.0, 1.0, 0.2
    z = epsilon + np.log(order / (order - 1))
    p, q = np.array([mass, 1 - mass]), np.array([mass * np.exp(-z), 1 - mass * np.exp(-z)])
    moment = np.log(mass) / (order - 1) + z  # of the first point alone
    delta = rdp_to_delta(orders=[order], rdp=[moment], epsilon=epsilon)
    assert delta == pytest.approx(float(stick(p, q)(np.array(epsilon))), rel=1e-12)


@BOTH
def test_curves_of_the_gaussian_mechanism(conversion):
    refuted = 0
    for mu in [0.01, 0.3, 1.0, 4.0]:
        for delta in [1e-2, 1e-5, 1e-12]:
            rdp = ORDERS * mu**2 / 2
            epsilon = rdp_to_epsilon(orders=ORDERS, rdp=rdp, delta=delta, conversion=conversion)
            best = zcdp_to_epsilon(rho=mu**2 / 2, delta=delta, conversion=conversion)
            assert best <= epsilon + 1e-12
            assert epsilon == pytest.approx(best, rel=1e-4, abs=1e-12)
            assert best >= gaussian_epsilon(mu=mu, delta=delta)
            # Half of the second term would claim too much.
            wrong = np.min(rdp + np.log(1 / delta) / (ORDERS - 1) / 2)
            refuted += wrong < gaussian_epsilon(mu=mu, delta=delta)
    assert refuted >= 6


@settings(max_examples=60)
@given(rhos, deltas)
def test_concentrated_privacy_against_fifty_digits(rho, delta):
    with mpmath.workdps(50):
        r, goal = mpmath.mpf(rho), -mpmath.log(delta)
        s = mpmath.findroot(
            lambda s: r * s**2 + mpmath.log1p(s) - goal, (0, mpmath.sqrt(goal / r)),
            solver="anderson", tol=1e-40, maxsteps=2000, verify=False,
        )  # fmt: skip
        at = lambda s: (1 + s) * r + mpmath.log(s / (1 + s)) + (goal - mpmath.log1p(s)) / s  # noqa: E731
        assert at(s) <= min(at(s * 1.01), at(s / 1.01))
        exact = max(0.0, float(at(s)))
    assert zcdp_to_epsilon(rho=rho, delta=delta) == pytest.approx(exact, rel=1e-10, abs=1e-12)
    printed = zcdp_to_epsilon(rho=rho, delta=delta, conversion="mironov")
    assert printed == pytest.approx(rho + 2 * np.sqrt(-rho * np.log(delta)), rel=1e-14)
    assert printed >= exact >= gaussian_epsilon(mu=np.sqrt(2 * rho), delta=delta) * (1 - 1e-9)


@settings(max_examples=60)
@given(rhos, deltas, kinds)
def test_concentrated_round_trips(rho, delta, conversion):
    epsilon = zcdp_to_epsilon(rho=rho, delta=delta, conversion=conversion)
    back = zcdp_to_delta(rho=rho, epsilon=epsilon, conversion=conversion)
    budget = epsilon_to_zcdp(epsilon=epsilon, delta=delta, conversion=conversion)
    assert back <= delta * (1 + 1e-9)
    assert budget >= rho * (1 - 1e-9)
    if epsilon > 1e-6:
        assert back == pytest.approx(delta, rel=1e-7)
        assert budget == pytest.approx(rho, rel=1e-7)
    spent = zcdp_to_epsilon(rho=budget, delta=delta, conversion=conversion)
    assert spent <= epsilon * (1 + 1e-9) + 1e-12


@settings(max_examples=60)
@given(rhos, st.floats(0, 50), kinds)
def test_concentrated_delta_is_a_bound(rho, epsilon, conversion):
    delta = zcdp_to_delta(rho=rho, epsilon=epsilon, conversion=conversion)
    assert gaussian_delta(mu=np.sqrt(2 * rho), epsilon=epsilon) <= delta * (1 + 1e-9) <= 1 + 1e-9
    on_a_grid = rdp_to_delta(
        orders=ORDERS, rdp=rho * ORDERS, epsilon=epsilon, conversion=conversion
    )
    assert delta <= on_a_grid * (1 + 1e-9)


@settings(max_examples=60)
@given(rhos, deltas, st.floats(1e-6, 3), kinds)
def test_concentrated_conversions_are_monotone(rho, delta, step, conversion):
    epsilon = zcdp_to_epsilon(rho=rho, delta=delta, conversion=conversion)
    more = zcdp_to_epsilon(rho=rho * (1 + step), delta=delta, conversion=conversion)
    looser = zcdp_to_epsilon(rho=rho, delta=delta + step / 4 * (1 - delta), conversion=conversion)
    assert looser <= epsilon + 1e-12
    assert epsilon <= more + 1e-12
    budget = epsilon_to_zcdp(epsilon=epsilon, delta=delta, conversion=conversion)
    assert budget <= epsilon_to_zcdp(epsilon=epsilon + step, delta=delta, conversion=conversion)


@settings(max_examples=60)
@given(weights, deltas, kinds)
def test_renyi_curves_of_discrete_pairs(values, delta, conversion):
    p, q = discrete_pair(values)
    orders = 1 + np.geomspace(0.01, 100, 60)
    rdp = np.maximum([discrete_renyi(p, q, a) for a in orders], 0)
    epsilon = rdp_to_epsilon(orders=orders, rdp=rdp, delta=delta, conversion=conversion)
    assert stick(p, q)(np.array(epsilon)) <= delta * (1 + 1e-9)
    back = rdp_to_delta(orders=orders, rdp=rdp, epsilon=epsilon, conversion=conversion)
    assert back <= delta * (1 + 1e-9)
    again = rdp_to_epsilon(orders=orders, rdp=rdp, delta=max(back, 1e-300), conversion=conversion)
    assert again >= epsilon - 1e-9
    if epsilon > 0:
        assert back == pytest.approx(delta, rel=1e-9)
    for level in [0.0, 0.1, 1.0]:
        certified = rdp_to_delta(orders=orders, rdp=rdp, epsilon=level, conversion=conversion)
        assert stick(p, q)(np.array(level)) <= certified


def test_infinite_orders_and_shapes():
    rdp = np.array([[0.1, np.inf], [np.inf, np.inf], [0.0, 0.0]])
    table = rdp_to_epsilon(orders=[2.0, 8.0], rdp=rdp, delta=1e-3)
    assert table.shape == (3,)
    assert table[0] == rdp_to_epsilon(orders=[2.0], rdp=[0.1], delta=1e-3)
    assert table[1] == np.inf
    assert rdp_to_delta(orders=[2.0, 8.0], rdp=rdp, epsilon=1.0)[1] == 1
    assert rdp_to_epsilon(orders=[2.0], rdp=[0.1], delta=[1e-3, 1e-4]).shape == (2,)
    assert zcdp_to_epsilon(rho=[[0.1], [0.0]], delta=[1e-3, 1e-4]).shape == (2, 2)
    assert zcdp_to_epsilon(rho=0.0, delta=1e-9) == zcdp_to_delta(rho=0.0, epsilon=0.0) == 0
    assert epsilon_to_zcdp(epsilon=0.0, delta=0.1, conversion="mironov") == 0
    assert type(zcdp_to_epsilon(rho=1, delta=0.1)) is float


@pytest.mark.parametrize("rho", [1e-12, 0.5, 1e4])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 0.999])
def test_extreme_budgets(rho, delta):
    epsilon = zcdp_to_epsilon(rho=rho, delta=delta)
    assert gaussian_epsilon(mu=np.sqrt(2 * rho), delta=delta) <= epsilon
    assert zcdp_to_delta(rho=rho, epsilon=epsilon) <= delta * (1 + 1e-11)
    assert epsilon_to_zcdp(epsilon=epsilon, delta=delta) >= rho * (1 - 1e-11)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: rdp_to_epsilon(orders=[1.0], rdp=[0.1], delta=0.1), "orders"),
        (lambda: rdp_to_epsilon(orders=[2.0, 3.0], rdp=[0.1], delta=0.1), "rdp"),
        (lambda: rdp_to_epsilon(orders=2.0, rdp=0.1, delta=0.1), "rdp"),
        (lambda: rdp_to_epsilon(orders=[2.0], rdp=[-0.1], delta=0.1), "rdp"),
        (lambda: rdp_to_epsilon(orders=[2.0], rdp=[np.nan], delta=0.1), "rdp"),
        (lambda: rdp_to_epsilon(orders=[2.0], rdp=[0.1], delta=0.0), "delta"),
        (lambda: rdp_to_epsilon(orders=[2.0], rdp=[1], delta=0.1, conversion="x"), "conversion"),
        (lambda: rdp_to_delta(orders=[2.0], rdp=[0.1], epsilon=-1.0), "epsilon"),
        (lambda: zcdp_to_epsilon(rho=-0.1, delta=0.1), "rho"),
        (lambda: zcdp_to_epsilon(rho=0.1, delta=1.0), "delta"),
        (lambda: zcdp_to_delta(rho=0.1, epsilon=np.inf), "epsilon"),
        (lambda: zcdp_to_delta(rho=0.1, epsilon=1.0, conversion="loose"), "conversion"),
        (lambda: epsilon_to_zcdp(epsilon=-1.0, delta=0.1), "epsilon"),
    ],
)  # fmt: skip
def test_bad_input(call, named):
    with pytest.raises(ValueError, match=named):
        call()
