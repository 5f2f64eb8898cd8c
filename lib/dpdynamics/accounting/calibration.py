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
        If an argument is out of range, or if `delta` is met without noise: from the probability
        :math:`1-(1-q)^k` of taking part at all, and for ``"add"`` from
        :math:`1-e^\varepsilon(1-q)^k`.
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
    never = steps * log1p(-sampling_probability)  # logarithm of the chance of no part at all
    noiseless = max(0.0, -expm1(never + (epsilon if relation == "add" else 0.0)))
    if delta >= noiseless:
        raise ValueError(f"delta must be below {noiseless:g}, from where no noise is needed")

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
    rising = excess(guess) > 0
    while step < 700:  # the noise multiplier stays a float
        if rising:
            low, high = high, high + step
            if excess(high) <= 0:
                return low, high
        else:
            low, high = low - step, low
            if excess(low) > 0:
                return low, high
        step *= 2
    raise ArithmeticError("no noise multiplier in the range of floats meets the budget")
