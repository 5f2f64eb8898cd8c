"""The law of the sign walk against all its paths, a transition matrix and Monte Carlo."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr

from dpdynamics.adaptive import gaussian_sign, sign_walk


def quartic(x):
    return x**3 - 0.5 * x - 0.2


def all_paths(down, x0, rate, reach):
    """The law after each path of signs, as a dictionary from sites to probabilities."""
    x = x0 + rate * np.arange(-reach, reach + 1)
    table = down.tails(x) if hasattr(down, "tails") else (down(x), 1 - down(x))
    law = {}
    for signs in product((-1, 1), repeat=reach):
        site, weight = 0, 1.0
        for sign in signs:
            weight *= table[(sign + 1) // 2][reach + site]
            site += sign
        law[site] = law.get(site, 0.0) + weight
    return {site: weight for site, weight in law.items() if weight > 0}


@pytest.mark.parametrize("noise", ["normal", "student"])
def test_all_paths(noise):
    x0, rate = 0.7, 0.3
    down = {
        "normal": gaussian_sign(quartic, 0.8),
        "student": lambda x: stats.t.cdf(quartic(x), 1.5, scale=0.5),
    }[noise]
    marks = list(range(10))
    laws = sign_walk(down, x0, rate, marks)
    for mark, law in zip(marks, laws, strict=True):
        expected = all_paths(down, x0, rate, mark)
        sites = np.rint((law.points - x0) / rate).astype(int)
        reached = {s: p for s, p in zip(sites.tolist(), law.weights, strict=True) if p > 0}
        assert reached.keys() == expected.keys()
        for site, probability in expected.items():
            assert reached[site] == pytest.approx(probability, rel=1e-11)
        assert law.lost == 0


def test_a_transition_matrix_over_many_steps():
    x0, rate, steps, half = 0.5, 0.05, 400, 450
    x = x0 + rate * np.arange(-half, half + 1)
    down = ndtr(2 * x / 1.5)
    law = np.zeros(x.size)
    law[half] = 1.0
    for _ in range(steps):
        law = np.append((law * down)[1:], 0.0) + np.insert((law * (1 - down))[:-1], 0, 0.0)
    (ours,) = sign_walk(gaussian_sign(lambda x: 2 * x, 1.5), x0, rate, [steps])
    assert ours.mean == pytest.approx(law @ x, abs=1e-13)
    assert ours.variance == pytest.approx(law @ (x - law @ x) ** 2, rel=1e-11)
    assert ours.expectation(np.cos) == pytest.approx(law @ np.cos(x), rel=1e-12)
    fourth = law @ (x - law @ x) ** 4 / (law @ (x - law @ x) ** 2) ** 2
    assert ours.kurtosis == pytest.approx(fourth, rel=1e-9)


def test_monte_carlo_of_the_algorithm_itself():
    rng = np.random.default_rng(5)
    rate, noise, paths, steps = 0.1, 0.6, 40_000, 60
    x = np.full(paths, 1.3)
    for _ in range(steps):
        x -= rate * np.sign(quartic(x) + noise * rng.standard_cauchy(paths))
    (law,) = sign_walk(lambda x: stats.cauchy.cdf(quartic(x) / noise), 1.3, rate, [steps])
    counts = [np.sum(np.abs(x - point) < rate / 2) for point in law.points]
    often = law.weights * paths > 10
    observed = np.append(np.array(counts)[often], paths - np.array(counts)[often].sum())
    expected = np.append(law.weights[often], 1 - law.weights[often].sum()) * paths
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 1e-4


def test_a_random_walk_is_binomial():
    (law,) = sign_walk(lambda x: 0.3, 2.0, 0.5, [50], tolerance=0.0)
    np.testing.assert_allclose(law.points[:, ...], 2.0 + 0.5 * np.arange(-50, 51, 2), rtol=1e-14)
    np.testing.assert_allclose(law.weights, stats.binom.pmf(range(51), 50, 0.7), rtol=1e-11)


def test_many_configurations_at_once_are_those_alone():
    x0, rate = np.array([[0.0], [1.0], [-30.0]]), np.array([0.1, 0.02])
    curvature, scale = np.array([1.0, 3.0]), np.array([0.2, 1.0])
    down = gaussian_sign(lambda x: curvature * x, scale)
    steps = [0, 7, 7, 500]
    together = list(sign_walk(down, x0, rate, steps))
    assert all(law.mean.shape == law.lost.shape == (3, 2) for law in together)
    for i, j in product(range(3), range(2)):
        chance = gaussian_sign(lambda x, j=j: curvature[j] * x, scale[j])
        alone = sign_walk(chance, x0[i, 0], rate[j], steps)
        for ours, law in zip(together, alone, strict=True):
            for function in (lambda x: x, lambda x: x**2 / 2):
                found = ours.expectation(function)[i, j]
                assert found == pytest.approx(law.expectation(function), abs=1e-11)


@settings(max_examples=30)
@given(
    st.floats(-3, 3), st.floats(0.01, 2), st.floats(0.05, 5), st.sampled_from([1e-12, 1e-6, 1e-2])
)
def test_what_is_left_out_is_counted(x0, rate, scale, tolerance):
    down, steps = gaussian_sign(quartic, scale), [1, 100, 333]
    exact = list(sign_walk(down, x0, rate, steps, tolerance=0.0))
    for whole, part in zip(
        exact, sign_walk(down, x0, rate, steps, tolerance=tolerance), strict=True
    ):
        assert whole.weights.sum() == pytest.approx(1, abs=1e-12)
        assert part.weights.sum() + part.lost == pytest.approx(1, abs=1e-12)
        assert 0 <= part.lost <= tolerance
        gap = abs(part.expectation(np.cos) - whole.expectation(np.cos))
        assert gap <= part.lost + 1e-12
    assert exact[-1].lost == 0


def test_the_window_is_small_and_follows_a_far_start():
    (law,) = sign_walk(gaussian_sign(lambda x: x, 0.1), 50.0, 0.01, [4000])
    assert law.points.size < 100
    assert law.mean == pytest.approx(10.0, abs=1e-12)  # 4000 sure steps
    assert law.variance < 1e-20


def test_the_step_before_the_first_is_the_start():
    (law,) = sign_walk(gaussian_sign(lambda x: x, 1.0), [0.5, -2.0], 0.1, [0])
    np.testing.assert_array_equal(law.mean, [0.5, -2.0])
    np.testing.assert_array_equal(law.variance, 0.0)
    with pytest.raises(ValueError, match="kurtosis"):
        _ = law.kurtosis


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("steps", {"steps": [3, 1]}),
        ("steps", {"steps": [-1]}),
        ("steps", {"steps": [1.5]}),
        ("steps", {"steps": []}),
        ("x0", {"x0": np.nan}),
        ("broadcast", {"x0": [1.0, 2.0], "learning_rate": [1.0, 2.0, 3.0]}),
        ("learning_rate", {"learning_rate": 0.0}),
        ("tolerance", {"tolerance": -1.0}),
        ("down_probability", {"down_probability": lambda x: x}),
        ("down_probability", {"down_probability": lambda x: 0 * x - 1}),
        ("configuration", {"down_probability": gaussian_sign(np.sin, [1.0, 2.0])}),
    ],
)
def test_bad_arguments(name, change):
    good = {
        "down_probability": gaussian_sign(np.sin, 1.0),
        "x0": 5.0,
        "learning_rate": 0.1,
        "steps": [0, 3],
    }
    list(sign_walk(**good))
    with pytest.raises(ValueError, match=name):
        list(sign_walk(**good | change))


def test_a_function_of_the_wrong_shape():
    (law,) = sign_walk(lambda x: 0.5, 0.0, 1.0, [3])
    with pytest.raises(ValueError, match="function"):
        law.expectation(lambda x: x[:1])
