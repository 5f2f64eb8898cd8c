r"""The Gaussian mechanism on batches of fixed size, drawn without replacement.

B of n records are drawn, :math:`q=B/n`, and the sum of their vectors of norm at most C is released
with noise of standard deviation :math:`\kappa C`. Lengths are in units of C.

**Neighbours.** A batch of fixed size takes another record when it leaves one out. If all other
records hold the vector g, and the record in question holds u, or v in the neighbour, then, seen
from the sum Bg of a batch without it,

.. math:: P = (1-q)N(0,\kappa^2) + qN(u-g,\kappa^2),\qquad Q = (1-q)N(0,\kappa^2)+qN(v-g,\kappa^2).

Zero others are not the worst: with opposite ones the record's vector counts twice.

========================= ================== ===================================
relation                  zero others, g = 0 opposite others, g = -u, or -v in add
========================= ================== ===================================
replace, u = -v           1 and -1           2 and 0
remove, v = 0             1 and 0            2 and 1
add, u = 0                0 and 1            1 and 2
========================= ================== ===================================

(the places of the second component of P and of Q). Others equal to v give 1 to P alone in ``add``,
what removal gives with zero others, and that is the worst there. What no data exceed, at any level
of one step, is the dominating pair of `without_replacement`.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import nonnegative_array, orders_array, plain, positive, whole
from ..divergence.without_replacement import WithoutReplacement
from ..numerics.normal_masses import mixture_masses
from ..numerics.privacy_loss import composed_epsilon_lower, composed_epsilon_upper
from . import many_steps
from .poisson import Poisson
from .runs import BoundedRun, Bracket, no_other_number


@dataclass(frozen=True, kw_only=True)
class FixedSize(BoundedRun):
    r"""Independent Gaussian noise on batches of fixed size, drawn without replacement: bounds.

    One step is exact. From above, steps compose as their dominating pair does, and for a hundred
    or more `many_steps` has a better bound. From below, for "replace" as the pair (2, 0); for
    "zero_out" as the pair (2, 1) or as Poisson samples, which are (1, 0), zero others, whichever is
    more.

    Parameters
    ----------
    batch_size, samples : int
        B < n.
    steps : int
        Number of releases, each of a fresh batch; at least 1.
    relation : {"replace", "zero_out"}
        One record replaced, or its contributions zeroed out or put back. Another number of records
        is not covered.

    References
    ----------
    Balle, Barthe and Gaboardi (2018), theorem on sampling without replacement; claim
    wang2026.lemD.7.

    Examples
    --------
    >>> run = FixedSize(batch_size=500, samples=50_000, steps=3000)
    >>> [round(end, 1) for end in run.epsilon(noise_multiplier=1.0, delta=1e-6)]
    [24.9, 25.6]
    """

    batch_size: int
    samples: int
    steps: int = 1
    relation: str = "replace"

    def __post_init__(self) -> None:
        for name in ("batch_size", "samples", "steps"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1))
        if self.batch_size >= self.samples:
            got = f"{self.batch_size} and {self.samples}"
            raise ValueError(f"batch_size must be below samples, got {got}")
        no_other_number(self.relation, "batches of fixed size")

    def delta(self, *, noise_multiplier: float, epsilon: ArrayLike) -> Bracket:
        k = positive("noise_multiplier", noise_multiplier)
        eps = nonnegative_array("epsilon", epsilon)
        if self.steps == 1:
            pairs = self._dominating().pairs(noise_multiplier=k)
            value = plain(np.max([np.asarray(pair.delta(eps)) for pair in pairs], axis=0))
            return Bracket(value, value)
        return super().delta(noise_multiplier=k, epsilon=eps)

    def _delta_bound(self, noise: float, epsilon: float, side: int) -> float:
        if side > 0:
            found = self._above("delta", noise, epsilon=epsilon)
            return min(found, self._many("delta", noise, epsilon=epsilon))
        further = 0.0 if self._shift == 2 else super()._delta_bound(noise, epsilon, side)
        return max(self._below("delta", noise, epsilon=epsilon), further)

    def rdp(self, *, noise_multiplier: float, orders: ArrayLike) -> Bracket:
        r"""Bound the Renyi divergence of the run.

        That of the dominating pair from above, that of a Poisson sample from below.

        Parameters
        ----------
        noise_multiplier : float
            :math:`\kappa`, at least 0.02.
        orders : number or array
            :math:`\alpha > 1`, not only whole.

        Returns
        -------
        Bracket
            Of the shape of `orders`; the upper end is at most that of plain releases.
        """
        k, alphas = positive("noise_multiplier", noise_multiplier), orders_array("orders", orders)
        if k < WithoutReplacement.faintest:
            least = WithoutReplacement.faintest
            raise ValueError(f"noise_multiplier must be at least {least}, got {k}")
        steps, pairs = self.steps, self._dominating().pairs(noise_multiplier=k)
        found = np.max([np.asarray(pair.renyi(alphas)) for pair in pairs], axis=0)
        upper = steps * np.minimum(found, (self._shift / k) ** 2 * alphas / 2)
        lower = self._poisson().rdp(noise_multiplier=k / self._shift, orders=alphas)
        return Bracket(plain(np.minimum(lower, upper)), plain(upper))

    @property
    def _share(self) -> float:
        return self.batch_size / self.samples

    @property
    def _shift(self) -> float:
        return 2.0 if self.relation == "replace" else 1.0

    def _poisson(self) -> Poisson:
        return Poisson(sampling_probability=self._share, steps=self.steps)

    def _dominating(self) -> Poisson:
        return Poisson(
            sampling_probability=self._share,
            steps=self.steps,
            relation=self.relation,
            noise=WithoutReplacement,
        )

    def _above(self, verb: str, noise: float, **at: float) -> float:
        """Ask plain releases and, where it is known, the dominating pair; the less is a bound."""
        plainly = Poisson(sampling_probability=1.0, steps=self.steps, relation=self.relation)
        found = float(getattr(plainly, verb)(noise_multiplier=noise, **at))
        try:
            exact = getattr(self._dominating(), verb)(noise_multiplier=noise, **at)
            return min(found, float(exact))
        except ArithmeticError:
            if verb == "delta":
                return found
        directions = ("replace",) if self.relation == "replace" else ("remove", "add")
        pairs = [WithoutReplacement(noise, self._share, name) for name in directions]
        with suppress(ArithmeticError):
            above = [composed_epsilon_upper(pair, self.steps, at["delta"]) for pair in pairs]
            found = min(found, max(above))
        return found

    def _many(self, verb: str, noise: float, **at: float) -> float:
        """Ask `many_steps`."""
        bound, run = getattr(many_steps, f"{verb}_above"), (noise, self._share, self.steps)
        names = ("replace",) if self.relation == "replace" else ("remove", "add")
        return max(float(bound(name, *run, **at)) for name in names)

    def _below(self, verb: str, noise: float, **at: float) -> float:
        """Ask Poisson samples, where their answer is known."""
        with suppress(ArithmeticError):
            pair = noise / self._shift
            return float(getattr(self._poisson(), verb)(noise_multiplier=pair, **at))
        return 0.0

    def _bound(self, noise: float, delta: float, side: int, rough: bool = False) -> float:
        if side < 0 and self.steps > 1:
            return self._attacked(noise, delta, rough)
        found = self._above("epsilon", noise, delta=delta)
        return found if rough else min(found, self._many("epsilon", noise, delta=delta))

    def _attacked(self, noise: float, delta: float, rough: bool) -> float:
        """Return the epsilon that the pairs prove; a rough one on coarse cells."""

        def composed(places: tuple[float, float], points: int, cells: int) -> float:
            p, q = (mixture_masses(noise, self._share, place, points) for place in places)
            return composed_epsilon_lower(p=p, q=q, times=self.steps, delta=delta, cells=cells)

        if rough:
            pairs = [(2.0, 0.0)] if self.relation == "replace" else [(2.0, 1.0), (1.0, 0.0)]
            return max(composed(places, 2**12, 2**10) for places in pairs)
        proved = self._below("epsilon", noise, delta=delta)
        if self.relation == "replace":
            return proved or composed((2.0, 0.0), 2**15, 2**13)
        return max(proved, composed((2.0, 1.0), 2**15, 2**13))
