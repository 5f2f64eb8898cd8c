"""Subsampled Gaussian divergences against dp-accounting 0.6 and Opacus 1.6; mpmath decides.

What the peers do at fractional orders, with the numbers below:

* dp-accounting adds the absolute values of an alternating binomial series. Its value is a bound,
  the looser the more the negative terms count, and may be inf. Privacy is safe, epsilon too large.
* Opacus keeps the signs, but stops as soon as two terms are below e^-30, which the first ones can
  be: the value is then too small, even negative. Epsilon is too small.
"""

import warnings

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.rdp import RdpAccountant
from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon
from opacus.accountants import RDPAccountant as OpacusAccountant
from opacus.accountants.analysis.rdp import compute_rdp, get_privacy_spent

from accounting.subsampled_reference import exact_rdp, exact_rdp_whole
from dpdynamics.accounting import Poisson

CASES = [(1e-3, 0.6), (0.01, 1.0), (0.01, 2.5), (0.04, 1.5), (0.1, 5.0), (0.9, 3.0)]


def ours(q, sigma, orders, steps=1):
    return Poisson(sampling_probability=q, steps=steps).rdp(noise_multiplier=sigma, orders=orders)


def dp_accounting(q, sigma, orders, steps=1):
    accountant = RdpAccountant(orders)
    accountant.compose(PoissonSampledDpEvent(q, GaussianDpEvent(sigma)), steps)
    return accountant._rdp


def opacus(q, sigma, orders, steps=1):
    return np.array(compute_rdp(q=q, noise_multiplier=sigma, steps=steps, orders=orders))


@pytest.mark.parametrize("peer", [dp_accounting, opacus])
@pytest.mark.parametrize(("q", "sigma"), CASES)
def test_whole_orders(q, sigma, peer):
    orders = [*range(2, 64), 128, 256, 512]
    assert ours(q, sigma, orders, 1000) == pytest.approx(peer(q, sigma, orders, 1000), rel=1e-7)


@pytest.mark.parametrize(("q", "sigma"), CASES)
def test_default_orders_of_opacus(q, sigma):
    orders = OpacusAccountant.DEFAULT_ALPHAS
    assert len(orders) == 151
    assert ours(q, sigma, orders, 1000) == pytest.approx(opacus(q, sigma, orders, 1000), rel=1e-6)


# (q, noise multiplier, order), mpmath, dp-accounting
LOOSE = [
    ((0.01, 1.0, 1.1), 9.24147108469e-05, 9.92471102118e-05),
    ((0.01, 2.5, 1.5), 1.30014179438e-05, 1.34115948134e-05),
    ((0.01, 2.5, 2.5), 2.17083611384e-05, 2.17097420878e-05),
    ((0.04, 1.5, 1.1), 4.81656740034e-04, 5.69199374762e-04),
    ((0.1, 5.0, 1.5), 3.05452587366e-04, 6.36528109533e-04),
    ((0.3, 100.0, 1.5), 6.75023625259e-06, 1.192750994e-02),
    ((0.1, 1.0, 1.1), 8.09856846807e-03, np.inf),
    ((0.05, 0.5, 1.5), 4.5471954941e-02, np.inf),
]

# (q, noise multiplier, order), mpmath, Opacus
LOW = [
    ((0.3, 10.0, 100.5), 5.80628975048e-02, -0.360259616742),
    ((0.7, 30.0, 256.1), 7.39960052008e-02, -0.215795343127),
    ((0.5, 100.0, 100.5), 1.25939844e-03, -0.693720405554),
]


@pytest.mark.parametrize(("case", "exact", "theirs"), LOOSE)
def test_dp_accounting_is_loose_at_fractional_orders(case, exact, theirs):
    q, sigma, order = case
    decided = exact_rdp(q, sigma, order)
    assert decided == pytest.approx(exact, rel=1e-11)
    assert ours(q, sigma, order) == pytest.approx(decided, rel=2e-12)
    assert opacus(q, sigma, [order])[0] == pytest.approx(decided, rel=1e-6)
    assert dp_accounting(q, sigma, [order])[0] == pytest.approx(theirs, rel=1e-9)
    assert theirs > decided * (1 + 5e-5)


@pytest.mark.parametrize(("case", "exact", "theirs"), LOW)
def test_opacus_is_too_low_at_large_fractional_orders(case, exact, theirs):
    q, sigma, order = case
    decided = exact_rdp(q, sigma, order)
    assert decided == pytest.approx(exact, rel=1e-11)
    below, above = exact_rdp_whole(q, sigma, int(order)), exact_rdp_whole(q, sigma, int(order) + 1)
    assert below < decided < above
    assert ours(q, sigma, order) == pytest.approx(decided, rel=2e-12)
    assert dp_accounting(q, sigma, [order])[0] == pytest.approx(decided, rel=1e-9)
    assert opacus(q, sigma, [order])[0] == pytest.approx(theirs, rel=1e-9)


def test_a_published_reference_value_is_a_bound():
    # rdp_privacy_accountant_test.py of dp-accounting expects these for 50 steps.
    orders, printed = [1.5, 2.5], [6.70579741e-4, 1.08548710e-3]
    exact = [50 * exact_rdp(0.01, 2.5, order) for order in orders]
    assert exact == pytest.approx([6.50070897e-4, 1.08541806e-3], rel=1e-8)
    assert dp_accounting(0.01, 2.5, orders, 50) == pytest.approx(printed, rel=1e-8)
    assert ours(0.01, 2.5, orders, 50) == pytest.approx(exact, rel=1e-11)
    assert opacus(0.01, 2.5, orders, 50) == pytest.approx(exact, rel=1e-7)


def test_what_the_loose_bound_costs():
    # q = 0.2, noise multiplier 0.5, 100 steps, delta 1e-5; the same orders, the same conversion.
    accountant = RdpAccountant()
    accountant.compose(PoissonSampledDpEvent(0.2, GaussianDpEvent(0.5)), 100)
    orders = np.asarray(accountant._orders, dtype=float)
    mended, best = compute_epsilon(orders, ours(0.2, 0.5, orders, 100), 1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        third = get_privacy_spent(
            orders=orders, rdp=opacus(0.2, 0.5, orders.tolist(), 100), delta=1e-5
        )
    assert exact_rdp(0.2, 0.5, best) * 100 == pytest.approx(ours(0.2, 0.5, best, 100), rel=1e-11)
    assert mended == pytest.approx(62.5930669, abs=1e-6)
    assert third == pytest.approx((mended, best), rel=1e-6)
    assert accountant.get_epsilon(1e-5) == pytest.approx(79.8370216, abs=1e-6)


def test_tiny_divergences():
    # Both peers form ln A with A = 1 + 2.7e-16 here: mpmath has D = 2.65807e-9, they had 2.338e-9
    # and 2.793e-9.
    case = 1e-5, 0.5, 1 + 1e-7
    exact = exact_rdp(*case)
    assert exact == pytest.approx(2.65807060613e-9, rel=1e-11, abs=0)
    assert ours(*case) == pytest.approx(exact, rel=2e-12, abs=0)
    q, sigma, order = case
    for peer in (dp_accounting, opacus):
        assert peer(q, sigma, [order])[0] != pytest.approx(exact, rel=1e-3, abs=0)
