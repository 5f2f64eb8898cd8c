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
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from ..arguments import (
    Array,
    finite_array,
    nonnegative_array,
    one_of,
    orders_array,
    plain,
    positive,
    whole,
)
from ..numerics.normal_masses import log_normal_mass, mixture_masses
from .composition_below import composed_epsilon_lower
from .conversions import rdp_to_delta, rdp_to_epsilon
from .gaussian import gaussian_delta, gaussian_epsilon
from .poisson import Poisson
from .quadrature import renyi_divergence_quadrature
from .runs import BoundedRun, Bracket, zero_out_or_replace
from .without_replacement import FAINTEST, WithoutReplacement

_ORDERS = 1 + np.geomspace(0.05, 500, 120)  # a factor of 1.08 in order - 1 apart
_GIVEN = 1e-4  # of delta, spent on outcomes that `cumulants` leaves out
_PLACES = {
    ("replace", "zero"): (1.0, -1.0),
    ("replace", "opposite"): (2.0, 0.0),
    ("remove", "zero"): (1.0, 0.0),
    ("remove", "opposite"): (2.0, 1.0),
    ("add", "zero"): (0.0, 1.0),
    ("add", "opposite"): (1.0, 2.0),
}


class FixedSizePair(NamedTuple):
    """Outputs P and Q of one step on neighbours, on the line of the record's vector.

    With k the `noise_multiplier` and q the `sampling_probability`, P is (1-q) N(0, k^2) +
    q N(`place_p`, k^2), and Q likewise.
    """

    noise_multiplier: float
    sampling_probability: float
    place_p: float
    place_q: float

    def log_p(self, x: Array) -> Array:
        """Return the log density of P at x."""
        return self._log_density(x, self.place_p)

    def log_q(self, x: Array) -> Array:
        """Return the log density of Q at x."""
        return self._log_density(x, self.place_q)

    def renyi(self, order: float) -> float:
        """Compute the Renyi divergence of P from Q, in [0, inf), by quadrature.

        Raises ValueError or ArithmeticError as `renyi_divergence_quadrature` does.
        """
        return renyi_divergence_quadrature(
            self.log_p, self.log_q, order, scale=self.noise_multiplier, center=0.5
        ).value

    def delta(self, epsilon: float) -> float:
        """Compute sup P(A) - e^epsilon Q(A), with an absolute error of the order of 1e-14.

        The set A is bounded by the roots of ln(p/q) = epsilon, which are found on a mesh. Masses
        are kept in logarithms: where epsilon is large, those of Q are below the smallest float.

        Raises ValueError if epsilon is not a finite number.
        """
        level = float(finite_array("epsilon", epsilon, ndim=0))

        def excess(x: Array) -> Array:
            return self.log_p(x) - self.log_q(x) - level

        k, q = self.noise_multiplier, self.sampling_probability
        x = np.linspace(-2 - 12 * k, 3 + 12 * k, 4001)
        changes = np.flatnonzero(np.diff(np.sign(excess(x))))
        roots = [brentq(excess, x[i], x[i + 1], xtol=1e-15) for i in changes]
        edges = np.array([-np.inf, *roots, np.inf])
        log_p, log_q = (
            np.logaddexp(
                np.log1p(-q) + log_normal_mass(edges / k),
                np.log(q) + log_normal_mass((edges - place) / k),
            )
            for place in (self.place_p, self.place_q)
        )
        with np.errstate(invalid="ignore"):  # an interval without mass counts nothing
            log_ratio = np.where(np.isneginf(log_p), 0.0, level + log_q - log_p)
        return float((np.exp(log_p) * -np.expm1(np.minimum(log_ratio, 0.0))).sum())

    def _log_density(self, x: Array, place: float) -> Array:
        k, q = self.noise_multiplier, self.sampling_probability
        with np.errstate(divide="ignore"):
            log_mixture = np.logaddexp(
                np.log1p(-q) - (x / k) ** 2 / 2, np.log(q) - ((x - place) / k) ** 2 / 2
            )
        return np.asarray(log_mixture - np.log(k) - np.log(2 * np.pi) / 2)


def fixed_size_pair(
    *,
    noise_multiplier: float,
    batch_size: int,
    samples: int,
    relation: str = "replace",
    others: str = "opposite",
) -> FixedSizePair:
    """Build outputs of one step on neighbours, from the table at the head of this file.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation on the sum, over the clip norm; positive.
    batch_size, samples : int
        B and n, 1 <= B < n.
    relation : str
        ``replace``; ``remove`` for zeroing the record out, ``add`` for the way back.
    others : str
        What the other records hold: ``zero``, or ``opposite`` to the record in question.

    Returns
    -------
    FixedSizePair
        Attained by explicit data, so each divergence of P from Q is a lower bound of the
        mechanism's.

    Examples
    --------
    Zero others understate the cost of zeroing a record out:

    >>> step = {"noise_multiplier": 1.0, "batch_size": 1, "samples": 100, "relation": "remove"}
    >>> for others in ("zero", "opposite"):
    ...     print(f"{fixed_size_pair(**step, others=others).delta(1.0):.2e}")
    2.73e-09
    1.69e-04
    """
    k, q = _checked(noise_multiplier, batch_size, samples)
    one_of("relation", relation, ("replace", "remove", "add"))
    one_of("others", others, ("zero", "opposite"))
    return FixedSizePair(k, q, *_PLACES[relation, others])


@dataclass(frozen=True, kw_only=True)
class FixedSize(BoundedRun):
    r"""Independent Gaussian noise on batches of fixed size, drawn without replacement: bounds.

    One step is exact. From above, steps compose as their dominating pair does, exactly, or a few of
    them, up to about a hundred, as its Renyi divergences. From below, for "replace" as the pair
    (2, 0); for "zero_out" as the pair (2, 1) or as Poisson samples, which are (1, 0), zero others,
    whichever is more.

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
    [24.9, 29.0]
    """

    batch_size: int
    samples: int
    steps: int = 1
    relation: str = "replace"

    def __post_init__(self) -> None:
        _checked(1.0, self.batch_size, self.samples)
        for name in ("batch_size", "samples", "steps"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1))
        zero_out_or_replace(self.relation, "batches of fixed size")

    def delta(self, *, noise_multiplier: float, epsilon: ArrayLike) -> Bracket:
        k = positive("noise_multiplier", noise_multiplier)
        eps = nonnegative_array("epsilon", epsilon)
        if self.steps == 1:
            value = self._dominating().delta(noise_multiplier=k, epsilon=eps)
            return Bracket(value, value)
        return super().delta(noise_multiplier=k, epsilon=eps)

    def _delta_bound(self, noise: float, epsilon: float, side: int) -> float:
        if side < 0:
            proved: float | Array = 0.0
            with suppress(ArithmeticError):
                proved = self._poisson().delta(
                    noise_multiplier=noise / self._shift, epsilon=epsilon
                )
            further = 0.0 if self._shift == 2 else super()._delta_bound(noise, epsilon, side)
            return max(float(proved), further)
        plain_releases = gaussian_delta(mu=self._shift * sqrt(self.steps) / noise, epsilon=epsilon)
        try:
            found = self._dominating().delta(noise_multiplier=noise, epsilon=epsilon)
        except ArithmeticError:
            found = self._delta_by_renyi(noise, epsilon)
        return float(min(plain_releases, found))

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
        if k < FAINTEST:
            raise ValueError(f"noise_multiplier must be at least {FAINTEST}, got {k}")
        upper = self._divergence(k, alphas)
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

    def _bound(self, noise: float, delta: float, side: int, rough: bool = False) -> float:
        if side < 0 and self.steps > 1:
            return self._attacked(noise, delta, rough)
        plain_releases = gaussian_epsilon(mu=self._shift * sqrt(self.steps) / noise, delta=delta)
        try:
            found = self._dominating().epsilon(noise_multiplier=noise, delta=delta)
        except ArithmeticError:
            rdp = self._most(noise, delta)
            found = rdp_to_epsilon(orders=_ORDERS, rdp=rdp, delta=delta * (1 - _GIVEN))
        return float(min(plain_releases, found))

    def _attacked(self, noise: float, delta: float, rough: bool) -> float:
        """Return the epsilon that the pairs prove; a rough one on coarse cells."""

        def composed(places: tuple[float, float], points: int, cells: int) -> float:
            p, q = (mixture_masses(noise, self._share, place, points) for place in places)
            return composed_epsilon_lower(p=p, q=q, times=self.steps, delta=delta, cells=cells)

        if rough:
            pairs = [(2.0, 0.0)] if self.relation == "replace" else [(2.0, 1.0), (1.0, 0.0)]
            return max(composed(places, 2**12, 2**10) for places in pairs)
        proved = 0.0
        with suppress(ArithmeticError):
            pair = noise / self._shift
            proved = float(self._poisson().epsilon(noise_multiplier=pair, delta=delta))
        if self.relation == "replace":
            return proved
        return max(proved, composed((2.0, 1.0), 2**15, 2**13))

    def _delta_by_renyi(self, noise: float, epsilon: float) -> float:
        best, near = 1.0, 1e-3
        for _ in range(4):
            rdp = self._most(noise, near)
            found = float(rdp_to_delta(orders=_ORDERS, rdp=rdp, epsilon=epsilon))
            best, near = min(best, found + _GIVEN * near), max(found, 1e-290)
        return best

    def _most(self, noise: float, delta: float) -> Array:
        """Return divergences of the dominating pair, but for outcomes of so much `delta`."""
        if noise < FAINTEST:
            return np.full_like(_ORDERS, inf)
        z, axis = (_ORDERS - 1).astype(np.complex128), np.zeros(1, dtype=np.complex128)
        logs = [
            pair.cumulants(self.steps, 1e10 * _GIVEN * delta)(z, axis, 1.0)[:, 0].real
            for pair in self._dominating().pairs(noise_multiplier=noise)
        ]
        return np.asarray(np.max(logs, axis=0) / (_ORDERS - 1))

    def _divergence(self, noise: float, orders: Array) -> Array:
        pairs = self._dominating().pairs(noise_multiplier=noise)
        found = np.max([np.asarray(pair.renyi(orders)) for pair in pairs], axis=0)
        return np.minimum(self.steps * found, self._shift**2 * self.steps * orders / (2 * noise**2))


def _checked(noise_multiplier: float, batch_size: int, samples: int) -> tuple[float, float]:
    """Return the noise multiplier and the sampling probability."""
    k = positive("noise_multiplier", noise_multiplier)
    b, n = whole("batch_size", batch_size, 1), whole("samples", samples, 2)
    if b >= n:
        raise ValueError(f"batch_size must be below samples, got {b} and {n}")
    return k, b / n
