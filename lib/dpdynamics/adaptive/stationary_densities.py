r"""Stationary laws with a density, by Gauss quadrature in logarithms.

One-dimensional diffusions :math:`dX = b\,dt + \sqrt a\,dW` have the stationary density
:math:`\propto a^{-1}\exp\int2b/a`.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal
from scipy.special import erf, logsumexp, ndtr, poch

from ..arguments import Array, finite_array, one_of, plain, positive
from ..numerics.panels import panels
from .laws import Law

ORDER = 20  # Gauss points of a panel
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

    y, lengths = panels(edges, ORDER)
    logs = log_weight(y)
    mass = logsumexp(logs, b=lengths)
    weights, total = lengths * np.exp(logs - mass), mass + np.log(2 * unit)

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
