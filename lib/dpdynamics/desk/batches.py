r"""What is known of batches that are not Poisson samples: a bound on either side.

**Fixed size.** B of n records without replacement, fresh in each step; `fixed_size` of the
accounting room has the pairs. *Replace one*: from above the exact profile of a step, composed as
Renyi divergences, or no amplification at all; from below the composition of the pair that opposite
others attain, a Poisson sample at half the noise multiplier. *Zero out*: a record of zero
contribution is one of the records that may be exchanged, so the same holds from above; from below,
with zero others, a Poisson sample.

**Shuffled epochs.** Each record once an epoch, in a fresh random order. From above no
amplification: a record takes part at most once an epoch, at a place that the attacker may know.
From below, for zero-out neighbours and zero others, the largest of three tests.

* One epoch alone, exactly (`random_allocation_delta`; if the last batch is smaller its place is not
  uniform, but by convexity a uniform place reveals least).
* The sum of all releases, :math:`N(E, E T\sigma^2)` against :math:`N(0, E T\sigma^2)` in E epochs
  of T batches.
* In each epoch, whether the largest of the T releases exceeds a level: a binomial count over E
  epochs, with chance :math:`1-\Phi(\frac{c-1}\sigma)\Phi(\frac c\sigma)^{T-1}` against
  :math:`1-\Phi(\frac c\sigma)^T`, at the best of many levels c.

Under replacement opposite others double the distance: the same at half the noise multiplier.
"""

from math import ceil, exp, log, sqrt

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betaln, log_ndtr

from ..accounting import (
    Bracket,
    fixed_size_rdp,
    fixed_size_rdp_lower,
    gaussian_epsilon,
    random_allocation_delta,
    rdp_to_epsilon,
    subsampled_gaussian_epsilon,
)
from ..arguments import Array, fraction, one_of, positive, whole

RELATIONS = ("add_remove", "replace")
_ORDERS = 1 + np.geomspace(0.05, 500, 60)


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
    lower = subsampled_gaussian_epsilon(
        noise_multiplier=kappa / shift,
        sampling_probability=batch_size / samples,
        steps=count,
        delta=delta,
    )
    return Bracket(float(lower), upper)


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
        As in `fixed_size_epsilon`. Where B does not divide n, the value from above is also for
        epochs that drop the last, smaller batch; that from below is for epochs that keep it. A
        started epoch counts from above and not from below.

    Returns
    -------
    Bracket

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang (2024).
    """
    one_of("relation", relation, RELATIONS)
    count, n = whole("steps", steps, 1), whole("samples", samples, 1)
    if not 1 <= whole("batch_size", batch_size, 1) <= n:
        raise ValueError(f"batch_size must lie in [1, {n}], got {batch_size}")
    delta = fraction("delta", delta)
    sigma = positive("noise_multiplier", noise_multiplier) / (2 if relation == "replace" else 1)
    batches = ceil(n / batch_size)
    epochs = count // batches
    started = ceil(count / (n // batch_size))
    upper = float(gaussian_epsilon(mu=sqrt(started) / sigma, delta=delta))
    if batches == 1:
        return Bracket(upper, upper)
    if epochs == 0:
        return Bracket(0.0, upper)
    total = float(gaussian_epsilon(mu=sqrt(epochs / batches) / sigma, delta=delta))
    counted = _count_epsilon(sigma, batches, epochs, delta)
    alone = _one_epoch(sigma, batches, delta, max(total, counted))
    return Bracket(max(total, counted, alone), upper)


def _one_epoch(sigma: float, batches: int, delta: float, floor: float) -> float:
    """Return epsilon of one epoch, or 0 where it is below `floor`."""

    def excess(epsilon: float) -> float:
        return (
            float(
                random_allocation_delta(
                    noise_multiplier=sigma, batches=batches, epsilon=epsilon, mesh=2**13
                )
            )
            / delta
            - 1
        )

    try:
        if floor > 700 or excess(floor) <= 0:  # beyond, exp overflows
            return 0.0
        high = float(gaussian_epsilon(mu=1 / sigma, delta=delta))
        root = float(brentq(excess, floor, high, xtol=1e-4))
        return max(root - 1e-3, 0.0)
    except ArithmeticError:  # the mesh is too coarse: the other tests remain
        return 0.0


def _count_epsilon(sigma: float, batches: int, epochs: int, delta: float) -> float:
    """Return the largest epsilon that counting the epochs with a high release proves."""
    levels = np.linspace(0.0, 1.0, 97) * (1 + 8 * sigma)
    quiet = batches * log_ndtr(levels / sigma)
    seen = quiet + log_ndtr((levels - 1) / sigma) - log_ndtr(levels / sigma)
    counts = np.arange(epochs + 1)
    ways = -log(epochs + 1) - betaln(counts + 1, epochs - counts + 1)
    p, q = (  # of so many loud epochs, as logarithms: either chance may underflow
        ways + counts * np.log(-np.expm1(x)) + (epochs - counts) * x
        for x in (np.minimum(silent, -1e-300)[:, None] for silent in (seen, quiet))
    )

    def proved(epsilon: float) -> float:
        return max(_stick(p, q, epsilon), _stick(q, p, epsilon)) / delta - 1

    if proved(0.0) <= 0:
        return 0.0
    high = 1.0
    while proved(high) > 0 and high < 1e4:
        high *= 2
    if proved(high) > 0:
        return high
    root = float(brentq(proved, 0.0, high, xtol=1e-6))
    return max(root - 1e-5, 0.0)


def _stick(p: Array, q: Array, epsilon: float) -> float:
    """Return the largest hockey-stick divergence of the rows, logarithms of probabilities."""
    larger = epsilon + q < p
    gap = np.where(larger, epsilon + q - np.where(larger, p, 0.0), 0.0)
    return float((np.exp(p) * -np.expm1(gap)).sum(axis=1).max())
