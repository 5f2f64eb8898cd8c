r"""Spectra of the features as blocks of equal eigenvalues, and their quadrature.

For clipped DP-SGD on least squares only the risk couples the eigen-coordinates. Within an
eigenspace only the norm of the error :math:`\theta-\theta^*` matters, and of the spectrum only
what a Gauss rule sees.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal

from dpdynamics.arguments import Array, nonnegative, nonnegative_array, vector, whole


@dataclass(frozen=True, eq=False)
class SpectralBlocks:
    r"""Eigenspaces of :math:`\Sigma` and the length of the initial error in each.

    Parameters
    ----------
    eigenvalues, offsets : (m,) arrays
        Nonnegative, the eigenvalues not all 0 (equal ones are allowed but wasteful); norms of the
        components of :math:`\theta_0-\theta^*`.
    multiplicities : (m,) integers
        Dimensions of the eigenspaces, at least 1.
    """

    eigenvalues: Array
    multiplicities: np.ndarray
    offsets: Array

    def __post_init__(self) -> None:
        eigenvalues = nonnegative_array("eigenvalues", self.eigenvalues, ndim=1)
        if not np.any(eigenvalues > 0):
            raise ValueError("eigenvalues must not be empty or all 0")
        multiplicities = np.asarray(self.multiplicities)
        if (
            multiplicities.shape != eigenvalues.shape
            or multiplicities.dtype.kind not in "iu"
            or np.any(multiplicities < 1)
        ):
            raise ValueError(f"multiplicities must be {eigenvalues.size} integers, at least 1")
        offsets = nonnegative_array("offsets", vector("offsets", self.offsets, eigenvalues.size))
        object.__setattr__(self, "eigenvalues", eigenvalues)
        object.__setattr__(self, "multiplicities", multiplicities)
        object.__setattr__(self, "offsets", offsets)

    @classmethod
    def isotropic(cls, dimension: int, risk: float) -> "SpectralBlocks":
        r"""Build the single block :math:`\Sigma = I`, with a start of the given noiseless risk."""
        length = np.sqrt(2 * nonnegative("risk", risk))
        size = whole("dimension", dimension, minimum=1)
        return cls(np.ones(1), np.array([size]), np.array([length]))

    @classmethod
    def grouped(cls, eigenvalues: ArrayLike, offset: ArrayLike) -> "SpectralBlocks":
        r"""Group d eigenvalues (exactly equal ones) and the d coordinates of the error."""
        values, member, counts = np.unique(
            nonnegative_array("eigenvalues", eigenvalues, ndim=1),
            return_inverse=True,
            return_counts=True,
        )
        squares = vector("offset", offset, member.size) ** 2
        return cls(values, counts, np.sqrt(np.bincount(member, weights=squares)))

    @property
    def dimension(self) -> int:
        """Number d of coordinates."""
        return int(self.multiplicities.sum())

    @property
    def risk(self) -> float:
        r"""Initial noiseless risk :math:`\frac12\sum_b\lambda_bq_b^2`."""
        return float(self.eigenvalues @ self.offsets**2 / 2)

    @property
    def weights(self) -> Array:
        r"""Masses (m,) :math:`\lambda_bk_b/d` of the spectrum in the risk."""
        return self.eigenvalues * self.multiplicities / self.dimension

    def coordinates(self) -> tuple[Array, Array]:
        """Return d eigenvalues and an error whose length in a block is spread evenly."""
        each = self.offsets / np.sqrt(self.multiplicities)
        return np.repeat(self.eigenvalues, self.multiplicities), np.repeat(
            each, self.multiplicities
        )

    def modes(self, nodes: int | None = None) -> "RiskModes":
        r"""Return what `clipped_risk` solves: one mode for each block, or a quadrature.

        Given the path of R, the mode of a block is :math:`f(\lambda_i)D_i(0) + g(\lambda_i)` with
        entire f and g. With `nodes`, one Gauss rule integrates f against
        :math:`\frac1d\sum_i\lambda_iD_i(0)\delta_{\lambda_i}` (modes that start at 1 and are not
        driven), one g against :math:`\frac1d\sum_i\lambda_i\delta_{\lambda_i}` (modes that start at
        0 and are). The error falls faster than exponentially in `nodes` once they exceed the spread
        of :math:`\lambda\int\tilde\eta\mu_c`; it is 0 for at most `nodes` distinct eigenvalues.
        ValueError if the eigenvalues do not have mean 1: the theory sets tr Sigma = d.
        Claim bombari2025.lemC.1; Golub and Welsch (1969).
        """
        check_trace(self)
        lam, ones = self.eigenvalues, np.ones_like(self.eigenvalues)
        if nodes is None:
            initial = self.dimension / 2 * self.offsets**2 / self.multiplicities
            return RiskModes(lam, lam, ones, self.weights, initial)
        nodes = whole("nodes", nodes, minimum=1)
        start = gauss_rule(lam, lam * self.offsets**2 / 2, nodes)
        drive = gauss_rule(lam, self.weights, nodes)
        driven = np.repeat([0.0, 1.0], [start[0].size, drive[0].size])
        rates, weights = np.concatenate([start, drive], axis=1)
        return RiskModes(rates, driven * rates, driven, weights, 1 - driven)


class RiskModes(NamedTuple):
    r"""Linear modes :math:`D_j` that are coupled through :math:`R = \sum_jw_jD_j` only.

    With the rates :math:`a_j` and the loads :math:`s_j, p_j`, :math:`\dot D_j = -2\tilde\eta\mu_c
    a_jD_j + \gamma\tilde\eta^2\nu_c(R + \zeta^2/2)s_j + \gamma^2c^2\tilde\sigma^2p_j`. Arrays have
    the modes on the first axis; further axes broadcast against the hyper-parameters.
    """

    rates: Array
    sampling: Array
    private: Array
    weights: Array
    initial: Array


def gauss_rule(points: Array, masses: Array, nodes: int) -> tuple[Array, Array]:
    """Compress a discrete measure to a Gauss rule, exact for polynomials below 2 * nodes.

    Lanczos with full reorthogonalisation, then the eigenvectors of the Jacobi matrix. A measure
    with at most `nodes` points of positive mass is returned as it is.
    """
    points, masses = points[masses > 0], masses[masses > 0]
    if points.size <= nodes:
        return points, masses
    basis = np.zeros((nodes + 1, points.size))
    basis[0] = np.sqrt(masses / masses.sum())
    diagonal, off = np.empty(nodes), np.empty(nodes)
    for j in range(nodes):
        w = points * basis[j]
        diagonal[j] = basis[j] @ w
        for _ in range(2):
            w -= basis[: j + 1].T @ (basis[: j + 1] @ w)
        off[j] = np.linalg.norm(w)
        if off[j] <= 1e-13 * points.max():  # the measure is one of j + 1 points to rounding
            nodes = j + 1
            break
        basis[j + 1] = w / off[j]
    values, vectors = eigh_tridiagonal(diagonal[:nodes], off[: nodes - 1])
    return values, masses.sum() * vectors[0] ** 2


def check_trace(blocks: SpectralBlocks) -> None:
    """Raise ValueError unless the eigenvalues have mean 1."""
    trace = blocks.weights.sum()
    if abs(trace - 1) > 1e-9:
        raise ValueError(f"eigenvalues must have mean 1 (tr Sigma = d), got {trace}")
