r"""Renyi divergence of two densities by numerical integration, in one or two dimensions.

The rule. In polar coordinates about a centre, :math:`x = c + Fe^u\theta` with a frame F, the
trapezoidal rule in u and in the angle converges faster than any power of the mesh for smooth
densities, and reaches the radius `box` with few nodes. Centre and frame are moved to the maximum of
the integrand and to its curvature there. The mesh is refined until two successive values agree;
their difference, with an estimate of rounding, is the reported error.

Infinite integrals. An integrand f has no finite integral if its shell mass :math:`r^df` does not
fall as r doubles. Along the direction in which f is largest it is compared at box/8, box/4, box/2
and box, with changes D1, D2, D3 of ln f. Infinite: the shell mass still rises and
:math:`D_3 - 3D_2 + 2D_1\ge0`, which is blind to powers and exponentials, so that a Gaussian hump
beyond the box is not taken for growth. Finite: it falls and is below e^-45 of its largest value.
Neither: the box is enlarged tenfold, three times at most, and then an error is raised.

Guards. The same rule must find the integrals of p and q to be 1, else the mesh does not see them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from ..arguments import LARGEST, Array, finite_array, fraction, nonnegative
from ..numerics.remainders import expm1_minus

LogDensity = Callable[[Array], Array]
EPSILON = float(np.finfo(np.float64).eps)


class Quadrature(NamedTuple):
    """A `value` with the estimated absolute `error` of its computation."""

    value: float
    error: float


def renyi_divergence_quadrature(
    logpdf_p: LogDensity,
    logpdf_q: LogDensity,
    order: float,
    *,
    dimension: int = 1,
    center: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    box: float = 1e5,
    rtol: float = 1e-9,
) -> Quadrature:
    r"""Compute :math:`D_\alpha(P\|Q) = \frac1{\alpha-1}\ln\int p^\alpha q^{1-\alpha}`.

    Near one the integral is formed from :math:`p^\alpha q^{1-\alpha} - p - (\alpha-1)(p - q)`,
    which has one sign and no first-order part: small divergences, and orders close to 1, keep
    their digits.

    Parameters
    ----------
    logpdf_p, logpdf_q : callables
        Log densities, (n,) to (n,) in one dimension, (n, 2) to (n,) in two; -inf where there is no
        mass.
    order : float
        :math:`\alpha` in (0, 1) or (1, inf).
    dimension : int
        1 or 2.
    center, scale : numbers or (dimension,) arrays
        Somewhere near the mass of p and q, and its rough width in each coordinate.
    box : float
        Radius of integration in units of `scale`, at least 10. Heavy tails need more than the
        default, 1e20 say.
    rtol : float
        Relative change at which refinement stops, in (0, 1). Densities with kinks need 1e-5 or so.

    Returns
    -------
    Quadrature
        The value is inf (with error 0) when the integral grows without bound with the box.

    Raises
    ------
    ValueError
        If a range is violated, a density returns NaN, or does not integrate to 1.
    ArithmeticError
        If the mesh limit is reached before `rtol`, or the tail is too slow to be decided within the
        box.

    References
    ----------
    Claim lin2025.def1.
    """
    order = nonnegative("order", order)
    if order in (0, 1):
        raise ValueError(f"order must lie in (0, 1) or (1, {LARGEST:g}], got {order!r}")
    if dimension not in (1, 2):
        raise ValueError(f"dimension must be 1 or 2, got {dimension}")
    if not 10 <= box < np.inf:
        raise ValueError(f"box must lie in [10, inf), got {box}")
    fraction("rtol", rtol)
    widths = _coordinates("scale", scale, dimension)
    if np.any(widths <= 0):
        raise ValueError(f"scale must be positive, got {scale!r}")
    mesh = _Polar(_coordinates("center", center, dimension), np.diag(widths), box)
    log_p = _checked("logpdf_p", logpdf_p, dimension)
    log_q = _checked("logpdf_q", logpdf_q, dimension)
    for name, log_f in (("logpdf_p", log_p), ("logpdf_q", log_q)):
        if abs(_log_mass(log_f, mesh)) > 1e-6:
            raise ValueError(f"{name} must integrate to 1; check it, and center, scale and box")

    x, _ = mesh.nodes(0)
    p, q = log_p(x), log_q(x)
    uncovered = np.isneginf(q) & ~np.isneginf(p)
    if order > 1 and np.any(uncovered):
        if p[uncovered].max() > -690:
            return Quadrature(np.inf, 0.0)
        raise ArithmeticError("logpdf_q is -inf where p is tiny: write it without underflow")

    def log_integrand(x: Array) -> Array:
        return _log_integrand(log_p(x), log_q(x), order)

    def size(x: Array) -> Array:
        return order * np.abs(log_p(x)) + abs(order - 1) * np.abs(log_q(x))

    reach = _reach(log_integrand, size, mesh)
    if reach is None:
        return Quadrature(np.inf, 0.0)
    mesh = reach.fitted(log_integrand)

    def value(level: int) -> Quadrature:
        x, log_weights = mesh.nodes(level)
        return _divergence(log_p(x), log_q(x), log_weights, order)

    return _refined(value, rtol, levels=9 if dimension == 1 else 5)


def _log_integrand(p: Array, q: Array, order: float) -> Array:
    """Logarithm of p^order q^(1 - order), with p = 0 counting 0 and q = 0 < p infinite or 0."""
    with np.errstate(invalid="ignore"):
        both = order * p + (1 - order) * q
    return np.where(np.isneginf(p), -np.inf, both)


def _divergence(p: Array, q: Array, log_weights: Array, order: float) -> Quadrature:
    """Value on one mesh, with the part of its error that comes from rounding in p and q."""
    log_mass = _log_integrand(p, q, order) + log_weights
    log_integral = float(logsumexp(log_mass))
    s, seen = order - 1, ~(np.isneginf(p) | np.isneginf(q))
    size = order * np.abs(p[seen]) + abs(s) * np.abs(q[seen])
    if abs(log_integral) > 0.5:
        doubt = np.exp(log_mass[seen] - log_integral) @ size
        return Quadrature(log_integral / s, float(EPSILON * doubt / abs(s)))
    full = _second_order_mass(p, q, order) @ np.exp(log_weights)
    mixed = np.exp(np.maximum(p, q)[seen] + log_weights[seen])
    doubt = mixed @ (size * np.minimum(np.abs(p[seen] - q[seen]), 1))
    return Quadrature(float(np.log1p(full) / s), float(EPSILON * doubt))


def _second_order_mass(p: Array, q: Array, order: float) -> Array:
    """Return P^a Q^(1-a) - P - (a - 1)(P - Q) with P = e^p, Q = e^q, a = order."""
    s, mass_p, mass_q = order - 1, np.exp(p), np.exp(q)
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = p - q
        near = mass_p * (expm1_minus(s * ratio) + s * expm1_minus(-ratio))
        growth = np.where(
            s * ratio < 30,
            mass_p * np.expm1(s * ratio),
            np.exp(_log_integrand(p, q, order)) - mass_p,
        )
        far = np.where(mass_p > 0, growth, 0.0) + s * (mass_q - mass_p)
    return np.where(np.abs(ratio) < 1, near, far)


@dataclass(frozen=True)
class _Polar:
    """Nodes and weights of the trapezoidal rule in log radius and angle."""

    center: Array
    frame: Array
    box: float

    def nodes(self, level: int) -> tuple[Array, Array]:
        """Return nodes (n, d) and the logarithms of their weights (n,)."""
        d = self.center.size
        u, width = np.linspace(-38 / d, np.log(self.box), 256 << level, retstep=True)
        directions = self.directions(2 if d == 1 else 64 << level)
        x = self.at(np.exp(u)[:, None, None] * directions).reshape(-1, d)
        measure = 2 if d == 1 else 2 * pi
        constant = np.log(width * measure / len(directions)) + np.linalg.slogdet(self.frame)[1]
        return x, np.repeat(d * u + constant, len(directions))

    def directions(self, count: int) -> Array:
        """Return the unit vectors (count, d) of equally spaced angles."""
        angles = np.arange(count) * (2 * pi / count)
        if self.center.size == 1:
            return np.array([[1.0], [-1.0]])
        return np.stack([np.cos(angles), np.sin(angles)], axis=-1)

    def at(self, relative: Array) -> Array:
        """Map positions (..., d) in the frame about the centre to positions."""
        return self.center + relative @ self.frame.T

    def fitted(self, log_f: LogDensity) -> "_Polar":
        """Move to a maximum of the integrand and whiten its curvature, where it has one.

        Where the integrand has a kink or is log-linear, differences over two steps disagree, and
        the frame stays.
        """
        mesh = self
        for _ in range(6):
            x, _ = mesh.nodes(0)
            mesh = replace(mesh, center=x[np.argmax(log_f(x))])
        for _ in range(2):
            curvature, wider = mesh._curvature(log_f), mesh._curvature(log_f, 0.25)
            if not np.all(np.isfinite(curvature + wider)) or np.linalg.eigvalsh(curvature)[0] <= 0:
                break
            if not 2 / 3 < np.trace(wider) / np.trace(curvature) < 3 / 2:
                break
            lower = np.linalg.cholesky(curvature)
            mesh = replace(mesh, frame=mesh.frame @ np.linalg.inv(lower).T)
        return mesh

    def _curvature(self, log_f: LogDensity, step: float = 0.125) -> Array:
        """Central second differences (d, d) of -log f at the centre, in the frame."""
        steps = step * np.eye(self.center.size)
        corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
        shifts = np.array([[[a * u + b * v for v in steps] for u in steps] for a, b in corners])
        with np.errstate(invalid="ignore"):
            values = log_f(self.at(shifts).reshape(-1, self.center.size))
            plus, mixed, mixed_too, minus = values.reshape(4, *self.frame.shape)
            return (mixed + mixed_too - plus - minus) / (2 * step) ** 2


def _reach(log_f: LogDensity, size: LogDensity, mesh: _Polar) -> _Polar | None:
    """Return the mesh with a box that holds the integral, or None when it is infinite.

    `size` bounds the terms that cancel in log f: its rounding decides what counts as bending.
    """
    d = mesh.center.size
    for _ in range(4):
        x, log_weights = mesh.nodes(0)
        largest = (log_f(x) + log_weights).max() - log_weights[-1] + d * np.log(mesh.box)
        shells = [_largest(log_f, mesh, mesh.box * f) for f in (0.125, 0.25, 0.5, 1.0)]
        values, x = np.array([value for value, _ in shells]), shells[-1][1]
        if np.isneginf(values[-1]):
            return mesh
        if np.isposinf(values[-1]):
            return None
        changes, rounding = np.diff(values), 32 * EPSILON * float(size(x[None])[0])
        rising = changes[-1] >= -d * np.log(2) - rounding
        if rising and changes @ [2, -3, 1] >= -rounding:
            return None
        if not rising and values[-1] + d * np.log(mesh.box) < largest - 45:
            return mesh
        mesh = replace(mesh, box=10 * mesh.box)
    raise ArithmeticError("the tail is not decided within the box; enlarge box or mend scale")


def _largest(log_f: LogDensity, mesh: _Polar, radius: float) -> tuple[float, Array]:
    """Largest value of log f at one radius, and where it is taken (d,)."""

    def at(angle: ArrayLike) -> Array:
        return mesh.at(radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1))

    if mesh.center.size == 1:
        x = mesh.at(radius * mesh.directions(2))
        return float(log_f(x).max()), x[np.argmax(log_f(x))]
    angles, spacing = np.linspace(0, 2 * pi, 256, endpoint=False, retstep=True)
    values = log_f(at(angles))
    best = float(values.max()), at(angles[np.argmax(values)])
    local_maxima = (values >= np.roll(values, 1)) & (values >= np.roll(values, -1))
    for start in angles[local_maxima & np.isfinite(values)][:16]:
        search = minimize_scalar(
            lambda angle: -float(log_f(at([angle]))[0]),
            bounds=(start - spacing, start + spacing),
            method="bounded",
            options={"xatol": 1e-13},
        )
        if -search.fun > best[0]:
            best = float(-search.fun), at(search.x)
    return best


def _log_mass(log_f: LogDensity, mesh: _Polar) -> float:
    """Logarithm of the integral of one density."""
    reach = _reach(log_f, lambda x: np.abs(log_f(x)), mesh)
    if reach is None:
        return np.inf
    mesh = reach.fitted(log_f)

    def value(level: int) -> Quadrature:
        x, log_weights = mesh.nodes(level)
        return Quadrature(float(logsumexp(log_f(x) + log_weights)), 0.0)

    return _refined(value, 0.0, levels=5, atol=1e-7).value


def _refined(
    value: Callable[[int], Quadrature], rtol: float, levels: int, atol: float = 0.0
) -> Quadrature:
    """Refine until two successive levels agree; add their difference to the rounding error."""
    coarse = value(0)
    for level in range(1, levels):
        fine = value(level)
        if not np.isfinite(fine.value):
            break
        change = abs(fine.value - coarse.value)
        if change <= rtol * abs(fine.value) + atol:
            return Quadrature(fine.value, change + fine.error)
        coarse = fine
    raise ArithmeticError("the quadrature did not settle; mend center and scale or relax rtol")


def _coordinates(name: str, value: ArrayLike, dimension: int) -> Array:
    array = finite_array(name, value)
    if array.shape not in ((), (dimension,)):
        raise ValueError(f"{name} must be a number or have shape ({dimension},), got {array.shape}")
    return np.broadcast_to(array, dimension)


def _checked(name: str, log_density: LogDensity, dimension: int) -> LogDensity:
    def evaluate(x: Array) -> Array:
        values = np.atleast_1d(log_density(x[:, 0] if dimension == 1 else x)).astype(np.float64)
        if values.shape != (len(x),):
            raise ValueError(f"{name} must return shape ({len(x)},), got {values.shape}")
        if np.any(np.isnan(values) | np.isposinf(values)):
            raise ValueError(f"{name} must return log densities in [-inf, inf)")
        return values

    return evaluate
