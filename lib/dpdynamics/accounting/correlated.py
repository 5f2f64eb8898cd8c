r"""Correlated noise with Poisson sampling: certified intervals for what it costs.

The mechanism, its matrices and its parameters are those of `correlated_matrices`. **Neighbours**
are zero-out: one record's vector is there, or it is zero. **Sampling** is Poisson: each record is
in each sum with probability r, independently. The releases may be adaptive.

**From above**, "remove" and "add": the run is at most as revealing as :math:`\lceil T/b\rceil`
independent blocks of b steps with the noise covariance :math:`\kappa^2M_b`,

.. math:: M_b = (1-\lambda)^2I + \lambda\,(\text{Laplacian of the path of } b \text{ steps}),

and a block is dominated by :math:`\sum_ys(y)\,N(\rho(y),\kappa^2)` against :math:`N(0,\kappa^2)`,
:math:`\rho(y)^2=y^TM_b^{-1}y`, of `gaussian_mixtures`. For b = 1, :math:`1/\|C\|_2` may replace
:math:`1-\lambda`, and one block that holds all steps may be that of C itself. Each b bounds; the
least is taken. For "add" there is a bound in closed form too,
:math:`\delta_{\mathrm{Gauss}}(\varepsilon-c;\mu)` with :math:`\mu=r\|C\mathbf1\|_2/\kappa` and
:math:`c=r(1-r)\|C\|_F^2/2\kappa^2`.

**From below** two combinations of the releases are tested, their sum and the direction
:math:`C\mathbf 1`, with zero others. The first bounds the noise of every correlated mechanism:
`cumulative_noise_lower_bound`. The proofs are in the chapter on correlated noise.

For batches of fixed size no such amplification is true (claim wang2026.thmF.8 overlooks this).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from math import ceil, log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct
from scipy.stats import binom

from ..arguments import (
    Array,
    elementwise,
    finite_array,
    fraction,
    fraction_array,
    plain,
    positive,
    probability,
    whole,
    within,
)
from ..divergence.gaussian import gaussian_delta
from ..divergence.gaussian_mixtures import GaussianMixturePair
from .correlated_matrices import (
    checked_correlation,
    cumulative_noise_std,
    encode,
    hashable_strategy,
    participation_sensitivity,
    strategy_norm,
)
from .poisson import DIRECTIONS
from .runs import Bracket, Run, least_epsilon, least_noise, no_other_number, unseen

_LONGEST = 12
_GRID = 128
_WORK = 1e8
_LARGEST = 1e5  # epsilon, beyond which losses overflow the grid that they are composed on


@dataclass(frozen=True, kw_only=True)
class CorrelatedPoisson(Run[Bracket, Bracket]):
    r"""Correlated noise on Poisson samples: certified intervals.

    The noise is :math:`\kappa C^{-1}Z`, for a number :math:`\kappa(Z_t-\lambda Z_{t-1})` in step
    t, and `noise_multiplier` is :math:`\kappa` over the clip norm. Releases may be adaptive.

    Parameters
    ----------
    correlation : float, (k,) or (steps, steps) array
        A number :math:`\lambda\in[0,1)`, at 0 `Poisson` is exact; or another strategy of
        `correlated_matrices`, whose columns have no negative inner products: coefficients, such as
        `square_root_strategy` with or without bands, or a matrix, such as `tree_strategy`.
    sampling_probability : float
        r in [1e-10, 1]; at 1 both bounds are the exact value.
    steps : int
        The number of releases, at least 1.
    relation : {"zero_out", "add", "remove"}
        "remove" compares the law with the record to the law with its vector zeroed out, "add" the
        other way round, "zero_out" is the larger of the two. Another number of records is not
        covered.
    blocks : sequence of int
        The block lengths to try, from 1 to 12, for a number.

    Notes
    -----
    For other strategies than a number the upper bound is that of independent noise of multiplier
    :math:`\kappa/\|C\|_2`, and of the whole run up to 12 steps: a proof for every strategy, and
    wide. Without sampling, for records that come back after b steps at the earliest, banded, square
    root and tree strategies are accounted for exactly by `worst_sensitivity` and `gaussian_delta`.

    `epsilon` is of size at most 1e5. The upper bound of `delta` is rounded outward; it loses about
    1e-3 of delta to its mesh and is not below 1e-18.

    References
    ----------
    The pair of claim wang2026.thmF.8, right for Poisson sampling, has a profile in the bracket.

    Examples
    --------
    >>> run = CorrelatedPoisson(correlation=0.9, sampling_probability=0.1, steps=400)
    >>> [f"{value:.1e}" for value in run.delta(noise_multiplier=13.6, epsilon=8.0)]
    ['1.4e-06', '6.5e-06']
    >>> [round(value, 2) for value in run.noise_for(epsilon=8.0, delta=1e-5)]
    [12.62, 13.38]
    """

    correlation: ArrayLike
    sampling_probability: float
    steps: int
    relation: str = "zero_out"
    blocks: Sequence[int] = field(default=(1, 2, 3, 4, 6, 8, 11), compare=False)

    def __post_init__(self) -> None:
        r = probability("sampling_probability", self.sampling_probability)
        if r < 1e-10:  # 1 - r is rounded, by a relative 1e-6 of r and more
            raise ValueError(f"sampling_probability must be at least 1e-10, got {r}")
        steps = whole("steps", self.steps, 1)
        no_other_number(self.relation, "correlated noise", ("zero_out", "add", "remove"))
        if finite_array("blocks", self.blocks, ndim=1).size == 0:
            raise ValueError("blocks must not be empty")
        for block in self.blocks:
            within("blocks", whole("blocks", block, 1), 1, _LONGEST)
        lengths = {min(int(block), steps) for block in self.blocks}
        strategy = hashable_strategy(self.correlation, steps)
        if np.ndim(strategy):
            lengths = {1, steps if steps <= _LONGEST else 1}
        object.__setattr__(self, "correlation", strategy)
        object.__setattr__(self, "sampling_probability", r)
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "blocks", (steps,) if r == 1 else tuple(sorted(lengths)))

    def delta(self, *, noise_multiplier: float, epsilon: ArrayLike) -> Bracket:
        kappa = positive("noise_multiplier", noise_multiplier)
        epsilons = finite_array("epsilon", epsilon, largest=_LARGEST)
        return Bracket(
            elementwise(lambda e: self._lower(kappa, e), epsilons),
            elementwise(lambda e: self._upper(kappa, e, self.blocks), epsilons),
        )

    def epsilon(self, *, noise_multiplier: float, delta: ArrayLike) -> Bracket:
        kappa = positive("noise_multiplier", noise_multiplier)
        deltas = fraction_array("delta", delta)
        find = partial(least_epsilon, tolerance=1e-6, reach=_LARGEST)
        found = [
            self._solved(find, 1.0, target, lambda e: (kappa, e))
            for target in deltas.ravel().tolist()
        ]
        lower, upper = np.array(found, dtype=np.float64).reshape(-1, 2).T
        return Bracket(plain(lower.reshape(deltas.shape)), plain(upper.reshape(deltas.shape)))

    def _noise_for(self, epsilon: float, delta: float) -> Bracket:
        within("epsilon", epsilon, 0, _LARGEST)
        find = partial(least_noise, tolerance=1e-5, reach=200.0)
        start = strategy_norm(correlation=self.correlation, steps=self.steps)
        return self._solved(find, start, delta, lambda kappa: (kappa, epsilon))

    def _solved(
        self,
        find: Callable[..., float],
        start: float,
        delta: float,
        at: Callable[[float], tuple[float, float]],
    ) -> Bracket:
        """Bound the number that meets delta; it stands for the noise and epsilon `at` it.

        From above with one block at a time, until none is better where the best one ends.
        """

        def above(x: float, block: int) -> float:
            return _excess(self._upper(*at(x), (block,)), delta)

        lower = end = find(lambda x: _excess(self._lower(*at(x)), delta), start, side=-1)
        tried: dict[int, float] = {}
        while (block := min(self.blocks, key=partial(above, end))) not in tried:
            end = tried[block] = find(partial(above, block=block), end, side=1)
        return Bracket(lower, min(tried.values()))

    def block_pair(self, *, block: int) -> GaussianMixturePair:
        r"""Return the pair that dominates so many steps in a row (see the head of this file).

        The record makes :math:`\sum_iw_iN(m_i,\kappa^2)` of :math:`N(0,\kappa^2)`, with `weights`
        w and `means` m, which increase from 0 to :math:`\sqrt b/(1-\lambda)` at most and are
        rounded up by a relative 1e-8. Blocks have 1 to 12 steps.

        Examples
        --------
        >>> run = CorrelatedPoisson(correlation=0.5, sampling_probability=0.1, steps=100)
        >>> run.block_pair(block=2).means.round(4)
        array([0.    , 1.5492, 2.8284])
        """
        lam = checked_correlation(self.correlation)
        within("block", whole("block", block, 1), 1, _LONGEST)
        patterns = _patterns(block)
        # The cosine transform diagonalises the path.
        modes = (1 - lam) ** 2 + 4 * lam * np.sin(pi * np.arange(block) / (2 * block)) ** 2
        shifts = np.sqrt(np.sum(dct(patterns, norm="ortho", axis=1) ** 2 / modes, axis=1))
        return _mixture(shifts, patterns, self.sampling_probability)

    def _noiseless(self, epsilon: float) -> float:
        return unseen(self.sampling_probability, self.steps, self.relation, epsilon)

    def _upper(self, kappa: float, epsilon: float, blocks: Sequence[int]) -> float:
        """Bound delta from above by the best of the blocks."""
        if self.sampling_probability == 1:
            return self._jensen(kappa, epsilon)
        bound = 0.0
        for relation in DIRECTIONS[self.relation]:
            value = self._jensen(kappa, epsilon) if relation == "add" else 1.0
            for block in blocks:
                if relation == "add" and value <= bound:
                    break
                pair, times = _dominating(self, block).scaled(kappa), ceil(self.steps / block)
                value = min(value, pair.composed_delta(times, epsilon, relation))
            bound = max(bound, value)
        return bound

    def _lower(self, kappa: float, epsilon: float) -> float:
        """Bound delta from below by linear statistics."""
        if self.sampling_probability == 1:
            return self._jensen(kappa, epsilon) * (1 - 2e-9)
        pairs, names = [pair.scaled(kappa) for pair in self._linear], DIRECTIONS[self.relation]
        return max(pair.delta(epsilon, name)[0] for pair in pairs for name in names)

    def _jensen(self, kappa: float, epsilon: float) -> float:
        """Bound the profile of "add" by Jensen's inequality for the mean over participations."""
        r = self.sampling_probability
        mean = r * float(np.linalg.norm(self._encoded))
        offset = r * (1 - r) * self._frobenius / (2 * kappa**2)
        value = gaussian_delta(mu=mean / kappa, epsilon=epsilon - offset)
        return float(value) * (1 + 1e-9)

    @cached_property
    def _encoded(self) -> Array:
        r""":math:`C\mathbf1`."""
        return encode(self.correlation, np.ones(self.steps))

    @cached_property
    def _frobenius(self) -> float:
        return float(encode(np.square(self.correlation), np.ones(self.steps)).sum())

    @cached_property
    def _linear(self) -> list[GaussianMixturePair]:
        """The pairs of the sum of the releases and of the direction C1, at noise multiplier 1."""
        r, lam, count = self.sampling_probability, self.correlation, self.steps
        std = cumulative_noise_std(noise_multiplier=1.0, correlation=lam, steps=count)
        matched = encode(lam, self._encoded, transposed=True) / np.linalg.norm(self._encoded)
        return [binomial_pair(r, count).scaled(std), _weighted_sum(np.maximum(matched, 0.0), r)]


def cumulative_noise_lower_bound(
    *,
    epsilon: float,
    delta: float,
    sampling_probability: float,
    steps: int,
    relation: str = "zero_out",
) -> float:
    r"""Bound the cumulative noise of every correlated mechanism from below, by :math:`\sigma^*`.

    Whatever the covariance of the noise, the sum of the releases tells a record of constant vectors
    by :math:`N(K,\sigma^2)`, K binomial, against :math:`N(0,\sigma^2)`. Compare
    `cumulative_noise_std`. Zero-out neighbours; Poisson sampling or fixed size, r = B/n.

    Parameters
    ----------
    epsilon : float
        In [0, 1e5].
    delta : float
        In (0, 1).
    sampling_probability, steps, relation
        As in `CorrelatedPoisson`.

    Returns
    -------
    float
        In clip norms, rounded down; 0 where `delta` is met without noise.

    Examples
    --------
    >>> budget = {"epsilon": 1.0, "delta": 1e-5, "sampling_probability": 0.1, "steps": 400}
    >>> round(cumulative_noise_lower_bound(**budget), 2)
    150.84
    """
    eps, target = within("epsilon", epsilon, 0, _LARGEST), fraction("delta", delta)
    run = CorrelatedPoisson(
        correlation=0.0, sampling_probability=sampling_probability, steps=steps, relation=relation
    )
    if target >= run._noiseless(eps):
        return 0.0
    count = binomial_pair(run.sampling_probability, run.steps)

    def excess(std: float) -> float:
        pair = count.scaled(std)
        return _excess(max(pair.delta(eps, name)[0] for name in DIRECTIONS[relation]), target)

    return least_noise(excess, sqrt(run.steps), side=-1, tolerance=1e-9)


@lru_cache(maxsize=64)
def _dominating(run: CorrelatedPoisson, block: int) -> GaussianMixturePair:
    """Return the pair of a block at noise multiplier 1."""
    r = run.sampling_probability
    if block == 1:
        norm = strategy_norm(correlation=run.correlation, steps=run.steps)
        return GaussianMixturePair(np.array([0.0, norm]), np.array([1 - r, r]))
    if block == run.steps:
        patterns = _patterns(block)
        shifts = participation_sensitivity(correlation=run.correlation, pattern=patterns)
        return _mixture(np.asarray(shifts), patterns, r)
    return run.block_pair(block=block)


def binomial_pair(r: float, count: int) -> GaussianMixturePair:
    """Return the pair of a number of participations and unit noise, rounded down."""
    return _pruned(np.arange(count + 1.0), binom.pmf(np.arange(count + 1), count, r))


def _weighted_sum(weights: Array, r: float) -> GaussianMixturePair:
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


def _pruned(means: Array, weights: Array) -> GaussianMixturePair:
    """Move means of no weight to 0."""
    kept = np.flatnonzero(weights[1:] > 1e-20) + 1
    idle = max(1.0 - float(weights[kept].sum()), float(weights[0]))
    return GaussianMixturePair(np.append(0.0, means[kept]), np.append(idle, weights[kept]))


def _patterns(block: int) -> Array:
    """Return all participations in a block, (2^block, block)."""
    return (np.arange(2**block)[:, None] >> np.arange(block) & 1).astype(np.float64)


def _mixture(shifts: Array, patterns: Array, r: float) -> GaussianMixturePair:
    """Join patterns of the same shift, rounded up."""
    scale, counts = float(shifts.max()), patterns.sum(axis=1)
    levels, index = np.unique(np.ceil(shifts / scale * 2.0**30), return_inverse=True)
    chances = r**counts * (1 - r) ** (patterns.shape[1] - counts)
    weights = np.bincount(index.ravel(), chances).astype(float)
    return GaussianMixturePair(levels * (scale * (1 + 1e-9) / 2.0**30), weights)


def _excess(value: float, target: float) -> float:
    return log(max(value, 1e-300)) - log(target)
