"""Runs of different sampling and noise, one after another."""

import numpy as np
import pytest

from dpdynamics.accounting import Poisson, compose
from dpdynamics.divergence import gaussian_delta, gaussian_epsilon

EARLY = Poisson(sampling_probability=0.01, steps=1000)
LATE = Poisson(sampling_probability=0.01, steps=2000)
WHOLE = Poisson(sampling_probability=0.01, steps=3000)


def test_parts_at_one_noise_are_one_run():
    both = compose((EARLY, 1.0), (LATE, 1.0))
    assert both.epsilon(delta=1e-6) == pytest.approx(3.62547979, abs=5e-9)
    assert both.epsilon(delta=1e-6) == WHOLE.epsilon(noise_multiplier=1.0, delta=1e-6)
    assert both.delta(epsilon=2.0) == WHOLE.delta(noise_multiplier=1.0, epsilon=2.0)


@pytest.mark.parametrize("relation", ["add_remove", "add", "remove", "replace"])
def test_nearly_one_noise_is_nearly_one_run(relation):
    """The sum of the transforms of two parts, against the transform of the whole."""
    early, late, whole = (
        Poisson(sampling_probability=0.02, steps=k, relation=relation) for k in (100, 150, 250)
    )
    both = compose((early, 1.0), (late, 1.0 + 1e-13))
    epsilons = np.array([0.1, 1.0, 3.0])
    exact = whole.delta(noise_multiplier=1.0, epsilon=epsilons)
    np.testing.assert_allclose(both.delta(epsilon=epsilons), exact, rtol=2e-7)
    exact = whole.epsilon(noise_multiplier=1.0, delta=1e-6)
    assert both.epsilon(delta=1e-6) == pytest.approx(exact, rel=1e-7)


def test_a_mix_lies_between_its_ends_and_inverts():
    mix = compose((EARLY, 2.0), (LATE, 1.0))
    low, high = (WHOLE.epsilon(noise_multiplier=k, delta=1e-6) for k in (2.0, 1.0))
    assert low < mix.epsilon(delta=1e-6) < high
    assert mix.delta(epsilon=mix.epsilon(delta=1e-6)) == pytest.approx(1e-6, rel=1e-6)
    assert compose((LATE, 1.0), (EARLY, 2.0)).epsilon(delta=1e-6) == mix.epsilon(delta=1e-6)


@pytest.mark.parametrize(("relation", "factor"), [("add_remove", 1), ("replace", 2)])
def test_full_batches_add_their_squares(relation, factor):
    full = Poisson(sampling_probability=1.0, steps=4, relation=relation)
    both = compose((full, 4.0), (full, 3.0))
    mu = factor * np.hypot(0.5, 2 / 3)
    assert both.epsilon(delta=1e-6) == gaussian_epsilon(mu=mu, delta=1e-6)
    assert both.delta(epsilon=[0.0, 1.0]) == pytest.approx(gaussian_delta(mu=mu, epsilon=[0, 1.0]))
    # beside a sample that hardly ever holds the record
    rare = Poisson(sampling_probability=1e-12, relation=relation)
    found = compose((full, 4.0), (rare, 5.0), (full, 3.0)).delta(epsilon=1.0)
    assert found == pytest.approx(gaussian_delta(mu=mu, epsilon=1.0), rel=1e-7)


def test_shapes_and_the_end_of_losses():
    mix = compose((EARLY, 2.0), (LATE, 1.0))
    assert isinstance(mix.delta(epsilon=1.0), float)
    assert mix.delta(epsilon=np.ones((2, 1))).shape == (2, 1)
    assert mix.epsilon(delta=[1e-5, 1e-6]).shape == (2,)
    assert mix.epsilon(delta=0.99999999999999) == 0.0
    few = (Poisson(sampling_probability=0.1, steps=k, relation="add") for k in (2, 3))
    edge = -5 * np.log1p(-0.1)
    assert compose(*zip(few, (1.0, 2.0), strict=True)).delta(epsilon=edge + 1e-3) == 0.0


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ((), "parts"),
        ((EARLY,), "parts"),
        (((1.0, EARLY),), "parts"),
        (((EARLY, 1.0), (Poisson(sampling_probability=0.1, relation="add"), 1.0)), "relation"),
        (((EARLY, 0.0),), "noise_multiplier"),
        (((EARLY, np.nan),), "noise_multiplier"),
        (((EARLY, "x"),), "noise_multiplier"),
    ],
)
def test_bad_parts_are_named(parts, name):
    with pytest.raises(ValueError, match=name):
        compose(*parts)


@pytest.mark.parametrize(("verb", "name"), [("delta", "epsilon"), ("epsilon", "delta")])
@pytest.mark.parametrize("wrong", [np.nan, "x", [[1.0], [1.0, 2.0]], object()])
def test_bad_arguments_are_named(verb, name, wrong):
    with pytest.raises(ValueError, match=name):
        getattr(compose((EARLY, 1.0)), verb)(**{name: wrong})


def test_next_to_no_noise_is_refused_in_words():
    with pytest.raises(ArithmeticError, match="noise_multiplier"):
        compose((EARLY, 1e-5))
