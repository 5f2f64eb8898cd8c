r"""The covariance of noisy homogenised SGD on least squares, solved in three ways.

In the eigenbasis :math:`P = \mathcal P(m) + \frac12\sum_i\lambda_iV_i`: the Volterra equation of
the risk is the linear system

.. math:: \dot V_i = -2\gamma a_iV_i + \frac{\gamma^2}d(2P\lambda_i + \sigma^2),
          \qquad a_i = \lambda_i + \delta,

whose matrix is diagonal plus rank one. Coordinates of one eigenvalue share one V, so only the m
distinct eigenvalues enter. For a constant learning rate the solution is a sum of exponentials, or,
when m is large, the Volterra equation is solved by collocation at a few Chebyshev nodes; for any
other schedule an ordinary differential equation is solved.
"""

from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from dpdynamics.arguments import Array, nonnegative, vector
from dpdynamics.problems import Constant, LeastSquares
from dpdynamics.problems.schedules import Schedule, as_schedule

from .collocation import ChebyshevGrid


class Diffusion:
    """Noisy homogenised SGD from x0, its d coordinates gathered by eigenvalue into m groups.

    Attributes
    ----------
    eigenvalue, size : (m,) arrays
        The distinct eigenvalues and their multiplicities.
    member : (d,) integer array
        The group of each coordinate.
    """

    def __init__(
        self,
        problem: LeastSquares,
        x0: ArrayLike,
        schedule: Schedule | float,
        noise_scale: float,
    ) -> None:
        limit, bias = problem.fixed_point, problem.shrinkage * problem.truth
        z = vector("x0", x0, problem.dimension) - limit
        self.schedule = as_schedule(schedule)
        self.noise = nonnegative("noise_scale", noise_scale) ** 2
        self.problem = problem
        self.eigenvalue, self.member, size = np.unique(
            problem.eigenvalues, return_inverse=True, return_counts=True
        )
        self.size = size.astype(np.float64)
        self.curvature = self.eigenvalue + problem.ridge
        # Twice the flow's risk is floor + cross e^{-a Gamma} + eigenvalue * start e^{-2 a Gamma}.
        self.start, self.cross = self._sum(z**2), -2 * self.eigenvalue * self._sum(bias * z)
        self.floor = problem.label_variance + self.eigenvalue @ self._sum(bias**2)
        self._from_truth, self._from_zero = self._split(z, -bias), self._split(z, limit)

    def _sum(self, values: Array) -> Array:
        """Add (d,) up within groups, to (m,)."""
        return np.bincount(self.member, weights=values).astype(np.float64)

    def _split(self, z: Array, offset: Array) -> tuple[Array, Array]:
        """Split an offset (d,) within groups: multiple of z, squared length across z (m,)."""
        along = self._sum(z * offset)
        along = np.divide(along, self.start, out=np.zeros_like(along), where=self.start > 0)
        return along, self._sum((offset - along[self.member] * z) ** 2)

    def flow_risks(self, times: ArrayLike) -> tuple[Array, Array]:
        """Population and regularized risks of the gradient flow, (N,) to (N,), in O(N m)."""
        clock = self.schedule.integral(times)
        flow = np.exp(-np.multiply.outer(clock, self.curvature))
        from_truth, from_zero = (
            self.start * (flow + along) ** 2 + across
            for along, across in (self._from_truth, self._from_zero)
        )
        population = (from_truth @ self.eigenvalue + self.problem.label_variance) / 2
        return population, population + self.problem.ridge / 2 * from_zero.sum(axis=-1)

    def variances(self, times: Array, weights: Array) -> tuple[Array, Array]:
        """Return `weights` (r, m) times the sampling and the private variances, each (N, r)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(self.schedule, Constant):
                parts = self._exponentials(self.schedule.value, times, weights)
            else:
                parts = self._integrated(times, weights)
        if not all(np.all(np.isfinite(part)) for part in parts):
            raise ValueError("times, schedule: the risk grows beyond floating point; lower them")
        return parts

    def _exponentials(self, rate: float, times: Array, weights: Array) -> tuple[Array, Array]:
        r"""Solve for a constant learning rate.

        With :math:`x - A^{-1}\Sigma\tilde x = z` and Z the summed second moments of z in a group,
        :math:`W = Z/\sqrt n` obeys :math:`\dot W = (D + \rho ww^\top)W + \text{forcing}` with a
        symmetric matrix. The sampling part starts at Z(0) and is driven by :math:`2P - \sum\lambda
        Z`, a constant plus terms :math:`e^{-\gamma a_jt}`; the initial decay is subtracted at the
        end.
        """
        root = np.sqrt(self.size)
        w, strength = self.eigenvalue * root, rate**2 / self.problem.dimension
        system = strength * np.multiply.outer(w, w)
        system[np.diag_indices_from(system)] -= 2 * rate * self.curvature
        mu, modes = np.linalg.eigh(system)

        start, drive = self.start / root, strength * (modes.T @ w)
        growth = np.exp(np.multiply.outer(times, mu))
        step = _divided_difference(times, mu, np.zeros(1))[:, :, 0]
        sampling = growth * (modes.T @ start) + step * (drive * self.floor)
        if np.any(self.cross):
            sampling += drive * _weighted_difference(times, mu, -rate * self.curvature, self.cross)
        private = step * (strength * self.noise * (modes.T @ root))

        read = modes.T @ (weights / root).T
        decay = np.exp(np.multiply.outer(times, -2 * rate * self.curvature))
        initial = decay @ (weights * (start / root)).T
        return np.maximum(sampling @ read - initial, 0.0), private @ read

    def _integrated(self, times: Array, weights: Array) -> tuple[Array, Array]:
        """Solve for any schedule: one ordinary differential equation for both variances (2m,)."""
        mass, square = self.size * self.eigenvalue, self.eigenvalue * self.start

        def slope(t: float, state: Array) -> Array:
            rate = float(self.schedule(t))
            decay = np.exp(-self.curvature * float(self.schedule.integral(t)))
            flow = self.floor + self.cross @ decay + square @ decay**2
            v = state.reshape(2, -1)
            twice_risk = v @ mass + [flow, 0.0]
            source = np.multiply.outer(twice_risk, self.eigenvalue)
            source[1] += self.noise
            drift = rate**2 / self.problem.dimension * source - 2 * rate * self.curvature * v
            return drift.ravel()

        order, back = np.unique(times, return_inverse=True)
        if order.size == 0 or order[-1] == 0:
            zero = np.zeros((times.size, weights.shape[0]))
            return zero, zero
        solution = solve_ivp(
            slope,
            (0.0, order[-1]),
            np.zeros(2 * self.size.size),
            method="DOP853",
            t_eval=order,
            rtol=1e-11,
            atol=1e-30,
        )
        if not solution.success:
            raise ValueError(f"times: the integration stopped early ({solution.message})")
        sampling, private = solution.y.T[back].reshape(times.size, 2, -1).swapaxes(0, 1)
        return sampling @ weights.T, private @ weights.T

    def collocation_grid(self, times: Array) -> ChebyshevGrid | None:
        """Nodes that resolve the risk on [0, last time], where they are few and well conditioned.

        That is: for a constant learning rate of at most 0.8 of the stability limit, and four times
        fewer than the eigenvalues.
        """
        if not isinstance(self.schedule, Constant):
            return None
        rate, a = self.schedule.value, self.curvature
        depth, horizon = 2 * rate * a[-1], times.max(initial=0.0)
        count = ceil(16 + 6 * sqrt(depth * horizon))
        if depth * horizon == 0 or 4 * count >= a.size:
            return None
        if rate > 0.8 * stability_limit(self.problem):
            return None
        return ChebyshevGrid(horizon, count)

    def collocated(self, grid: ChebyshevGrid, flow: Array) -> tuple[Array, Array]:
        """Solve the Volterra equations (6) and (7) at the nodes of a `collocation_grid`.

        `flow` (n,) is the population risk of the gradient flow there. Returns the sampling and the
        private parts, each (n, 2): of the population and of the regularized risk.
        """
        rate = float(self.schedule(0.0))
        strength = rate**2 / self.problem.dimension
        exponents = -2 * rate * np.multiply.outer(grid.nodes, self.curvature)
        elapsed = grid.nodes[:, None] * relative_growth(exponents)
        hessians = self.size * np.stack([self.eigenvalue, self.curvature])
        kernels = strength * np.exp(exponents) @ (hessians * self.eigenvalue).T
        private = strength * self.noise / 2 * elapsed @ hessians.T

        own, other = (grid.convolution(kernel) for kernel in kernels.T)
        forcing = np.stack([own @ flow, private[:, 0]], axis=1)
        population = np.linalg.solve(np.eye(flow.size) - own, forcing)
        regularized = other @ (population + np.stack([flow, np.zeros_like(flow)], axis=1))
        regularized[:, 1] += private[:, 1]
        sampling, private = np.stack([population, regularized], axis=1).transpose(2, 0, 1)
        return sampling, private


def stability_limit(problem: LeastSquares) -> float:
    r"""Return the learning rate at which the expected risk stops being bounded.

    :math:`2d/\sum_i\frac{\lambda_i^2}{\lambda_i+\delta}`, inf when every eigenvalue is 0.
    The exact threshold of claim lin2025.thm4.2.
    """
    total = problem.over_curvature(problem.eigenvalues**2).sum()
    return float(2 * problem.dimension / total) if total > 0 else np.inf


def relative_growth(x: Array) -> Array:
    """Return (e^x - 1)/x, 1 at 0."""
    return np.divide(np.expm1(x), x, out=np.ones_like(x), where=x != 0)


def _divided_difference(times: Array, alpha: Array, beta: Array) -> Array:
    r"""Return :math:`(e^{\alpha t} - e^{\beta t})/(\alpha - \beta)` (N, p, q), also if equal."""
    t = times[:, None, None]
    return t * np.exp(beta * t) * relative_growth((alpha[:, None] - beta) * t)


def _weighted_difference(times: Array, alpha: Array, beta: Array, weight: Array) -> Array:
    """Return the divided differences (N, p, q) summed over q with `weight` (q,), to (N, p).

    Only pairs of rates that nearly agree need the careful form; all others are two products.
    """
    gap = alpha[:, None] - beta
    near = np.abs(gap) < 1e-3 * np.abs(beta).max() + 1e-290
    inverse = np.divide(weight, gap, out=np.zeros_like(gap), where=~near)
    total = np.exp(np.multiply.outer(times, alpha)) * inverse.sum(axis=1)
    total -= np.exp(np.multiply.outer(times, beta)) @ inverse.T
    for i, j in zip(*np.nonzero(near), strict=True):
        total[:, i] += weight[j] * _divided_difference(times, alpha[[i]], beta[[j]])[:, 0, 0]
    return total
