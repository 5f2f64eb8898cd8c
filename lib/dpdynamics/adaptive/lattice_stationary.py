r"""Where DP-SignSGD settles: the stationary laws of its walk, by detailed balance.

The walk visits the sites of the two parities in turn, so its law has period 2: it tends to one law
at even and to another at odd steps. Their mean is the stationary law of the chain, and there the
flow between neighbours balances, :math:`\pi(x)(1 - p(x)) = \pi(x+\eta)p(x+\eta)`, where p is the
probability of a step down: a product formula, summed here in logarithms.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import Array, finite_array, positive, vector
from .sign_probabilities import SymmetricSign
from .sign_walk import LatticeLaw
from .stationary_densities import NEGLIGIBLE, sums_from

MOST_SITES = 2**23
FARTHEST = 2**40  # steps between x0 and a site: beyond, rounding moves it by 2^-13 of a step


class StationarySignLaw(NamedTuple):
    """Limits of the law at `even` and at `odd` steps, and their `average`.

    `lost` of each is a bound on the probability of all sites outside, relative to the law, as long
    as steps towards the middle do not become less likely farther out.
    """

    even: LatticeLaw
    odd: LatticeLaw
    average: LatticeLaw


def stationary_sign_law(
    down_probability: Callable[[Array], ArrayLike],
    x0: float,
    learning_rate: float,
    *,
    around: float = 0.0,
    interval: tuple[float, float] | None = None,
) -> StationarySignLaw:
    r"""Compute the laws to which DP-SignSGD with a constant learning rate tends.

    Parameters
    ----------
    down_probability : callable
        x (sites,) to the probability of a step down, in (0, 1). The tails are accurate when it
        comes from `gaussian_sign` or `student_sign`.
    x0 : float
        A start: it says which lattice the walk is on, and which sites it meets at even steps.
    learning_rate : float
        :math:`\eta>0`.
    around : float
        Where to begin; sites are added on both sides until the rest is negligible. Between two
        wells with a high barrier the search may stop in the first: give the interval.
    interval : (low, high), optional
        Sites that are taken at least.

    Returns
    -------
    StationarySignLaw

    Raises
    ------
    ValueError
        If a range is violated.
    ArithmeticError
        If there is no stationary law, or none within 2^23 sites.

    Examples
    --------
    >>> from dpdynamics.adaptive.sign_probabilities import gaussian_sign
    >>> laws = stationary_sign_law(gaussian_sign(lambda x: x, 1e-3), 0.25, 1.0)  # nearly no noise
    >>> laws.even.variance < 1e-9, round(laws.even.mean, 6), round(laws.odd.mean, 6)
    (True, 0.25, -0.75)

    References
    ----------
    Claim anon2025.thmB.15, for which this is the exact counterpart.
    """
    start, middle = (
        float(finite_array(name, value, ndim=0)) for name, value in (("x0", x0), ("around", around))
    )
    rate = positive("learning_rate", learning_rate)
    low, high = (middle, middle) if interval is None else vector("interval", interval, 2).tolist()
    if low > high:
        raise ValueError(f"interval must not decrease, got {interval}")
    if max(abs(low - start), abs(high - start)) > FARTHEST * rate:
        raise ValueError("x0, around and interval must lie within 2^40 learning_rate of each other")
    first, last = int(np.floor((low - start) / rate)), int(np.ceil((high - start) / rate))
    grow_front = grow_back = 32
    while True:
        first, last = first - grow_front, last + grow_back
        if last - first > MOST_SITES:
            raise ArithmeticError(
                f"learning_rate: no stationary law within {MOST_SITES} sites of {around}"
            )
        sites = np.arange(first, last + 1)
        points: Array = start + rate * sites.astype(np.float64)
        down, up = _logarithms(down_probability, points)
        rises = up[:-1] - down[1:]
        peak = int(np.argmax(np.append(0.0, np.cumsum(rises))))
        weights = sums_from(rises, peak)
        # The factor by which the last weight on each side falls per site, as a logarithm.
        fall_front, fall_back = up[0] - down[1], down[-1] - up[-2]
        width = last - first + 1
        grow_front = width if weights[0] > NEGLIGIBLE or fall_front <= 0 else 0
        grow_back = width if weights[-1] > NEGLIGIBLE or fall_back <= 0 else 0
        if not (grow_front or grow_back):
            break
    law = np.exp(weights)
    ends, falls = weights[[0, -1]], np.array([fall_front, fall_back])
    outside = np.sum(np.exp(ends - falls) / -np.expm1(-falls))  # geometric series
    kept = law > 0

    def part(chosen: NDArray[np.bool_]) -> LatticeLaw:
        total = law[chosen].sum()
        return LatticeLaw(points[chosen], law[chosen] / total, float(outside / total))

    even = sites % 2 == 0
    return StationarySignLaw(part(kept & even), part(kept & ~even), part(kept))


def _logarithms(
    down_probability: Callable[[Array], ArrayLike], points: Array
) -> tuple[Array, Array]:
    """Logarithms of the probabilities of a step down and up, finite."""
    if isinstance(down_probability, SymmetricSign):
        down, up = down_probability.logarithms(points)
    else:
        values = finite_array("down_probability(x)", down_probability(points))
        if values.shape != points.shape or np.any((values < 0) | (values > 1)):
            raise ValueError("down_probability must keep the shape of x and lie in [0, 1]")
        down, up = (np.log(np.maximum(p, np.finfo(float).tiny)) for p in (values, 1 - values))
    if not (np.all(np.isfinite(down)) and np.all(np.isfinite(up))):
        raise ArithmeticError("down_probability: its logarithm is not finite")
    return down, up
