r"""Renyi divergence of a Gaussian release of a Poisson sample.

The two laws are :math:`N_0 = N(0,\sigma^2)` and :math:`(1-q)N_0 + qN(1,\sigma^2)`. Let P be the
first argument of the divergence, :math:`\lambda` the logarithm of its density over the other, and
:math:`\eta(x) = e^x - 1 - x\ge0`. Since :math:`E_P e^{-\lambda} = 1`,

.. math::

   D_\alpha = \frac1s\ln\bigl(1 + sE_P\eta(-\lambda) + E_P\eta(s\lambda)\bigr),
   \qquad s = \alpha - 1,

for every order, whole or not. No term is negative: small divergences, and orders close to 1, keep
their digits.

The expectations are trapezoidal sums in :math:`t = x/\sigma`, one mesh for many orders. At height
:math:`y = \theta\sigma < \pi\sigma` above the real line the integrand
:math:`e^{-t^2/2}L^p`, with L the ratio of the densities, is at most :math:`e^{y^2/2}` times its
value on the line if p > 0, and :math:`e^{y^2/2}\cos(\theta/2)^p` times it if p < 0. The sum is then
within :math:`2e^{-2\pi y/h}` times this factor of the integral, which gives the mesh width h.
"""

from collections.abc import Iterator
from math import ceil, exp, log, log1p, pi, sqrt

import numpy as np
from scipy.special import factorial

from ..arguments import Array

PRECISION = 34.0  # the mesh and its ends are good to e^-34
SPREAD = 1000.0  # largest ratio of two values of s that share a mesh
NEAR = 4.0  # e^x - 1 - x is summed as a power series up to this |x|
POWERS = np.arange(2, 30)
FACTORIALS = factorial(POWERS)


def renyi_divergences(orders: Array, sigma: float, q: float, add: bool) -> Array:
    """Return the divergences of one step, q in (0, 1), of the shape of the orders.

    Of the mixture from the normal, or with `add` the other way round.
    """
    increments = orders.ravel() - 1
    ranking = np.argsort(increments)
    values = np.empty(increments.size)
    for block in _blocks(increments[ranking], sigma):
        rows = ranking[block]
        values[rows] = _divergences(increments[rows], sigma, q, add)
    return values.reshape(orders.shape)


def _blocks(ascending: Array, sigma: float) -> Iterator[slice]:
    """Cut ascending values of s where a common mesh would lose digits or become too long."""
    start = 0
    while start < ascending.size:
        least = ascending[start]
        stop = int(np.searchsorted(ascending, min(SPREAD * least, least + 64 * sigma), "right"))
        yield slice(start, stop)
        start = stop


def _divergences(s: Array, sigma: float, q: float, add: bool) -> Array:
    """Return D of order 1 + s for s (n,) ascending, with s[-1] <= SPREAD * s[0]."""
    log_weights, loss = _mesh(s, sigma, q, add)
    weights, sizes = np.exp(log_weights), np.abs(loss)
    far = sizes > NEAR
    first = _moments(-loss[~far], weights[~far]).sum()
    first += np.exp(log_weights[far] - loss[far]).sum() + weights[far] @ (loss[far] - 1)

    largest = s[-1]
    far = sizes * largest > NEAR
    powers = np.exp(np.multiply.outer(np.log(s / largest), POWERS))
    rest = s * first + powers @ _moments(loss[~far] * largest, weights[~far])
    if not far.any():
        return np.log1p(rest) / s
    log_weights, weights, loss = log_weights[far], weights[far], loss[far]
    rest -= weights.sum() + s * (weights @ loss)
    exponents = np.stack([s, np.ones(s.size)], axis=1) @ np.stack([loss, log_weights])
    top = np.maximum(exponents.max(axis=1), 0)
    exponents -= top[:, None]
    np.maximum(exponents, -700, out=exponents)  # np.exp is slow where it underflows
    total = np.exp(exponents, out=exponents) @ np.ones(loss.size) + rest * np.exp(-top)
    return (top + np.log1p(total + np.expm1(-top))) / s


def _moments(x: Array, weights: Array) -> Array:
    """Return the means of x^k/k!, k = 2, 3, ...: they sum to that of e^x - 1 - x if |x| <= NEAR."""
    return weights @ np.vander(x, POWERS[-1] + 1, increasing=True)[:, 2:] / FACTORIALS


def _mesh(s: Array, sigma: float, q: float, add: bool) -> tuple[Array, Array]:
    """Return log weights (m,) under P and losses (m,) on a mesh that is good for all of s."""
    largest = float(s[-1])
    bend = 1 + 0.6 * largest / sigma**2 if add else 1.0  # -ln cos(u/2) < 0.6 u^2/2, 0 < u < 3
    height = min(3 * sigma, sqrt(2 * PRECISION / bend))
    width = 2 * pi * height / (PRECISION + bend * height**2 / 2)
    low, high = -sqrt(2 * PRECISION), sqrt(2 * PRECISION) + 1 / sigma
    if add:
        lean = log1p(q / (1 - q) * exp(-0.5 / sigma**2))
        low -= min(largest / sigma, sqrt(2 * largest * lean))
    else:
        high += largest / sigma
    count = ceil((high - low) / width)
    nodes = (
        np.arange(count + 1.0) if add or count < 1024 else _windows(s, sigma, q, low, width, count)
    )
    t = low + width * nodes
    ratio = _log_ratio(t, sigma, q)
    log_gauss = -t * t / 2 + log(width / sqrt(2 * pi))
    return (log_gauss, -ratio) if add else (log_gauss + ratio, ratio)


def _windows(s: Array, sigma: float, q: float, low: float, width: float, count: int) -> Array:
    """Number those nodes of a long mesh near which an integrand has mass.

    The mesh is looked at in pieces of length 2. The logarithm of each integrand has a second
    derivative of at least -1, hence exceeds within a piece its values at the ends by at most 1/2.
    """
    stride = int(2 / width)
    starts = np.arange(0.0, count + stride + 1, stride)
    t = low + width * starts
    ratio, log_gauss = _log_ratio(t, sigma, q), -t * t / 2
    seen = np.zeros(t.size, dtype=bool)
    for order in (0.0, 1.0, *(1 + s)):
        size = log_gauss + order * ratio
        seen |= size >= max(float(size.max()), 0.0) - (PRECISION + 10 - 2 * log(q))
    pieces = starts[:-1][seen[:-1] | seen[1:]]
    return (pieces[:, None] + np.arange(stride)).ravel()


def _log_ratio(t: Array, sigma: float, q: float) -> Array:
    """Return ln(1 - q + q e^v), v = t/sigma - 1/(2 sigma^2), to full relative precision."""
    v: Array = (t - 0.5 / sigma) / sigma
    if q <= 0.5:
        return np.log1p(q * np.expm1(np.minimum(v, 700))) + np.maximum(v - 700, 0)
    v = np.maximum(v, -700)
    return v + np.log1p((1 - q) * np.expm1(-v))
