r"""Mean of the sign of a coordinate of a private gradient; the drift of DP-SignSGD is its negative.

If the coordinates are many or the batch is large, the coordinate of the private gradient is nearly
normal, with the mean and the second moment of a clipped gradient: then the mean sign is
:math:`\mathrm{Erf}(m/\sqrt{2V})`, where V holds the variance of the batch as well as that of the
private noise. The mean is :math:`\sqrt{2/\pi}m/\sqrt V` for a small m.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from ..arguments import (
    Array,
    finite_array,
    nonnegative_array,
    plain,
    positive_array,
    together,
    whole,
)
from .clipped_means import clipped_moments
from .normalised_means import dimensions


def gaussian_sign_mean(mean: ArrayLike, std: ArrayLike) -> float | Array:
    r"""Compute E sign N(mean, std^2) = Erf(mean / (sqrt(2) std)).

    With :math:`\mathrm{std}^2 = \sigma_\gamma^2/B + C^2\sigma_{DP}^2/B^2` the drift without
    clipping.

    Parameters
    ----------
    mean : number or array
    std : number or array
        Positive.

    Raises
    ------
    ValueError
        If a range is violated.

    References
    ----------
    Claim anon2025.thmB.10 (equation 108).
    """
    return plain(np.asarray(erf(finite_array("mean", mean) / positive_array("std", std) / 2**0.5)))


def gaussian_sign_slope(std: ArrayLike) -> float | Array:
    r"""Compute the slope :math:`\sqrt{2/\pi}/\mathrm{std}` of `gaussian_sign_mean` at 0.

    References
    ----------
    Claim anon2025.corB.11 (equation 140).
    """
    return plain(np.sqrt(2 / np.pi) / positive_array("std", std))


def averaged_sign_mean(
    coordinate: ArrayLike,
    mean_norm: ArrayLike,
    noise_scale: ArrayLike,
    dimension: ArrayLike,
    clip_norm: ArrayLike,
    noise_multiplier: ArrayLike,
    *,
    batch_size: int = 1,
    degrees_of_freedom: ArrayLike = np.inf,
) -> float | Array:
    r"""Compute the mean sign as if the clipped batch were normal, with its exact two moments.

    Parameters
    ----------
    coordinate : number or array
        Coordinate of the mean gradient, at most `mean_norm` in absolute value.
    mean_norm, noise_scale, dimension, clip_norm, degrees_of_freedom : numbers or arrays
        As for `clipped_moments`; `mean_norm` is the length of the whole mean gradient.
    noise_multiplier : number or array
        :math:`\sigma_{DP}`, nonnegative.
    batch_size : int
        B.

    Returns
    -------
    float or array of the common shape
        In [-1, 1]; the error is of order 1/d, 1/B or less.

    Raises
    ------
    ValueError
        If a range is violated.

    References
    ----------
    Claim anon2025.thmB.10 (equation 107), with the average over the batch.
    """
    at, length = coordinate_and_norm(coordinate, mean_norm)
    multiplier, batch = multiplier_and_batch(noise_multiplier, batch_size)
    moments = clipped_moments(length, noise_scale, dimension, clip_norm, degrees_of_freedom)
    share = np.divide(at, length, out=np.zeros_like(at), where=length > 0)
    mean, across = share * moments.mean, np.asarray(moments.perpendicular)
    second = across + (np.asarray(moments.parallel) - across) * share**2
    tau = finite_array("clip_norm", clip_norm) * multiplier / batch
    return gaussian_sign_mean(mean, np.sqrt((second - mean**2) / batch + tau**2))


def averaged_sign_slope(
    noise_scale: ArrayLike,
    dimension: ArrayLike,
    clip_norm: ArrayLike,
    noise_multiplier: ArrayLike,
    *,
    batch_size: int = 1,
    degrees_of_freedom: ArrayLike = np.inf,
) -> float | Array:
    r"""Compute the slope of `averaged_sign_mean` at a vanishing mean gradient.

    For a small clipping norm and many coordinates it is
    :math:`\sqrt{2/\pi}K(\nu)/(\sigma_\gamma\sqrt{1/B + d\sigma_{DP}^2/B^2})`.

    References
    ----------
    Claim anon2025.corB.11 (equation 139), with the average over the batch.
    """
    multiplier, batch = multiplier_and_batch(noise_multiplier, batch_size)
    small = 1e-6 * positive_array("noise_scale", noise_scale)
    moments = clipped_moments(small, noise_scale, dimension, clip_norm, degrees_of_freedom)
    variance = np.where(dimensions(dimension) == 1, moments.parallel, moments.perpendicular)
    tau = finite_array("clip_norm", clip_norm) * multiplier / batch
    return plain(
        np.sqrt(2 / np.pi) * np.asarray(moments.mean) / small / np.sqrt(variance / batch + tau**2)
    )


def coordinate_and_norm(coordinate: ArrayLike, mean_norm: ArrayLike) -> tuple[Array, Array]:
    """Return a coordinate of the mean gradient and the length of the whole, of one shape."""
    at, length = together(
        coordinate=finite_array("coordinate", coordinate),
        mean_norm=nonnegative_array("mean_norm", mean_norm),
    )
    if np.any(np.abs(at) > length * (1 + 1e-12)):
        raise ValueError("coordinate must not exceed mean_norm in absolute value")
    return at, length


def multiplier_and_batch(noise_multiplier: ArrayLike, batch_size: int) -> tuple[Array, int]:
    """Return the noise multiplier and the batch size."""
    multiplier = nonnegative_array("noise_multiplier", noise_multiplier)
    return multiplier, whole("batch_size", batch_size, 1)
