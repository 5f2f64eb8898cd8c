"""Algorithm 1 of lin2025, one-pass noisy SGD, on an ensemble of replicates."""

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import (
    LARGEST,
    Array,
    checkpoint_steps,
    finite_array,
    nonnegative,
    positive,
    vector,
    whole,
)
from dpdynamics.problems import Setting

from ..optimisers import descend
from ..runs import Runs, recorded


def noisy_sgd(
    setting: Setting,
    *,
    rng: np.random.Generator,
    replicates: int = 1,
    checkpoints: ArrayLike | None = None,
    noise_scale: float | None = None,
    clip_norm: float | None = None,
    data: tuple[ArrayLike, ArrayLike] | None = None,
) -> Runs:
    r"""Run one-pass noisy SGD: :math:`x_{k+1} = x_k - \eta_k(\nabla f(x_k; a_k, b_k)+\sigma Z_k)`.

    Claims lin2025.alg1 and lin2025.fig2a.

    Parameters
    ----------
    setting : Setting
        Problem, data law, start, learning rates and number of steps n.
    rng : numpy.random.Generator
    replicates : int
        Number of independent runs, at least 1.
    checkpoints : (C,) integers, optional
        Steps in 0..n after which the risks are recorded, increasing; default 0..n.
    noise_scale : float, optional
        :math:`\sigma` in [0, inf) instead of the setting's.
    clip_norm : float, optional
        Clip the gradient of each record's regularized loss to this Euclidean norm, before the noise
        is added. None: no clipping, as in the paper.
    data : (a, b), optional
        Fixed features (n, d) in the eigenbasis and labels (n,), the same for every replicate.
        None: each replicate draws fresh records at every step.

    Returns
    -------
    Runs
        `values` are (replicates, C) arrays, "population" and "regularized"; `final` (replicates, d)
        are the last iterates, in the eigenbasis.
    """
    problem, steps = setting.problem, setting.steps
    replicates = whole("replicates", replicates, minimum=1)
    sigma = nonnegative("noise_scale", setting.noise_scale if noise_scale is None else noise_scale)
    clip = None if clip_norm is None else positive("clip_norm", clip_norm)
    marks = checkpoint_steps(checkpoints, steps, minimum=0)
    records = None
    if data is not None:
        records = finite_array("data[0]", data[0], ndim=2), vector("data[1]", data[1], steps)
        if records[0].shape != (steps, problem.dimension):
            raise ValueError(f"data[0] must have shape {(steps, problem.dimension)}")
    x = np.tile(setting.x0, (replicates, 1))
    rates = setting.learning_rates

    def step(k: int) -> None:
        nonlocal x
        if records is None:
            a, b = setting.sample_data(rng, replicates)
        else:
            a, b = records[0][k], records[1][k]
        residual = np.sum(a * x, axis=1) - b
        gradient = residual[:, None] * a + problem.ridge * x
        if clip is not None:
            norm = np.linalg.norm(gradient, axis=1, keepdims=True)
            gradient *= clip / np.maximum(norm, clip)
        if sigma > 0:
            gradient += sigma * rng.standard_normal(x.shape)
        descend(np, x, gradient, rates[k], signs=False)
        if not np.all(np.abs(x) <= LARGEST):
            raise ValueError(
                f"setting, noise_scale: the iterates overflow at step {k}; lower the learning rate"
            )

    def risks(_: int) -> tuple[Array, Array]:
        return problem.population_risk(x), problem.regularized_risk(x)

    seen = np.reshape(recorded(marks, steps, step, risks), (marks.size, 2, replicates))
    population, regularized = seen.transpose(1, 2, 0)
    return Runs(marks, {"population": population, "regularized": regularized}, x)
