"""A valid call of every public function of the room dynamics: the arguments, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdynamics.dynamics import SpectralBlocks
from dpdynamics.problems import (
    Constant,
    GaussianDesign,
    GaussianLabelNoise,
    LeastSquares,
    PolynomialDecay,
    Setting,
)
from valid_calls.calls import Call, of, rng


def square(x: Any) -> Any:
    """A test function."""
    return x**2


def constant(x: Any) -> Any:
    """The noise of an equation."""
    return np.full_like(x, 0.2)


def drift(t: Any, x: Any) -> Any:
    """The drift of an Ornstein-Uhlenbeck process."""
    return -x


def diffusion(t: Any, x: Any) -> Any:
    """Its noise."""
    return 0.2


EIGENVALUES, TRUTH, START = np.array([1.0, 0.5]), np.array([1.0, -1.0]), np.array([0.5, 2.0])
PROBLEM = LeastSquares(EIGENVALUES, TRUTH, 0.3, 0.1)
NOISE = GaussianLabelNoise(0.3**0.5)
SETTING = Setting(
    LeastSquares(EIGENVALUES, TRUTH, NOISE.variance, 0.1),
    GaussianDesign(EIGENVALUES),
    NOISE,
    START,
    Constant(0.5),
    steps=4,
    noise_scale=0.5,
)
BLOCKS = SpectralBlocks(np.array([0.5, 1.5]), np.array([2, 2]), np.array([1.0, 0.5]))
TIMES = np.array([0.0, 0.5, 1.0])
SQUARE, VECTOR, IDENTITY = -np.array([[1.0, 0.2], [0.0, 0.5]]), np.array([1.0, 2.0]), np.eye(2)

SPECTRUM = {"problem": PROBLEM, "schedule": 0.5, "noise_scale": 0.5}
HSGD = {**SPECTRUM, "x0": START}
CLIPPED = {"clip_constant": 0.3, "aspect_ratio": 0.1, "rho": 0.5}
PASS = {"schedule": PolynomialDecay(5.0, 0.5), **CLIPPED, "label_variance": 0.04}
GRID = {"times": np.array([0.0, 1.0]), "steps": 20}
INTERVAL = {"interval": (-4.0, 4.0), "nodes": 48, "tolerance": 1e-6}
STARTS = {"x": np.array([0.5, 1.0]), "g": square}
EQUATION = {"A": SQUARE, "b": VECTOR, "S": IDENTITY}
RECURSION = {"F": SQUARE / 2, "g": VECTOR, "C": IDENTITY}
ISOTROPIC = {
    "dimension": 4,
    "learning_rate": 0.5,
    "noise_scale": 0.5,
    "label_variance": 0.3,
    "start": 1.0,
}
ONE_PASS = {
    "blocks": BLOCKS,
    "step_sizes": np.full(3, 0.1),
    "noise_scales": np.full(3, 0.2),
    "clip_norm": 1.0,
    "label_variance": 0.3,
    "rng": rng(),
    "replicates": 2,
    "checkpoints": [0, 3],
}
STATE = {"learning_rates": np.full(3, 0.1), "noise_scale": 0.5, "x0": START}

CALLS: dict[str, Call] = {
    "clipped_diffusion": of(
        blocks=BLOCKS,
        schedule=PolynomialDecay(5.0, 0.5),
        clip_constant=0.3,
        samples=40,
        label_variance=0.04,
        rho=0.5,
        rng=rng(),
        replicates=2,
        **GRID,
    ),
    "clipped_risk": of(start=0.5, **PASS, descent=1.0, sampling=1.0, **GRID),
    "clipping_factors": of(ratio=1.0),
    "conditional_law": of(a=IDENTITY, b=VECTOR, **STATE | {"learning_rates": VECTOR}, ridge=0.1),
    "diffusion_expectation": of(
        drift=lambda x: -x,
        diffusion=constant,
        **STARTS,
        times=TIMES,
        interval=(-3.0, 3.0),
        nodes=128,
        tolerance=1e-6,
    ),
    "euler_maruyama": of(
        drift=drift,
        diffusion=diffusion,
        x0=IDENTITY,
        times=TIMES,
        rng=rng(),
        max_step=0.25,
        dtype="float64",
        backend="numpy",
        device="cpu",
    ),
    "gaussian_moment_recursion": of(problem=PROBLEM, **STATE),
    "gradient_flow": of(problem=PROBLEM, x0=START, schedule=0.5, times=TIMES),
    "hsgd_paths": of(**HSGD, times=TIMES, rng=rng(), max_step=0.1, replicates=2),
    "isotropic_moments": of(**ISOTROPIC, steps=4, lengths=(1.0,)),
    "law": of(**HSGD, times=TIMES),
    "linear_recursion": of(**RECURSION),
    "linear_sde": of(**EQUATION, time=1.0),
    "noisy_sgd": of(
        setting=SETTING,
        rng=rng(),
        replicates=2,
        checkpoints=[0, 4],
        noise_scale=0.5,
        clip_norm=1.0,
    ),
    "one_pass_sgd": of(**ONE_PASS),
    "one_pass_step": of(
        theta=IDENTITY, features=IDENTITY, labels=VECTOR, step_size=0.1, clip_norm=1.0
    ),
    "risk_curve": of(**HSGD, times=TIMES),
    "release": of(**HSGD, step_time=0.5, times=np.array([0.2, 1.0])),
    "stability_limit": of(problem=PROBLEM),
    "stationary_risk": of(problem=PROBLEM, learning_rate=0.5, noise_scale=0.5),
    "tune_one_pass": of(
        exponent=0.5,
        initial_risk=0.5,
        aspect_ratio=0.05,
        label_variance=0.25,
        rho=1.0,
        clip_constant=0.3,
        steps=8,
    ),
}
