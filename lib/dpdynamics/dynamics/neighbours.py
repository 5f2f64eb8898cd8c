r"""Two runs of noisy homogenised SGD that differ in one record, and what a release tells of it.

Both follow the linear diffusion (9). At the time s one takes the discrete step of its own record,

.. math:: X_{s^+} = (\kappa I - g\,aa^\top)X_{s^-} + g\,b\,a + g\sigma Z,\qquad
          g = \gamma(s)/d,\quad \kappa = 1 - g\delta,

and both go on under (9). A release is a linear image of the states. In suitable coordinates its
covariance is a diagonal, common to all records, plus :math:`-g(uw^\top + wu^\top) + g^2(a^\top
V(s)a)uu^\top`, where u and w are diagonal images of a; and its mean is a common vector plus
:math:`g(b - a^\top m(s))u`. So a pair of records costs products of vectors and 4 x 4 algebra.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.accounting import DiagonalPlusLowRank, renyi_divergence_gaussian
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
from dpdynamics.problems import LeastSquares, Schedule, as_schedule

from .homogenized import Law, law

_BLOCK = 1 << 17  # pairs that are treated together
_LARGEST_RECORD = 1e20  # its fourth powers stand in the covariance


class GaussianLaw(NamedTuple):
    """`mean` (k,) and `covariance` of a Gaussian vector."""

    mean: Array
    covariance: DiagonalPlusLowRank


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

    def law(self, a: ArrayLike, b: float) -> GaussianLaw:
        """Law of the release when the record is (a, b), a of shape (d,)."""
        a = vector("a", finite_array("a", a, largest=_LARGEST_RECORD), self.state_mean.size)
        b = float(finite_array("b", b, ndim=0, largest=_LARGEST_RECORD))
        u, w = self.shift * a[self.coordinate], self.spread * a[self.coordinate]
        g = self.step_size
        core = np.array([[g**2 * (a**2 @ self.state_variance), -g], [-g, 0.0]])
        mean = self.mean + g * (b - a @ self.state_mean) * u
        return GaussianLaw(mean, DiagonalPlusLowRank(self.diagonal, np.stack([u, w], axis=1), core))

    def divergence(
        self, a: ArrayLike, b: float, other_a: ArrayLike, other_b: float, order: ArrayLike
    ) -> float | Array:
        """Renyi divergence of the law of record (a, b) from that of the other record."""
        vector(
            "other_a",
            finite_array("other_a", other_a, largest=_LARGEST_RECORD),
            self.state_mean.size,
        )
        finite_array("other_b", other_b, ndim=0, largest=_LARGEST_RECORD)
        p, q = self.law(a, b), self.law(other_a, other_b)
        return renyi_divergence_gaussian(p.mean, p.covariance, q.mean, q.covariance, order)

    def pairwise_divergence(self, a: ArrayLike, b: ArrayLike, order: float) -> Array:
        r"""Compute the Renyi divergences of all ordered pairs of n records.

        Parameters
        ----------
        a : (n, d) array
        b : (n,) array
        order : float
            In [1 + 1e-6, 1e6]: nearer to one, and farther out, the differences that are taken
            cancel, and fewer than nine digits are left. Use `divergence` there.

        Returns
        -------
        (n, n) array
            Entry (i, j) is :math:`D_\alpha` of record i's law from record j's; inf where it is
            infinite.

        Raises
        ------
        ValueError
            If a shape or a range is violated, or a record is so large that its covariance is
            lost to rounding.
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


def last_iterate(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    *,
    step_time: float,
    time: float,
) -> Release:
    r"""Release the state at `time`, after the differing step at `step_time`.

    Parameters
    ----------
    problem : LeastSquares
    x0 : (d,) array
    schedule : Schedule or float
    noise_scale : float
        :math:`\sigma`, positive.
    step_time : float
        Time s of the differing step, nonnegative.
    time : float
        At least `step_time`.

    Returns
    -------
    Release

    Raises
    ------
    ValueError
        If a shape or a range is violated.

    References
    ----------
    Claims lin2025.eq13 and lin2025.thm4.3.
    """
    if nonnegative("time", time) < nonnegative("step_time", step_time):
        raise ValueError(f"time must be at least step_time = {step_time}, got {time}")
    return several_iterates(problem, x0, schedule, noise_scale, step_time=step_time, times=[time])


def several_iterates(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    *,
    step_time: float,
    times: ArrayLike,
) -> Release:
    r"""Release the states at several times, before and after the differing step.

    The states are a Markov chain. Those before the last release y that precedes s, and those after
    the first release x that follows it, have the same conditional law for every record: what the
    whole tells of the record is what the pair (y, x) tells. The coordinates are y and
    :math:`x - \kappa\Phi(t_x, t_y)y`.

    Parameters
    ----------
    problem, x0, schedule, noise_scale, step_time
        As for `last_iterate`.
    times : (J,) array
        Increasing, positive; the last is at least `step_time`. A release at `step_time` itself
        comes after the step.

    Returns
    -------
    Release

    Raises
    ------
    ValueError
        If a shape or a range is violated.

    References
    ----------
    Claims lin2025.eq18 and lin2025.thm4.4, which leaves y out.
    """
    move = _Move(problem, x0, schedule, noise_scale, step_time, times)
    after = move.times[move.split]
    decay, later = move.after([after])
    down, mean, fresh = decay[0], later.mean[0], later.variance[0]
    if move.split == 0:
        diagonal = down**2 * (move.kappa**2 * move.variance + move.private) + fresh
        return move.release(mean, diagonal, down, move.kappa * down * move.variance)
    before = move.times[move.split - 1]
    up, past = move.before([before])
    start = past.variance[0]
    gain = move.variance - up[0] ** 2 * start  # noise between the release before and the step
    zero = np.zeros_like(start)
    return move.release(
        np.concatenate([past.mean[0], mean - move.kappa * down * up[0] * past.mean[0]]),
        np.concatenate([start, down**2 * (move.kappa**2 * gain + move.private) + fresh]),
        np.concatenate([zero, down]),
        np.concatenate([up[0] * start, move.kappa * down * gain]),
    )


def average_iterate(
    problem: LeastSquares,
    x0: ArrayLike,
    schedule: Schedule | float,
    noise_scale: float,
    *,
    step_time: float,
    times: ArrayLike,
) -> Release:
    """Release the mean of the states at several times; arguments as for `several_iterates`.

    References
    ----------
    Claim lin2025.thm4.5.
    """
    move = _Move(problem, x0, schedule, noise_scale, step_time, times)
    later, earlier = move.times[move.split :], move.times[: move.split]
    share = 1 / move.times.size
    decay, since = move.after(later)
    reach = share * decay.sum(axis=0)
    mean = share * since.mean.sum(axis=0)
    diagonal = reach**2 * (move.kappa**2 * move.variance + move.private)
    diagonal = diagonal + share**2 * _covariance_of_sum(move.clock(later), since.variance)
    spread = move.kappa * reach * move.variance
    if earlier.size:
        up, past = move.before(earlier)
        common = share * (up * past.variance).sum(axis=0)  # covariance with the state before s
        mean = mean + share * past.mean.sum(axis=0)
        diagonal = diagonal + 2 * move.kappa * reach * common
        diagonal = diagonal + share**2 * _covariance_of_sum(move.clock(earlier), past.variance)
        spread = spread + common
    return move.release(mean, diagonal, reach, spread)


class _Move:
    """The diffusion before, at and after the differing step."""

    def __init__(
        self,
        problem: LeastSquares,
        x0: ArrayLike,
        schedule: Schedule | float,
        noise_scale: float,
        step_time: float,
        times: ArrayLike,
    ) -> None:
        self.times = nonnegative_array("times", times, ndim=1)
        if self.times.size == 0 or np.any(np.diff(self.times) <= 0):
            raise ValueError("times must not be empty and must increase")
        self.step_time = nonnegative("step_time", step_time)
        self.split = int(np.searchsorted(self.times, self.step_time))  # releases before the step
        if self.split == self.times.size:
            raise ValueError(f"times must reach step_time = {step_time}, got {self.times[-1]}")
        if self.split and self.times[0] == 0:
            raise ValueError("times must be positive where a release precedes the step")
        self.problem, self.x0, self.schedule = problem, x0, as_schedule(schedule)
        self.noise_scale = positive("noise_scale", noise_scale)
        self.step_size = float(self.schedule(self.step_time)) / problem.dimension
        self.kappa = 1 - self.step_size * problem.ridge
        self.private = (self.step_size * self.noise_scale) ** 2
        state = self.free_law([self.step_time])
        self.mean, self.variance = state.mean[0], state.variance[0]

    def free_law(self, times: ArrayLike) -> Law:
        """Law of the state where no record differs."""
        return law(self.problem, self.x0, self.schedule, self.noise_scale, times)

    def clock(self, times: ArrayLike) -> Array:
        """Exponents (N, d) of the decay since time 0."""
        return np.multiply.outer(self.schedule.integral(np.asarray(times)), self.problem.curvature)

    def before(self, times: ArrayLike) -> tuple[Array, Law]:
        """Decay from the times to the step (N, d), and the law there."""
        return np.exp(self.clock(times) - self.clock([self.step_time])), self.free_law(times)

    def after(self, times: ArrayLike) -> tuple[Array, Law]:
        """Decay since the step (N, d); means if it only shrinks, variances of the noise since."""
        decay = np.exp(self.clock([self.step_time]) - self.clock(times))
        mean, variance = self.free_law(times)
        fresh = np.maximum(variance - decay**2 * self.variance, 0.0)
        return decay, Law(mean + (self.kappa - 1) * decay * self.mean, fresh)

    def release(self, mean: Array, diagonal: Array, shift: Array, spread: Array) -> Release:
        coordinate = np.tile(np.arange(self.mean.size), mean.size // self.mean.size)
        common = mean, diagonal, shift, spread, coordinate
        return Release(*common, self.step_size, self.mean, self.variance)


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
