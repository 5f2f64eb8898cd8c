r"""Stationary laws with a density, by Gauss quadrature in logarithms.

One-dimensional diffusions :math:`dX = b\,dt + \sqrt a\,dW` have the stationary density
:math:`\propto a^{-1}\exp\int2b/a`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal
from scipy.special import erf, logsumexp, ndtr, poch

from ..arguments import Array, finite_array, plain, positive, positive_array, vector, whole

Function = Callable[[Array], ArrayLike]
ORDER = 20  # Gauss points of a panel
PANELS = 64
NEGLIGIBLE = -80.0  # logarithm of the density, relative to the largest, at which a law ends


@dataclass(frozen=True)
class QuadratureLaw:
    """A law on the line given by a Gauss rule.

    Attributes
    ----------
    nodes, weights : (n,) arrays
        The weights are positive and add up to 1.
    log_density : callable
        Logarithm of the normalised density, elementwise; -inf where there is none.
    """

    nodes: Array
    weights: Array
    log_density: Callable[[ArrayLike], float | Array]

    def density(self, x: ArrayLike) -> float | Array:
        """Return the normalised density."""
        return plain(np.exp(np.asarray(self.log_density(x))))

    def expectation(self, function: Function) -> float:
        """Return the expectation of a smooth function of x (n,)."""
        return float(np.sum(self.weights * np.asarray(function(self.nodes))))

    @property
    def mean(self) -> float:
        """Mean."""
        return self.expectation(lambda x: x)

    @property
    def variance(self) -> float:
        """Variance."""
        return self._central(2)

    @property
    def kurtosis(self) -> float:
        """Fourth central moment over the squared variance, 3 for a normal law."""
        return self._central(4) / self.variance**2

    def _central(self, power: int) -> float:
        return self.expectation(lambda x: (x - self.mean) ** power)


def diffusion_law(
    drift: Function, variance: Function, interval: tuple[float, float], *, panels: int = PANELS
) -> QuadratureLaw:
    r"""Compute the stationary law of :math:`dX = b(X)\,dt + \sqrt{a(X)}\,dW`.

    Parameters
    ----------
    drift, variance : callables
        b and a > 0 (for a stochastic modified equation a contains the learning rate): smooth
        functions of x (n,) on the interval, to (n,) or a scalar.
    interval : (low, high)
        Where the law lives. What is outside is refused, not lost: at both ends the density must
        have fallen to 1e-13 of its largest value.
    panels : int
        Pairs of equal pieces of the interval, each with a Gauss rule; at least 1.

    Returns
    -------
    QuadratureLaw

    Raises
    ------
    ValueError
        If the interval or a value is not as stated.
    ArithmeticError
        If the interval cuts the law, or half as many panels give another law.

    Examples
    --------
    >>> law = diffusion_law(lambda x: -x, lambda x: 0.5, (-6.0, 6.0))  # Ornstein-Uhlenbeck
    >>> round(law.variance, 12), round(law.kurtosis, 12)
    (0.25, 3.0)

    References
    ----------
    Claim anon2025.thmB.10, whose equation (108) is a case.
    """
    low, high = vector("interval", interval, 2)
    if not low < high:
        raise ValueError(f"interval must increase, got {interval}")
    return _checked(drift, variance, np.linspace(low, high, 1 + 2 * whole("panels", panels, 1)))


def sign_diffusion_law(
    curvature: float, scale: float, learning_rate: float, *, state_dependent: bool = True
) -> QuadratureLaw:
    r"""Compute the stationary law of the equation of DP-SignSGD on :math:`\lambda x^2/2`.

    .. math::

       dX = -\mathrm{erf}\Bigl(\frac{\lambda X}{S\sqrt2}\Bigr)dt + \sqrt{\eta D(X)}\,dW,\qquad
       D = 1 - \mathrm{erf}^2\text{ or }1.

    Parameters
    ----------
    curvature : float
        :math:`\lambda>0`.
    scale : float
        S > 0, standard deviation of the coordinate of the private gradient.
    learning_rate : float
        :math:`\eta>0`; the law depends on :math:`\eta\lambda/S`, up to the unit of x.
    state_dependent : bool
        D = 1 - erf^2 as in the paper, or D = 1.

    Returns
    -------
    QuadratureLaw

    Raises
    ------
    ValueError
        If a number is not positive, or :math:`\eta\lambda/S` is outside [1e-12, 1e12].

    References
    ----------
    Claim anon2025.thmB.10, equation (108).
    """
    unit = positive("scale", scale) / positive("curvature", curvature)
    r = positive("learning_rate", learning_rate) / unit
    if not 1e-12 <= r <= 1e12:
        raise ValueError(f"learning_rate curvature / scale must lie in [1e-12, 1e12], got {r}")

    def drift(y: Array) -> Array:
        return -erf(y / np.sqrt(2))

    def variance(y: Array) -> Array:
        return r * (4 * ndtr(y) * ndtr(-y) if state_dependent else np.ones_like(y))

    # Beyond 30 is nothing of the one law; the other, with D = 1, has tails of length r/2.
    farthest = 30.0 if state_dependent else 10 + 60 * r
    half = np.append(0.0, np.geomspace(1e-3 * min(1.0, np.sqrt(r)), farthest, 1000))
    inner, inner_weights = panel_nodes(half)
    slopes = inner_weights * drift(inner) / variance(inner)
    potential = 2 * np.append(0.0, np.cumsum(slopes.reshape(-1, ORDER).sum(axis=1)))
    heights = potential - np.log(variance(half))
    end = half[1 + np.flatnonzero(heights > heights.max() + NEGLIGIBLE).max()]
    half = np.unique(np.append(np.linspace(0, min(end, 12.0), 65), np.linspace(0, end, 65)))
    edges = np.concatenate([-half[:0:-1], half])
    law = _checked(drift, variance, edges)

    def log_density(x: ArrayLike) -> float | Array:
        return plain(np.asarray(law.log_density(finite_array("x", x) / unit)) - np.log(unit))

    return QuadratureLaw(unit * law.nodes, law.weights, log_density)


def linear_sign_law(curvature: float, scale: float, learning_rate: float) -> QuadratureLaw:
    r"""Compute the stationary law of the linearised equation of DP-SignSGD, a Beta law.

    :math:`dX = -\kappa X\,dt + \sqrt{\eta(1 - \kappa^2X^2)}\,dW` with
    :math:`\kappa = \sqrt{2/\pi}\,\lambda/S` lives on :math:`|x|<1/\kappa`, where its density is
    proportional to :math:`(1-\kappa^2x^2)^{m-1}`, :math:`m = 1/(\eta\kappa)`.

    Parameters
    ----------
    curvature, scale, learning_rate : float
        :math:`\lambda`, S and :math:`\eta`, positive.

    Returns
    -------
    QuadratureLaw
        The variance is :math:`\eta/(2\kappa + \eta\kappa^2)`, the kurtosis 3(2m + 1)/(2m + 3).

    Raises
    ------
    ValueError
        If a number is not positive.

    References
    ----------
    Claims anon2025.corB.11 and anon2025.thmB.15, equations (140) and (189).
    """
    slope = positive("curvature", curvature) / positive("scale", scale)
    kappa = np.sqrt(2 / np.pi) * slope
    m = 1 / (positive("learning_rate", learning_rate) * kappa)
    k = np.arange(2, 64)
    # The recurrence of the Gegenbauer polynomials; its first coefficient would be 0/0 at m = 1/2.
    rest = k * (k + 2 * m - 2) / ((2 * k + 2 * m - 3) * (2 * k + 2 * m - 1))
    off_diagonal = np.sqrt(np.append(1 / (2 * m + 1), rest))
    nodes, vectors = eigh_tridiagonal(np.zeros(off_diagonal.size + 1), off_diagonal)
    at_zero = np.log(kappa * poch(m, 0.5) / np.sqrt(np.pi))

    def log_density(x: ArrayLike) -> float | Array:
        squares = (kappa * finite_array("x", x)) ** 2
        inside = (m - 1) * np.log1p(-np.where(squares < 1, squares, 0.0)) + at_zero
        return plain(np.where(squares < 1, inside, -np.inf))

    return QuadratureLaw(nodes / kappa, vectors[0] ** 2, log_density)


def sums_from(rises: Array, origin: int) -> Array:
    """Cumulated sums, one more than summands, which are 0 and most precise at the origin."""
    before = -np.cumsum(rises[:origin][::-1])[::-1]
    return np.concatenate([before, [0.0], np.cumsum(rises[origin:])])


def panel_nodes(edges: Array) -> tuple[Array, Array]:
    """Nodes and weights of a Gauss rule on each panel, one after the other."""
    x, w = np.polynomial.legendre.leggauss(ORDER)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()


def _heights(drift: Function, variance: Function, edges: Array) -> tuple[Array, Array, Array]:
    """Nodes, logarithm of a^(-1) exp int 2b/a there, and its Legendre coefficients by panel."""
    x, weights = np.polynomial.legendre.leggauss(ORDER)
    nodes, _ = panel_nodes(edges)
    b, a = finite_array("drift(x)", drift(nodes)), positive_array("variance(x)", variance(nodes))
    if b.shape not in ((), nodes.shape) or a.shape not in ((), nodes.shape):
        raise ValueError("drift and variance must keep the shape of x")
    powers = np.polynomial.legendre.legvander(x, ORDER)
    degrees = 2 * np.arange(ORDER) + 1
    to_coefficients = weights[:, None] * powers[:, :-1] * degrees / 2
    integrals = np.column_stack([x + 1, (powers[:, 2:] - powers[:, :-2]) / degrees[1:]])
    half = np.diff(edges)[:, None] / 2
    slopes = half * np.broadcast_to(2 * b / a, nodes.shape).reshape(-1, ORDER)
    rises = (slopes @ weights)[:-1]
    logs = np.log(np.broadcast_to(a, nodes.shape)).reshape(-1, ORDER)
    start = int(np.argmax(np.append(0.0, np.cumsum(rises)) - logs[:, 0]))
    before = sums_from(rises, start)[:, None]
    heights = before + slopes @ to_coefficients @ integrals.T - logs
    return nodes, heights.ravel(), heights @ to_coefficients


def _law(drift: Function, variance: Function, edges: Array) -> QuadratureLaw:
    nodes, heights, coefficients = _heights(drift, variance, edges)
    _, panel_weights = panel_nodes(edges)
    total = logsumexp(heights, b=panel_weights)

    def log_density(x: ArrayLike) -> float | Array:
        x = finite_array("x", x)
        panel = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, edges.size - 2)
        place = 2 * (x - edges[panel]) / np.diff(edges)[panel] - 1
        inside = (x >= edges[0]) & (x <= edges[-1])
        powers = np.polynomial.legendre.legvander(np.where(inside, place, 0.0), ORDER - 1)
        powers = powers.reshape(*x.shape, ORDER)
        values = np.sum(powers * coefficients[panel], axis=-1) - total
        return plain(np.where(inside, values, -np.inf))

    return QuadratureLaw(nodes, panel_weights * np.exp(heights - total), log_density)


def _checked(drift: Function, variance: Function, edges: Array) -> QuadratureLaw:
    """The law, unless the interval cuts it or panels twice as wide give other moments."""
    fine, coarse = (_law(drift, variance, e) for e in (edges, edges[::2]))
    at_ends = np.asarray(fine.log_density(edges[[0, -1]]))
    peak = np.log(fine.weights / panel_nodes(edges)[1]).max()
    if at_ends.max() > peak - 30:
        raise ArithmeticError("interval: it cuts the law; widen it")
    for power in (1, 2):
        total, other = (np.sum(law.weights * law.nodes**power) for law in (fine, coarse))
        if abs(total - other) > 1e-10 * np.sum(fine.weights * np.abs(fine.nodes) ** power):
            raise ArithmeticError(
                f"panels: a moment changes by {abs(total - other):.1e}; take more of them"
            )
    return fine
