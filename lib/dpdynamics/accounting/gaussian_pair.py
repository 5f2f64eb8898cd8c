r"""The Gaussian mechanism on all records or on a Poisson sample, as a pair.

With noise of standard deviation :math:`\sigma` per unit of l2 sensitivity and sampling probability
q, in units of the noise, the worst pairs are

========== ================================== ==================================
relation   P                                  Q
========== ================================== ==================================
remove     :math:`(1-q)N(0) + qN(1/\sigma)`   :math:`N(0)`
add        :math:`N(0)`                       :math:`(1-q)N(0) + qN(1/\sigma)`
replace    :math:`(1-q)N(0) + qN(1/\sigma)`   :math:`(1-q)N(0) + qN(-1/\sigma)`
========== ================================== ==================================

With :math:`w(u) = 1 - q + qe^{(u - 1/2\sigma)/\sigma}` and a, b the densities of P and Q relative
to the standard normal density :math:`\phi` (each is 1, w(u) or w(-u)), the moment generating
function of the loss is :math:`\int\phi\,a^{1+z}b^{-z}\,du`, entire in z. The trapezoidal rule finds
it to rounding: the integrand is analytic in a strip of half-width :math:`\pi\sigma`, where w has
its zeros.
"""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike
from scipy.special import ndtr

from ..arguments import Array, finite_array, orders_array, plain
from ..numerics.convolution import interpolated
from ..numerics.inversion import Complex, Cumulants, InversionError
from ..numerics.normal_masses import normal_masses
from .gaussian import gaussian_delta
from .pairs import NoisySum, reach_of
from .subsampled_rdp import renyi_divergences

_NEAR = 64
_NODES, _WEIGHTS = leggauss(64)
_WORK = 3e8  # products in one evaluation of the transform


@dataclass(frozen=True)
class Gaussian(NoisySum):
    r"""Gaussian noise, of standard deviation `noise_multiplier` times the l2 sensitivity.

    Parameters
    ----------
    noise_multiplier : float
        :math:`\sigma`, positive.
    sampling_probability : float
        q in (0, 1].
    relation : {"remove", "add", "replace"}

    Examples
    --------
    >>> round(Gaussian(1.0, 0.1).delta(0.5), 6)
    0.002033
    """

    @property
    def mu(self) -> float:
        """How far apart the laws are in units of the noise, if the record takes part."""
        return (2 if self.relation == "replace" else 1) / self.noise_multiplier

    @property
    def base(self) -> float:
        """The loss of a step that the record has no part in, up to a small rest."""
        with np.errstate(divide="ignore"):
            idle = float(np.log1p(-self.sampling_probability))
        return {"remove": idle, "add": -idle, "replace": 0.0}[self.relation]

    @property
    def bounds(self) -> tuple[float, float]:
        return (
            self.base if self.relation == "remove" else -np.inf,
            self.base if self.relation == "add" else np.inf,
        )

    def renyi(self, orders: ArrayLike) -> float | Array:
        r"""Compute the Renyi divergence of P from Q at orders :math:`\alpha>1`.

        The relative error is below 1e-10, most often 1e-13 (values above 1e-290). With sampling,
        the noise multiplier is at least 0.01, orders are at most a million times it, and the
        relation is not "replace"; else a ValueError is raised.
        """
        sigma, alphas = self.noise_multiplier, orders_array("orders", orders)
        if self.sampling_probability == 1:
            return plain(alphas * self.mu**2 / 2)
        if self.relation == "replace":
            raise ValueError("relation must not be replace with sampling: no divergence is known")
        if sigma < 0.01:
            raise ValueError(f"noise_multiplier must be at least 0.01, got {sigma}")
        if alphas.size and alphas.max() > 1e6 * sigma:
            raise ValueError("orders must not exceed a million times noise_multiplier")
        added = self.relation == "add"
        return plain(renyi_divergences(alphas, sigma, self.sampling_probability, added))

    def cumulants(self, steps: int, smallest: float) -> Cumulants:
        """Return ln M of `steps` steps in the form that the inversion takes.

        Outcomes that P sees with probability 1e-10 `smallest` at most are left out: without them
        delta falls by no more, and a far hump of the integrand is not mistaken for its peak.
        """
        if self.sampling_probability == 1:
            return self._full(steps)
        if self.noise_multiplier < 1e-4:
            raise InversionError(
                "the losses range too far for a mesh: noise_multiplier is below 1e-4"
            )
        reach = reach_of(steps, smallest)

        def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
            height = float(np.abs(first.imag).max() + np.abs(second.imag).max())
            u = self._grid(first.real.min(), first.real.max(), height, fineness, reach)
            if u.size * first.size * second.size > _WORK:
                raise InversionError("the transform of the privacy loss decays too slowly")
            log_a, log_b = self._log_ratios(u)
            loss = log_a - log_b
            # The weights are those of P, which add up to 1: dividing by their sum cancels the
            # rounding in them, which many steps would amplify.
            tilt, weights = first[:, None] * loss, log_a - u**2 / 2
            shift = np.zeros((first.size, 1))
            if np.abs(tilt.real).max() > 500:
                shift = (tilt + weights).real.max(axis=1, keepdims=True)
            with np.errstate(under="ignore", divide="ignore"):
                near = not shift.any()
                far = np.exp(tilt) * np.exp(weights) if near else np.exp(tilt + weights - shift)
                values = far @ np.exp(np.multiply.outer(loss, second)) / np.exp(weights).sum()
                return np.asarray(steps * (np.log(values) + shift))

        return log_mgf

    def _full(self, steps: int) -> Cumulants:
        def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
            z = first[:, None] + second
            return np.asarray(steps * self.mu**2 / 2 * z * (1 + z))

        return log_mgf

    def support(self, steps: int, smallest: float) -> tuple[float, float]:
        """Return the range of the losses that `cumulants` keeps."""
        reach = reach_of(steps, smallest)
        log_a, log_b = self._log_ratios(np.array([-reach, reach + 1 / self.noise_multiplier]))
        low, high = sorted((log_a - log_b).tolist())
        return low, high

    def delta(self, epsilon: ArrayLike) -> float | Array:
        epsilon = finite_array("epsilon", epsilon)
        q, mu = self.sampling_probability, 1 / self.noise_multiplier
        if q == 1:
            return gaussian_delta(mu=self.mu, epsilon=epsilon)
        if self.relation == "replace":
            u = self._edges(epsilon)
            mixed = q * (ndtr(mu - u) - np.exp(epsilon) * ndtr(-mu - u))
            return plain(mixed - (1 - q) * np.expm1(epsilon) * ndtr(-u))
        # Both are the Gaussian profile at an amplified epsilon, as long as the losses reach it.
        if self.relation == "remove":
            reached, other = epsilon > self.base, -np.expm1(epsilon)
            factor = np.full_like(epsilon, q)
            inner = np.where(reached, epsilon, 0.0)
            amplified = np.log(-np.expm1(self.base - inner)) + inner - np.log(q)
        else:
            reached, other = epsilon < self.base, np.zeros_like(epsilon)
            inner = np.where(reached, epsilon, 0.0)
            factor = -np.expm1(inner - self.base)
            amplified = inner + np.log(q) - np.log(factor)
        return plain(np.where(reached, factor * gaussian_delta(mu=mu, epsilon=amplified), other))

    def masses(self, mesh: float, lowest: int, highest: int) -> tuple[int, Array]:
        """Put the law of the loss on the points base + j mesh, j = `lowest`...`highest`.

        The spread in a cell is found by quadrature near the base, where the law may be narrower
        than a cell. Returns the first j and the masses under P, a few of which may be negative.
        """
        if self.relation == "remove":
            lowest = max(lowest, 0)
        elif self.relation == "add":
            highest = min(highest, 0)
        j = np.arange(lowest, highest + 1.0)
        u = self._edges(self.base + mesh * j, mesh * np.abs(j))
        mu, q = 1 / self.noise_multiplier, self.sampling_probability
        idle, shifted = normal_masses(u), normal_masses(u - mu)
        up = (1 - q) * idle + q * shifted
        down = (1 - q) * idle + q * normal_masses(u + mu)
        p, other = {"remove": (up, idle), "add": (idle, up), "replace": (up, down)}[self.relation]
        spread = p / 6
        near = np.abs(j[:-1]) <= _NEAR
        spread[near] = self._spreads(u[:-1][near], u[1:][near], j[:-1][near], mesh)
        return lowest - 1, interpolated(j, p, other, base=self.base, mesh=mesh, spread=spread)

    def _spreads(self, start: Array, end: Array, j: Array, mesh: float) -> Array:
        """Integrate x (1 - x) under P over cells, x from 0 to 1 being the place of the loss."""
        start, end = np.clip(start, -40.0, 40.0), np.clip(end, -40.0, 40.0)
        half = ((end - start) / 2)[:, None]
        u = start[:, None] + half * (1 + _NODES)
        log_a, log_b = self._log_ratios(u)
        x = (log_a - log_b - self.base) / mesh - j[:, None]
        density = np.exp(log_a - u**2 / 2) / np.sqrt(2 * np.pi)
        return np.asarray((x * (1 - x) * density * np.abs(half)) @ _WEIGHTS)

    def _edges(self, loss: Array, distance: Array | None = None) -> Array:
        """Return the u at which the loss is as given, `distance` from the base."""
        s, q = self.noise_multiplier, self.sampling_probability
        log_odds = np.log1p(-q) - np.log(q)
        with np.errstate(divide="ignore", over="ignore"):
            if self.relation == "replace":
                log_x = log_odds + 1 / (2 * s**2) + np.log(np.abs(np.sinh(loss / 2)))
                arsinh = np.where(log_x > 20, log_x + np.log(2), np.arcsinh(np.exp(log_x)))
                return np.asarray(s * (loss / 2 + np.sign(loss) * arsinh))
            y = np.abs(loss - self.base) if distance is None else distance
            return np.asarray(1 / (2 * s) + s * (y + np.log(-np.expm1(-y)) + log_odds))

    def _log_ratios(self, u: Array) -> tuple[Array, Array]:
        if self.relation == "remove":
            return self._log_w(u), np.zeros_like(u)
        if self.relation == "add":
            return np.zeros_like(u), self._log_w(u)
        return self._log_w(u), self._log_w(-u)

    def _log_w(self, u: Array) -> Array:
        s, q = self.noise_multiplier, self.sampling_probability
        return np.asarray(np.logaddexp(np.log1p(-q), np.log(q) + (u - 1 / (2 * s)) / s))

    def _grid(self, low: float, high: float, height: float, fineness: float, reach: float) -> Array:
        """Return nodes for all z with real part 0 or in [low, high], up to `height`."""
        s = self.noise_multiplier
        left, right = 9.5, 9.5
        for c in (low, high):  # the slope of the exponent bounds where its maximum can be
            push = {"remove": 1 + c, "add": -c, "replace": 1 + 2 * c}[self.relation] / s
            left, right = max(left, 9.5 - push), max(right, 9.5 + push)
        rough = np.arange(-min(left, reach), min(right, reach + 1 / s) + 0.25, 0.25)
        log_a, log_b = self._log_ratios(rough)
        loss = log_a - log_b
        kept = np.zeros(rough.size, dtype=bool)
        for c in {0.0, low, high}:
            exponent = log_a - rough**2 / 2 + c * loss
            kept |= exponent > exponent.max() - 44
        first, last = np.flatnonzero(kept)[[0, -1]]
        rough, loss = rough[first : last + 1], loss[first : last + 1]
        slope = float(np.abs(np.diff(loss)).max() / (rough[1] - rough[0]))
        spacing = 2 * np.pi / ((8.7 + 11.5 / s) * fineness + 1.1 * height * slope)
        count = (rough[-1] - rough[0]) / spacing
        if count > _WORK / 100:
            raise InversionError("the transform of the privacy loss decays too slowly")
        return np.asarray(rough[0] + spacing * np.arange(int(count) + 2))
