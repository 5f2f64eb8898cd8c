"""Moments of a clipped vector against one-dimensional integrals, closed forms and samples."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erfc
from scipy.stats import chi2, ncx2, norm
from scipy.stats import t as student

from dpdynamics.adaptive import NoisyVector

CASES = [  # mean, noise, dimension, clip
    (1.0, 1.0, 2, 1.2),
    (0.5, 0.3, 3, 0.6),
    (0.01, 0.1, 20, 0.4),
    (8.0, 1.0, 7, 8.2),
    (3.0, 1 / 32, 1024, 3.2),
    (0.0, 1.0, 5, 2.0),
]


@pytest.mark.parametrize("case", CASES)
def test_gaussian_moments_by_noncentral_chi_squares(case):
    mean, sigma, d, clip = case
    noncentral, c = (mean / sigma) ** 2, clip / sigma

    def share(k, power):
        law = ncx2(k, noncentral) if noncentral else chi2(k)
        far = quad(
            lambda r: (c / r) ** power * law.pdf(r * r) * 2 * r,
            c,
            max(c, np.sqrt(noncentral + k)) + 12,
            epsabs=1e-13,
            epsrel=1e-11,
            limit=400,
        )[0]
        return law.cdf(c * c) + far

    found = NoisyVector(mean, sigma, d).clipped(clip)
    across = sigma**2 * share(d + 2, 2)
    assert found.mean == pytest.approx(mean * share(d + 2, 1), rel=1e-9)
    assert found.perpendicular == pytest.approx(across, rel=1e-9)
    assert found.parallel == pytest.approx(across + mean**2 * share(d + 4, 2), rel=1e-9)
    law = ncx2(d, noncentral) if noncentral else chi2(d)
    assert found.clip_probability == pytest.approx(law.sf(c * c), abs=1e-10)


def test_a_gaussian_in_one_dimension_in_closed_form():
    mean, sigma, clip = 0.7, 1.3, 1.1
    a, b = (-clip - mean) / sigma, (clip - mean) / sigma
    inside, below, above = norm.cdf(b) - norm.cdf(a), norm.cdf(a), norm.sf(b)
    first = mean * inside + sigma * (norm.pdf(a) - norm.pdf(b)) + clip * (above - below)
    found = NoisyVector(mean, sigma, 1).clipped(clip)
    assert found.mean == pytest.approx(first, rel=1e-11)
    assert found.clip_probability == pytest.approx(above + below, rel=1e-12)
    assert found.perpendicular == 0


@pytest.mark.parametrize("nu", [0.7, 1.0, 3.0, 50.0])
def test_a_student_variable_in_one_dimension_by_an_integral(nu):
    mean, sigma, clip = 0.7, 0.4, 1.1
    law = student(nu, mean, sigma)
    tails = law.sf(clip), law.cdf(-clip)
    moment = [law.expect(lambda x, p=p: x**p, lb=-clip, ub=clip, epsabs=1e-13) for p in (1, 2)]
    found = NoisyVector(mean, sigma, 1, nu).clipped(clip)
    assert found.mean == pytest.approx(moment[0] + clip * (tails[0] - tails[1]), rel=1e-9)
    assert found.parallel == pytest.approx(moment[1] + clip**2 * sum(tails), rel=1e-9)
    assert found.clip_probability == pytest.approx(sum(tails), abs=1e-10)


@pytest.mark.parametrize(
    "case", [(2.0, 0.1, 100, 2.0, 3.0), (0.2, 0.1, 100, 1.0, 1.0), (1.0, 0.05, 5, 1.2, 2.0)]
)
def test_student_moments_by_sampling(case):
    mean, sigma, d, clip, nu = case
    rng, n = np.random.default_rng(3), 4_000_000 // d
    x = sigma * rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(nu, (n, 1)) / nu)
    x[:, 0] += mean
    length = np.linalg.norm(x, axis=1, keepdims=True)
    y = x * np.minimum(1, clip / length)
    samples = [y[:, 0], y[:, 0] ** 2, (y[:, 1:] ** 2).mean(axis=1), length[:, 0] > clip]
    found = NoisyVector(mean, sigma, d, nu).clipped(clip)
    for value, sample in zip(found, samples, strict=True):
        assert abs(value - sample.mean()) < 4.5 * sample.std() / np.sqrt(n)
    direction = NoisyVector(mean / sigma, 1.0, d, nu).direction
    assert abs(found.mean / direction.mean - clip) > 1e-4  # not all clipped


@pytest.mark.parametrize("nu", [1.0, 4.0, np.inf])
@pytest.mark.parametrize("d", [1, 2, 64])
def test_the_limits_of_the_clipping_norm(nu, d):
    mean, sigma = 0.8, 0.3
    small = NoisyVector(mean, sigma, d, nu).clipped(1e-7)
    direction = NoisyVector(mean / sigma, 1.0, d, nu).direction
    # a share of order (clip / sigma)^d is not clipped
    tolerance = 1e-6 if d == 1 else 1e-10
    assert small.mean / 1e-7 == pytest.approx(direction.mean, rel=tolerance)
    assert small.parallel / 1e-14 == pytest.approx(direction.parallel, rel=tolerance)
    assert small.perpendicular / 1e-14 == pytest.approx(direction.perpendicular, rel=tolerance)
    assert small.clip_probability == pytest.approx(1, abs=1e-6)
    if nu > 2:
        large = NoisyVector(mean, sigma, d, nu).clipped(1e6)
        variance = sigma**2 * (1 if np.isinf(nu) else nu / (nu - 2))
        assert large.mean == pytest.approx(mean, rel=1e-9)
        assert large.parallel == pytest.approx(variance + mean**2, rel=1e-8)
        assert large.clip_probability < 1e-9


def test_large_degrees_of_freedom_are_nearly_gaussian():
    gaussian, near = (NoisyVector(1.0, 0.2, 30, nu).clipped(1.4) for nu in (np.inf, 1e7))
    np.testing.assert_allclose(near, gaussian, rtol=1e-6)
    far = NoisyVector(1.0, 0.2, 30, 30.0).clipped(1.4)
    assert abs(far.mean / gaussian.mean - 1) > 1e-3


@pytest.mark.parametrize("nu", [1.5, np.inf])
def test_the_uniform_formula_is_of_order_one_over_d(nu):
    clips = np.array([0.5, 1.1, 3.0])
    errors = []
    for d in (100, 400):
        mean = np.array([[0.05], [1.0], [4.0]])
        exact = NoisyVector(mean, 1 / np.sqrt(d), d, nu).clipped(clips).mean
        errors.append(
            np.abs(
                NoisyVector(mean, 1 / np.sqrt(d), d, nu).clipped_mean_at_large_dimension(clips)
                / exact
                - 1
            )
        )
    assert errors[0].max() < 0.01
    # where clipping is neither rare nor certain the error is of order 1/sqrt(d) for Gaussian noise
    assert errors[1].max() < 0.6 * errors[0].max()


def test_the_uniform_formula_in_closed_form():
    """The scale of this Student noise is the absolute value of a standard normal."""
    found = NoisyVector(1.0, 0.1, 100, 1.0).clipped_mean_at_large_dimension(1.0)
    assert found == pytest.approx(np.sqrt(np.e) * erfc(np.sqrt(0.5)), rel=1e-10)
    heavy = NoisyVector(1.0, 0.1, 100, 0.2).clipped_mean_at_large_dimension(1.0)
    assert heavy == pytest.approx(0.265664472631122032, rel=1e-13)  # by mpmath, 30 digits


def test_a_large_dimension_keeps_digits():
    d, clip = 10**6, 1.0005
    coarse = NoisyVector(0.3, 1e-3, d).clipped(clip)
    # near the onset the length is normal to 1/sqrt(d)
    mean, std = np.sqrt(1 + 0.09), np.sqrt((0.5 + 0.09) / (d * 1.09))
    assert coarse.clip_probability == pytest.approx(norm.sf(clip, mean, std), abs=2e-3)
    assert coarse.parallel + (d - 1) * coarse.perpendicular <= clip**2 * (1 + 1e-10)


def test_shapes_and_errors():
    found = NoisyVector(np.ones(2), 1.0, 3).clipped([[1.0], [2.0], [3.0]])
    assert all(entry.shape == (3, 2) for entry in found)
    assert isinstance(NoisyVector(1.0, 1.0, 3).clipped(1.0).mean, float)
    for arguments, name in (
        ((-1.0, 1.0, 3), "mean_norm"),
        ((1.0, 0.0, 3), "noise_scale"),
        ((1.0, 1.0, 0), "dimension"),
        ((1.0, 1.0, 3, -1.0), "degrees_of_freedom"),
        ((1.0, 1.0, 3, 1e308), "degrees_of_freedom"),
    ):
        with pytest.raises(ValueError, match=name):
            NoisyVector(*arguments)
    vector = NoisyVector(1.0, 1.0, [3, 4])
    for clip, name in ((0.0, "clip_norm"), (np.ones(3), "clip_norm")):
        for method in (vector.clipped, vector.clipped_mean_at_large_dimension):
            with pytest.raises(ValueError, match=name):
                method(clip)
