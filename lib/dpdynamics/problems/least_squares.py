"""Ridge least squares in the eigenbasis of its features, and quadratic statistics of an iterate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, finite_array, last_axis, nonnegative, nonnegative_array, vector


@dataclass(frozen=True, eq=False)
class LeastSquares:
    r"""Ridge least squares seen through its population.

    A record is :math:`(a, b)` with :math:`b = a^\top \tilde x + \xi`; its loss is
    :math:`\frac12(a^\top x - b)^2 + \frac\delta2|x|^2`. Coordinates are those of the eigenbasis
    of the uncentred second moment :math:`\Sigma = E\,aa^\top`.

    Parameters
    ----------
    eigenvalues : (d,) array
        Eigenvalues of :math:`\Sigma`, nonnegative, in any order.
    truth : (d,) array
        The parameter :math:`\tilde x` of the labels.
    label_variance : float
        :math:`E\xi^2`, in [0, inf).
    ridge : float
        :math:`\delta`, in [0, inf).

    References
    ----------
    Claims lin2025.alg1 and lin2025.eq1.
    """

    eigenvalues: Array
    truth: Array
    label_variance: float
    ridge: float

    def __post_init__(self) -> None:
        eigenvalues = nonnegative_array("eigenvalues", self.eigenvalues, ndim=1).copy()
        if eigenvalues.size == 0:
            raise ValueError("eigenvalues must not be empty")
        truth = vector("truth", self.truth, eigenvalues.size).copy()
        eigenvalues.flags.writeable = truth.flags.writeable = False
        object.__setattr__(self, "eigenvalues", eigenvalues)
        object.__setattr__(self, "truth", truth)
        object.__setattr__(
            self, "label_variance", nonnegative("label_variance", self.label_variance)
        )
        object.__setattr__(self, "ridge", nonnegative("ridge", self.ridge))

    @property
    def dimension(self) -> int:
        """Number d of coordinates."""
        return self.eigenvalues.size

    @property
    def curvature(self) -> Array:
        r"""Eigenvalues (d,) of :math:`A = \Sigma + \delta I`, the Hessian of regularized risk."""
        return self.eigenvalues + self.ridge

    def over_curvature(self, values: Array) -> Array:
        """Divide values (d,) by the curvature; 0 where it is 0."""
        a = self.curvature
        return np.divide(values, a, out=np.zeros_like(a), where=a > 0)

    @property
    def shrinkage(self) -> Array:
        r"""The factors (d,) :math:`\delta/(\lambda_i + \delta)`; 1 where nothing pulls (0/0)."""
        a = self.curvature
        return np.divide(self.ridge, a, out=np.ones_like(a), where=a > 0)

    @property
    def fixed_point(self) -> Array:
        r"""Minimiser (d,) :math:`A^{-1}\Sigma\tilde x` of the regularized risk; 0 where A is 0."""
        return self.over_curvature(self.eigenvalues * self.truth)

    def population_risk(self, x: ArrayLike) -> Array:
        r"""Population risk :math:`\mathcal P(x) = \frac12E(a^\top x - b)^2`, (..., d) to (...)."""
        error = last_axis("x", x, self.dimension) - self.truth
        return 0.5 * (error**2 @ self.eigenvalues + self.label_variance)

    def regularized_risk(self, x: ArrayLike) -> Array:
        r"""Regularized risk :math:`\mathcal R = \mathcal P + \frac\delta2|x|^2` of (..., d)."""
        x = last_axis("x", x, self.dimension)
        return self.population_risk(x) + 0.5 * self.ridge * np.sum(x**2, axis=-1)

    def population_gradient(self, x: ArrayLike) -> Array:
        r"""Gradient :math:`\Sigma(x - \tilde x)` of the population risk, (..., d) to (..., d)."""
        return self.eigenvalues * (last_axis("x", x, self.dimension) - self.truth)

    def regularized_gradient(self, x: ArrayLike) -> Array:
        r"""Gradient :math:`\Sigma(x - \tilde x) + \delta x` of the regularized risk."""
        return self.population_gradient(x) + self.ridge * np.asarray(x, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class QuadraticStatistic:
    r"""The function :math:`q(x) = \frac12x^\top Tx + u^\top x + c` (claim lin2025.def2).

    `matrix` (d, d) is the Hessian T, square and symmetric, `vector` (d,) the gradient u at the
    origin, and `constant` the value c there.
    """

    matrix: Array
    vector: Array
    constant: float

    def __post_init__(self) -> None:
        matrix = finite_array("matrix", self.matrix, ndim=2)
        if not np.array_equal(matrix, matrix.T):
            raise ValueError(f"matrix must be square and symmetric, got shape {matrix.shape}")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "vector", vector("vector", self.vector, matrix.shape[0]))
        object.__setattr__(self, "constant", float(finite_array("constant", self.constant, 0)))

    @classmethod
    def population(cls, problem: LeastSquares) -> "QuadraticStatistic":
        """Write the population risk in this form."""
        pull = problem.eigenvalues * problem.truth
        constant = 0.5 * float(pull @ problem.truth + problem.label_variance)
        return cls(np.diag(problem.eigenvalues), -pull, constant)

    @classmethod
    def regularized(cls, problem: LeastSquares) -> "QuadraticStatistic":
        """Write the regularized risk in this form."""
        risk = cls.population(problem)
        return cls(np.diag(problem.curvature), risk.vector, risk.constant)

    def __call__(self, x: ArrayLike) -> Array:
        """Value at x, (..., d) to (...)."""
        x = last_axis("x", x, self.vector.size)
        return 0.5 * np.sum((x @ self.matrix) * x, axis=-1) + x @ self.vector + self.constant

    def gradient(self, x: ArrayLike) -> Array:
        """Gradient T x + u, (..., d) to (..., d)."""
        return last_axis("x", x, self.vector.size) @ self.matrix + self.vector

    @property
    def c2_norm(self) -> float:
        """The norm ||T|| + |u| + |c| with the operator norm of T."""
        operator_norm = np.abs(np.linalg.eigvalsh(self.matrix)).max(initial=0.0)
        return float(operator_norm + np.linalg.norm(self.vector) + abs(self.constant))
