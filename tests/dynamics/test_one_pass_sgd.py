"""The block reduction of one-pass clipped DP-SGD against d coordinates and exact moments."""

import numpy as np
import pytest
from scipy.stats import chi2, ks_2samp, norm

from dpdynamics.dynamics.clipped_risk import clipped_risk, one_pass_risk
from dpdynamics.dynamics.one_pass_sgd import one_pass_sgd, one_pass_step
from dpdynamics.dynamics.spectra import SpectralBlocks
from dpdynamics.problems import PolynomialDecay
from dpdynamics.runs import Runs

BLOCKS = SpectralBlocks(np.array([0.5, 1.0, 2.0]), np.array([1, 2, 5]), np.array([1.0, 0.3, 0.7]))
STEPS = PolynomialDecay(10.0, 0.5).step_sizes(20)
SETTING = {"clip_norm": 0.8, "label_variance": 0.1}


def plain(blocks, step_sizes, noise_scales, *, rng, replicates, clip_norm, label_variance):
    """The d coordinates, by the printed step: risks of the steps, and norms in the blocks."""
    lam, v = blocks.coordinates()
    v, risks = np.tile(v, (replicates, 1)), []
    for eta, sigma in zip([0.0, *step_sizes], [0.0, *noise_scales], strict=True):
        x = np.sqrt(lam) * rng.standard_normal(v.shape)
        labels = np.sqrt(label_variance) * rng.standard_normal(replicates)
        v = one_pass_step(v, x, labels, eta, clip_norm)
        v += np.sqrt(2) * clip_norm * sigma * rng.standard_normal(v.shape)
        risks.append(v**2 @ lam / 2)
    first = np.cumsum(blocks.multiplicities) - blocks.multiplicities
    norms = np.sqrt(np.add.reduceat(v**2, first, axis=1))
    return Runs(np.arange(len(risks)), np.stack(risks, axis=1), norms)


def statistics(runs):
    """Look at the chain in several ways: one block, two blocks, two times."""
    q, risk = runs.final, runs.values
    return [*q.T, q[:, 0] - q[:, 1], q[:, 2] - q[:, 1], risk[:, 1], risk[:, 20] - risk[:, 5]]


@pytest.mark.parametrize(
    "start", [BLOCKS.offsets, np.zeros(3)], ids=["from an error", "from the truth"]
)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_reduction_is_exact_in_law(start, noise):
    blocks = SpectralBlocks(BLOCKS.eigenvalues, BLOCKS.multiplicities, start)
    rng, noises = np.random.default_rng(7), np.full(20, noise)
    reduced, full = (
        simulate(blocks, STEPS, noises, rng=rng, replicates=10_000, **SETTING)
        for simulate in (one_pass_sgd, plain)
    )
    for ours, theirs in zip(statistics(reduced), statistics(full), strict=True):
        assert ks_2samp(ours, theirs).pvalue > 1e-4 / 28  # four cases of seven statistics


def test_a_degree_of_freedom_too_many_is_noticed():
    wrong = SpectralBlocks(BLOCKS.eigenvalues, np.array([2, 2, 5]), BLOCKS.offsets)
    rng, noises = np.random.default_rng(7), np.full(20, 0.02)
    reduced = one_pass_sgd(wrong, STEPS, noises, rng=rng, replicates=10_000, **SETTING)
    full = plain(BLOCKS, STEPS, noises, rng=rng, replicates=10_000, **SETTING)
    assert ks_2samp(reduced.final[:, 0], full.final[:, 0]).pvalue < 1e-12


def clipped_moments(mean, sd, limit):
    """E f, E f^2 and E f sgn for f = clip(N(mean, sd^2), +-limit), in closed form."""
    a, b = (-limit - mean) / sd, (limit - mean) / sd
    inside, drop = norm.cdf(b) - norm.cdf(a), norm.pdf(a) - norm.pdf(b)
    first = mean * inside + sd * drop + limit * (norm.sf(b) - norm.cdf(a))
    edge = a * norm.pdf(a) - b * norm.pdf(b)
    second = (mean**2 + sd**2) * inside + 2 * mean * sd * drop + sd**2 * edge
    return first, second + limit**2 * (norm.sf(b) + norm.cdf(a))


def test_the_moments_of_one_step_by_quadrature():
    d, q, zeta, eta, clip, sigma, runs = 5, 1.2, 0.7, 0.5, 1.1, 0.3, 400_000
    s, weight_s = np.polynomial.hermite_e.hermegauss(60)
    u, weight_u = np.polynomial.legendre.leggauss(400)
    across = chi2.ppf((u + 1) / 2, d - 1)  # in the quantile of the chi-square
    length = s[:, None] ** 2 + across
    step = np.minimum(eta, 2 / length)
    first, second = clipped_moments(q * s[:, None], zeta, clip / np.sqrt(length))
    change = step * (step * length * second - 2 * s[:, None] * q * first)
    weights = np.multiply.outer(weight_s / weight_s.sum(), weight_u / 2)
    expected = q**2 + np.sum(weights * change) + 2 * clip**2 * sigma**2 * d

    blocks = SpectralBlocks(np.ones(1), np.array([d]), np.array([q]))
    for simulate in (one_pass_sgd, plain):
        moved = simulate(
            blocks,
            [eta],
            [sigma],
            clip_norm=clip,
            label_variance=zeta**2,
            rng=np.random.default_rng(3),
            replicates=runs,
        )
        squares = 2 * moved.values[:, -1]
        assert abs(squares.mean() - expected) < 4.5 * squares.std() / np.sqrt(runs)
        np.testing.assert_allclose(moved.final[:, 0] ** 2, squares, rtol=1e-12)


def test_a_step_is_the_one_printed():
    rng = np.random.default_rng(0)
    theta, x, y = (
        rng.standard_normal((50, 4)),
        rng.standard_normal((50, 4)),
        rng.standard_normal(50),
    )
    moved = one_pass_step(theta, x, y, 0.7, 1.5)
    clipped = shortened = 0
    for t, a, b, new in zip(theta, x, y, moved, strict=True):
        gradient = (a @ t - b) * a
        length = np.linalg.norm(gradient)
        rate = min(0.7, 2 / (a @ a))
        np.testing.assert_allclose(new, t - rate * gradient * min(1, 1.5 / length), rtol=1e-12)
        clipped, shortened = clipped + (length > 1.5), shortened + (rate < 0.7)
    assert 0 < clipped < 50
    assert 0 < shortened < 50
    zero = one_pass_step(np.ones(2), np.zeros(2), 1.0, 0.7, np.inf)
    np.testing.assert_array_equal(zero, np.ones(2))


def test_every_run_can_have_its_own_parameters():
    etas = np.repeat(STEPS[:, None], 4, axis=1) * np.array([1.0, 0.0, 1.0, 1.0])
    noises = np.full((20, 4), 0.02) * np.array([1.0, 0.0, 1.0, 1.0])
    setting = SETTING | {"clip_norm": np.array([0.8, 0.8, 0.8, 1e-9])}
    runs = one_pass_sgd(BLOCKS, etas, noises, rng=np.random.default_rng(1), replicates=4, **setting)
    np.testing.assert_allclose(runs.values[1], BLOCKS.risk, rtol=1e-12)
    np.testing.assert_allclose(runs.values[3], BLOCKS.risk, rtol=1e-6)
    same = one_pass_sgd(
        BLOCKS, STEPS, noises[:, 0], rng=np.random.default_rng(1), replicates=4, **SETTING
    )
    np.testing.assert_allclose(runs.values[::2], same.values[::2], rtol=1e-12)


def test_checkpoints():
    runs = one_pass_sgd(
        BLOCKS,
        STEPS,
        np.zeros(20),
        rng=np.random.default_rng(1),
        replicates=2,
        checkpoints=[0, 20],
        clip_norm=np.inf,
        label_variance=0.0,
    )
    assert runs.values.shape == (2, 2)
    np.testing.assert_allclose(runs.values[:, 0], BLOCKS.risk)
    np.testing.assert_allclose(runs.values[:, 1], runs.final**2 @ BLOCKS.eigenvalues / 2)


@pytest.mark.parametrize("exponent", [0.0, 0.5])
def test_large_dimensions_follow_the_equation_and_jump_at_the_end(exponent):
    d, n, rho, c = 2000, 10_000, 0.05, 0.5
    blocks = SpectralBlocks(np.array([0.6, 1.4]), np.array([d // 2, d // 2]), np.array([0.6, 0.6]))
    schedule = PolynomialDecay(3.0, exponent)
    etas = schedule.step_sizes(n)
    sigmas = np.sqrt((etas**2 - np.append(etas[1:] ** 2, 0)) / rho)
    runs = one_pass_sgd(
        blocks,
        etas,
        sigmas,
        clip_norm=c * np.sqrt(d),
        label_variance=0.04,
        rng=np.random.default_rng(0),
        replicates=50,
        checkpoints=[n // 2, n - 1, n],
    )
    setting = {"clip_constant": c, "aspect_ratio": d / n, "rho": rho, "label_variance": 0.04}
    risk = clipped_risk(blocks, schedule, times=[0, 0.5, 1], **setting)
    released = one_pass_risk(blocks, schedule, **setting)
    assert (released - risk[2] > 0.5) == (exponent == 0)
    mean, error = runs.values.mean(0), runs.values.std(0) / np.sqrt(50)
    expected = np.array([risk[1], risk[2], released])
    assert np.all(np.abs(mean - expected) < 5 * error + 0.01 * expected)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"step_sizes": [-0.1]}, "step_sizes"),
        ({"step_sizes": np.ones((1, 3))}, "step_sizes"),
        ({"noise_scales": [0.1, 0.1]}, "noise_scales"),
        ({"noise_scales": 0.1}, "noise_scales"),
        ({"clip_norm": 0.0}, "clip_norm"),
        ({"clip_norm": np.inf}, "clip_norm must be finite"),
        ({"clip_norm": [1.0, 2.0, 3.0]}, "clip_norm"),
        ({"label_variance": -1.0}, "label_variance"),
        ({"replicates": 0}, "replicates"),
        ({"checkpoints": [2]}, "checkpoints"),
    ],
)
def test_bad_input(change, word):
    given = {"step_sizes": [0.1], "noise_scales": [0.1], "replicates": 2} | SETTING
    with pytest.raises(ValueError, match=word):
        one_pass_sgd(BLOCKS, rng=np.random.default_rng(0), **given | change)


def test_each_run_can_have_its_clip_norm_with_any_number_of_steps():
    given = {"step_sizes": [0.1] * 3, "noise_scales": [0.0] * 3, "label_variance": 0.1}
    runs = one_pass_sgd(
        BLOCKS, **given, clip_norm=[1.0, np.inf], rng=np.random.default_rng(0), replicates=2
    )
    assert runs.values.shape == (2, 4)
    given["noise_scales"] = [0.0, 0.1, 0.0]
    with pytest.raises(ValueError, match="clip_norm"):
        one_pass_sgd(
            BLOCKS, **given, clip_norm=[1.0, np.inf], rng=np.random.default_rng(0), replicates=2
        )


def test_shapes_that_broadcast_by_accident_are_refused():
    with pytest.raises(ValueError, match="clip_norm"):
        one_pass_step(np.ones((2, 3)), np.ones(3), 1.0, 0.7, np.ones(3))
    with pytest.raises(ValueError, match="features"):
        one_pass_step(np.ones(3), np.ones(1), 1.0, 0.7, 1.0)
