r"""Integrals behind the moments of the direction of a noisy vector.

Let :math:`X = \mu + \sigma Z/w` in d dimensions, Z standard normal, :math:`\nu w^2\sim\chi^2_\nu`
independent of it (Student's law; :math:`w = 1` for :math:`\nu = \infty`), and
:math:`\rho = |\mu|/\sigma`. As an average of Kummer's function over w, with
:math:`t = \sin^2\varphi`, all Gamma functions cancel:

.. math::

   \Bigl|E\frac X{|X|}\Bigr| = \sqrt{\frac2\pi}\,K(\nu)\,\rho\int_0^{\pi/2}\cos^d\varphi\,
      \Bigl(1 + \frac{\rho^2\sin^2\varphi}\nu\Bigr)^{-(\nu+1)/2}d\varphi,\qquad
   K(\nu) = \sqrt{\frac2\nu}\,\frac{\Gamma(\frac{\nu+1}2)}{\Gamma(\frac\nu2)}.

The integrand is one positive bump: a single Gauss rule serves all parameters.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import poch

from ..arguments import Array, finite_array, plain

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)
_STIRLING = [-399 / 2**18, -21 / 2**15, 5 / 1024, 1 / 128, -1 / 8, 1.0]  # of Gamma ratios, in 1/a
_CUT = 42.0  # what lies below exp(-42) of the peak is left out


def scaled_chi_mean(degrees_of_freedom: ArrayLike) -> float | Array:
    r"""Compute :math:`K(\nu) = E\,w`, by which Student noise shortens a weak mean direction.

    For :math:`\nu` in [0.2, 1e12] or inf, where it is 1; ValueError elsewhere.
    Claim anon2025.lemA.2.
    """
    nu = degrees(degrees_of_freedom)
    a = nu / 2
    small = np.minimum(a, 100.0)
    return plain(np.where(a > 100, np.polyval(_STIRLING, 1 / a), poch(small, 0.5) / np.sqrt(small)))


def mean_per_snr(rho: Array, d: Array, nu: Array) -> Array:
    """Return the mean length of the direction over rho, which has a limit at 0."""
    factor = np.sqrt(2 / np.pi) * np.asarray(scaled_chi_mean(nu))
    return factor * _bump(rho, nu, cosines=d, sines=0, shape=0.5)


def inverse_square(rho: Array, d: Array, nu: Array, shape: float) -> Array:
    r"""Return E w^(2 shape) / R^2, R the length of Z + w rho in d + 2 dimensions."""
    return _bump(rho, nu, cosines=d - 1, sines=1, shape=shape)


def _bump(rho: Array, nu: Array, *, cosines: Array, sines: int, shape: float) -> Array:
    """Integrate cos^p sin^q (1 + rho^2 sin^2 / nu)^-(nu/2 + shape) over [0, pi/2].

    In y, where the angle is its scale times sinh y, peaks and algebraic tails are both smooth.
    """
    rho, p, nu = (x[..., None] for x in np.broadcast_arrays(rho, cosines, nu))
    gaussian = np.isinf(nu)
    nu = np.where(gaussian, 1.0, nu)
    power = nu / 2 + shape
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        reach = np.where(gaussian, 2 * _CUT, nu * np.expm1(_CUT / power)) / rho**2
        top = np.minimum(np.where(p > 0, -np.expm1(-2 * _CUT / p), 1.0), np.fmin(reach, 1.0))
    width = 1 / np.sqrt(1 + p + np.where(gaussian, 1.0, 2 * power / nu) * rho**2)
    half = np.arcsinh(np.arcsin(np.sqrt(top)) / width) / 2
    y = half * (_NODES + 1)
    angle = width * np.sinh(y)
    square = np.sin(angle) ** 2
    exponent = np.where(
        gaussian, -(rho**2) * square / 2, -power * np.log1p(rho**2 * square / nu)
    ) + p / 2 * np.log1p(-square)
    values = np.exp(exponent) * np.sin(angle) ** sines * width * np.cosh(y)
    return (half * values) @ _WEIGHTS


def degrees(degrees_of_freedom: ArrayLike) -> Array:
    """Return degrees of freedom in [0.2, 1e12], or inf.

    Below 0.2 the scale of the noise spreads over more powers of ten than numbers have.
    Beyond 1e12 the scale of the noise varies by less than 1e-6, and the rounding errors of its
    density, which grow with the degrees, exceed the accuracy that the means promise.
    """
    nu = finite_array("degrees_of_freedom", degrees_of_freedom, infinite=True)
    if np.any((nu < 0.2) | ((nu > 1e12) & np.isfinite(nu))):
        raise ValueError(f"degrees_of_freedom must lie in [0.2, 1e12] or be inf, got {nu}")
    return nu
