"""Euler-Maruyama: exact solutions on the same Brownian path, exact moments, peers of itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.linalg import solve, solve_continuous_lyapunov

from dpdynamics.dynamics import euler_maruyama, linear_recursion
from dpdynamics.normals import Normals
from dpdynamics.optimisers import TorchArrays


def first_two_moments(x):
    """Means over the replicates of x and of its square, for arrays and for tensors."""
    powers = [[[1.0]], [[2.0]]]
    return (
        x[None] ** (np.array(powers) if isinstance(x, np.ndarray) else x.new_tensor(powers))
    ).mean(1)


def brownian(seed, steps, replicates, m, horizon):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((steps, replicates, m)) * np.sqrt(horizon / steps)


def on_path(drift, diffusion, x0, increments, horizon, dtype="float64"):
    replicates = increments.shape[1]
    ensemble = euler_maruyama(
        drift,
        diffusion,
        np.full((replicates, 1), x0),
        [0.0, horizon],
        substeps=len(increments),
        increments=increments,
        dtype=dtype,
    )
    return ensemble.final[:, 0]


def strong_slope(drift, diffusion, x0, increments, horizon, reference):
    """Slope of the mean absolute error over steps 1, 2, 4, ... times the finest."""
    errors, steps = [], []
    for factor in 2 ** np.arange(6):
        path = increments.reshape(-1, factor, *increments.shape[1:]).sum(axis=1)
        end = on_path(drift, diffusion, x0, path, horizon)
        errors.append(np.mean(np.abs(end - reference)))
        steps.append(factor)
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def kp446(a=1.0, b=0.8):
    """Kloeden and Platen (1992), (4.4.46)."""

    def exact(x0, t, w):
        growth = (1 + x0) * np.exp(-2 * a * t + 2 * b * w)
        return (growth + x0 - 1) / (growth + 1 - x0)

    return lambda t, x: -(a + b**2 * x) * (1 - x**2), lambda t, x: b * (1 - x**2), exact


def test_a_nonlinear_equation_follows_its_exact_solution_at_order_one_half():
    drift, diffusion, exact = kp446()
    path = brownian(0, 25_000, 2, 1, 10.0)  # the published steps of 4e-4 up to time 10
    end = on_path(drift, diffusion, 0.1, path, 10.0)
    assert np.max(np.abs(end - exact(0.1, 10.0, path.sum(axis=0)[:, 0]))) < 1e-1
    path = brownian(1, 1024, 3000, 1, 1.0)
    reference = exact(0.1, 1.0, path.sum(axis=0)[:, 0])
    assert strong_slope(drift, diffusion, 0.1, path, 1.0, reference) == pytest.approx(0.5, abs=0.08)


def test_additive_noise_has_strong_order_one():
    theta, sigma, horizon, steps = 1.0, 0.7, 1.0, 1024
    # The exact solution of dX = -X dt + s dW needs int e^{s} dW, not W alone: draw both together.
    h = horizon / steps
    cov = [[h, (1 - np.exp(-h))], [(1 - np.exp(-h)), (1 - np.exp(-2 * h)) / 2]]
    joint = np.random.default_rng(3).multivariate_normal([0, 0], cov, (steps, 500))
    x = np.full(500, 1.5)
    for convolution in joint[..., 1]:
        x = np.exp(-theta * h) * x + sigma * convolution
    slope = strong_slope(lambda t, x: -x, lambda t, x: sigma, 1.5, joint[..., :1], horizon, x)
    assert slope == pytest.approx(1.0, abs=0.05)


def test_moments_are_those_of_the_scheme_not_of_the_equation():
    """With a step of 0.25 the two differ by 30 standard errors: only the scheme's are accepted."""
    A, S = np.array([[-1.0, 0.5], [0.0, -2.0]]), np.diag([0.6, 0.5])
    b, h, n = np.array([0.3, -0.2]), 0.25, 40_000
    ensemble = euler_maruyama(
        lambda t, x: x @ A.T + b,
        lambda t, x: np.diagonal(S),
        np.ones((n, 2)),
        [0.0, 1.0, 4.0],
        rng=np.random.default_rng(0),
        max_step=h,
        statistic=first_two_moments,
    )
    step = linear_recursion(np.eye(2) + h * A, h * b, h * S @ S.T)
    for (first, square), count in zip(ensemble.values[1:], (4, 16), strict=True):
        scheme = step.power(count).moments(np.ones(2), np.zeros((2, 2)))
        variance = np.diagonal(scheme.covariance)
        assert np.abs((first - scheme.mean) / np.sqrt(variance / n)).max() < 4.5
        second = variance + scheme.mean**2
        spread = np.sqrt((2 * variance**2 + 4 * variance * scheme.mean**2) / n)
        assert (np.abs(square - second) / spread).max() < 4.5
    stationary = np.diagonal(solve_continuous_lyapunov(A, -S @ S.T)) + solve(A, -b) ** 2
    assert np.abs(stationary - second).max() > 8 * spread.max()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_stationary_variance_of_an_ornstein_uhlenbeck_process(dtype):
    n, d, h = 4000, 10, 0.05
    ensemble = euler_maruyama(
        lambda t, x: -x,
        lambda t, x: 0.2,
        np.zeros((n, d)),
        [0.0, 6.0],
        rng=np.random.default_rng(1),
        max_step=h,
        statistic=first_two_moments,
        dtype=dtype,
    )
    scheme = 0.02 / (1 - h / 2)  # sigma^2 h / (1 - (1 - h)^2)
    variance = ensemble.values[-1, 1].mean()
    assert abs(variance / scheme - 1) < 4.5 * np.sqrt(2 / (n * d))
    assert ensemble.final.dtype == dtype


def test_geometric_brownian_motion_has_a_lognormal_law():
    n, mu, sigma = 20_000, 0.3, 0.5
    ensemble = euler_maruyama(
        lambda t, x: mu * x,
        lambda t, x: sigma * x,
        np.ones((n, 1)),
        [0.0, 1.0],
        rng=np.random.default_rng(2),
        substeps=400,
    )
    logs = np.log(ensemble.final[:, 0])
    law = stats.norm(mu - sigma**2 / 2, sigma)
    assert stats.kstest(logs, law.cdf).pvalue > 1e-4
    assert stats.kstest(logs, stats.norm(mu, sigma).cdf).pvalue < 1e-10  # Stratonovich


def test_a_double_well_settles_into_its_gibbs_law():
    n, sigma = 8000, 0.9
    start = np.random.default_rng(3).choice([-1.0, 1.0], (n, 1))
    ensemble = euler_maruyama(
        lambda t, x: x - x**3,
        lambda t, x: sigma,
        start,
        [0.0, 8.0],
        rng=np.random.default_rng(4),
        max_step=0.02,
    )
    grid = np.linspace(-4, 4, 4001)
    density = np.exp(2 / sigma**2 * (grid**2 / 2 - grid**4 / 4))
    cdf = np.cumsum(density) / density.sum()
    pvalue = stats.kstest(ensemble.final[:, 0], lambda x: np.interp(x, grid, cdf)).pvalue
    assert pvalue > 1e-4


def test_time_reaches_the_coefficients():
    ensemble = euler_maruyama(
        lambda t, x: np.full_like(x, 2 * t),
        lambda t, x: 0.0,
        np.zeros((1, 1)),
        [1.0, 2.0, 4.0],
        rng=np.random.default_rng(0),
        max_step=1e-3,
    )
    np.testing.assert_allclose(ensemble.values[:, 0, 0], [0, 3, 15], atol=4e-3)


@settings(max_examples=25)
@given(
    replicates=st.integers(1, 4),
    dim=st.integers(1, 4),
    points=st.integers(1, 4),
    substeps=st.integers(1, 3),
)
def test_shapes_and_forms_of_the_diffusion(replicates, dim, points, substeps):
    times = np.arange(points, dtype=float)
    s = np.linspace(0.5, 2.0, dim)

    def run(form, statistic=None):
        return euler_maruyama(
            lambda t, x: -x,
            form,
            np.ones((replicates, dim)),
            times,
            rng=np.random.default_rng(0),
            substeps=substeps,
            statistic=statistic,
        )

    diagonal = run(lambda t, x: s)
    assert diagonal.values.shape == (points, replicates, dim)
    np.testing.assert_array_equal(diagonal.values[-1], diagonal.final)
    same = run(lambda t, x: np.tile(s, (replicates, 1)))
    np.testing.assert_array_equal(same.values, diagonal.values)
    moments = run(lambda t, x: s, statistic=first_two_moments)
    assert moments.values.shape == (points, 2, dim)


def test_inputs_are_left_alone():
    x0, increments = np.ones((2, 3)), np.ones((1, 2, 3))
    euler_maruyama(lambda t, x: -x, lambda t, x: 2.0, x0, [0, 1], increments=increments)
    np.testing.assert_array_equal(x0, 1)
    np.testing.assert_array_equal(increments, 1)


def test_single_precision_follows_double_precision_on_the_same_path():
    drift, diffusion, _ = kp446()
    path = brownian(5, 500, 20, 1, 1.0)
    double = on_path(drift, diffusion, 0.1, path, 1.0)
    single = on_path(drift, diffusion, 0.1, path, 1.0, dtype="float32")
    np.testing.assert_allclose(single, double, atol=2e-5)
    assert np.abs(single - double).max() > 0


# --- the normal numbers ---------------------------------------------------------------------------


def test_single_precision_normals_are_normal_and_independent():
    stream, n = Normals(np.random.default_rng(0), np.dtype("float32")), 600_001
    z = np.empty(n, np.float32)
    stream.fill(z, 1.0)
    z = z.astype(float)
    assert np.all(np.isfinite(z))
    assert stats.kstest(z, "norm").pvalue > 1e-4
    # Even moments of a standard normal: E z^2k = (2k - 1)!!, with their standard errors.
    for power, mean, second in ((1, 0, 1), (2, 1, 3), (4, 3, 105), (6, 15, 10395)):
        assert abs(np.mean(z**power) - mean) < 4.5 * np.sqrt((second - mean**2) / n)
    tail = stats.norm.sf(4.0) * 2
    assert abs(np.sum(np.abs(z) > 4) - n * tail) < 4.5 * np.sqrt(n * tail)
    again = np.empty(n, np.float32)
    stream.fill(again, 1.0)
    lags = [1, 2, 1 << 14, 1 << 15]  # the partners of a pair are half a block apart
    pairs = [(z[:-lag], z[lag:]) for lag in lags] + [(z, again.astype(float))]
    for first, second in pairs:
        for f in (lambda v: v, lambda v: v**2 - 1):
            scale = np.sqrt(first.size) * (1 if f(2.0) == 2 else 2)
            assert abs(f(first) @ f(second)) < 4.5 * scale


def test_scale_and_seed_of_the_normals():
    for dtype in ("float32", "float64"):
        draws = []
        for scale in (1.0, 3.0):
            out = np.empty((3, 5), dtype)
            Normals(np.random.default_rng(7), np.dtype(dtype)).fill(out, scale)
            draws.append(out)
        np.testing.assert_allclose(draws[1], 3 * draws[0], rtol=1e-6)


# --- torch ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch_follows_the_same_paths_as_numpy(dtype):
    torch = pytest.importorskip("torch")
    options = {"rng": None, "substeps": 50, "dtype": dtype}
    scales = np.array([0.3, 0.2, 0.1])
    ends = []
    for backend, xp in (("numpy", np), ("torch", torch)):
        options["rng"] = np.random.default_rng(8)
        ensemble = euler_maruyama(
            lambda t, x, xp=xp: -xp.sin(x),
            lambda t, x: scales,
            np.ones((5, 3)),
            [0.0, 1.0],
            backend=backend,
            statistic=first_two_moments,
            **options,
        )
        assert isinstance(ensemble.values, np.ndarray)
        ends.append(ensemble)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(ends[0].final, ends[1].final, rtol=tolerance)
    np.testing.assert_allclose(ends[0].values, ends[1].values, rtol=tolerance)


def test_draws_of_torch_give_the_same_law(monkeypatch):
    pytest.importorskip("torch")

    def fill(arrays, out, scale):  # what another device would use
        out.normal_(0.0, scale, generator=arrays._generator)

    monkeypatch.setattr(TorchArrays, "fill", fill)
    n, h, ends = 20_000, 0.1, []
    for _ in range(2):
        ensemble = euler_maruyama(
            lambda t, x: -x,
            lambda t, x: 0.2,
            np.zeros((n, 1)),
            [0.0, 1.0],
            rng=np.random.default_rng(9),
            max_step=h,
            backend="torch",
            dtype="float32",
        )
        ends.append(ensemble.final[:, 0])
    np.testing.assert_array_equal(*ends)
    scale = 0.2 * np.sqrt(h * (1 - (1 - h) ** 20) / (1 - (1 - h) ** 2))
    assert stats.kstest(ends[0], stats.norm(0, scale).cdf).pvalue > 1e-4


# --- refusals -------------------------------------------------------------------------------------

GOOD = {
    "drift": lambda t, x: -x,
    "diffusion": lambda t, x: 1.0,
    "x0": np.ones((2, 3)),
    "times": [0.0, 1.0],
    "rng": np.random.default_rng(0),
}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("x0", {"x0": np.ones(3)}),
        ("x0", {"x0": np.ones((0, 3))}),
        ("x0", {"x0": np.full((2, 3), np.nan)}),
        ("times", {"times": [0.0, 0.0]}),
        ("times", {"times": []}),
        ("max_step", {"max_step": 0.0}),
        ("substeps", {"substeps": 0}),
        ("substeps", {"substeps": 2, "max_step": 0.1}),
        ("rng", {"rng": None}),
        ("drift", {"drift": lambda t, x: x[:, 0]}),
        ("diffusion", {"diffusion": lambda t, x: np.ones(2)}),
        ("diffusion", {"diffusion": lambda t, x: np.ones((2, 3, 3))}),
        ("increments", {"increments": np.ones((2, 2, 3))}),
        ("statistic", {"statistic": lambda x: np.array(np.nan)}),
        ("dtype", {"dtype": "float16"}),
        ("backend", {"backend": "jax"}),
        ("device", {"device": "cuda"}),
    ],
)
def test_bad_arguments_are_named(name, change):
    with pytest.raises(ValueError, match=name):
        euler_maruyama(**(GOOD | change))


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_an_explosion_is_reported_with_its_time(backend):
    if backend == "torch":
        pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"not finite at time 2\.[0-9]+"):
        euler_maruyama(
            **(
                GOOD
                | {
                    "drift": lambda t, x: x * 1e200 if t > 2 else -x,
                    "times": [0.0, 5.0],
                    "max_step": 0.25,
                    "backend": backend,
                }
            )
        )


def test_a_run_without_end_is_refused():
    with pytest.raises(ValueError, match="max_step"):
        euler_maruyama(
            lambda t, x: x,
            lambda t, x: x,
            np.ones((1, 1)),
            [0.0, 1.0],
            rng=np.random.default_rng(0),
            max_step=1e-90,
        )
