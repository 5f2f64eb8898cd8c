r"""The homogenised equation of clipped DP-SGD on ensembles, by norms in the eigenspaces."""

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import Array, nonnegative, number, whole
from dpdynamics.problems.schedules import Schedule

from .clipped_risk import hyperparameters, schedule_cells
from .clipping import factors
from .sde import time_grid
from .spectra import SpectralBlocks, check_trace


def clipped_diffusion(
    blocks: SpectralBlocks,
    schedule: Schedule,
    *,
    clip_constant: float,
    samples: int,
    label_variance: float,
    rho: float,
    rng: np.random.Generator,
    replicates: int = 1,
    times: ArrayLike = (0.0, 1.0),
    steps: int = 400,
) -> Array:
    r"""Simulate the risk of homogenised clipped DP-SGD.

    .. math::

       d\Theta = -\tilde\eta\mu_c\nabla\mathcal P\,dt
       + \tilde\eta\sqrt{2\nu_c\mathcal P\Sigma/n}\,dB^s
       + \frac{\sqrt{2d}}nc\tilde\sigma\,dB^p

    The norms of the error in the eigenspaces are a Markov process, as in `one_pass_sgd`. Each step
    freezes :math:`\mu_c, \nu_c` and the risk at their expected values in its middle and solves the
    linear equation that is left, with exact integrals of the schedule: weak order 1, and 2 for the
    mean as the noise vanishes.
    Claim bombari2025.def4.2.

    Parameters
    ----------
    blocks : SpectralBlocks
        Of mean eigenvalue 1.
    schedule, times, steps
        As in `clipped_risk`; the schedule has scalar values.
    clip_constant, label_variance, rho : float
        As in `clipped_risk`.
    samples : int
        n.
    rng : numpy.random.Generator
    replicates : int

    Returns
    -------
    (replicates, N) array
        Noiseless risks at `times`; at time 1 before the last step of the algorithm.
    """
    check_trace(blocks)
    samples, runs = whole("samples", samples, 1), whole("replicates", replicates, 1)
    labels, eigenvalues = nonnegative("label_variance", label_variance), blocks.eigenvalues[:, None]
    clip, _, noise = hyperparameters(
        number("clip_constant", clip_constant), 0.0, number("rho", rho)
    )
    private = 2 * blocks.dimension / samples**2 * noise
    sizes = blocks.multiplicities[:, None]
    degrees = np.repeat((sizes - 1) / 2, runs, axis=1)
    q = np.repeat(blocks.offsets[:, None], runs, axis=1)
    total = (eigenvalues * q**2).sum(axis=0)  # 2R
    intervals = time_grid(times, 1 / whole("steps", steps, minimum=1), 1)
    risks, cells = [total / 2], schedule_cells(schedule, intervals)

    def coefficients(total: Array, area: Array, square: Array, drop: Array) -> tuple[Array, Array]:
        """Return the contraction and the added variance of each coordinate over a step."""
        with np.errstate(divide="ignore"):
            mu, nu = factors(clip / np.sqrt(total + labels))
        sampling = (square / samples) * nu * (total + labels)
        decay = area * mu * eigenvalues + 1e-300
        variance = (sampling * eigenvalues + private * drop) * -np.expm1(-2 * decay) / (2 * decay)
        return np.exp(-decay), variance

    for _, _, pieces in intervals:
        for _ in range(pieces):
            cell = next(cells)
            contraction, variance = coefficients(total, *(part / 2 for part in cell))
            middle = eigenvalues * ((contraction * q) ** 2 + sizes * variance)
            contraction, variance = coefficients(middle.sum(axis=0), *cell)
            along = contraction * q + np.sqrt(variance) * rng.standard_normal(q.shape)
            q = np.sqrt(along**2 + 2 * variance * rng.standard_gamma(degrees))
            total = (eigenvalues * q**2).sum(axis=0)
        risks.append(total / 2)
    return np.stack(risks, axis=1)
