"""Gaussian laws, the one form in which every function of this room gives them."""

from typing import NamedTuple

import numpy as np

from dpdynamics.arguments import Array
from dpdynamics.divergence.covariances import DiagonalPlusLowRank
from dpdynamics.problems import LeastSquares


class GaussianLaw(NamedTuple):
    """A normal law, or N of them; of a process that is not normal, the one of its moments.

    `mean` is (d,) or (N, d); `covariance` is a matrix (d, d), a `DiagonalPlusLowRank`, or, in the
    shape of `mean`, the variances of independent coordinates.
    """

    mean: Array
    covariance: Array | DiagonalPlusLowRank

    @property
    def variance(self) -> Array:
        """Variances of the coordinates, in the shape of `mean`."""
        if isinstance(self.covariance, DiagonalPlusLowRank):
            return np.diagonal(self.covariance.dense())
        same = self.covariance.shape == self.mean.shape
        return self.covariance if same else np.diagonal(self.covariance)

    def risk_variance(self, problem: LeastSquares) -> Array:
        r"""Variance (N,) of the population risk, of laws with independent coordinates.

        It is :math:`\sum_i\lambda_i^2V_i(V_i/2 + (m_i-\tilde x_i)^2)`.
        """
        offset = self.mean - problem.truth
        return (self.variance * (self.variance / 2 + offset**2)) @ problem.eigenvalues**2
