"""Pairs of distributions that a release may have, and the law of their privacy loss (PLD)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import factorial, logsumexp, ndtri

from ..arguments import Array, elementwise, one_of, orders_array, plain, positive, probability
from ..numerics.inversion import (
    LARGE,
    SLOW,
    Complex,
    Cumulants,
    InversionError,
    log_mgf_of_losses,
)

NOTHING = np.zeros(0)
Seen = tuple[Array, Array]  # losses, and log densities or log masses under P
END = 44.0  # an integral leaves out e^-44 = 8e-20 of its largest term
_PRECISION = 34.0  # and is good to e^-34 = 2e-15, times a fineness
_LONGEST = 3_000_000  # nodes
_FLAT = 1e-12  # what no loss in any step may leave of the transform, far up the line
_SPREAD = 1000.0  # largest ratio of two orders less 1 that share a mesh
_SMALL = 4.0  # e^x - 1 - x is summed as a power series up to this |x|
_POWERS = np.arange(2, 30)
_FACTORIALS = factorial(_POWERS)


class Pair(ABC):
    r"""Two distributions P and Q that a release may have: all that composition asks of it.

    With :math:`L=\ln(dP/dQ)` under P, the privacy loss, a class says how L is distributed: by its
    profile and by its moment generating function. `compose` takes pairs, and a run draws its
    steps from a class of them, see `Poisson.noise`; so a new mechanism is one class. In
    dp-accounting the like is a `PrivacyLossDistribution`; rounded to a mesh, as there, it is that
    of `numerics.privacy_loss`.
    """

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest loss, which may be infinite."""
        return -np.inf, np.inf

    @property
    def atoms(self) -> tuple[Array, Array]:
        """Two losses of positive probability, the least and the largest, and these; or nothing."""
        return NOTHING, NOTHING

    @abstractmethod
    def delta(self, epsilon: ArrayLike) -> float | Array:
        r"""Compute the privacy profile :math:`\int(p-e^\varepsilon q)_+`, for any real epsilon."""

    @abstractmethod
    def cumulants(self, steps: int, smallest: float) -> Cumulants:
        r"""Return :math:`\ln E\,e^{zL}` of so many releases, as `numerics.inversion` takes it.

        What lowers delta by much less than `smallest` may be left out.
        """

    def renyi(self, orders: ArrayLike) -> float | Array:
        r"""Compute the Renyi divergence of P from Q at orders :math:`\alpha>1`.

        The error is of the order of :math:`10^{-15}/(\alpha-1)`.
        """

        def at(order: float) -> float:
            z = np.array([order - 1 + 0j])
            return float(self.cumulants(1, 1e-290)(z, 0 * z, 1.0)[0, 0].real) / (order - 1)

        return elementwise(at, orders_array("orders", orders))


@dataclass(frozen=True)
class NoisySum(Pair):
    """A sum of vectors of norm 1 at most, each there with the `sampling_probability`, and noise.

    The scale of the noise is the `noise_multiplier`; `relation` is remove, add or replace.
    """

    noise_multiplier: float
    sampling_probability: float = 1.0
    relation: str = "remove"

    def __post_init__(self) -> None:
        positive("noise_multiplier", self.noise_multiplier)
        probability("sampling_probability", self.sampling_probability)
        one_of("relation", self.relation, ("remove", "add", "replace"))

    def _log_sampled(self, gain: Array) -> Array:
        """Return ln(1 - q + q e^gain), to full relative precision."""
        q = self.sampling_probability
        if q <= 0.5:
            return np.log1p(q * np.expm1(np.minimum(gain, 700.0))) + np.maximum(gain - 700.0, 0.0)
        v = np.maximum(gain, -700.0)
        return np.asarray(v + np.log1p((1 - q) * np.expm1(-v)))


class Part(NamedTuple):
    """A part of the outcomes, mapped on the line of all t.

    `seen` maps t to losses and log densities; `t` (n,) is a rough mesh that holds all mass. At
    height y the parts of the densities that the sample makes turn by the angles y times `angles`,
    of P and Q; otherwise the integrand grows by :math:`e^{by^2/2}` at most up to the `strip`, with
    b the number `bend`.
    """

    seen: Callable[[Array], Seen]
    t: Array
    angles: tuple[float, float]
    strip: float
    bend: float


class OnLine(NoisySum):
    r"""Two laws on the line, by quadrature.

    **Transform.** The trapezoidal rule finds it to rounding, one mesh for many z. A sum 1 - q + qw
    has no zero as long as w turns by less than :math:`\pi`, and its power -n grows by
    :math:`\cos(\theta/2)^{-n}<e^{0.6n\theta^2/2}` at most at the angle :math:`\theta<3`. If an
    integrand grows by :math:`e^{by^2/2}` at height y, the rule of width h is within
    :math:`2e^{by^2/2-2\pi y/h}` of the integral.

    **Renyi divergence.** With :math:`\eta(x) = e^x - 1 - x\ge0`, and since
    :math:`E_P e^{-L} = 1`,

    .. math:: D_{1+s} = \tfrac1s\ln\bigl(1 + sE_P\eta(-L) + E_P\eta(sL)\bigr).

    No term is negative: small divergences, and orders close to 1, keep their digits.
    """

    faintest: ClassVar[float] = 0.0  # the losses of less noise range too far

    @abstractmethod
    def _parts(self, reach: float, tilts: Array) -> list[Part]:
        """Return the outcomes up to so many standard deviations; if inf, as many as tilts need."""

    @abstractmethod
    def _rest(self, mass: float) -> Seen:
        """Return losses that are atoms with their masses; all else has the given mass."""

    def cumulants(self, steps: int, smallest: float) -> Cumulants:
        """Return ln M of `steps` steps in the form that the inversion takes.

        Outcomes that P sees with probability 1e-10 `smallest` at most are left out: without them
        delta falls by no more, and a far hump of the integrand is not mistaken for its peak.
        """
        if self.noise_multiplier < self.faintest:
            raise InversionError(f"noise_multiplier is below {self.faintest}: losses range too far")
        parts = [
            (part, part.seen(part.t)) for part in self._parts(reach_of(steps, smallest), NOTHING)
        ]

        def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
            height = float(np.abs(first.imag).max() + np.abs(second.imag).max())
            tilts = np.array(list(set(first.real.tolist())))
            loss, log_mass = self._law(parts, tilts, height, fineness)
            if loss[-1] == 0 and second.size > 1:  # an atom at no loss
                atom = log_mass[-1] - logsumexp(tilts[0] * loss + log_mass)
                if steps * atom > np.log(_FLAT):
                    raise InversionError(SLOW)
            return steps * log_mgf_of_losses(loss, log_mass, first, second)

        return log_mgf

    def renyi(self, orders: ArrayLike) -> float | Array:
        alphas = orders_array("orders", orders)
        increments = alphas.ravel() - 1
        ranking, values, start = np.argsort(increments), np.empty(increments.size), 0
        while start < increments.size:
            # With too large a range of s a common mesh would lose digits or become too long.
            least = increments[ranking[start]]
            most = min(_SPREAD * least, least + 64 * self.noise_multiplier)
            stop = int(np.searchsorted(increments[ranking], most, "right"))
            rows = ranking[start:stop]
            tilts = np.append(-1.0, increments[rows])
            parts = [(part, part.seen(part.t)) for part in self._parts(np.inf, tilts)]
            # A rare far hump may be all that the terms, of second order in q, see of a large one.
            end = END - 2 * float(np.log(self.sampling_probability))
            law = self._law(parts, tilts, 0.0, 1.0, end)
            values[rows], start = _divergences(increments[rows], *law), stop
        return plain(values.reshape(alphas.shape))

    def _law(
        self,
        parts: list[tuple[Part, Seen]],
        tilts: Array,
        height: float,
        fineness: float,
        end: float = END,
    ) -> Seen:
        """Return losses with log masses under P, for z of real parts `tilts` (n,) or 0.

        The imaginary parts go up to `height`. Atoms come last.
        """
        losses, logs, powers = [], [], np.append(tilts, 0.0)
        turning = max(-1 - float(powers.min()), 0.0), max(float(powers.max()), 0.0)
        for (seen, t, angles, strip, growth), (loss, log_density) in parts:
            exponents = log_density + np.multiply.outer(powers, loss)
            near = (exponents > exponents.max(axis=1, keepdims=True) - end).any(axis=0)
            kept, piece = near[:-1] | near[1:], float(t[1] - t[0])
            slope = float(np.abs(np.diff(loss)[kept]).max()) / piece
            bend = growth + 0.6 * (turning[0] * angles[0] ** 2 + turning[1] * angles[1] ** 2)
            up = min(strip, 3 / max(*angles, 1e-9), (2 * _PRECISION / max(bend, 1e-9)) ** 0.5)
            band = fineness * (_PRECISION / up + bend * up / 2) + 1.1 * height * slope
            count = int(np.ceil(piece * band / (2 * np.pi)))
            if kept.sum() * count > _LONGEST:
                raise InversionError(SLOW if height * slope > band / 2 else LARGE)
            nodes = t[:-1][kept][:, None] + piece / count * np.arange(count)
            loss, log_density = seen(nodes.ravel())
            losses.append(loss)
            logs.append(log_density + np.log(piece / count))
        atoms, masses = self._rest(float(sum(np.exp(log).sum() for log in logs)))
        logs.append(np.log(np.maximum(masses, 1e-300)))
        return np.concatenate([*losses, atoms]), np.concatenate(logs)


def reach_of(steps: int, smallest: float) -> float:
    """Return where a normal law, in each of `steps` steps, leaves 1e-10 `smallest` outside."""
    return -float(ndtri(1e-10 * smallest / steps / 2))


def _divergences(s: Array, loss: Array, log_mass: Array) -> Array:
    """Return D of order 1 + s for s (n,) ascending, with s[-1] <= _SPREAD s[0]."""
    mass, sizes = np.exp(log_mass), np.abs(loss)
    far = sizes > _SMALL
    first = _moments(-loss[~far], mass[~far]).sum()
    first += np.exp(log_mass[far] - loss[far]).sum() + mass[far] @ (loss[far] - 1)

    largest = s[-1]
    far = sizes * largest > _SMALL
    powers = np.exp(np.multiply.outer(np.log(s / largest), _POWERS))
    rest = s * first + powers @ _moments(loss[~far] * largest, mass[~far])
    if not far.any():
        return np.log1p(rest) / s
    log_mass, mass, loss = log_mass[far], mass[far], loss[far]
    rest -= mass.sum() + s * (mass @ loss)
    exponents = np.multiply.outer(s, loss) + log_mass
    top = np.maximum(exponents.max(axis=1), 0)
    exponents -= top[:, None]
    np.maximum(exponents, -700, out=exponents)  # np.exp is slow where it underflows
    total = np.exp(exponents, out=exponents).sum(axis=1) + rest * np.exp(-top)
    return (top + np.log1p(total + np.expm1(-top))) / s


def _moments(x: Array, mass: Array) -> Array:
    """Return the means of x^k/k!, k = 2, 3, ...: those of e^x - 1 - x if |x| <= _SMALL."""
    return mass @ np.vander(x, _POWERS[-1] + 1, increasing=True)[:, 2:] / _FACTORIALS
