r"""Exact first two moments of linear equations and linear recursions with additive noise.

Over any stretch of time both are affine: given x, the later state has mean :math:`Mx + v` and
covariance C. Such transitions compose, so a long time is reached by doubling a short one.
"""

from math import ceil, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from dpdynamics.arguments import Array, finite_array, nonnegative, vector, whole

from .gaussian_law import GaussianLaw


class Transition(NamedTuple):
    """Given x, the later state has mean `matrix` x + `shift` and covariance `covariance`."""

    matrix: Array
    shift: Array
    covariance: Array

    def then(self, later: "Transition") -> "Transition":
        """Return this transition followed by a later one with independent noise."""
        covariance = later.matrix @ self.covariance @ later.matrix.T + later.covariance
        return Transition(
            later.matrix @ self.matrix,
            later.matrix @ self.shift + later.shift,
            (covariance + covariance.T) / 2,
        )

    def power(self, steps: int) -> "Transition":
        """Return the transition over `steps` >= 0 repetitions, by repeated squaring."""
        steps, square = whole("steps", steps, minimum=0), self
        zero = np.zeros_like(self.covariance)
        result = Transition(np.eye(self.shift.size), np.zeros_like(self.shift), zero)
        with np.errstate(over="ignore", invalid="ignore"):
            while steps:
                result = result.then(square) if steps & 1 else result
                steps >>= 1
                square = square.then(square) if steps else square
        _check_finite(result)
        return result

    def moments(self, mean: ArrayLike, covariance: ArrayLike) -> GaussianLaw:
        """Carry the moments (d,), (d, d) of x over to the later state."""
        mean = vector("mean", mean, self.shift.size)
        covariance = _covariance("covariance", covariance, mean.size)
        with np.errstate(over="ignore", invalid="ignore"):
            carried = self.matrix @ covariance @ self.matrix.T + self.covariance
            later = self.matrix @ mean + self.shift, (carried + carried.T) / 2
        _check_finite(later)
        return GaussianLaw(*later)


def linear_recursion(F: ArrayLike, g: ArrayLike, C: ArrayLike) -> Transition:
    r"""Return one step of :math:`x_{k+1} = Fx_k + g + \xi_k`, Cov :math:`\xi_k = C`.

    The noise has mean 0 and is uncorrelated with the past; its law is free. `F` is (d, d), `g` (d,)
    and `C` (d, d), symmetric and positive semidefinite.
    """
    matrix = _square("F", F)
    return Transition(matrix, vector("g", g, len(matrix)), _covariance("C", C, len(matrix)))


def linear_sde(A: ArrayLike, b: ArrayLike, S: ArrayLike, time: float) -> Transition:
    r"""Return the exact transition of :math:`dX = (AX + b)\,dt + S\,dW` over a time.

    Van Loan's block exponentials on a time so short that they are of order one, then doubling: no
    growing exponential appears, however stiff A is (IEEE Trans. Automat. Control 23 (1978)
    395-404). A need not be stable nor invertible.

    Parameters
    ----------
    A, b, S : (d, d), (d,) and (d, m) arrays
    time : float
        In [0, inf).

    Returns
    -------
    Transition
        The covariance is :math:`\int_0^te^{As}SS^\top e^{A^\top s}ds`.
    """
    A, b, S = _square("A", A), finite_array("b", b, ndim=1), finite_array("S", S, ndim=2)
    if b.size != len(A) or len(S) != len(A):
        raise ValueError(f"b and S must have {len(A)} rows, got {b.shape} and {S.shape}")
    time, d = nonnegative("time", time), b.size
    doublings = max(0, ceil(log2(max(float(np.linalg.norm(A, 1)) * time, 1.0))))
    h = time / 2**doublings
    affine = expm(h * np.block([[A, b[:, None]], [np.zeros((1, d + 1))]]))
    block = expm(h * np.block([[-A, S @ S.T], [np.zeros_like(A), A.T]]))
    covariance = block[d:, d:].T @ block[:d, d:]
    short = Transition(affine[:d, :d], affine[:d, d], (covariance + covariance.T) / 2)
    return short.power(2**doublings)


def _check_finite(parts: tuple[Array, ...]) -> None:
    if not all(np.all(np.isfinite(part)) for part in parts):
        raise ValueError("A, F, time, times or steps: the moments grow beyond floating point")


def _square(name: str, value: ArrayLike) -> Array:
    matrix = finite_array(name, value, ndim=2)
    if matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} must be square and not empty, got {matrix.shape}")
    return matrix


def _covariance(name: str, value: ArrayLike, dimension: int) -> Array:
    matrix = _square(name, value)
    if len(matrix) != dimension:
        raise ValueError(f"{name} must have shape {(dimension,) * 2}, got {matrix.shape}")
    slack = 1e-10 * np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > slack or np.linalg.eigvalsh(matrix)[0] < -slack:
        raise ValueError(f"{name} must be symmetric and positive semidefinite")
    return matrix
