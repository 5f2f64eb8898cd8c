r"""Audits: what samples of the outputs prove about epsilon, from below.

If a mechanism is (epsilon, delta)-private, every event S and both orders of the neighbouring runs
satisfy :math:`P(S)\le e^\varepsilon Q(S)+\delta`. A fifth of the samples chooses an event, the
scores above or below a threshold, and the order of the two runs; the rest, which the choice has not
seen, bounds both probabilities by Clopper and Pearson.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from ..arguments import Array, finite_array, fraction, number

_SEARCH = 0.2


class Audit(NamedTuple):
    """A lower bound and the event that proves it.

    The event is ``score >= threshold`` if `above`, else ``score <= threshold``. It has happened
    `hits` times in `trials` held-out runs of the law that makes it likely, which is that of
    `outputs_p` if `p_likely`, and `false_hits` times in `false_trials` of the other.
    """

    lower_bound: float
    threshold: float
    above: bool
    p_likely: bool
    hits: int
    trials: int
    false_hits: int
    false_trials: int


def audit_epsilon(
    outputs_p: ArrayLike,
    outputs_q: ArrayLike,
    *,
    delta: float,
    confidence: float,
    rng: np.random.Generator,
) -> Audit:
    r"""Bound from below every epsilon for which the mechanism can be (epsilon, delta)-private.

    Parameters
    ----------
    outputs_p, outputs_q : (n,) and (m,) arrays
        Scores of independent runs on two neighbouring data sets, at least 10 each; may be infinite.
        A score is any function of the output that was chosen without looking at these runs; the
        log likelihood ratio is the best one.
    delta : float
        In [0, 1).
    confidence : float
        In (0, 1): the probability, at least, that the bound does not exceed the truth.
    rng : Generator
        Splits the runs into those that choose the event and those that count it.

    Returns
    -------
    Audit
        `lower_bound` is in [0, inf). It cannot exceed about ln n, and at the delta of practice it
        stays far below epsilon, see `audit_mu`.

    References
    ----------
    Jagielski, Ullman and Oprea (2020); Nasr et al. (2021).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.standard_normal((2, 100_000)) + [[1.0], [0.0]]
    >>> 2.3 < audit_epsilon(p, q, delta=1e-5, confidence=0.95, rng=rng).lower_bound < 4.377
    True
    """
    if not 0 <= number("delta", delta) < 1:
        raise ValueError(f"delta must lie in [0, 1), got {delta}")

    def epsilon(low: Array, high: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(low - delta, 0.0)) - np.log(high))

    return _audit(outputs_p, outputs_q, epsilon, confidence, rng)


def audit_mu(
    outputs_p: ArrayLike, outputs_q: ArrayLike, *, confidence: float, rng: np.random.Generator
) -> Audit:
    r"""Bound from below every mu for which the mechanism can be mu-GDP.

    A mechanism whose tradeoff curve is at least that of the Gaussian mechanism has
    :math:`\Phi^{-1}(P(S)) - \Phi^{-1}(Q(S))\le\mu`. For a mechanism that claims just this, the
    bound is far sharper than that on epsilon at small delta. It says nothing about epsilon unless
    the curve is known to be Gaussian; then `gaussian_epsilon` of it is a bound.

    Arguments and errors are those of `audit_epsilon`.

    Returns
    -------
    Audit
        `lower_bound` is in [0, inf).

    References
    ----------
    Nasr et al. (2023), Section 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.standard_normal((2, 100_000)) + [[1.0], [0.0]]
    >>> 0.88 < audit_mu(p, q, confidence=0.95, rng=rng).lower_bound < 1
    True
    """
    return _audit(outputs_p, outputs_q, lambda p, q: ndtri(p) - ndtri(q), confidence, rng)


def _audit(
    outputs_p: ArrayLike,
    outputs_q: ArrayLike,
    privacy: Callable[[Array, Array], Array],
    confidence: float,
    rng: np.random.Generator,
) -> Audit:
    """Bound `privacy`(P(S), Q(S)), increasing in P(S) and decreasing in Q(S)."""
    error = (1 - fraction("confidence", confidence)) / 2
    search_p, count_p = _split("outputs_p", outputs_p, rng)
    search_q, count_q = _split("outputs_q", outputs_q, rng)

    def proven(likely: Array, other: Array, at: Array, above: bool) -> tuple[Array, Array, Array]:
        hits, false = _count(likely, at, above), _count(other, at, above)
        low = _lower(hits, likely.size, error)
        high = 1 - _lower(other.size - false, other.size, error)
        return privacy(low, high), hits, false

    thresholds = _thresholds(np.concatenate([search_p, search_q]))
    best, choice = -np.inf, (float(thresholds[0]), True, True)
    for above in (True, False):
        for p_likely in (True, False):
            pair = (search_p, search_q) if p_likely else (search_q, search_p)
            values = proven(*pair, thresholds, above)[0]
            i = int(np.argmax(values))
            if values[i] > best:
                best, choice = float(values[i]), (float(thresholds[i]), above, p_likely)
    threshold, above, p_likely = choice
    likely, other = (count_p, count_q) if p_likely else (count_q, count_p)
    value, hits, false = proven(likely, other, np.array([threshold]), above)
    counts = int(hits[0]), likely.size, int(false[0]), other.size
    return Audit(max(0.0, float(value[0])), threshold, above, p_likely, *counts)


def _split(name: str, outputs: ArrayLike, rng: np.random.Generator) -> tuple[Array, Array]:
    scores = finite_array(name, outputs, ndim=1, infinite=True)
    if scores.size < 10:
        raise ValueError(f"{name} must hold at least 10 runs, got {scores.size}")
    first = int(_SEARCH * scores.size)
    shuffled = rng.permutation(scores)
    return np.sort(shuffled[:first]), np.sort(shuffled[first:])


def _thresholds(scores: Array) -> Array:
    """Some 200 order statistics, the denser the nearer to either end."""
    ranks = np.unique(np.geomspace(1, scores.size, 120).astype(int)) - 1
    return np.unique(np.sort(scores)[np.concatenate([ranks, scores.size - 1 - ranks])])


def _count(scores: Array, thresholds: Array, above: bool) -> Array:
    below = np.searchsorted(scores, thresholds, side="left" if above else "right")
    return (scores.size - below if above else below).astype(np.float64)


def _lower(hits: Array, trials: int, error: float) -> Array:
    """Clopper and Pearson's lower bound of a probability."""
    some = np.maximum(hits, 1e-300)
    return np.where(hits > 0, betaincinv(some, trials - hits + 1, error), 0.0)
