r"""Densities of the noise: chi laws, and the scale of a Student law.

The density of :math:`\ln s` for :math:`s = \chi^2_m/m` is
:math:`\sqrt{m/4\pi}\,e^{-\theta(m/2)}\exp(-\frac m2(s - 1 - \ln s))`, theta being what Stirling's
formula leaves of the Gamma function: in this form nothing cancels, however large m.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from ..arguments import Array

_CUT = 42.0
REACH = 9.5  # standard deviations that a quadrature covers


def chi_density(v: Array, m: ArrayLike) -> Array:
    """Return the density at v >= 0 of the length of m standard normals."""
    v = np.maximum(v, 1e-300)
    log_s = 2 * np.log(v) - np.log(m)
    return 2 * _log_scale_density(log_s, np.asarray(m, dtype=np.float64)) / v


def scale_density(x: Array, nu: Array) -> Array:
    r"""Return the density of :math:`x = \ln w` where :math:`\nu w^2\sim\chi^2_\nu`."""
    return 2 * _log_scale_density(2 * x, nu)


def scale_range(nu: Array) -> tuple[Array, Array]:
    """Return bounds of ln w outside which its density is below exp(-42) of its peak."""
    t = 2 * _CUT / nu
    return -(np.sqrt(t) + t / 2), np.minimum(np.sqrt(t / 2), np.log(2 + 2 * t) / 2)


def _log_scale_density(log_s: Array, m: Array) -> Array:
    """Return the density of ln s, s = chi^2_m / m."""
    a = m / 2
    large = np.maximum(a, 16.0)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * large**2)) / large**2) / large**2) / large
    small = np.minimum(a, 16.0)
    direct = gammaln(small) - ((small - 0.5) * np.log(small) - small + np.log(2 * np.pi) / 2)
    rest = np.where(a > 16, series, direct)
    return np.sqrt(a / (2 * np.pi)) * np.exp(-rest - a * (np.expm1(log_s) - log_s))
