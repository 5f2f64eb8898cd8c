r"""Privacy profiles from the moment generating function of the privacy loss.

Let :math:`L = \ln(dP/dQ)` under P and :math:`M(z) = E_P[e^{zL}] = E_Q[e^{(z+1)L}]`. For c > 0

.. math::

   \delta(\varepsilon) = E_P[(1 - e^{\varepsilon-L})_+]
      = \frac1{2\pi i}\int_{c-i\infty}^{c+i\infty}\frac{M(z)\,e^{-\varepsilon z}}{z(z+1)}\,dz .

The line passes through the saddle point, where tiny values keep their relative accuracy. The
trapezoidal sum with step :math:`2\pi/D` is exactly
:math:`\sum_m\delta(\varepsilon + mD)\,e^{cmD}`. The terms m > 0 are bounded by Chernoff; those with
m < 0 are :math:`(1-e^{\varepsilon+mD})e^{cmD}` up to another Chernoff bound and are subtracted:
this is how the period D is chosen. Derivations are in the chapter on accounting.

Where ln M is known in closed form off the line too, the line may be bent into a hyperbola on which
the integrand falls exponentially (Talbot); that is what laws with slowly decaying M need.
"""

from collections.abc import Callable
from math import cos, expm1, pi, sin
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import Array

Complex = NDArray[np.complexfloating[Any, Any]]
# (first, second, fineness) -> ln M(first[:, None] + second), up to multiples of 2 pi i; a larger
# fineness asks for a finer quadrature where M is computed by one.
Cumulants = Callable[[Complex, Complex, float], Complex]

_AXIS = np.zeros(1, dtype=np.complex128)
_MAX_NODES = 1 << 17
_TINY = 28.0  # tails of e^-28 = 7e-13 are left out
_UNDERFLOW = -700.0  # delta is at most M(c) exp(-c epsilon)
_WORK = 3e8  # products in one evaluation of a transform
SLOW = "the transform of the privacy loss decays too slowly"
LARGE = "the privacy loss is too large for its transform to be inverted"


class InversionError(ArithmeticError):
    """The required accuracy was not reached."""


class Inversion(NamedTuple):
    """A `value` with the estimated absolute `error` of its computation."""

    value: float
    error: float


class Saddle(NamedTuple):
    """A place on the real axis: first two derivatives of ln M there."""

    center: float
    log_mgf: float
    slope: float
    curvature: float

    @property
    def width(self) -> float:
        """How far up the line the integrand reaches when it is nearly Gaussian."""
        total = self.curvature + 1 / self.center / self.center + (1 + self.center) ** -2
        if not 0 < total < np.inf:
            raise InversionError(LARGE)
        return float(total**-0.5)

    @property
    def epsilon(self) -> float:
        """The epsilon whose saddle point this is."""
        return self.slope - 1 / self.center - 1 / (1 + self.center)

    @property
    def log_delta(self) -> float:
        """The saddle-point approximation at that epsilon."""
        c = self.center
        height = self.log_mgf - c * self.epsilon - np.log(c) - np.log1p(c)
        return float(height + np.log(self.width) - np.log(2 * pi) / 2)


def log_mgf_of_losses(
    loss: Array, log_masses: Array, first: Complex, second: Complex, work: float = _WORK
) -> Complex:
    """Return ln M(first[:, None] + second) of finitely many losses, in `work` products at most.

    Dividing by the sum of the masses cancels the rounding in them, which many steps would amplify.
    """
    if loss.size * first.size * second.size > work:
        raise InversionError(SLOW)
    tilt, shift = first[:, None] * loss, np.zeros((first.size, 1))
    if np.abs(tilt.real).max() > 500:
        shift = (tilt + log_masses).real.max(axis=1, keepdims=True)
    with np.errstate(under="ignore", divide="ignore"):
        masses = np.exp(log_masses)
        near = not shift.any()
        far = np.exp(tilt) * masses if near else np.exp(tilt + log_masses - shift)
        values = far @ np.exp(np.multiply.outer(loss, second)) / masses.sum()
        return np.asarray(np.log(values) + shift)


def hockey_stick_inversion(
    cumulants: Cumulants, epsilon: float, *, rtol: float = 1e-8, tail: float = 1e-13
) -> Inversion:
    r"""Compute delta at `epsilon` on a straight line, for an M that is finite everywhere.

    `epsilon` is below the supremum of L; `rtol` is the relative accuracy, and `tail` what may be
    left of the integrand beyond the line, relative to its peak. Raises InversionError if `rtol` is
    not reached: M decays too slowly along the line.
    """
    saddle = saddle_at_epsilon(cumulants, epsilon)
    if saddle.log_mgf - saddle.center * epsilon < _UNDERFLOW:
        return Inversion(0.0, 0.0)
    log_delta, error = _refined(
        cumulants, saddle, epsilon, lambda line: line.log_delta(epsilon)[0], rtol, tail
    )
    value = min(float(np.exp(log_delta)), 1.0)
    return Inversion(value, value * error)


def epsilon_inversion(cumulants: Cumulants, delta: float, *, rtol: float = 1e-8) -> Inversion:
    """Compute the real epsilon at which the profile is `delta`.

    The other arguments and the errors are those of `hockey_stick_inversion`; `rtol` is relative
    to the larger of abs(epsilon) and the distance in which delta falls by a factor e.
    """
    target = float(np.log(delta))
    saddle = saddle_at_delta(cumulants, delta)
    guess = saddle.epsilon
    for _ in range(5):
        line = _Line(cumulants, saddle, guess, 1.0)
        guess = line.epsilon(target, guess)
        if line.log_delta(guess)[2] < 30:
            break
        saddle = saddle_at_epsilon(cumulants, guess)
    tolerance = rtol * max(abs(guess), 1 / saddle.center)
    return Inversion(
        *_refined(cumulants, saddle, guess, lambda line: line.epsilon(target, guess), tolerance)
    )


def hockey_stick_talbot(
    cumulants: Callable[[Complex], Complex],
    epsilon: float,
    *,
    limit: float = np.inf,
    rtol: float = 1e-10,
) -> Inversion:
    r"""Compute delta at `epsilon` on a hyperbola, for ln M in closed form.

    The arms point up, or 30 degrees to the left or right of it, whichever ends soonest.
    `cumulants` is ln M(z) for complex (n,), continued off its singularities on the real axis, and
    finite for 0 < z < `limit`. Raises InversionError if `rtol` is not reached.
    """

    def on_axis(first: Complex, second: Complex, fineness: float) -> Complex:
        return cumulants(first)[:, None] + 0 * second

    saddle = saddle_at_epsilon(on_axis, epsilon, limit)
    center, width = saddle.center, saddle.width
    height = saddle.log_mgf - center * epsilon
    if height < _UNDERFLOW:
        return Inversion(0.0, 0.0)

    def integrand(u: Array, angle: float) -> Complex:
        z = center + width * (sin(angle) * (np.cosh(u) - 1) + 1j * cos(angle) * np.sinh(u))
        direction = width * (sin(angle) * np.sinh(u) + 1j * cos(angle) * np.cosh(u))
        with np.errstate(all="ignore"):
            values = np.exp(cumulants(z) - z * epsilon - height) / (z * (z + 1)) * direction
        return np.where(np.isfinite(values), values, np.inf)

    scan = np.arange(0, 60, 0.125, dtype=np.float64)
    end, angle = np.inf, 0.0
    for candidate in (0.0, pi / 6, -pi / 6):
        sizes = np.abs(integrand(scan, candidate))
        if sizes.max() < 100 * sizes[0]:
            last = scan[np.flatnonzero(sizes > 1e-18 * sizes[0])[-1]] + 0.25
            end, angle = (last, candidate) if last < end else (end, angle)
    previous, count = np.inf, 32
    while end < np.inf and count <= _MAX_NODES:
        values = (
            integrand(np.arange(count + 1.0) * float(end / count), angle).imag * end / (count * pi)
        )
        total = float(values.sum() - values[0] / 2)
        rounding = 1e-15 * (1 + abs(saddle.log_mgf) + abs(center * epsilon))
        error = abs(total - previous) + rounding * float(np.abs(values).sum())
        if error <= rtol * total:
            scale = float(np.exp(height))
            return Inversion(min(total * scale, 1.0), error * scale)
        previous, count = total, 2 * count
    raise InversionError(f"delta at epsilon = {epsilon:g} was not found to {rtol:g}")


def saddle_at_epsilon(cumulants: Cumulants, epsilon: float, limit: float = np.inf) -> Saddle:
    """Return the minimum over c > 0 of ln M(c) - c epsilon - ln(c (c + 1)), a convex function."""

    def equation(s: Saddle) -> tuple[float, float]:
        c = s.center
        share = c / (1 + c)
        return c * (s.slope - epsilon) - 1 - share, 1 + share**2 + c * c * s.curvature

    return _saddle(cumulants, equation, limit)


def saddle_at_delta(cumulants: Cumulants, delta: float) -> Saddle:
    """Return the saddle point where the saddle-point approximation of the profile is `delta`."""
    target = float(np.log(delta))
    return _saddle(cumulants, lambda s: (target - s.log_delta, (s.center / s.width) ** 2))


def _saddle(
    cumulants: Cumulants,
    equation: Callable[[Saddle], tuple[float, float]],
    limit: float = np.inf,
) -> Saddle:
    """Solve an increasing equation (value, derivative in ln c) for c in (0, limit)."""
    low, high = -np.inf, np.log(limit)
    v = min(0.0, high - 0.7)
    for _ in range(200):
        saddle = _at(cumulants, float(np.exp(v)), limit)
        value, derivative = equation(saddle)
        if value > 0:
            high = min(high, v)
        else:
            low = max(low, v)
        step = -value / max(derivative, 1e-300)
        if abs(step) < 0.1 and abs(step * value) < 0.01:
            return saddle
        v += float(np.clip(step, -3.0, 3.0))
        if not low < v < high:
            v = (low + high) / 2
        if high - low < 1e-9 * (1 + abs(high)) or abs(v) > 600:
            return saddle
    return saddle


def _at(cumulants: Cumulants, center: float, limit: float) -> Saddle:
    """Find the slope from a tiny step up the line, the curvature from two slopes."""
    step, up = min(0.01 * center, 0.1 * (limit - center)), 1e-8 * center
    points = center + np.array([-step, 0.0, step]) + 1j * up
    values = cumulants(points, _AXIS, 1.0)[:, 0]
    slopes = values.imag / up
    curvature = max(float(slopes[2] - slopes[0]) / (2 * step), 0.0)
    return Saddle(center, float(values[1].real), float(slopes[1]), curvature)


def _refined(
    cumulants: Cumulants,
    saddle: Saddle,
    epsilon: float,
    read: Callable[["_Line"], float],
    tolerance: float,
    tail: float = 1e-13,
) -> tuple[float, float]:
    """Refine the line and the quadrature of M together until two values agree."""
    previous, error = np.inf, np.inf
    # An error e^-a becomes e^-1.25a: the first step tells whether the digits are there.
    for fineness in (1.0, 1.25, 1.6, 2.0, 3.0):
        line = _Line(cumulants, saddle, epsilon, fineness, tail)
        value = read(line)
        error = abs(value - previous) + line.log_delta(epsilon)[2] * line.rounding
        if error <= tolerance:
            return value, error
        previous = value
    raise InversionError(f"accuracy {error:.1e} instead of {tolerance:.1e}")


class _Line:
    """The transform on a vertical line, sampled as finely as the profile near epsilon needs."""

    def __init__(
        self,
        cumulants: Cumulants,
        saddle: Saddle,
        epsilon: float,
        fineness: float,
        tail: float = 1e-13,
    ) -> None:
        self.center = saddle.center
        self.period = fineness * _period(cumulants, saddle, epsilon)
        self.step = 2 * pi / self.period
        self.rounding = 1e-15 * (1 + abs(saddle.log_mgf) + abs(self.center * epsilon))
        reach = 8 * fineness * saddle.width  # where a Gaussian has fallen by e^-32
        while True:
            count = int(np.ceil(reach / self.step)) + 2
            if count > _MAX_NODES:
                raise InversionError(SLOW)
            columns = int(np.ceil(np.sqrt(count)))
            rows = self.center + 1j * self.step * columns * np.arange(-(-count // columns))
            grid = 1j * self.step * np.arange(columns)
            self.z = (rows[:, None] + grid).ravel()
            log_values = cumulants(rows, grid, fineness).ravel()
            self.log_mgf = float(log_values[0].real)
            with np.errstate(under="ignore"):
                weights = np.exp(log_values - self.log_mgf) / (self.z * (self.z + 1))
            weights[0] /= 2
            self.weights = weights * self.step / pi
            sizes = np.abs(self.weights)
            if sizes[-1 - len(sizes) // 8 :].max() * len(sizes) < tail * sizes.max():
                return
            reach *= 1.6  # until the last eighth of the line is below the tail

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """Return ln delta, its derivative in epsilon, and the cancellation in the sum."""
        height = self.log_mgf - self.center * epsilon
        terms = self.weights * np.exp(-1j * self.z.imag * epsilon)
        left = self.center * self.period
        first = np.exp(-left - height) / -expm1(-left)
        right = left + self.period
        second = np.exp(epsilon - right - height) / -expm1(-right)
        total = float(terms.real.sum() - first + second)
        if not total > 0:
            raise InversionError("delta is lost in rounding")
        slope = float(-(terms * self.z).real.sum() + second) / total
        return height + np.log(total), slope, float(np.abs(terms).sum() + first) / total

    def epsilon(self, log_delta: float, guess: float) -> float:
        """Solve for epsilon by Newton's method."""
        epsilon = guess
        for _ in range(50):
            value, slope, _ = self.log_delta(epsilon)
            change = (log_delta - value) / min(slope, -1e-3 * self.center)
            epsilon += float(np.clip(change, -3 / self.center, 3 / self.center))
            if abs(change) <= 1e-13 * max(abs(epsilon), 1 / self.center):
                return epsilon
        raise InversionError("epsilon was not found on the line")


def _period(cumulants: Cumulants, saddle: Saddle, epsilon: float) -> float:
    """Return the D at which the images of the profile are negligible or known.

    Those of 1 fall as e^-cD: with -(height + 7)/c, to e^7 of delta, which leaves 13 digits.
    """
    c, height = saddle.center, saddle.log_mgf - saddle.center * epsilon
    lower, upper = tilted_tails(cumulants, saddle)
    return max(epsilon - lower, upper - epsilon, -(height + 7) / c, 1 / saddle.width)


def tilted_tails(cumulants: Cumulants, saddle: Saddle) -> tuple[float, float]:
    r"""Return two losses outside of which the law :math:`e^{cL}dP/M(c)` has almost no mass."""
    far = np.minimum(saddle.width * 2.0 ** np.arange(-7, 6), 4 * (saddle.center + 1))
    tilts = np.concatenate([saddle.center + far, -1 - far]).astype(np.complex128)
    above, below = np.split(cumulants(tilts, _AXIS, 1.0)[:, 0].real - saddle.log_mgf, 2)
    lower = -np.min((_TINY + below) / (saddle.center + 1 + far))
    return float(lower), float(np.min((_TINY + above) / far))
