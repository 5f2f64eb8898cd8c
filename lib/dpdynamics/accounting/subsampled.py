r"""The Poisson-subsampled Gaussian mechanism, composed, exactly.

Each of `steps` releases adds noise of standard deviation `noise_multiplier` (in units of the l2
sensitivity) to the sum over a sample that holds each record with probability
`sampling_probability`. One step is in closed form (`subsampled_step`), and so is full sampling
(`gaussian`); the rest is the inversion of the transform of the privacy loss (`inversion`) or,
where that decays too slowly, its convolution on a mesh (`convolution`).

The value is within 1e-7 of the exact one, or refused. Refusals are rare; they happen where
sampling probabilities are small and delta is far below the chance of a telling participation: the
mesh then gets too long.
"""

from math import expm1, inf, log, log1p, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from ..arguments import Array, elementwise, finite_array, fraction_array, one_of, positive, whole
from .convolution import epsilon_convolution, hockey_stick_convolution
from .gaussian import gaussian_delta, gaussian_epsilon
from .inversion import Inversion, InversionError, epsilon_inversion, hockey_stick_inversion
from .subsampled_step import SubsampledStep

RELATIONS = ("add_remove", "add", "remove", "replace")


def subsampled_gaussian_delta(
    *,
    noise_multiplier: float,
    sampling_probability: float,
    steps: int,
    epsilon: ArrayLike,
    relation: str = "add_remove",
) -> float | Array:
    r"""Compute the privacy profile :math:`\delta(\varepsilon)` of the composition.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation over l2 sensitivity, positive. Under "replace" the sensitivity is still
        that of adding or removing one record.
    sampling_probability : float
        In (0, 1].
    steps : int
        At least 1.
    epsilon : number or array
        Any real numbers.
    relation : {"add_remove", "add", "remove", "replace"}
        "add" and "remove" are the two directions of one relation, "add_remove" is their maximum.

    Returns
    -------
    float or array of the shape of `epsilon`
        In [0, 1], to a relative accuracy of 1e-7 or better; 0 where it is below the floats.

    Raises
    ------
    ValueError
        If an argument is out of range.
    ArithmeticError
        If the accuracy is not reached.

    Examples
    --------
    >>> delta = subsampled_gaussian_delta(
    ...     noise_multiplier=0.5, sampling_probability=0.2, steps=3, epsilon=1.0
    ... )
    >>> round(delta, 6)
    0.155933
    """
    epsilons = finite_array("epsilon", epsilon)
    laws = composed_laws(noise_multiplier, sampling_probability, steps, relation)
    if isinstance(laws, float):
        return gaussian_delta(mu=laws, epsilon=epsilons)
    return elementwise(lambda e: max(_delta(law, steps, e).value for law in laws), epsilons)


def subsampled_gaussian_epsilon(
    *,
    noise_multiplier: float,
    sampling_probability: float,
    steps: int,
    delta: ArrayLike,
    relation: str = "add_remove",
) -> float | Array:
    r"""Compute the smallest :math:`\varepsilon\ge0` with :math:`\delta(\varepsilon)\le\delta`.

    Parameters
    ----------
    noise_multiplier, sampling_probability, steps, relation
        As in `subsampled_gaussian_delta`.
    delta : number or array
        In (0, 1).

    Returns
    -------
    float or array of the shape of `delta`
        In [0, inf), to an accuracy of 1e-7 relative to itself or to the distance in which the
        profile falls by a factor e, whichever is larger.

    Raises
    ------
    ValueError
        If an argument is out of range.
    ArithmeticError
        If the accuracy is not reached.

    Examples
    --------
    >>> epsilon = subsampled_gaussian_epsilon(
    ...     noise_multiplier=1.5, sampling_probability=0.04, steps=2250, delta=1e-5
    ... )
    >>> round(epsilon, 5)
    6.76878
    """
    deltas = fraction_array("delta", delta)
    laws = composed_laws(noise_multiplier, sampling_probability, steps, relation)
    if isinstance(laws, float):
        return gaussian_epsilon(mu=laws, delta=deltas)
    return elementwise(lambda d: max(_epsilon(law, steps, d) for law in laws), deltas)


def composed_laws(
    noise_multiplier: float, sampling_probability: float, steps: int, relation: str
) -> list[SubsampledStep] | float:
    """Check the arguments; return the pairs of one step or, where all is Gaussian, mu."""
    noise, steps = positive("noise_multiplier", noise_multiplier), whole("steps", steps, 1)
    q = positive("sampling_probability", sampling_probability)
    if q > 1:
        raise ValueError(f"sampling_probability must lie in (0, 1], got {sampling_probability}")
    one_of("relation", relation, RELATIONS)
    if q == 1:
        return (2 if relation == "replace" else 1) * sqrt(steps) / noise
    if noise < 1e-4 and steps > 1:
        raise InversionError("the losses range too far for a mesh: noise_multiplier is below 1e-4")
    names = ("remove", "add") if relation == "add_remove" else (relation,)
    return [SubsampledStep(noise, q, name) for name in names]


def delta_upper_bound(laws: list[SubsampledStep], steps: int, epsilon: float) -> float:
    """Return the largest delta of the pairs with its estimated error added."""
    return max(sum(_delta(law, steps, epsilon)) for law in laws)


def _delta(law: SubsampledStep, steps: int, epsilon: float) -> Inversion:
    edge = steps * law.base
    if law.relation == "add" and epsilon >= edge:
        return Inversion(0.0, 0.0)
    if law.relation == "remove" and epsilon <= edge:
        return Inversion(-expm1(epsilon), 0.0)
    if steps == 1:
        value = float(law.delta(np.array(epsilon)))
        return Inversion(value, 1e-10 * value)
    for smallest in (1e-12, 1e-40, 1e-290):
        try:
            result = hockey_stick_inversion(law.cumulants(steps, smallest), epsilon)
        except InversionError:
            result = hockey_stick_convolution(law, steps, epsilon, smallest)
        if result.value >= smallest:
            return result
    return Inversion(result.value, 1e-290)


def _epsilon(law: SubsampledStep, steps: int, delta: float) -> float:
    if delta >= -expm1(steps * log1p(-law.probability)):  # the chance of taking part at all
        return 0.0
    if steps == 1:
        return _root(law, delta)
    try:
        return max(epsilon_inversion(law.cumulants(steps, delta), delta).value, 0.0)
    except InversionError:
        if _delta(law, steps, 0.0).value <= delta:
            return 0.0
        return max(epsilon_convolution(law, steps, delta).value, 0.0)


def _root(law: SubsampledStep, delta: float) -> float:
    """Solve one step, whose profile is in closed form."""

    def excess(epsilon: float) -> float:
        value = float(law.delta(np.array(epsilon)))
        return (log(value) if value > 0 else -inf) - log(delta)

    if excess(0.0) <= 0:
        return 0.0
    high = law.base if law.relation == "add" else 1.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(lambda e: max(excess(e), -1e3), 0.0, high, xtol=1e-300, rtol=1e-14))
