"""Intervals, critical values, power and slopes, each by an independent route."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from dpdynamics.verification import (
    critical_value,
    loglog_slope,
    rejection_probability,
)
from dpdynamics.verification.laws import proportion
from dpdynamics.verification.statistics import FAMILY_ERROR, finite


@given(some.integers(1, 500), some.floats(0, 1), some.floats(1e-6, 0.5))
def test_proportion_is_the_interval_of_beta_quantiles(trials, share, error):
    k = round(share * trials)
    low = stats.beta.ppf(error / 2, k, trials - k + 1) if k else 0.0
    high = stats.beta.isf(error / 2, k + 1, trials - k) if k < trials else 1.0
    assert proportion(k, trials, error) == pytest.approx((low, high), abs=1e-9)


def test_critical_value_matches_tables_and_bonferroni():
    assert critical_value(1, 0.05) == pytest.approx(1.959964, abs=1e-6)
    assert critical_value(1, 0.05, dof=10) == pytest.approx(2.228139, abs=1e-6)
    assert critical_value(20, 0.05, dof=7) == pytest.approx(stats.t.ppf(1 - 0.05 / 40, 7))
    assert critical_value(1, 0.05, sides=1) == pytest.approx(1.644854, abs=1e-6)


def test_family_wise_error_by_simulation():
    rng, families, comparisons, dof, error = np.random.default_rng(3), 20_000, 12, 9, 0.05
    statistic = rng.standard_normal((families, comparisons)) / np.sqrt(
        rng.chisquare(dof, (families, comparisons)) / dof
    )
    exceeds = np.abs(statistic).max(axis=1) > critical_value(comparisons, error, dof=dof)
    low, high = proportion(int(exceeds.sum()), families, FAMILY_ERROR)
    assert low <= error
    assert high >= 1 - (1 - error / comparisons) ** comparisons  # independent: just below error


@pytest.mark.parametrize("dof", [3, 20, 1000])
@pytest.mark.parametrize("noncentrality", [0.0, 1.0, 4.0, 8.0])
def test_power_agrees_with_the_noncentral_t(dof, noncentrality):
    ours = rejection_probability(noncentrality, 5.0, dof=dof, sides=1)
    assert ours == pytest.approx(stats.nct.sf(5.0, dof, noncentrality), abs=2e-5)


def test_power_agrees_with_the_normal_and_with_simulation():
    exact = stats.norm.sf(4 - 3) + stats.norm.cdf(-4 - 3)
    assert rejection_probability(3, 4) == pytest.approx(exact, rel=1e-12)
    rng, dof, runs = np.random.default_rng(1), 6, 200_000
    t = (rng.standard_normal(runs) + 5) / np.sqrt(rng.chisquare(dof, runs) / dof)
    low, high = proportion(int((np.abs(t) > 4).sum()), runs, FAMILY_ERROR)
    assert low <= rejection_probability(5, 4, dof=dof) <= high


def test_power_has_no_nan_where_scipy_has_one():
    assert np.isnan(stats.nct.cdf(-4.2, 1000, 5))
    assert 0.78 < rejection_probability(5, 4.2, dof=1000) < 0.79
    assert rejection_probability(np.inf, 4.2, dof=7) == 1
    assert rejection_probability(0, 0.5) == pytest.approx(2 * stats.norm.sf(0.5), rel=1e-12)
    assert rejection_probability(0, 2, dof=30) == pytest.approx(2 * stats.t.sf(2, 30), abs=1e-5)


def test_slope_agrees_with_linregress():
    rng = np.random.default_rng(0)
    sizes = np.geomspace(10, 3000, 9)
    values = sizes**-0.7 * np.exp(0.1 * rng.standard_normal(9))
    line = stats.linregress(np.log(sizes), np.log(values))
    fit = loglog_slope(sizes, values)
    assert (fit.value, fit.standard_error) == pytest.approx((line.slope, line.stderr), rel=1e-10)
    half = stats.t.isf(0.005, 7) * line.stderr
    assert fit.interval(0.01) == pytest.approx((line.slope - half, line.slope + half))


@pytest.mark.parametrize("replicates", [None, 20])
def test_slope_interval_covers_at_its_level(replicates):
    rng, sizes, runs = np.random.default_rng(5), np.geomspace(10, 1000, 8), 2000
    shape = (8,) if replicates is None else (replicates, 8)
    hits = 0
    for _ in range(runs):
        noise = np.exp(0.2 * rng.standard_normal(shape))
        low, high = loglog_slope(sizes, sizes**-0.5 * noise).interval(0.05)
        hits += low <= -0.5 <= high
    low, high = proportion(hits, runs, FAMILY_ERROR)
    assert low <= 0.95 <= high + (0 if replicates is None else 0.02)


@given(some.floats(-3, 3), some.floats(0.01, 100))
def test_slope_is_exact_on_power_laws_and_free_of_units(exponent, unit):
    sizes = np.array([10.0, 20, 50, 200, 1000])
    fit = loglog_slope(unit * sizes, 7 * sizes**exponent)
    assert fit.value == pytest.approx(exponent, abs=1e-9)
    assert fit.standard_error < 1e-9


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: critical_value(0), "comparisons"),
        (lambda: critical_value(1, 0.0), "family_error"),
        (lambda: critical_value(1, dof=0), "dof must be positive"),
        (lambda: critical_value(1, sides=3), "sides"),
        (lambda: rejection_probability(np.nan, 3), "noncentrality"),
        (lambda: rejection_probability(1, -3), "critical"),
        (lambda: loglog_slope([1, 2], [1, 2]), "sizes"),
        (lambda: loglog_slope([1, 2, 2], [1, 2, 3]), "sizes"),
        (lambda: loglog_slope([1, 2, 3], [1, 2]), "values"),
        (lambda: loglog_slope([1, 2, 3], [1, -2, 3]), "values"),
        (lambda: finite("x", []), "x must not be empty"),
        (lambda: finite("x", [1, np.nan]), "NaN"),
        (lambda: finite("x", [np.inf]), "finite"),
        (lambda: finite("x", ["a"]), "real numbers"),
        (lambda: finite("x", [1j]), "real numbers"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
