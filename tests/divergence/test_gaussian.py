"""The Gaussian mechanism against 400-digit arithmetic, brute-force integrals and itself."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdynamics.divergence import gaussian_delta, gaussian_epsilon, gaussian_noise_multiplier

MUS = [1e-200, 1e-12, 1e-6, 1e-3, 0.01, 0.1, 0.1249, 0.1251, 0.3, 1.0, 3.3, 10.0, 50.0, 100.0]
DELTAS = [1e-300, 1e-100, 1e-12, 1e-5, 0.1, 0.5, 0.9, 1 - 1e-12]
mus, deltas = st.floats(-6, 2).map(lambda x: 10.0**x), st.floats(-290, -0.01).map(lambda x: 10.0**x)
epsilons = st.floats(-12, 2).map(lambda x: 10.0**x)


def exact_delta(mu, epsilon):
    """The textbook difference, with digits enough to survive its cancellation."""
    with mpmath.workdps(700):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def relative(value, exact):
    with mpmath.workdps(700):
        return abs(float(value / exact - 1))


@pytest.mark.parametrize("mu", MUS)
def test_delta_keeps_its_digits_deep_in_the_tail(mu):
    deep = []
    for w in [0, 1e-12, 1e-3, 0.5, 1, 2, 5, 10, 20, 36, mu / 2, 0.99 * mu / 2, mu / 2 + 37]:
        exact = exact_delta(mu, mu * w)
        if exact > 1e-300:
            assert relative(gaussian_delta(mu=mu, epsilon=mu * w), exact) < 1e-12, w
            deep.append(float(exact))
    assert min(deep) < 1e-100


@pytest.mark.parametrize("mu", [1e-3, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("epsilon", [-50.0, -1.0, -1e-3, -1e-12])
def test_negative_epsilon(mu, epsilon):
    assert relative(gaussian_delta(mu=mu, epsilon=epsilon), exact_delta(mu, epsilon)) < 1e-12


@pytest.mark.parametrize(("mu", "epsilon"), [(1.0, 1.0), (0.2, 0.5), (2.0, -0.7), (0.05, 0.0)])
def test_the_hockey_stick_integral(mu, epsilon):
    with mpmath.workdps(50):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        start = e / m + m / 2  # where the density of N(mu, 1) exceeds e^eps times that of N(0, 1)
        stick = mpmath.quad(
            lambda x: mpmath.npdf(x, m) - mpmath.exp(e) * mpmath.npdf(x), [start, start + 2, 40]
        )
        assert relative(gaussian_delta(mu=mu, epsilon=epsilon), stick) < 1e-13


def test_the_difference_of_two_tails_would_not_do():
    from scipy.special import log_ndtr

    mu, epsilon = 1e-6, 2e-5
    naive = np.exp(log_ndtr(mu / 2 - epsilon / mu)) - np.exp(
        epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    )
    exact = exact_delta(mu, epsilon)
    assert relative(naive, exact) > 1e-9
    assert relative(gaussian_delta(mu=mu, epsilon=epsilon), exact) < 1e-12


def test_published_values():
    assert gaussian_noise_multiplier(epsilon=1.0, delta=1e-6) == pytest.approx(
        4.224678889326822, rel=1e-13
    )
    assert gaussian_epsilon(mu=1 / 4.530877117, delta=1e-6) == pytest.approx(0.92739234, abs=5e-9)
    assert gaussian_delta(mu=1.0, epsilon=1.0) == pytest.approx(0.126936737506644, rel=1e-13)


@pytest.mark.parametrize("noise_multiplier", [0.01, 0.3, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_the_smallest_one(noise_multiplier, delta):
    mu = 1 / noise_multiplier
    epsilon = gaussian_epsilon(mu=mu, delta=delta)
    if epsilon == 0:
        assert exact_delta(mu, 0) <= delta * (1 + 1e-12)
    else:
        assert relative(delta, exact_delta(mu, epsilon)) < 1e-12 * max(1, mu)


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 1e-3, 1.0, 100.0, 1000.0])
@pytest.mark.parametrize("delta", DELTAS)
def test_noise_multiplier_is_the_smallest_one(epsilon, delta):
    noise_multiplier = gaussian_noise_multiplier(epsilon=epsilon, delta=delta)
    with mpmath.workdps(400):
        mu = 1 / mpmath.mpf(noise_multiplier)
    assert relative(delta, exact_delta(mu, epsilon)) < 1e-12 * max(1, epsilon / 100)


def test_no_loss_at_all():
    assert gaussian_delta(mu=0.0, epsilon=[0.0, 3.0]).tolist() == [0, 0]
    assert gaussian_delta(mu=0.0, epsilon=-1.0) == pytest.approx(1 - np.exp(-1), rel=1e-15)
    assert gaussian_epsilon(mu=0.0, delta=1e-300) == 0


def test_beyond_the_floats():
    assert gaussian_delta(mu=1.0, epsilon=1000.0) == 0
    assert gaussian_delta(mu=1e-300, epsilon=1e300) == 0
    assert gaussian_delta(mu=1e200, epsilon=0.0) == 1
    assert gaussian_delta(mu=1.0, epsilon=-1000.0) == 1


@settings(max_examples=60)
@given(mus, epsilons, st.floats(1e-9, 3))
def test_delta_is_monotone(mu, epsilon, step):
    here = gaussian_delta(mu=mu, epsilon=epsilon)
    slack = 1 + 1e-11
    assert 0 <= here <= 1
    assert gaussian_delta(mu=mu, epsilon=epsilon * (1 + step)) <= here * slack
    assert gaussian_delta(mu=mu * (1 + step), epsilon=epsilon) * slack >= here


@settings(max_examples=40)
@given(mus, deltas, st.floats(1e-6, 3))
def test_epsilon_is_monotone(mu, delta, step):
    here = gaussian_epsilon(mu=mu, delta=delta)
    assert gaussian_epsilon(mu=mu * (1 + step), delta=delta) >= here
    assert gaussian_epsilon(mu=mu, delta=min(delta * (1 + step), 1 - 1e-16)) <= here


@settings(max_examples=60)
@given(mus, deltas)
def test_epsilon_and_delta_are_inverse(mu, delta):
    epsilon = gaussian_epsilon(mu=mu, delta=delta)
    back = gaussian_delta(mu=mu, epsilon=epsilon)
    assert back <= delta * (1 + 1e-10)
    if epsilon > 0:
        assert back == pytest.approx(delta, rel=1e-10)


@settings(max_examples=60)
@given(epsilons, deltas, st.floats(1e-6, 1))
def test_noise_multiplier_and_epsilon_are_inverse(epsilon, delta, less):
    noise_multiplier = gaussian_noise_multiplier(epsilon=epsilon, delta=delta)
    mu = 1 / noise_multiplier
    assert gaussian_delta(mu=mu, epsilon=epsilon) == pytest.approx(delta, rel=1e-10)
    assert gaussian_epsilon(mu=mu, delta=delta) == pytest.approx(epsilon, rel=1e-9, abs=1e-12)
    assert gaussian_noise_multiplier(epsilon=epsilon * (1 + less), delta=delta) <= noise_multiplier


def test_arguments_broadcast():
    mu, epsilon = np.array([[0.5], [1.0]]), np.array([0.1, 1.0, 3.0])
    table = gaussian_delta(mu=mu, epsilon=epsilon)
    assert table.shape == (2, 3)
    assert table[1, 1] == gaussian_delta(mu=1.0, epsilon=1.0)
    assert gaussian_epsilon(mu=mu, delta=table) == pytest.approx(
        np.broadcast_to(epsilon, (2, 3)), rel=1e-11
    )
    assert gaussian_noise_multiplier(epsilon=epsilon, delta=table) == pytest.approx(
        np.broadcast_to(1 / mu, (2, 3)), rel=1e-11
    )
    assert gaussian_epsilon(mu=np.ones(0), delta=0.1).shape == (0,)
    for value in (
        gaussian_delta(mu=1, epsilon=1),
        gaussian_epsilon(mu=1, delta=0.1),
        gaussian_noise_multiplier(epsilon=1, delta=0.1),
    ):
        assert type(value) is float


@pytest.mark.parametrize(
    ("function", "arguments", "named"),
    [
        (gaussian_delta, {"mu": -1.0, "epsilon": 1.0}, "mu"),
        (gaussian_delta, {"mu": np.inf, "epsilon": 1.0}, "mu"),
        (gaussian_delta, {"mu": 1.0, "epsilon": np.nan}, "epsilon"),
        (gaussian_delta, {"mu": 1.0, "epsilon": np.inf}, "epsilon"),
        (gaussian_epsilon, {"mu": -1.0, "delta": 0.1}, "mu"),
        (gaussian_epsilon, {"mu": 1.0, "delta": 0.0}, "delta"),
        (gaussian_epsilon, {"mu": 1.0, "delta": [0.1, 1.0]}, "delta"),
        (gaussian_noise_multiplier, {"epsilon": -1e-9, "delta": 0.1}, "epsilon"),
        (gaussian_noise_multiplier, {"epsilon": 1.0, "delta": 1.0}, "delta"),
        (gaussian_noise_multiplier, {"epsilon": 1.0, "delta": "small"}, "delta"),
    ],
)
def test_bad_input(function, arguments, named):
    with pytest.raises(ValueError, match=named):
        function(**arguments)
