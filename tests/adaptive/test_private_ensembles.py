"""Ensembles of private optimisers: merged draws against literal ones, backends, closed forms."""

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import ks_2samp, kstest, norm

from dpdynamics.adaptive import private_ensemble, radial_chain

D, RUNS = 9, 4000
H = np.linspace(0.4, 1.6, D)
NOISE = {"clip_norm": 1.0, "noise_multiplier": 0.5, "gradient_noise": 0.3}
QUIET = {"clip_norm": 1.0, "noise_multiplier": 0.0, "gradient_noise": 0.0}


def quadratic(x):
    return H * x


def quartic(x):
    return x**3 - 0.1 * x**2 + 0.5 * x


def start(runs=RUNS):
    return np.tile(np.linspace(-0.6, 1.0, D), (runs, 1))


def views(x):
    return np.stack([x[:, 0], x[:, -1], x[:, 3] - x[:, 2], (x**2).sum(axis=1)])


def simulate(seed, gradient=quadratic, x0=None, steps=5, **keywords):
    setting = {"statistic": views, "checkpoints": [1, steps]} | NOISE | keywords
    rng = np.random.default_rng(seed)
    x0 = start() if x0 is None else x0
    return private_ensemble(gradient, x0, np.full(steps, 0.2), rng=rng, **setting)


def p_value(ours, theirs):
    return ks_2samp(ours, theirs, method="asymp").pvalue


def smallest_p(ours, theirs):
    shape = (-1, ours.values.shape[-1])
    # a sign walk lives on a lattice, which rounding must not split
    samples = (np.round(runs.values, 4).reshape(shape) for runs in (ours, theirs))
    values = [p_value(*pair) for pair in zip(*samples, strict=True)]
    return min(values)


@pytest.mark.parametrize("method", ["sgd", "sign", "adam"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batch_size": 3, "gradient": quartic},
        {"batch_size": 3, "dtype": "float32"},
        {"batch_size": 2, "degrees_of_freedom": 1.0},
    ],
    ids=["one", "batch", "single precision", "Cauchy"],
)
def test_merged_draws_have_the_law_of_literal_ones(method, changes):
    merged, literal = (
        simulate(seed, method=method, literal=literal, **changes)
        for seed, literal in ((1, False), (2, True))
    )
    assert smallest_p(merged, literal) > 1e-6  # 12 cases of 8 statistics
    assert p_value(merged.clipped[:, 1], literal.clipped[:, 1]) > 1e-6


@pytest.mark.parametrize("gradient", [quadratic, lambda x: 0 * x], ids=["slope", "no slope"])
def test_the_whole_vector_is_right_and_not_its_norm_alone(gradient):
    """One step from one point: mean and covariance of the two ways, entry by entry."""
    runs = 40_000
    moves = []
    for literal in (False, True):
        final = private_ensemble(
            gradient,
            start(runs),
            [1.0],
            literal=literal,
            rng=np.random.default_rng(5),
            statistic=lambda x: 0.0,
            batch_size=2,
            **NOISE,
        ).final
        moves.append(final - start(runs))
    error = np.sqrt((moves[0].var(axis=0) + moves[1].var(axis=0)) / runs)
    assert np.all(np.abs(moves[0].mean(axis=0) - moves[1].mean(axis=0)) < 4.5 * error)
    a, b = (np.cov(move.T) for move in moves)
    spread = np.sqrt(2 * 2 * np.outer(np.diag(a), np.diag(a)) / runs)
    assert np.all(np.abs(a - b) < 5 * spread)


def test_the_norm_is_the_radial_chain():
    vectors = private_ensemble(
        lambda x: 0.8 * x,
        np.ones((RUNS, 16)),
        np.full(8, 0.3),
        statistic=lambda x: np.linalg.norm(x, axis=1),
        rng=np.random.default_rng(3),
        batch_size=2,
        **NOISE,
    )
    chain = radial_chain(
        4.0,
        np.full(8, 0.3),
        eigenvalues=0.8,
        multiplicities=16,
        rng=np.random.default_rng(4),
        replicates=RUNS,
        batch_size=2,
        **NOISE,
    )
    for k in (1, 8):
        assert p_value(vectors.values[k], chain.values[k, :, 0]) > 1e-5
        assert p_value(vectors.clipped[:, k], chain.clipped[:, k]) > 1e-5


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_without_clipping_sgd_is_gaussian(batch, dtype):
    steps, eta = 6, 0.2
    runs = simulate(
        6, clip=False, batch_size=batch, dtype=dtype, steps=steps, statistic=lambda x: x[:, 0]
    )
    assert not runs.clipped.any()
    contraction = 1 - eta * H[0]
    variance = 0.3**2 / batch + (0.5 / batch) ** 2
    total = eta**2 * variance * sum(contraction ** (2 * k) for k in range(steps))
    law = norm(start(1)[0, 0] * contraction**steps, np.sqrt(total))
    assert kstest(runs.values[1], law.cdf).pvalue > 1e-4
    assert kstest(runs.values[1], norm(law.mean(), 1.15 * law.std()).cdf).pvalue < 1e-4


def test_the_sign_moves_by_the_error_function():
    runs = simulate(8, method="sign", clip=False, batch_size=2, statistic=lambda x: x)
    moves = (runs.values[0] - start()) / 0.2
    assert set(np.round(moves, 9).ravel()) == {-1.0, 1.0}
    expected = -erf(H * start(1)[0] / np.sqrt(2 * (0.3**2 / 2 + 0.25**2)))
    assert np.all(np.abs(moves.mean(axis=0) - expected) < 4.5 / np.sqrt(RUNS))


def test_exact_steps_without_noise():
    x0 = np.array([[3.0, 0.0, -4.0], [0.3, -0.1, 0.0]])
    setting = {"x0": x0, "gradient": lambda x: x, "steps": 1, "statistic": None, **QUIET}
    sgd = simulate(0, checkpoints=[0, 1], **setting)
    expected = np.stack([x0, x0 - 0.2 * x0 * np.array([[0.2], [1.0]])])
    np.testing.assert_allclose(sgd.values, expected)
    np.testing.assert_allclose(sgd.clipped, [[0, 1], [0, 0]])
    np.testing.assert_array_equal(sgd.values[1], sgd.final)
    sign = simulate(0, checkpoints=[1], method="sign", **setting)
    np.testing.assert_allclose(sign.final, x0 - 0.2 * np.sign(x0))
    first = simulate(0, checkpoints=[1], method="adam", **setting)
    np.testing.assert_allclose(first.final, sign.final, rtol=1e-6)  # with bias correction
    zero = simulate(
        0, checkpoints=[1], method="adam", betas=(0.0, 0.0), adam_epsilon=0.05, **setting
    )
    g = x0 * np.array([[0.2], [1.0]])
    np.testing.assert_allclose(zero.final, x0 - 0.2 * g / (np.abs(g) + 0.05))


def test_adam_is_torchs():
    torch = pytest.importorskip("torch")
    x0 = np.array([[1.0, -2.0, 0.5]])
    ours = simulate(
        0, gradient=quartic, x0=x0, steps=60, method="adam", betas=(0.8, 0.95), clip_norm=1e3,
        noise_multiplier=0.0, gradient_noise=0.0, statistic=None, checkpoints=[1, 10, 60],
    )  # fmt: skip
    x = torch.tensor(x0, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([x], lr=0.2, betas=(0.8, 0.95), eps=1e-8)
    path = {}
    for k in range(1, 61):
        x.grad = quartic(x.detach())
        optimizer.step()
        path[k] = x.detach().numpy().copy()
    np.testing.assert_allclose(ours.values, [path[1], path[10], path[60]], rtol=1e-9)


def test_pure_noise_in_adam():
    """The second moment tends to the variance of the private noise."""
    runs = private_ensemble(
        lambda x: 0 * x,
        np.zeros((500, 2)),
        np.full(400, 1.0),
        method="adam",
        betas=(0.0, 0.999),
        clip_norm=2.0,
        noise_multiplier=0.9,
        batch_size=3,
        rng=np.random.default_rng(1),
        checkpoints=[399, 400],
    )
    last = np.diff(runs.values, axis=0)[0].ravel()  # a normal over the root of its mean square
    assert abs(last.var() - 1) < 0.2
    assert abs(last.mean()) < 0.2


@pytest.mark.parametrize("method", ["sgd", "sign", "adam"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch_agrees_with_numpy(method, dtype):
    torch = pytest.importorskip("torch")
    h = torch.tensor(H, dtype=getattr(torch, dtype))

    def statistic(x):
        return torch.stack([x[:, 0], x[:, -1], x[:, 3] - x[:, 2], (x**2).sum(dim=1)])

    keywords = {"backend": "torch", "statistic": statistic, "method": method, "dtype": dtype}

    def gradient(x):
        return h * x

    quiet = [
        simulate(0, x0=start(7), method=method, dtype=dtype, **QUIET),
        simulate(0, gradient, x0=start(7), **QUIET, **keywords),
    ]
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(quiet[0].values, quiet[1].values, rtol=tolerance, atol=tolerance)
    for changes in ({"batch_size": 2}, {"degrees_of_freedom": 1.0}, {"clip": False}):
        ours = simulate(1, method=method, dtype=dtype, **changes)
        theirs = simulate(2, gradient, **keywords, **changes)
        assert smallest_p(ours, theirs) > 1e-6  # 18 cases of 8 statistics
        assert p_value(ours.clipped[:, 1], theirs.clipped[:, 1]) > 1e-6
    assert isinstance(theirs.final, np.ndarray)


def test_wrong_noise_is_noticed():
    right = simulate(1, batch_size=4)
    for changes in (
        {"noise_multiplier": 1.0},  # the noise divided by the root of B, not by B
        {  # the mean clipped, not the examples
            "batch_size": 1,
            "gradient_noise": NOISE["gradient_noise"] / 2,
            "noise_multiplier": NOISE["noise_multiplier"] / 4,
        },
        {"clip": False},
    ):
        assert smallest_p(simulate(2, **({"batch_size": 4} | changes)), right) < 1e-6


def test_every_replicate_can_have_its_own_noise():
    multipliers = np.repeat([0.2, 1.5], RUNS // 2)
    both = simulate(1, noise_multiplier=multipliers).values[-1]
    for half, multiplier in ((both[3, : RUNS // 2], 0.2), (both[3, RUNS // 2 :], 1.5)):
        assert p_value(half, simulate(2, noise_multiplier=multiplier).values[-1, 3]) > 1e-5


def test_errors():
    good = {"gradient": lambda x: x, "x0": np.ones((2, 3)), "step_sizes": [0.1], **NOISE}
    for name, value in (
        ("x0", np.ones(3)),
        ("x0", np.ones((0, 3))),
        ("step_sizes", [[0.1]]),
        ("step_sizes", [-0.1]),
        ("method", "momentum"),
        ("clip_norm", 0.0),
        ("noise_multiplier", -1.0),
        ("gradient_noise", [1.0, 1.0, 1.0]),
        ("batch_size", 0),
        ("degrees_of_freedom", -1.0),
        ("checkpoints", [0.5]),
        ("dtype", "float16"),
        ("backend", "jax"),
        ("device", "cuda"),
        ("gradient", lambda x: x[:, :1]),
    ):
        with pytest.raises(ValueError, match=name):
            private_ensemble(rng=np.random.default_rng(0), **(good | {name: value}))
    for name, value in (("betas", (0.9, 1.0)), ("adam_epsilon", -1.0)):
        with pytest.raises(ValueError, match=name):
            private_ensemble(rng=np.random.default_rng(0), method="adam", **(good | {name: value}))
    with pytest.raises(ValueError, match="not finite after 1 steps"):
        private_ensemble(
            lambda x: np.full_like(x, np.inf), np.ones((2, 3)), [1.0], clip=False,
            rng=np.random.default_rng(0), **NOISE,
        )  # fmt: skip
