"""The least noise that meets a privacy budget."""

from collections.abc import Callable
from dataclasses import replace
from math import exp, expm1, log, log1p, sqrt

from scipy.optimize import brentq

from ..arguments import fraction, nonnegative
from .gaussian import gaussian_noise_multiplier
from .subsampled import composed_laws, delta_upper_bound

_SLACK = 1e-7


def calibrate_noise_multiplier(
    *,
    epsilon: float,
    delta: float,
    sampling_probability: float,
    steps: int,
    relation: str = "add_remove",
) -> float:
    r"""Compute the smallest noise multiplier that is (epsilon, delta)-private.

    Parameters
    ----------
    epsilon : float
        In [0, inf).
    delta : float
        In (0, 1).
    sampling_probability, steps, relation
        As in `subsampled_gaussian_delta`.

    Returns
    -------
    float
        Above the exact answer, by a relative 1e-6 at most: the budget is never exceeded.

    Raises
    ------
    ValueError
        If an argument is out of range, or if `delta` is met without noise, being at least the
        probability :math:`1-(1-q)^k` of taking part at all.
    ArithmeticError
        If the accuracy is not reached.

    Examples
    --------
    >>> noise = calibrate_noise_multiplier(
    ...     epsilon=8.0, delta=1e-5, sampling_probability=0.04, steps=2000
    ... )
    >>> round(noise, 4)
    1.29
    """
    epsilon, delta = nonnegative("epsilon", epsilon), fraction("delta", delta)
    full = float(gaussian_noise_multiplier(epsilon=epsilon, delta=delta))
    laws = composed_laws(1.0, sampling_probability, steps, relation)
    if isinstance(laws, float):  # mu at a noise multiplier of one
        return laws * full * (1 + _SLACK)
    ever = -expm1(steps * log1p(-sampling_probability))
    if delta >= ever:
        raise ValueError(f"delta must be below {ever:g}, from where no noise is needed")

    def excess(log_noise: float) -> float:
        trial = [replace(law, noise_multiplier=exp(log_noise)) for law in laws]
        return log(max(delta_upper_bound(trial, steps, epsilon), 1e-300)) - log(delta)

    # The central limit of the composition: mu = q sqrt(k (exp(1/noise^2) - 1)).
    reach = full * sampling_probability * sqrt(steps) * (2 if relation == "replace" else 1)
    guess = -log(log1p(reach**-2)) / 2
    low, high = _bracket(excess, guess)
    root = float(brentq(excess, low, high, xtol=_SLACK, rtol=1e-12))
    step = _SLACK
    while excess(root) > -_SLACK:  # more than the rounding of an epsilon
        root, step = root + step, 2 * step
    return exp(root)


def _bracket(excess: Callable[[float], float], guess: float) -> tuple[float, float]:
    """Step from the guess to the other side of the root of a decreasing function."""
    low = high = guess
    step = 0.05
    if excess(guess) > 0:
        while excess(high := high + step) > 0:
            low, step = high, 2 * step
    else:
        while excess(low := low - step) <= 0:
            high, step = low, 2 * step
    return low, high
