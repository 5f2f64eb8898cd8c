"""Correlated noise: against enumeration, quadrature, sampling, and the exact case without it."""

from itertools import pairwise, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp, ndtr
from scipy.stats import multivariate_normal, norm

from accounting.asking import ask
from dpdynamics.accounting import (
    CorrelatedPoisson,
    Poisson,
    cumulative_noise_lower_bound,
    cumulative_noise_std,
    noising_matrix,
    participation_sensitivity,
    square_root_strategy,
    strategy_matrix,
    strategy_norm,
    tree_strategy,
    worst_sensitivity,
)
from dpdynamics.accounting.correlated_sampling import correlated_loss, sampled_delta
from dpdynamics.divergence.gaussian import gaussian_delta, gaussian_noise_multiplier
from dpdynamics.divergence.gaussian_mixtures import GaussianMixturePair

RUN = {"noise_multiplier": 13.0, "correlation": 0.9, "sampling_probability": 0.1, "steps": 400}
BUDGET = {
    "epsilon": 8.0,
    "delta": 1e-5,
    "correlation": 0.9,
    "sampling_probability": 0.1,
    "steps": 400,
}
CORRELATIONS = st.floats(0.0, 0.995)


def patterns(steps):
    return np.array(list(product([0.0, 1.0], repeat=steps)))


def pattern_weights(steps, r):
    count = patterns(steps).sum(axis=1)
    return r**count * (1 - r) ** (steps - count)


def block_matrix(correlation, block):
    path = np.diag(np.full(block, 2.0)) - np.eye(block, k=1) - np.eye(block, k=-1)
    path[0, 0] -= 1
    path[-1, -1] -= 1
    return (1 - correlation) ** 2 * np.eye(block) + correlation * path


def noise_covariance(correlation, steps):
    noising = noising_matrix(correlation=correlation, steps=steps)
    return noising @ noising.T


# --- matrices and sensitivities ---------------------------------------------------------------


@given(CORRELATIONS, st.integers(1, 40))
@settings(max_examples=40)
def test_matrices(correlation, steps):
    strategy = strategy_matrix(correlation=correlation, steps=steps)
    noising = noising_matrix(correlation=correlation, steps=steps)
    np.testing.assert_allclose(strategy @ noising, np.eye(steps), atol=1e-14)
    exact = np.linalg.norm(strategy, 2)
    value = strategy_norm(correlation=correlation, steps=steps)
    assert exact * (1 - 1e-12) <= value <= exact * (1 + 1e-10)
    assert value <= (1 - correlation**steps) / (1 - correlation) * (1 + 1e-11)
    std = cumulative_noise_std(noise_multiplier=3.0, correlation=correlation, steps=steps)
    assert std == pytest.approx(3 * np.linalg.norm(noising.sum(axis=0)), rel=1e-12)


def test_norm_of_long_and_nearly_singular_runs():
    for correlation, steps in ((1 - 1e-9, 7), (0.9, 10**6), (1 - 1e-6, 300)):
        value = strategy_norm(correlation=correlation, steps=steps)
        row_sum = -np.expm1(steps * np.log(correlation)) / (1 - correlation)
        assert 0.6 * row_sum < value <= row_sum * (1 + 1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9, 0.99])
@pytest.mark.parametrize("separation", [1, 2, 3])
@pytest.mark.parametrize("participations", [1, 2, 3, None])
def test_worst_pattern_by_enumeration(correlation, separation, participations):
    steps, strategy = 9, strategy_matrix(correlation=correlation, steps=9)
    allowed = [
        y
        for y in patterns(steps)
        if np.all(np.diff(np.flatnonzero(y)) >= separation) and y.sum() <= (participations or steps)
    ]
    expected = np.linalg.norm(np.array(allowed) @ strategy.T, axis=1).max()
    value = worst_sensitivity(
        correlation=correlation, steps=steps, participations=participations, separation=separation
    )
    assert value == pytest.approx(expected, rel=1e-13)


def test_sensitivity_of_a_pattern():
    strategy = strategy_matrix(correlation=0.7, steps=5)
    y = np.random.default_rng(0).uniform(0, 1, (3, 5))
    np.testing.assert_allclose(
        participation_sensitivity(correlation=0.7, pattern=y),
        np.linalg.norm(y @ strategy.T, axis=1),
        rtol=1e-14,
    )
    alone = participation_sensitivity(correlation=0.7, pattern=np.eye(5)[0])
    assert alone == pytest.approx(np.sqrt((1 - 0.7**10) / (1 - 0.49)), rel=1e-14)


# --- the inequality of the blocks -------------------------------------------------------------


@given(CORRELATIONS, st.integers(1, 9), st.integers(1, 5))
@settings(max_examples=60)
def test_blocks_are_below_the_covariance(correlation, block, count):
    blocks = np.kron(np.eye(count), block_matrix(correlation, block))
    covariance = noise_covariance(correlation, block * count)
    assert np.linalg.eigvalsh(covariance - blocks).min() > -1e-13
    assert np.linalg.norm(np.linalg.inv(np.linalg.cholesky(blocks)).clip(max=0)) < 1e-9


@pytest.mark.parametrize("block", [2, 4, 6])
@pytest.mark.parametrize("correlation", [0.1, 0.5, 0.9, 0.99])
def test_larger_blocks_are_not(block, correlation):
    covariance = noise_covariance(correlation, 12)
    blocks = np.kron(np.eye(12 // block), block_matrix(correlation, block))
    ends = np.kron(np.eye(12 // block), block_matrix(correlation, block))
    ends[block - 1 :: block, block - 1 :: block] += correlation * np.eye(12 // block)
    ends[block::block, block::block] += correlation * np.eye(12 // block - 1)
    for wrong in (1.05 * blocks, ends):  # a larger multiple; cuts that cost nothing
        assert np.linalg.eigvalsh(covariance - wrong).min() < -1e-3 * correlation


@given(st.floats(0.0, 0.99), st.integers(1, 7), st.floats(0.01, 0.9))
@settings(max_examples=30)
def test_block_pair_is_that_of_the_inverse_factor(correlation, block, r):
    run = CorrelatedPoisson(correlation=correlation, sampling_probability=r, steps=9)
    shifts, weights = run.block_pair(block=block).means, run.block_pair(block=block).weights
    lower = np.linalg.inv(np.linalg.cholesky(block_matrix(correlation, block)))
    exact = np.linalg.norm(patterns(block) @ lower.T, axis=1)
    chances = pattern_weights(block, r)
    assert weights.sum() == pytest.approx(1, rel=1e-12)
    for cut in (exact[1:] + exact[:-1]) / 2:  # the two laws have the same tails
        near = np.abs(exact - cut) < 1e-6 * cut
        above = chances[(exact > cut) & ~near].sum(), chances[(exact > cut) | near].sum()
        assert above[0] * (1 - 1e-12) <= weights[shifts > cut].sum() <= above[1] * (1 + 1e-12)
    mean = weights @ shifts
    assert chances @ exact * (1 - 1e-13) <= mean <= chances @ exact * (1 + 1e-7)
    assert shifts[-1] <= np.sqrt(block) / (1 - correlation) * (1 + 1e-8)


# --- pairs of normal mixtures -----------------------------------------------------------------


@pytest.mark.parametrize("relation", ["remove", "add"])
def test_vector_mixtures_are_below_scalar_ones_of_the_same_norms(relation):
    """Random directions in the plane, by quadrature; equality when they agree."""
    rng = np.random.default_rng(3)
    axis = np.linspace(-9, 12, 701)
    x = np.stack(np.meshgrid(axis, axis), -1)
    cell = (axis[1] - axis[0]) ** 2
    for trial in range(6):
        norms, weights = np.array([0.0, 0.7, 1.6, 2.9]), rng.dirichlet(np.ones(4))
        angles = rng.uniform(0, 2 * np.pi, 4) * (trial > 0)
        means = norms[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1)
        p = sum(w * multivariate_normal(m).pdf(x) for w, m in zip(weights, means, strict=True))
        q = multivariate_normal(np.zeros(2)).pdf(x)
        first, second = (p, q) if relation == "remove" else (q, p)
        for epsilon in (0.0, 0.5, 1.5):
            value = cell * np.maximum(first - np.exp(epsilon) * second, 0).sum()
            low, high = GaussianMixturePair(norms, weights).delta(epsilon, relation)
            assert low <= high <= low + 1e-11
            if trial:
                assert value <= high + 1e-6
            else:
                assert value == pytest.approx(high, abs=1e-4)


CASES = [
    (0.1, 400, 7.569, 1.0),
    (0.1, 400, 1.423, 8.0),
    (0.01, 1000, 1.415, 1.0),
    (0.01, 1000, 0.586, 8.0),
    (0.002, 500, 0.698, 1.0),
    (0.5, 10, 1.0, 3.0),
    (0.01, 10000, 1.0, 3.0),
]


@pytest.mark.parametrize("relation", ["remove", "add"])
@pytest.mark.parametrize(("r", "steps", "kappa", "epsilon"), CASES)
def test_composition_is_just_above_the_exact_one(r, steps, kappa, epsilon, relation):
    pair = GaussianMixturePair(np.array([0.0, 1 / kappa]), np.array([1 - r, r]))
    value = pair.composed_delta(steps, epsilon, relation)
    exact = Poisson(sampling_probability=r, steps=steps, relation=relation).delta(
        noise_multiplier=kappa, epsilon=epsilon
    )
    assert exact <= value <= max(1.002 * exact, 1e-18)


# --- the interval -----------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["remove", "add", "zero_out"])
@pytest.mark.parametrize(("r", "steps", "kappa", "epsilon"), CASES[1::2])
def test_independent_noise_is_in_the_bracket(r, steps, kappa, epsilon, relation):
    run = {"noise_multiplier": kappa, "sampling_probability": r, "steps": steps}
    run |= {"epsilon": epsilon, "relation": relation}
    exact, bracket = (
        ask(Poisson, "delta", **run),
        ask(CorrelatedPoisson, "delta", **run, correlation=0.0),
    )
    assert bracket.lower <= exact <= bracket.upper <= max(1.002 * exact, 1e-18)


@pytest.mark.parametrize("relation", ["remove", "add"])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, (1.0, 1.3), ((0.8, 0.0), (0.4, 1.1))])
@pytest.mark.parametrize("r", [0.1, 0.6])
def test_two_steps_by_quadrature(relation, correlation, r):
    kappa, axis = 1.3, np.linspace(-14, 18, 1601)
    means = patterns(2) @ strategy_matrix(correlation=correlation, steps=2).T
    densities = [np.multiply.outer(*norm.pdf(axis, m[:, None], kappa)) for m in means]
    p, q = np.tensordot(pattern_weights(2, r), densities, 1), densities[0]
    run = {"noise_multiplier": kappa, "correlation": correlation, "sampling_probability": r}
    run["steps"] = 2
    pair = {name: value for name, value in run.items() if name != "noise_multiplier"}
    first, second = (p, q) if relation == "remove" else (q, p)
    for epsilon in (-0.5, 0.3, 1.0):
        exact = (axis[1] - axis[0]) ** 2 * np.maximum(first - np.exp(epsilon) * second, 0).sum()
        bracket = ask(CorrelatedPoisson, "delta", **run, epsilon=epsilon, relation=relation)
        assert bracket.lower - 1e-6 <= exact <= bracket.upper + 1e-6
        assert bracket.upper <= bracket.lower + 0.02
        if relation == "add":
            assert exact <= CorrelatedPoisson(**pair)._jensen(kappa, epsilon) + 1e-6


def test_one_step_and_full_batches_are_exact():
    one = ask(
        CorrelatedPoisson, "delta", **(RUN | {"steps": 1, "noise_multiplier": 1.0}), epsilon=0.5
    )
    exact = Poisson(sampling_probability=0.1).delta(noise_multiplier=1.0, epsilon=0.5)
    assert one.upper == pytest.approx(exact, rel=1e-8)
    assert one.lower == pytest.approx(exact, rel=0.02)
    full = ask(
        CorrelatedPoisson,
        "delta",
        **(RUN | {"sampling_probability": 1, "noise_multiplier": 90.0}),
        epsilon=[1.0, 2.0],
    )
    norm_ = worst_sensitivity(correlation=0.9, steps=400)
    exact = gaussian_delta(mu=norm_ / 90, epsilon=[1.0, 2.0])
    for bound in full:
        np.testing.assert_allclose(bound, exact, rtol=1e-8)
    assert np.all(full.lower < exact) and np.all(exact < full.upper)


def test_filter_against_enumeration():
    """The error of the linear grid falls fourfold when its mesh is halved."""
    steps, kappa, correlation, r = 8, 1.5, 0.6, 0.3
    means = patterns(steps) @ strategy_matrix(correlation=correlation, steps=steps).T
    rng = np.random.default_rng(1)
    x = means[rng.integers(0, 2**steps, 40)] + kappa * rng.standard_normal((40, steps))
    terms = (x @ means.T - (means**2).sum(1) / 2) / kappa**2
    exact = logsumexp(terms + np.log(pattern_weights(steps, r)), axis=1)
    pair = {"noise_multiplier": kappa, "correlation": correlation, "sampling_probability": r}
    grids = [np.linspace(0.0, 2.5, nodes) for nodes in (41, 81, 161)]
    errors = [np.abs(correlated_loss(x, **pair, states=grid) - exact).max() for grid in grids]
    assert errors[2] < 1e-3
    assert 2.5 < errors[0] / errors[1] < 6 and 2.5 < errors[1] / errors[2] < 6
    zero = correlated_loss(x, **(pair | {"correlation": 0.0}), states=np.array([0.0, 1.0]))
    alone = np.logaddexp(np.log(1 - r), np.log(r) + (x - 0.5) / kappa**2).sum(axis=1)
    np.testing.assert_allclose(zero, alone, rtol=1e-11)


@pytest.mark.parametrize(("correlation", "kappa"), [(0.5, 2.0), (0.9, 6.0)])
def test_brackets_contain_each_other(correlation, kappa):
    """Eight steps: the sample is at the exact value, and both inside the certified interval."""
    run = {"correlation": correlation, "noise_multiplier": kappa, "sampling_probability": 0.2}
    run |= {"steps": 8, "epsilon": 2.0}
    sampled = sampled_delta(**run, nodes=601, samples=2000)
    # The exact profile, from another proposal: enumerated patterns, no tilt of the participations.
    means = patterns(8) @ strategy_matrix(correlation=correlation, steps=8).T
    weights, rng = pattern_weights(8, 0.2), np.random.default_rng(5)
    proposal = weights * np.exp(np.linalg.norm(means, axis=1) ** 2 / kappa**2)
    proposal /= proposal.sum()
    which = rng.choice(len(means), 25000, p=proposal)
    x = means[which] + kappa * rng.standard_normal((25000, 8))
    loss = logsumexp((x @ means.T - (means**2).sum(1) / 2) / kappa**2 + np.log(weights), axis=1)
    terms = (weights / proposal)[which] * np.maximum(-np.expm1(2.0 - loss), 0)
    exact, error = terms.mean(), terms.std() / np.sqrt(terms.size)
    assert abs(sampled.value - exact) < 4 * np.hypot(error, sampled.standard_error)
    bracket = ask(CorrelatedPoisson, "delta", **run, relation="remove")
    assert bracket.lower - 4 * error < exact < bracket.upper + 4 * error


@pytest.mark.parametrize(
    ("correlation", "r", "steps", "kappa", "epsilon"),
    [(0.9, 0.1, 200, 10.0, 8.0), (0.5, 0.1, 200, 2.0, 8.0), (0.9, 0.05, 200, 15.0, 1.0)],
)
def test_exact_value_is_in_the_bracket(correlation, r, steps, kappa, epsilon):
    run = {"correlation": correlation, "sampling_probability": r, "steps": steps}
    run |= {"noise_multiplier": kappa, "epsilon": epsilon}
    value, error, effective = sampled_delta(**run, samples=1000)
    bracket = ask(CorrelatedPoisson, "delta", **run, relation="remove")
    assert effective > 100 and error < 0.15 * value
    assert bracket.lower - 4 * error < value < bracket.upper + 4 * error
    # The certificate bites: a fifth less sensitivity is refuted by the exact value.
    less = ask(
        CorrelatedPoisson, "delta", **(run | {"noise_multiplier": 1.25 * kappa}), relation="remove"
    )
    assert less.upper < value - 3 * error


def test_sampling_refuses_a_bad_proposal():
    with pytest.raises(ArithmeticError, match="effective"):
        sampled_delta(
            noise_multiplier=2.7,
            correlation=0.9,
            sampling_probability=0.01,
            steps=200,
            epsilon=8.0,
            samples=200,
        )


def test_monotone():
    def upper(**change):
        arguments = RUN | {"epsilon": 8.0, "blocks": (1, 2, 4)} | change
        return np.array(ask(CorrelatedPoisson, "delta", **arguments))

    slack = 1.001
    epsilons = np.linspace(0.0, 12.0, 7)
    for bound in upper(epsilon=epsilons):
        assert np.all(np.diff(bound) < 0)
    for name, values in {
        "noise_multiplier": [17.0, 13.0, 9.0],
        "steps": [300, 399, 400, 800],
        "sampling_probability": [0.08, 0.1, 0.2],
        "correlation": [0.89, 0.9, 0.92],
    }.items():
        bounds = [upper(**{name: value}) for value in values]
        assert np.all(bounds[0] > 1e-12), name
        for first, second in pairwise(bounds):
            assert np.all(first <= second * slack), name
    few, many = upper(blocks=(1, 3)), upper(blocks=(1, 2, 3, 6))
    assert few[0] == many[0] and many[1] <= few[1]


def test_transfer_holds_for_any_accountant():
    """The upper bound is never above that of independent noise at the transferred multiplier."""
    for steps in (3, 30, 400):
        noise = 1.3 * strategy_norm(correlation=0.9, steps=steps)
        run = RUN | {"steps": steps, "noise_multiplier": noise}
        bound = Poisson(sampling_probability=0.1, steps=steps).delta(
            noise_multiplier=1.3, epsilon=2.0
        )
        assert ask(CorrelatedPoisson, "delta", **run, epsilon=2.0).upper <= 1.003 * bound


@pytest.mark.parametrize(
    "strategy",
    [
        square_root_strategy(steps=30),
        square_root_strategy(steps=30, bands=4),
        tree_strategy(steps=30),
        0.9 ** np.arange(30),
    ],
    ids=["square root", "banded", "tree", "as a number"],
)
@pytest.mark.parametrize("relation", ["remove", "add"])
def test_any_strategy_between_its_parts(strategy, relation):
    """Above the sum of the releases, below independent noise; exact where all take part."""
    noise = 1.3 * strategy_norm(correlation=strategy, steps=30)
    run = {"correlation": strategy, "steps": 30, "noise_multiplier": noise, "epsilon": 0.8}
    bracket = ask(CorrelatedPoisson, "delta", **run, sampling_probability=0.2, relation=relation)
    above = Poisson(sampling_probability=0.2, steps=30, relation=relation).delta(
        noise_multiplier=1.3, epsilon=0.8
    )
    assert 0 < bracket.lower < bracket.upper <= 1.003 * above
    rng = np.random.default_rng(2)  # of the sum of the releases, under the mixture
    taken = rng.binomial(30, 0.2, 400_000)
    std = cumulative_noise_std(noise_multiplier=noise, correlation=strategy, steps=30)
    count = np.arange(31)
    chances = np.array([comb(30, k) * 0.2**k * 0.8 ** (30 - k) for k in count])
    x = rng.standard_normal(taken.size) * std + (taken if relation == "remove" else 0)
    ratio = np.exp(np.multiply.outer(x, count) / std**2 - count**2 / (2 * std**2)) @ chances
    loss = np.log(ratio) if relation == "remove" else -np.log(ratio)
    gains = np.maximum(-np.expm1(0.8 - loss), 0)
    assert bracket.lower > gains.mean() - 5 * gains.std() / np.sqrt(taken.size)
    full = ask(CorrelatedPoisson, "delta", **run, sampling_probability=1.0, relation=relation)
    exact = gaussian_delta(
        mu=worst_sensitivity(correlation=strategy, steps=30) / noise, epsilon=0.8
    )
    assert full.lower == pytest.approx(exact, rel=1e-8) == full.upper


def test_coefficients_of_a_number_are_that_number():
    run = RUN | {"steps": 9, "epsilon": 2.0}
    number, coefficients = (
        ask(CorrelatedPoisson, "delta", **(run | {"correlation": strategy, "blocks": (1, 9)}))
        for strategy in (0.9, 0.9 ** np.arange(9))
    )
    np.testing.assert_allclose(number, coefficients, rtol=1e-9)
    with pytest.raises(ValueError, match="nonnegative inner products"):
        CorrelatedPoisson(correlation=[1.0, -0.5], sampling_probability=0.1, steps=5)
    with pytest.raises(ValueError, match="correlation"):
        CorrelatedPoisson(correlation=[1.0, 0.5], sampling_probability=0.1, steps=5).block_pair(
            block=2
        )


# --- calibration ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("r", "steps", "epsilon", "correlation"),
    [(0.1, 400, 8.0, 0.9), (0.02, 60, 4.0, 0.97), (0.3, 5, 2.0, 0.8)],
)
def test_calibration_is_never_over_budget(r, steps, epsilon, correlation):
    run = {"correlation": correlation, "sampling_probability": r, "steps": steps}
    bracket = ask(CorrelatedPoisson, "noise_for", epsilon=epsilon, delta=1e-5, **run)
    enough = ask(CorrelatedPoisson, "delta", noise_multiplier=bracket.upper, epsilon=epsilon, **run)
    assert 0.999e-5 <= enough.upper <= 1e-5
    less = ask(CorrelatedPoisson, "delta", noise_multiplier=bracket.lower, epsilon=epsilon, **run)
    assert less.lower > 1e-5
    transfer = Poisson(sampling_probability=r, steps=steps).noise_for(
        epsilon=epsilon, delta=1e-5
    ) * strategy_norm(correlation=correlation, steps=steps)
    assert bracket.lower < bracket.upper <= transfer * 1.001


def test_epsilon_inverts_delta():
    run, deltas = RUN | {"blocks": (1, 4)}, np.array([1e-5, 1e-4])
    bracket = ask(CorrelatedPoisson, "epsilon", **run, delta=deltas)
    for index, delta in enumerate(deltas):
        upper = ask(CorrelatedPoisson, "delta", **run, epsilon=bracket.upper[index]).upper
        lower = ask(CorrelatedPoisson, "delta", **run, epsilon=bracket.lower[index]).lower
        assert 0.999 * delta <= upper <= delta < lower < 1.001 * delta
    assert ask(CorrelatedPoisson, "epsilon", **RUN, delta=0.9999) == (0.0, 0.0)


REFERENCE = [  # kappa (1 - lambda) by another program: block length 3, and the linear statistic
    (0.1, 400, 1.0, 0.9, 7.6166, 7.4125),
    (0.1, 400, 8.0, 0.9, 1.34678, 1.26481),
    (0.01, 1000, 8.0, 0.9, 0.43298, 0.242402),
]


@pytest.mark.parametrize(("r", "steps", "epsilon", "correlation", "block3", "linear"), REFERENCE)
def test_calibration_reference(r, steps, epsilon, correlation, block3, linear):
    bracket = CorrelatedPoisson(
        correlation=correlation, sampling_probability=r, steps=steps, blocks=(3,)
    ).noise_for(epsilon=epsilon, delta=1e-5)
    assert bracket.upper * (1 - correlation) == pytest.approx(block3, rel=3e-4)
    assert 0.997 * linear < bracket.lower * (1 - correlation) <= 1.0005 * linear


@pytest.mark.parametrize(
    ("r", "steps", "epsilon", "expected"),
    [
        (0.1, 400, 1.0, 150.84),
        (0.1, 400, 8.0, 25.72),
        (0.01, 1000, 1.0, 39.06),
        (0.01, 1000, 8.0, 7.71),
        (0.002, 500, 1.0, 5.30),
    ],
)
def test_cumulative_noise(r, steps, epsilon, expected):
    budget = {"epsilon": epsilon, "delta": 1e-5, "sampling_probability": r, "steps": steps}
    bound = cumulative_noise_lower_bound(**budget)
    assert bound == pytest.approx(expected, rel=1e-3)
    for correlation in (0.0, 0.9) if steps == 400 else ():
        bracket = ask(
            CorrelatedPoisson, "noise_for", **budget, correlation=correlation, blocks=(1,)
        )
        for kappa in bracket:  # neither what is necessary nor what is enough is below
            std = cumulative_noise_std(noise_multiplier=kappa, correlation=correlation, steps=steps)
            assert std >= bound * (1 - 1e-5)


def test_cumulative_noise_of_independent_noise_meets_the_binomial_mixture():
    budget = {"epsilon": 1.0, "delta": 1e-3, "sampling_probability": 0.3, "steps": 2}
    std = cumulative_noise_lower_bound(**budget)
    cuts, count = np.linspace(-20, 20, 400001), np.arange(3.0)
    weights = np.array([0.49, 0.42, 0.09])
    remove = ndtr((count - cuts[:, None]) / std) @ weights - np.e * ndtr(-cuts / std)
    add = ndtr(cuts / std) - np.e * (ndtr((cuts[:, None] - count) / std) @ weights)
    assert max(remove.max(), add.max()) == pytest.approx(1e-3, rel=1e-6)
    assert cumulative_noise_lower_bound(**(budget | {"delta": 0.52})) == 0.0


# --- other strategies -------------------------------------------------------------------------


def strategies(steps):
    return {
        "square root": square_root_strategy(steps=steps),
        "two bands": square_root_strategy(steps=steps, bands=2),
        "three bands": square_root_strategy(steps=steps, bands=3),
        "rising bands": np.array([1.0, 1.5]),
        "geometric": 0.7 ** np.arange(steps),
        "tree": tree_strategy(steps=steps),
    }


@pytest.mark.parametrize("steps", [1, 5, 8])
def test_matrices_of_strategies(steps):
    prefix = np.tril(np.ones((steps, steps)))
    for strategy in strategies(steps).values():
        encoder = strategy_matrix(correlation=strategy, steps=steps)
        noising = noising_matrix(correlation=strategy, steps=steps)
        np.testing.assert_allclose(encoder @ noising, np.eye(steps), atol=1e-13)
        exact = np.linalg.norm(encoder, 2)
        assert strategy_norm(correlation=strategy, steps=steps) == pytest.approx(exact, rel=1e-11)
        std = cumulative_noise_std(noise_multiplier=3.0, correlation=strategy, steps=steps)
        assert std == pytest.approx(3 * np.linalg.norm((prefix @ noising)[-1]), rel=1e-12)
    root = strategy_matrix(correlation=square_root_strategy(steps=steps), steps=steps)
    np.testing.assert_allclose(root @ root, prefix, atol=1e-14)
    same = strategy_matrix(correlation=0.7, steps=steps)
    np.testing.assert_allclose(
        strategy_matrix(correlation=0.7 ** np.arange(steps), steps=steps), same, rtol=1e-14
    )


@pytest.mark.parametrize("name", list(strategies(1)))
@pytest.mark.parametrize("separation", [1, 2, 3])
@pytest.mark.parametrize("participations", [1, 2, 3, None])
def test_worst_pattern_of_strategies_by_enumeration(name, separation, participations):
    """Exact where it answers; refused for the tree and for rising bands that overlap."""
    strategy, steps = strategies(9)[name], 9
    encoder = strategy_matrix(correlation=strategy, steps=steps)
    allowed = [
        y
        for y in patterns(steps)
        if np.all(np.diff(np.flatnonzero(y)) >= separation) and y.sum() <= (participations or steps)
    ]
    expected = np.linalg.norm(np.array(allowed) @ encoder.T, axis=1).max()
    schedule = {"participations": participations, "separation": separation}
    known = participations == 1 or (separation == 1 and participations is None)
    if not known and (name == "tree" or (name == "rising bands" and separation == 1)):
        with pytest.raises(ArithmeticError, match="worst pattern"):
            worst_sensitivity(correlation=strategy, steps=steps, **schedule)
        return
    value = worst_sensitivity(correlation=strategy, steps=steps, **schedule)
    assert value == pytest.approx(expected, rel=1e-13)


def prefix_error(strategy, steps):
    """Root mean square error of the prefix sums at sensitivity one."""
    noising = noising_matrix(correlation=strategy, steps=steps)
    spread = np.linalg.norm(np.cumsum(noising, axis=0)) / np.sqrt(steps)
    return spread * worst_sensitivity(correlation=strategy, steps=steps, participations=1)


def test_the_square_root_grows_as_its_theorem_says():
    """Henzinger, Upadhyay and Upadhyay: (ln T)/pi + O(1), and no factorisation does better by
    more than a constant."""
    sizes = np.array([64, 256, 1024])
    k = np.arange(2 * sizes[-1])
    coefficients = np.exp(gammaln(2 * k + 1) - 2 * gammaln(k + 1) - k * np.log(4))
    rows = np.cumsum(coefficients**2)  # of both factors: squared norms of the rows, of a column
    errors = np.array([prefix_error(square_root_strategy(steps=n), n) for n in sizes])
    exact = [np.sqrt(rows[n - 1] * rows[:n].mean()) for n in sizes]
    np.testing.assert_allclose(errors, exact, rtol=1e-10)
    # The squares are 1/(pi k) - 1/(4 pi k^2) + O(k^-3); their sum from n to 2n - 1:
    growth = rows[2 * sizes - 1] - rows[sizes - 1]
    assert np.all(np.abs(growth - (np.log(2) + 1 / (8 * sizes)) / np.pi) < sizes**-2.0)
    least = [np.linalg.norm(np.tril(np.ones((n, n))), "nuc") / n for n in sizes]
    assert np.all(errors > least) and np.all(errors < np.array(least) + 0.6)


def test_the_tree_and_its_decoders():
    """Each node has a noise of its own; a prefix sum is a sum of nodes, one a bit of its length."""
    steps = 64
    strategy = tree_strategy(steps=steps)
    levels = worst_sensitivity(correlation=strategy, steps=steps, participations=1)
    assert levels == pytest.approx(np.sqrt(7), rel=1e-12)
    nodes = np.array(
        [
            (np.arange(steps) >> level) == node
            for level in range(7)
            for node in range(steps >> level)
        ]
    ).astype(float)
    np.testing.assert_allclose(strategy.T @ strategy, nodes.T @ nodes, atol=1e-12)
    best = np.tril(np.ones((steps, steps))) @ np.linalg.pinv(nodes)  # Honaker's decoder
    noising = noising_matrix(correlation=strategy, steps=steps)
    prefixes = np.linalg.norm(np.cumsum(noising, axis=0), axis=1)
    np.testing.assert_allclose(prefixes, np.linalg.norm(best, axis=1), rtol=1e-10)
    plain = np.sqrt([(t + 1).bit_count() for t in range(steps)])
    assert np.all(prefixes <= plain * (1 + 1e-12))
    assert prefix_error(square_root_strategy(steps=steps), steps) < prefix_error(strategy, steps)


@pytest.mark.parametrize(
    "wrong",
    [
        "x", [], [0.0, 1.0], [-1.0, 0.5], 1.0, np.nan, np.eye(3), np.ones((4, 4)), -np.eye(4),
        np.zeros((1, 4, 4)),
    ],
)  # fmt: skip
def test_bad_strategies_are_named(wrong):
    for function in (strategy_matrix, noising_matrix, strategy_norm, worst_sensitivity):
        with pytest.raises(ValueError, match="correlation"):
            function(correlation=wrong, steps=4)
    with pytest.raises(ValueError, match="correlation"):
        cumulative_noise_std(noise_multiplier=1.0, correlation=wrong, steps=4)


def test_columns_that_point_apart_are_refused():
    for known in (worst_sensitivity, participation_sensitivity):
        size = {"steps": 4} if known is worst_sensitivity else {"pattern": np.ones(4)}
        with pytest.raises(ValueError, match="nonnegative inner products"):
            known(correlation=[1.0, -0.5], **size)
    with pytest.raises(ValueError, match="bands"):
        square_root_strategy(steps=4, bands=0)
    with pytest.raises(ValueError, match="steps"):
        tree_strategy(steps=0)


# --- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"correlation": 1.0}, "correlation"),
        ({"correlation": -0.1}, "correlation"),
        ({"noise_multiplier": 0.0}, "noise_multiplier"),
        ({"sampling_probability": 1.1}, "sampling_probability"),
        ({"steps": 0}, "steps"),
        ({"epsilon": np.nan}, "epsilon"),
        ({"relation": "replace"}, "relation"),
        ({"relation": "add_remove"}, "relation .* zero_out is covered"),
        ({"blocks": ()}, "blocks"),
        ({"blocks": (0,)}, "block"),
        ({"blocks": (13,)}, "block"),
    ],
)
def test_errors_of_the_interval(change, match):
    with pytest.raises(ValueError, match=match):
        ask(CorrelatedPoisson, "delta", **(RUN | {"epsilon": 1.0} | change))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"delta": 0.0}, "delta"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 0.5, "steps": 2}, "no noise"),
        ({"delta": 1.5}, "delta"),
    ],
)
def test_errors_of_calibration(change, match):
    with pytest.raises(ValueError, match=match):
        ask(CorrelatedPoisson, "noise_for", **(BUDGET | change))


def test_other_errors():
    with pytest.raises(ValueError, match="separation"):
        worst_sensitivity(correlation=0.5, steps=3, separation=0)
    with pytest.raises(ValueError, match="pattern"):
        participation_sensitivity(correlation=0.5, pattern=1.0)
    with pytest.raises(ValueError, match="pattern"):
        participation_sensitivity(correlation=0.5, pattern=[-1.0, 1.0])
    with pytest.raises(ValueError, match="nothing to sample"):
        sampled_delta(**(RUN | {"sampling_probability": 1.0}), epsilon=1.0)


@pytest.mark.parametrize("epsilon", [709.0, 710.0, 1500.0, 1e4])
def test_profile_beyond_the_largest_exponential(epsilon):
    near, far = (GaussianMixturePair(np.array([0.0, m]), np.array([0.9, 0.1])) for m in (1.0, 1e4))
    assert near.delta(epsilon, "remove") == (0.0, 0.0)
    assert near.delta(epsilon, "add") == far.delta(epsilon, "add") == (0.0, 0.0)
    low, high = far.delta(epsilon, "remove")  # the mass of the infinite losses
    assert low <= 0.1 <= high
    assert high - low < 1e-11
    edge = GaussianMixturePair(np.array([0.0, 50.0]), np.array([0.8, 0.2]))
    loss = norm.logsf(x := edge_of(edge, epsilon))
    expected = 0.2 * norm.sf(x - 50) + 0.8 * norm.sf(x) - np.exp(epsilon + loss)
    assert edge.delta(epsilon, "remove") == pytest.approx((expected, expected), rel=1e-9, abs=1e-99)


def edge_of(pair, epsilon):
    """Return where the loss of two means is epsilon, in closed form."""
    mean, (idle, weight) = pair.means[1], pair.weights
    rest = epsilon + np.log1p(-idle * np.exp(-epsilon)) - np.log(weight)
    return rest / mean + mean / 2


def test_long_budgets_of_a_run_without_noise():
    run = {"correlation": 0.5, "sampling_probability": 0.1, "steps": 20, "blocks": (1, 3)}
    bracket = ask(
        CorrelatedPoisson, "delta", noise_multiplier=1e-3, epsilon=[1.0, 711.0, 5e3], **run
    )
    assert np.allclose(bracket.lower, 1 - 0.9**20, rtol=1e-9)
    assert np.allclose(bracket.upper, 1 - 0.9**20, rtol=1e-9)


def test_the_cumulative_noise_of_full_batches_is_the_limit_of_sampling():
    budget = {"epsilon": 1.0, "delta": 1e-5, "steps": 9}
    full, nearly = (
        cumulative_noise_lower_bound(sampling_probability=q, **budget) for q in (1.0, 1 - 1e-7)
    )
    assert full == pytest.approx(nearly, rel=1e-5)
    assert full == pytest.approx(9 * gaussian_noise_multiplier(epsilon=1.0, delta=1e-5))
