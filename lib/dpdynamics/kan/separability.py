r"""Margin of the tangent features at the initialisation, with a certificate.

The largest margin of unit vectors, :math:`\max_{|u|=1}\min_iy_i\langle\nabla f(x_i), u\rangle`, is
the distance of the origin from the convex hull of the points :math:`y_i\nabla f(x_i)`: a problem
of nonnegative least squares in their n x n Gram matrix, which bounds the margin from both sides.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from ..arguments import Array, finite_array, nonnegative, vector
from .network import TwoLayerKAN


class Margin(NamedTuple):
    """A margin that is attained, an upper bound of all margins, and weights (n,) on the simplex."""

    margin: float
    upper: float
    dual: Array


def _pulls(kan: TwoLayerKAN, weights: ArrayLike, features: Array) -> tuple[Array, Array]:
    """Return slopes (n, m) and features (n, d p), whose products are the gradients of f."""
    slopes = kan.factors(weights, features).slopes.astype(np.float64)
    return slopes, np.asarray(features, dtype=np.float64)


def ntk_gram(
    kan: TwoLayerKAN, weights: ArrayLike, features: Array, labels: ArrayLike | None = None
) -> Array:
    r"""Compute the inner products :math:`\langle\nabla f(x_i), \nabla f(x_k)\rangle`, (n, n).

    Parameters
    ----------
    kan : TwoLayerKAN
    weights : (m, d, p) array
    features : (n, d p) array
    labels : (n,) array, optional
        -1 or 1; the products are then multiplied by :math:`y_iy_k`.
    """
    slopes, rows = _pulls(kan, weights, features)
    gram = (rows @ rows.T) * (slopes @ slopes.T) / kan.width
    if labels is None:
        return gram
    y = kan.checked_labels(labels, len(rows)).astype(np.float64)
    return gram * np.outer(y, y)


def ntk_margin(gram: ArrayLike, *, tolerance: float = 1e-6) -> Margin:
    r"""Find the largest margin of points with the given Gram matrix.

    Parameters
    ----------
    gram : (n, n) array
        :math:`y_iy_k\langle\nabla f(x_i), \nabla f(x_k)\rangle`.
    tolerance : float
        Largest relative distance of the two bounds. Above a margin of 0.01 of the lengths of the
        points they usually agree to 1e-12.

    Raises
    ------
    ValueError
        If the matrix is not symmetric, has a diagonal that is not positive, or is indefinite
        beyond rounding.
    ArithmeticError
        If the bounds do not meet: the margin is zero, or too small for double precision, whose
        error in it is about 1e-16 over the margin.

    Notes
    -----
    Claim wang2026.def3.3.

    Examples
    --------
    >>> round(ntk_margin([[1.0, 0.0], [0.0, 1.0]]).margin, 6)  # two orthogonal unit vectors
    0.707107
    """
    K = finite_array("gram", gram, ndim=2)
    if K.size == 0 or K.shape[0] != K.shape[1] or not np.allclose(K, K.T, rtol=1e-9, atol=0):
        raise ValueError(f"gram must be a symmetric matrix, got shape {K.shape}")
    if np.any(np.diag(K) <= 0):
        raise ValueError("gram must have a positive diagonal")
    scale = float(np.trace(K)) / len(K)
    K = (K + K.T) / (2 * scale)
    values, basis = np.linalg.eigh(K)
    # Backward error of eigh and of the entries, each a product of rounded gradients.
    if values[0] < -1e-10 * len(K) * values[-1]:
        raise ValueError(
            f"gram must be positive semidefinite, got an eigenvalue of {values[0] * scale:.3g}"
        )
    root = (basis * np.sqrt(np.clip(values, 0, None))).T
    system = np.vstack([root, np.ones(len(K))])
    first = nnls(system, np.append(np.zeros(len(K)), 1.0), maxiter=100 * len(K))[0]
    found = _bounds(K, first / first.sum())
    live = found.dual > 0
    polished = np.zeros(len(K))  # on the support of the solution all margins are equal
    polished[live] = np.linalg.lstsq(K[np.ix_(live, live)], np.ones(live.sum()), rcond=None)[0]
    if np.all(polished >= 0) and polished.sum() > 0:
        better = _bounds(K, polished / polished.sum())
        found = better if better.upper - better.margin < found.upper - found.margin else found
    gap = found.upper - found.margin
    if found.margin <= 0 or gap > nonnegative("tolerance", tolerance) * found.upper:
        raise ArithmeticError(
            f"the margin is not resolved: it lies in [{max(found.margin, 0) * scale**0.5:.3g}, "
            f"{found.upper * scale**0.5:.3g}]"
        )
    return Margin(found.margin * scale**0.5, found.upper * scale**0.5, found.dual)


def margin_direction(
    kan: TwoLayerKAN, weights: ArrayLike, features: Array, labels: ArrayLike, dual: ArrayLike
) -> Array:
    r"""Give the unit vector u (m, d, p) of the largest margin.

    It is proportional to :math:`\sum_ia_iy_i\nabla f(x_i)` with the weights a = `dual` (n,) that
    `ntk_margin` found; the other arguments are those of `ntk_gram`. Comparators are
    :math:`W_0+\tau u`, claim wang2026.lemC.12.
    """
    slopes, rows = _pulls(kan, weights, features)
    signed = vector("dual", dual, len(rows)) * kan.checked_labels(labels, len(rows))
    direction = (slopes * signed[:, None]).T @ rows
    length = np.linalg.norm(direction)
    if not length > 0:
        raise ValueError("dual must not give the zero vector")
    return (direction / length).reshape(kan.shape)


def _bounds(K: Array, weights: Array) -> Margin:
    products = K @ weights
    square = float(weights @ products)
    upper = np.sqrt(max(square, 0.0))
    lower = float(products.min() / upper) if upper > 0 else 0.0
    return Margin(lower, float(upper), weights)
