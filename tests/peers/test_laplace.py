"""The Laplace mechanism against the privacy loss distributions of dp_accounting."""

import pytest
from dp_accounting.pld import privacy_loss_distribution

from dpdynamics.accounting import Poisson
from dpdynamics.divergence import Laplace

MESH = 1e-4


@pytest.mark.parametrize("relation", ["remove", "add"])
@pytest.mark.parametrize(("b", "q", "steps"), [(2.0, 1.0, 1), (5.0, 1.0, 20), (1.0, 0.1, 200)])
def test_their_distribution_lies_just_above(b, q, steps, relation):
    both = privacy_loss_distribution.from_laplace_mechanism(
        b, sampling_prob=q, value_discretization_interval=MESH
    )
    pmf = both._pmf_remove if relation == "remove" else both._pmf_add
    theirs = pmf.self_compose(steps)
    run = Poisson(sampling_probability=q, steps=steps, relation=relation, noise=Laplace)
    scale = 1 / b if q == 1 else 0.1
    for epsilon in (0.2 * scale * steps**0.5, 0.9 * scale * steps**0.5):
        exact = run.delta(noise_multiplier=b, epsilon=epsilon)
        found = theirs.get_delta_for_epsilon(epsilon)
        assert exact * (1 - 1e-8) <= found <= exact * 1.001 + 1e-9
