r"""Divergences of two Gaussian laws.

Everything is read off one decomposition. In coordinates in which Q has the identity as covariance
and P a diagonal one with entries :math:`1 + e_i`, and with the mean gap w,

.. math::

   D_\alpha(P\|Q) = \frac\alpha2\sum_i\frac{w_i^2}{1 + (1-\alpha)e_i}
      + \frac12\sum_i\Bigl[\frac{\ln(1 + (1-\alpha)e_i)}{1-\alpha} - \ln(1 + e_i)\Bigr],

infinite as soon as one :math:`1 + (1-\alpha)e_i\le0`, that is when :math:`\alpha\Sigma_Q +
(1-\alpha)\Sigma_P` is not positive definite. The brackets are of second order in e, so they are
formed from ln(1 + x) - x: small divergences keep all their digits.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dtrtrs

from ..arguments import Array, elementwise, finite_array, vector
from ..numerics.remainders import log1p_minus
from .covariances import DiagonalPlusLowRank, symmetric

Covariance = ArrayLike | DiagonalPlusLowRank


def renyi_divergence_gaussian(
    mean_p: ArrayLike, cov_p: Covariance, mean_q: ArrayLike, cov_q: Covariance, order: ArrayLike
) -> float | Array:
    r"""Compute :math:`D_\alpha(P\|Q) = \frac1{\alpha-1}\ln\int p^\alpha q^{1-\alpha}`.

    Parameters
    ----------
    mean_p, mean_q : (d,) arrays
        Means; a number is a vector of length one.
    cov_p, cov_q : number, (d,) array, (d, d) array or DiagonalPlusLowRank
        Symmetric and positive definite: a multiple of the identity, a diagonal, a matrix. Two
        `DiagonalPlusLowRank` with the same diagonal cost O(d r^2); other mixtures are made dense.
    order : number or array
        :math:`\alpha` in (0, inf); at 1 the limit, the Kullback-Leibler divergence.

    Returns
    -------
    float or array of the shape of `order`
        In [0, inf]; inf exactly when the integral diverges, which is decided in floating point:
        within rounding of the boundary either answer may come out.

    References
    ----------
    Claims lin2025.def1 and lin2025.lemC.2; Gil, Alajaji and Linder (2013). Lemma C.2 prints the
    value of the exchanged arguments.
    """
    orders = finite_array("order", order, infinite=True)
    if not np.all((orders > 0) & (orders < np.inf)):
        raise ValueError(f"order must lie in (0, inf), got {order!r}")
    return elementwise(relative_spectrum(mean_p, cov_p, mean_q, cov_q).renyi, orders)


class _Spectrum(NamedTuple):
    """P seen from Q: variances `ratio` = 1 + `excess` (k,), squared mean gaps `squares` (k,).

    `rest` is the squared mean gap in the directions where both variances are 1.
    """

    ratio: Array
    excess: Array
    squares: Array
    rest: float

    def renyi(self, order: float) -> float:
        if order == 1:
            return self._kullback_leibler()
        r, e, s = self.ratio, self.excess, 1 - order
        mixture = 1 + s * e
        if np.any(mixture <= 0):
            return np.inf
        means = order / 2 * (np.sum(self.squares / mixture) + self.rest)
        if order >= 0.5:
            spreads = _second_order(s * e, e, log_b=np.log(r), weight=s) / s
        else:  # the same number from D_a(P||Q) = a/(1-a) D_{1-a}(Q||P), which does not cancel here
            back = -e / r
            spreads = _second_order(order * back, back, log_b=-np.log(r), weight=order) / s
        return float(means + np.sum(spreads) / 2)

    def _kullback_leibler(self) -> float:
        small = np.abs(self.excess) <= 0.5
        careful = -log1p_minus(np.where(small, self.excess, 0.0))
        spreads = np.where(small, careful, self.excess - np.log(self.ratio))
        return float(np.sum(self.squares) + self.rest + np.sum(spreads)) / 2


def _second_order(a: Array, b: Array, *, log_b: Array, weight: float) -> Array:
    """Return ln(1 + a) - weight ln(1 + b) for a = weight b, free of cancellation."""
    both = np.stack([a, b])
    small = np.abs(both).max(axis=0) <= 0.5
    of_a, of_b = log1p_minus(np.where(small, both, 0.0))
    return np.where(small, of_a - weight * of_b, np.log1p(a) - weight * log_b)


def relative_spectrum(
    mean_p: ArrayLike, cov_p: Covariance, mean_q: ArrayLike, cov_q: Covariance
) -> _Spectrum:
    first, second = (
        np.atleast_1d(finite_array(name, mean))
        for name, mean in (("mean_p", mean_p), ("mean_q", mean_q))
    )
    if first.ndim > 1 or first.size == 0:
        raise ValueError(f"mean_p must be a number or a vector, got shape {first.shape}")
    gap = first - vector("mean_q", second, first.size)
    p, q = _covariance("cov_p", cov_p, gap.size), _covariance("cov_q", cov_q, gap.size)
    if not isinstance(p, DiagonalPlusLowRank) and not isinstance(q, DiagonalPlusLowRank):
        if p.ndim == q.ndim == 1:
            return _Spectrum(p / q, (p - q) / q, gap**2 / q, 0.0)
        return _dense_spectrum(gap, _matrix(p), _matrix(q))
    low_p, low_q = _low_rank(p), _low_rank(q)
    if low_p and low_q:
        first, second = low_p.diagonal, low_q.diagonal
        if first is second or np.array_equal(first, second):
            return _low_rank_spectrum(gap, low_p, low_q)
    return _dense_spectrum(gap, _matrix(p), _matrix(q))


def _dense_spectrum(gap: Array, p: Array, q: Array, difference: Array | None = None) -> _Spectrum:
    """Diagonalise P in coordinates that whiten Q."""
    lower = _cholesky("cov_q", q)
    _cholesky("cov_p", p)
    difference = p - q if difference is None else difference
    half = _solved(lower, np.column_stack([difference, gap]))
    white = _solved(lower, half[:, :-1].T)
    excess, basis = np.linalg.eigh(np.asarray_chkfinite((white + white.T) / 2))
    if np.any(excess <= -1):
        raise ValueError("cov_p must be positive definite, also in units of cov_q")
    return _Spectrum(1 + excess, excess, (basis.T @ half[:, -1]) ** 2, 0.0)


def _low_rank_spectrum(gap: Array, p: DiagonalPlusLowRank, q: DiagonalPlusLowRank) -> _Spectrum:
    """Reduce to the span of both factors in coordinates that whiten the common diagonal."""
    columns = np.column_stack([p.factors, q.factors, gap])
    columns /= np.sqrt(p.diagonal)[:, None]
    coordinates: Array = np.asarray(np.linalg.qr(columns, mode="r"))
    cut, rank = p.factors.shape[1], min(gap.size, columns.shape[1] - 1)
    of_p, of_q = coordinates[:rank, :cut], coordinates[:rank, cut:-1]
    extra_p, extra_q = of_p @ p.core @ of_p.T, of_q @ q.core @ of_q.T
    identity = np.eye(rank)
    inside, outside = np.split(coordinates[:, -1], [rank])
    small = _dense_spectrum(inside, identity + extra_p, identity + extra_q, extra_p - extra_q)
    return small._replace(rest=float(outside @ outside))


def _covariance(name: str, value: Covariance, dimension: int) -> Array | DiagonalPlusLowRank:
    """Return a positive diagonal (d,), a symmetric matrix (d, d), or the structured form."""
    if isinstance(value, DiagonalPlusLowRank):
        if value.diagonal.size != dimension:
            raise ValueError(f"{name} must have dimension {dimension}, got {value.diagonal.size}")
        return value
    cov = finite_array(name, value)
    if cov.ndim == 0:
        cov = np.full(dimension, float(cov))
    if cov.shape not in ((dimension,), (dimension, dimension)):
        raise ValueError(f"{name} must have shape (), (d,) or (d, d), d = {dimension}")
    if cov.ndim == 2:
        return symmetric(name, cov)
    if np.any(cov <= 0):
        raise ValueError(f"{name} must be positive definite, got a variance of {cov.min()}")
    return cov


def _solved(lower: Array, right: Array) -> Array:
    """Solve a triangular system by LAPACK: the checks of SciPy cost more than a small system."""
    return np.asarray(dtrtrs(lower, right, lower=1)[0]) if lower.size else right


def _low_rank(cov: Array | DiagonalPlusLowRank) -> DiagonalPlusLowRank | None:
    if isinstance(cov, DiagonalPlusLowRank):
        return cov
    if cov.ndim == 1:
        return DiagonalPlusLowRank(cov, np.zeros((cov.size, 0)), np.zeros((0, 0)))
    return None


def _matrix(cov: Array | DiagonalPlusLowRank) -> Array:
    if isinstance(cov, DiagonalPlusLowRank):
        return cov.dense()
    return np.diag(cov) if cov.ndim == 1 else cov


def _cholesky(name: str, matrix: Array) -> Array:
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise ValueError(f"{name} must be positive definite") from None
