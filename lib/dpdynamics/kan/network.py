r"""The two-layer KAN: values, per-example gradients in factors, and their clipped sum.

.. math:: f_W(x) = \frac1{\sqrt m}\sum_{j=1}^m q_j(\sigma(a_j)),\qquad
   a_j = \langle w_j, \varphi(x)\rangle,\qquad \varphi(x) = \mathbf h(x)/\sqrt d .

Inputs do not move, so the features :math:`\varphi(x)` are computed once; the outer splines
:math:`q_j = \sum_kc_{jk}b_k` are fixed, so each is compiled into a piecewise cubic. The gradient of
one example is the rank-one matrix :math:`S\otimes\varphi/\sqrt m` with
:math:`S_j = \sigma'(a_j)q_j'(\sigma(a_j))`: norms need no gradient, and a clipped sum is one
product of matrices.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.special import expit

from ..arguments import Array, finite_array, last_axis, number, whole
from .activations import Activation, activation
from .splines import CubicSplines

_BLOCK = 16384  # pre-activations at a time: the buffers stay in the cache


def logistic_loss(margins: ArrayLike, derivative: int = 0) -> Array:
    r"""Evaluate :math:`\ell(z) = \ln(1 + e^{-z})` or its first or second derivative.

    They are :math:`-1/(1 + e^z)` and :math:`1/((1 + e^z)(1 + e^{-z}))`; nothing overflows.
    """
    z = _reals("margins", margins)
    if whole("derivative", derivative, minimum=0) > 2:
        raise ValueError(f"derivative must be 0, 1 or 2, got {derivative}")
    if derivative == 0:
        return np.logaddexp(0, -z)
    return -expit(-z) if derivative == 1 else expit(z) * expit(-z)


class Factors(NamedTuple):
    r"""Values (n,), `slopes` S (n, m) and `curvatures` Q (n, m) of the outputs.

    :math:`\partial f/\partial a_j = S_j/\sqrt m`,
    :math:`\partial^2f/\partial a_j^2 = Q_j/\sqrt m`; mixed second derivatives vanish.
    """

    values: Array
    slopes: Array
    curvatures: Array


class ClippedGradient(NamedTuple):
    """Sum (m, d, p) of clipped gradients, norms (n,) before clipping, and margins y f (n,)."""

    total: Array
    norms: Array
    margins: Array


@dataclass(frozen=True, eq=False)
class TwoLayerKAN:
    r"""The fixed part of a two-layer KAN; its methods take the trained `weights` (m, d, p).

    Parameters
    ----------
    coefficients : (m, p) array
        Outer spline coefficients c. If they are float32, everything is computed in float32.
    dimension : int
        Number d of inputs.
    activation : {"tanh", "sigmoid"}
        Name of :math:`\sigma`.
    clamped : bool
        Kind of knots of both layers, see `CubicSplines`.

    Notes
    -----
    Section 3.1 and the matrix form in Appendix B of the paper; ``weights[j, i, k]`` is its
    :math:`w_{i,j,k}`. Claims wang2026.alg1, wang2026.lemB.6.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> kan, weights = TwoLayerKAN.initial(64, 3, 6, rng=rng)
    >>> features = kan.features(rng.uniform(-0.5, 0.5, (10, 3)))
    >>> labels = np.where(np.arange(10) % 2, 1, -1)
    >>> clipped = kan.clipped_gradient_sum(weights, features, labels, clip_norm=0.1)
    >>> clipped.total.shape, clipped.norms.shape
    ((64, 3, 6), (10,))
    """

    coefficients: Array
    dimension: int
    activation: str = "tanh"
    clamped: bool = False

    def __post_init__(self) -> None:
        dtype = np.float32 if np.asarray(self.coefficients).dtype == np.float32 else np.float64
        coefficients = finite_array("coefficients", self.coefficients, ndim=2).astype(dtype)
        if coefficients.shape[0] == 0 or coefficients.shape[1] < 4:
            raise ValueError(f"coefficients must be (m, p), p at least 4: {coefficients.shape}")
        if dtype == np.float32 and coefficients.size >= 2**24:  # indices of the pieces are floats
            raise ValueError("coefficients in single precision must be fewer than 2**24")
        object.__setattr__(self, "coefficients", coefficients)
        object.__setattr__(self, "dimension", whole("dimension", self.dimension, minimum=1))
        activation(self.activation)

    @classmethod
    def initial(
        cls,
        width: int,
        dimension: int,
        splines: int,
        *,
        rng: np.random.Generator,
        activation: str = "tanh",
        clamped: bool = False,
        dtype: DTypeLike = np.float64,
    ) -> tuple["TwoLayerKAN", Array]:
        r"""Draw :math:`W_0\sim N(0, I_{mdp})` and then :math:`c\sim N(0, I_{mp})`.

        Returns the network and its initial weights (m, d, p), both of the precision `dtype`
        (float64 or float32; the draws are the same). `width`, `dimension` and `splines` are m, d
        and p.
        """
        m, d = whole("width", width, minimum=1), whole("dimension", dimension, minimum=1)
        p = whole("splines", splines, minimum=4)
        weights = rng.standard_normal((m, d, p)).astype(dtype)
        coefficients = rng.standard_normal((m, p)).astype(dtype)
        return cls(coefficients, d, activation, clamped), weights

    @property
    def width(self) -> int:
        """Number m of hidden units."""
        return int(self.coefficients.shape[0])

    @property
    def splines(self) -> int:
        """Number p of splines."""
        return int(self.coefficients.shape[1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (m, d, p) of the weights."""
        return self.width, self.dimension, self.splines

    @property
    def parameters(self) -> int:
        """Number m d p of trained weights."""
        return self.width * self.dimension * self.splines

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of all results."""
        return self.coefficients.dtype

    @cached_property
    def basis(self) -> CubicSplines:
        """The splines of both layers."""
        return CubicSplines(self.splines, self.clamped)

    @cached_property
    def sigma(self) -> Activation:
        """The activation."""
        return activation(self.activation)

    @cached_property
    def _outer(self) -> tuple[Array, Array]:
        """Powers 0 to 3 (4, m * (cells + 1)) of the outer splines, and where each unit begins.

        The cell after the last holds the expansion at the point 1, which saturated units reach.
        """
        pieces = self.basis.compiled(self.coefficients)
        end = pieces[:, -1] @ np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 2, 1, 0], [1, 3, 3, 1.0]])
        table = np.concatenate([pieces, end[:, None]], axis=1)
        begin = np.arange(self.width) * (self.basis.cells + 1)
        return np.ascontiguousarray(table.reshape(-1, 4).T, dtype=self.dtype), begin.astype(
            self.dtype
        )

    def features(self, inputs: ArrayLike) -> Array:
        r"""Compute the rows :math:`\mathbf h(x_i)/\sqrt d` (n, d p) of inputs (n, d) in [-1, 1].

        Their squared length is at most 1/2 (extended knots) or 1 (clamped).
        """
        x = last_axis("inputs", finite_array("inputs", inputs, ndim=2), self.dimension)
        rows = self.basis(x).reshape(len(x), self.shape[1] * self.shape[2]) / math.sqrt(x.shape[1])
        return rows.astype(self.dtype, copy=False)

    def values(self, weights: ArrayLike, features: Array) -> Array:
        r"""Evaluate :math:`f_W` (n,) on the rows of `features` (n, d p)."""
        return self._sweep(weights, self._rows(features))[0]

    def factors(self, weights: ArrayLike, features: Array) -> Factors:
        """Give the values and the first and second derivatives along the pre-activations."""
        values, slopes, curvatures = self._sweep(weights, self._rows(features), curved=True)
        h = self.basis.spacing
        return Factors(values, slopes / h, curvatures)

    def output_gradients(self, weights: ArrayLike, features: Array) -> Array:
        r"""Write out the gradients :math:`\nabla f_W(x_i)`, (n, m, d, p); for small sizes."""
        rows = self._rows(features)
        slopes = self.factors(weights, rows).slopes / math.sqrt(self.width)
        return np.einsum("nj,nk->njk", slopes, rows).reshape(-1, *self.shape)

    def loss(self, weights: ArrayLike, features: Array, labels: ArrayLike) -> float:
        """Evaluate the mean logistic loss."""
        rows = self._rows(features, least=1)
        margins = self.checked_labels(labels, len(rows)) * self._sweep(weights, rows)[0]
        return float(logistic_loss(margins).mean(dtype=np.float64))

    def gradient(self, weights: ArrayLike, features: Array, labels: ArrayLike) -> Array:
        """Differentiate the mean logistic loss, (m, d, p)."""
        rows = self._rows(features, least=1)
        return self.clipped_gradient_sum(weights, rows, labels).total / len(rows)

    def clipped_gradient_sum(
        self,
        weights: ArrayLike,
        features: Array,
        labels: ArrayLike,
        clip_norm: float = np.inf,
    ) -> ClippedGradient:
        r"""Sum the clipped gradients of the losses without forming any of them.

        Parameters
        ----------
        weights : (m, d, p) array
        features : (n, d p) array
            Rows of `features`, for the examples of the batch.
        labels : (n,) array
            -1 or 1.
        clip_norm : float
            C in (0, inf].

        Returns
        -------
        (total, norms, margins)
            :math:`\sum_ig_i\min(1, C/|g_i|)`, the norms :math:`|g_i|` and the margins.
        """
        if not number("clip_norm", clip_norm) > 0:
            raise ValueError(f"clip_norm must lie in (0, inf], got {clip_norm}")
        rows = self._rows(features)
        y = self.checked_labels(labels, len(rows))
        values, slopes, _ = self._sweep(weights, rows)
        margins = y * values
        pull = logistic_loss(margins, 1) / (self.basis.spacing * math.sqrt(self.width))
        squares = np.vecdot(slopes, slopes) * np.vecdot(rows, rows)
        norms = -pull * np.sqrt(squares)
        bound = float(clip_norm)
        shrink = bound / np.maximum(norms, bound) if bound < np.inf else 1.0
        slopes *= (y * pull * shrink)[:, None]
        return ClippedGradient((slopes.T @ rows).reshape(self.shape), norms, margins)

    def torch_module(self, weights: ArrayLike) -> Any:
        """Build the same network as a `torch.nn.Module` on inputs (n, d); needs PyTorch."""
        from .torch_network import torch_network

        return torch_network(self, self._matrix(weights).reshape(self.shape))

    def checked_labels(self, labels: ArrayLike, count: int) -> Array:
        """Return `labels` in the precision of the network if they are `count` numbers -1 or 1."""
        y = _reals("labels", labels, self.dtype)
        if y.shape != (count,) or not np.all(np.abs(y) == 1):
            raise ValueError(f"labels must be {count} numbers -1 or 1")
        return y

    def _matrix(self, weights: ArrayLike) -> Array:
        matrix = _reals("weights", weights, self.dtype)
        if matrix.shape != self.shape:
            raise ValueError(f"weights must have shape {self.shape}, got {matrix.shape}")
        return matrix.reshape(self.width, -1)

    def _rows(self, features: ArrayLike, least: int = 0) -> Array:
        rows = _reals("features", features, self.dtype)
        length = self.dimension * self.splines
        if rows.ndim != 2 or rows.shape[1] != length or len(rows) < least:
            raise ValueError(
                f"features must have shape (n, {length}), n >= {least}, got {rows.shape}"
            )
        return rows

    def _sweep(
        self, weights: ArrayLike, rows: Array, curved: bool = False
    ) -> tuple[Array, Array, Array]:
        """Return values (n,), S in units of 1/h (n, m), and Q (n, m), empty unless `curved`."""
        with np.errstate(invalid="ignore", over="ignore"):
            units = rows @ self._matrix(weights).T
            total = units.sum()
        if not np.isfinite(total):
            raise ValueError("weights and features must be finite")
        n, m = units.shape
        values = np.empty(n, self.dtype)
        curvatures = np.empty((n if curved else 0, m), self.dtype)
        step = max(1, _BLOCK // m)
        scratch = np.empty((5, min(step, n), m), self.dtype)
        index = np.empty(scratch.shape[1:], np.intp)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            k = part.stop - start
            values[part] = self._block(units[part], curvatures[part], scratch[:, :k], index[:k])
        return values / math.sqrt(m), units, curvatures

    def _block(self, u: Array, bend: Array, scratch: Array, index: NDArray[np.intp]) -> Array:
        """Overwrite pre-activations `u` by S and `bend` by Q; return the sums over the units."""
        v, cell, power, value, slope = scratch
        (table, begin), rate = self._outer, 1 / self.basis.spacing
        self.sigma.function(u, out=u)
        np.add(u, 1, out=v)
        np.multiply(v, rate, out=v)
        np.floor(v, out=cell)
        np.subtract(v, cell, out=v)
        np.add(cell, begin, out=cell)
        np.copyto(index, cell, casting="unsafe")
        table[3].take(index, out=value, mode="wrap")
        np.multiply(value, v, out=value)
        table[2].take(index, out=power, mode="wrap")
        np.add(power, value, out=power)
        np.add(power, value, out=slope)
        np.multiply(power, v, out=power)
        table[1].take(index, out=value, mode="wrap")
        np.add(value, power, out=value)
        np.multiply(slope, v, out=slope)
        np.add(slope, value, out=slope)  # Horner for value and slope; the last step is summed
        sums = np.vecdot(value, v) + table[0].take(index, out=power, mode="wrap").sum(axis=1)
        np.multiply(u, u, out=cell)  # now sigma'
        np.subtract(u if self.sigma.polynomial[1] else 1, cell, out=cell)
        if len(bend):
            second = (6 * table[3].take(index) * v + 2 * table[2].take(index)) * rate**2
            bend[:] = cell * ((self.sigma.polynomial[1] - 2 * u) * slope * rate + cell * second)
        np.multiply(slope, cell, out=u)
        return sums


def _reals(name: str, value: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """Return real or infinite numbers in `dtype`; by default single stays single, not so others."""
    reals = finite_array(name, value, infinite=True)
    single = dtype is None and np.asarray(value).dtype == np.float32
    return reals.astype(np.float32 if single else dtype or np.float64, copy=False)
