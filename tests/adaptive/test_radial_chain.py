"""The chain of norms against vectors drawn example by example, and against exact moments."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from dpdynamics.adaptive import NoisyVector, private_ensemble, radial_chain
from dpdynamics.adaptive.gradient_parts import PrivateNoise
from dpdynamics.optimisers import NumpyArrays

RUNS = 6000
SETTING = {"clip_norm": 0.9, "noise_multiplier": 0.6, "gradient_noise": 0.35}
SHAPES = [([1.0], [6], [1.0]), ([0.5], [1], [2.0]), ([2.0, 1.0], [1, 3], [0.8, 1.0])]
SHAPES += [([1.0, 0.5, 2.0], [2, 1, 4], [0.7, 0.0, 0.3])]


def compare(shape, steps, chain_sizes=None, **changes):
    """Simulate by norms and by vectors; p-values of several statistics."""
    eigenvalues, sizes, start = shape
    setting, etas = SETTING | changes, np.linspace(0.3, 0.1, steps)
    rng = np.random.default_rng(11)
    chain = radial_chain(
        start,
        etas,
        eigenvalues=eigenvalues,
        multiplicities=chain_sizes or sizes,
        rng=rng,
        replicates=RUNS,
        checkpoints=[1, steps],
        **setting,
    )
    first = np.cumsum([0, *sizes[:-1]])
    x0 = np.zeros((RUNS, sum(sizes)))
    x0[:, first] = start
    h = np.repeat(eigenvalues, sizes)
    plain = private_ensemble(
        lambda x: h * x,
        x0,
        etas,
        statistic=lambda x: np.sqrt(np.add.reduceat(x**2, first, axis=1)),
        checkpoints=[1, steps],
        literal=True,
        rng=rng,
        **setting,
    )
    ours, theirs = chain.values, plain.values
    pairs = [(ours[t, :, b], theirs[t, :, b]) for t in (0, 1) for b in range(len(sizes))]
    pairs += [(ours[1, :, -1] - ours[0, :, 0], theirs[1, :, -1] - theirs[0, :, 0])]
    pairs += [(chain.clipped[:, 1], plain.clipped[:, 1])]
    return [ks_2samp(*pair, method="asymp").pvalue for pair in pairs]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batch_size": 3},
        {"batch_size": 2, "degrees_of_freedom": 1.5},
        {"gradient_noise": 0.0},
        {"noise_multiplier": 0.0, "batch_size": 2},
    ],
    ids=str,
)
def test_the_reduction_is_exact_in_law(shape, changes):
    assert min(compare(shape, 6, **changes)) > 1e-6  # 24 cases of at most 8 statistics


def test_a_degree_of_freedom_too_many_is_noticed():
    assert min(compare(SHAPES[0], 6, chain_sizes=[7], batch_size=3)) < 1e-12


@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("nu", [2.5, np.inf])
def test_the_mean_square_of_one_step(batch, nu):
    q, eta, lam, d, runs = 1.3, 0.4, 0.7, 12, 200_000
    chain = radial_chain(
        q,
        [eta],
        eigenvalues=lam,
        multiplicities=d,
        batch_size=batch,
        degrees_of_freedom=nu,
        rng=np.random.default_rng(2),
        replicates=runs,
        **SETTING,
    )
    moments = NoisyVector(lam * q, SETTING["gradient_noise"], d, nu).clipped(SETTING["clip_norm"])
    variance = moments.parallel + (d - 1) * moments.perpendicular - moments.mean**2
    private = d * (SETTING["clip_norm"] * SETTING["noise_multiplier"] / batch) ** 2
    expected = (q - eta * moments.mean) ** 2 + eta**2 * (variance / batch + private)
    square = chain.values[1, :, 0] ** 2
    error = square.std() / np.sqrt(runs)
    assert abs(square.mean() - expected) < 4.5 * error
    wrong = (q - eta * moments.mean) ** 2 + eta**2 * (variance + private)
    assert batch == 1 or abs(square.mean() - wrong) > 10 * error
    share = chain.clipped[:, 1]
    assert abs(share.mean() - moments.clip_probability) < 4.5 * share.std() / np.sqrt(runs)


def test_the_parts_of_pure_noise():
    """Along and across of pure noise: a chi in the right dimension."""
    noise = PrivateNoise(
        NumpyArrays("float64", np.random.default_rng(1)),
        50_000,
        clip_norm=1e9,
        noise_multiplier=0.0,
        batch_size=4,
        gradient_noise=2.0,
        degrees_of_freedom=np.inf,
    )
    along, across, clipped = noise.parts(np.zeros((2, 50_000)), np.array([[5], [1]]))
    rng = np.random.default_rng(2)
    assert ks_2samp(along[0], rng.standard_normal(50_000), method="asymp").pvalue > 1e-5
    assert ks_2samp(across[0] ** 2, rng.chisquare(4, 50_000), method="asymp").pvalue > 1e-5
    assert not across[1].any()
    assert not clipped.any()


def test_every_replicate_can_have_its_own_noise():
    clips, multipliers = np.repeat([0.5, 2.0], 3000), np.repeat([0.3, 1.0], 3000)
    both = radial_chain(
        1.0,
        np.tile([[0.2], [0.1]], (4, 6000)),
        eigenvalues=1.0,
        multiplicities=5,
        clip_norm=clips,
        noise_multiplier=multipliers,
        gradient_noise=0.3,
        rng=np.random.default_rng(0),
        replicates=6000,
    ).values[-1, :, 0]
    for half, clip, multiplier in ((both[:3000], 0.5, 0.3), (both[3000:], 2.0, 1.0)):
        alone = radial_chain(
            1.0,
            np.tile([0.2, 0.1], 4),
            eigenvalues=1.0,
            multiplicities=5,
            clip_norm=clip,
            noise_multiplier=multiplier,
            gradient_noise=0.3,
            rng=np.random.default_rng(1),
            replicates=3000,
        ).values[-1, :, 0]
        assert ks_2samp(half, alone, method="asymp").pvalue > 1e-5


def test_without_noise_the_step_is_clipped_gradient_descent():
    setting = {"clip_norm": 0.5, "noise_multiplier": 0.0, "gradient_noise": 0.0}
    rng = np.random.default_rng(0)
    runs = radial_chain(2.0, [0.1, 0.1, 1.0], eigenvalues=2.0, multiplicities=9, rng=rng, **setting)
    np.testing.assert_allclose(runs.values[:, 0, 0], [2.0, 1.95, 1.9, 1.4], rtol=1e-14)
    np.testing.assert_allclose(runs.clipped[0], [0, 1, 2, 3])


def test_errors():
    good = {
        "start_norms": 1.0,
        "step_sizes": [0.1],
        "eigenvalues": 1.0,
        "multiplicities": 3,
        "clip_norm": 1.0,
        "noise_multiplier": 1.0,
        "gradient_noise": 1.0,
    }
    for name, value in (
        ("start_norms", -1.0),
        ("start_norms", [1.0, 2.0]),
        ("step_sizes", [-0.1]),
        ("step_sizes", 0.1),
        ("eigenvalues", -1.0),
        ("multiplicities", [1, 2]),
        ("multiplicities", 2.5),
        ("clip_norm", 0.0),
        ("clip_norm", [1.0, 1.0, 1.0]),
        ("noise_multiplier", -1.0),
        ("gradient_noise", np.nan),
        ("batch_size", 0),
        ("degrees_of_freedom", 0.0),
        ("replicates", 0),
        ("checkpoints", [2]),
        ("checkpoints", [1, 0]),
        ("checkpoints", []),
    ):
        with pytest.raises(ValueError, match=name):
            radial_chain(rng=np.random.default_rng(0), **(good | {name: value}))
