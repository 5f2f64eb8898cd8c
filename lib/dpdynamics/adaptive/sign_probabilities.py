r"""How likely a coordinate of DP-SignSGD steps down, :math:`P(f'(x) + \zeta > 0)`.

The noise has a law symmetric about 0, so a step down at slope g and a step up at slope -g are
equally likely. The smaller of the two probabilities is computed, the larger is 1 minus that.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, log_ndtr, logsumexp

from ..arguments import Array, finite_array, nonnegative, positive, positive_array


@dataclass(frozen=True)
class SymmetricSign:
    """The probability of a step down as a function of x, with accurate logarithms.

    Attributes
    ----------
    gradient : callable
        x to :math:`f'(x)`, elementwise.
    log_distribution : callable
        Logarithm of the distribution function of the noise, elementwise.
    """

    gradient: Callable[[Array], ArrayLike]
    log_distribution: Callable[[Array], Array]

    def __call__(self, x: ArrayLike) -> Array:
        """Return the probability of a step down from x."""
        return self.both(x)[0]

    def both(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return the probabilities of a step down and of a step up."""
        slope, least = self._least(x)
        small, large = np.exp(least), -np.expm1(least)
        return np.where(slope > 0, large, small), np.where(slope > 0, small, large)

    def logarithms(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return the logarithms of the probabilities of a step down and of a step up."""
        slope, least = self._least(x)
        most = np.log1p(-np.exp(least))
        return np.where(slope > 0, most, least), np.where(slope > 0, least, most)

    def _least(self, x: ArrayLike) -> tuple[Array, Array]:
        slope = finite_array("gradient(x)", self.gradient(finite_array("x", x)))
        return slope, np.asarray(self.log_distribution(-np.abs(slope)))


def gaussian_sign(gradient: Callable[[Array], ArrayLike], scale: ArrayLike) -> SymmetricSign:
    r"""Return :math:`x\mapsto\Phi(f'(x)/S)`: all the noise of the gradient is normal.

    Parameters
    ----------
    gradient : callable
        x to :math:`f'(x)`, elementwise.
    scale : number or array
        S > 0, standard deviation of the coordinate of the private gradient. In Phase 2
        :math:`S^2 = \sigma_\gamma^2/B + C^2\sigma_{DP}^2/B^2`. An array is broadcast against the
        last axes of x, one entry a configuration.

    Raises
    ------
    ValueError
        If the scale is not positive.

    Examples
    --------
    >>> gaussian_sign(lambda x: 2 * x, 1.0)([0.0, 0.5]).round(4)
    array([0.5   , 0.8413])

    References
    ----------
    Claim anon2025.thmB.10, second part.
    """
    S = positive_array("scale", scale)
    return SymmetricSign(gradient, lambda slope: log_ndtr(slope / S))


def student_sign(
    gradient: Callable[[Array], ArrayLike],
    gradient_noise: float,
    degrees_of_freedom: float,
    noise_scale: float,
) -> SymmetricSign:
    r"""Return the probability of a step down under Student-t batch noise and normal noise.

    The noise is :math:`\sigma_\gamma t_\nu + sZ`. Given the chi-square variable V of the former
    it is normal of variance :math:`\sigma_\gamma^2\nu/V + s^2`; over ln V the trapezoidal rule is
    exact to rounding.

    Parameters
    ----------
    gradient : callable
        x to :math:`f'(x)`, elementwise.
    gradient_noise : float
        :math:`\sigma_\gamma>0`, a scale: a variance exists for :math:`\nu>2` only.
    degrees_of_freedom : float
        :math:`\nu` in [0.5, 10^6]; for more use `gaussian_sign`.
    noise_scale : float
        s >= 0, standard deviation of the noise that is added for privacy.

    Raises
    ------
    ValueError
        If a range is violated.

    Examples
    --------
    >>> bool(abs(student_sign(lambda x: x, 1.0, 1.0, 0.0)(1.0) - 0.75) < 1e-14)  # Cauchy
    True

    References
    ----------
    Claim anon2025.assB.2, one coordinate.
    """
    spread = positive("gradient_noise", gradient_noise)
    noise = nonnegative("noise_scale", noise_scale)
    nu = positive("degrees_of_freedom", degrees_of_freedom)
    if not 0.5 <= nu <= 1e6:
        raise ValueError(f"degrees_of_freedom must lie in [0.5, 1e6], got {nu}")
    narrow = np.sqrt(2 / nu)  # standard deviation of ln V for large nu
    u = np.log(nu) + np.arange(-220 / nu - 16 * narrow, 5 + 16 * narrow, min(0.25, narrow / 4))
    log_weights = nu / 2 * u - np.exp(u) / 2 - nu / 2 * np.log(2) - gammaln(nu / 2)
    kept = log_weights > log_weights.max() - 110
    log_weights = log_weights[kept] - logsumexp(log_weights[kept])
    scales = np.sqrt(spread**2 * nu * np.exp(-u[kept]) + noise**2)

    def log_distribution(slope: Array) -> Array:
        total = np.full(np.shape(slope), -np.inf)
        for log_weight, scale in zip(log_weights, scales, strict=True):
            total = np.logaddexp(total, log_weight + log_ndtr(slope / scale))
        return total

    return SymmetricSign(gradient, log_distribution)
