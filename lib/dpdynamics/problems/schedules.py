r"""Learning-rate schedules :math:`\gamma(t)` with exact integrals of the rate and of its square.

Time is that of the limit. In Part I it is t = k/d, and the step size is
:math:`\eta_k = \gamma(k/d)/d`. In one pass over n records it is t = k/n in [0, 1], the rate is
written :math:`\tilde\eta`, and the step size is :math:`\eta_k = \tilde\eta(k/n)/n`.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import (
    LARGEST,
    Array,
    nonnegative,
    nonnegative_array,
    positive,
    positive_array,
    together,
    whole,
)


@runtime_checkable
class Schedule(Protocol):
    r"""A nonnegative learning rate that knows the integrals of itself and of its square."""

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\gamma(t)`, elementwise."""

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`\int_0^t\gamma(s)\,ds`, elementwise."""

    def square_integral(self, t: ArrayLike) -> Array:
        r""":math:`\int_0^t\gamma^2(s)\,ds`, elementwise."""


def as_schedule(schedule: "Schedule | float") -> Schedule:
    """Return a schedule unchanged and a number as the constant schedule; else ValueError."""
    if isinstance(schedule, Schedule):
        return schedule
    return Constant(nonnegative("schedule", schedule))


class _Rate(Schedule):
    """Integrals and step sizes of a rate whose powers have the integrals `_area`."""

    def _area(self, t: Array, power: int) -> Array:
        raise NotImplementedError

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`\int_0^t\gamma(s)\,ds`, elementwise."""
        return np.asarray(self._area(nonnegative_array("t", t), 1))

    def square_integral(self, t: ArrayLike) -> Array:
        r""":math:`\int_0^t\gamma^2(s)\,ds`, elementwise."""
        return np.asarray(self._area(nonnegative_array("t", t), 2))

    def step_sizes(self, steps: int) -> Array:
        r"""Step sizes (n, ...) of one pass, :math:`\tilde\eta(k/n)/n`, k = 1, ..., n = `steps`."""
        steps = whole("steps", steps, minimum=1)
        t = np.arange(1, steps + 1) / steps
        return self(t.reshape(-1, *(1,) * self(1.0).ndim)) / steps


@dataclass(frozen=True)
class Constant(_Rate):
    r"""The schedule :math:`\gamma(t) = \gamma_0`, with `value` in [0, inf)."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", nonnegative("value", self.value))

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\gamma(t)`, elementwise."""
        return np.full_like(nonnegative_array("t", t), self.value)

    def _area(self, t: Array, power: int) -> Array:
        return self.value**power * t


@dataclass(frozen=True)
class ExponentialDecay(_Rate):
    r"""The schedule :math:`\gamma(t) = \gamma_0e^{-rt}`, with `initial` >= 0 and `rate` r > 0."""

    initial: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial", nonnegative("initial", self.initial))
        object.__setattr__(self, "rate", positive("rate", self.rate))

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\gamma(t)`, elementwise."""
        return self.initial * np.exp(-self.rate * nonnegative_array("t", t))

    def _area(self, t: Array, power: int) -> Array:
        rate = power * self.rate
        return -(self.initial**power) * np.expm1(-rate * t) / rate


@dataclass(frozen=True)
class PowerDecay(_Rate):
    r"""The schedule :math:`\gamma(t) = \gamma_0(1 + t/\tau)^{-p}`.

    `initial` is :math:`\gamma_0\ge0`, `timescale` is :math:`\tau>0`, `power` is :math:`p\ge0`.
    """

    initial: float
    timescale: float
    power: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial", nonnegative("initial", self.initial))
        object.__setattr__(self, "timescale", positive("timescale", self.timescale))
        object.__setattr__(self, "power", nonnegative("power", self.power))

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\gamma(t)`, elementwise."""
        stretched = np.log1p(nonnegative_array("t", t) / self.timescale)
        return self.initial * np.exp(-self.power * stretched)

    def _area(self, t: Array, power: int) -> Array:
        stretched, gap = np.log1p(t / self.timescale), 1 - power * self.power
        growth = stretched if gap == 0 else np.expm1(gap * stretched) / gap
        return self.initial**power * self.timescale * growth


@dataclass(frozen=True, eq=False)
class PolynomialDecay(_Rate):
    r"""The schedule :math:`\tilde\eta(t) = \tilde\eta_0(1 - t)^\alpha` of one pass, t in [0, 1].

    `initial` is :math:`\tilde\eta_0\ge0`, `exponent` is :math:`\alpha\in[0,10^6]`; both may be
    arrays, which broadcast against each other and against t. Its square has bounded first and
    second derivatives for :math:`\alpha\in\{0, \frac12\}\cup[1, \infty)` (claim bombari2025.eq5.1).
    """

    initial: Array
    exponent: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial", nonnegative_array("initial", self.initial))
        # of a larger one the powers of 1 - t, which is rounded, have no correct digits
        exponent = nonnegative_array("exponent", self.exponent, largest=1e6)
        object.__setattr__(self, "exponent", exponent)
        together(initial=self.initial, exponent=exponent)

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\tilde\eta(t)`, elementwise."""
        return np.asarray(self.initial * (1 - _unit_interval(t)) ** self.exponent)

    def _area(self, t: Array, power: int) -> Array:
        exponent = power * self.exponent + 1
        with np.errstate(divide="ignore"):  # the logarithm at t = 1
            left = np.expm1(exponent * np.log1p(-_unit_interval(t)))
        return -(self.initial**power) * left / exponent

    def square_decrease(self, t: ArrayLike) -> Array:
        r""":math:`-\frac d{dt}\tilde\eta^2(t) = \rho\tilde\sigma^2(t)`, can be inf at 1."""
        exponent = 2 * self.exponent
        with np.errstate(divide="ignore"):
            power = (1 - _unit_interval(t)) ** np.where(exponent > 0, exponent - 1, 0.0)
        return np.asarray(exponent * np.square(self.initial) * power)


@dataclass(frozen=True, eq=False)
class InverseTimeDecay(_Rate):
    r"""The schedule :math:`\tilde\eta(t) = s/(t + q)`.

    `scale` is :math:`s\ge0`, `offset` is :math:`q > 0`; both may be arrays, which broadcast
    against each other and against t.
    """

    scale: Array
    offset: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", nonnegative_array("scale", self.scale))
        object.__setattr__(self, "offset", positive_array("offset", self.offset))
        together(scale=self.scale, offset=self.offset)
        if np.any(self.scale / LARGEST > self.offset):  # squares of the ratio would overflow
            raise ValueError(f"offset must be at least scale / {LARGEST:g}, got {self.offset}")

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\tilde\eta(t)`, elementwise."""
        return np.asarray(self.scale / (nonnegative_array("t", t) + self.offset))

    def _area(self, t: Array, power: int) -> Array:
        if power == 1:
            return self.scale * np.log1p(t / self.offset)
        return (self.scale / self.offset) ** 2 * t / (1 + t / self.offset)


@dataclass(frozen=True, eq=False)
class CappedDecay(_Rate):
    r"""A polynomial schedule whose gradients see at most `cap`, whose private noise does not.

    In the limit this is what the adaptive step does: gradients move with
    :math:`\min\{\tilde\eta, 2/\gamma\}`, and the noise follows :math:`\tilde\eta`. Calling it
    gives :math:`\tilde\eta(t)`; the integrals are those of :math:`\min\{\tilde\eta, cap\}`.
    """

    decay: PolynomialDecay
    cap: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "cap", positive("cap", self.cap))

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\tilde\eta(t)`, elementwise."""
        return self.decay(t)

    def _area(self, t: Array, power: int) -> Array:
        initial, exponent = self.decay.initial, self.decay.exponent
        root = 1 / np.where(exponent > 0, exponent, 1.0)
        left = (self.cap / np.maximum(initial, self.cap)) ** root
        flat = np.where(initial > self.cap, 0.0, 1.0)
        until = 1 - np.where(exponent > 0, left, flat)  # then the schedule falls below the cap
        late = self.decay._area(np.maximum(t, until), power) - self.decay._area(until, power)
        return self.cap**power * np.minimum(t, until) + late


def _unit_interval(t: ArrayLike) -> Array:
    t = nonnegative_array("t", t)
    if np.any(t > 1):
        raise ValueError(f"t must lie in [0, 1], got a maximum of {t.max()}")
    return t
