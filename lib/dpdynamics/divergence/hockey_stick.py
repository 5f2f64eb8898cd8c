r"""Hockey-stick divergence of two Gaussian laws.

In coordinates in which Q is standard and P has variances :math:`1 + e_i` and mean gaps w, the
log-likelihood ratio is a sum of independent quadratic forms, a generalised chi-square variable,
and its transform under P is

.. math::

   \ln M(z) = \frac{z(1+z)}2\sum_i\frac{w_i^2}{1 - ze_i}
      - \frac12\sum_i\bigl[\ln(1 - ze_i) + z\ln(1 + e_i)\bigr],

with singularities on the real axis only. With a common covariance the ratio is Gaussian, and the
profile is that of the Gaussian mechanism at the Mahalanobis distance of the means.
"""

from math import expm1, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, elementwise, finite_array
from ..numerics.inversion import Complex, hockey_stick_talbot
from .gaussian import gaussian_delta
from .renyi import Covariance, relative_spectrum


def hockey_stick_gaussian(
    mean_p: ArrayLike,
    cov_p: Covariance,
    mean_q: ArrayLike,
    cov_q: Covariance,
    epsilon: ArrayLike,
) -> float | Array:
    r"""Compute :math:`\sup_A P(A) - e^\varepsilon Q(A)`; exchange the laws for the other direction.

    Parameters
    ----------
    mean_p, cov_p, mean_q, cov_q
        As in `renyi_divergence_gaussian`.
    epsilon : number or array
        Any real numbers.

    Returns
    -------
    float or array of the shape of `epsilon`
        In [0, 1], to a relative accuracy of 1e-10; 0 where it is below the floats.

    Examples
    --------
    >>> round(hockey_stick_gaussian([1.0, 0.0], 1.0, [0.0, 0.0], 1.0, 1.0), 12)
    0.126936737507
    >>> round(hockey_stick_gaussian([0.0, 0.0], 2.0, [0.0, 0.0], 1.0, 0.0), 12)
    0.25
    """
    epsilons = finite_array("epsilon", epsilon)
    spectrum = relative_spectrum(mean_p, cov_p, mean_q, cov_q)
    apart = spectrum.excess != 0
    e, squares = spectrum.excess[apart], spectrum.squares[apart]
    common = spectrum.rest + float(spectrum.squares[~apart].sum())
    if e.size == 0:
        return gaussian_delta(mu=sqrt(common), epsilon=epsilons)
    log_ratio = float(np.log(spectrum.ratio[apart]).sum())

    def cumulants(z: Complex) -> Complex:
        stretch = np.multiply.outer(-z, e)
        means = z * (1 + z) / 2 * (np.sum(squares / (1 + stretch), axis=1) + common)
        return np.asarray(means - (np.log1p(stretch).sum(axis=1) + z * log_ratio) / 2)

    # Where all spreads change in one direction the ratio is bounded on one side.
    edge = -float(np.sum(squares / e) + log_ratio) / 2 if common == 0 else np.nan
    limit = 1 / e.max() if e.max() > 0 else np.inf

    def delta(value: float) -> float:
        if e.max() < 0 and value >= edge:
            return 0.0
        if e.min() > 0 and value <= edge:
            return -expm1(value)
        return hockey_stick_talbot(cumulants, value, limit=limit).value

    return elementwise(delta, epsilons)
