"""Designs and label noise: moments by sampling, the eigenbasis by dense linear algebra."""

import mpmath
import numpy as np
import pytest

from dpdynamics.problems import GaussianDesign, GaussianLabelNoise
from dpdynamics.problems.designs import UniformDesign

SPECTRUM = np.array([0.0, 0.2, 1.5, 4.0])


@pytest.mark.parametrize("d", [1, 2, 5, 40])
def test_the_reflection_diagonalises_the_second_moment_of_uniform_entries(d):
    design = UniformDesign(d)
    moment = np.eye(d) / (12 * d) + np.ones((d, d)) / (4 * d)
    basis = design.rotate(np.eye(d))
    np.testing.assert_allclose(basis @ basis.T, np.eye(d), atol=1e-14)
    np.testing.assert_allclose(basis @ moment @ basis.T, np.diag(design.eigenvalues), atol=1e-15)
    v = np.random.default_rng(0).standard_normal((3, d))
    np.testing.assert_allclose(design.rotate(design.rotate(v)), v, atol=1e-13)


@pytest.mark.parametrize("design", [UniformDesign(4), GaussianDesign(SPECTRUM)])
def test_samples_have_the_stated_second_moment(design):
    n = 100_000
    a = design.sample(np.random.default_rng(5), (n, 2)).reshape(2 * n, 4)
    products = a[:, :, None] * a[:, None, :]
    error = np.abs(products.mean(axis=0) - np.diag(design.eigenvalues))
    assert np.all(error <= 5 * products.std(axis=0) / np.sqrt(2 * n) + 1e-12)


def test_uniform_samples_come_from_entries_in_their_interval():
    design = UniformDesign(9)
    entries = design.rotate(design.sample(np.random.default_rng(0), 1000))
    assert entries.min() > -1e-12
    assert entries.max() < 1 / 3 + 1e-12


@pytest.mark.parametrize("clip", [0.01, 1.0, 3.0, 9.0])
def test_clipped_variance_is_the_integral(clip):
    density = lambda z: mpmath.exp(-(z**2) / 2) / mpmath.sqrt(2 * mpmath.pi)  # noqa: E731
    exact = 2 * mpmath.quad(
        lambda z: min(z, clip) ** 2 * density(z), [0, clip, clip + 1, mpmath.inf]
    )
    noise = GaussianLabelNoise(scale=0.7, clip=clip)
    assert noise.variance == pytest.approx(0.49 * float(exact), rel=1e-11)


@pytest.mark.parametrize("clip", [1e-100, 1e-20, 1e-9])
def test_a_tiny_clip_leaves_its_square(clip):
    assert GaussianLabelNoise(1.0, clip).variance == pytest.approx(clip**2, rel=1e-8)


def test_label_noise_is_cut_and_has_its_variance():
    noise = GaussianLabelNoise(scale=2.0, clip=1.5)
    values = noise.sample(np.random.default_rng(1), (300, 700))
    assert np.abs(values).max() == 3.0
    assert abs(np.mean(values**2) - noise.variance) < 4.5 * np.std(values**2) / np.sqrt(values.size)
    assert GaussianLabelNoise(2.0).variance == 4.0
    assert not np.any(GaussianLabelNoise(0.0).sample(np.random.default_rng(1), 5))


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("dimension", lambda: UniformDesign(0)),
        ("dimension", lambda: UniformDesign(2.5)),
        ("eigenvalues", lambda: GaussianDesign([-1.0])),
        ("scale", lambda: GaussianLabelNoise(-1.0)),
        ("clip", lambda: GaussianLabelNoise(1.0, clip=0.0)),
        ("v must have", lambda: UniformDesign(3).rotate(np.zeros(4))),
    ],
)
def test_bad_designs_are_named(name, build):
    with pytest.raises(ValueError, match=name):
        build()
