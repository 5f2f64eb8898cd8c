r"""Algorithm 1 of bombari2025, one-pass clipped DP-SGD on Gaussian data, on ensembles of runs.

With :math:`v = \theta-\theta^*`, fresh :math:`x\sim N(0, \Sigma)`, z and Gaussian b_k, one step is

.. math::

   v\leftarrow v - h_kx + \sqrt2C\sigma_kb_k,\qquad
   h_k = \min\{\eta_k, 2/\|x\|^2\}\,\mathrm{clip}(x^\top v - z;\,C/\|x\|),

as clipping the gradient, the feature times its residual, at C clips the residual at
:math:`C/\|x\|`.
"""

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import (
    Array,
    checkpoint_steps,
    finite_array,
    nonnegative,
    nonnegative_array,
    together,
    whole,
)

from ..runs import Runs, recorded
from .clipping import positive_or_inf
from .spectra import SpectralBlocks


def one_pass_step(
    theta: ArrayLike, features: ArrayLike, labels: ArrayLike, step_size: ArrayLike, clip_norm: float
) -> Array:
    r"""Take one step of Algorithm 1 without its private noise.

    Claim bombari2025.alg1.

    Parameters
    ----------
    theta, features : (..., d) arrays
    labels : (...) array
    step_size : (...) array
        :math:`\eta_k`, nonnegative; shortened to :math:`2/\|x\|^2` where that is less.
    clip_norm : float
        C in (0, inf], for the norm of the gradient :math:`(x^\top\theta - y)x`.

    Returns
    -------
    (..., d) array
    """
    theta, features = finite_array("theta", theta), finite_array("features", features)
    eta, clip = nonnegative_array("step_size", step_size), positive_or_inf("clip_norm", clip_norm)
    labels = finite_array("labels", labels)
    try:
        np.broadcast_shapes(theta.shape[:-1], features.shape[:-1], labels.shape, eta.shape)
        same = theta.shape[-1] == features.shape[-1]
    except (ValueError, IndexError):
        same = False
    if not same:
        raise ValueError("theta, features, labels, step_size: the shapes do not agree")
    residual = np.sum(features * theta, axis=-1) - labels
    residual, _ = together(residual=residual, clip_norm=clip)
    length = _step_length(residual, np.sum(features**2, axis=-1), eta, clip)
    return theta - length[..., None] * features


def one_pass_sgd(
    blocks: SpectralBlocks,
    step_sizes: ArrayLike,
    noise_scales: ArrayLike,
    *,
    clip_norm: ArrayLike,
    label_variance: float,
    rng: np.random.Generator,
    replicates: int = 1,
    checkpoints: ArrayLike | None = None,
) -> Runs:
    r"""Simulate Algorithm 1 by the norms of the error in the eigenspaces, exactly in law.

    In the eigenspace of :math:`\lambda_b`, of dimension :math:`k_b`, let :math:`q_b` be the norm of
    the error and :math:`\sqrt{\lambda_b}(s_be_b + w_b)` the feature, with e_b along the error, s_b
    normal and :math:`W_b = \|w_b\|^2\sim\chi^2_{k_b-1}`. The step length h depends on
    :math:`\sum_b\sqrt{\lambda_b}s_bq_b` and :math:`\sum_b\lambda_b(s_b^2 + W_b)` only, and

    .. math::

       q_b^2\leftarrow(\sqrt{U_b} + \tau g_b)^2 + \tau^2X_b,\qquad
       U_b = (q_b - h\sqrt{\lambda_b}s_b)^2 + h^2\lambda_bW_b

    with g_b normal and :math:`X_b\sim\chi^2_{k_b-1}`. A step costs O(m), whatever d.
    Claim bombari2025.alg1.

    Parameters
    ----------
    blocks : SpectralBlocks
        The trace is free.
    step_sizes, noise_scales : (n,) or (n, replicates) arrays
        :math:`\eta_k` and :math:`\sigma_k`, nonnegative; with two axes every run has its own.
    clip_norm : number or (replicates,) array
        C in (0, inf]; inf only if there is no private noise.
    label_variance : float
        :math:`\zeta^2`, nonnegative.
    rng : numpy.random.Generator
    replicates : int
        Number of independent runs.
    checkpoints : (N,) integers, optional
        Steps in 0..n after which the risk is recorded, increasing; default 0..n.

    Returns
    -------
    Runs
        `values` (replicates, N) are the noiseless risks, `final` (replicates, m) the norms of the
        error in the blocks.
    """
    zeta = float(np.sqrt(nonnegative("label_variance", label_variance)))
    runs, clip = whole("replicates", replicates, 1), positive_or_inf("clip_norm", clip_norm)
    etas = nonnegative_array("step_sizes", step_sizes)
    sigmas = nonnegative_array("noise_scales", noise_scales)
    for name, value in (("step_sizes", etas), ("noise_scales", sigmas)):
        if value.ndim not in (1, 2) or value.shape[1:] not in ((), (runs,)):
            raise ValueError(f"{name} must have shape (n,) or (n, {runs}), got {value.shape}")
    if len(etas) != len(sigmas):
        raise ValueError(f"noise_scales must have {len(etas)} steps, got {len(sigmas)}")
    if clip.shape not in ((), (runs,)):
        raise ValueError(f"clip_norm must be a number or {runs} of them, got {clip.shape}")
    if np.any(np.isinf(clip) & (sigmas > 0).any(axis=0)):
        raise ValueError("clip_norm must be finite unless noise_scales are 0")
    scale = np.where(np.isinf(clip), 0.0, np.sqrt(2) * np.where(np.isinf(clip), 0.0, clip))
    marks = checkpoint_steps(checkpoints, len(etas), minimum=0)
    eigenvalues, degrees = blocks.eigenvalues[:, None], blocks.multiplicities - 1
    q, roots = np.repeat(blocks.offsets[:, None], runs, axis=1), np.sqrt(eigenvalues)
    groups = [(int(k), np.flatnonzero(degrees == k)) for k in np.unique(degrees)]

    def chi_square() -> Array:
        out = np.zeros(q.shape)
        for degree, members in groups:
            if degree:
                out[members] = rng.standard_gamma(degree / 2, (members.size, runs))
        out *= 2
        return out

    def step(k: int) -> None:
        nonlocal q
        tau = scale * sigmas[k]
        along = roots * rng.standard_normal(q.shape)
        across = eigenvalues * chi_square()
        residual = (along * q).sum(axis=0) - zeta * rng.standard_normal(runs)
        h = _step_length(residual, (along**2 + across).sum(axis=0), etas[k], clip)
        square = (q - h * along) ** 2 + h**2 * across
        if np.any(tau):
            square = (np.sqrt(square) + tau * rng.standard_normal(q.shape)) ** 2
            square += tau**2 * chi_square()
        q = np.sqrt(square)

    def risk(_: int) -> Array:
        return (eigenvalues * q**2).sum(axis=0) / 2

    with np.errstate(over="ignore", invalid="ignore"):  # found out below
        risks = np.reshape(recorded(marks, len(etas), step, risk), (marks.size, runs)).T
    if not (np.isfinite(risks).all() and np.isfinite(q).all()):
        raise ValueError("noise_scales, clip_norm: the error leaves the range of floating point")
    return Runs(marks, risks, q.T.copy())


def _step_length(residual: Array, square: Array, eta: ArrayLike, clip: Array) -> Array:
    """Return the adaptive step size times the clipped residual, of features of squared length."""
    with np.errstate(divide="ignore"):  # a feature that is 0 moves nothing
        limit = clip / np.sqrt(square)
        return np.minimum(eta, 2 / square) * np.clip(residual, -limit, limit)
