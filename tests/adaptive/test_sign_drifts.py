"""Mean signs of private gradients against samples and integrals, approximate against exact."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import erf
from scipy.stats import norm
from scipy.stats import t as student

from dpdynamics.adaptive import sign_mean

CASES = [  # coordinate, length, noise, dimension, clip, multiplier, batch, degrees of freedom
    (0.1, 1.0, 0.1, 100, 1.0, 0.05, 1, np.inf),
    (0.1, 1.0, 0.1, 100, 1.0, 1.0, 16, np.inf),
    (-0.3, 0.5, 0.3, 3, 0.6, 0.3, 1, np.inf),
    (0.3, 0.5, 0.3, 3, 0.6, 0.3, 4, np.inf),
    (0.3, 0.5, 0.3, 2, 0.6, 0.3, 3, np.inf),
    (0.1, 1.0, 0.1, 50, 1.0, 0.3, 1, 1.0),
    (0.2, 0.2, 0.2, 5, 1.0, 0.2, 3, 3.0),
]


@pytest.mark.parametrize("case", CASES)
def test_exact_means_by_sampling(case):
    m, length, sigma, d, clip, s, batch, nu = case
    rng, n = np.random.default_rng(5), int(1e7 / (batch * d))
    total = np.zeros(n)
    for _ in range(batch):
        w = 1.0 if np.isinf(nu) else np.sqrt(rng.chisquare(nu, (n, 1)) / nu)
        x = sigma * rng.standard_normal((n, d)) / w
        x[:, 0] += m
        x[:, 1] += np.sqrt(length**2 - m**2)
        total += x[:, 0] * np.minimum(1, clip / np.linalg.norm(x, axis=1))
    sample = erf(total / (np.sqrt(2) * clip * s))
    exact = sign_mean(m, length, sigma, d, clip, s, batch_size=batch, degrees_of_freedom=nu)
    assert abs(exact - sample.mean()) < 4.5 * sample.std() / np.sqrt(n)


def test_one_dimension_by_integrals():
    m, sigma, clip, s = 0.3, 0.5, 0.4, 0.3

    def value(z1, z2):
        total = np.clip(m + sigma * z1, -clip, clip) + np.clip(m + sigma * z2, -clip, clip)
        return erf(total / (np.sqrt(2) * clip * s)) * norm.pdf(z1) * norm.pdf(z2)

    kinks = [(-clip - m) / sigma, (clip - m) / sigma]
    pieces = list(pairwise([-9, *kinks, 9]))
    two = sum(dblquad(value, *p, *q, epsabs=1e-11)[0] for p in pieces for q in pieces)
    assert sign_mean(m, m, sigma, 1, clip, s, batch_size=2) == pytest.approx(two, abs=1e-8)

    for nu, density in ((np.inf, norm.pdf), (2.0, student(2.0).pdf)):

        def one(z, density=density):
            return erf(np.clip(m + sigma * z, -clip, clip) / (np.sqrt(2) * clip * s)) * density(z)

        expected = sum(
            quad(one, *piece, epsabs=1e-11)[0] for piece in pairwise([-np.inf, *kinks, np.inf])
        )
        found = sign_mean(m, m, sigma, 1, clip, s, degrees_of_freedom=nu)
        assert found == pytest.approx(expected, abs=1e-8)


def test_directions_in_three_dimensions_by_their_density():
    """A tiny clipping norm leaves directions; the law of their coordinate is elementary."""
    rho, s = 1.5, 0.02
    u, weights = np.polynomial.legendre.leggauss(1000)
    a = rho * u
    law = np.exp((a**2 - rho**2) / 2) * (1 + a**2) * norm.cdf(a)
    law = weights * (law + a * np.exp(-(rho**2) / 2) / np.sqrt(2 * np.pi))
    assert law.sum() == pytest.approx(1, rel=1e-12)
    one = law @ erf(u / (np.sqrt(2) * s))
    two = law @ erf((u[:, None] + u) / (np.sqrt(2) * s)) @ law
    for batch, expected in ((1, one), (2, two)):
        found = sign_mean(rho, rho, 1.0, 3, 1e-5, s, batch_size=batch)
        assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("batch", [1, 3, 20])
def test_without_clipping_the_gaussian_formula_is_exact(batch):
    m, sigma, clip = 0.2, 0.3, 50.0
    s = 0.4 / clip
    std = np.sqrt(sigma**2 / batch + (clip * s / batch) ** 2)
    exact = sign_mean(m, 1.0, sigma, 6, clip, s, batch_size=batch)
    averaged = sign_mean(m, 1.0, sigma, 6, clip, s, batch_size=batch, exact=False)
    assert erf(m / std / np.sqrt(2)) == pytest.approx(exact, abs=1e-7)
    assert averaged == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize(("batch", "s"), [(1, 0.1), (16, 1.0), (64, 8.0)])
def test_the_average_over_the_batch_is_close_and_needed(batch, s):
    arguments = (0.5, 1.0, 1.0, 100, 0.1, s)
    exact = sign_mean(*arguments, batch_size=batch)
    averaged = sign_mean(*arguments, batch_size=batch, exact=False)
    assert averaged == pytest.approx(exact, rel=0.012 if batch == 1 else 1e-3)
    # the printed drift averages the error function over one direction with the noise of a batch
    printed = sign_mean(0.5, 1.0, 1.0, 100, 0.1, s / batch)
    if batch > 1:
        assert abs(printed / exact - 1) > 0.1


def test_signs_and_symmetry():
    at = np.array([-0.4, 0.0, 0.4])
    for exact in (True, False):
        for batch in (1, 5):
            values = sign_mean(at, 0.5, 0.2, 10, 0.6, 0.5, batch_size=batch, exact=exact)
            assert values[1] == pytest.approx(0, abs=1e-12)
            assert values[2] == pytest.approx(-values[0], rel=1e-9)
            assert 0 < values[2] < 1


def test_errors():
    for arguments, name in (
        ((2.0, 1.0, 1.0, 3, 1.0, 1.0), "coordinate"),
        ((0.5, 1.0, 0.0, 3, 1.0, 1.0), "noise_scale"),
        ((0.5, 1.0, 1.0, 0, 1.0, 1.0), "dimension"),
        ((0.5, 1.0, 1.0, 3, 0.0, 1.0), "clip_norm"),
        ((0.5, 1.0, 1.0, 3, 1.0, -1.0), "noise_multiplier"),
    ):
        for exact in (True, False):
            with pytest.raises(ValueError, match=name):
                sign_mean(*arguments, exact=exact)
    with pytest.raises(ValueError, match="noise_multiplier"):
        sign_mean(0.5, 1.0, 1.0, 3, 1.0, 0.0)
    with pytest.raises(ValueError, match="batch_size"):
        sign_mean(0.5, 1.0, 1.0, 3, 1.0, 1.0, batch_size=0, exact=False)
    with pytest.raises(ValueError, match="std"), np.errstate(invalid="ignore"):
        sign_mean(1.0, 1.0, 1e-20, 1, 1.0, 0.0, exact=False)
