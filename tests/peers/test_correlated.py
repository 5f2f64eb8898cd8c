"""The composition of a block pair against the accountant for mixtures of normals."""

import pytest
from dp_accounting.pld.privacy_loss_distribution import from_mixture_gaussian_mechanism

from dpdynamics.accounting import CorrelatedPoisson


@pytest.mark.parametrize(
    ("correlation", "block", "count", "noise", "epsilon", "mesh"),
    [(0.9, 3, 134, 76.2, 1.0, 2e-4), (0.9, 4, 100, 13.5, 8.0, 2e-3), (0.5, 2, 20, 2.5, 3.0, 1e-3)],
)
def test_mixtures(correlation, block, count, noise, epsilon, mesh):
    run = CorrelatedPoisson(correlation=correlation, sampling_probability=0.1, steps=count * block)
    one = run.block_pair(block=block)
    pair = one.scaled(noise)
    ours = max(pair.composed_delta(count, epsilon, name) for name in ("remove", "add"))
    above, below = (
        from_mixture_gaussian_mechanism(
            standard_deviation=noise,
            sensitivities=one.means,
            sampling_probs=one.weights,
            value_discretization_interval=mesh,
            pessimistic_estimate=pessimistic,
            use_connect_dots=pessimistic,
        )
        .self_compose(count)
        .get_delta_for_epsilon(epsilon)
        for pessimistic in (True, False)
    )
    assert below <= ours
    assert ours == pytest.approx(above, rel=4e-4)
