"""Other accountants bracket ours, and close in as their mesh is refined."""

from functools import cache, reduce

import dp_accounting as dp
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant, privacy_loss_distribution
from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

from dpdynamics.accounting import Poisson, compose

SETTINGS = [
    (0.8, 0.01, 1000, 1e-5),
    (1.0, 0.01, 10_000, 1e-5),
    (2.0, 0.01, 1000, 1e-5),
    (1.5, 0.04, 2250, 1e-5),
    (0.5, 0.2, 3, 1e-2),
    (5.0, 0.3, 200, 1e-8),
]


@cache
def _pld(noise, q, steps, mesh, pessimistic):
    one = privacy_loss_distribution.from_gaussian_mechanism(
        noise,
        sampling_prob=q,
        value_discretization_interval=mesh,
        pessimistic_estimate=pessimistic,
        use_connect_dots=pessimistic,
    )
    return one.self_compose(steps)


@pytest.mark.parametrize(("noise", "q", "steps", "delta"), SETTINGS)
def test_between_the_estimates_of_dp_accounting(noise, q, steps, delta):
    epsilon = Poisson(sampling_probability=q, steps=steps).epsilon(
        noise_multiplier=noise, delta=delta
    )
    gaps = []
    for mesh in (1e-3, 1e-4):
        above = _pld(noise, q, steps, mesh, True).get_epsilon_for_delta(delta)
        below = _pld(noise, q, steps, mesh, False).get_epsilon_for_delta(delta)
        # its convolution truncates 1e-15 of the mass: a little slack
        assert below <= epsilon * (1 + 1e-9) + 1e-9
        assert above >= epsilon * (1 - 1e-7) - 1e-9
        gaps.append(above - epsilon)
    assert gaps[1] < gaps[0] / 20  # of second order in the mesh
    assert gaps[1] < 2e-5 * max(epsilon, 1.0) * max(1.0, steps * 1e-4)


@pytest.mark.parametrize(("noise", "q", "steps", "delta"), SETTINGS)
def test_each_direction(noise, q, steps, delta):
    pld = _pld(noise, q, steps, 1e-4, True)
    epsilons = np.array([0.3, 1.0])
    for relation, pmf in (("remove", pld._pmf_remove), ("add", pld._pmf_add)):
        ours = Poisson(sampling_probability=q, steps=steps, relation=relation).delta(
            noise_multiplier=noise, epsilon=epsilons
        )
        theirs = np.array([pmf.get_delta_for_epsilon(e) for e in epsilons])
        np.testing.assert_allclose(theirs, ours, rtol=2e-3, atol=1e-13)
        assert np.all(theirs >= ours * (1 - 1e-6) - 1e-13)


@pytest.mark.parametrize(("noise", "q", "steps", "delta"), SETTINGS[:4])
def test_between_the_bounds_of_prv(noise, q, steps, delta):
    accountant = PRVAccountant(
        prvs=PoissonSubsampledGaussianMechanism(noise_multiplier=noise, sampling_probability=q),
        max_self_compositions=steps,
        eps_error=0.01,
        delta_error=delta * 1e-3,
    )
    low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=[steps])
    epsilon = Poisson(sampling_probability=q, steps=steps, relation="remove").epsilon(
        noise_multiplier=noise, delta=delta
    )
    assert low <= epsilon <= high


def test_calibration():
    ours = Poisson(sampling_probability=0.01, steps=1000).noise_for(epsilon=2.0, delta=1e-5)
    theirs = dp.calibrate_dp_mechanism(
        PLDAccountant,
        lambda noise: dp.SelfComposedDpEvent(
            dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(noise)), 1000
        ),
        2.0,
        1e-5,
        tol=1e-4,
    )
    assert ours <= theirs + 1e-6
    assert theirs == pytest.approx(ours, abs=3e-4)


def test_a_mix_of_runs():
    """A third of the steps at twice the noise, and ten plain releases."""
    runs = [(2.0, 0.01, 1000), (1.0, 0.01, 2000), (20.0, 1.0, 10)]
    ours = compose(*((Poisson(sampling_probability=q, steps=k), s) for s, q, k in runs))
    above, below = (
        reduce(lambda a, b: a.compose(b), (_pld(s, q, k, 1e-4, end) for s, q, k in runs))
        for end in (True, False)
    )
    epsilon = ours.epsilon(delta=1e-6)
    assert below.get_epsilon_for_delta(1e-6) <= epsilon * (1 + 1e-9)
    assert above.get_epsilon_for_delta(1e-6) >= epsilon * (1 - 1e-7)
    assert above.get_epsilon_for_delta(1e-6) == pytest.approx(epsilon, rel=1e-3)
    for value in (0.5, 2.0):
        low, high = (pld.get_delta_for_epsilon(value) for pld in (below, above))
        assert low * (1 - 1e-6) <= ours.delta(epsilon=value) <= high * (1 + 1e-6)
