r"""The Laplace mechanism on all records or on a Poisson sample: one class, as a pair.

In units of the l1 sensitivity, with noise of density :math:`f(x)=e^{-|x|/b}/(2b)` and
:math:`w(x) = 1-q+qe^{(|x|-|x-1|)/b}`,

========== ================= =================
relation   P                 Q
========== ================= =================
remove     f(x) w(x)         f(x)
add        f(x)              f(x) w(-x)
replace    f(x) w(x)         f(x) w(-x)
========== ================= =================

The loss grows with x, and is constant outside of [-1, 1]: these are its two atoms.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from ..arguments import Array, finite_array, plain
from ..numerics.inversion import Complex, Cumulants
from .pairs import END, OnLine, Part, Seen


@dataclass(frozen=True)
class Laplace(OnLine):
    r"""Laplace noise, of scale `noise_multiplier` times the l1 sensitivity to one record.

    Parameters
    ----------
    noise_multiplier : float
        b, positive; the standard deviation is :math:`\sqrt2b`. All records together are
        1/b-private, or 2/b if a record is replaced.
    sampling_probability : float
        q in (0, 1].
    relation : {"remove", "add", "replace"}

    Notes
    -----
    The profile has an absolute error of about 1e-15. A few tens of releases of a sample and more
    compose exactly; fewer are refused, as the transform of the loss decays too slowly.

    Examples
    --------
    >>> round(Laplace(2.0).delta(0.25), 6), Laplace(2.0).delta(0.5)
    (0.117503, 0.0)
    >>> from dpdynamics.accounting import compose
    >>> round(compose((Laplace(20.0), 100)).epsilon(delta=1e-6), 4)
    2.1933
    """

    @property
    def bounds(self) -> tuple[float, float]:
        low, high = self._loss(np.array([-1.0, 1.0])).tolist()
        return low, high

    @property
    def atoms(self) -> tuple[Array, Array]:
        idle, up, _ = self._above(np.array(self._range))
        above = idle + self.sampling_probability * up
        return np.array(self.bounds), np.array([1 - above[0], above[1]])

    def delta(self, epsilon: ArrayLike) -> float | Array:
        eps = finite_array("epsilon", epsilon)
        low, high = self.bounds
        inner = np.clip(eps, low, high)
        # The loss is ln w(x), -ln w(-x) or their sum, where x < 0 or x > 0 leaves one constant.
        mirror = np.where(inner < 0, -1.0, 1.0)
        if self.relation != "replace":
            mirror = np.full_like(inner, 1.0 if self.relation == "remove" else -1.0)
        rest = self._log_w(np.array(-1.0)) if self.relation == "replace" else 0.0
        q = self.sampling_probability
        with np.errstate(divide="ignore"):
            odds = np.log(np.maximum(np.expm1(mirror * inner + rest) + q, 0.0)) - np.log(q)
        place = mirror * np.clip((1 + self.noise_multiplier * odds) / 2, 0.0, 1.0)
        idle, up, down = self._above(place)
        inside = np.maximum(q * (up - np.exp(inner) * down) - np.expm1(inner) * idle, 0.0)
        below = np.where(eps <= low, -np.expm1(np.minimum(eps, 0.0)), inside)
        return plain(np.where(eps >= high, 0.0, below))

    def cumulants(self, steps: int, smallest: float) -> Cumulants:
        if self.sampling_probability < 1:
            return super().cumulants(steps, smallest)
        largest = self.bounds[1]

        def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
            z = first[:, None] + second
            z = np.where(z.real < -0.5, -1 - z, z)  # P and Q are mirror images
            rest, slope = np.exp(-(2 * z + 1) * largest), 4 * z + 2
            near = np.abs(slope) < 1e-8
            inner = np.where(near, largest / 2, (1 - rest) / np.where(near, 1, slope))
            return np.asarray(steps * (z * largest + np.log((1 + rest) / 2 + inner)))

        return log_mgf

    @property
    def _range(self) -> tuple[float, float]:
        """Where the loss grows."""
        return -float(self.relation != "remove"), float(self.relation != "add")

    def _parts(self, reach: float, tilts: Array) -> list[Part]:
        b, (start, end) = self.noise_multiplier, self._range
        angle = 0.64 / b if self.sampling_probability < 1 else 0.0
        angles = angle * (self.relation != "add"), angle * (self.relation != "remove")
        parts = []
        for low in np.arange(start, end):

            def seen(t: Array, low: float = low) -> Seen:
                x = low + expit(t)
                log_density = -np.abs(x) / b - np.log(2 * b) + log_expit(t) + log_expit(-t)
                return self._loss(x), log_density + self._log_first(x)

            # On the strip expit keeps its real part in [0, 1], and 2 x / b turns by 0.64 y / b.
            parts.append(Part(seen, np.arange(-END, END, 0.5), angles, 1.5, 0.0))
        return parts

    def _rest(self, mass: float) -> Seen:
        return self.atoms

    def _loss(self, x: Array) -> Array:
        second = self._log_w(-x) if self.relation != "remove" else 0.0
        return np.asarray(self._log_first(x) - second)

    def _log_first(self, x: Array) -> Array:
        return self._log_w(x) if self.relation != "add" else np.zeros_like(x)

    def _log_w(self, x: Array) -> Array:
        gain = np.clip(2 * x - 1, -1.0, 1.0) / self.noise_multiplier
        return gain if self.sampling_probability == 1 else self._log_sampled(gain)

    def _above(self, x: ArrayLike) -> tuple[Array, Array, Array]:
        """Return P(noise > x), and what the record adds to it under P and under Q."""
        start, end = self._range

        def tail(shift: float) -> Array:
            y = (np.asarray(x) - shift) / self.noise_multiplier
            return np.where(y > 0, np.exp(-np.abs(y)) / 2, 1 - np.exp(-np.abs(y)) / 2)

        return tail(0.0), tail(end) - tail(0.0), tail(start) - tail(0.0)
