r"""Correlated noise with Poisson sampling: certified intervals for what it costs.

The mechanism, its matrices and its parameters are those of `correlated_matrices`. **Neighbours**
are zero-out: one record's vector is there, or it is zero; "remove" compares the law with the record
to the law without, "add" the other way round, "add_remove" is the larger of the two. **Sampling**
is Poisson: each record is in each sum with probability r, independently. The releases may be
adaptive.

**From above: blocks.** :math:`N=C^{-1}C^{-T}` is tridiagonal. Cut it into blocks of b steps. With

.. math:: M_b = (1-\lambda)^2I + \lambda\,(\text{Laplacian of the path of } b \text{ steps})

the difference :math:`N - \operatorname{diag}(M_b,\dots,M_b)` is :math:`\lambda\binom{1\;-1}{-1\;1}`
at each cut, :math:`\lambda(1-\lambda)` in the first place and :math:`\lambda` in the last: positive
semidefinite. So the noise is noise with independent blocks plus a Gaussian process that can be
handed out before the run, and the run is a composition of :math:`\lceil T/b\rceil` blocks. In a
block take :math:`M_b^{-1}=C_b^TC_b` with C_b lower triangular. It has no negative entry, because
:math:`M_b` has none that is positive off its diagonal. Given that the record takes part as y, row t
of :math:`C_b` times the sums moves by :math:`(C_by)_t` at most whatever was released before, so a
test of level a has at most the power :math:`\Phi(\rho(y)/\kappa - z_a)`,
:math:`\rho(y)^2=y^TM_b^{-1}y`: the block is dominated by the pair

.. math:: \sum_ys(y)\,N(\rho(y),\kappa^2)\quad\text{and}\quad N(0,\kappa^2)

of `shift_mixtures`. For b = 1, :math:`1/\|C\|_2` may replace :math:`1-\lambda`
(`independent_noise_multiplier`), and if one block holds all steps it may be N itself. Each b
bounds; the least is taken.

**From above, "add".** By Jensen's inequality the loss of adding is at most that of a Gaussian
shift by the mean participation: `add_delta_bound`.

**From below.** One record with a constant vector among zero others moves a fixed combination of the
releases by :math:`\langle w,y\rangle`. Two combinations are tested, their sum and the direction
:math:`C\mathbf 1`. The first bounds the cumulative noise of *every* correlated mechanism:
`cumulative_noise_lower_bound`.

**Batches of fixed size** let the others' sum betray the record, and amplification of this form is
not true for them (claim wang2026.thmF.8 overlooks this). For them there remain
`independent_noise_multiplier`, the calibration of Theorem F.12, and the bound on the cumulative
noise, whose data have zero others.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import ceil, exp, expm1, log, log1p, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct
from scipy.optimize import brentq
from scipy.signal import lfilter
from scipy.stats import binom

from ..arguments import (
    Array,
    elementwise,
    finite_array,
    fraction,
    fraction_array,
    nonnegative,
    one_of,
    positive,
    whole,
)
from .correlated_matrices import (
    checked_correlation,
    checked_probability,
    cumulative_noise_std,
    participation_sensitivity,
    strategy_norm,
)
from .gaussian import gaussian_delta, gaussian_noise_multiplier
from .shift_mixtures import ShiftMixture

BLOCKS = (1, 2, 3, 4, 6, 8, 11)
_LONGEST = 12
_GRID = 128
_WORK = 1e8
_LARGEST = 1e5  # epsilon, beyond which losses overflow the grid that they are composed on


class Bracket(NamedTuple):
    """Bounds below and above a quantity: two floats, or two arrays of one shape."""

    lower: float | Array
    upper: float | Array


def correlated_gaussian_delta(
    *,
    noise_multiplier: float,
    correlation: float,
    sampling_probability: float,
    steps: int,
    epsilon: ArrayLike,
    relation: str = "add_remove",
    blocks: Sequence[int] = BLOCKS,
) -> Bracket:
    r"""Bound the privacy profile :math:`\delta(\varepsilon)` on both sides.

    Zero-out neighbours, Poisson sampling, adaptive releases.

    Parameters
    ----------
    noise_multiplier : float
        :math:`\kappa`, the standard deviation of :math:`\kappa Z_t` over the clip norm; positive.
    correlation : float
        :math:`\lambda\in[0,1)`; at 0 `subsampled_gaussian_delta` is exact.
    sampling_probability : float
        r in (0, 1]; at 1 both bounds are the exact value.
    steps : int
        The number of releases, at least 1.
    epsilon : number or array
        Real numbers of size at most 1e5.
    relation : {"add_remove", "add", "remove"}
    blocks : sequence of int
        The block lengths to try, from 1 to 12.

    Returns
    -------
    Bracket
        Of the shape of `epsilon`. The upper bound is rounded outward; it loses about 1e-3 of delta
        to its mesh and is not below 1e-18.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    The pair of claim wang2026.thmF.8, right for Poisson sampling, has a profile in the bracket.

    Examples
    --------
    >>> run = {"correlation": 0.9, "sampling_probability": 0.1, "steps": 400}
    >>> bracket = correlated_gaussian_delta(noise_multiplier=13.6, epsilon=8.0, **run)
    >>> [f"{value:.1e}" for value in bracket]
    ['1.4e-06', '6.5e-06']
    """
    kappa, epsilons = (
        positive("noise_multiplier", noise_multiplier),
        finite_array("epsilon", epsilon, largest=_LARGEST),
    )
    run = CorrelatedRun(correlation, sampling_probability, steps, relation, blocks)
    return Bracket(
        elementwise(lambda e: run.lower(kappa, e), epsilons),
        elementwise(lambda e: run.upper(kappa, e), epsilons),
    )


def correlated_gaussian_epsilon(
    *,
    noise_multiplier: float,
    correlation: float,
    sampling_probability: float,
    steps: int,
    delta: ArrayLike,
    relation: str = "add_remove",
    blocks: Sequence[int] = BLOCKS,
) -> Bracket:
    r"""Bound the smallest :math:`\varepsilon\ge0` with :math:`\delta(\varepsilon)\le\delta`.

    Zero-out neighbours, Poisson sampling, adaptive releases.

    Parameters
    ----------
    noise_multiplier, correlation, sampling_probability, steps, relation, blocks
        As in `correlated_gaussian_delta`.
    delta : number or array
        In (0, 1).

    Returns
    -------
    Bracket
        Of the shape of `delta`. The mechanism is (upper, delta)-private, and not
        (epsilon, delta)-private for any epsilon below `lower`.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    kappa, deltas = positive("noise_multiplier", noise_multiplier), fraction_array("delta", delta)
    run = CorrelatedRun(correlation, sampling_probability, steps, relation, blocks)

    def solve(bound: Callable[[float], float], target: float, start: float, side: int) -> float:
        if bound(0.0) <= target:
            return 0.0
        return max(_crossing(lambda e: _excess(bound(e), target), start, side, 1e-6), 0.0)

    def lower(target: float) -> float:
        return solve(lambda e: run.lower(kappa, e), target, 1.0, -1)

    def upper(target: float) -> float:
        return _refined(
            lambda block, start: solve(lambda e: run.upper(kappa, e, (block,)), target, start, 1),
            lambda e: run.best(kappa, e),
            lower(target),
        )

    return Bracket(elementwise(lower, deltas), elementwise(upper, deltas))


def correlated_noise_multiplier(
    *,
    epsilon: float,
    delta: float,
    correlation: float,
    sampling_probability: float,
    steps: int,
    relation: str = "add_remove",
    blocks: Sequence[int] = BLOCKS,
) -> Bracket:
    r"""Calibrate the noise: less than `lower` is not private, `upper` is enough.

    Zero-out neighbours, Poisson sampling, adaptive releases.

    Parameters
    ----------
    epsilon : float
        In [0, 1e5].
    delta : float
        In (0, 1).
    correlation, sampling_probability, steps, relation, blocks
        As in `correlated_gaussian_delta`.

    Returns
    -------
    Bracket
        For :math:`\kappa`. `correlated_gaussian_delta` at `upper` is at most `delta`: the budget
        is never exceeded.

    Raises
    ------
    ValueError
        If an argument is out of range, or if `delta` is met without noise, as in
        `calibrate_noise_multiplier`.

    Examples
    --------
    >>> run = {"correlation": 0.9, "sampling_probability": 0.1, "steps": 400}
    >>> bracket = correlated_noise_multiplier(epsilon=8.0, delta=1e-5, **run)
    >>> [round(value, 2) for value in bracket]
    [12.62, 13.38]
    """
    eps, target = _budget(epsilon, delta)
    run = CorrelatedRun(correlation, sampling_probability, steps, relation, blocks)
    noiseless = _noiseless(run.probability, run.steps, eps, relation)
    if target >= noiseless:
        raise ValueError(f"delta must be below {noiseless:g}, from where no noise is needed")

    def solve(bound: Callable[[float], float], start: float, side: int) -> float:
        root = _crossing(lambda v: _excess(bound(exp(v)), target), log(start), side, 1e-5)
        return exp(root)

    lower = solve(lambda kappa: run.lower(kappa, eps), run.norm, -1)
    upper = _refined(
        lambda block, start: solve(lambda kappa: run.upper(kappa, eps, (block,)), start, 1),
        lambda kappa: run.best(kappa, eps),
        lower,
    )
    return Bracket(lower, upper)


def cumulative_noise_lower_bound(
    *,
    epsilon: float,
    delta: float,
    sampling_probability: float,
    steps: int,
    relation: str = "add_remove",
) -> float:
    r"""Bound the cumulative noise of every correlated mechanism from below, by :math:`\sigma^*`.

    Let the noise of the releases be Gaussian with any covariance whatever. If one record holds a
    constant vector of the clip norm and all others hold zero, the sum of the releases is
    :math:`N(K,\sigma^2)` along that vector, where K is binomial and :math:`\sigma` the standard
    deviation of the sum of the noises, against :math:`N(0,\sigma^2)`. So a mechanism that is
    :math:`(\varepsilon,\delta)`-private has :math:`\sigma\ge\sigma^*`, the noise at which this pair
    is. Compare `cumulative_noise_std`.

    Zero-out neighbours; Poisson sampling or batches of fixed size, r = B/n.

    Parameters
    ----------
    epsilon : float
        In [0, 1e5].
    delta : float
        In (0, 1).
    sampling_probability, steps, relation
        As in `correlated_gaussian_delta`.

    Returns
    -------
    float
        In clip norms, rounded down; 0 where `delta` is met without noise.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> budget = {"epsilon": 1.0, "delta": 1e-5, "sampling_probability": 0.1, "steps": 400}
    >>> round(cumulative_noise_lower_bound(**budget), 2)
    150.84
    """
    eps, target = _budget(epsilon, delta)
    run = CorrelatedRun(0.0, sampling_probability, steps, relation, (1,))
    if target >= _noiseless(run.probability, run.steps, eps, relation):
        return 0.0
    if run.probability == 1:
        exact = float(gaussian_noise_multiplier(epsilon=eps, delta=target))
        return run.steps * exact * (1 - 1e-12)
    count = binomial_pair(run.probability, run.steps)

    def excess(log_std: float) -> float:
        pair = count.scaled(exp(log_std))
        return _excess(max(pair.delta(eps, name)[0] for name in run.relations), target)

    return exp(_crossing(excess, log(run.steps) / 2, -1, 1e-9))


def block_pair(
    *, correlation: float, block: int, sampling_probability: float
) -> tuple[Array, Array]:
    r"""Build the pair that dominates a block of steps (see the head of this file).

    Zero-out neighbours, Poisson sampling, adaptive releases.

    Parameters
    ----------
    correlation, sampling_probability
        As in `correlated_gaussian_delta`.
    block : int
        b, from 1 to 12.

    Returns
    -------
    shifts, weights : (m,) arrays
        The record makes :math:`\sum_iw_iN(s_i,\kappa^2)` of :math:`N(0,\kappa^2)`. Shifts
        increase from 0, are rounded up by a relative 1e-8, and are at most
        :math:`\sqrt b/(1-\lambda)`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> shifts, weights = block_pair(correlation=0.5, block=2, sampling_probability=0.1)
    >>> for shift, weight in zip(shifts, weights):
    ...     print(f"{shift:.4f} {weight:.2f}")
    0.0000 0.81
    1.5492 0.18
    2.8284 0.01
    """
    lam, r = checked_correlation(correlation), checked_probability(sampling_probability)
    patterns = _patterns(_checked_block(block))
    # The Laplacian of the path is diagonal in the cosine transform.
    modes = (1 - lam) ** 2 + 4 * lam * np.sin(pi * np.arange(block) / (2 * block)) ** 2
    shifts = np.sqrt(np.sum(dct(patterns, norm="ortho", axis=1) ** 2 / modes, axis=1))
    pair = _mixture(shifts, patterns.sum(axis=1), block, r)
    return pair.means, pair.weights


def add_delta_bound(
    *,
    noise_multiplier: float,
    correlation: float,
    sampling_probability: float,
    steps: int,
    epsilon: ArrayLike,
) -> float | Array:
    r"""Bound the profile of adding a record in closed form.

    Jensen's inequality for the mean over participations, with Q the law without the record, gives
    :math:`\ln(dP/dQ)\ge\ln(dN(r C\mathbf1,\kappa^2I)/dN(0,\kappa^2I)) - c` and hence

    .. math:: H_{e^\varepsilon}(Q\|P)\le\delta_{\mathrm{Gauss}}(\varepsilon-c;\mu),\qquad
       \mu = \frac{r\|C\mathbf1\|_2}\kappa,\qquad c = \frac{r(1-r)\|C\|_F^2}{2\kappa^2}.

    Zero-out neighbours, Poisson sampling, adaptive releases.

    Parameters
    ----------
    noise_multiplier, correlation, sampling_probability, steps, epsilon
        As in `correlated_gaussian_delta`.

    Returns
    -------
    float or array of the shape of `epsilon`
        Says little unless c is well below epsilon; exact at r = 1.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    kappa = positive("noise_multiplier", noise_multiplier)
    lam, r = checked_correlation(correlation), checked_probability(sampling_probability)
    ages = np.arange(whole("steps", steps, 1))
    frobenius = float((steps - ages) @ lam ** (2.0 * ages))
    mean = r * np.asarray(participation_sensitivity(correlation=lam, pattern=np.ones(steps)))
    offset = r * (1 - r) * frobenius / (2 * kappa**2)
    return gaussian_delta(mu=mean / kappa, epsilon=finite_array("epsilon", epsilon) - offset)


class CorrelatedRun:
    """A run but for its noise: bounds as functions of the noise multiplier and epsilon."""

    def __init__(
        self,
        correlation: float,
        probability: float,
        steps: int,
        relation: str,
        blocks: Sequence[int],
    ) -> None:
        self.correlation = checked_correlation(correlation)
        self.probability = checked_probability(probability)
        if self.probability < 1e-10:  # 1 - r is rounded, by a relative 1e-6 of r and more
            raise ValueError(f"sampling_probability must be at least 1e-10, got {probability}")
        self.steps = whole("steps", steps, 1)
        one_of("relation", relation, ("add_remove", "add", "remove"))
        self.relations = ("remove", "add") if relation == "add_remove" else (relation,)
        if finite_array("blocks", blocks, ndim=1).size == 0:
            raise ValueError("blocks must not be empty")
        lengths = {min(_checked_block(b, "blocks"), self.steps) for b in blocks}
        self.blocks: Sequence[int] = (self.steps,) if self.probability == 1 else sorted(lengths)
        self.norm = strategy_norm(correlation=self.correlation, steps=self.steps)
        self._pairs: dict[int, ShiftMixture] = {}

    def upper(self, kappa: float, epsilon: float, blocks: Sequence[int] | None = None) -> float:
        """Bound delta from above by the best of the blocks."""
        if self.probability == 1:
            return self._jensen(kappa, epsilon)
        bound = 0.0
        for relation in self.relations:
            value = self._jensen(kappa, epsilon) if relation == "add" else 1.0
            for block in blocks or self.blocks:
                if relation == "add" and value <= bound:
                    break
                value = min(value, self._composed(block, kappa, epsilon, relation))
            bound = max(bound, value)
        return bound

    def best(self, kappa: float, epsilon: float) -> int:
        """Return the block that gives the least bound."""
        return min(self.blocks, key=lambda b: self.upper(kappa, epsilon, (b,)))

    def lower(self, kappa: float, epsilon: float) -> float:
        """Bound delta from below by linear statistics."""
        if self.probability == 1:
            return self._jensen(kappa, epsilon) * (1 - 2e-9)
        pairs = [pair.scaled(kappa) for pair in self._linear]
        return max(pair.delta(epsilon, name)[0] for pair in pairs for name in self.relations)

    def _jensen(self, kappa: float, epsilon: float) -> float:
        value = add_delta_bound(
            noise_multiplier=kappa,
            correlation=self.correlation,
            sampling_probability=self.probability,
            steps=self.steps,
            epsilon=epsilon,
        )
        return float(value) * (1 + 1e-9)

    def _composed(self, block: int, kappa: float, epsilon: float, relation: str) -> float:
        if block not in self._pairs:
            self._pairs[block] = self._pair(block)
        count = ceil(self.steps / block)
        return self._pairs[block].scaled(kappa).composed_delta(count, epsilon, relation)

    def _pair(self, block: int) -> ShiftMixture:
        r, lam = self.probability, self.correlation
        if block == 1:
            return ShiftMixture(np.array([0.0, self.norm]), np.array([1 - r, r]))
        if block == self.steps:
            patterns = _patterns(block)
            shifts = participation_sensitivity(correlation=lam, pattern=patterns)
            return _mixture(np.asarray(shifts), patterns.sum(axis=1), block, r)
        return ShiftMixture(*block_pair(correlation=lam, block=block, sampling_probability=r))

    @cached_property
    def _linear(self) -> list[ShiftMixture]:
        """The pairs of the sum of the releases and of the direction C1, at noise multiplier 1."""
        r, lam, count = self.probability, self.correlation, self.steps
        std = cumulative_noise_std(noise_multiplier=1.0, correlation=lam, steps=count)
        encoded = lfilter([1.0], [1.0, -lam], np.ones(count))
        matched = lfilter([1.0], [1.0, -lam], encoded[::-1])[::-1] / np.linalg.norm(encoded)
        return [binomial_pair(r, count).scaled(std), _weighted_sum(matched, r)]


def binomial_pair(r: float, count: int) -> ShiftMixture:
    """Return the pair of a number of participations and unit noise, rounded down."""
    return _pruned(np.arange(count + 1.0), binom.pmf(np.arange(count + 1), count, r))


def _weighted_sum(weights: Array, r: float) -> ShiftMixture:
    """Return the pair of a weighted number of participations and unit noise, rounded down."""
    fineness = int(np.clip(_WORK / weights.size**2, 1, _GRID))
    meshes = weights.max() / fineness * (1 - np.geomspace(1e-6, 0.5 / fineness, 60))
    kept = [mesh * np.floor(weights / mesh).sum() for mesh in meshes]
    mesh = float(meshes[int(np.argmax(kept))])
    jumps = np.floor(weights / mesh).astype(int)
    if fineness == 1:
        return binomial_pair(r, int(jumps.sum())).scaled(1 / mesh)
    law, end = np.zeros(jumps.sum() + 1), 1
    law[0] = 1.0
    for jump in jumps[jumps > 0].tolist():
        moved = r * law[:end]
        law[:end] *= 1 - r
        law[jump : end + jump] += moved
        end += jump
    return _pruned(mesh * np.arange(float(law.size)), law)


def _pruned(means: Array, weights: Array) -> ShiftMixture:
    """Move means of no weight to 0."""
    kept = np.flatnonzero(weights[1:] > 1e-20) + 1
    idle = max(1.0 - float(weights[kept].sum()), float(weights[0]))
    return ShiftMixture(np.append(0.0, means[kept]), np.append(idle, weights[kept]))


def _patterns(block: int) -> Array:
    """Return all participations in a block, (2^block, block)."""
    return (np.arange(2**block)[:, None] >> np.arange(block) & 1).astype(np.float64)


def _mixture(shifts: Array, counts: Array, block: int, r: float) -> ShiftMixture:
    """Join patterns of the same shift, rounded up."""
    scale = float(shifts.max())
    levels, index = np.unique(np.ceil(shifts / scale * 2.0**30), return_inverse=True)
    weights = np.bincount(index.ravel(), r**counts * (1 - r) ** (block - counts)).astype(float)
    return ShiftMixture(levels * (scale * (1 + 1e-9) / 2.0**30), weights)


def _checked_block(block: int, name: str = "block") -> int:
    if whole(name, block, 1) > _LONGEST:
        raise ValueError(f"{name} must be at most {_LONGEST}, got {block}")
    return int(block)


def _noiseless(r: float, steps: int, epsilon: float, relation: str) -> float:
    """Return the delta that is met without noise."""
    if r == 1:
        return 1.0
    return max(0.0, -expm1(steps * log1p(-r) + (epsilon if relation == "add" else 0.0)))


def _budget(epsilon: float, delta: float) -> tuple[float, float]:
    if nonnegative("epsilon", epsilon) > _LARGEST:
        raise ValueError(f"epsilon must be at most {_LARGEST:g}, got {epsilon}")
    return float(epsilon), fraction("delta", delta)


def _excess(value: float, target: float) -> float:
    return log(max(value, 1e-300)) - log(target)


def _crossing(f: Callable[[float], float], start: float, side: int, tolerance: float) -> float:
    """Return a place next to the zero of a decreasing f, on the side where it is not to be."""
    low = high = start
    step = 0.1
    if f(start) > 0:
        while f(high) > 0:
            low, high, step = high, high + step, 2 * step
            if high > 200:  # noise of exp(200), where only the floor of the bounds is left
                raise ArithmeticError("delta is too small to be resolved")
    else:
        while f(low) <= 0:
            low, high, step = low - step, low, 2 * step
    root = float(brentq(f, low, high, xtol=tolerance, rtol=1e-12))
    while (f(root) > 0) == (side > 0):
        root, tolerance = root + side * tolerance, 2 * tolerance
    return root


def _refined(
    solve: Callable[[int, float], float], best: Callable[[float], int], start: float
) -> float:
    """Solve with one block at a time, until none is better where the best one ends."""
    tried: dict[int, float] = {}
    while (block := best(start)) not in tried:
        start = tried[block] = solve(block, start)
    return min(tried.values())
