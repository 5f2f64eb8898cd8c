"""Clipped DP-SGD: the block reduction, grids of risk equations, quadrature of the spectrum."""

import math

import numpy as np
from scipy.integrate import odeint, solve_ivp
from timing import result, timed

from dpdynamics.dynamics import (
    SpectralBlocks,
    clipped_risk,
    one_pass_sgd,
)
from dpdynamics.problems import PolynomialDecay

SETTING = {"aspect_ratio": 0.1, "label_variance": 0.04, "rho": 0.5}


def bench_block_reduction():
    """A run of 100 steps with private noise, each simulator on an ensemble of a good size."""
    dimension, steps = 1000, 100
    etas = PolynomialDecay(5.0, 0.5).step_sizes(10 * dimension)[:steps]
    sigmas = np.full(steps, 1e-5)
    blocks = SpectralBlocks.isotropic(dimension, 0.5)
    setting = {"clip_norm": 0.3 * math.sqrt(dimension), "label_variance": 0.04}
    times, means = {_by_blocks: [], _by_coordinates: []}, {}
    for _ in range(5):
        for simulate, runs in ((_by_blocks, 4000), (_by_coordinates, 20)):
            rng = np.random.default_rng(0)
            seconds, value = timed(
                simulate, blocks, etas, sigmas, rng=rng, replicates=runs, **setting
            )
            times[simulate].append(seconds / runs)
            means[simulate] = value.mean()
    if not math.isclose(*means.values(), rel_tol=0.02):
        raise ValueError(f"the mean risks disagree: {means.values()}")
    return result("DP-SGD run, d = 1000, blocks against coordinates", *times.values(), 100)


def _by_blocks(blocks, etas, sigmas, **setting):
    return one_pass_sgd(blocks, etas, sigmas, **setting).values[:, -1]


def _by_coordinates(blocks, etas, sigmas, *, rng, replicates, clip_norm, label_variance):
    """The same with all d coordinates of the error, (d, replicates)."""
    lam, v = (part[:, None] for part in blocks.coordinates())
    roots, v = np.sqrt(lam), np.repeat(v, replicates, axis=1)
    for eta, sigma in zip(etas, sigmas, strict=True):
        x = rng.standard_normal(v.shape)
        x *= roots
        residual = np.einsum("ir,ir->r", x, v)
        residual -= math.sqrt(label_variance) * rng.standard_normal(replicates)
        square = np.einsum("ir,ir->r", x, x)
        limit = clip_norm / np.sqrt(square)
        x *= -np.minimum(eta, 2 / square) * np.clip(residual, -limit, limit)
        v += x
        v += math.sqrt(2) * clip_norm * sigma * rng.standard_normal(v.shape)
    return (lam * v**2).sum(axis=0) / 2


def _slope(clip, rate):
    """The scalar equation as one would write it for a single cell, in plain arithmetic."""
    gamma, zeta2, rho = SETTING.values()

    def slope(t, state):
        risk = float(state[0])
        eta2, power = rate**2 * (1 - t), max(risk, 0.0) + zeta2 / 2
        beta = clip / math.sqrt(2 * power)
        mu, tail = math.erf(beta / math.sqrt(2)), math.erfc(beta / math.sqrt(2))
        nu = mu - math.sqrt(2 / math.pi) * beta * math.exp(-beta * beta / 2) + beta * beta * tail
        descent = -2 * math.sqrt(eta2) * mu * risk
        return [descent + gamma * eta2 * nu * power + (gamma * clip * rate) ** 2 / rho]

    return slope


def _solve_ivp(slope):
    return solve_ivp(slope, (0, 1), [0.5], method="LSODA", rtol=6e-5, atol=1e-6).y[0, -1]


def _odeint(slope):
    keywords = {"rtol": 6e-5, "atol": 1e-6, "tcrit": [1.0], "tfirst": True}
    return odeint(slope, [0.5], [0.0, 1.0], **keywords)[-1, 0]


def _grid(name, solve, target):
    clips, rates = np.logspace(-2, 1, 40), np.logspace(0, np.log10(19.9), 40)
    schedule, grid = PolynomialDecay(rates, 0.5), clips[:, None]
    exact = clipped_risk(0.5, schedule, clip_constant=grid, steps=1600, **SETTING)[-1]
    ours, theirs, looped = [], 0.0, np.empty((40, 40))
    for i, clip in enumerate(clips):
        seconds, value = timed(clipped_risk, 0.5, schedule, clip_constant=grid, steps=52, **SETTING)
        ours.append(seconds)
        seconds, looped[i] = timed(lambda c=clip: [solve(_slope(c, rate)) for rate in rates])
        theirs += seconds
    for whose, found in (("ours", value[-1]), ("theirs", looped)):
        if (error := np.abs(found / exact - 1).max()) > 1e-3:
            raise ValueError(f"{whose}: the relative error {error:.1e} exceeds 1e-3")
    return result(name, ours, [theirs], target)


def bench_grid():
    """1600 pairs of clipping and step size, at a relative error below 1e-3 on both sides."""
    return _grid("1600 risk equations, against LSODA (solve_ivp)", _solve_ivp, 50)


def bench_grid_compiled_driver():
    """The same against the old driver of LSODA, whose loop over time is compiled."""
    return _grid("1600 risk equations, against LSODA (odeint)", _odeint, None)


def bench_quadrature():
    """A spectrum of 1000 eigenvalues for 400 pairs of clipping and step size."""
    rng = np.random.default_rng(0)
    spectrum = rng.uniform(0.1, 2, 1000)
    blocks = SpectralBlocks.grouped(spectrum / spectrum.mean(), 0.03 * rng.standard_normal(1000))
    schedule, grid = PolynomialDecay(np.linspace(2, 10, 20), 0.5), np.logspace(-1, 1, 20)[:, None]
    ours, theirs = [], []
    for _ in range(3):
        seconds, value = timed(
            lambda: clipped_risk(
                blocks.modes(8), schedule, clip_constant=grid, steps=100, **SETTING
            )
        )
        ours.append(seconds)
        seconds, full = timed(
            clipped_risk, blocks, schedule, clip_constant=grid, steps=100, **SETTING
        )
        theirs.append(seconds)
    if np.abs(value / full - 1).max() > 1e-5:
        raise ValueError("the quadrature misses the full family by more than 1e-5")
    return result("400 coupled families, d = 1000, 8-node quadrature", ours, theirs, 15)
