r"""Correlated noise: its matrices, the sensitivities of what they encode, closed-form calibrations.

Release t = 1..T of DP-lambda-CGD is a sum :math:`x_t` of clipped records plus, in units of the clip
norm, the noise :math:`\kappa(Z_t-\lambda Z_{t-1})` with independent standard normal Z and
:math:`Z_0=0`. All releases are :math:`X + \kappa C^{-1}Z`, equivalent to :math:`CX+\kappa Z`, with
the noising matrix :math:`C^{-1} = I - \lambda L`, L the shift by one step, and the strategy matrix
:math:`C_{tu} = \lambda^{t-u}` for :math:`u\le t`. `noise_multiplier` is :math:`\kappa`,
`correlation` is :math:`\lambda\in[0,1)`, `steps` is T; Algorithm 1 of wang2026 makes T - 1 of its
T steps, and so as many releases.

A record that takes part as :math:`y\in[0,\infty)^T` moves row t of CX by a vector of norm
:math:`(Cy)_t` at most, as no entry of C is negative. This holds for adaptive releases too.
"""

from math import log, pi, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.signal import lfilter

from ..arguments import Array, fraction, nonnegative, nonnegative_array, plain, positive, whole


def strategy_matrix(*, correlation: float, steps: int) -> Array:
    r"""Build the strategy matrix C, :math:`C_{tu}=\lambda^{t-u}` for :math:`u\le t`.

    Parameters
    ----------
    correlation : float
        :math:`\lambda\in[0,1)`.
    steps : int
        At least 1.

    Returns
    -------
    (steps, steps) array
        Lower triangular, the inverse of `noising_matrix`; claim wang2026.eq24.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    lam, count = checked_correlation(correlation), whole("steps", steps, 1)
    age = np.subtract.outer(np.arange(count), np.arange(count))
    return np.where(age >= 0, lam ** np.maximum(age, 0), 0.0)


def noising_matrix(*, correlation: float, steps: int) -> Array:
    r"""Build :math:`C^{-1}=I-\lambda L`, which makes the noise of the releases of white noise.

    Parameters, size and errors are those of `strategy_matrix`.
    """
    lam, count = checked_correlation(correlation), whole("steps", steps, 1)
    return np.asarray(np.eye(count) - lam * np.eye(count, k=-1))


def strategy_norm(*, correlation: float, steps: int) -> float:
    r"""Compute the spectral norm :math:`\|C\|_2\le(1-\lambda^T)/(1-\lambda)`.

    The eigenvectors of :math:`C^{-1}C^{-T}` are :math:`\sin((T+1-t)\theta)` with
    :math:`\sin((T+1)\theta)=\lambda\sin(T\theta)`, and its eigenvalues
    :math:`(1-\lambda)^2+4\lambda\sin^2(\theta/2)`; the smallest has
    :math:`0<\theta\le\pi/(T+1)`.

    Parameters
    ----------
    correlation, steps
        As in `strategy_matrix`.

    Returns
    -------
    float
        Rounded up, by a relative 1e-12 or so.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> round(strategy_norm(correlation=0.9, steps=400), 4)
    9.9737
    """
    lam, count = checked_correlation(correlation), whole("steps", steps, 1)

    def gap(theta: float) -> float:
        return sin((count + 1) * theta) - lam * sin(count * theta)

    if lam == 0:
        return 1.0
    low, high = 1e-9 * pi / (count + 1), (1 + 1e-9) * pi / (count + 1)
    theta = float(brentq(gap, low, high, xtol=1e-300, rtol=1e-14))
    return (1 + 1e-12) / sqrt((1 - lam) ** 2 + 4 * lam * sin(theta / 2) ** 2)


def participation_sensitivity(*, correlation: float, pattern: ArrayLike) -> float | Array:
    r"""Compute :math:`\|Cy\|_2`, the sensitivity to a record that takes part as y.

    Parameters
    ----------
    correlation : float
        :math:`\lambda\in[0,1)`.
    pattern : (..., T) array
        y, nonnegative; 1 in the steps in which the record takes part.

    Returns
    -------
    float or (...) array
        For zero-out neighbours, in clip norms; twice as much for replacing the record.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    y = nonnegative_array("pattern", pattern)
    if y.ndim == 0 or y.shape[-1] == 0:
        raise ValueError("pattern must have a last axis with one entry a step")
    encoded = lfilter([1.0], [1.0, -checked_correlation(correlation)], y, axis=-1)
    return plain(np.sqrt(np.sum(encoded**2, axis=-1)))


def worst_sensitivity(
    *, correlation: float, steps: int, participations: int | None = None, separation: int = 1
) -> float:
    r"""Compute the largest :math:`\|Cy\|_2` of the patterns that a schedule allows.

    The columns of C have nonnegative inner products, which grow when two columns come closer or
    both move to earlier steps. So the worst pattern starts at once and goes on without delay:
    steps 1, 1 + s, 1 + 2s and so on for a separation s. One participation is the first column.

    Without sampling the mechanism with noise multiplier :math:`\kappa` is then exactly Gaussian,
    `gaussian_delta` at :math:`\mu` = this value over :math:`\kappa`.

    Parameters
    ----------
    correlation, steps
        As in `strategy_matrix`.
    participations : int, optional
        At most so many of the steps; by default as many as fit.
    separation : int
        At least so many steps from one participation to the next.

    Returns
    -------
    float
        For zero-out neighbours, in clip norms.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> schedule = {"correlation": 0.9, "steps": 400, "participations": 4}
    >>> for separation in (1, 100):
    ...     print(round(worst_sensitivity(**schedule, separation=separation), 3))
    8.614
    4.588
    """
    count = whole("steps", steps, 1)
    pattern = np.zeros(count)
    pattern[:: whole("separation", separation, 1)] = 1
    if participations is not None:
        pattern[np.cumsum(pattern) > whole("participations", participations, 1)] = 0
    return float(participation_sensitivity(correlation=correlation, pattern=pattern))


def cumulative_noise_std(*, noise_multiplier: float, correlation: float, steps: int) -> float:
    r"""Compute the standard deviation of the sum of all noises, in clip norms.

    The sum is :math:`\kappa((1-\lambda)\sum_{t<T}Z_t+Z_T)`, its variance
    :math:`\kappa^2((1-\lambda)^2(T-1)+1)`.

    Parameters
    ----------
    noise_multiplier : float
        Positive.
    correlation, steps
        As in `strategy_matrix`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    lam, count = checked_correlation(correlation), whole("steps", steps, 1)
    return positive("noise_multiplier", noise_multiplier) * sqrt((1 - lam) ** 2 * (count - 1) + 1)


def independent_noise_multiplier(
    *, noise_multiplier: float, correlation: float, steps: int | None = None
) -> float:
    r"""Compute the multiplier of independent noise that is at least as private.

    The noise has covariance :math:`\kappa^2C^{-1}C^{-T}\succeq(\kappa/\|C\|_2)^2I`. So it is
    independent noise of multiplier :math:`\kappa/\|C\|_2\ge\kappa(1-\lambda)` plus a Gaussian
    process that does not depend on the data and may be handed out before the run: post-processing,
    also for adaptive releases. **Any** guarantee for independent noise holds at this multiplier,
    under any neighbouring relation, with any sampling (Poisson, fixed-size, shuffled, none) and by
    any accountant.

    Parameters
    ----------
    noise_multiplier : float
        :math:`\kappa`, positive.
    correlation : float
        :math:`\lambda\in[0,1)`.
    steps : int, optional
        By default the value for any number of steps, :math:`\kappa(1-\lambda)`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> round(independent_noise_multiplier(noise_multiplier=10.0, correlation=0.9), 12)
    1.0
    """
    kappa, lam = positive("noise_multiplier", noise_multiplier), checked_correlation(correlation)
    if steps is None:
        return kappa * (1 - lam)
    return kappa / strategy_norm(correlation=lam, steps=steps)


def printed_correlated_multiplier(
    *,
    epsilon: float,
    delta: float,
    correlation: float,
    sampling_probability: float,
    steps: int,
    outside: bool = False,
) -> float:
    r"""Evaluate the calibration of Theorem F.12 (5.1) as printed.

    .. math::

       \kappa^2 = 8\Bigl(\frac{1-\lambda^T}{1-\lambda}\Bigr)^2
         \Bigl(rT+\sqrt{3rT\ln\tfrac2\delta}\Bigr)\frac{\ln(2.5/\delta)}{\varepsilon^2}

    Stated for zero-out neighbours and batches of fixed size. It holds, under replace-one
    neighbours and Poisson sampling too, because it uses no amplification by sampling; for the same
    reason it asks for many times the noise of `CorrelatedPoisson`.

    Parameters
    ----------
    epsilon : float
        Positive; the theorem asks for at most 1.
    delta : float
        In (0, 1).
    correlation, steps
        As in `strategy_matrix`.
    sampling_probability : float
        r = B/n in (0, 1]; the theorem asks for :math:`rT\ge3\ln(2/\delta)`.
    outside : bool
        Evaluate the formula where the theorem does not speak.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range, or outside the theorem unless `outside`.

    References
    ----------
    Claims wang2026.thmF.12 and wang2026.thm5.1.
    """
    lam, count = checked_correlation(correlation), whole("steps", steps, 1)
    eps, d = positive("epsilon", epsilon), fraction("delta", delta)
    expected, level = checked_probability(sampling_probability) * count, log(2 / d)
    if not outside and (eps > 1 or expected < 3 * level):
        raise ValueError(
            "epsilon must be at most 1 and sampling_probability * steps at least 3 ln(2/delta) = "
            f"{3 * level:g}, got {eps:g} and {expected:g}"
        )
    entries = (1 - lam**count) / (1 - lam)
    number = expected + sqrt(3 * expected * level)
    return entries * sqrt(8 * number * log(2.5 / d)) / eps


def printed_independent_multiplier(
    *, epsilon: float, delta: float, sampling_probability: float, steps: int
) -> float:
    r"""Evaluate the calibration of Theorem D.9 (5.4) for independent noise as printed.

    .. math:: \kappa^2 = 16r^2T/\varepsilon + 32r^2T\ln(1/\delta)/\varepsilon^2

    Stated for replace-one neighbours and batches of fixed size. It fails where
    :math:`r^2T/\varepsilon` is small: the true noise does not vanish there.

    Parameters
    ----------
    epsilon : float
        Positive.
    delta, sampling_probability, steps
        As in `printed_correlated_multiplier`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Claims wang2026.thmD.9 and wang2026.thm5.4.
    """
    eps, level = positive("epsilon", epsilon), -log(fraction("delta", delta))
    r = checked_probability(sampling_probability)
    return r * sqrt(whole("steps", steps, 1) * (16 / eps + 32 * level / eps**2))


def checked_correlation(value: float) -> float:
    """Return a correlation in [0, 1)."""
    number = nonnegative("correlation", value)
    if number >= 1:
        raise ValueError(f"correlation must lie in [0, 1), got {value}")
    return number


def checked_probability(value: float) -> float:
    """Return a sampling probability in (0, 1]."""
    number = positive("sampling_probability", value)
    if number > 1:
        raise ValueError(f"sampling_probability must lie in (0, 1], got {value}")
    return number
