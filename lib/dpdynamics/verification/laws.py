"""Laws of random quantities and probabilities of events, from independent samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ..arguments import Array, fraction, number, one_of, whole
from .evidence import Check, Comparison, judged
from .statistics import FAMILY_ERROR, finite
from .trial import over, put_to_test, replicates, shaped_like, summary


def distribution(
    name: str,
    *,
    samples: ArrayLike,
    printed_cdf: Callable[[Array], ArrayLike],
    corrected_cdf: Callable[[Array], ArrayLike] | None = None,
    controls: Mapping[str, Any],
    family_error: float = FAMILY_ERROR,
    allowance: float = 0.0,
) -> Check:
    """Check a law by the Kolmogorov-Smirnov test at level ``family_error``.

    The power against a control is bounded below by that of the binomial test at the one point where
    the control differs most from the accepted law.

    Parameters
    ----------
    samples : array_like, shape (n,)
        Independent draws, n at least 8.
    printed_cdf, corrected_cdf : callable
        Vectorised distribution functions (``scipy.stats.chi2(5).cdf``).
    allowance : float
        A stated bound on the distance between the printed (limit) law and the exact one.
    """
    draws = replicates("samples", samples)
    if draws.ndim != 1:
        raise ValueError(f"samples must have shape (n,), got {draws.shape}")
    fraction("family_error", family_error)
    if not 0 <= number("allowance", allowance) < 1:
        raise ValueError(f"allowance must lie in [0, 1), got {allowance}")
    grid = np.linspace(draws.min(), draws.max(), 2001)

    def values(name: str, cdf: Any, x: Array) -> Array:
        if not callable(cdf):
            raise ValueError(f"{name} must be callable, got {type(cdf).__name__}")
        level = finite(name, cdf(x))
        inside = level.shape == x.shape and level.min() >= 0 and level.max() <= 1
        if not inside or (np.diff(level) < 0).any():
            raise ValueError(f"{name} must be vectorised, nondecreasing and within [0, 1]")
        return level

    def read(name: str, cdf: Any) -> Callable[[Array], Array]:
        name = f"{name}_cdf" if name in ("printed", "corrected") else name
        values(name, cdf, grid)
        return partial(values, name, cdf)

    def tolerance(n: int) -> float:
        return float(stats.kstwo.isf(family_error, n)) + allowance

    def compare(label: str, value: Array, cdf: Any) -> Comparison:
        x, n = np.sort(value), value.size
        level, steps = cdf(x), np.arange(n + 1) / n
        gap = np.maximum(steps[1:] - level, level - steps[:-1])
        worst = {"x": x[gap.argmax()], "distance": gap.max()}
        return judged(label, gap.max() / tolerance(n), worst)

    def detect(value: Array, cdf: Any, truth: Any) -> float:
        x, n = (np.sort(value) if truth is None else grid), value.size
        target = cdf(x)
        level = np.arange(1, n + 1) / n if truth is None else truth(x)
        at = int(np.abs(level - target).argmax())
        p, aim = level[at], target[at]
        if truth is None:
            p = np.clip(aim, *proportion(at + 1, n, 0.02))
        reach = tolerance(n) + allowance
        return outside(n, p, n * (aim - reach), n * (aim + reach))

    return put_to_test(
        name,
        "distribution",
        draws,
        (printed_cdf, corrected_cdf, controls),
        compare=compare,
        detect=detect,
        read=read,
        read_measured=lambda argument, value: replicates(argument, value, draws),
        as_array=lambda cdf: cdf(grid),
        test=f"Kolmogorov-Smirnov distance <= {tolerance(draws.size):.4g} at level {family_error:g}"
        + (f", {allowance:.3g} of it a stated error" if allowance else ""),
        sizes={"samples": draws.size},
        numbers={"measured": summary(draws), "mean": draws.mean(), "variance": draws.var(ddof=1)},
    )


def coverage(
    name: str,
    *,
    successes: int,
    trials: int,
    printed: float,
    corrected: float | None = None,
    controls: Mapping[str, Any],
    sense: str = ">=",
    family_error: float = FAMILY_ERROR,
) -> Check:
    """Check the probability of an event: exact binomial test, Clopper-Pearson interval.

    The ratio is the number of adverse outcomes over the largest number that the claim allows at
    level ``family_error``.

    Parameters
    ----------
    successes, trials : int
        Independent trials and how often the event occurred.
    printed, corrected : float
        The claimed probability, in [0, 1]; a wrong event is ``instead((successes, trials))``.
    sense : {">=", "<=", "=="}
        Whether the probability is claimed to be at least, at most or exactly ``printed``.
    """
    one_of("sense", sense, (">=", "<=", "=="))
    level = fraction("family_error", family_error) / (2 if sense == "==" else 1)

    def read(name: str, probability: Any) -> Array:
        p = shaped_like(0.0, "a number")(name, probability)
        if not 0 <= p <= 1:
            raise ValueError(f"{name} must be a probability, in [0, 1], got {p}")
        return p

    def read_measured(name: str, counts: Any) -> Array:
        if np.shape(counts) != (2,):
            raise ValueError(f"{name} must be a pair (successes, trials), got {counts!r}")
        return np.array(counted(*counts), dtype=float)

    def limits(n: float, p: Array) -> tuple[float, float]:
        """Fewest and most successes the claim allows; a side without a claim is unlimited."""
        most = stats.binom.isf(level, n, p) if sense != ">=" and p < 1 else n
        fewest = n - stats.binom.isf(level, n, 1 - p) if sense != "<=" and p > 0 else 0.0
        return float(fewest), float(most)

    def compare(label: str, counts: Array, p: Array) -> Comparison:
        k, n = counts
        fewest, most = limits(n, p)
        ratio = max(
            float(over(n - k, n - fewest)) if sense != "<=" else 0.0,
            float(over(k, most)) if sense != ">=" else 0.0,
        )
        worst = {"frequency": k / n, "claimed": float(p), "allowed": [fewest, most]}
        return judged(label, ratio, worst)

    def detect(counts: Array, p: Array, truth: Array | None) -> float:
        k, n = counts
        nearest = np.clip(p, *proportion(int(k), int(n), 0.02))
        true = float(truth) if truth is not None and sense == "==" else float(nearest)
        return outside(n, true, *limits(n, p))

    counts = np.array(counted(successes, trials), dtype=float)
    return put_to_test(
        name,
        "coverage",
        counts,
        (printed, corrected, controls),
        compare=compare,
        detect=detect,
        read=read,
        read_measured=read_measured,
        test=f"probability {sense} claim, exact binomial test at level {family_error:g}",
        sizes={"trials": int(trials)},
        numbers={
            "frequency": successes / trials,
            "Clopper-Pearson interval": list(proportion(successes, trials, family_error)),
        },
    )


def counted(successes: int, trials: int) -> tuple[int, int]:
    """Read how often an event occurred in independent trials."""
    trials = whole("trials", trials, 1)
    if whole("successes", successes, 0) > trials:
        raise ValueError(f"successes must be at most trials = {trials}, got {successes}")
    return int(successes), trials


def proportion(successes: int, trials: int, error: float) -> tuple[float, float]:
    """Clopper and Pearson's interval, which misses the probability with at most ``error``."""
    interval = stats.binomtest(successes, trials).proportion_ci(1 - error, method="exact")
    return float(interval.low), float(interval.high)


def outside(n: float, p: float, low: float, high: float) -> float:
    """Probability that a binomial(n, p) count lies below ``low`` or above ``high``."""
    below = stats.binom.cdf(np.ceil(low) - 1, n, p)
    return float(min(1.0, below + stats.binom.sf(np.floor(high), n, p)))
