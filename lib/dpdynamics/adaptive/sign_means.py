r"""Mean of the sign of a coordinate of a private gradient; the drift of DP-SignSGD is its negative.

The coordinate is :math:`S = \frac1B\sum_jY_j + \tau\xi` with :math:`\tau = C\sigma_{DP}/B` and
:math:`Y_j` that of one clipped gradient. If S were normal with mean m and variance V the mean sign
would be :math:`\mathrm{Erf}(m/\sqrt{2V})`. Given the Y it is
:math:`\mathrm{Erf}(\bar Y/\sqrt2\tau)`, and for B > 1 the characteristic function of Y gives

.. math::

   E\,\mathrm{sign}\,S = \frac2\pi\int_0^\infty\frac{e^{-\tau^2t^2/2}}t\,
      \mathrm{Im}\bigl[\varphi_Y(t/B)^B\bigr]dt,

where the private noise bounds the frequencies t/B that matter by :math:`9/C\sigma_{DP}`.
"""

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.special import erf

from ..arguments import Array, finite_array, nonnegative_array, plain, positive_array, whole
from .clipped_means import clipped_moments, parameters, polar_angles, radial_range, scale_edges
from .noise_laws import REACH, chi_density, panels, scale_density

_POINTS = 121


def sign_mean(
    coordinate: ArrayLike,
    mean_norm: ArrayLike,
    noise_scale: ArrayLike,
    dimension: ArrayLike,
    clip_norm: ArrayLike,
    noise_multiplier: ArrayLike,
    *,
    batch_size: int = 1,
    degrees_of_freedom: ArrayLike = np.inf,
    exact: bool = True,
) -> float | Array:
    r"""Compute the mean sign of a coordinate of the private gradient.

    Claim anon2025.thmB.10 (equation 107), with the average over the batch.

    Parameters
    ----------
    coordinate, mean_norm : numbers or arrays
        Coordinate and length of the mean gradient.
    noise_scale, dimension, clip_norm, degrees_of_freedom : numbers or arrays
        As for `clipped_moments`.
    noise_multiplier, batch_size : number or array, int
        :math:`\sigma_{DP}` and B.
    exact : bool
        True: by quadrature. The multiplier must be positive; the error is below 1e-7 for
        multipliers from 0.01 on and means of at most 1e8 standard deviations. A value takes
        0.05 s, some seconds for Student noise in batches. False: as if the clipped batch were
        normal, with its exact two moments; the error is of order 1/d, 1/B or less.

    Returns
    -------
    float or array of the common shape
        In [-1, 1].
    """
    check = positive_array if exact else nonnegative_array
    length, sigma, d, clip, nu, at, multiplier = parts = parameters(
        mean_norm,
        noise_scale,
        dimension,
        clip_norm,
        degrees_of_freedom,
        coordinate=finite_array("coordinate", coordinate),
        noise_multiplier=check("noise_multiplier", noise_multiplier),
    )
    if np.any(np.abs(at) > length * (1 + 1e-12)):
        raise ValueError("coordinate must not exceed mean_norm in absolute value")
    batch = whole("batch_size", batch_size, 1)
    if exact:
        if np.any(length > 1e8 * sigma):  # beyond, rounding of the mean costs 1e-8 of the noise
            raise ValueError("mean_norm must be at most 1e8 noise_scale")
        rows = zip(*(x.ravel().tolist() for x in parts), strict=True)
        values = [_exact(*row, batch=batch) for row in rows]
        return plain(np.array(values).reshape(length.shape))
    moments = clipped_moments(length, sigma, d, clip, nu)
    share = np.divide(at, length, out=np.zeros_like(at), where=length > 0)
    mean, across = share * moments.mean, np.asarray(moments.perpendicular)
    second = across + (np.asarray(moments.parallel) - across) * share**2
    private = (clip * multiplier / batch) ** 2
    std = positive_array("std", np.sqrt((second - mean**2) / batch + private))
    return plain(np.asarray(erf(mean / std / 2**0.5)))


def _exact(
    length: float, sigma: float, d: float, clip: float, nu: float, m: float, s: float, *, batch: int
) -> float:
    """Return the mean sign; values of the clipped coordinate are in units of clip."""
    y, weights = _coordinate_law(m / sigma, length / sigma, d, clip / sigma, nu, s, batch)
    tau = s / batch
    if batch == 1:
        return float(weights @ erf(y / (np.sqrt(2) * tau)))
    mean = weights @ y
    piece = 4 / (abs(mean) + 4 * np.sqrt((weights @ (y - mean) ** 2) / batch + tau**2))
    y, weights = _compressed(y, weights, REACH / s)
    total, quiet = 0.0, 0
    for k in range(int(np.ceil(REACH / tau / piece))):
        t, h = panels(np.array([k, k + 1]) * piece, 16)
        phi = (np.exp(1j * np.outer(t / batch, y)) @ weights) ** batch
        total += float(h @ (phi.imag / t * np.exp(-((tau * t) ** 2) / 2)))
        quiet = quiet + 1 if np.abs(phi).max() < 1e-14 else 0
        if quiet == 4 and d > 2:  # in two dimensions the characteristic function can come back
            break
    return 2 / np.pi * total


def _compressed(y: Array, weights: Array, frequency: float) -> tuple[Array, Array]:
    """Return a rule on [-1, 1] that agrees for all functions up to a frequency."""
    n = int(frequency + 10 * frequency ** (1 / 3)) + 30
    moments, before, now = np.empty(n), np.ones_like(y), y.copy()
    for k in range(n):  # Chebyshev moments
        moments[k] = weights @ before
        before, now = now, 2 * y * now - before
    moments[1:] *= 2
    angles = (np.arange(n) + 0.5) * np.pi / n
    return np.cos(angles), np.cos(np.outer(angles, np.arange(n))) @ moments / n


def _coordinate_law(
    m: float, length: float, d: float, clip: float, nu: float, s: float, batch: int
) -> tuple[Array, Array]:
    """Return values and weights of a clipped coordinate; m, length and clip in units of sigma."""
    rest = np.sqrt(max(length**2 - m**2, 0.0))
    if np.isinf(nu):
        return _gaussian_law(m, rest, d, clip, s, batch)
    x, weights = panels(scale_edges(length, clip, d, nu), 16)
    weights = weights * scale_density(x, np.array(nu))
    keep = weights > 1e-12
    laws = [_gaussian_law(w * m, w * rest, d, w * clip, s, batch) for w in np.exp(x[keep]).tolist()]
    values = np.concatenate([law[0] for law in laws])
    return values, np.concatenate([p * law[1] for p, law in zip(weights[keep], laws, strict=True)])


def _gaussian_law(
    m: float, rest: float, d: float, clip: float, s: float, batch: int
) -> tuple[Array, Array]:
    low, high = m - REACH, m + REACH
    size = max(clip, np.sqrt(m**2 + rest**2 + d))
    layer = 9 * s * size  # where the private noise can win
    turns = REACH / s * min(1.0, 2 * REACH / size) / 2  # of the fastest phase of a batch
    even = np.linspace(low, high, 6 + (int(turns) // 10 if batch > 1 else 0))
    edges = np.clip([*even, -clip, -layer, 0, layer, clip], low, high)
    x, weights = panels(np.unique(edges), 20)
    weights = weights * np.exp(-((x - m) ** 2) / 2) / np.sqrt(2 * np.pi)
    x, weights = x[weights > 1e-17], weights[weights > 1e-17]
    r, radial = _rest_law(rest, np.sqrt(np.maximum(clip**2 - x**2, 0.0)), d - 1)
    y = x[:, None] / np.maximum(clip, np.hypot(x[:, None], r))
    weights = weights[:, None] * radial
    keep = weights > 1e-15
    return y[keep], weights[keep]


def _rest_law(rest: float, onset: Array, k: float) -> tuple[Array, Array]:
    """Return radii (n, q) of the other k coordinates, with weights, in panels cut at onset (n,)."""
    if k == 0:
        return np.zeros((onset.size, 1)), np.ones((onset.size, 1))
    if k == 1:
        low, high = max(rest - REACH, 0.0), rest + REACH
        fit = None
    else:
        angle, angular = polar_angles(np.array([rest]), k - 1)
        low, high = (edge.item() for edge in radial_range(np.array([rest]), k - 1))
        middle, half = (high + low) / 2, (high - low) / 2

        u = chebyshev.chebpts1(_POINTS)
        x = (middle + half * u[:, None]) * np.cos(angle) - rest
        v = (middle + half * u[:, None]) * np.sin(angle)
        grid = (np.exp(-(x**2) / 2) * chi_density(v, k - 1)) @ angular[0]
        fit = chebyshev.chebvander(u, _POINTS - 1).T @ grid * (2 / _POINTS)
        fit[0] /= 2
    edges = [np.full_like(onset, low), np.clip(onset, low, high), np.full_like(onset, high)]
    r, radial = panels(np.stack(edges, axis=-1), 50)
    if fit is None:
        density = np.exp(-((r - rest) ** 2) / 2) + np.exp(-((r + rest) ** 2) / 2)
    else:
        density = r * np.maximum(chebyshev.chebval((r - middle) / half, fit), 0.0)
    return r, radial * density / np.sqrt(2 * np.pi)
