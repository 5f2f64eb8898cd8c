"""The Gaussian mechanism and the conversions against dp_accounting.

Where the peers lose digits, ours is compared with a 700-digit evaluation and theirs is shown to be
the one that is off.
"""

import mpmath
import numpy as np
import pytest
from dp_accounting import gaussian_mechanism
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant

from dpdynamics.divergence import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_noise_multiplier,
    rdp_to_delta,
    rdp_to_epsilon,
)


def exact_delta(mu, epsilon):
    with mpmath.workdps(700):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0, 100.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_epsilon(sigma, delta):
    theirs = gaussian_mechanism.get_epsilon_gaussian(sigma, delta)
    ours = gaussian_epsilon(mu=1 / sigma, delta=delta)
    assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_noise_multiplier(epsilon, delta):
    theirs = gaussian_mechanism.get_sigma_gaussian(epsilon, delta)
    ours = gaussian_noise_multiplier(epsilon=epsilon, delta=delta)
    assert ours == pytest.approx(theirs, rel=1e-8)


def test_where_theirs_loses_digits_the_exact_value_sides_with_ours():
    sigma, epsilon = 1e6, 2e-5
    ours = gaussian_delta(mu=1 / sigma, epsilon=epsilon)
    theirs = np.exp(gaussian_mechanism._get_log_delta(sigma, epsilon))
    exact = exact_delta(1 / sigma, epsilon)
    assert abs(float(ours / exact - 1)) < 1e-12
    assert abs(float(theirs / exact - 1)) > 1e-10


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
def test_their_loss_distribution_lies_just_above(sigma):
    pld = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, value_discretization_interval=1e-4
    )
    for epsilon in [0.0, 0.5, 1.0, 3.0]:
        exact = gaussian_delta(mu=1 / sigma, epsilon=epsilon)
        theirs = pld.get_delta_for_epsilon(epsilon)
        assert exact * (1 - 1e-9) <= theirs <= exact * 1.001 + 1e-10


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10])
def test_conversion_of_a_renyi_curve(sigma, delta):
    orders = np.array([1.5, 2.0, 4.0, 8.5, 16.0, 64.0, 256.0])
    curve = orders / (2 * sigma**2)
    theirs, _ = rdp_privacy_accountant.compute_epsilon(orders, curve, delta)
    ours = rdp_to_epsilon(orders=orders, rdp=curve, delta=delta)
    assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-14)
    for epsilon in [0.5, 2.0, 8.0]:
        # They also use delta <= sqrt(1 - exp(-D)), which we leave out.
        theirs, _ = rdp_privacy_accountant.compute_delta(orders, curve, epsilon)
        ours = rdp_to_delta(orders=orders, rdp=curve, epsilon=epsilon)
        assert min(ours, np.sqrt(-np.expm1(-curve[0]))) == pytest.approx(theirs, rel=1e-12)
