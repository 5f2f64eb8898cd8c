"""Student t tests: expectations, and exponents fitted on logarithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ..arguments import Array, fraction, one_of
from . import statistics as st
from .evidence import Check, Comparison, judged
from .statistics import FAMILY_ERROR, finite
from .trial import (
    MINIMUM_REPLICATES,
    ROUNDING,
    named_grids,
    over,
    put_to_test,
    replicates,
    shaped_like,
    stated_error,
    summary,
    worst_point,
)


@dataclass(frozen=True)
class _TTest:
    """Estimates, their standard errors and degrees of freedom against a statement, Bonferroni."""

    estimate: Callable[[Array], tuple[Array, Array, float]]
    points: int
    family_error: float
    allowance: Array
    names: Mapping[str, Array] = field(default_factory=dict)
    sides: int = 2
    unit: float = 0.0  # rounding is relative to the estimate, or to this where it is larger

    def critical(self, dof: float) -> float:
        return st.critical_value(self.points, self.family_error, dof=dof, sides=self.sides)

    def excess(self, difference: Array) -> Array:
        return np.abs(difference) if self.sides == 2 else np.maximum(difference, 0.0)

    def rounding(self, centre: Array) -> Array:
        return ROUNDING * np.maximum(np.abs(centre), self.unit)

    def compare(self, label: str, value: Array, statement: Array) -> Comparison:
        centre, error, dof = self.estimate(value)
        tolerance = self.critical(dof) * error + self.allowance + self.rounding(centre)
        ratio = over(self.excess(centre - statement), tolerance)
        return judged(label, ratio.max(), worst_point(ratio, self.names, centre, statement))

    def detect(self, value: Array, statement: Array, truth: Array | None) -> float:
        centre, error, dof = self.estimate(value)
        # A one-sided truth is a bound: only the estimate tells.
        if truth is None or self.sides == 1:
            shift = self.excess(centre - statement) - st.critical_value(1, 0.02, dof=dof) * error
        else:
            shift = self.excess(truth - statement)
        shift = np.maximum(shift - 2 * self.allowance - self.rounding(centre), 0.0)
        noncentrality = float(over(shift, error).max())
        critical = self.critical(dof)
        return st.rejection_probability(noncentrality, critical, dof=dof, sides=self.sides)


def expectation(
    name: str,
    *,
    samples: ArrayLike,
    printed: ArrayLike,
    corrected: ArrayLike | None = None,
    controls: Mapping[str, Any],
    family_error: float = FAMILY_ERROR,
    allowance: ArrayLike = 0.0,
    where: Mapping[str, ArrayLike] | None = None,
) -> Check:
    """Check expectations against Monte Carlo: Student t at every point, Bonferroni over points.

    A true statement is rejected with probability at most ``family_error`` over all points. The
    power against a control, which must exceed 0.99, is that of its difference from the accepted
    statement, less twice the allowance, over the standard error; for ``instead(samples)`` of the
    observed difference less its own 99 % error.

    Parameters
    ----------
    samples : array_like, shape (replicates, points) or (replicates,)
        Independent rows, at least 8.
    printed, corrected : array_like, shape (points,) or ()
    allowance : float or array_like of the shape of ``printed``
        A stated bound on deterministic error, added to the tolerance.
    """
    draws = replicates("samples", samples)
    points, shape = draws[0].size, draws.shape[1:]
    allowed = stated_error(allowance, shape)
    names = named_grids(where, draws[0], "the points of samples")

    def moments(value: Array) -> tuple[Array, Array, float]:
        return value.mean(axis=0), stats.sem(value, axis=0), len(value) - 1

    test = _TTest(moments, points, family_error, allowed, names)
    mean, error, dof = moments(draws)
    scale = np.where(error > ROUNDING * np.abs(mean), error, np.inf)  # constant points have no skew
    third = np.mean(((draws - mean) / scale) ** 3, axis=0)
    return put_to_test(
        name,
        "expectation",
        draws,
        (printed, corrected, controls),
        compare=test.compare,
        detect=test.detect,
        read=shaped_like(mean, "the points of samples"),
        read_measured=lambda argument, value: replicates(argument, value, draws),
        test=f"|mean - statement| <= {test.critical(dof):.4g} standard errors"
        + (f" + {allowed.max():.3g} (stated error)" if allowed.any() else "")
        + f"; t test, family-wise error {family_error:g} over {points} points",
        comparisons=points,
        sizes={"replicates": len(draws), "points": points},
        numbers={
            "mean": summary(mean),
            "standard error": summary(error),
            "allowance": float(allowed.max()),
            "skewness / sqrt(replicates)": np.abs(third).max() / len(draws) ** 2,
        },
    )


def rate(
    name: str,
    *,
    sizes: ArrayLike,
    values: ArrayLike,
    printed: float,
    corrected: float | None = None,
    controls: Mapping[str, Any],
    sense: str = "==",
    family_error: float = FAMILY_ERROR,
    allowance: float = 0.0,
) -> Check:
    """Check a claimed exponent: ``values ~ sizes**printed``, fitted on logarithms.

    Parameters
    ----------
    sizes : array_like, shape (n,)
        At least five distinct sizes over at least 1.5 decades.
    values : array_like, shape (n,) or (replicates, n)
        Positive; at least 8 independent rows, if replicates. The fit is :func:`loglog_slope`'s.
    printed, corrected : float
        Claimed exponents.
    sense : {"==", "<="}
        ``"<="`` for an upper bound: the exponent is at most the claim, and controls claim less.
    allowance : float
        A stated bound on the finite-size error of the fitted exponent.
    """
    x = finite("sizes", sizes)
    if x.ndim != 1 or np.unique(x).size < 5 or (x <= 0).any():
        raise ValueError("sizes must be at least five distinct positive numbers")
    if np.log10(x.max() / x.min()) < 1.5 - 1e-9:
        raise ValueError(f"sizes must span 1.5 decades, got {np.log10(x.max() / x.min()):.2f}")
    one_of("sense", sense, ("==", "<="))
    fraction("family_error", family_error)
    allowed = stated_error(allowance)

    def read_values(argument: str, value: Any) -> Array:
        y = finite(argument, value)
        if y.ndim == 2 and len(y) < MINIMUM_REPLICATES:
            raise ValueError(f"{argument} must have at least {MINIMUM_REPLICATES} replicates")
        st.loglog_slope(x, y)
        return y

    def fit(value: Array) -> tuple[Array, Array, float]:
        slope = st.loglog_slope(x, value)
        return np.array(slope.value), np.array(slope.standard_error), slope.dof

    y = read_values("values", values)
    slope = st.loglog_slope(x, y)
    sides = 2 if sense == "==" else 1
    test = _TTest(fit, 1, family_error, allowed, sides=sides, unit=1.0)
    order, mean = np.argsort(x), np.atleast_2d(y).mean(axis=0)
    local = np.diff(np.log(mean[order])) / np.diff(np.log(x[order]))
    return put_to_test(
        name,
        "rate",
        y,
        (printed, corrected, controls),
        compare=test.compare,
        detect=test.detect,
        read=shaped_like(0.0, "a number"),
        read_measured=read_values,
        test=f"exponent {sense} claim within its t-interval of error {family_error:g}"
        + (f" + {allowance:g} (stated finite-size error)" if allowance else ""),
        sizes={"sizes": x.size, "replicates": len(y) if y.ndim == 2 else 1},
        numbers={
            "exponent": slope.value,
            "interval": list(slope.interval(family_error)),
            "local exponents, first and last": [local[0], local[-1]],
            "sizes": [x.min(), x.max()],
        },
    )
