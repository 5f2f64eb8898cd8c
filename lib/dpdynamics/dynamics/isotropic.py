r"""Exact moments for isotropic features: noisy SGD and its diffusion in any dimension.

For :math:`\Sigma = I` without ridge and a start along e, both processes map the polynomials
:math:`y^i\rho^j`, :math:`i + 2j\le4`, of :math:`(y, \rho) = (e\cdot v, |v|^2)` into themselves:
nine expectations follow a linear recursion, or a linear differential equation.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpdynamics.arguments import (
    Array,
    finite_array,
    nonnegative,
    nonnegative_array,
    positive,
    whole,
)

_POWERS = [(i, j) for j in range(3) for i in range(5 - 2 * j)]

# Moments about the mean are differences of moments about 0. With c the variance over the mean
# square and rounding of 1e-15, skewness is lost by 1e-15 / c^1.5 and the off-axis variance by
# 1e-15 / c^2: a smaller c than this is refused.
_CANCELLED = 1e-6


class IsotropicMoments(NamedTuple):
    r"""Moments of :math:`v = x - \tilde x`, with e the direction of its start.

    Attributes
    ----------
    mean, variance, skewness : float
        Of the coordinate :math:`y = e\cdot v`.
    off_axis, off_axis_variance : float
        Mean and variance of :math:`r^2 = |v|^2 - y^2`.
    risk, risk_variance : float
        Mean and variance of the population risk.
    """

    mean: float
    variance: float
    skewness: float
    off_axis: float
    off_axis_variance: float
    risk: float
    risk_variance: float


def _monomials(y: float | Array, rho: float | Array) -> Array:
    return np.stack([y**i * rho**j for i, j in _POWERS], axis=-1)


def _gauss(nodes: int) -> tuple[Array, Array]:
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    return x, w / w.sum()


@functools.cache
def _step(d: int, gamma: float, sigma: float, zeta2: float, lengths: tuple[float, ...]) -> Array:
    """Matrix of the expected monomials after one step; the quadrature is exact for them."""
    (x5, w5), (x3, w3), eta = _gauss(5), _gauss(3), gamma / d
    nodes = np.meshgrid(x5, x5, x3, x3, x3, indexing="ij")
    g1, g2, xi, z1, z2 = (node.ravel() for node in nodes)
    w = functools.reduce(np.multiply.outer, [w5, w5, w3, w3, w3]).ravel()
    y, r = np.repeat(np.linspace(-1, 1, 5), 3), np.tile([0.0, 0.5, 1.0], 5)
    images: Array = np.zeros((15, 9))
    for p, length in np.ndindex(15, len(lengths)):
        size = lengths[length]
        s = size * (g1 * y[p] + g2 * r[p]) - np.sqrt(zeta2) * xi
        new_y = y[p] - eta * (size * s * g1 + sigma * z1)
        near = new_y**2 + (r[p] - eta * (size * s * g2 + sigma * z2)) ** 2
        far = eta**2 * ((size * s) ** 2 + sigma**2)  # times a chi-square with d - 2 degrees
        square = near**2 + 2 * (d - 2) * near * far + d * (d - 2) * far**2
        powers = (1, near + (d - 2) * far, square)
        images[p] += np.asarray([w @ (new_y**i * powers[j]) for i, j in _POWERS]) / len(lengths)
    start = _monomials(y, y**2 + r**2)
    order, parity = np.array([(i + 2 * j, i % 2) for i, j in _POWERS]).T
    below = (order <= order[:, None]) & (parity == parity[:, None])  # the others are rounding
    return np.where(below, np.linalg.lstsq(start, images, rcond=None)[0].T, 0.0)


def _generator(d: int, gamma: float, sigma: float, zeta2: float, rank_one: float) -> Array:
    at = {m: i for i, m in enumerate(_POWERS)}
    matrix, c, fixed = np.zeros((9, 9)), gamma**2 / d, zeta2 + sigma**2
    for (i, j), row in at.items():
        pairs = i * (i - 1) / 2 + 2 * i * j + 2 * j * (j - 1)
        matrix[row, row] += rank_one * c * (pairs + j) - gamma * (i + 2 * j)
        raised = (d * j + 2 * j * (j - 1) + 2 * i * j, (i, j - 1))
        for k, (left, right) in ((i * (i - 1) / 2, (i - 2, j)), raised):
            if k:  # the noise of a coordinate is rho + fixed
                matrix[row, at[left, right]] += c * fixed * k
                matrix[row, at[left, right + 1]] += c * k
    return matrix


def isotropic_moments(
    dimension: int,
    learning_rate: float,
    noise_scale: float,
    label_variance: float,
    *,
    steps: int | None = None,
    time: float | None = None,
    start: float = 1.0,
    lengths: Sequence[float] = (1.0,),
    rank_one: float = 0.0,
) -> IsotropicMoments:
    r"""Compute exact moments of noisy SGD, or of its diffusion, for :math:`\Sigma = I`.

    Given `steps`, of Algorithm 1 of lin2025 (claim lin2025.alg1) with steps of size
    :math:`\gamma/d`, records :math:`a = rg` with g standard Gaussian and r uniform over `lengths`,
    and independent Gaussian label noise. Given `time`, of the diffusion of claim lin2025.eq1, by
    Ito's formula.

    Parameters
    ----------
    dimension : int
        d >= 2.
    learning_rate, noise_scale, label_variance : float
        :math:`\gamma > 0`, :math:`\sigma\ge0`, :math:`\zeta^2\ge0`.
    steps, time : int, float
        n >= 1 or t = k/d > 0, one of them.
    start : float
        :math:`|x_0 - \tilde x|`.
    lengths : sequence of float
        Values of r, with mean square 1, of the algorithm.
    rank_one : float
        Factor of :math:`\nabla\mathcal P\nabla\mathcal P^\top/d` in the covariance of the
        diffusion; 1 makes it that of one step of the algorithm.

    Returns
    -------
    IsotropicMoments

    Raises
    ------
    ValueError
        If a range is violated, nothing moves, the moments leave the floating-point range, or a
        variance, a difference, is below 1e-6 of the mean square: lost in rounding.
    """
    d, gamma = whole("dimension", dimension, 2), positive("learning_rate", learning_rate)
    sigma, zeta2 = nonnegative("noise_scale", noise_scale), label_variance
    zeta = float(np.sqrt(nonnegative("label_variance", zeta2)))
    first = float(finite_array("start", start, ndim=0))
    unit = max(abs(first), sigma, zeta)  # of length
    if not unit:
        raise ValueError("start must not be 0 when there is no noise: nothing would move")
    if not 1e-75 < unit < 1e75:  # fourth powers are taken
        raise ValueError(
            "start, noise_scale and label_variance: the largest of start, noise_scale and "
            f"sqrt(label_variance) must lie in (1e-75, 1e75), got {unit:g}"
        )
    if (steps is None) == (time is None):
        raise ValueError("steps or time must be given, and not both")
    setting = d, gamma, sigma / unit, zeta2 / unit**2
    with np.errstate(over="ignore", invalid="ignore"):  # found out below
        if steps is not None:
            sizes = tuple(nonnegative_array("lengths", lengths, ndim=1).tolist())
            if not sizes or abs(np.mean(np.square(sizes)) - 1) > 1e-9:
                raise ValueError(f"lengths must have mean square 1, got {lengths}")
            step = _step(*setting, sizes)
            flow = np.linalg.matrix_power(step, whole("steps", steps, 1))
        else:
            generator = _generator(*setting, nonnegative("rank_one", rank_one))
            flow = linalg.expm(positive("time", time or 0.0) * generator)
        expectations = flow @ _monomials(first / unit, (first / unit) ** 2)
    m = dict(zip(_POWERS, expectations.tolist(), strict=True))
    y, square, off = m[1, 0], m[2, 0], m[0, 1] - m[2, 0]
    variance = square - y**2
    if not np.isfinite(expectations).all() or variance < _CANCELLED * square:
        raise ValueError(
            "learning_rate, noise_scale, label_variance, start, rank_one, time or steps: the "
            "moments leave the floating-point range, or the noise is lost in their rounding"
        )
    return IsotropicMoments(
        mean=y * unit,
        variance=variance * unit**2,
        skewness=(m[3, 0] - 3 * y * square + 2 * y**3) / variance**1.5,
        off_axis=off * unit**2,
        off_axis_variance=(m[0, 2] - 2 * m[2, 1] + m[4, 0] - off**2) * unit**4,
        risk=(m[0, 1] * unit**2 + zeta2) / 2,
        risk_variance=(m[0, 2] - m[0, 1] ** 2) * unit**4 / 4,
    )
