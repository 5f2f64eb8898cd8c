r"""Quadratures behind the moments of a clipped noisy vector, of any dimension.

By Stein's identity :math:`E\,h(|X|)X = \mu\,E\,h(R_{d+2})` and :math:`E\,h(|X|)XX^\top =
\sigma^2E\,h(R_{d+2})\,I + \mu\mu^\top E\,h(R_{d+4})`, with :math:`R_k` the length of a Gaussian
vector in k dimensions of the same mean length: that of :math:`R_{k-2}` weighted by
:math:`v^2/(k-3)`, v the length across the mean. One quadrature in polar coordinates, cut where
clipping starts, gives all moments; Student noise averages them over its scale.
"""

import math

import numpy as np
from scipy.special import gammaincc, ndtr

from ..arguments import Array
from ..numerics.panels import panels
from .noise_laws import REACH, chi_density, scale_density, scale_range
from .normalised_means import inverse_square, mean_per_snr

_ORDER = 60
_CHUNK = 64
_GAUSSIAN = np.array(np.inf)


def clipped_share(mean: Array, noise: Array, clip: Array, nu: Array) -> Array:
    """Return the factor of the mean for d to infinity, `noise` being the squared length d sigma^2.

    Arrays of one shape; for Student noise averaged over its scale.
    """
    plainly = np.minimum(1.0, clip / np.sqrt(noise + mean**2))
    gaussian = np.isinf(nu)
    nu = np.where(gaussian, 1.0, nu)
    low, high = scale_range(nu)
    with np.errstate(divide="ignore"):
        onset = np.log(noise / np.maximum(clip**2 - mean**2, 0.0)) / 2
    edge = np.clip(onset, low, high)
    count = max(8, math.ceil(np.max(edge - low, initial=0.0) / 2))  # as `_scale_edges`
    x, weights = panels(np.linspace(low, edge, count + 1, axis=-1), 40)
    w = np.exp(x)
    clipped = clip[..., None] * w / np.sqrt(noise[..., None] + (mean[..., None] * w) ** 2)
    averaged = np.sum(weights * scale_density(x, nu[..., None]) * clipped, axis=-1)
    averaged += gammaincc(nu / 2, nu / 2 * np.exp(2 * np.minimum(onset, 300.0)))
    return np.where(gaussian, plainly, averaged)


def _scale_edges(rho: float, c: float, d: float, nu: float) -> Array:
    """Return edges of panels in ln w: where the clip radius c w enters or leaves the lengths."""
    low, high = scale_range(np.array(nu))
    roots = []
    for t in (-REACH, 0.0, REACH):  # c w - t = sqrt(rho^2 w^2 + d)
        a, b, e = c * c - rho * rho, -2 * c * t, t * t - d
        found = np.roots([a, b, e])
        real = found[np.abs(found.imag) <= 1e-9 * np.abs(found)].real
        roots += np.log(real[real > 0]).tolist()
    even = np.linspace(low, high, 2 + max(4, int((high - low) / 2)))
    return np.unique(np.clip([*even, *roots], low, high))


def clipped_expectations(rho: float, c: float, d: float, nu: float) -> Array:
    """Return P(|X| > C), E h_1(R_{d+2}), E h_2(R_{d+2})/w^2 and E h_2(R_{d+4}) in noise units."""
    if np.isinf(nu):
        return _gaussian(np.array([rho]), np.array([c]), d)[0]
    x, weights = panels(_scale_edges(rho, c, d, nu), 20)
    w = np.exp(x)
    values = _gaussian(rho * w, c * w, d)
    values[:, 2] /= w**2
    return (weights * scale_density(x, np.array(nu))) @ values


def _gaussian(rho: Array, c: Array, d: float) -> Array:
    """Return the four expectations (n, 4) of Gaussian vectors of dimension d."""
    centre = np.sqrt(rho**2 + d)
    result = np.ones((rho.size, 4))
    result[:, 0] = 0.0  # what no sample clips
    always = c < centre - REACH - 1
    if always.any():
        r, dims, clip = rho[always], np.full(1, d), c[always]
        result[always, 0] = 1.0
        result[always, 1] = clip * mean_per_snr(r, dims, _GAUSSIAN)
        result[always, 2] = clip**2 * inverse_square(r, dims, _GAUSSIAN, 0.0)
        result[always, 3] = clip**2 * inverse_square(r, dims + 2, _GAUSSIAN, 0.0)
    mixed = np.flatnonzero(~always & (c < centre + REACH))
    for start in range(0, mixed.size, _CHUNK):
        some = mixed[start : start + _CHUNK]
        result[some] = _polar(rho[some], c[some], d)
    return result


def _polar(rho: Array, c: Array, d: float) -> Array:
    """Return the four expectations (n, 4) by quadrature in polar coordinates."""
    m = 2.0 if d == 1 else d - 1
    centre, reach = np.sqrt(rho**2 + m), REACH + 1  # of the length
    low, high = np.maximum(centre - reach, 0.0), centre + reach
    r, radial = panels(np.stack([low, np.clip(c, low, high), high], axis=-1), _ORDER)
    middle = np.arctan2(np.sqrt(m), rho)  # of the angle to the mean
    spread = np.where(centre <= reach, np.pi, np.arcsin(np.minimum(reach / centre, 1.0)))
    ends = np.stack([np.maximum(middle - spread, 0.0), np.minimum(middle + spread, np.pi)], axis=-1)
    angle, angular = panels(ends, _ORDER)
    v = r[:, :, None] * np.sin(angle)[:, None, :]
    x = r[:, :, None] * np.cos(angle)[:, None, :] - rho[:, None, None]
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * chi_density(v, m) * angular[:, None, :]
    by_radius = [np.sum(density * weight, axis=-1) * r * radial for weight in _weights(v, d)]
    ratio = np.minimum(1.0, c[:, None] / r)
    two, four = by_radius[-2:]
    if d == 1:
        probability = ndtr(rho - c) + ndtr(-rho - c)
    else:
        probability = np.sum(by_radius[0] * (r > c[:, None]), axis=-1)
    moments = np.sum(two * ratio, -1), np.sum(two * ratio**2, -1), np.sum(four * ratio**2, -1)
    return np.stack([probability, *moments], axis=-1)


def _weights(v: Array, d: float) -> tuple[Array, ...]:
    """Return what makes the law in d dimensions (3 if d = 1) that in d (+ 2) and d + 4."""
    if d == 1:
        return np.ones_like(v), v**2 / 2
    return np.ones_like(v), v**2 / (d - 1), v**4 / ((d - 1) * (d + 1))
