import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdynamics.divergence.gaussian import gaussian_delta, gaussian_epsilon
from dpdynamics.numerics.inversion import (
    InversionError,
    epsilon_inversion,
    hockey_stick_inversion,
    hockey_stick_talbot,
    saddle_at_delta,
    saddle_at_epsilon,
)


def _gaussian(mu):
    """ln M of N(mu^2/2, mu^2), the loss of the Gaussian mechanism."""

    def cumulants(first, second, fineness=1.0):
        z = np.add.outer(first, second)
        return z * (1 + z) * mu**2 / 2

    return cumulants


def _exact(mu, epsilon):
    with mp.workdps(40):
        mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
        u = epsilon / mu - mu / 2
        return mp.ncdf(-u) - mp.exp(epsilon) * mp.ncdf(-u - mu)


@pytest.mark.parametrize("y", [-3.0, -0.2, 0.2, 3.0])
def test_the_kernel_is_the_hockey_stick(y):
    with mp.workdps(20):
        # The two arms of the line are turned towards the half-plane where exp(z y) decays.
        c, turn = mp.mpf(1) / 2, mp.expjpi(mp.mpf(1) / 2 + mp.sign(y) * mp.mpf(1) / 8)

        def arm(r):
            z = c + r * turn
            return mp.exp(z * y) / (z * (z + 1)) * turn

        value = mp.quad(arm, [0, 1, 10, 100, mp.inf]).imag / mp.pi
        assert abs(value - max(1 - mp.exp(-y), 0)) < 1e-12


@pytest.mark.parametrize("mu", [1e-3, 0.05, 1.0, 8.0])
@pytest.mark.parametrize("place", [-4.0, -1.0, 0.0, 2.0, 7.0, 20.0])
def test_gaussian_loss(mu, place):
    epsilon = mu**2 / 2 + mu * place
    exact = float(_exact(mu, epsilon))
    for result in (
        hockey_stick_inversion(_gaussian(mu), epsilon),
        hockey_stick_talbot(lambda z: _gaussian(mu)(z, 0.0), epsilon),
    ):
        assert result.value == pytest.approx(exact, rel=1e-9)
        assert abs(result.value - exact) <= 10 * result.error + 1e-12 * exact
        assert result.error > 0


@pytest.mark.parametrize("epsilon", [-30.0, -5.0, -0.1])
def test_negative_epsilon(epsilon):
    value = hockey_stick_inversion(_gaussian(1.0), epsilon).value
    assert value == pytest.approx(float(_exact(1.0, epsilon)), rel=1e-10)


@settings(max_examples=40)
@given(mu=st.floats(1e-3, 10).filter(lambda mu: mu > 0), log_delta=st.floats(np.log(1e-200), -0.8))
def test_epsilon_inverts_delta(mu, log_delta):
    delta = float(np.exp(log_delta))
    epsilon, error = epsilon_inversion(_gaussian(mu), delta)
    assert hockey_stick_inversion(_gaussian(mu), epsilon).value == pytest.approx(delta, rel=1e-6)
    if epsilon > 0:
        exact = gaussian_epsilon(mu=mu, delta=delta)
        assert abs(epsilon - exact) <= 1e-8 * max(exact, mu)
        assert error <= 1e-8 * max(exact, mu)


def test_below_the_floats_is_zero():
    assert hockey_stick_inversion(_gaussian(1.0), 60.0).value == 0.0
    assert gaussian_delta(mu=1.0, epsilon=60.0) == 0.0


def test_an_atom_is_refused():
    # Randomised response: M does not decay at all along the line.
    p, loss = 0.75, np.log(3)

    def cumulants(first, second, fineness):
        z = np.add.outer(first, second)
        return np.log(p * np.exp(z * loss) + (1 - p) * np.exp(-z * loss))

    with pytest.raises(InversionError):
        hockey_stick_inversion(cumulants, 0.5, rtol=1e-12)


def test_a_loss_that_changes_with_the_fineness_is_refused():
    def cumulants(first, second, fineness):
        z = np.add.outer(first, second)
        return z * (1 + z) / 2 + 1e-3 * fineness * z

    with pytest.raises(InversionError, match="accuracy"):
        hockey_stick_inversion(cumulants, 1.0)


def test_saddle_points_are_minima_and_the_approximation_is_close():
    cumulants = _gaussian(1.0)
    c = saddle_at_epsilon(cumulants, 2.0).center

    def height(x):
        return x * (1 + x) / 2 - 2 * x - np.log(x) - np.log1p(x)

    nearby = c * np.exp(np.linspace(-1, 1, 201))
    assert height(c) <= height(nearby).min() + 1e-3
    saddle = saddle_at_delta(cumulants, 1e-6)
    assert saddle.log_delta == pytest.approx(np.log(1e-6), abs=0.1)
    assert gaussian_delta(mu=1.0, epsilon=saddle.epsilon) == pytest.approx(1e-6, rel=0.2)


@pytest.mark.parametrize("below", [0.1, 0.02])
def test_a_transform_that_decays_slowly_is_followed_far_enough(below):
    """The loss is a sum of four uniform variables; M decays as z^-4 along the line."""

    def cumulants(first, second, fineness=1.0):
        z = np.add.outer(first, second)
        right = np.where(z.real > 0, z, -z)  # no exponential of a large number
        return 4 * np.log((1 - np.exp(-right)) / right) + 4 * np.where(z.real > 0, z, 0)

    with mp.workdps(30):
        exact = mp.quad(lambda s: s**3 / 6 * (1 - mp.exp(s - below)), [0, below])
    result = hockey_stick_inversion(cumulants, 4 - below, rtol=1e-11)
    assert result.value == pytest.approx(float(exact), rel=1e-11)
