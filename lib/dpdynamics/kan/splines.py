r"""Cubic B-splines on [-1, 1]: the basis as piecewise cubics, and its suprema in closed form.

The cells have the width :math:`h = 2/(p-3)`; on each of them four splines live, and each is a cubic
in :math:`v = (x - \text{left end})/h\in[0, 1]`. With the extended uniform knots all splines are
translates of one; clamped knots repeat the ends of the interval. Either way the splines sum to one.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline

from ..arguments import Array, finite_array, last_axis, whole


class SplineBounds(NamedTuple):
    """Suprema over [-1, 1]: of one spline and its derivatives, and of their sums of squares."""

    value: float
    slope: float
    curvature: float
    square: float
    slope_square: float
    curvature_square: float


@dataclass(frozen=True)
class CubicSplines:
    """The p cubic B-splines on [-1, 1] with p - 3 equal cells.

    Parameters
    ----------
    size : int
        Number p of splines, at least 4.
    clamped : bool
        Whether the ends of the interval are knots of multiplicity four; otherwise the uniform knots
        go on beyond them.

    Examples
    --------
    >>> basis = CubicSplines(5)
    >>> basis([0.0]) * 6
    array([[0., 1., 4., 1., 0.]])
    >>> basis.bounds[:3] == (2 / 3, 2 / 3, 2.0)  # h = 1
    True
    """

    size: int
    clamped: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", whole("size", self.size, minimum=4))

    @property
    def cells(self) -> int:
        """Number of cells, p - 3."""
        return self.size - 3

    @property
    def spacing(self) -> float:
        """Width h of a cell."""
        return 2 / self.cells

    @property
    def breakpoints(self) -> Array:
        """Ends of the cells, (cells + 1,)."""
        return np.linspace(-1, 1, self.cells + 1)

    @property
    def knots(self) -> Array:
        """All p + 4 knots."""
        return -1 + self.spacing * self._steps()

    @property
    def bounds(self) -> SplineBounds:
        r"""Suprema :math:`|b_k|, |b_k'|, |b_k''|, |\mathbf h|^2, |\mathbf h'|^2, |\mathbf h''|^2`.

        They are taken over k and [-1, 1], each is attained, and
        :math:`\mathbf h = (b_1, \dots, b_p)`. Claim wang2026.def3.2; Assumption 3.2 calls the first
        three constants, but they are functions of the knots. ValueError beyond a `size` of 1e50.
        """
        if self.size > 1e50:
            raise ValueError(f"size, the number of splines, must be at most 1e50, got {self.size}")
        rate = self.cells / 2
        if self.clamped:
            ends = (12.0, 216.0) if self.size == 4 else (9.0, 126.0)
            numbers = (1.0, 3.0, ends[0], 1.0, 18.0, ends[1])
        else:
            numbers = (2 / 3, 2 / 3, 2.0, 1 / 2, 13 / 16, 6.0)
        scales = (1.0, rate, rate**2, 1.0, rate**2, rate**4)
        return SplineBounds(*(a * b for a, b in zip(numbers, scales, strict=True)))

    def _steps(self) -> Array:
        """Return the knots in units of h, counted from -1."""
        steps = np.arange(-3.0, self.cells + 4)
        return np.clip(steps, 0, self.cells) if self.clamped else steps

    @cached_property
    def _curves(self) -> BSpline:
        return BSpline(self._steps(), np.eye(self.size), 3)

    @cached_property
    def tables(self) -> Array:
        """Coefficients (cells, 4 powers of v, 4 splines); spline s of cell c is number c + s."""
        cells = np.arange(self.cells)  # a power's coefficient is a derivative at the left end
        powers = [self._curves(cells, q) / math.factorial(q) for q in range(4)]
        live = cells[:, None] + np.arange(4)
        return np.stack([np.take_along_axis(power, live, axis=1) for power in powers], axis=1)

    def __call__(self, points: ArrayLike, derivative: int = 0) -> Array:
        """Evaluate the splines or one of their derivatives.

        Parameters
        ----------
        points : array
            In [-1, 1].
        derivative : int
            0 to 3. The third jumps at the knots: there it is that of the cell on the right.

        Returns
        -------
        array of shape (*points.shape, p)
        """
        x = finite_array("points", points)
        if np.any(np.abs(x) > 1):
            raise ValueError(f"points must lie in [-1, 1], got {x.flat[np.abs(x).argmax()]}")
        order = whole("derivative", derivative, minimum=0)
        if order > 3:
            raise ValueError(f"derivative must be at most 3, got {order}")
        place = np.minimum((x + 1) / self.spacing, self.cells)
        return np.asarray(self._curves(place, order) / self.spacing**order)

    def compiled(self, coefficients: ArrayLike) -> Array:
        r"""Write :math:`\sum_kc_kb_k`, coefficients (..., p), as a piecewise cubic.

        Returns the coefficients (..., cells, 4) of the powers 0 to 3 of v in every cell.
        """
        c = last_axis("coefficients", coefficients, self.size)
        return np.einsum("cqs,...cs->...cq", self.tables, sliding_window_view(c, 4, axis=-1))
