r"""Gaussian noise on a sample, as a pair: two mixtures of two normal laws each.

Lengths are in units of the sensitivity, :math:`\sigma` is the noise multiplier and q the sampling
probability. A *place* a stands for the law :math:`(1-q)N(0,\sigma^2)+qN(a,\sigma^2)`. Relative to
the first part its density is, at :math:`x=\sigma u`, with :math:`w(v) = 1-q+qe^v`,

.. math:: w\bigl((u - \tfrac{a}{2\sigma})\tfrac a\sigma\bigr).

The moment generating function of the loss is :math:`\int\phi\,p^{1+z}q^{-z}\,du`, p and q being the
relative densities of P and Q. At height y above the real line its integrand is at most
:math:`e^{y^2/2}` times what it is on the line, but for negative powers, see `pairs.OnLine`: w turns
by the angle :math:`y|a|/\sigma`.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit, log_ndtr

from ..arguments import Array, finite_array, orders_array, plain
from ..numerics.inversion import Complex, Cumulants
from ..numerics.normal_masses import normal_masses
from ..numerics.panels import panels
from ..numerics.privacy_loss import PrivacyLossDistribution, interpolated
from .gaussian import gaussian_delta
from .pairs import END, OnLine, Part, Seen, reach_of

Places = tuple[float, float]

_NEAR = 64  # cells next to the base in which a law may be narrower than a cell
_REACH = 9.5  # where a normal density has fallen by e^-45
_PIECE = 0.5  # of the line, looked at before the mesh is chosen


class SampledNormals(OnLine):
    """A law with place a against one with place b < a; or another such pair for negative losses."""

    @property
    @abstractmethod
    def places(self) -> tuple[Places, Places]:
        """(a, b) for positive losses, and for negative ones with P and Q exchanged."""

    @property
    def mu(self) -> float:
        """How far apart the laws are in units of the noise, if the record takes part."""
        (a, b), _ = self.places
        return (a - b) / self.noise_multiplier

    @property
    def _whole(self) -> bool:
        """Whether both are the same pair, on one axis and its mirror image."""
        (a, b), behind = self.places
        return behind == (-b, -a)

    @property
    def bounds(self) -> tuple[float, float]:
        with np.errstate(divide="ignore"):
            idle = -float(np.log1p(-self.sampling_probability))
        ahead, behind = (np.inf if a else idle for a, _ in self.places)
        return -behind, ahead

    @property
    def base(self) -> float:
        """The loss at which the law has an atom, or of a step that the record has no part in."""
        return next((end for end in self.bounds if abs(end) < np.inf), 0.0)

    def delta(self, epsilon: ArrayLike) -> float | Array:
        eps = finite_array("epsilon", epsilon)
        ahead, behind = (self._profile(*places, np.abs(eps)) for places in self.places)
        below = np.minimum(eps, 0.0)
        return plain(np.where(eps < 0, np.exp(below) * behind - np.expm1(below), ahead))

    def support(self, steps: int, smallest: float) -> tuple[float, float]:
        """Return the range of the losses that `cumulants` keeps."""
        ends = []
        for a, b in self.places:
            last = np.array(reach_of(steps, smallest) + max(a, 0.0) / self.noise_multiplier)
            ends.append(float(self._log(last, a) - self._log(last, b)))
        return -ends[1], ends[0]

    def on_mesh(
        self, mesh: float, lowest: int, highest: int, above: bool = False
    ) -> PrivacyLossDistribution:
        """Put the law of the loss on the points base + j mesh, j = `lowest`...`highest`.

        The spread in a cell is found by quadrature near the base, where the law may be narrower
        than a cell. A few masses may be negative; if `above`, the spread is left in, and the
        profile is nowhere smaller.
        """
        low, high = self.bounds
        lowest = max(lowest, 0) if low > -np.inf else min(lowest, 0)
        highest = min(highest, 0) if high < np.inf else max(highest, 0)
        j, cells, rest = np.arange(lowest, highest + 1.0), [], 1.0
        ahead, behind = self.places
        sides = [(j, ahead, 0)] if self._whole else [(-j[j <= 0], behind, 1), (j[j >= 0], ahead, 0)]
        for ends, places, own in sides:
            distance = mesh * np.abs(j) if self._whole else None
            u = self._place(*places, self.base + mesh * ends, distance)
            both = [self._cells(u, place) for place in places]
            cells.append((both[own], both[1 - own]))
            rest -= self._cells(np.array([u[ends.argmin()], np.inf]), places[own])[0]
        p, other = (np.concatenate(parts) for parts in zip(*cells, strict=True))
        spread = 0 * p if above else p / 6
        if self._whole and not above:
            near = np.abs(j[:-1]) <= _NEAR
            spread[near] = self._spreads(u[:-1][near], u[1:][near], j[:-1][near], mesh)
        law = interpolated(j, p, other, base=self.base, mesh=mesh, spread=spread)
        if not self._whole:
            law.masses[1 - lowest] += rest  # of no loss
        return law

    def _cells(self, u: Array, place: float) -> Array:
        """Return the masses of the law with that place between neighbours."""
        q = self.sampling_probability
        return (1 - q) * normal_masses(u) + q * normal_masses(u - place / self.noise_multiplier)

    def _spreads(self, start: Array, end: Array, j: Array, mesh: float) -> Array:
        """Integrate x (1 - x) under P over cells, x from 0 to 1 being the place of the loss."""
        start, end = np.clip(start, -40.0, 40.0), np.clip(end, -40.0, 40.0)
        u, lengths = panels(np.stack([start, end], axis=-1), 64)
        log_p, log_q = (self._log(u, place) for place in self.places[0])
        x = (log_p - log_q - self.base) / mesh - j[:, None]
        density = np.exp(log_p - u**2 / 2) / np.sqrt(2 * np.pi)
        return np.asarray(np.sum(x * (1 - x) * density * np.abs(lengths), axis=-1))

    def _log(self, u: Array, place: float) -> Array:
        """Return the log density of a law over the standard normal one."""
        if place == 0:
            return np.zeros_like(u)
        shift = place / self.noise_multiplier
        return self._log_sampled((u - shift / 2) * shift)

    def _parts(self, reach: float, tilts: Array) -> list[Part]:
        k, parts, (ahead, behind) = self.noise_multiplier, [], self.places
        for p, q in [ahead] if self._whole else [ahead, behind[::-1]]:
            low, high, start = -reach, reach + max(p, q, 0.0) / k, (p + q) / (2 * k)
            if reach == np.inf:  # the slopes of the log densities tell where an exponent has maxima
                ends = (float(tilts.min()), float(tilts.max()))
                slopes = [(1 + c) * a - c * b for c in ends for a in (0, p / k) for b in (0, q / k)]
                low, high = min(slopes) - _REACH, max(slopes) + _REACH
            if not self._whole:  # t with u = start + ln(1 + e^t) stands for the half line
                low, high = -END, high - start
            piece = _PIECE if reach < np.inf else 4 * _PIECE
            t = piece * np.arange(np.floor(low / piece), np.ceil(high / piece) + 1)

            def seen(t: Array, p: float = p, q: float = q, start: float = start) -> Seen:
                u = t if self._whole else start + np.logaddexp(0.0, t)
                log_p = self._log(u, p)
                log_density = log_p - u**2 / 2 - np.log(2 * np.pi) / 2
                slope = 0.0 if self._whole else log_expit(t)
                return log_p - self._log(u, q), log_density + slope

            angles = abs(p) / k, abs(q) / k
            parts.append(Part(seen, t, angles, np.inf if self._whole else 3.0, 1.0))
        return parts

    def _rest(self, mass: float) -> tuple[Array, Array]:
        return (np.zeros(0), np.zeros(0)) if self._whole else (np.zeros(1), np.array([1 - mass]))

    def _place(self, a: float, b: float, loss: Array, distance: Array | None = None) -> Array:
        """Return the u at which the loss of (a, b) is as given, `distance` from the base."""
        k, q = self.noise_multiplier, self.sampling_probability
        if a == 0:
            return -self._place(-b, 0.0, -loss, distance)
        with np.errstate(divide="ignore", over="ignore"):
            log_odds = np.log1p(-q) - np.log(q)
            if b == 0:  # q e^(a (u - a/2k)/k) = (1 - q) (e^y - 1), y the distance from ln(1 - q)
                y = loss - np.log1p(-q) if distance is None else distance
                return np.asarray(a / (2 * k) + k / a * (_grown(y) + log_odds))
            if b == -a:
                log_x = log_odds + (a / k) ** 2 / 2 + np.log(np.abs(np.sinh(loss / 2)))
                arsinh = np.where(log_x > 20, log_x + np.log(2), np.arcsinh(np.exp(log_x)))
                return np.asarray(k / a * (loss / 2 + np.sign(loss) * arsinh))
            # (2, 1): a quadratic equation for y = e^((x - 3/2)/k^2)
            root = np.logaddexp(2 * loss, np.log(4) + log_odds + _grown(loss) - k**-2)
            return np.asarray(1.5 / k + k * (np.logaddexp(loss, root / 2) - np.log(2)))

    def _profile(self, a: float, b: float, epsilon: Array) -> Array:
        """Return the profile of (a, b) at epsilon >= 0, beyond the one x where the loss is it.

        If P or Q is normal it is the Gaussian profile at an amplified epsilon.
        """
        k, q = self.noise_multiplier, self.sampling_probability
        if q == 1:
            return np.asarray(gaussian_delta(mu=(a - b) / k, epsilon=epsilon))
        if b == 0:
            amplified = np.logaddexp(0.0, _grown(epsilon) - np.log(q))
            return np.asarray(q * gaussian_delta(mu=a / k, epsilon=amplified))
        if a == 0:
            share = -np.expm1(np.minimum(epsilon + np.log1p(-q), 0.0))
            reached = share > 0
            amplified = np.where(reached, epsilon, 0.0) + np.log(q / np.where(reached, share, q))
            return np.asarray(share * gaussian_delta(mu=-b / k, epsilon=amplified))
        u, grown = self._place(a, b, epsilon), _grown(epsilon)
        near, far = log_ndtr(a / k - u), log_ndtr(b / k - u)
        taking_part = q * np.exp(near) * -np.expm1(np.minimum(epsilon + far - near, 0.0))
        return np.asarray(np.maximum(taking_part - (1 - q) * np.exp(grown + log_ndtr(-u)), 0.0))


def _grown(epsilon: Array) -> Array:
    """Return ln(e^epsilon - 1)."""
    with np.errstate(divide="ignore"):
        return np.asarray(epsilon + np.log(-np.expm1(-epsilon)))


@dataclass(frozen=True)
class Gaussian(SampledNormals):
    r"""Gaussian noise, of standard deviation `noise_multiplier` times the l2 sensitivity.

    Against the law with the record, that without it, or with its opposite: places 1 and 0, or -1.

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

    faintest = 1e-4

    @property
    def places(self) -> tuple[Places, Places]:
        taken, left = (1.0, 0.0), (0.0, -1.0)
        if self.relation == "replace":
            return (1.0, -1.0), (1.0, -1.0)
        return (taken, left) if self.relation == "remove" else (left, taken)

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
        return super().renyi(alphas)

    def cumulants(self, steps: int, smallest: float) -> Cumulants:
        if self.sampling_probability < 1:
            return super().cumulants(steps, smallest)

        def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
            z = first[:, None] + second
            return np.asarray(steps * self.mu**2 / 2 * z * (1 + z))

        return log_mgf
