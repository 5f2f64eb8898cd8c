r"""Privacy of the last iterate when the earlier ones stay hidden.

**The process.** :math:`x_t = \Pi\bigl(\phi_t(x_{t-1}) + \eta\sigma Z_t\bigr)` with
:math:`\phi_t(x) = x - \eta\nabla F_t(x)`, a projection :math:`\Pi` on a convex set (or none) and
independent standard normal :math:`Z_t`. The neighbour runs
:math:`\phi'_t` from the same start, with :math:`\|\nabla F_t-\nabla F'_t\|\le\Delta_t` everywhere.
For m-strongly convex and beta-smooth losses :math:`\phi_t` contracts distances by
:math:`c = \max(|1-\eta m|, |1-\eta\beta|)`.

**The bound** (shifted divergences, Feldman et al. 2018). Start with a shift :math:`z_\tau` that
costs nothing: 0 at the common start :math:`\tau=0`, or the diameter D at any later step if
:math:`\Pi` projects on a set of diameter D.
For every plan :math:`a_t\ge0` with :math:`z_t = cz_{t-1} + \eta\Delta_t - a_t\ge0`, :math:`z_T=0`,

.. math:: D_\alpha(x_T\|x'_T)\le\frac{\alpha}{2\eta^2\sigma^2}\sum_{t>\tau}a_t^2 .

The plan :math:`a_t = \eta\Delta_t` from the start is composition; the one that costs least
solves blocks of steps by least squares, each ended with z = 0, and merges blocks as long as the
slopes do not increase (pool adjacent violators).

**Tradeoff.** By the coupling of :mod:`~dpdynamics.accounting.one_pass`, with these shifts, the pair
is at least as hard to tell apart as N(mu, 1) and N(0, 1), mu^2 being the bound at order 2.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import (
    Array,
    nonnegative,
    nonnegative_array,
    number,
    orders_array,
    plain,
    positive,
    whole,
)


def hidden_state_rdp(
    *,
    step_size: float,
    smoothness: float,
    sensitivity: ArrayLike,
    noise_std: float,
    steps: int,
    orders: ArrayLike,
    strong_convexity: float = 0.0,
    diameter: float = np.inf,
) -> float | Array:
    r"""Bound the Renyi divergence of the last iterates of noisy gradient descent on neighbours.

    The update is :math:`x\leftarrow\Pi(x - \eta(\nabla F_t(x) + \sigma Z))`. The batches are fixed
    beforehand (all data, or cyclic); random batches are not covered. The bound holds in both
    directions, never exceeds composition, and without a diameter is attained by a quadratic loss of
    curvature (1 - c)/eta whenever one block is optimal, as it is for a constant sensitivity.

    Parameters
    ----------
    step_size : float
        :math:`\eta`, positive, at most 2/smoothness.
    smoothness : float
        :math:`\beta`, positive: Lipschitz constant of every gradient, of both neighbours.
    sensitivity : float or (steps,) array
        :math:`\Delta_t`, nonnegative: how far the gradients of neighbours differ, at any point, in
        each step. It states the neighbouring relation: 2C/n for the mean of n gradients
        of norm at most C when a record is replaced, C/n when it is zeroed out; 0 in the steps whose
        batch lacks the record (take the worst place of the record).
    noise_std : float
        :math:`\sigma`, positive: noise added to the gradient, per coordinate and step.
    steps : int
        T, at least 1.
    orders : number or array
        :math:`\alpha > 1`.
    strong_convexity : float
        m, in [0, smoothness].
    diameter : float
        Diameter of the set projected on, positive; inf without projection.

    Returns
    -------
    float or array of the shape of `orders`
        In [0, inf).

    References
    ----------
    Feldman, Mironov, Talwar and Thakurta (2018); Chourasia, Ye and Shokri (2021); Altschuler and
    Talwar (2022); Altschuler, Bok and Talwar (2024).

    Examples
    --------
    A convex loss on a set of diameter D costs at most :math:`2\alpha D\Delta/(\eta\sigma^2)`, for
    ever:

    >>> problem = {"step_size": 0.1, "smoothness": 1.0, "sensitivity": 0.01, "noise_std": 1.0}
    >>> round(hidden_state_rdp(**problem, diameter=0.1, steps=1000, orders=2.0), 12)
    0.04
    >>> round(hidden_state_rdp(**problem, steps=1000, orders=2.0), 12)
    0.1
    """
    eta, beta = positive("step_size", step_size), positive("smoothness", smoothness)
    m = nonnegative("strong_convexity", strong_convexity)
    if m > beta:
        raise ValueError(f"strong_convexity must be at most smoothness, got {m} and {beta}")
    if eta * beta > 2:
        raise ValueError(f"step_size must be at most 2/smoothness, got {eta} and {2 / beta}")
    if not number("diameter", diameter) > 0:
        raise ValueError(f"diameter must be positive, got {diameter}")
    std, length = positive("noise_std", noise_std), whole("steps", steps, 1)
    shifts = nonnegative_array("sensitivity", sensitivity)
    if shifts.shape not in ((), (length,)):
        raise ValueError(f"sensitivity must have shape () or ({length},), got {shifts.shape}")
    alpha = orders_array("orders", orders)
    contraction = max(abs(1 - eta * m), abs(1 - eta * beta))
    cost = _least_cost(
        np.broadcast_to(shifts / std, length), contraction, float(diameter) / (eta * std)
    )
    return plain(alpha / 2 * cost)


def _least_cost(shifts: Array, contraction: float, diameter: float) -> float:
    """Return the least sum of squares of a plan, with shifts and diameter in units of the noise.

    A block is how many steps it plans together, the shift that they remove and their clock, both
    weighed at its end.
    """
    blocks: list[tuple[int, float, float]] = []  # of the steps after t, the next one last
    costs = [0.0]  # of the last k blocks

    def joined(shift: float) -> tuple[tuple[int, float, float], int, float]:
        """Let a step absorb the next blocks as long as the slope falls, or stays, to the next."""
        length, clock, kept = 1, 1.0, len(blocks)
        while kept:
            steps, further, later = blocks[kept - 1]
            weight = contraction**steps
            if shift / clock < weight * further / later:
                break
            shift, clock = weight * shift + further, weight**2 * clock + later
            length, kept = length + steps, kept - 1
        # The square of the shift is inf where a power would raise.
        return (length, shift, clock), kept, costs[kept] + shift * shift / clock

    best = np.inf
    for shift in shifts[::-1].tolist():
        if diameter < np.inf:
            best = min(best, joined(contraction * diameter + shift)[2])
        block, kept, cost = joined(shift)
        blocks[kept:], costs[kept + 1 :] = [block], [cost]
    return min(best, costs[-1])
