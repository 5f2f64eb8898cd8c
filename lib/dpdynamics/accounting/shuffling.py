r"""What the random place of one record in an epoch is worth.

An epoch of T batches releases T sums with noise :math:`\sigma` (in units of the clip norm). The
record sits in one batch, chosen uniformly, and all other records contribute zero:

.. math:: P = \frac1T\sum_{t=1}^T N(e_t,\sigma^2I_T),\qquad Q = N(0,\sigma^2I_T).

**What is known.** Independent assignment of each record to a batch (balls and bins, also called
random allocation) is dominated by this pair under zero-out and add/remove neighbours, so the
numbers are exact for it. Under a shuffle into batches of equal size the pair is attained, too, but
is a lower bound only: another record takes the free place, and others opposite to the record give
:math:`\frac1T\sum_tN(2e_t,\sigma^2I)` against :math:`\frac1T\sum_tN(e_t,\sigma^2I)`. In a known
order (T = 1 here) the record costs one plain Gaussian release.

**Computation.** The density ratio is the mean :math:`\bar L` of T independent
:math:`L_t = e^{z_t/\sigma-1/(2\sigma^2)}`, :math:`z_t` standard normal under Q, and

.. math::

   H_{e^\varepsilon}(Q\|P) = e^\varepsilon E(e^{-\varepsilon}-\bar L)_+,\qquad
   H_{e^\varepsilon}(P\|Q) = 1 - e^\varepsilon + E(e^\varepsilon-\bar L)_+ :

only the law of the sum below a known level matters. It is found by convolving masses on a mesh,
doubling the number of terms, cut off at that level: nothing wraps around. The mass between mesh
points goes to its two ends such that the mean is kept. This errs upwards (Jensen) by
:math:`O(h^2)`, which meshes of width h and h/2 remove.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import fftconvolve
from scipy.special import ndtr

from ..arguments import Array, elementwise, nonnegative_array, one_of, positive, whole
from .gaussian import gaussian_delta


def random_allocation_delta(
    *,
    noise_multiplier: float,
    batches: int,
    epsilon: ArrayLike,
    relation: str = "add_remove",
    mesh: int = 2**16,
) -> float | Array:
    r"""Compute the privacy profile of one epoch with the record in a random batch.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation on each sum, over the clip norm; positive.
    batches : int
        T, at least 1. With 1 the place is known: one Gaussian release.
    epsilon : number or array
        In [0, inf).
    relation : str
        ``remove`` for :math:`H(P\|Q)`, ``add`` for :math:`H(Q\|P)`, ``add_remove`` for the larger.
        Zeroing out is the same as removing.
    mesh : int
        Points of the coarser mesh, at least 64.

    Returns
    -------
    float or array of the shape of `epsilon`
        In [0, 1], with an absolute error of the order of 1e-10. Exact for balls and bins, a lower
        bound for a shuffle.

    Raises
    ------
    ValueError
        If an argument is out of range.
    ArithmeticError
        If the two meshes differ by more than 1e-9 and a hundredth of the value.

    References
    ----------
    Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang (2024 and 2025); Feldman and Shenfeld
    (2025).

    Examples
    --------
    >>> release = {"noise_multiplier": 0.5, "epsilon": 1.0}
    >>> [round(random_allocation_delta(**release, batches=t), 6) for t in (1, 10, 1000)]
    [0.509862, 0.187449, 0.001277]
    """
    sigma, count = positive("noise_multiplier", noise_multiplier), whole("batches", batches, 1)
    eps, points = nonnegative_array("epsilon", epsilon), whole("mesh", mesh, 64)
    signs = {"add_remove": (1, -1), "remove": (1,), "add": (-1,)}
    one_of("relation", relation, tuple(signs))
    if count == 1:
        return gaussian_delta(mu=1 / sigma, epsilon=eps)
    return elementwise(
        lambda e: max(_delta(sigma, count, sign * e, points) for sign in signs[relation]), eps
    )


def _delta(sigma: float, count: int, level: float, points: int) -> float:
    """Return H(P||Q) at epsilon = `level` if that is nonnegative, else H(Q||P) at -`level`."""
    puts = [_put(sigma, count, count * np.exp(level), n) / count for n in (points, 2 * points)]
    coarse, fine = (
        max(p - np.expm1(level), 0.0) if level >= 0 else p * np.exp(-level) for p in puts
    )
    if abs(coarse - fine) > 1e-9 + 0.01 * fine:
        raise ArithmeticError(f"the mesh is too coarse: {coarse} and {fine} on two meshes")
    return float(np.clip(fine - (coarse - fine) / 3, 0.0, 1.0))


def _put(sigma: float, count: int, level: float, points: int) -> float:
    """Return E(level - S)_+ for the sum S of `count` terms L, on a mesh up to `level`."""
    power = _masses(sigma, level * np.arange(points + 2) / points)
    total = np.ones(1)
    while count:
        if count % 2:
            total = fftconvolve(total, power)[: points + 1]
        count //= 2
        if count:
            power = fftconvolve(power, power)[: points + 1]
    return float(level / points * (total @ np.arange(points, -1, -1)))


def _masses(sigma: float, x: Array) -> Array:
    """Distribute the law of L on the mesh x, keeping mass and mean; without the last point."""
    with np.errstate(divide="ignore"):
        z = sigma * np.log(x) + 1 / (2 * sigma)
    mass, mean = np.diff(ndtr(z)), np.diff(ndtr(z - 1 / sigma))
    right = np.clip(mean / (x[1] - x[0]) - mass * np.arange(mass.size), 0, mass)
    masses = mass - right
    masses[1:] += right[:-1]
    return masses
