r"""Exact moments for isotropic features: noisy SGD and its diffusion in any dimension.

For :math:`\Sigma = I` without ridge, start :math:`v_0\parallel e` and features whose law is
invariant under rotations, :math:`(y, \rho) = (e\cdot v, |v|^2)` is a Markov chain of its own. Both
processes map the polynomials :math:`y^i\rho^j` with :math:`i + 2j\le4` into themselves, so that
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


def _summary(expectations: Array, unit: float, label_variance: float) -> IsotropicMoments:
    """Form the moments from the expected monomials of v / unit."""
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
        risk=(m[0, 1] * unit**2 + label_variance) / 2,
        risk_variance=(m[0, 2] - m[0, 1] ** 2) * unit**4 / 4,
    )


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


class _Case(NamedTuple):
    """Checked arguments, with lengths in units of the largest."""

    dimension: int
    learning_rate: float
    noise_scale: float
    label_variance: float
    start: Array
    unit: float

    @classmethod
    def of(
        cls,
        dimension: int,
        learning_rate: float,
        noise_scale: float,
        label_variance: float,
        start: float,
    ) -> "_Case":
        d, gamma = whole("dimension", dimension, 2), positive("learning_rate", learning_rate)
        sigma = nonnegative("noise_scale", noise_scale)
        zeta2 = nonnegative("label_variance", label_variance)
        first = float(finite_array("start", start, ndim=0))
        unit = max(abs(first), sigma, float(np.sqrt(zeta2)))
        if not unit:
            raise ValueError("start must not be 0 when there is no noise: nothing would move")
        if not 1e-75 < unit < 1e75:  # fourth powers are taken
            raise ValueError(
                "start, noise_scale and label_variance: the largest of start, noise_scale and "
                f"sqrt(label_variance) must lie in (1e-75, 1e75), got {unit:g}"
            )
        first /= unit
        return cls(d, gamma, sigma / unit, zeta2 / unit**2, _monomials(first, first**2), unit)


def isotropic_sgd(
    dimension: int,
    steps: int,
    learning_rate: float,
    noise_scale: float,
    label_variance: float,
    *,
    start: float = 1.0,
    lengths: Sequence[float] = (1.0,),
) -> IsotropicMoments:
    r"""Compute exact moments of noisy SGD for :math:`\Sigma = I`, at every dimension.

    One step has size :math:`\gamma/d`; records are :math:`a = rg` with g standard Gaussian and r
    uniform over `lengths`, the label noise is Gaussian and independent of them.

    Parameters
    ----------
    dimension, steps : int
        d >= 2 and n >= 1.
    learning_rate, noise_scale, label_variance : float
        :math:`\gamma > 0`, :math:`\sigma\ge0`, :math:`\zeta^2\ge0`.
    start : float
        :math:`|x_0 - \tilde x|`.
    lengths : sequence of float
        Values of r, with mean square 1.

    Returns
    -------
    IsotropicMoments

    Raises
    ------
    ValueError
        If a range is violated, nothing moves, the moments leave the floating-point range, or a
        variance, a difference, is below 1e-6 of the mean square: lost in rounding.

    References
    ----------
    Algorithm 1 of lin2025 (claim lin2025.alg1).
    """
    case = _Case.of(dimension, learning_rate, noise_scale, label_variance, start)
    sizes = tuple(nonnegative_array("lengths", lengths, ndim=1).tolist())
    if not sizes or abs(np.mean(np.square(sizes)) - 1) > 1e-9:
        raise ValueError(f"lengths must have mean square 1, got {lengths}")
    with np.errstate(over="ignore", invalid="ignore"):  # _summary refuses what is not finite
        step = _step(*case[:4], sizes)
        last = np.linalg.matrix_power(step, whole("steps", steps, 1)) @ case.start
    return _summary(last, case.unit, label_variance)


def isotropic_hsgd(
    dimension: int,
    time: float,
    learning_rate: float,
    noise_scale: float,
    label_variance: float,
    *,
    start: float = 1.0,
    rank_one: float = 0.0,
) -> IsotropicMoments:
    r"""Compute exact moments of noisy homogenised SGD (1) for :math:`\Sigma = I`.

    With `rank_one` = 1 the covariance is that of one step of the algorithm with Gaussian features,
    :math:`(2\mathcal P I + \nabla\mathcal P\nabla\mathcal P^\top + \sigma^2I)/d`.

    Parameters
    ----------
    dimension, learning_rate, noise_scale, label_variance, start
        As in `isotropic_sgd`; errors too.
    time : float
        t = k/d > 0.
    rank_one : float
        Factor of :math:`\nabla\mathcal P\nabla\mathcal P^\top`, at least 0.

    Returns
    -------
    IsotropicMoments

    References
    ----------
    Ito's formula for the diffusion of claim lin2025.eq1.
    """
    case = _Case.of(dimension, learning_rate, noise_scale, label_variance, start)
    generator = _generator(*case[:4], nonnegative("rank_one", rank_one))
    with np.errstate(over="ignore", invalid="ignore"):  # _summary refuses what is not finite
        last = linalg.expm(positive("time", time) * generator) @ case.start
    return _summary(last, case.unit, label_variance)
