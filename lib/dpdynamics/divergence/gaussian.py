r"""The Gaussian mechanism, exactly.

Noise of standard deviation `noise_multiplier` times the l2 sensitivity makes the worst pair of
neighbours N(mu, 1) and N(0, 1) with mu = 1/noise_multiplier. This holds for whichever neighbouring
relation the sensitivity was taken under; k such releases make mu the root of a sum of squares.

With :math:`u = \varepsilon/\mu - \mu/2`, the normal density :math:`\phi` and the Mills ratio
:math:`M(x) = \Phi(-x)/\phi(x) = \int_0^\infty e^{-xt - t^2/2}\,dt`, the exact profile is

.. math::

   \delta(\varepsilon) = \Phi(-u) - e^\varepsilon\Phi(-u-\mu) = \phi(u)\,[M(u) - M(u+\mu)]
      = \phi(u)\int_0^\infty e^{-ut - t^2/2}\,(1 - e^{-\mu t})\,dt.

The differences cancel when mu is small against 1 + u; the integral of a positive function does not.
"""

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike
from scipy.special import erfcx, erfinv, log_ndtr, ndtri

from ..arguments import (
    Array,
    finite_array,
    fraction_array,
    nonnegative_array,
    plain,
    together,
)
from ..numerics.roots import monotone_root

_NODES, _WEIGHTS = (1 + leggauss(40)[0]) / 2, leggauss(40)[1] / 2
_LOG_SQRT_2PI = np.log(2 * np.pi) / 2


def gaussian_delta(*, mu: ArrayLike, epsilon: ArrayLike) -> float | Array:
    r"""Compute the privacy profile :math:`\delta(\varepsilon)` of the Gaussian mechanism.

    Parameters
    ----------
    mu : number or array
        Sensitivity over standard deviation, in [0, inf).
    epsilon : number or array
        Any real number; broadcast against `mu`.

    Returns
    -------
    float or array
        The hockey-stick divergence of N(mu, 1) from N(0, 1), in [0, 1], with a relative error of
        the order of 1e-12 down to 1e-300 while mu <= 100; 0 where it is below the floats.

    References
    ----------
    Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gaussian_delta(mu=1.0, epsilon=1.0), 15)
    0.126936737506644
    """
    mu_, epsilon_ = together(
        mu=nonnegative_array("mu", mu, largest=np.inf),
        epsilon=finite_array("epsilon", epsilon, largest=np.inf),
    )
    forward = np.exp(_log_delta(mu_, np.abs(epsilon_)))
    negative = np.minimum(epsilon_, 0.0)
    values = np.where(epsilon_ >= 0, forward, np.exp(negative) * forward - np.expm1(negative))
    return plain(values)


def gaussian_epsilon(*, mu: ArrayLike, delta: ArrayLike) -> float | Array:
    r"""Compute the smallest :math:`\varepsilon\ge0` with :math:`\delta(\varepsilon)\le\delta`.

    Parameters
    ----------
    mu, delta : numbers or arrays
        In [0, inf) and in (0, 1); broadcast against each other.

    Returns
    -------
    float or array
        In [0, inf), accurate to the rounding of `gaussian_delta`.

    Examples
    --------
    >>> round(gaussian_epsilon(mu=1 / 4.224678889326822, delta=1e-6), 12)
    1.0
    """
    mu_, delta_ = together(
        mu=nonnegative_array("mu", mu, largest=np.inf), delta=fraction_array("delta", delta)
    )
    values = np.zeros(mu_.shape)
    seen = (mu_ > 0) & (_log_delta(mu_, np.zeros(mu_.shape)) > np.log(delta_))
    m, d = mu_[seen], delta_[seen]
    # In w = epsilon/mu: the profile is below Phi(mu/2 - w).
    high = m / 2 - ndtri(d) + 1e-3
    with np.errstate(over="ignore"):
        values[seen] = m * monotone_root(
            lambda w, mu, log_delta: _log_delta_at(mu, w) - log_delta, 0 * high, high, m, np.log(d)
        )
    return plain(values)


def gaussian_noise_multiplier(*, epsilon: ArrayLike, delta: ArrayLike) -> float | Array:
    r"""Compute the smallest standard deviation over sensitivity that is (epsilon, delta)-private.

    Parameters
    ----------
    epsilon, delta : numbers or arrays
        In [0, inf) and in (0, 1); broadcast against each other.

    Returns
    -------
    float or array
        Positive, accurate to the rounding of `gaussian_delta`.

    References
    ----------
    Balle and Wang (2018), Algorithm 1.

    Examples
    --------
    >>> round(gaussian_noise_multiplier(epsilon=1.0, delta=1e-6), 12)
    4.224678889327
    """
    epsilon_, delta_ = together(
        epsilon=nonnegative_array("epsilon", epsilon), delta=fraction_array("delta", delta)
    )
    # delta <= Phi(mu/2 - epsilon/mu) and delta <= erf(mu/sqrt 8): two lower bounds of mu.
    z = -ndtri(delta_)
    root = np.hypot(z, np.sqrt(2 * epsilon_))
    first = np.where(z > 0, 2 * epsilon_ / (root + np.maximum(z, 1e-9)), root - z)
    low = np.log(np.maximum(first, np.sqrt(8) * erfinv(delta_))) - 1e-3

    def excess(log_mu: Array, epsilon: Array, log_delta: Array) -> Array:
        return _log_delta(np.exp(log_mu), epsilon) - log_delta

    log_mu = monotone_root(excess, low, low + 1, epsilon_, np.log(delta_))
    return plain(np.exp(-log_mu))


def _log_delta(mu: Array, epsilon: Array) -> Array:
    """Logarithm of the profile for epsilon >= 0 and mu >= 0."""
    positive = np.where(mu > 0, mu, 1.0)
    with np.errstate(over="ignore"):
        w = np.minimum(epsilon / positive, 1e150)
    return np.where(mu > 0, _log_delta_at(positive, w), -np.inf)


def _log_delta_at(mu: Array, w: Array) -> Array:
    """Logarithm of the profile at epsilon = mu w, for w >= 0 and mu > 0."""
    u = w - mu / 2
    right = np.maximum(u, 0.0)
    mills = _mills(right) - _mills(right + mu)
    careful = mu < (1 + right) / 8
    mills = np.where(careful, _mills_difference(np.where(careful, u, 0.0), mu), mills)
    with np.errstate(divide="ignore", over="ignore"):
        tail = -(u**2) / 2 - _LOG_SQRT_2PI
        body = log_ndtr(np.maximum(-u, 0.0))
        left = body + np.log1p(-np.minimum(np.exp(tail - body) * _mills(np.maximum(u + mu, 0)), 1))
        return np.where((u < 0) & ~careful, left, tail + np.log(mills))


def _mills(x: Array) -> Array:
    return np.asarray(np.sqrt(np.pi / 2) * erfcx(x / np.sqrt(2)))


def _mills_difference(u: Array, mu: Array) -> Array:
    """M(u) - M(u + mu) for u > -1 and small mu, by Gauss-Legendre quadrature."""
    end = 84 / (u + np.sqrt(u**2 + 84))  # where the exponent has reached -42
    t = end[..., None] * _NODES
    integrand = np.exp(-(u[..., None] + t / 2) * t) * -np.expm1(-mu[..., None] * t)
    return np.asarray(end * (integrand @ _WEIGHTS))
