r"""Privacy of the last iterate when every record is used once.

**The process.** One-pass DP-SGD (bombari2025.alg1) with clip norm C releases only the last of

.. math:: \theta_k = \phi_k(\theta_{k-1}) + \tau_kb_k,\qquad \tau_k = \sqrt2\,C\sigma_k,\qquad
   \phi_k(\theta) = \theta - \bar\eta_k\,\bar g_k(\theta),\qquad k = 1,\dots,n,

with independent standard normal :math:`b_k`. The clipped gradient is at most C long and the
adaptive step :math:`\bar\eta_k\le\eta_k`, so replacing record i moves :math:`\phi_i` by at most
:math:`s = 2\eta_iC` at any point; and :math:`\bar\eta_k\le2/\|x_k\|^2` makes every
:math:`\phi_k` non-expansive, whatever the record.

**Theorem.** The pair of last iterates is at least as hard to tell apart as N(m, I) and N(0, I), in
any dimension, with

.. math:: m^2 = \frac{s^2}{\sum_{j\ge i}\tau_j^2} = \frac{2\eta_i^2}{\sum_{j\ge i}\sigma_j^2}.

The proof is in the chapter on one pass. The Gaussian pair has the Renyi divergence
:math:`\alpha m^2/2`, which is bombari2025.prop4.1, and the profile `gaussian_delta` at m, which no
conversion from zCDP reaches. The theorem is sharp for a record that no noise precedes, and with it
:math:`\rho` and :math:`\mu` are for every `optimal_noise_schedule`.

The relation is *replacement of one record*; if the record is dropped from the sum instead, s is
halved, :math:`\rho` is divided by 4 and :math:`\mu` by 2.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, nonnegative_array, positive, vector


def one_pass_zcdp_by_record(step_sizes: ArrayLike, noise_scales: ArrayLike) -> Array:
    r"""Compute :math:`\rho_k = \eta_k^2/\sum_{j\ge k}\sigma_j^2`, what record k loses at most.

    Parameters
    ----------
    step_sizes : (n,) array
        :math:`\eta_k\ge0`.
    noise_scales : (n,) array
        :math:`\sigma_k\ge0`: step k adds noise of standard deviation :math:`\sqrt2\,C\sigma_k`.

    Returns
    -------
    (n,) array
        In [0, inf]: 0 where the step is 0, inf where it is positive and no noise follows.

    References
    ----------
    Claim bombari2025.prop4.1, equation (4.1): the last iterate is zCDP with the maximum over k.
    """
    eta, sigma = _schedules(step_sizes, noise_scales)
    with np.errstate(over="ignore", divide="ignore"):
        later = np.sqrt(np.cumsum(sigma[::-1] ** 2)[::-1])
        ratio = np.divide(eta, later, out=np.zeros_like(eta), where=eta > 0)
        return np.asarray(ratio**2)


def one_pass_gdp(step_sizes: ArrayLike, noise_scales: ArrayLike) -> float:
    r"""Compute a :math:`\mu` for which the last iterate is :math:`\mu`-Gaussian DP.

    It is :math:`\sqrt{2\rho}`; the module has the proof, and says when it is the smallest.
    Arguments and errors are those of `one_pass_zcdp_by_record`.

    Returns
    -------
    float
        In [0, inf]. `gaussian_delta` and `gaussian_epsilon` turn it into a privacy profile.

    References
    ----------
    Feldman, Mironov, Talwar and Thakurta (2018) for the Renyi divergence; Bok, Su and Altschuler
    (2024) for trade-off functions.

    Examples
    --------
    >>> from dpdynamics.divergence import gaussian_epsilon
    >>> mu = one_pass_gdp([1.0, 1.0], [0.0, 2.0])
    >>> round(gaussian_epsilon(mu=mu, delta=1e-5), 4)
    2.9432
    """
    return float(np.sqrt(2 * one_pass_zcdp_by_record(step_sizes, noise_scales).max()))


def optimal_noise_schedule(step_sizes: ArrayLike, rho: float) -> Array:
    r"""Compute the noise scales that buy :math:`\rho`-zCDP at the least cost.

    .. math:: \sigma_k^2 = \frac{M_k - M_{k+1}}\rho,\qquad M_k = \max_{j\ge k}\eta_j^2,\quad
       M_{n+1} = 0,

    which is (4.2), :math:`(\eta_k^2 - \eta_{k+1}^2)/\rho`, when the steps never grow. Every sum
    :math:`\sum_{j\ge k}\sigma_j^2` is at its least, and so is each :math:`\sum w_k\sigma_k^2` whose
    weights do not decrease.

    Parameters
    ----------
    step_sizes : (n,) array
        :math:`\eta_k\ge0`.
    rho : float
        In (0, inf).

    Returns
    -------
    (n,) array
        :math:`\sigma_k`, nonnegative.

    References
    ----------
    Claim bombari2025.eq4.2.

    Examples
    --------
    >>> optimal_noise_schedule([5.0, 4.0, 0.0], rho=1.0)
    array([3., 4., 0.])
    """
    eta, _ = _schedules(step_sizes, step_sizes)
    peak = np.maximum.accumulate(eta[::-1])[::-1]
    following = np.append(peak[1:], 0.0)
    return np.asarray(np.sqrt((peak - following) * (peak + following) / positive("rho", rho)))


def _schedules(step_sizes: ArrayLike, noise_scales: ArrayLike) -> tuple[Array, Array]:
    eta = nonnegative_array("step_sizes", step_sizes, ndim=1)
    if eta.size == 0:
        raise ValueError("step_sizes must not be empty")
    sigma = nonnegative_array("noise_scales", noise_scales, ndim=1)
    return eta, vector("noise_scales", sigma, eta.size)
