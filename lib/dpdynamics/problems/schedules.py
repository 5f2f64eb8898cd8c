r"""Learning-rate schedules :math:`\gamma(t)` with their exact integrals :math:`\Gamma(t)`.

Time is the continuous time t = k/d of the homogenised process; the algorithm's step size is
:math:`\eta_k = \gamma(k/d)/d`.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, nonnegative, nonnegative_array, positive


@runtime_checkable
class Schedule(Protocol):
    r"""A nonnegative learning rate :math:`\gamma(t)` on t >= 0 that knows its integral."""

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\gamma(t)`, elementwise."""

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`\Gamma(t) = \int_0^t\gamma(s)\,ds`, elementwise."""


@dataclass(frozen=True)
class Constant:
    r"""The schedule :math:`\gamma(t) = \gamma_0`, with `value` in [0, inf)."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", nonnegative("value", self.value))

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\gamma(t)`, elementwise."""
        return np.full_like(nonnegative_array("t", t), self.value)

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`\Gamma(t) = \gamma_0t`, elementwise."""
        return self.value * nonnegative_array("t", t)


@dataclass(frozen=True)
class ExponentialDecay:
    r"""The schedule :math:`\gamma(t) = \gamma_0e^{-rt}`, with `initial` >= 0 and `rate` r > 0."""

    initial: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial", nonnegative("initial", self.initial))
        object.__setattr__(self, "rate", positive("rate", self.rate))

    def __call__(self, t: ArrayLike) -> Array:
        r""":math:`\gamma(t)`, elementwise."""
        return self.initial * np.exp(-self.rate * nonnegative_array("t", t))

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`\Gamma(t) = \gamma_0(1 - e^{-rt})/r`, elementwise."""
        return -self.initial * np.expm1(-self.rate * nonnegative_array("t", t)) / self.rate


@dataclass(frozen=True)
class PowerDecay:
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

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`\Gamma(t) = \gamma_0\tau\int_0^{\ln(1+t/\tau)}e^{(1-p)v}dv`, elementwise."""
        stretched = np.log1p(nonnegative_array("t", t) / self.timescale)
        gap = 1 - self.power
        growth = stretched if gap == 0 else np.expm1(gap * stretched) / gap
        return self.initial * self.timescale * growth


def as_schedule(schedule: "Schedule | float") -> Schedule:
    """Return a schedule unchanged and a number as the constant schedule.

    Raises
    ------
    ValueError
        If `schedule` is neither a schedule nor a number in [0, inf).
    """
    if isinstance(schedule, Schedule):
        return schedule
    return Constant(nonnegative("schedule", schedule))
