r"""Clipped DP-SGD on a quadratic with few distinct eigenvalues, reduced to norms, exactly in law.

In the eigenspace of :math:`\lambda_b` the iterate has the norm :math:`q_b` and the mean gradient
the length :math:`\lambda_bq_b`. If the private gradient has lengths :math:`A_b` along it and
:math:`L_b` across, one step is :math:`q_b^2\leftarrow(q_b - \eta A_b)^2 + \eta^2L_b^2`: the norms
are a Markov chain, whatever the dimension.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, checkpoint_steps, nonnegative_array, positive_array, whole
from .gradient_parts import NumpyDraws, PrivateNoise


class RadialRuns(NamedTuple):
    """Norms in the eigenspaces.

    `checkpoints` (N,) are numbers of steps taken, `norms` (replicates, N, blocks), and `clipped`
    (replicates, N) the number of clipped steps so far, a step counting by its share of clipped
    examples.
    """

    checkpoints: np.ndarray
    norms: Array
    clipped: Array


def radial_chain(
    start_norms: ArrayLike,
    step_sizes: ArrayLike,
    *,
    eigenvalues: ArrayLike,
    multiplicities: ArrayLike,
    clip_norm: ArrayLike,
    noise_multiplier: ArrayLike,
    gradient_noise: ArrayLike,
    batch_size: int = 1,
    degrees_of_freedom: float = inf,
    per_example: bool = True,
    rng: np.random.Generator,
    replicates: int = 1,
    checkpoints: ArrayLike | None = None,
) -> RadialRuns:
    r"""Simulate DP-SGD on :math:`f(x) = \frac12\sum_b\lambda_b|x_b|^2` by norms.

    Parameters
    ----------
    start_norms : (blocks,) or (replicates, blocks) array
        :math:`|x_b|` at the start; a number for one block.
    step_sizes : (n,) or (n, replicates) array
        :math:`\eta_k`, nonnegative.
    eigenvalues : number or (blocks,) array
        :math:`\lambda_b`, nonnegative.
    multiplicities : integer or (blocks,) array
        Dimensions of the eigenspaces.
    clip_norm, noise_multiplier, gradient_noise : numbers or (replicates,) arrays
        C, :math:`\sigma_{DP}` and :math:`\sigma_\gamma`.
    batch_size : int
        B.
    degrees_of_freedom : float
        :math:`\nu` of the noise :math:`\sigma_\gamma t_\nu(0, I_d)` of an example; inf: Gaussian.
    per_example : bool
        True: B examples are clipped and averaged. False: one gradient, with noise of scale
        :math:`\sigma_\gamma/\sqrt B`, is clipped.
    rng : numpy.random.Generator
    replicates : int
    checkpoints : (N,) integers, optional
        Steps in 0..n after which to record, increasing; default 0..n.

    Returns
    -------
    RadialRuns
        The loss is ``runs.norms**2 @ eigenvalues / 2``.

    Raises
    ------
    ValueError
        If a shape or a range is violated.

    Examples
    --------
    >>> runs = radial_chain(
    ...     1.0, np.full(50, 0.1), eigenvalues=1.0, multiplicities=64, clip_norm=1.0,
    ...     noise_multiplier=0.1, gradient_noise=0.1, rng=np.random.default_rng(0), replicates=3,
    ... )
    >>> runs.norms.shape
    (3, 51, 1)

    References
    ----------
    Claims anon2025.def3.3 and anon2025.thmB.5.
    """
    runs = whole("replicates", replicates, 1)
    curvature = np.atleast_1d(nonnegative_array("eigenvalues", eigenvalues))[:, None]
    sizes = np.atleast_1d(positive_array("multiplicities", multiplicities))
    if curvature.ndim != 2 or sizes.shape != curvature.shape[:1] or np.any(sizes % 1):
        raise ValueError(f"multiplicities must be {len(curvature)} whole numbers, got {sizes}")
    counts = [int(k) for k in sizes]
    start = np.atleast_1d(nonnegative_array("start_norms", start_norms))
    if start.shape not in ((len(counts),), (runs, len(counts))):
        raise ValueError(f"start_norms must have shape ({len(counts)},), got {start.shape}")
    etas = nonnegative_array("step_sizes", step_sizes)
    if etas.ndim not in (1, 2) or etas.shape[1:] not in ((), (runs,)):
        raise ValueError(f"step_sizes must have shape (n,) or (n, {runs}), got {etas.shape}")
    noise = PrivateNoise.checked(
        runs,
        clip_norm=clip_norm,
        noise_multiplier=noise_multiplier,
        batch_size=batch_size,
        gradient_noise=gradient_noise,
        degrees_of_freedom=degrees_of_freedom,
        per_example=per_example,
    )
    marks, draws = checkpoint_steps(checkpoints, len(etas)), NumpyDraws(rng)
    q = np.broadcast_to(start, (runs, len(counts))).T.copy()
    clipped = np.zeros(runs)
    norms, shares = np.empty((runs, marks.size, len(counts))), np.empty((runs, marks.size))
    recorded = 0
    for k in range(marks[-1] + 1):
        if marks[recorded] == k:
            norms[:, recorded], shares[:, recorded] = q.T, clipped
            recorded += 1
        if recorded < marks.size:
            parts = noise.parts(curvature * q, counts, draws)
            q = np.hypot(q - etas[k] * parts.along, etas[k] * parts.across)
            clipped += parts.clipped
    return RadialRuns(marks, norms, shares)
