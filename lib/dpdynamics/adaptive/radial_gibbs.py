r"""Gibbs laws of isotropic potentials in d dimensions, as one integral over the radius."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..arguments import Array, finite_array, plain, positive, positive_array, whole
from .stationary_densities import NEGLIGIBLE, PANELS, Function, QuadratureLaw, panel_nodes


def radial_gibbs_law(
    potential: Function, temperature: float, dimension: int, *, breaks: Iterable[float] = ()
) -> QuadratureLaw:
    r"""Compute the law of :math:`r = \|X\|` when X in R^d has density :math:`e^{-U(\|x\|)/T}`.

    It is the stationary law of :math:`dX = -\nabla U\,dt + \sqrt{2T}\,dW`.

    Parameters
    ----------
    potential : callable
        U on r > 0, (n,) to (n,), for which r U'(r) increases: then the law of ln r has one peak.
    temperature : float
        T > 0.
    dimension : int
        d >= 1.
    breaks : numbers
        Radii at which U is not smooth.

    Returns
    -------
    QuadratureLaw
        Its density is that of r, :math:`r^{d-1}e^{-U(r)/T}` normalised. The logarithms lose
        about d roundings: 1e-9 in 10^7 dimensions.

    Raises
    ------
    ValueError
        If a range is violated.
    ArithmeticError
        If the law cannot be normalised.

    Examples
    --------
    >>> law = radial_gibbs_law(lambda r: r**2 / 2, 2.0, 1000)  # normal, variance 2 a coordinate
    >>> round(law.expectation(np.square), 9)
    2000.0
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
    u, panel_weights = panel_nodes(edges)
    total = logsumexp(heights(u), b=panel_weights)

    def log_density(x: ArrayLike) -> float | Array:
        log_radius = np.log(positive_array("x", x))
        return plain(heights(log_radius) - log_radius - total)

    weights = panel_weights * np.exp(heights(u) - total)
    return QuadratureLaw(np.exp(u), weights, log_density)


def huber_gibbs_law(
    curvature: float, clip_norm: float, temperature: float, dimension: int
) -> QuadratureLaw:
    r"""Compute the stationary law of :math:`\|X\|` for clipped gradients of a quadratic.

    The objective is :math:`\lambda\|x\|^2/2`. The drift :math:`-\min(\lambda r, C)` towards 0
    is that of the Huber potential, :math:`\lambda r^2/2` up to :math:`r = C/\lambda` and
    :math:`Cr - C^2/(2\lambda)` beyond.

    Parameters
    ----------
    curvature : float
        :math:`\lambda>0`.
    clip_norm : float
        C > 0.
    temperature : float
        T > 0. DP-SGD with noise s per coordinate and no batch noise has :math:`T = \eta s^2/2`;
        DP-SignSGD in high dimension :math:`T = \eta s\sqrt{\pi/2}/2`.
    dimension : int
        d >= 1.

    Returns
    -------
    QuadratureLaw
        The mean loss is `law.expectation(lambda r: curvature * r**2 / 2)`.

    Raises
    ------
    ValueError
        If a range is violated.

    References
    ----------
    Claims anon2025.thmB.5 and anon2025.thm4.1, without batch noise.
    """
    curvature, clip = positive("curvature", curvature), positive("clip_norm", clip_norm)
    knee = clip / curvature

    def potential(r: Array) -> Array:
        within = np.minimum(r, knee)
        return curvature * within**2 / 2 + clip * (r - within)

    return radial_gibbs_law(potential, temperature, dimension, breaks=[knee])
