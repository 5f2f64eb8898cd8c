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

*Proof.* 1. *Shift.* Let the run :math:`\theta` use :math:`\phi_k`, and its neighbour
:math:`\theta'` use :math:`\phi'_k` (:math:`=\phi_k` unless k = i). Put
:math:`a_j = s\tau_j^2/\sum_{k\ge i}\tau_k^2` for :math:`j\ge i`: they add up to s. From the common
:math:`\tilde\theta_{i-1} = \theta_{i-1}` run the maps of the neighbour on the noise of
:math:`\theta`, with a shift,

.. math:: \tilde\theta_j = \phi'_j(\tilde\theta_{j-1}) + \tau_jb_j + v_j,\qquad
   v_j = \Delta_j\min\{1, a_j/|\Delta_j|\},\qquad
   \Delta_j = \phi_j(\theta_{j-1}) - \phi'_j(\tilde\theta_{j-1}).

Then :math:`\theta_j - \tilde\theta_j = \Delta_j - v_j` has length
:math:`\max(|\Delta_j| - a_j, 0)`, and :math:`|\Delta_i|\le s`,
:math:`|\Delta_j|\le|\theta_{j-1} - \tilde\theta_{j-1}|` for j > i; after the last step nothing is
left: :math:`\tilde\theta_n = \theta_n`, surely. So :math:`\theta_n` and :math:`\theta'_n` are one
and the same function of :math:`\theta_{i-1}` and, respectively, of :math:`\tilde b_j = b_j +
v_j/\tau_j` and of :math:`b_j`, :math:`j\ge i` (a step without noise has :math:`a_j = v_j = 0`).

2. *Adaptive shifts.* Given the past, :math:`v_j` is fixed: hence :math:`b_j` can be recovered from
:math:`\tilde b_j`, and :math:`\tilde b_j` is normal with mean :math:`v_j/\tau_j`, no longer than
:math:`c_j = a_j/\tau_j`. Give each step one more coordinate, of mean
:math:`(c_j^2 - |v_j/\tau_j|^2)^{1/2}` in the first case and 0 in the second, and unit variance: all
means now have the length :math:`c_j`. A rotation that depends on the past alone turns them into
:math:`c_je_1`; it changes N(0, I) not at all. What is left is N(c, I) against N(0, I), and dropping
the coordinate or turning back is post-processing. With :math:`m^2 = \sum c_j^2 =
s^2/\sum\tau_j^2` the claim follows, and no other :math:`a_j` give less (Cauchy-Schwarz). []

The Gaussian pair has the Renyi divergence :math:`\alpha m^2/2`, which is bombari2025.prop4.1, and
the profile `gaussian_delta` at m, which no conversion from zCDP reaches.

**Sharpness.** As labels grow, the chance that any gradient escapes clipping vanishes, and all maps
become translations: the iterates are two normals at :math:`2\eta_i^2/\sum_j\sigma_j^2`, with the
noise of *all* steps. So the theorem is sharp for a record that no noise precedes, and with it
:math:`\rho` and :math:`\mu` are for every `optimal_noise_schedule`, which has no noise before the
largest step. Noise that comes before a record helps it too, unless other records contract it away:
a record before it with :math:`\eta\|x\|^2 = 1` does so where it is not clipped, which leaves the
noise of that one step.

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

    Raises
    ------
    ValueError
        If a shape or a range is violated.

    References
    ----------
    Claim bombari2025.prop4.1, before the maximum over k.
    """
    eta, sigma = _schedules(step_sizes, noise_scales)
    with np.errstate(over="ignore", divide="ignore"):
        later = np.sqrt(np.cumsum(sigma[::-1] ** 2)[::-1])
        ratio = np.divide(eta, later, out=np.zeros_like(eta), where=eta > 0)
        return np.asarray(ratio**2)


def one_pass_zcdp(step_sizes: ArrayLike, noise_scales: ArrayLike) -> float:
    r"""Compute the zCDP parameter :math:`\rho = \max_k\eta_k^2/\sum_{j\ge k}\sigma_j^2`.

    Arguments and errors are those of `one_pass_zcdp_by_record`.

    Returns
    -------
    float
        In [0, inf]: the Renyi divergence of every order :math:`\alpha > 1` is at most
        :math:`\alpha\rho`.

    References
    ----------
    Claim bombari2025.prop4.1, equation (4.1).

    Examples
    --------
    >>> one_pass_zcdp([1.0, 1.0], [0.0, 2.0])  # all noise at the end: output perturbation
    0.25
    """
    return float(one_pass_zcdp_by_record(step_sizes, noise_scales).max())


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
    >>> from dpdynamics.accounting import gaussian_epsilon, zcdp_to_epsilon
    >>> mu = one_pass_gdp([1.0, 1.0], [0.0, 2.0])
    >>> round(gaussian_epsilon(mu=mu, delta=1e-5), 4)
    2.9432
    >>> round(zcdp_to_epsilon(rho=mu**2 / 2, delta=1e-5), 4)
    3.189
    """
    return float(np.sqrt(2 * one_pass_zcdp(step_sizes, noise_scales)))


def optimal_noise_schedule(step_sizes: ArrayLike, rho: float) -> Array:
    r"""Compute the noise scales that buy :math:`\rho`-zCDP at the least cost.

    .. math:: \sigma_k^2 = \frac{M_k - M_{k+1}}\rho,\qquad M_k = \max_{j\ge k}\eta_j^2,\quad
       M_{n+1} = 0,

    which is (4.2), :math:`(\eta_k^2 - \eta_{k+1}^2)/\rho`, when the steps never grow. With
    :math:`S_k = \sum_{j\ge k}\sigma_j^2`, privacy asks for :math:`\eta_k^2\le\rho S_k`, and since
    the :math:`S_k` decrease, for :math:`M_k\le\rho S_k`: the schedule takes every :math:`S_k` at
    its least. If noise weighs the more the later it comes, :math:`w_1\le\dots\le w_n` with
    :math:`w_1\ge0`, then :math:`\sum w_k\sigma_k^2 = w_1S_1 + \sum_{k\ge2}(w_k - w_{k-1})S_k` is
    least as well.

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

    Raises
    ------
    ValueError
        If a shape or a range is violated.

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
