r"""Bounds of the gradient and the Hessian of a two-layer KAN, and their exact extremes.

Second derivatives are of rank one in every unit: with the notation of `Factors`,

.. math:: \nabla^2f = \frac1{\sqrt m}\operatorname{diag}(Q)\otimes\varphi\varphi^\top,\qquad
   \nabla^2\ell(yf) = \Bigl(\frac{\ell''}mSS^\top
      + \frac{\ell'y}{\sqrt m}\operatorname{diag}(Q)\Bigr)\otimes\varphi\varphi^\top,

so the extreme eigenvalues are those of a diagonal matrix plus one of rank one.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import lambertw

from ..arguments import Array, finite_array, fraction, nonnegative, one_of, plain, whole
from .activations import activation as named_activation
from .network import TwoLayerKAN, logistic_loss
from .piecewise import largest_absolute, multiplied, restricted
from .splines import CubicSplines

_BRANCH = -2 * float(lambertw(-math.exp(-0.5) / 2, -1).real)
LOGISTIC_SELF_BOUND = 2 * (_BRANCH - 1) / _BRANCH**2
r"""The largest :math:`\ell'(z)^2/\ell(z)` of the logistic loss, 0.40726, at z = -0.921."""


class SelfBounding(NamedTuple):
    r"""Constants of the logistic loss of a network; L is the loss, l the one of an example.

    :math:`\lambda_{\min}(\nabla^2\ell)\ge-` `weak_convexity` :math:`\cdot\ell`,
    :math:`\lambda_{\max}(\nabla^2\ell)\le` `smoothness`, and :math:`|\nabla L|^2\le`
    `gradient_factor` :math:`\cdot L`, which the paper prints as `gradient_factor_printed`.
    """

    weak_convexity: float
    smoothness: float
    gradient_factor: float
    gradient_factor_printed: float


class Bounds(NamedTuple):
    r"""Bounds of :math:`|c|`, :math:`\max_j|c_j|`, :math:`|\nabla f|` and :math:`\|\nabla^2f\|`."""

    norm: float
    largest: float
    gradient: float
    hessian: float


class ComparatorFactors(NamedTuple):
    """The two factors of `comparator_factors`."""

    descent: float | Array
    comparator: float | Array


class LargestDerivatives(NamedTuple):
    r"""Suprema over all weights, for given outer coefficients.

    `slopes` (m,) of :math:`|S_j|`, `curvatures` (m,) of :math:`|Q_j|`, and the largest squared
    length of the features. Each is attained, and all slopes together, as is every curvature.
    """

    slopes: Array
    curvatures: Array
    feature_square: float

    @property
    def gradient(self) -> float:
        r"""Supremum of :math:`|\nabla f|`."""
        return math.sqrt(self.feature_square * float(np.mean(self.slopes**2)))

    @property
    def hessian(self) -> float:
        r"""Supremum of :math:`\|\nabla^2f\|`."""
        return self.feature_square * float(self.curvatures.max()) / math.sqrt(self.slopes.size)


def network_bounds(
    width: int,
    splines: int,
    failure_probability: float,
    *,
    activation: str = "tanh",
    clamped: bool = False,
    form: str = "sharp",
) -> Bounds:
    r"""Bound coefficients, gradient and Hessian of f for all W and x, with high probability over c.

    Parameters
    ----------
    width, splines : int
        m and p.
    failure_probability : float
        In (0, 1); all bounds hold together outside an event of this probability.
    activation, clamped
        As in `TwoLayerKAN`.
    form : {"sharp", "printed"}
        Of standard Gaussian coefficients: :math:`|c|\le\sqrt{pm}+\sqrt{2\ln(2/\delta)}` and
        :math:`|c_j|\le\sqrt p+\sqrt{2\ln(2m/\delta)}`, by Gaussian concentration; the paper prints
        4 and 2 in place of 1 and :math:`\sqrt2`. And the printed bounds of the derivatives bound
        every spline by itself, while the sharp ones use that the splines sum to one and that four
        are live.

    Notes
    -----
    Claims wang2026.lemB.5, wang2026.lemB.6; the printed gradient is :math:`G_\delta` of
    wang2026.eq5.
    """
    m, p = whole("width", width, minimum=1), whole("splines", splines, minimum=4)
    delta = fraction("failure_probability", failure_probability)
    sigma, b = named_activation(activation), CubicSplines(p, clamped).bounds
    root = math.sqrt(p)
    if one_of("form", form, ["sharp", "printed"]) == "sharp":
        mean, tail, square = 1.0, math.sqrt(2), b.square
        first, second = math.sqrt(b.slope_square), math.sqrt(b.curvature_square)
    else:
        mean, tail, square = 4.0, 2.0, p * b.value**2
        first, second = root * b.slope, root * b.curvature
    norm = mean * math.sqrt(p * m) + tail * math.sqrt(math.log(2 / delta))
    largest = mean * root + tail * math.sqrt(math.log(2 * m / delta))
    bend = sigma.curvature * first + sigma.slope**2 * second
    return Bounds(
        norm,
        largest,
        sigma.slope * math.sqrt(square) * first * norm / math.sqrt(m),
        square * bend * largest / math.sqrt(m),
    )


def suprema(kan: TwoLayerKAN, *, feature_square: float | None = None) -> LargestDerivatives:
    r"""Maximise the gradient and the Hessian of the output over all weights.

    The pre-activation of every unit can be set at will, so these are maxima over one variable, and
    in :math:`u = \sigma(a)` those of piecewise polynomials. They are enclosed by Bernstein
    coefficients to 1e-13 of the largest coefficient: no optimiser is trusted.

    Parameters
    ----------
    kan : TwoLayerKAN
    feature_square : float, optional
        The largest :math:`|\varphi(x)|^2`, for instance of given data; by default the supremum over
        the cube :math:`[-1, 1]^d`.

    Examples
    --------
    >>> kan, weights = TwoLayerKAN.initial(4096, 3, 6, rng=np.random.default_rng(0))
    >>> round(network_bounds(4096, 6, 0.05, form="printed").gradient / suprema(kan).gradient)
    33
    """
    if feature_square is None:
        square = kan.basis.bounds.square
    else:
        square = nonnegative("feature_square", feature_square)
    h, left = kan.basis.spacing, kan.basis.breakpoints[:-1]
    free, linear, _ = kan.sigma.polynomial
    outer = kan.basis.compiled(kan.coefficients)
    first = outer[..., 1:] * np.array([1, 2, 3]) / h
    second = outer[..., 2:] * np.array([2, 6]) / h**2
    sigma1 = np.stack(
        [free + linear * left - left**2, (linear - 2 * left) * h, np.full(left.size, -(h**2))], 1
    )
    sigma2 = np.stack([linear - 2 * left, np.full(left.size, -2 * h)], 1)
    slopes = multiplied(sigma1, first)
    curvatures = multiplied(sigma1, multiplied(sigma2, first) + multiplied(sigma1, second))
    start = np.clip((kan.sigma.lower - left) / h, 0, 1)
    return LargestDerivatives(
        largest_absolute(restricted(slopes, start)),
        largest_absolute(restricted(curvatures, start)),
        square,
    )


def hessian_extremes(
    kan: TwoLayerKAN, weights: ArrayLike, features: Array, labels: ArrayLike | None = None
) -> Array:
    r"""Give the extreme eigenvalues of :math:`\nabla^2\ell(y_if_W(x_i))`, or of the output.

    Parameters
    ----------
    kan : TwoLayerKAN
    weights : (m, d, p) array
    features : (n, d p) array
    labels : (n,) array, optional
        -1 or 1; without them the eigenvalues are those of :math:`\nabla^2f_W(x_i)`.

    Returns
    -------
    (n, 2) array
        The smallest, at most 0, and the largest, at least 0.

    Notes
    -----
    Claims wang2026.lemB.6 and wang2026.lemB.7; O(m) for one example, by the secular equation.
    """
    values, slopes, curvatures = (
        x.astype(np.float64, copy=False) for x in kan.factors(weights, features)
    )
    root = math.sqrt(kan.width)
    if labels is None:
        diagonal = curvatures / root
        ends = np.stack([diagonal.min(axis=1), diagonal.max(axis=1)], axis=1)
    else:
        y = kan.checked_labels(labels, len(values)).astype(np.float64)
        diagonal = curvatures * (y * logistic_loss(y * values, 1) / root)[:, None]
        ends = _updated_extremes(diagonal, slopes / root, logistic_loss(y * values, 2))
    rows = np.asarray(features, dtype=np.float64)
    ends *= np.vecdot(rows, rows)[:, None]
    # 0 is the eigenvalue of the directions orthogonal to the features
    return np.stack([np.minimum(ends[:, 0], 0), np.maximum(ends[:, 1], 0)], axis=1)


def self_bounding(gradient: float, hessian: float) -> SelfBounding:
    r"""Turn bounds of the gradient and the Hessian of f into those of its logistic loss.

    Parameters
    ----------
    gradient, hessian : float
        G and H with :math:`|\nabla f|\le G` and :math:`\|\nabla^2f\|\le H`: bounds or suprema.

    Returns
    -------
    SelfBounding
        H, :math:`G^2/4+H`, :math:`0.407\,G^2` and, as printed, four times the smoothness.

    Notes
    -----
    Claim wang2026.lemB.7.
    """
    G, H = nonnegative("gradient", gradient), nonnegative("hessian", hessian)
    smoothness = G**2 / 4 + H
    return SelfBounding(H, smoothness, LOGISTIC_SELF_BOUND * G**2, 4 * smoothness)


def comparator_factors(angle: ArrayLike) -> ComparatorFactors:
    r"""Give :math:`\theta\cot\theta` and :math:`\theta/\sin\theta`.

    For :math:`\nabla^2L\succeq-\nu L` along the segment from W to :math:`W^*` of length D, with
    :math:`\theta = \sqrt\nu D<\pi`,

    .. math:: \theta\cot\theta\,L(W)\le\langle\nabla L(W), W-W^*\rangle
       +\frac\theta{\sin\theta}L(W^*),

    with equality for cosines.

    Parameters
    ----------
    angle : number or array
        :math:`\theta` in [0, pi).

    Returns
    -------
    ComparatorFactors
        Both 1 at 0. Where :math:`\theta\ge\pi/2` the first is not positive and bounds nothing.

    Notes
    -----
    Sharp form of what claims wang2026.lemB.4 and wang2026.lemC.2 do with 2/3 and 4/3 at
    :math:`\nu D^2 = 1/2`.

    Examples
    --------
    >>> [round(x, 4) for x in comparator_factors(0.5**0.5)]
    [0.8275, 1.0885]
    """
    theta = finite_array("angle", angle)
    if not np.all((theta >= 0) & (theta < np.pi)):
        raise ValueError(f"angle must lie in [0, pi), got {angle!r}")
    safe = np.where(theta > 0, theta, 1.0)
    return ComparatorFactors(
        plain(np.where(theta > 0, safe / np.tan(safe), 1.0)),
        plain(np.where(theta > 0, safe / np.sin(safe), 1.0)),
    )


def _updated_extremes(diagonal: Array, vectors: Array, rate: Array) -> Array:
    """Give the extreme eigenvalues (n, 2) of n matrices diag(d) + rate z z', rate nonnegative."""
    weight = rate[:, None] * vectors**2
    total = weight.sum(axis=1)
    low, high = diagonal.min(axis=1), diagonal.max(axis=1)
    above, below = diagonal - low[:, None], high[:, None] - diagonal
    room = np.partition(above, 1, axis=1)[:, 1] if diagonal.shape[1] > 1 else total
    smallest = low + _bisected(lambda t: weight / (above - t), np.minimum(room, total))
    largest = high + _bisected(lambda t: -weight / (below + t), total)
    return np.stack([smallest, largest], axis=1)


def _bisected(terms: Callable[[Array], Array], upper: Array) -> Array:
    """Find where 1 + sum(terms(t)), which increases, changes its sign on [0, upper]."""
    lower = np.zeros_like(upper)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(54):
            middle = (lower + upper) / 2
            left = 1 + terms(middle[:, None]).sum(axis=1) < 0
            lower, upper = np.where(left, middle, lower), np.where(left, upper, middle)
    return (lower + upper) / 2
