r"""The Gaussian mechanism on batches of fixed size, drawn without replacement.

B of n records are drawn, :math:`q=B/n`, and the sum of their vectors of norm at most C is released
with noise of standard deviation :math:`\kappa C`. Lengths are in units of C.

**Neighbours.** A batch of fixed size takes another record when it leaves one out. If all other
records hold the vector g, and the record in question holds u, or v in the neighbour, then, seen
from the sum Bg of a batch without it,

.. math:: P = (1-q)N(0,\kappa^2) + qN(u-g,\kappa^2),\qquad Q = (1-q)N(0,\kappa^2)+qN(v-g,\kappa^2).

Zero others, g = 0, are not the worst: with opposite ones the record's vector counts twice. What no
data exceed, at any level of one step, is the dominating pair of `without_replacement`.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import LARGEST, SMALLEST, nonnegative_array, orders_array, plain, whole, within
from ..divergence.without_replacement import WithoutReplacement
from ..numerics.privacy_loss import composed_epsilon_upper
from . import many_steps
from .poisson import DIRECTIONS, Poisson, bounded_below
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
        if self.steps > 1:
            return super().delta(noise_multiplier=noise_multiplier, epsilon=epsilon)
        eps, pairs = nonnegative_array("epsilon", epsilon), self._pairs(noise_multiplier)
        value = plain(np.max([np.asarray(pair.delta(eps)) for pair in pairs], axis=0))
        return Bracket(value, value)

    def _delta_bound(self, noise: float, epsilon: float, side: int) -> float:
        if side > 0:
            return self._above("delta", noise, epsilon=epsilon)
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
        k = within("noise_multiplier", noise_multiplier, WithoutReplacement.faintest, LARGEST)
        alphas = orders_array("orders", orders)
        found = np.max([np.asarray(pair.renyi(alphas)) for pair in self._pairs(k)], axis=0)
        upper = self.steps * np.minimum(found, (self._shift / k) ** 2 * alphas / 2)
        lower = self._poisson.rdp(noise_multiplier=k / self._shift, orders=alphas)
        return Bracket(plain(np.minimum(lower, upper)), plain(upper))

    @property
    def _shift(self) -> float:
        return 2.0 if self.relation == "replace" else 1.0

    @property
    def _poisson(self) -> Poisson:
        return Poisson(sampling_probability=self.batch_size / self.samples, steps=self.steps)

    @property
    def _dominating(self) -> Poisson:
        return replace(self._poisson, relation=self.relation, noise=WithoutReplacement)

    def _pairs(self, noise: float) -> list[WithoutReplacement]:
        share = self.batch_size / self.samples
        return [WithoutReplacement(noise, share, name) for name in DIRECTIONS[self.relation]]

    def _above(self, verb: str, noise: float, rough: bool = False, **at: float) -> float:
        """Return the least bound of plain releases, the dominating pair and, if not rough, many."""
        steps, pairs = self.steps, self._pairs(noise)
        plainly = Poisson(sampling_probability=1.0, steps=steps, relation=self.relation)
        found = [getattr(plainly, verb)(noise_multiplier=noise, **at)]
        try:
            found.append(getattr(self._dominating, verb)(noise_multiplier=noise, **at))
        except ArithmeticError:
            if verb == "epsilon":
                with suppress(ArithmeticError):
                    above = [composed_epsilon_upper(pair, steps, at["delta"]) for pair in pairs]
                    found.append(max(above))
        if not rough:
            many = getattr(many_steps, f"{verb}_above")
            share = self.batch_size / self.samples
            found.append(max(many(pair.relation, noise, share, steps, **at) for pair in pairs))
        return float(min(found))

    def _below(self, verb: str, noise: float, **at: float) -> float:
        """Ask Poisson samples, where their answer is known."""
        with suppress(ArithmeticError):
            pair = noise / self._shift
            return float(getattr(self._poisson, verb)(noise_multiplier=pair, **at))
        return 0.0

    def _bound(self, noise: float, delta: float, side: int, rough: bool = False) -> float:
        if side < 0 and self.steps > 1:
            return self._attacked(noise, delta, rough)
        return self._above("epsilon", noise, rough, delta=delta)

    def _attacked(self, noise: float, delta: float, rough: bool) -> float:
        """Return the epsilon that the pairs prove; a rough one on coarse cells."""
        pairs = self._pairs(max(noise, SMALLEST))  # to less noise an attacker may add some
        if rough:
            return max(bounded_below(pair, self.steps, delta, 2**12, 2**10) for pair in pairs)
        proved = self._below("epsilon", noise, delta=delta)
        if proved and self.relation == "replace":
            return proved
        return max(proved, bounded_below(pairs[0], self.steps, delta))
