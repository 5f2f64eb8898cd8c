"""The attack finds planted violations and keeps to its box."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dpdynamics.verification import attack


@settings(max_examples=10)
@given(some.floats(-0.9, 0.9), some.floats(-0.9, 0.9))
def test_finds_a_narrow_peak(x, y):
    def peak(point):
        return 0.9 + 0.2 * np.exp(-50 * ((point[0] - x) ** 2 + (point[1] - y) ** 2))

    found = attack(peak, [(-1, 1), (-1, 1)], rng=np.random.default_rng(0))
    assert found.value == pytest.approx(1.1, abs=1e-9)
    assert list(found.argument.values()) == pytest.approx([x, y], abs=1e-4)


def test_finds_a_maximum_in_a_corner_and_stays_inside():
    seen = []

    def ratio(*, alpha, sigma):
        seen.append((alpha, sigma))
        return alpha / sigma

    found = attack(ratio, {"alpha": (1, 5), "sigma": (0.5, 2)}, rng=np.random.default_rng(1))
    assert found.value == 10
    assert found.argument == {"alpha": 5, "sigma": 0.5}
    assert found.evaluations == len(seen)
    assert all(1 <= a <= 5 and 0.5 <= s <= 2 for a, s in seen)


def test_infinite_violation_is_reported():
    found = attack(lambda x: np.inf if x[0] > 0.7 else x[0], [(0, 1)], rng=np.random.default_rng(0))
    assert found.value == np.inf


def test_same_generator_same_result():
    runs = [
        attack(lambda x: np.sin(9 * x[0]), [(0, 3)], rng=np.random.default_rng(4)) for _ in "ab"
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("ratio", "bounds", "budget", "words"),
    [
        (lambda x: x[0], [(1, 0)], {}, "bounds"),
        (lambda x: x[0], [(0, np.inf)], {}, "bounds"),
        (lambda x: x[0], [], {}, "bounds"),
        (lambda x: np.nan, [(0, 1)], {}, "NaN"),
        (lambda x: x[0], [(0, 1)], {"starts": 3}, "starts"),
        (lambda x: x[0], [(0, 1)], {"generations": -1}, "generations"),
    ],
)
def test_bad_input_is_named(ratio, bounds, budget, words):
    with pytest.raises(ValueError, match=words):
        attack(ratio, bounds, rng=np.random.default_rng(0), **budget)
