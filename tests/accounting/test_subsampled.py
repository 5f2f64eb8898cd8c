from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq
from scipy.special import logsumexp

from accounting.asking import ask
from dpdynamics.accounting import Poisson
from dpdynamics.divergence.gaussian import gaussian_delta, gaussian_epsilon
from dpdynamics.divergence.gaussian_pair import Gaussian
from dpdynamics.numerics.convolution import hockey_stick_convolution
from dpdynamics.numerics.inversion import InversionError, hockey_stick_inversion

DIRECTIONS = ("remove", "add", "replace")


def _delta(noise, q, steps, epsilon, relation="add_remove"):
    return Poisson(sampling_probability=q, steps=steps, relation=relation).delta(
        noise_multiplier=noise, epsilon=epsilon
    )


def _epsilon(noise, q, steps, delta, relation="add_remove"):
    return Poisson(sampling_probability=q, steps=steps, relation=relation).epsilon(
        noise_multiplier=noise, delta=delta
    )


def _log_densities(x, noise, q, relation):
    """Up to a common factor, from the definition, in the units of the sensitivity."""

    def mixture(center):
        return np.logaddexp(
            np.log1p(-q) - x**2 / (2 * noise**2), np.log(q) - (x - center) ** 2 / (2 * noise**2)
        )

    idle = -(x**2) / (2 * noise**2)
    pairs = {
        "remove": (mixture(1), idle),
        "add": (idle, mixture(1)),
        "replace": (mixture(1), mixture(-1)),
    }
    return pairs[relation]


def _one_step(noise, q, epsilon, relation):
    """The profile of one step by quadrature of |p - e^epsilon q|, in multiple precision."""
    with mp.workdps(40):
        s, q, e = mp.mpf(noise), mp.mpf(q), mp.mpf(epsilon)

        def normal(x, m):
            return mp.npdf(x, m, s)

        def tail(x, m):
            return mp.ncdf((m - x) / s)

        weights = {
            "remove": ({0: 1 - q, 1: q}, {0: mp.mpf(1)}),
            "add": ({0: mp.mpf(1)}, {0: 1 - q, 1: q}),
            "replace": ({0: 1 - q, 1: q}, {0: 1 - q, -1: q}),
        }
        p, other = weights[relation]

        def gap(x):
            return sum(w * normal(x, m) for m, w in p.items()) - mp.exp(e) * sum(
                w * normal(x, m) for m, w in other.items()
            )

        grid = [mp.mpf(k) / 4 * s for k in range(-160, 161)]
        total = mp.mpf(0)
        crossings = [
            mp.findroot(gap, (a, b), solver="anderson", tol=1e-60, verify=False)
            for a, b in pairwise(grid)
            if gap(a) * gap(b) < 0
        ]
        for x in crossings:  # one sided: p - e^epsilon q changes sign once
            upper = sum(w * tail(x, m) for m, w in p.items()) - mp.exp(e) * sum(
                w * tail(x, m) for m, w in other.items()
            )
            total = upper if gap(x + s / 100) > 0 else 1 - mp.exp(e) - upper
        return float(total)


@pytest.mark.parametrize("relation", DIRECTIONS)
@pytest.mark.parametrize(
    ("noise", "q", "epsilon"),
    [(1.0, 0.1, 0.05), (0.3, 0.01, 2.0), (2.0, 0.5, 0.3), (5.0, 0.2, -0.01), (0.7, 0.9, 0.4)],
)
def test_one_step(noise, q, epsilon, relation):
    exact = _one_step(noise, q, epsilon, relation)
    assert _delta(noise, q, 1, epsilon, relation) == pytest.approx(exact, rel=1e-9, abs=1e-30)


def _compose(noise, q, epsilon, relation, profile, bend):
    """E_P[profile(epsilon - L)]: one step more than a profile that bends sharply at `bend`."""

    def loss(x):
        log_p, log_q = _log_densities(x, noise, q, relation)
        return log_p - log_q

    low, high = -13 * noise - 1, 13 * noise + 1
    edges = np.linspace(low, high, 81)
    if (epsilon - bend - loss(low)) * (epsilon - bend - loss(high)) < 0:
        place = brentq(lambda x: epsilon - bend - loss(x), low, high, xtol=1e-14)
        graded = noise * np.geomspace(1e-9, 2, 60)
        edges = np.union1d(edges, [place, *(place - graded), *(place + graded)])
    nodes, weights = leggauss(16)
    half = np.diff(edges)[:, None] / 2
    x = (edges[:-1, None] + half * (1 + nodes)).ravel()
    mass = np.exp(_log_densities(x, noise, q, relation)[0]) / np.sqrt(2 * np.pi) / noise
    return float(mass * (half * weights).ravel() @ profile(epsilon - loss(x)))


def _two_steps(noise, q, epsilon, relation):
    step = Gaussian(noise, q, relation)
    return _compose(noise, q, epsilon, relation, step.delta, step.base)


CASES = [(1.0, 0.1, 0.1), (0.5, 0.2, 1.0), (2.0, 0.5, 0.5), (0.8, 0.01, 0.5), (0.3, 0.001, 1.0)]


@pytest.mark.parametrize("relation", DIRECTIONS)
@pytest.mark.parametrize(("noise", "q", "epsilon"), CASES)
def test_two_steps(noise, q, epsilon, relation):
    value, exact = _delta(noise, q, 2, epsilon, relation), _two_steps(noise, q, epsilon, relation)
    if relation == "add" and epsilon >= -2 * np.log1p(-q):
        assert value == 0.0
        assert exact == pytest.approx(0.0, abs=1e-15)
    else:
        assert value == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("relation", DIRECTIONS)
@pytest.mark.parametrize(("noise", "q", "epsilon"), [(1.0, 0.3, 0.1), (2.0, 0.5, 0.3)])
def test_three_steps(noise, q, epsilon, relation):
    base = 2 * Gaussian(noise, q, relation).base
    graded = np.geomspace(3e-3, 20, 300)
    table = np.union1d(base - graded, base + graded)
    two = CubicSpline(table, [_two_steps(noise, q, e, relation) for e in table])
    exact = _compose(noise, q, epsilon, relation, two, base)
    assert _delta(noise, q, 3, epsilon, relation) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("relation", DIRECTIONS)
@pytest.mark.parametrize(
    ("noise", "q", "steps", "epsilon"),
    [(1.0, 0.1, 10, 0.5), (3.0, 0.001, 100, 0.01), (0.8, 0.3, 20, 30.0), (1.0, 0.01, 100, -0.1)],
)
def test_inversion_and_convolution_agree(noise, q, steps, epsilon, relation):
    step = Gaussian(noise, q, relation)
    if relation == "add" and epsilon >= steps * step.base:
        return
    first = hockey_stick_inversion(step.cumulants(steps, 1e-20), epsilon)
    second = hockey_stick_convolution(step, steps, epsilon, 1e-20)
    assert first.value == pytest.approx(second.value, rel=3e-8)
    assert abs(first.value - second.value) <= 3 * (first.error + second.error)


def test_convolution_takes_over_where_the_transform_decays_too_slowly():
    step = Gaussian(0.3, 0.001, "remove")
    with pytest.raises(InversionError):
        hockey_stick_inversion(step.cumulants(2, 1e-12), 1.0)
    value, error = hockey_stick_convolution(step, 2, 1.0, 1e-12)
    assert error <= 1e-7 * value
    assert _delta(0.3, 0.001, 2, 1.0, "remove") == value


@pytest.mark.parametrize(("relation", "factor"), [("add_remove", 1), ("replace", 2)])
def test_full_sampling_is_the_gaussian_mechanism(relation, factor):
    for steps, noise in ((3, 3**0.5), (9999, 100.0), (10000, 100.0)):
        mu = factor * np.sqrt(steps) / noise
        epsilons = np.array([0.1, 1.0, 10.0])
        np.testing.assert_allclose(
            _delta(noise, 1.0, steps, epsilons, relation),
            gaussian_delta(mu=mu, epsilon=epsilons),
            rtol=1e-12,
        )
        assert _epsilon(noise, 1.0, steps, 1e-6, relation) == pytest.approx(
            gaussian_epsilon(mu=mu, delta=1e-6), rel=1e-12
        )
    # and the general engine has this limit
    step = Gaussian(2.0, 1 - 1e-15, "remove")
    value = hockey_stick_inversion(step.cumulants(4, 1e-12), 1.0).value
    assert value == pytest.approx(gaussian_delta(mu=1.0, epsilon=1.0), rel=1e-9)


@pytest.mark.parametrize(
    ("noise", "q", "steps", "epsilon", "value", "tolerance"),
    [
        (3**0.5, 1.0, 3, 1.0, 0.126936737506644, 1e-12),
        (0.5, 0.2, 3, 1.0, 0.155933, 1e-6),
        (0.67379294682, 0.01, 1, 1.0, 1e-5, 1e-10),
        (3.20956502598 / 6, 0.001, 25, 1.0, 1e-5, 1e-9),
    ],
)
def test_published_deltas(noise, q, steps, epsilon, value, tolerance):
    assert _delta(noise, q, steps, epsilon) == pytest.approx(value, abs=tolerance)


def test_published_epsilon():
    # opacus: central limit in (6.59, 6.6), PRV upper bound 6.7774, RDP 7.3291
    assert 6.6 < _epsilon(1.5, 0.04, 2249, 1e-5) < 6.77739572


@pytest.mark.parametrize("relation", ["remove", "add"])
def test_tail_by_importance_sampling(relation):
    noise, q, steps = 1.0, 0.05, 60
    epsilon, tilt = 3.0 if relation == "remove" else 1.6, 0.5
    rng = np.random.default_rng(3)
    # Sample under P with more (or fewer) and larger contributions, reweight by the likelihood.
    rate, center = (0.17, 2.0) if relation == "remove" else (0.0, -tilt)
    chosen = rng.random((60_000, steps)) < rate
    x = rng.normal(size=chosen.shape) * noise + np.where(chosen, center, 0.0)
    if relation == "add":
        x += center
        log_proposal = -((x - center) ** 2) / 2
    else:
        log_proposal = np.logaddexp(
            np.log1p(-rate) - x**2 / 2, np.log(rate) - (x - center) ** 2 / 2
        )
    log_p, log_q = _log_densities(x, noise, q, relation)
    loss = (log_p - log_q).sum(axis=1)
    weight = np.exp((log_p - log_proposal).sum(axis=1))
    sample = weight * -np.expm1(np.minimum(epsilon - loss, 0))
    exact = _delta(noise, q, steps, epsilon, relation)
    error = sample.std() / np.sqrt(len(sample))
    assert exact < 1e-3
    assert error < 0.1 * exact
    assert abs(sample.mean() - exact) < 5 * error


def _renyi_bound(noise, q, steps, epsilon):
    """delta from the Renyi divergence of the remove direction, at the best integer order."""
    best = 0.0
    for order in (2, 3, 4, 6, 8, 12, 16, 24, 32, 64):
        k = np.arange(order + 1)
        log_binomial = np.array([float(mp.log(mp.binomial(order, int(i)))) for i in k])
        log_a = logsumexp(
            log_binomial + (order - k) * np.log1p(-q) + k * np.log(q) + k * (k - 1) / (2 * noise**2)
        )
        exponent = steps * log_a - (order - 1) * epsilon + (order - 1) * np.log1p(-1 / order)
        best = min(best, exponent - np.log(order))
    return np.exp(best)


@settings(max_examples=25)
@given(
    noise=st.floats(0.6, 20),
    q=st.floats(1e-3, 0.9),
    steps=st.integers(20, 20_000),
    delta=st.sampled_from([1e-2, 1e-5, 1e-9]),
)
def test_monotone_and_below_renyi(noise, q, steps, delta):
    try:
        epsilon = _epsilon(noise, q, steps, delta, "remove")
    except InversionError:
        return
    if not 1e-6 < epsilon < 100:
        return
    value = _delta(noise, q, steps, epsilon, "remove")
    assert value == pytest.approx(delta, rel=1e-6)
    assert value <= _renyi_bound(noise, q, steps, epsilon) * (1 + 1e-9)
    assert _delta(noise, q, steps, 1.1 * epsilon, "remove") < value
    assert _delta(1.05 * noise, q, steps, epsilon, "remove") < value
    assert _delta(noise, q, steps + steps // 10, epsilon, "remove") > value
    assert _delta(noise, min(1.05 * q, 1.0), steps, epsilon, "remove") > value


@pytest.mark.parametrize(
    ("noise", "q", "steps", "delta"),
    [
        (0.3, 0.01, 100_000, 1e-12),
        (100.0, 0.01, 100_000, 1e-12),
        (100.0, 0.9, 100_000, 1e-5),
        (1.0, 1e-4, 100_000, 1e-5),
        (20.0, 0.01, 2, 1e-10),
    ],
)
def test_extremes(noise, q, steps, delta):
    epsilon = _epsilon(noise, q, steps, delta)
    values = [_delta(noise, q, steps, epsilon, relation) for relation in ("remove", "add")]
    assert max(values) == pytest.approx(delta, rel=1e-6)
    # sandwiched: a larger delta needs a smaller epsilon
    assert _epsilon(noise, q, steps, 1.1 * delta) < epsilon < _epsilon(noise, q, steps, delta / 1.1)


def test_refusal():
    # A hump that P never reaches hides the saddle point, and a mesh would be too long.
    with pytest.raises(ArithmeticError, match="accuracy"):
        _epsilon(1.0, 1e-4, 100_000, 1e-12, "remove")


def test_directions():
    epsilons = np.array([0.2, 1.0, 3.0])
    both = _delta(1.0, 0.02, 500, epsilons)
    remove, add = (_delta(1.0, 0.02, 500, epsilons, r) for r in ("remove", "add"))
    np.testing.assert_array_equal(both, np.maximum(remove, add))
    # exchanging P and Q, from the profile at -epsilon
    back = _delta(1.0, 0.02, 500, -epsilons, "remove")
    np.testing.assert_allclose(
        add, 1 - np.exp(epsilons) + np.exp(epsilons) * back, rtol=1e-8, atol=1e-11
    )
    assert np.all(_delta(1.0, 0.02, 500, epsilons, "replace") > both)


def test_losses_end_where_they_must():
    edge = -5 * np.log1p(-0.1)
    assert _delta(1.0, 0.1, 5, edge + 1e-3, "add") == 0.0
    assert _delta(1.0, 0.1, 5, -edge - 0.1, "remove") == pytest.approx(-np.expm1(-edge - 0.1))
    assert _epsilon(0.4, 1e-4, 5, 1e-3) == 0.0  # the record hardly ever takes part


def test_shapes():
    assert isinstance(_delta(1.0, 0.1, 10, 1.0), float)
    assert _delta(1.0, 0.1, 10, np.ones((2, 2))).shape == (2, 2)
    assert isinstance(_epsilon(1.0, 0.1, 10, 1e-5), float)
    assert _epsilon(1.0, 0.1, 10, [1e-5, 1e-6]).shape == (2,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("noise_multiplier", 0.0),
        ("sampling_probability", 0.0),
        ("sampling_probability", 1.5),
        ("steps", 0),
        ("steps", 1.5),
        ("epsilon", np.nan),
        ("relation", "none"),
    ],
)
def test_bad_arguments(name, value):
    arguments = {
        "noise_multiplier": 1.0,
        "sampling_probability": 0.1,
        "steps": 10,
        "epsilon": 1.0,
        "relation": "add",
    }
    with pytest.raises(ValueError, match=name):
        ask(Poisson, "delta", **{**arguments, name: value})


def test_bad_delta():
    with pytest.raises(ValueError, match="delta"):
        _epsilon(1.0, 0.1, 10, 1.0)


@pytest.mark.parametrize(("noise", "q", "epsilon"), [(0.7, 0.03, 45.98), (0.5, 0.03, 64.38)])
def test_delta_is_a_probability_where_privacy_is_lost(noise, q, epsilon):
    delta = Poisson(sampling_probability=q, steps=100_000).delta(
        noise_multiplier=noise, epsilon=epsilon
    )
    assert 0.999 < delta <= 1


def test_a_loss_beyond_every_mesh_is_refused_in_words():
    with pytest.raises(ArithmeticError, match="too large for its transform"):
        Poisson(sampling_probability=0.5, steps=100).epsilon(noise_multiplier=0.02, delta=1e-9)
