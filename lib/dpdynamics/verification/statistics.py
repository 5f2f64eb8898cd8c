"""The statistics behind the checks: critical values, power, fitted exponents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ..arguments import Array, finite_array, fraction, number, whole

FAMILY_ERROR = 1e-4  # probability of rejecting a true statement, over all comparisons of a check


def finite(name: str, value: ArrayLike, *, infinite: bool = False) -> Array:
    """Return ``value`` as a non-empty array of real numbers, finite unless ``infinite``."""
    array = finite_array(name, value, infinite=infinite, largest=np.inf)
    if array.size == 0:
        raise ValueError(f"{name} must not be empty")
    return array


def critical_value(
    comparisons: int = 1,
    family_error: float = FAMILY_ERROR,
    *,
    dof: float = np.inf,
    sides: int = 2,
) -> float:
    """Bonferroni critical value of a family of z tests (``dof = inf``) or Student t tests.

    The largest of ``comparisons`` statistics exceeds it with probability at most ``family_error``
    when all statements are true, however the statistics depend on each other.
    """
    dof = _checked(dof, sides)
    tail = fraction("family_error", family_error) / (sides * whole("comparisons", comparisons, 1))
    value = float(stats.t.isf(tail, dof))
    if not np.isclose(stats.t.sf(value, dof), tail, rtol=1e-6, atol=0):
        raise ValueError(f"family_error = {family_error} is too small for dof = {dof}")
    return value


def rejection_probability(
    noncentrality: float, critical: float, *, dof: float = np.inf, sides: int = 2
) -> float:
    """Probability that a z or t test with the given critical value rejects.

    Parameters
    ----------
    noncentrality : float
        True difference divided by the true standard error; may be infinite.
    critical : float
        The critical value, positive.
    dof : float
        Degrees of freedom of the standard error; ``inf`` when it is known.
    sides : {1, 2}
    """
    dof = _checked(dof, sides)
    noncentrality = number("noncentrality", noncentrality)
    if not 0 < number("critical", critical) < np.inf:
        raise ValueError(f"critical must be positive and finite, got {critical}")
    # T > c exactly when Z > c S - noncentrality, where S = chi / sqrt(dof) is independent of Z.
    # (scipy.stats.nct returns NaN in tails that are reached here, so the mean over S is ours.)
    scale = _scales(dof)
    upper = stats.norm.sf(critical * scale - noncentrality).mean()
    lower = stats.norm.sf(critical * scale + noncentrality).mean() if sides == 2 else 0.0
    return float(min(1.0, upper + lower))


@lru_cache
def _scales(dof: float) -> Array:
    """Equally likely values of chi / sqrt(dof)."""
    levels = (np.arange(4000) + 0.5) / 4000
    return np.ones(1) if np.isinf(dof) else np.sqrt(stats.chi2.ppf(levels, dof) / dof)


def _checked(dof: float, sides: int) -> float:
    if not number("dof", dof) > 0:
        raise ValueError(f"dof must be positive, got {dof}")
    if number("sides", sides) not in (1, 2):
        raise ValueError(f"sides must be 1 or 2, got {sides}")
    return float(dof)


@dataclass(frozen=True)
class Estimate:
    """An estimated number with its standard error and the degrees of freedom of the latter."""

    value: float
    standard_error: float
    dof: float

    def interval(self, error: float = FAMILY_ERROR) -> tuple[float, float]:
        """Two-sided t-interval that misses the truth with probability ``error``."""
        half = critical_value(1, error, dof=self.dof) * self.standard_error
        return self.value - half, self.value + half


def loglog_slope(sizes: ArrayLike, values: ArrayLike) -> Estimate:
    """Fit ``values ~ sizes**exponent`` by least squares on logarithms.

    Parameters
    ----------
    sizes : array_like, shape (n,)
        Positive and distinct, n >= 3.
    values : array_like, shape (n,) or (replicates, n)
        Positive. With one value a size the standard error is that of the residuals (n - 2 degrees
        of freedom), so it includes curvature. With replicates (independent rows, at least 3) the
        fit is to the means over rows and the standard error is the jackknife over rows.
    """
    x, y = finite("sizes", sizes), finite("values", values)
    if x.ndim != 1 or x.size < 3 or np.unique(x).size < x.size or (x <= 0).any():
        raise ValueError("sizes must be at least 3 distinct positive numbers, shape (n,)")
    if y.ndim not in (1, 2) or y.shape[-1] != x.size or (y.ndim == 2 and len(y) < 3):
        raise ValueError(
            f"values must have shape ({x.size},) or (replicates >= 3, {x.size}), got {y.shape}"
        )
    if (np.atleast_2d(y).mean(axis=0) <= 0).any():
        raise ValueError("values must be positive (their means over replicates, where there are)")
    centred = np.log(x) - np.log(x).mean()
    weights = centred / (centred @ centred)
    if y.ndim == 1:
        slope = float(weights @ np.log(y))
        residual = np.log(y) - np.log(y).mean() - slope * centred
        dof = x.size - 2
        error = np.sqrt(residual @ residual / dof / (centred @ centred))
    else:
        rows = len(y)
        left_out = (y.sum(axis=0) - y) / (rows - 1)
        if (left_out <= 0).any():
            raise ValueError("values must keep positive means when any replicate is left out")
        slope, dof = float(weights @ np.log(y.mean(axis=0))), rows - 1
        error = np.sqrt((rows - 1) * np.var(np.log(left_out) @ weights))
    return Estimate(slope, float(error), dof)
