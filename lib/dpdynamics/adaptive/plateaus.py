r"""Plateaus of DP-SGD and DP-SignSGD on a quadratic, and exact moments of the former.

At small learning rates the level depends on two numbers: the standard deviation S of a coordinate
of the private gradient, and the factor a by which clipping shrinks the mean of a gradient near the
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
    one_of,
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


def plateau(
    learning_rate: ArrayLike,
    scale: ArrayLike,
    contraction: ArrayLike = 1.0,
    *,
    method: str = "sgd",
) -> float | Array:
    r"""Return the mean loss per coordinate at which an optimiser settles.

    To first order in the rate: :math:`\eta S^2/(4a)` for DP-SGD, exact without clipping when it
    is divided by :math:`1-\eta\lambda/2`; :math:`\eta S\sqrt{\pi/2}/(4a)` for DP-SignSGD, where
    the exact level of `stationary_sign_law` is about :math:`1 + 0.31\,\eta\lambda/S` times this.
    Claims anon2025.thmB.6, anon2025.thmB.9, anon2025.thmB.12 and anon2025.thmB.15.

    Parameters
    ----------
    learning_rate, scale, contraction : numbers or arrays
        :math:`\eta>0`; S >= 0 of `private_gradient_scale` for the same phase; a in (0, 1]. In
        Phase 1 the gradient must stay far below :math:`\sigma_\gamma\sqrt d`.
    method : {"sgd", "sign"}
    """
    rate, S = positive_array("learning_rate", learning_rate), nonnegative_array("scale", scale)
    a = positive_array("contraction", contraction)
    if np.any(a > 1):
        raise ValueError(f"contraction must lie in (0, 1], got a maximum of {a.max()}")
    sign = one_of("method", method, ("sgd", "sign")) == "sign"
    return plain(rate * (S * np.sqrt(np.pi / 2) if sign else S**2) / (4 * a))


def quadratic_sgd_moments(
    curvature: ArrayLike,
    scale: ArrayLike,
    x0: ArrayLike,
    learning_rates: ArrayLike,
    steps: ArrayLike,
) -> tuple[Array, Array]:
    r"""Compute mean and variance of unclipped DP-SGD on :math:`\lambda x^2/2`, for any schedule.

    :math:`x_{k+1} = (1-\eta_k\lambda)x_k - \eta_kS\zeta_k`, noise of mean 0 and variance 1.
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
