"""Risk equations of clipped DP-SGD against an adaptive solver, closed forms and each other."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dpdynamics.dynamics.clipped_risk import clipped_risk, one_pass_risk
from dpdynamics.dynamics.clipping import clipping_factors
from dpdynamics.dynamics.spectra import SpectralBlocks
from dpdynamics.problems import PolynomialDecay

SETTING = {"clip_constant": 0.3, "aspect_ratio": 0.1, "label_variance": 0.04, "rho": 0.5}
SCHEDULE = PolynomialDecay(8.0, 0.5)


def random_blocks(d=1000, seed=0):
    rng = np.random.default_rng(seed)
    lam = rng.uniform(0.1, 2, d)
    return SpectralBlocks.grouped(lam / lam.mean(), rng.standard_normal(d) / np.sqrt(d))


def reference(eigenvalues, initial, weights, schedule, end, **setting):
    """Equation (C.19) as it stands, by an adaptive solver; sampling loads are the eigenvalues."""
    c, gamma, zeta2, rho = setting.values()

    def slope(t, state):
        risk, eta = weights @ state, float(schedule(t))
        mu, nu = clipping_factors(c / np.sqrt(2 * risk + zeta2))
        private = gamma**2 * c**2 * schedule.square_decrease(t) / rho
        sampling = gamma * eta**2 * nu * (risk + zeta2 / 2)
        return -2 * eta * mu * eigenvalues[0] * state + sampling * eigenvalues[1] + private

    solution = solve_ivp(slope, (0, end), initial, method="LSODA", rtol=1e-10, atol=1e-13)
    return weights @ solution.y[:, -1]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("clip", [0.02, 0.3, 5.0])
@pytest.mark.parametrize(("descent", "sampling"), [(1.0, 1.0), (0.4, 1.8), (1.8, 1.0)])
def test_the_scalar_equation_against_an_adaptive_solver(exponent, clip, descent, sampling):
    setting, schedule = SETTING | {"clip_constant": clip}, PolynomialDecay(8.0, exponent)
    loads, one = (np.array([descent]), np.array([sampling])), np.ones(1)
    exact = reference(loads, np.array([0.7]), one, schedule, 0.999, **setting)
    ours = clipped_risk(
        0.7,
        schedule,
        descent=descent,
        sampling=sampling,
        times=[0, 0.999],
        steps=1600,
        **setting,
    )
    assert ours[-1] == pytest.approx(exact, rel=2e-5)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 3.0])
def test_second_order(exponent):
    runs = [
        clipped_risk(0.7, PolynomialDecay(8.0, exponent), steps=n, **SETTING)[-1]
        for n in (100, 200, 3200)
    ]
    assert 3.5 < (runs[0] - runs[2]) / (runs[1] - runs[2]) < 4.5


@pytest.mark.parametrize("steps", [1, 7])
def test_without_clipping_a_constant_rate_is_exact_in_any_number_of_cells(steps):
    eta, gamma, zeta2 = np.array([0.5, 8.0, 19.0, 20.0, 21.0]), 0.1, 0.04
    risk = clipped_risk(
        0.7,
        PolynomialDecay(eta, 0.0),
        clip_constant=np.inf,
        rho=np.inf,
        aspect_ratio=gamma,
        label_variance=zeta2,
        steps=steps,
    )
    rate, drive = 2 * eta - gamma * eta**2, gamma * eta**2 * zeta2 / 2
    relaxed = np.array([-np.expm1(-a) / a if a else 1.0 for a in rate])
    np.testing.assert_allclose(risk[-1], 0.7 * np.exp(-rate) + drive * relaxed, rtol=1e-12)


def test_private_noise_alone_adds_up_with_the_last_step():
    schedule = PolynomialDecay(np.array([2.0, 8.0]), np.array([[0.0], [0.5], [0.7], [2.0]]))
    setting = {"descent": 0, "sampling": 0, "steps": 3, **SETTING}
    released = one_pass_risk(0.7, schedule, **setting)
    jump = released - clipped_risk(0.7, schedule, **setting)[-1]
    expected = 0.7 + (0.1 * 0.3) ** 2 / 0.5 * np.array([2.0, 8.0]) ** 2
    np.testing.assert_allclose(released, np.tile(expected, (4, 1)), rtol=1e-14)
    assert np.all(jump[0] > 0)
    np.testing.assert_array_equal(jump[1:], 0)


def test_grids_are_loops():
    c, eta = np.array([0.01, 0.3, 4.0])[:, None], np.array([2.0, 8.0])
    alpha, gamma, rho = np.array([0.0, 1.0])[:, None, None], 0.1, np.array([0.5, np.inf])
    setting = {"clip_constant": c, "aspect_ratio": gamma, "label_variance": 0.04, "rho": rho}
    times = [0.0, 0.3, 1.0]
    grid = clipped_risk(0.7, PolynomialDecay(eta, alpha), times=times, steps=50, **setting)
    assert grid.shape == (3, 2, 3, 2)
    for i, j, k in np.ndindex(2, 3, 2):
        one = setting | {"clip_constant": c[j, 0], "rho": rho[k]}
        schedule = PolynomialDecay(eta[k], alpha[i, 0, 0])
        single = clipped_risk(0.7, schedule, times=times, steps=50, **one)
        np.testing.assert_allclose(grid[:, i, j, k], single, rtol=1e-13)


def test_large_grids_are_cut_into_chunks():
    eta = np.linspace(1, 8, 5000)
    grid = clipped_risk(0.7, PolynomialDecay(eta, 0.5), steps=60, **SETTING)
    few = clipped_risk(0.7, PolynomialDecay(eta[::1000], 0.5), steps=60, **SETTING)
    np.testing.assert_allclose(grid[-1, ::1000], few[-1], rtol=1e-14)


def test_stable_and_positive_at_every_learning_rate():
    eta, c = np.logspace(-3, 9, 25), np.logspace(-9, 3, 13)[:, None]
    risk = clipped_risk(0.7, PolynomialDecay(eta, 0.5), steps=5, **SETTING | {"clip_constant": c})
    assert np.all(np.isfinite(risk) & (risk >= 0))


def test_extreme_aspect_ratios():
    gamma, c = np.array([1e-4, 1e-16, 1e-32]), np.array([[1e-3], [1e-6]])
    setting = SETTING | {"aspect_ratio": gamma, "rho": gamma, "clip_constant": c}
    schedule = PolynomialDecay(np.log(1 / gamma) * 0.4 / c, 0.5)
    coarse, fine = (clipped_risk(0.5, schedule, steps=n, **setting)[-1] for n in (1600, 6400))
    np.testing.assert_allclose(coarse, fine, rtol=1e-3)
    assert np.all(fine < 1e3 * gamma)
    np.testing.assert_allclose(fine[0], fine[1], rtol=0.01)  # only x = c eta0 matters


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_coupled_family_against_an_adaptive_solver(exponent):
    blocks = SpectralBlocks(np.array([0.4, 1.0, 1.6]), np.array([5, 2, 5]), np.array([1, 0.2, 0.5]))
    lam, k, q = blocks.eigenvalues, blocks.multiplicities, blocks.offsets
    schedule = PolynomialDecay(8.0, exponent)
    initial, weights = 12 / 2 * q**2 / k, lam * k / 12
    exact = reference((lam, lam), initial, weights, schedule, 0.999, **SETTING)
    ours = clipped_risk(blocks, schedule, times=[0, 0.999], steps=1600, **SETTING)
    assert ours[0] == pytest.approx(blocks.risk)
    assert ours[-1] == pytest.approx(exact, rel=2e-5)


def test_the_coupled_family_of_equal_eigenvalues_is_the_scalar_equation():
    d = 6
    modes = SpectralBlocks(np.ones(d), np.ones(d, int), np.linspace(0, 1, d)).modes()
    risk = np.sum(np.linspace(0, 1, d) ** 2) / 2
    for steps, tolerance in ((200, 1e-4), (1600, 1e-6)):
        np.testing.assert_allclose(
            clipped_risk(modes, SCHEDULE, steps=steps, **SETTING),
            clipped_risk(risk, SCHEDULE, steps=steps, **SETTING),
            rtol=tolerance,
        )


def test_grouping_changes_nothing():
    rng = np.random.default_rng(4)
    lam = rng.choice([0.4, 1.0, 1.6], 60)
    lam /= lam.mean()
    offset = rng.standard_normal(60)
    grouped, apart = (
        SpectralBlocks.grouped(lam, offset),
        SpectralBlocks(lam, np.ones(60, int), np.abs(offset)),
    )
    assert grouped.eigenvalues.size == 3
    np.testing.assert_allclose(
        *(
            clipped_risk(b, SCHEDULE, times=[0, 0.5, 1], steps=50, **SETTING)
            for b in (grouped, apart)
        ),
        rtol=1e-12,
    )


def test_quadrature_of_the_spectrum():
    blocks, times = random_blocks(), np.linspace(0, 1, 11)
    setting = SETTING | {"clip_constant": np.array([0.05, 0.3, 3.0])}
    full = clipped_risk(blocks, SCHEDULE, times=times, steps=50, **setting)
    errors = [
        np.abs(
            clipped_risk(blocks.modes(nodes), SCHEDULE, times=times, steps=50, **setting) / full - 1
        ).max()
        for nodes in (4, 6, 8, 12)
    ]
    assert errors[2] < 1e-6
    assert errors[3] < 1e-11
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("seed", range(4))
def test_the_bounds_enclose_the_risk(seed):
    blocks, times = random_blocks(50, seed), np.linspace(0, 1, 21)
    lam, setting = blocks.eigenvalues, SETTING | {"clip_constant": np.array([0.05, 0.3, 3.0])}
    middle = clipped_risk(blocks, SCHEDULE, times=times, steps=800, **setting)
    low, high = (
        clipped_risk(
            blocks.risk, SCHEDULE, descent=a, sampling=b, times=times, steps=800, **setting
        )
        for a, b in ((lam.max(), 1.0), (lam.min(), lam.max()))
    )
    assert np.all(low[1:] < middle[1:])
    assert np.all(middle[1:] < high[1:])


def test_factors_multiply_the_rates_and_loads_of_a_spectrum():
    blocks, factors = random_blocks(50), {"descent": np.array([0.5, 1.0, 2.0]), "sampling": 1.5}
    ours = clipped_risk(blocks, SCHEDULE, **factors, **SETTING)
    modes = blocks.modes()
    for k, factor in enumerate(factors["descent"]):
        changed = modes._replace(rates=factor * modes.rates, sampling=1.5 * modes.sampling)
        np.testing.assert_allclose(
            ours[:, k], clipped_risk(changed, SCHEDULE, **SETTING), rtol=1e-12
        )


class Rising:
    """A schedule that increases."""

    def __call__(self, t):
        return 1 + np.asarray(t)

    def integral(self, t):
        return np.asarray(t) * 1.5

    square_integral = integral


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"clip_constant": 0.0}, "clip_constant"),
        ({"clip_constant": np.inf}, "clip_constant must be finite"),
        ({"aspect_ratio": -0.1}, "aspect_ratio"),
        ({"label_variance": np.nan}, "label_variance"),
        ({"rho": 0.0}, "rho"),
        ({"start": -1.0}, "start"),
        ({"descent": -1.0}, "descent"),
        ({"sampling": -1.0}, "sampling"),
        ({"times": [0.0, 0.0]}, "times"),
        ({"times": [0.0, 1.5]}, "t must lie"),
        ({"steps": 0}, "steps"),
        ({"schedule": Rising()}, "schedule must not increase"),
        (
            {"clip_constant": np.inf, "rho": np.inf, "schedule": PolynomialDecay(1e4, 0.0)},
            "floating point",
        ),
    ],
)
def test_bad_input(change, word):
    with pytest.raises(ValueError, match=word):
        clipped_risk(**{"start": 0.7, "schedule": SCHEDULE} | SETTING | change)
