r"""Plateaus of DP-SGD and DP-SignSGD on a quadratic, and exact moments of the former.

At small learning rates the mean loss per coordinate settles at a level that does not depend on the
curvature. In both phases it is governed by two numbers: the standard deviation S of a coordinate of
the private gradient, and the factor a by which clipping shrinks the mean of a gradient near the
minimum, 1 in Phase 2 and :math:`C/(\sigma_\gamma\sqrt d)` in Phase 1 (Gaussian batch noise).
"""

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import (
    Array,
    finite_array,
    integers,
    nonnegative,
    nonnegative_array,
    plain,
    positive,
    positive_array,
    together,
    whole,
)


def private_gradient_scale(
    gradient_noise: float,
    batch_size: int,
    clip_norm: float,
    noise_multiplier: float,
    *,
    clipped_dimension: int | None = None,
) -> float:
    r"""Return the standard deviation of one coordinate of the private gradient near the minimum.

    Claims anon2025.def3.3 and anon2025.thmB.9. The paper has no batch average in Phase 1: it puts
    1/d for 1/(dB).

    Parameters
    ----------
    gradient_noise : float
        :math:`\sigma_\gamma\ge0`, standard deviation of a coordinate of one record's gradient.
    batch_size, clip_norm, noise_multiplier : int, float, float
        B, C > 0 and :math:`\sigma_{DP}\ge0`.
    clipped_dimension : int, optional
        d, when every gradient is clipped (Phase 1): then the batch noise has the total variance
        C^2/B, whatever :math:`\sigma_\gamma` is. By default no gradient is clipped (Phase 2).

    Returns
    -------
    float
        :math:`(\sigma_\gamma^2/B + C^2\sigma_{DP}^2/B^2)^{1/2}`, or
        :math:`(C^2/(dB) + C^2\sigma_{DP}^2/B^2)^{1/2}`.
    """
    spread = nonnegative("gradient_noise", gradient_noise)
    B = whole("batch_size", batch_size, minimum=1)
    clip = positive("clip_norm", clip_norm)
    if clipped_dimension is not None:
        spread = clip / np.sqrt(float(whole("clipped_dimension", clipped_dimension, minimum=1)))
    added = clip * nonnegative("noise_multiplier", noise_multiplier) / B
    return float(np.hypot(spread / np.sqrt(float(B)), added))


def sgd_plateau(
    learning_rate: ArrayLike, scale: ArrayLike, contraction: ArrayLike = 1.0
) -> float | Array:
    r"""Return :math:`\eta S^2/(4a)`, the mean loss per coordinate at which DP-SGD settles.

    Claims anon2025.thmB.6 and anon2025.thmB.9.
    To first order in :math:`\eta>0`: divided by :math:`1-\eta\lambda/2`, without clipping, it is
    exact. S >= 0 is that of `private_gradient_scale` for the same phase, a in (0, 1]; in Phase 1
    the gradient must stay far below :math:`\sigma_\gamma\sqrt d`. All broadcast.
    """
    rate, S, a = _levels(learning_rate, scale, contraction)
    return plain(rate * S**2 / (4 * a))


def sign_plateau(
    learning_rate: ArrayLike, scale: ArrayLike, contraction: ArrayLike = 1.0
) -> float | Array:
    r"""Return :math:`\eta S\sqrt{\pi/2}/(4a)`, the mean loss where DP-SignSGD settles.

    Per coordinate, to first order in the rate; arguments and errors are those of `sgd_plateau`.
    Without clipping the exact level, that of `stationary_sign_law`, is about
    :math:`1 + 0.31\,\eta\lambda/S` times this one.
    Claims anon2025.thmB.12 and anon2025.thmB.15.
    """
    rate, S, a = _levels(learning_rate, scale, contraction)
    return plain(rate * S * np.sqrt(np.pi / 2) / (4 * a))


def quadratic_sgd_moments(
    curvature: ArrayLike,
    scale: ArrayLike,
    x0: ArrayLike,
    learning_rates: ArrayLike,
    steps: ArrayLike,
) -> tuple[Array, Array]:
    r"""Compute mean and variance of unclipped DP-SGD on :math:`\lambda x^2/2`, for any schedule.

    :math:`x_{k+1} = (1-\eta_k\lambda)x_k - \eta_kS\zeta_k` with noise of mean 0 and variance 1. (At
    a constant rate `linear_recursion` of the dynamics needs no loop.)
    Claims anon2025.thmB.9 and anon2025.fig1.

    Parameters
    ----------
    curvature, scale, x0 : numbers or arrays
        :math:`\lambda`, S >= 0 and the start; broadcast, (*configurations) together.
    learning_rates : (K,) array
        :math:`\eta_k\ge0`.
    steps : (N,) integers
        Nondecreasing, in [0, K].

    Returns
    -------
    mean, variance : (N, *configurations) arrays
        ValueError where they grow beyond floating point.

    Examples
    --------
    >>> mean, variance = quadratic_sgd_moments(2.0, 1.0, 1.0, [0.1, 0.25], [0, 1, 2])
    >>> mean, variance
    (array([1. , 0.8, 0.4]), array([0.   , 0.01 , 0.065]))
    """
    curvatures, S = finite_array("curvature", curvature), nonnegative_array("scale", scale)
    rates = nonnegative_array("learning_rates", learning_rates, ndim=1)
    marks = integers("steps", steps)
    if not marks.size or np.any(np.diff(marks, prepend=0) < 0) or marks[-1] > rates.size:
        raise ValueError(f"steps must be integers in [0, {rates.size}] that do not decrease")
    curvatures, S, mean = together(curvature=curvatures, scale=S, x0=finite_array("x0", x0))
    variance, done, path = np.zeros(mean.shape), 0, []
    with np.errstate(over="ignore", invalid="ignore"):
        for mark in marks.tolist():
            for rate in rates[done:mark].tolist():
                factor = 1 - rate * curvatures
                mean, variance = factor * mean, factor**2 * variance + (rate * S) ** 2
            done = mark
            path.append((mean, variance))
    means, variances = (np.stack(moments) for moments in zip(*path, strict=True))
    if not (np.all(np.isfinite(means)) and np.all(np.isfinite(variances))):
        raise ValueError("learning_rates: the moments grow beyond floating point")
    return means, variances


def _levels(
    learning_rate: ArrayLike, scale: ArrayLike, contraction: ArrayLike
) -> tuple[Array, Array, Array]:
    a = positive_array("contraction", contraction)
    if np.any(a > 1):
        raise ValueError(f"contraction must lie in (0, 1], got a maximum of {a.max()}")
    return positive_array("learning_rate", learning_rate), nonnegative_array("scale", scale), a
