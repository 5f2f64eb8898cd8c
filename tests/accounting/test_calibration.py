from math import exp, log1p

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.asking import ask
from dpdynamics.accounting import Poisson


def _epsilon(noise, q, steps, delta, relation="add_remove"):
    return Poisson(sampling_probability=q, steps=steps, relation=relation).epsilon(
        noise_multiplier=noise, delta=delta
    )


@pytest.mark.parametrize(
    ("epsilon", "delta", "q", "steps", "value", "tolerance"),
    [
        (1.0, 1e-6, 1.0, 1, 4.224678889326822, 1e-6),
        (8.0, 1e-5, 0.04, 2250, 1.34596, 1e-4),
        (8.0, 1e-5, 0.04, 2000, 1.29002, 1e-4),
        (1.0, 1e-5, 0.01, 1, 0.67379294682, 1e-6),
        (1.0, 1e-5, 0.001, 25, 3.20956502598 / 6, 2e-6),
    ],
)
def test_published_values(epsilon, delta, q, steps, value, tolerance):
    noise = Poisson(sampling_probability=q, steps=steps).noise_for(epsilon=epsilon, delta=delta)
    assert noise == pytest.approx(value, rel=tolerance)


@settings(max_examples=15)
@given(
    epsilon=st.floats(0.05, 20),
    delta=st.sampled_from([1e-3, 1e-5, 1e-8]),
    q=st.floats(0.01, 1.0),
    steps=st.integers(100, 100_000),
    relation=st.sampled_from(["add_remove", "add", "remove", "replace"]),
)
def test_within_the_budget_and_tight(epsilon, delta, q, steps, relation):
    arguments = {"sampling_probability": q, "steps": steps, "relation": relation}
    if relation == "add" and delta >= 1 - exp(epsilon) * (1 - q) ** steps:
        with pytest.raises(ValueError, match="delta must be below"):
            ask(Poisson, "noise_for", epsilon=epsilon, delta=delta, **arguments)
        return
    noise = ask(Poisson, "noise_for", epsilon=epsilon, delta=delta, **arguments)
    assert _epsilon(noise, q, steps, delta, relation) <= epsilon
    assert _epsilon(noise * (1 - 1e-6), q, steps, delta, relation) > epsilon


def test_where_adding_a_record_needs_no_noise():
    """Nothing is seen of a record that may have sat out, up to exp(epsilon)."""
    arguments = {"delta": 1e-3, "sampling_probability": 0.01, "steps": 322}
    limit = -322 * log1p(-0.01) + log1p(-1e-3)
    with pytest.raises(ValueError, match="delta must be below"):
        ask(Poisson, "noise_for", epsilon=limit + 1e-9, relation="add", **arguments)
    noise = ask(Poisson, "noise_for", epsilon=limit - 0.1, relation="add", **arguments)
    assert _epsilon(noise, 0.01, 322, 1e-3, "add") <= limit - 0.1
    assert ask(Poisson, "noise_for", epsilon=limit + 1, relation="remove", **arguments) > 0.1


def test_an_extreme_budget():
    noise = Poisson(sampling_probability=0.01, steps=100_000).noise_for(epsilon=1e-3, delta=1e-12)
    assert _epsilon(noise, 0.01, 100_000, 1e-12) <= 1e-3
    assert _epsilon(noise * (1 - 1e-6), 0.01, 100_000, 1e-12) > 1e-3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", -1.0),
        ("delta", 0.0),
        ("delta", 0.9),  # more than the probability of taking part
        ("sampling_probability", 0.0),
        ("steps", 0),
        ("relation", "none"),
    ],
)
def test_bad_arguments(name, value):
    arguments = {"epsilon": 1.0, "delta": 1e-5, "sampling_probability": 0.1, "steps": 10}
    with pytest.raises(ValueError, match=name):
        ask(Poisson, "noise_for", **{**arguments, name: value})
