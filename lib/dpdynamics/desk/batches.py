r"""What is known of batches that are not Poisson samples: a bound on either side.

Other records can point the opposite way, and the batch of the record in question holds one of them
less. So in units of the clip norm, seen from the sum of a batch without the record, its batch lies
at 2, at 1 where it is zeroed out, and at 0 where it is replaced by one like the others; all other
batches lie at 0.

**Fixed size.** B of n records without replacement, fresh in each step; `fixed_size` of the
accounting room has the pairs. From above the exact profile of a replace-one step, composed as
Renyi divergences, or no amplification at all; to zero a record out is to replace it by a zero.
From below, *replace one*: the composition of the pair (2, 0), a Poisson sample at half the noise
multiplier; *zero out*: that of the pair (2, 1), or of a Poisson sample, which is (1, 0), zero
others, if that is more.

**Shuffled epochs.** Each record once an epoch, in a fresh random order. From above no
amplification: a record takes part at most once an epoch, at a place that the attacker may know.
From below two attacks of a few lines, each one number an epoch, composed over the epochs.

* The largest release of the epoch. Its law does not depend on the record's place, so that nothing
  need be known of the order: of T batches,
  :math:`\Phi(\frac{x-a}\sigma)\Phi(\frac x\sigma)^{T-1}` with a = 2 against a = 1 or 0.
* The sum of all releases of the epoch, :math:`N(a,T\sigma^2)`.

If B does not divide n, epochs may keep or drop their last, smaller batch; the bound is the smaller
of both. Where it is dropped, the record misses an epoch with the chance that it falls there.
"""

from math import ceil, exp, sqrt

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr

from ..accounting import (
    Bracket,
    composed_epsilon_lower,
    fixed_size_rdp,
    fixed_size_rdp_lower,
    gaussian_epsilon,
    rdp_to_epsilon,
    subsampled_gaussian_epsilon,
)
from ..arguments import Array, fraction, one_of, positive, whole

RELATIONS = ("add_remove", "replace")
_ORDERS = 1 + np.geomspace(0.05, 500, 60)
_PLACES = {"add_remove": (2.0, 1.0), "replace": (2.0, 0.0)}


def fixed_size_epsilon(
    *,
    noise_multiplier: float,
    batch_size: int,
    samples: int,
    steps: int,
    delta: float,
    relation: str = "replace",
) -> Bracket:
    """Bound the epsilon of batches of fixed size on both sides.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation on the sum over the clip norm; at least 0.04.
    batch_size, samples : int
        B < n.
    steps : int
        At least 1.
    delta : float
        In (0, 1).
    relation : {"replace", "add_remove"}
        The second stands for zeroing one record's contributions out, or putting them back.

    Returns
    -------
    Bracket

    Raises
    ------
    ValueError
        If an argument is out of range.
    ArithmeticError
        If the accuracy is not reached.

    References
    ----------
    Claim wang2026.lemD.7.
    """
    one_of("relation", relation, RELATIONS)
    kappa, count = positive("noise_multiplier", noise_multiplier), whole("steps", steps, 1)
    delta, sizes = fraction("delta", delta), {"batch_size": batch_size, "samples": samples}
    attained = count * np.asarray(
        fixed_size_rdp_lower(noise_multiplier=kappa, orders=_ORDERS, **sizes)
    )
    each = [
        float(rdp_to_epsilon(orders=[a], rdp=[r], delta=delta))
        for a, r in zip(_ORDERS, attained, strict=True)
    ]
    best = int(np.argmin(each))
    ends = np.log(_ORDERS[[max(best - 4, 0), min(best + 1, len(_ORDERS) - 1)]] - 1)

    def certified(log_order: float) -> float:
        order = [1 + exp(log_order)]
        rdp = count * np.asarray(fixed_size_rdp(noise_multiplier=kappa, orders=order, **sizes))
        return float(rdp_to_epsilon(orders=order, rdp=rdp, delta=delta))

    found = minimize_scalar(
        certified, bounds=tuple(ends), method="bounded", options={"xatol": 0.01}
    )
    shift = 2.0 if relation == "replace" else 1.0
    upper = min(
        float(found.fun),
        float(gaussian_epsilon(mu=shift * sqrt(count) / kappa, delta=delta)),
    )
    share = batch_size / samples
    lower = float(
        subsampled_gaussian_epsilon(
            noise_multiplier=kappa / shift, sampling_probability=share, steps=count, delta=delta
        )
    )
    if relation == "add_remove":
        p, q = (_mixture(kappa, share, place) for place in _PLACES[relation])
        lower = max(lower, composed_epsilon_lower(p=p, q=q, times=count, delta=delta))
    return Bracket(lower, upper)


def shuffled_epsilon(
    *,
    noise_multiplier: float,
    batch_size: int,
    samples: int,
    steps: int,
    delta: float,
    relation: str = "add_remove",
) -> Bracket:
    """Bound the epsilon of shuffled epochs on both sides.

    Parameters
    ----------
    noise_multiplier, batch_size, samples, steps, delta, relation
        As in `fixed_size_epsilon`. Where B does not divide n, both bounds hold whether epochs
        keep the last, smaller batch or drop it. A started epoch counts from above and not from
        below.

    Returns
    -------
    Bracket

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> epochs = {"noise_multiplier": 1.0, "batch_size": 500, "samples": 50_000, "steps": 3000}
    >>> [round(end, 1) for end in shuffled_epsilon(**epochs, delta=1e-6)]
    [17.6, 40.3]
    """
    one_of("relation", relation, RELATIONS)
    count, n = whole("steps", steps, 1), whole("samples", samples, 1)
    batch_size = whole("batch_size", batch_size, 1)
    if batch_size > n:
        raise ValueError(f"batch_size must be at most samples = {n}, got {batch_size}")
    delta, sigma = fraction("delta", delta), positive("noise_multiplier", noise_multiplier)
    shift = 2.0 if relation == "replace" else 1.0
    whole_batches, rest = divmod(n, batch_size)
    started = ceil(count / whole_batches)
    upper = float(gaussian_epsilon(mu=shift * sqrt(started) / sigma, delta=delta))
    if whole_batches == 1 and rest == 0:
        return Bracket(upper, upper)
    readings = {(ceil(n / batch_size), 1.0), (whole_batches, 1 - rest / n)}
    lower = []
    for batches, present in readings:
        epochs = count // batches
        proved = 0.0
        if epochs:
            for law in (_largest, _total):
                p, q = (law(sigma, batches, present, place) for place in _PLACES[relation])
                found = composed_epsilon_lower(p=p, q=q, times=epochs, delta=delta)
                proved = max(proved, found)
        lower.append(proved)
    return Bracket(min(lower), upper)


def _mixture(noise: float, share: float, place: float) -> Array:
    """Return the law of (1 - share) N(0, noise^2) + share N(place, noise^2) on cells."""
    cells = np.linspace(-12 * noise, 2 + 12 * noise, 2**15)
    return (1 - share) * _masses(log_ndtr(cells / noise)) + share * _masses(
        log_ndtr((cells - place) / noise)
    )


def _total(noise: float, batches: int, present: float, place: float) -> Array:
    """Return the law of the sum of the releases of an epoch on cells."""
    return _mixture(noise * sqrt(batches), present, place)


def _largest(noise: float, batches: int, present: float, place: float) -> Array:
    """Return the law of the largest release of an epoch on cells."""
    cells = np.linspace(-12 * noise, 2 + 14 * noise, 2**15)
    quiet = log_ndtr(cells / noise)
    loud = _masses((batches - 1) * quiet + log_ndtr((cells - place) / noise))
    return present * loud + (1 - present) * _masses(batches * quiet)


def _masses(log_below: Array) -> Array:
    """Return the chances of the cells between points, from ln P(X <= x), without cancellation."""
    below = np.concatenate([[0.0], np.exp(log_below), [1.0]])
    above = np.concatenate([[1.0], -np.expm1(log_below), [0.0]])
    return np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
