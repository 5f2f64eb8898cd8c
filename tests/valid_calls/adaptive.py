"""A valid call of every public function of the room adaptive: the arguments, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from valid_calls.calls import Call, of, rng


def linear(x: Any) -> Any:
    """The gradient of a quadratic."""
    return x


def down(x: Any) -> Any:
    """The probability of a step down of a sign walk."""
    return 0.5 + 0.4 * np.tanh(x)


VECTOR = {"mean_norm": 1.0, "noise_scale": 0.5, "dimension": 4}
STUDENT = {"degrees_of_freedom": 5.0}
WALK = {"down_probability": down, "x0": 0.0, "learning_rate": 0.1}
STEPS = {"steps": np.array([1, 5]), "tolerance": 1e-14}
NOISY = {"clip_norm": 1.0, "noise_multiplier": 0.5, "gradient_noise": 0.1, "batch_size": 2}
LAW = {"curvature": 1.0, "scale": 1.0, "learning_rate": 0.1}
LEVEL = {"learning_rate": 0.1, "scale": 1.0, "contraction": 0.5}

CALLS: dict[str, Call] = {
    "NoisyVector": of(**VECTOR, **STUDENT),
    "gaussian_sign": of(gradient=linear, scale=1.0),
    "plateau": of(**LEVEL, method="sign"),
    "private_ensemble": of(
        gradient=linear,
        x0=np.ones((2, 3)),
        step_sizes=np.full(3, 0.1),
        method="adam",
        **NOISY,
        **STUDENT,
        betas=(0.9, 0.99),
        adam_epsilon=1e-6,
        checkpoints=[0, 3],
        rng=rng(),
        dtype="float64",
        backend="numpy",
        device="cpu",
    ),
    "private_gradient_scale": of(**NOISY, clipped_dimension=3),
    "quadratic_sgd_moments": of(
        curvature=1.0, scale=1.0, x0=1.0, learning_rates=np.array([0.1, 0.1]), steps=[0, 2]
    ),
    "radial_chain": of(
        start_norms=1.0,
        step_sizes=np.full(3, 0.1),
        eigenvalues=1.0,
        multiplicities=4,
        **NOISY,
        **STUDENT,
        rng=rng(),
        replicates=2,
        checkpoints=[0, 3],
    ),
    "sign_diffusion_law": of(**LAW, equation="linear"),
    "sign_walk": of(**WALK, **STEPS),
    "stationary_sign_law": of(**WALK, interval=(-1.0, 1.0)),
    "scaled_chi_mean": of(**STUDENT),
}
