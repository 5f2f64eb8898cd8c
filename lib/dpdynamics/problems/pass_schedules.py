r"""Learning-rate schedules of one pass: :math:`\tilde\eta(t)` on [0, 1], with exact integrals.

Time is t = k/n, the share of the records that was used; the algorithm's step size is
:math:`\eta_k = \tilde\eta(k/n)/n`.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import LARGEST, Array, nonnegative_array, positive, positive_array, together, whole
from .schedules import Schedule


@runtime_checkable
class PassSchedule(Schedule, Protocol):
    r"""A learning rate :math:`\tilde\eta(t)` on [0, 1] that also knows its square's integral."""

    def square_integral(self, t: ArrayLike) -> Array:
        r""":math:`\int_0^t\tilde\eta^2(s)\,ds`, elementwise."""


def as_pass_schedule(schedule: PassSchedule) -> PassSchedule:
    """Return the schedule if it is one."""
    if not isinstance(schedule, PassSchedule):
        raise ValueError(f"schedule must be a schedule of one pass, got {schedule!r}")
    return schedule


@dataclass(frozen=True, eq=False)
class PolynomialDecay:
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

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`\tilde\eta_0(1 - (1-t)^{\alpha+1})/(\alpha+1)`, elementwise."""
        return np.asarray(self.initial * self._integral(t, self.exponent))

    def square_integral(self, t: ArrayLike) -> Array:
        r""":math:`\tilde\eta_0^2(1 - (1-t)^{2\alpha+1})/(2\alpha+1)`, elementwise."""
        exponent = 2 * self.exponent
        return np.asarray(np.square(self.initial) * self._integral(t, exponent))

    def square_decrease(self, t: ArrayLike) -> Array:
        r""":math:`-\frac d{dt}\tilde\eta^2(t) = \rho\tilde\sigma^2(t)`, can be inf at 1."""
        exponent = 2 * self.exponent
        with np.errstate(divide="ignore"):
            power = (1 - _unit_interval(t)) ** np.where(exponent > 0, exponent - 1, 0.0)
        return np.asarray(exponent * np.square(self.initial) * power)

    def step_sizes(self, steps: int) -> Array:
        r"""Step sizes (n, ...) :math:`\eta_k = \tilde\eta(k/n)/n`, k = 1, ..., n = `steps`."""
        steps = whole("steps", steps, minimum=1)
        ndim = np.broadcast(self.initial, self.exponent).ndim
        return self(np.arange(1, steps + 1).reshape(-1, *(1,) * ndim) / steps) / steps

    @staticmethod
    def _integral(t: ArrayLike, exponent: Array) -> Array:
        with np.errstate(divide="ignore"):  # the logarithm at t = 1
            return -np.expm1((exponent + 1) * np.log1p(-_unit_interval(t))) / (exponent + 1)


@dataclass(frozen=True, eq=False)
class InverseTimeDecay:
    r"""The schedule :math:`\tilde\eta(t) = s/(t + q)` of one pass, t in [0, 1].

    `scale` is :math:`s\ge0`, `offset` is :math:`q > 0`; both may be arrays, which broadcast
    against each other and against t. As :math:`s, q\to\infty` with a common ratio it becomes
    constant.
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

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`s\log(1 + t/q)`, elementwise."""
        return np.asarray(self.scale * np.log1p(nonnegative_array("t", t) / self.offset))

    def square_integral(self, t: ArrayLike) -> Array:
        r""":math:`s^2t/(q(t + q))`, elementwise."""
        t = nonnegative_array("t", t)
        return np.asarray((self.scale / self.offset) ** 2 * t / (1 + t / self.offset))

    def step_sizes(self, steps: int) -> Array:
        r"""Step sizes (n, ...) :math:`\eta_k = \tilde\eta(k/n)/n`, k = 1, ..., n = `steps`."""
        steps = whole("steps", steps, minimum=1)
        ndim = np.broadcast(self.scale, self.offset).ndim
        return self(np.arange(1, steps + 1).reshape(-1, *(1,) * ndim) / steps) / steps


@dataclass(frozen=True, eq=False)
class CappedDecay:
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

    def integral(self, t: ArrayLike) -> Array:
        r""":math:`\int_0^t\min\{\tilde\eta, cap\}`, elementwise."""
        until = self._until()
        late = self.decay.integral(np.maximum(t, until)) - self.decay.integral(until)
        return np.asarray(self.cap * np.minimum(t, until) + late)

    def square_integral(self, t: ArrayLike) -> Array:
        r""":math:`\int_0^t\min\{\tilde\eta, cap\}^2`, elementwise."""
        until, square = self._until(), self.decay.square_integral
        late = square(np.maximum(t, until)) - square(until)
        return np.asarray(self.cap**2 * np.minimum(t, until) + late)

    def _until(self) -> Array:
        """Return the time at which the schedule falls below the cap."""
        flat = np.where(self.decay.initial > self.cap, 0.0, 1.0)
        power = 1 / np.where(self.decay.exponent > 0, self.decay.exponent, 1.0)
        left = (self.cap / np.maximum(self.decay.initial, self.cap)) ** power
        return np.asarray(1 - np.where(self.decay.exponent > 0, left, flat))


def _unit_interval(t: ArrayLike) -> Array:
    t = nonnegative_array("t", t)
    if np.any(t > 1):
        raise ValueError(f"t must lie in [0, 1], got a maximum of {t.max()}")
    return t
