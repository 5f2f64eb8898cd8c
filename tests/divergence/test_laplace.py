"""The Laplace mechanism: closed forms, integrals of its densities, and its composition."""

import mpmath as mp
import numpy as np
import pytest

from dpdynamics.accounting import Poisson, compose
from dpdynamics.divergence import Gaussian, Laplace, Pair

RELATIONS = ("remove", "add", "replace")


def _densities(b, q, relation):
    """P and Q, with the points where they bend."""

    def noise(x):
        return mp.exp(-abs(x) / b) / (2 * b)

    def mixed(place):
        return lambda x: (1 - q) * noise(x) + q * noise(x - place)

    return {
        "remove": (mixed(1), noise, [0, 1]),
        "add": (noise, mixed(1), [0, 1]),
        "replace": (mixed(1), mixed(-1), [-1, 0, 1]),
    }[relation]


def _law(pair, panels):
    """Losses and their masses under P: the atoms, and Gauss-Legendre panels from -1 to 1."""
    b, q = pair.noise_multiplier, pair.sampling_probability
    nodes, weights = np.polynomial.legendre.leggauss(16)
    ends = np.linspace(-1, 1, 2 * panels + 1)
    half = np.diff(ends)[:, None] / 2
    x = (ends[:-1, None] + half * (1 + nodes)).ravel()
    # Relative to the noise alone.
    up, down = (1 - q + q * np.exp((np.abs(x) - np.abs(x - at)) / b) for at in (1, -1))
    idle = np.ones_like(x)
    p, other = {"remove": (up, idle), "add": (idle, up), "replace": (up, down)}[pair.relation]
    masses = p * np.exp(-np.abs(x) / b) / (2 * b) * (half * weights).ravel()
    losses = np.log(p / other)
    grows = (losses > min(pair.bounds) + 1e-12) & (losses < max(pair.bounds) - 1e-12)
    if pair.relation != "replace":
        grows &= x > 0
    return np.append(pair.atoms[0], losses[grows]), np.append(pair.atoms[1], masses[grows])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("b", "q"), [(1.0, 1.0), (0.4, 0.3), (3.0, 0.01), (0.2, 0.9)])
def test_one_release(b, q, relation):
    pair = Laplace(b, q, relation)
    p, other, bends = _densities(mp.mpf(b), mp.mpf(q), relation)
    low, high = pair.bounds
    for share in (0.1, 0.6, 0.95):
        epsilon = low + share * (high - low)

        def gap(x, epsilon=epsilon):
            return p(x) - mp.exp(epsilon) * other(x)

        ends = [mp.mpf(bends[0]), mp.mpf(bends[-1])]
        for _ in range(60):
            cut = sum(ends) / 2
            ends[int(mp.sign(gap(cut)) != mp.sign(gap(ends[0])))] = cut
        sides = [
            [-mp.inf, *(x for x in bends if x < cut), cut],
            [cut, *(x for x in bends if x > cut), mp.inf],
        ]
        exact = max(mp.quad(gap, side) for side in sides)
        assert pair.delta(epsilon) == pytest.approx(float(exact), rel=1e-10, abs=1e-15)
    for order in (1.5, 4.0):

        def mass(x, order=order):
            return p(x) ** order * other(x) ** (1 - order)

        moment = mp.quad(mass, [-mp.inf, *bends, mp.inf])
        assert pair.renyi(order) == pytest.approx(float(mp.log(moment) / (order - 1)), rel=1e-10)


@pytest.mark.parametrize("b", [0.3, 2.0, 50.0])
def test_closed_forms(b):
    """The profile of one release, and pure privacy: epsilon is at most 1/b a release."""
    epsilon = np.array([0.0, 0.2, 0.9]) / b
    profile = -np.expm1((epsilon - 1 / b) / 2)
    np.testing.assert_allclose(Laplace(b).delta(epsilon), profile, rtol=1e-12)
    assert Laplace(b).delta(1 / b) == 0
    assert compose((Laplace(b), 7)).delta(epsilon=7 / b) == 0
    run = Poisson(sampling_probability=1.0, noise=Laplace)
    assert run.epsilon(noise_multiplier=b, delta=1e-9) <= 1 / b
    assert run.rdp(noise_multiplier=b, orders=[2.0, 1e3])[1] <= 1 / b
    doubled = Poisson(sampling_probability=1.0, noise=Laplace, relation="replace")
    assert doubled.delta(noise_multiplier=b, epsilon=0.1) == pytest.approx(
        Laplace(b / 2).delta(0.1)
    )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("b", "q"), [(1.0, 1.0), (20.0, 1.0)])
def test_two_releases(b, q, relation):
    """The mean over one release of the profile of the other."""
    pair = Laplace(b, q, relation)
    levels, law = _law(pair, 4000)
    assert law.sum() == pytest.approx(1, abs=1e-13)
    low, high = pair.bounds
    for share in (0.2, 0.5, 0.8):
        epsilon = 2 * (low + share * (high - low))
        exact = law @ pair.delta(epsilon - levels)
        found = compose((pair, 2)).delta(epsilon=epsilon)
        assert found == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("relation", RELATIONS)
def test_forty_releases_of_a_sample(relation):
    """Losses put on a mesh such that P and Q keep their masses, which errs by its square."""
    pair, times, epsilon = Laplace(1.0, 0.2, relation), 40, 0.6
    low, high = pair.bounds
    losses, weights = _law(pair, 20_000)

    def on_mesh(cells):
        mesh = (high - low) / cells
        place = np.minimum(((losses - low) / mesh).astype(int), cells - 1)
        right = np.expm1(-(losses - low - mesh * place)) / np.expm1(-mesh)
        law = np.bincount(place, weights * (1 - right), cells + 1)
        law += np.bincount(place + 1, weights * right, cells + 1)
        size = cells * times + 1
        total = np.fft.irfft(np.fft.rfft(law, size) ** times, size)
        levels = times * low + mesh * np.arange(size)
        return total @ -np.expm1(np.minimum(epsilon - levels, 0.0))

    coarse, fine = on_mesh(2000), on_mesh(4000)
    found = compose((pair, times)).delta(epsilon=epsilon)
    assert found < fine < coarse
    assert found == pytest.approx(fine - (coarse - fine) / 3, rel=3e-6)


def test_few_releases_of_a_sample_are_exact_or_refused():
    pair = Laplace(2.0, 0.3)
    levels, law = _law(pair, 4000)
    exact = law @ pair.delta(0.05 - levels)
    assert compose((pair, 2)).delta(epsilon=0.05) == pytest.approx(exact, rel=1e-6)
    with pytest.raises(ArithmeticError, match="too slowly"):
        compose((pair, 2)).delta(epsilon=0.3)


def test_many_releases_and_their_inverse():
    """The answer lies on the profile, and both relations of a full release are one."""
    both = compose((Laplace(10.0), 50))
    assert both.delta(epsilon=both.epsilon(delta=1e-6)) == pytest.approx(1e-6, rel=1e-6)
    run = Poisson(sampling_probability=1.0, steps=50, noise=Laplace)
    found = run.epsilon(noise_multiplier=10.0, delta=1e-6)
    assert found == pytest.approx(both.epsilon(delta=1e-6), rel=1e-14)
    noise = run.noise_for(epsilon=2.0, delta=1e-6)
    assert run.delta(noise_multiplier=noise, epsilon=2.0) == pytest.approx(1e-6, rel=1e-5)
    assert run.delta(noise_multiplier=noise, epsilon=2.0) <= 1e-6


def test_laplace_beside_gaussian_noise():
    """The sum of two transforms, against the mean of one profile over the other loss."""
    mixed = compose((Laplace(2.0), 1), (Gaussian(1.5), 1)).delta(epsilon=0.5)
    pair = Laplace(2.0)
    levels, law = _law(pair, 2000)
    assert mixed == pytest.approx(law @ Gaussian(1.5).delta(0.5 - levels), rel=1e-7)


def test_a_pair_of_ones_own_is_one_class():
    """Randomised response: losses are atoms, and composition is binomial."""

    class Coin(Pair):
        bounds = (-1.0, 1.0)

        def delta(self, epsilon):
            share = 1 / (1 + np.exp(-1.0))
            return np.maximum(share - np.exp(epsilon) * (1 - share), 0.0)

        def cumulants(self, steps, smallest):
            share = 1 / (1 + np.exp(-1.0))

            def log_mgf(first, second, fineness):
                z = first[:, None] + second
                return steps * np.log(share * np.exp(z) + (1 - share) * np.exp(-z))

            return log_mgf

    assert compose((Coin(), 1)).delta(epsilon=0.0) == pytest.approx(np.tanh(0.5))
    assert Coin().renyi(2.0) == pytest.approx(np.log(np.cosh(1.5) / np.cosh(0.5)))
    beside = compose((Coin(), 1), (Gaussian(1.0), 1)).delta(epsilon=1.0)
    share = 1 / (1 + np.exp(-1.0))
    exact = share * Gaussian(1.0).delta(0.0) + (1 - share) * Gaussian(1.0).delta(2.0)
    assert beside == pytest.approx(exact, rel=1e-7)
    with pytest.raises(ArithmeticError, match="too slowly"):
        compose((Coin(), 2)).delta(epsilon=0.5)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"noise_multiplier": 0.0}, "noise_multiplier"),
        ({"noise_multiplier": "x"}, "noise_multiplier"),
        ({"sampling_probability": 0.0}, "sampling_probability"),
        ({"sampling_probability": 1.5}, "sampling_probability"),
        ({"relation": "zero_out"}, "relation"),
    ],
)
@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_bad_arguments_are_named(kind, changed, name):
    with pytest.raises(ValueError, match=name):
        kind(**{"noise_multiplier": 1.0, **changed})


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_a_level_that_is_no_number_is_named(kind):
    for wrong in ("x", np.nan, object()):
        with pytest.raises(ValueError, match="epsilon"):
            kind(1.0).delta(wrong)
    with pytest.raises(ValueError, match="orders"):
        kind(1.0).renyi("x")
    with pytest.raises(ValueError, match="times"):
        compose((kind(1.0), 0))
