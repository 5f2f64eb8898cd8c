r"""Stationary laws with a density, by Gauss quadrature in logarithms.

One-dimensional diffusions :math:`dX = b\,dt + \sqrt a\,dW` have the stationary density
:math:`\propto a^{-1}\exp\int2b/a`; :math:`dX = -\nabla U\,dt + \sqrt{2T}\,dW` has
:math:`\propto e^{-U/T}`.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal
from scipy.special import erf, logsumexp, ndtr, poch

from ..arguments import Array, finite_array, one_of, plain, positive, positive_array, whole
from .laws import Function, Law
from .noise_laws import panels

ORDER = 20  # Gauss points of a panel
PANELS = 64
EQUATIONS = ("full", "constant noise", "linear")
NEGLIGIBLE = -80.0  # logarithm of the density, relative to the largest, at which a law ends


def sign_diffusion_law(
    curvature: float, scale: float, learning_rate: float, *, equation: str = "full"
) -> Law:
    r"""Compute the stationary law of an equation of DP-SignSGD on :math:`\lambda x^2/2`.

    Claim anon2025.thmB.10, equation (108); for the linear one anon2025.corB.11 and
    anon2025.thmB.15, equations (140) and (189).

    .. math::

       dX = -\mathrm{erf}\Bigl(\frac{\lambda X}{S\sqrt2}\Bigr)dt + \sqrt{\eta D(X)}\,dW,\qquad
       D = 1 - \mathrm{erf}^2\text{ or }1.

    Linearised, :math:`dX = -\kappa X\,dt + \sqrt{\eta(1 - \kappa^2X^2)}\,dW` with
    :math:`\kappa = \sqrt{2/\pi}\,\lambda/S`: a Beta law on :math:`|x|<1/\kappa`, of density
    proportional to :math:`(1-\kappa^2x^2)^{m-1}`, :math:`m = 1/(\eta\kappa)`.

    Parameters
    ----------
    curvature, scale, learning_rate : float
        :math:`\lambda>0`; S > 0, standard deviation of the coordinate of the private gradient;
        :math:`\eta>0`. The law depends on :math:`\eta\lambda/S` in [1e-12, 1e12], up to the unit
        of x.
    equation : {"full", "constant noise", "linear"}
        D = 1 - erf^2 as in the paper; D = 1; linearised.
    """
    state_dependent = one_of("equation", equation, EQUATIONS) != "constant noise"
    unit = positive("scale", scale) / positive("curvature", curvature)
    r = positive("learning_rate", learning_rate) / unit
    if not 1e-12 <= r <= 1e12:
        raise ValueError(f"learning_rate curvature / scale must lie in [1e-12, 1e12], got {r}")
    if equation == "linear":
        return _beta_law(np.sqrt(2 / np.pi) / unit, np.sqrt(np.pi / 2) / r)

    def variance(y: Array) -> Array:
        return r * (4 * ndtr(y) * ndtr(-y) if state_dependent else np.ones_like(y))

    def risen(low: Array, high: Array) -> Array:
        """Rise of the integral of 2 b/a over intervals."""
        y, weights = panels(np.stack([low, high], axis=-1), ORDER)
        return np.sum(weights * -2 * erf(y / np.sqrt(2)) / variance(y), axis=-1)

    def summed(edges: Array) -> Array:
        return np.append(0.0, np.cumsum(risen(edges[:-1], edges[1:])))

    # Beyond 30 is nothing of the one law; the other, with D = 1, has tails of length r/2.
    farthest = 30.0 if state_dependent else 10 + 60 * r
    edges = np.append(0.0, np.geomspace(1e-3 * min(1.0, np.sqrt(r)), farthest, 1000))
    heights = summed(edges) - np.log(variance(edges))
    end = edges[1 + np.flatnonzero(heights > heights.max() + NEGLIGIBLE).max()]
    edges = np.unique(np.append(np.linspace(0, min(end, 12.0), 65), np.linspace(0, end, 65)))
    potential = summed(edges)

    def log_weight(y: Array) -> Array:
        """Logarithm of the density at y >= 0, not normalised."""
        inside = np.minimum(y, end)
        panel = np.clip(np.searchsorted(edges, inside, side="right") - 1, 0, edges.size - 2)
        logs = potential[panel] + risen(edges[panel], inside) - np.log(variance(inside))
        return np.where(y <= end, logs, -np.inf)

    y, weights, total = _normalised(log_weight, edges)
    total += np.log(2 * unit)

    def log_density(x: ArrayLike) -> float | Array:
        return plain(log_weight(np.abs(finite_array("x", x)) / unit) - total)

    points, halves = unit * y, weights / 2
    return Law(np.append(-points, points), np.append(halves, halves), 0.0, log_density)


def _beta_law(kappa: float, m: float) -> Law:
    """The law of the linear equation, by the Gauss rule for its density."""
    k = np.arange(2, 64)
    # The recurrence of the Gegenbauer polynomials; its first coefficient would be 0/0 at m = 1/2.
    rest = k * (k + 2 * m - 2) / ((2 * k + 2 * m - 3) * (2 * k + 2 * m - 1))
    off_diagonal = np.sqrt(np.append(1 / (2 * m + 1), rest))
    points, vectors = eigh_tridiagonal(np.zeros(off_diagonal.size + 1), off_diagonal)
    at_zero = np.log(kappa * poch(m, 0.5) / np.sqrt(np.pi))

    def log_density(x: ArrayLike) -> float | Array:
        squares = (kappa * finite_array("x", x)) ** 2
        inside = (m - 1) * np.log1p(-np.where(squares < 1, squares, 0.0)) + at_zero
        return plain(np.where(squares < 1, inside, -np.inf))

    return Law(points / kappa, vectors[0] ** 2, 0.0, log_density)


def radial_gibbs_law(
    potential: Function, temperature: float, dimension: int, *, breaks: Iterable[float] = ()
) -> Law:
    r"""Compute the law of :math:`r = \|X\|` when X in R^d has density :math:`e^{-U(\|x\|)/T}`.

    Its density is :math:`r^{d-1}e^{-U(r)/T}`. The logarithms lose about d roundings.

    Parameters
    ----------
    potential : callable
        U on r > 0, (n,) to (n,), for which r U'(r) increases: then the law of ln r has one peak.
    temperature, dimension : float, int
        T > 0 and d >= 1.
    breaks : numbers
        Radii at which U is not smooth.

    Raises
    ------
    ArithmeticError
        If the law cannot be normalised.
    """
    T, d = positive("temperature", temperature), whole("dimension", dimension, minimum=1)

    def heights(u: Array) -> Array:
        with np.errstate(over="ignore"):
            return d * u - np.asarray(potential(np.exp(u)), dtype=np.float64) / T

    low, high = -300.0, 300.0
    for _ in range(60):  # zoom in until the grid resolves the peak
        u = np.linspace(low, high, 401)
        values = finite_array("potential(r)", heights(u), infinite=True)
        seen = np.flatnonzero(values > values.max() + NEGLIGIBLE)
        low, high = u[max(seen[0] - 1, 0)], u[min(seen[-1] + 1, 400)]
        if seen.size > 100:
            break
    if abs(low) == 300 or abs(high) == 300:
        raise ArithmeticError("potential: the Gibbs law cannot be normalised")
    if not isinstance(breaks, Iterable):
        raise ValueError(f"breaks must be radii, got {breaks!r}")
    kinks = [np.log(positive("breaks", radius)) for radius in breaks]
    inside = [kink for kink in kinks if low < kink < high]
    edges = np.unique(np.append(np.linspace(low, high, 1 + PANELS), inside))
    u, weights, total = _normalised(heights, edges)

    def log_density(x: ArrayLike) -> float | Array:
        log_radius = np.log(positive_array("x", x))
        return plain(heights(log_radius) - log_radius - total)

    return Law(np.exp(u), weights, 0.0, log_density)


def _normalised(log_weight: Function, edges: Array) -> tuple[Array, Array, float]:
    """Points and weights of a law by its logarithm, and the logarithm of what that lacked to 1."""
    points, lengths = panels(edges, ORDER)
    logs = np.asarray(log_weight(points))
    total = float(logsumexp(logs, b=lengths))
    return points, lengths * np.exp(logs - total), total
