r"""Two runs of noisy homogenised SGD that differ in one record, and what a release tells of it.

Both follow the linear diffusion (9). At the time s one takes the discrete step of its own record,

.. math:: X_{s^+} = (\kappa I - g\,aa^\top)X_{s^-} + g\,b\,a + g\sigma Z,\qquad
          g = \gamma(s)/d,\quad \kappa = 1 - g\delta,

and both go on under (9). In suitable coordinates a release has the mean :math:`g(b - a^\top m(s))u`
and the covariance :math:`-g(uw^\top + wu^\top) + g^2(a^\top V(s)a)uu^\top` beyond a vector and a
diagonal that are common to all records, with diagonal images u and w of a: a pair of records costs
products of vectors and 4 x 4 algebra.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.arguments import (
    Array,
    finite_array,
    last_axis,
    nonnegative,
    nonnegative_array,
    number,
    positive,
    vector,
)
from dpdynamics.divergence import renyi_divergence_gaussian
from dpdynamics.divergence.covariances import DiagonalPlusLowRank
from dpdynamics.problems import LeastSquares
from dpdynamics.problems.schedules import Schedule, as_schedule

from .gaussian_law import GaussianLaw
from .homogenized import law

_BLOCK = 1 << 17  # pairs that are treated together
_LARGEST_RECORD = 1e20  # its fourth powers stand in the covariance


@dataclass(frozen=True, eq=False)
class Release:
    """A Gaussian release, as a function of the record that the differing step uses.

    Attributes
    ----------
    mean, diagonal : (k,) arrays
        What is common to all records.
    shift, spread : (k,) arrays
        The vectors u and w are these times the coordinates of the feature vector.
    coordinate : (k,) array of int
        Eigen-coordinate to which each entry of the release belongs.
    step_size : float
        The discrete learning rate g of the differing step.
    state_mean, state_variance : (d,) arrays
        Law of the state before that step.
    """

    mean: Array
    diagonal: Array
    shift: Array
    spread: Array
    coordinate: np.ndarray
    step_size: float
    state_mean: Array
    state_variance: Array

    def _record(self, name: str, a: ArrayLike, name_b: str, b: float) -> tuple[Array, float]:
        a = vector(name, finite_array(name, a, largest=_LARGEST_RECORD), self.state_mean.size)
        return a, float(finite_array(name_b, b, ndim=0, largest=_LARGEST_RECORD))

    def law(self, a: ArrayLike, b: float) -> GaussianLaw:
        """Law of the release when the record is (a, b), a of shape (d,)."""
        a, b = self._record("a", a, "b", b)
        u, w = self.shift * a[self.coordinate], self.spread * a[self.coordinate]
        g = self.step_size
        core = np.array([[g**2 * (a**2 @ self.state_variance), -g], [-g, 0.0]])
        mean = self.mean + g * (b - a @ self.state_mean) * u
        return GaussianLaw(mean, DiagonalPlusLowRank(self.diagonal, np.stack([u, w], axis=1), core))

    def divergence(
        self, a: ArrayLike, b: float, other_a: ArrayLike, other_b: float, order: ArrayLike
    ) -> float | Array:
        """Renyi divergence of the law of record (a, b) from that of the other record."""
        p, q = self.law(a, b), self.law(*self._record("other_a", other_a, "other_b", other_b))
        return renyi_divergence_gaussian(p.mean, p.covariance, q.mean, q.covariance, order)

    def pairwise_divergence(self, a: ArrayLike, b: ArrayLike, order: float) -> Array:
        r"""Compute the Renyi divergences (n, n) of all ordered pairs of n records (a, b).

        Entry (i, j) is :math:`D_\alpha` of record i's law from record j's; inf where it is
        infinite. The order lies in [1 + 1e-6, 1e6]: beyond, fewer than nine digits are left; use
        `divergence` there. ValueError also if a record is so large that its covariance is lost to
        rounding.
        """
        a = last_axis("a", finite_array("a", a, ndim=2), self.state_mean.size)
        b = vector("b", b, len(a))
        order = number("order", order)
        if not 1e-6 <= order - 1 <= 1e6:
            raise ValueError(f"order must lie in [1 + 1e-6, 1e6], got {order!r}")
        white = a[:, self.coordinate] / np.sqrt(self.diagonal)
        u, w, g = white * self.shift, white * self.spread, self.step_size
        gram = u @ u.T, u @ w.T, w @ w.T
        power = g**2 * (a**2 @ self.state_variance)
        pull = g * (b - a @ self.state_mean)
        rows = max(1, _BLOCK // len(a))
        blocks = [
            _pairs(gram, power, pull, g, order, slice(start, start + rows))
            for start in range(0, len(a), rows)
        ]
        result = np.concatenate(blocks)
        np.fill_diagonal(result, 0.0)
        return result


def release(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    *,
    step_time: float,
    times: ArrayLike,
    average: bool = False,
) -> Release:
    r"""Release the states at some times, or their mean, of runs that differ in one record.

    By the Markov property the whole tells what the last release y that precedes s and the first x
    that follows it tell. The coordinates are y, if there is one, and
    :math:`x - \kappa\Phi(t_x, t_y)y`.
    Claims lin2025.eq13, lin2025.thm4.3, lin2025.eq18, lin2025.thm4.4 (which leaves y out) and
    lin2025.thm4.5.

    Parameters
    ----------
    problem, x0, schedule
        As in `risk_curve`.
    noise_scale : float
        :math:`\sigma`, positive.
    step_time : float
        Time s of the differing step, nonnegative.
    times : float or (J,) array
        Increasing, positive where a release precedes the step; the last is at least `step_time`.
        A release at `step_time` itself comes after the step.
    average : bool
        Release the mean of the states instead.

    Returns
    -------
    Release
    """
    marks = np.atleast_1d(nonnegative_array("times", times))
    if marks.ndim > 1 or marks.size == 0 or np.any(np.diff(marks) <= 0):
        raise ValueError("times must be a number or a vector, must not be empty and must increase")
    split = int(np.searchsorted(marks, nonnegative("step_time", step_time)))
    if split == marks.size:
        raise ValueError(f"times must reach step_time = {step_time}, got {marks[-1]}")
    if split and marks[0] == 0:
        raise ValueError("times must be positive where a release precedes the step")
    if not average:  # the last before the step and the first after it
        marks, split = marks[max(split - 1, 0) : split + 1], min(split, 1)
    schedule, sigma = as_schedule(schedule), positive("noise_scale", noise_scale)
    g = float(schedule(step_time)) / problem.dimension
    kappa, private = 1 - g * problem.ridge, (g * sigma) ** 2

    marks = np.append(marks, step_time)
    clock = np.multiply.outer(schedule.integral(marks), problem.curvature)
    states = law(problem, x0, schedule, sigma, marks)
    mean, variance = states.mean, states.variance
    (past, start), (m, v) = (mean[:split], variance[:split]), (mean[-1], variance[-1])
    up, down = np.exp(clock[:split] - clock[-1]), np.exp(clock[-1] - clock[split:-1])
    later = mean[split:-1] + (kappa - 1) * down * m
    fresh = np.maximum(variance[split:-1] - down**2 * v, 0.0)  # of the noise since the step
    if average:
        share = 1 / (marks.size - 1)
        reach, common = share * down.sum(axis=0), share * (up * start).sum(axis=0)
        sums = _covariance_of_sum(clock[:split], start) + _covariance_of_sum(clock[split:-1], fresh)
        shift, spread = reach, kappa * reach * v + common
        center = share * (past.sum(axis=0) + later.sum(axis=0))
        diagonal = reach * (reach * (kappa**2 * v + private) + 2 * kappa * common) + share**2 * sums
    else:
        gain = v - (up**2 * start).sum(axis=0)  # noise between the release before and the step
        carried = (kappa * down * up * past).sum(axis=0)
        own = down**2 * (kappa**2 * gain + private) + fresh
        center = np.concatenate([*past, later[0] - carried])
        diagonal = np.concatenate([*start, own[0]])
        shift = np.concatenate([*np.zeros_like(start), down[0]])
        spread = np.concatenate([*(up * start), kappa * down[0] * gain])
    coordinate = np.tile(np.arange(m.size), center.size // m.size)
    return Release(center, diagonal, shift, spread, coordinate, g, m, v)


def _covariance_of_sum(exponents: Array, variances: Array) -> Array:
    """Variance (d,) of a sum of states with these variances (N, d) in increasing times."""
    total = np.zeros(variances.shape[1])
    for k, variance in enumerate(variances):
        later = np.exp(exponents[k] - exponents[k + 1 :]).sum(axis=0)
        total += variance * (1 + 2 * later)
    return total


def _pairs(
    gram: tuple[Array, Array, Array],
    power: Array,
    pull: Array,
    g: float,
    order: float,
    rows: slice,
) -> Array:
    """Divergences of the pairs (i, j) for i in `rows` and all j, from Gram matrices."""
    uu, uw, ww = gram
    first = [np.diagonal(x)[rows, None] for x in gram]
    second = [np.diagonal(x)[None, :] for x in gram]
    uu, uw, wu, ww = uu[rows], uw[rows], uw.T[rows], ww[rows]
    shape, zero = uu.shape, np.zeros(())
    # Gram matrix of (u_i, w_i, u_j, w_j), upper triangle by rows.
    gram4 = [
        [first[0], first[1], uu, uw],
        [zero, first[2], wu, ww],
        [zero, zero, second[0], second[1]],
        [zero, zero, zero, second[2]],
    ]
    basis = _cholesky(np.array([[np.broadcast_to(x, shape) for x in row] for row in gram4]))
    with np.errstate(over="ignore", invalid="ignore"):
        of_i = _congruent(basis[:, :2], power[rows, None], g)
        of_j = _congruent(basis[:, 2:], power[None, :], g)
        gap = basis[:, 0] * pull[rows, None] - basis[:, 2] * pull[None, :]
        log_p, _ = _eliminate(of_i)
        log_q, _ = _eliminate(of_j)
        log_m, square = _eliminate((1 - order) * of_i + order * of_j, gap)
    if not np.all(np.isfinite(log_p + log_q)):
        raise ValueError("a must be smaller: the covariance of a record is lost to rounding")
    spread = ((1 - order) * log_p + order * log_q - log_m) / (2 * (order - 1))
    return np.where(np.isnan(log_m), np.inf, np.maximum(order / 2 * square + spread, 0.0))


def _cholesky(gram: Array) -> Array:
    """Return R (4, 4, ...) with R'R = gram, read from the upper triangle; rank may be lower."""
    r = np.zeros_like(gram)
    for k in range(4):
        pivot = gram[k, k] - (r[:k, k] ** 2).sum(axis=0)
        root = np.sqrt(np.where(pivot > 1e-15 * gram[k, k], pivot, 0.0))
        r[k, k] = root
        for j in range(k + 1, 4):
            rest = gram[k, j] - (r[:k, k] * r[:k, j]).sum(axis=0)
            r[k, j] = np.divide(rest, root, out=np.zeros_like(rest), where=root > 0)
    return r


def _congruent(columns: Array, power: Array, g: float) -> Array:
    """Return R S R' (4, 4, ...) for two columns u, w (4, 2, ...) and S = [[power, -g], [-g, 0]]."""
    u, w = columns[:, 0], columns[:, 1]
    cross = u[:, None] * w[None]
    return power * u[:, None] * u[None] - g * (cross + cross.swapaxes(0, 1))


def _eliminate(excess: Array, right: Array | None = None) -> tuple[Array, Array]:
    """Return ln det(I + E) and r'(I + E)^-1 r by elimination; NaN where I + E is not positive."""
    excess = excess.copy()
    right = np.zeros(excess.shape[1:]) if right is None else right.copy()
    log_det, square = np.zeros(excess.shape[2:]), np.zeros(excess.shape[2:])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for k in range(4):
            pivot = np.where(excess[k, k] > -1, excess[k, k], np.nan)
            log_det += np.log1p(pivot)
            square += right[k] ** 2 / (1 + pivot)
            for i in range(k + 1, 4):
                factor = excess[i, k] / (1 + pivot)
                excess[i, k + 1 :] -= factor * excess[k, k + 1 :]
                right[i] -= factor * right[k]
    return log_det, square
