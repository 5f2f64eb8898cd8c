"""Each kind of evidence: truth holds, planted falsehoods fail, weak checks decide nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import stats

from dpdynamics.verification import (
    attack,
    bound,
    coverage,
    distribution,
    expectation,
    identity,
    instead,
    optimum,
    privacy,
    rate,
)
from dpdynamics.verification.attacks import Attack
from dpdynamics.verification.laws import proportion
from dpdynamics.verification.statistics import FAMILY_ERROR

POINTS = np.linspace(0.1, 2, 20)
SIZES = np.array([50, 100, 200, 400, 800, 1600, 3200])
SETTING = {
    "mechanism": "Gaussian",
    "neighbours": "replace-one",
    "sampling": "none",
    "accountant": "exact",
}


def a_generator(seed=0):
    return np.random.default_rng(seed)


# --- rules common to all kinds -------------------------------------------------------------------


def equal(**changes):
    arguments = {
        "measured": np.exp(POINTS),
        "printed": np.expm1(POINTS) + 1,
        "controls": {"two terms of the series": 1 + POINTS},
        "rtol": 1e-12,
    }
    return identity("exponential", **(arguments | changes))


def test_a_true_statement_holds_and_its_control_is_rejected():
    check = equal()
    assert check.outcome == "holds"
    assert check.printed.ratio < 1e-2
    assert check.controls[0].ratio == pytest.approx((np.exp(2) - 3) / (1e-12 * np.exp(2)), rel=1e-6)
    assert check.controls[0].margin == check.controls[0].ratio
    assert check.printed.margin == pytest.approx(1 / check.printed.ratio)


def test_a_false_statement_fails():
    assert equal(printed=np.exp(POINTS) * (1 + 1e-9)).outcome == "fails"


def test_a_false_statement_with_its_correction():
    check = equal(printed=np.exp(-POINTS), corrected=np.expm1(POINTS) + 1)
    assert check.outcome == "corrected"
    assert equal(printed=np.exp(-POINTS), corrected=POINTS).outcome == "fails"


def test_without_control_nothing_is_decided():
    check = equal(controls={})
    assert check.outcome == "undecided"
    assert "no control" in check.reasons[0]
    assert equal(printed=-POINTS, controls={}).outcome == "undecided"


def test_a_control_that_passes_leaves_the_check_undecided():
    check = equal(controls={"one part in 1e14": np.exp(POINTS) * (1 + 1e-14)})
    assert check.outcome == "undecided"
    assert "one part in 1e14" in check.reasons[0]


def test_one_accepted_control_among_several_is_enough_to_refuse():
    controls = {"wrong": POINTS, "too close": np.exp(POINTS) * (1 + 1e-14)}
    assert equal(controls=controls).outcome == "undecided"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"controls": {"same": np.expm1(POINTS) + 1}}, 'control "same" is the statement itself'),
        (
            {"corrected": POINTS, "controls": {"same": POINTS}},
            'control "same" is the statement itself',
        ),
        ({"corrected": np.expm1(POINTS) + 1}, "the corrected statement is the printed one"),
        (
            {"printed": POINTS, "corrected": POINTS},
            "the corrected statement is the printed one",
        ),
        (
            {"controls": {"same": instead(np.exp(POINTS))}},
            'control "same" is the measurement itself',
        ),
    ],
)
def test_what_equals_the_statement_shows_nothing_and_the_check_says_so(changes, words):
    check = equal(**changes)
    assert check.outcome == "undecided"
    assert any(words in reason for reason in check.reasons)
    same = [c for c in (check.corrected, *check.controls) if c and c.outcome == "identical"]
    assert len(same) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"controls": {"": POINTS}}, "controls"),
        ({"controls": {"printed": POINTS}}, "controls"),
        ({"measured": [], "printed": []}, "empty"),
        ({"measured": np.full(20, np.nan)}, "measured must not contain NaN"),
        ({"printed": np.full(20, np.nan)}, "printed must not contain NaN"),
        ({"controls": {"nan": np.full(20, np.nan)}}, "NaN"),
        ({"printed": np.exp(POINTS)[:, None]}, "shape"),
        ({"printed": 1.0}, "shape"),
        ({"controls": {"scalar": 1.0}}, "shape"),
        ({"rtol": -1}, "rtol"),
        ({"rtol": 1e-3}, "reason"),
        ({"atol": 1.0}, "reason"),
        ({"where": {"x": POINTS[:3]}}, "where"),
        ({"measured": POINTS, "printed": POINTS[:]}, "same array"),
    ],
)
def test_dishonest_or_malformed_checks_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        equal(**changes)


def test_name_must_not_be_empty():
    with pytest.raises(ValueError, match="name"):
        identity(" ", measured=1.0, printed=1.0, controls={"two": 2.0}, rtol=0)


def test_a_check_is_immutable():
    check = equal()
    with pytest.raises(AttributeError):
        check.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        check.numbers["measured"] = 0


# --- identity ------------------------------------------------------------------------------------


def test_infinities_equal_only_themselves():
    def ratio(measured, printed):
        check = identity(
            "x", measured=measured, printed=printed, controls={"wrong": [9.0, 9.0]}, rtol=1e-9
        )
        return check.printed.ratio

    assert ratio([np.inf, 1.0], [np.inf, 1.0]) == 0
    assert ratio([np.inf, 1.0], [-np.inf, 1.0]) == np.inf
    assert ratio([np.inf, 1.0], [1.0, 1.0]) == np.inf
    assert ratio([2.0, 1.0], [np.inf, 1.0]) == np.inf


def test_elementwise_tolerance_sees_small_entries():
    measured, printed = np.array([1.0, 1e-12]), np.array([1.0, 2e-12])
    controls = {"wrong": np.array([2.0, 5e-12])}
    arguments = {"measured": measured, "printed": printed, "controls": controls, "rtol": 1e-9}
    assert identity("max norm", **arguments).outcome == "holds"
    assert identity("each", elementwise=True, **arguments).outcome == "fails"


def test_exact_equality_of_counts():
    check = identity("parameters", measured=4224, printed=4224, controls={"no bias": 4160}, rtol=0)
    assert check.outcome == "holds"
    assert check.printed.margin == np.inf
    assert check.controls[0].ratio == np.inf


@given(some.floats(1e-10, 1e-1), some.floats(-3, 3), some.floats(0.1, 1e6))
def test_ratio_is_discrepancy_over_tolerance(rtol, multiple, scale):
    check = identity(
        "x",
        measured=[scale, 0.0],
        printed=[scale, multiple * rtol * scale],
        controls={"wrong": [0.0, 0.0]},
        rtol=rtol,
        reason="by construction",
    )
    assert check.printed.ratio == pytest.approx(abs(multiple), rel=1e-9)
    assert (check.outcome == "fails") == (check.printed.ratio > 1)


def test_worst_point_is_named():
    measured = np.zeros((3, 4))
    measured[1, 2] = 1.0
    grid = np.arange(12.0).reshape(3, 4)
    check = identity(
        "x",
        measured=measured,
        printed=np.zeros((3, 4)),
        controls={"w": measured + 1},
        rtol=1e-9,
        where={"sigma": grid},
    )
    assert check.printed.worst == {"index": [1, 2], "sigma": 6, "measured": 1, "statement": 0}


# --- expectation ---------------------------------------------------------------------------------


def test_expectation_error_rate_at_a_smaller_level():
    rng, runs, rejected = a_generator(), 1500, 0
    for _ in range(runs):
        samples = rng.exponential(size=(60, 1)) @ np.ones((1, 3)) + rng.normal(size=(60, 3))
        check = expectation(
            "m", samples=samples, printed=np.ones(3), controls={"2": [2, 2, 2]}, family_error=0.05
        )
        rejected += check.printed.outcome == "rejected"
    assert proportion(rejected, runs, FAMILY_ERROR)[0] <= 0.05
    assert rejected > 0.01 * runs  # the test is not vacuous either


def test_recorded_power_is_the_rejection_rate_of_the_control():
    rng, runs, shift = a_generator(7), 1000, 0.75
    checks = [
        expectation(
            "m",
            samples=rng.normal(size=30),
            printed=0.0,
            controls={"shifted": shift},
            family_error=0.01,
        )
        for _ in range(runs)
    ]
    rejected = sum(check.controls[0].ratio > 1 for check in checks)
    low, high = proportion(rejected, runs, FAMILY_ERROR)
    powers = [check.controls[0].power for check in checks]
    assert low <= np.mean(powers) <= high


def test_a_control_rejected_by_luck_does_not_count():
    rng = a_generator()
    samples = rng.normal(size=(50, 1))
    samples += 3.4 / np.sqrt(50) - samples.mean(axis=0)  # three standard errors above the truth
    check = expectation("m", samples=samples, printed=[0.0], controls={"c": [-0.4]})
    control = check.controls[0]
    assert control.ratio > 1 and control.power < 0.9
    assert check.outcome == "undecided"
    assert "power" in check.reasons[0]


def test_too_few_samples_decide_nothing():
    samples = a_generator().normal(size=(10, 4))
    check = expectation("m", samples=samples, printed=np.zeros(4), controls={"1": np.ones(4)})
    assert check.outcome == "undecided"


def test_allowance_widens_the_tolerance_and_costs_power():
    samples = a_generator().normal(0.05, 0.1, size=(4000, 2))
    arguments = {"samples": samples, "printed": np.zeros(2), "controls": {"c": np.full(2, 0.2)}}
    assert expectation("m", **arguments).outcome == "fails"
    allowed = expectation("m", allowance=0.06, **arguments)
    assert allowed.outcome == "holds"
    assert allowed.numbers["allowance"] == 0.06
    assert expectation("m", allowance=0.11, **arguments).outcome == "undecided"


def test_a_wrong_sampler_is_a_control():
    rng = a_generator()
    samples, wrong = rng.normal(size=400), rng.normal(1, 1, size=300)
    check = expectation("m", samples=samples, printed=0.0, controls={"biased": instead(wrong)})
    assert check.outcome == "holds"
    assert check.controls[0].replaces == "measurement"
    slightly = instead(rng.normal(0.2, 1, size=300))
    check = expectation("m", samples=samples, printed=0.0, controls={"biased": slightly})
    assert check.outcome == "undecided"


def test_an_event_of_probability_zero_may_not_occur():
    for sense in ("==", "<="):
        claim = {"trials": 500, "printed": 0.0, "sense": sense}
        claim["controls"] = {"it occurs": instead((100, 500))}
        assert coverage("never", successes=0, **claim).outcome == "holds"


def test_constant_points_compare_exactly():
    samples = np.column_stack([np.full(100, 0.1), a_generator().normal(size=100)])
    right = expectation("m", samples=samples, printed=[0.1, 0], controls={"c": [0.1, 1.0]})
    assert right.outcome == "holds"
    wrong = expectation("m", samples=samples, printed=[0.1001, 0], controls={"c": [0.1, 1.0]})
    assert wrong.outcome == "fails"
    control = expectation("m", samples=samples, printed=[0.1, 0], controls={"c": [0.2, 0]})
    assert control.controls[0].power == 1
    skewness = abs(stats.skew(samples[:, 1])) * 0.99**1.5  # over the unbiased deviation
    assert wrong.numbers["skewness / sqrt(replicates)"] == pytest.approx(skewness / 10, rel=1e-9)
    zeros = expectation("m", samples=np.zeros(9), printed=0.0, controls={"c": 1.0})
    assert zeros.outcome == "holds"
    assert zeros.numbers["skewness / sqrt(replicates)"] == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"samples": np.ones((3, 2))}, "replicates"),
        ({"samples": np.ones((30, 2, 2))}, "samples"),
        ({"samples": np.full((30, 2), np.inf)}, "finite"),
        ({"printed": [0.0]}, "shape"),
        ({"controls": {"c": instead(np.ones((30, 3)))}}, "points"),
        ({"allowance": -1.0}, "allowance"),
        ({"allowance": [1.0]}, "allowance"),
    ],
)
def test_expectation_refuses(changes, words):
    arguments = {
        "samples": a_generator().normal(size=(30, 2)),
        "printed": [0.0, 0.0],
        "controls": {"one": [1.0, 1.0]},
    }
    with pytest.raises(ValueError, match=words):
        expectation("m", **(arguments | changes))


# --- distribution --------------------------------------------------------------------------------


def test_distribution_agrees_with_scipy():
    samples = a_generator().chisquare(5, 3000)
    check = distribution(
        "law",
        samples=samples,
        printed_cdf=stats.chi2(5).cdf,
        controls={"6 degrees": stats.chi2(6).cdf, "wrong data": instead(samples * 1.5)},
    )
    reference = stats.kstest(samples, stats.chi2(5).cdf)
    assert check.outcome == "holds"
    assert check.printed.worst["distance"] == pytest.approx(reference.statistic)
    assert check.printed.ratio == pytest.approx(reference.statistic / stats.kstwo.isf(1e-4, 3000))


def test_distribution_error_rate_and_power_bound():
    rng, runs = a_generator(), 400
    checks = [
        distribution(
            "law",
            samples=rng.normal(size=80),
            printed_cdf=stats.norm.cdf,
            controls={"shifted": stats.norm(0.4).cdf},
            family_error=0.05,
        )
        for _ in range(runs)
    ]
    false = sum(check.printed.ratio > 1 for check in checks)
    low, high = proportion(false, runs, FAMILY_ERROR)
    assert low <= 0.05 <= high
    detected = sum(check.controls[0].ratio > 1 for check in checks)
    assert proportion(detected, runs, FAMILY_ERROR)[1] >= np.mean(
        [c.controls[0].power for c in checks]
    )


def test_distribution_power_without_a_true_law_is_the_least_in_a_98_per_cent_interval():
    samples, n = np.sort(a_generator().normal(size=300)), 300
    control = stats.norm(0.4).cdf
    check = distribution(
        "law", samples=samples, printed_cdf=stats.norm(5.0).cdf, controls={"shifted": control}
    )
    at = int(np.abs(np.arange(1, n + 1) / n - control(samples)).argmax())
    aim, count = control(samples[at]), at + 1
    ends = stats.beta.ppf([0.01, 0.99], [count, count + 1], [n - count + 1, n - count])
    nearest, reach = np.clip(aim, *ends), stats.kstwo.isf(FAMILY_ERROR, n)
    power = 1 - np.diff(stats.binom.cdf([n * (aim - reach), n * (aim + reach)], n, nearest))[0]
    assert 0.1 < power < 0.9
    assert check.controls[0].power == pytest.approx(power, rel=0.01)


def test_distribution_fails_corrects_and_doubts():
    samples = a_generator().normal(size=2000)
    normal, wide = stats.norm.cdf, stats.norm(0, 1.5).cdf
    arguments = {"samples": samples, "controls": {"logistic": stats.logistic.cdf}}
    assert distribution("law", printed_cdf=wide, **arguments).outcome == "fails"
    check = distribution("law", printed_cdf=wide, corrected_cdf=normal, **arguments)
    assert check.outcome == "corrected"
    close = {"samples": samples, "controls": {"close": stats.norm(0.01).cdf}}
    assert distribution("law", printed_cdf=normal, **close).outcome == "undecided"
    same = {"samples": samples, "controls": {"same": stats.norm().cdf}}
    assert "is the statement itself" in distribution("law", printed_cdf=normal, **same).reasons[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"printed_cdf": lambda x: -x}, "cdf"),
        ({"printed_cdf": lambda x: 0.5}, "cdf"),
        ({"printed_cdf": 3.0}, "callable"),
        ({"printed_cdf": lambda x: x * np.nan}, "NaN"),
        ({"samples": np.ones((20, 2))}, "samples"),
        ({"allowance": 1.0}, "allowance"),
    ],
)
def test_distribution_refuses(changes, words):
    arguments = {
        "samples": a_generator().normal(size=30),
        "printed_cdf": stats.norm.cdf,
        "controls": {"wide": stats.norm(0, 9).cdf},
    }
    with pytest.raises(ValueError, match=words):
        distribution("law", **(arguments | changes))


# --- bound ---------------------------------------------------------------------------------------


def sine(**changes):
    x = np.linspace(0, 3, 31)
    arguments = {
        "measured": np.sin(x) + 1e-16,
        "printed": x + 1e-15,
        "controls": {"factor 0.9": 0.9 * x + 1e-15},
        "where": {"x": x},
    }
    return bound("sine", **(arguments | changes))


def test_bound_and_its_tightness():
    check = sine()
    assert check.outcome == "holds"
    assert check.tightness["min"] == pytest.approx(0.1 / np.sin(0.1))
    assert check.tightness["tightest at"] == {"x": pytest.approx(0.1)}
    assert check.tightness["max"] == pytest.approx(3 / np.sin(3))
    assert "grid only" in check.test


def test_lower_bounds_mirror_upper_bounds():
    x = np.linspace(0.1, 1.5, 10)
    check = bound("sine", measured=np.sin(x), printed=2 * x / np.pi, sense=">=", controls={"x": x})
    assert check.outcome == "holds"
    assert check.tightness["min"] == pytest.approx((np.sin(x) * np.pi / 2 / x).min())


def test_attack_finds_what_the_grid_misses():
    def ratio(x):
        return 0.5 + np.exp(-(((x - 0.55) / 0.01) ** 2))

    grid = np.linspace(0, 1, 11)
    arguments = {
        "measured": ratio(grid),
        "printed": np.ones(11),
        "controls": {"0.4": np.full(11, 0.4)},
    }
    assert bound("peak", **arguments).outcome == "holds"
    found = attack(ratio, {"x": (0, 1)}, rng=a_generator())
    refuted = bound("peak", attack=found, **arguments)
    assert refuted.outcome == "fails"
    assert refuted.printed.worst["x"] == pytest.approx(0.55, abs=1e-4)
    assert refuted.sizes["attack evaluations"] == found.evaluations
    assert refuted.tightness["under attack"] == pytest.approx(1 / 1.5)


def test_a_control_may_be_violated_under_attack_only():
    control = {"0.6": np.full(31, 9.0)}
    assert sine(controls=control).outcome == "undecided"
    assert sine(controls=control, attack={"0.6": Attack(1.5, {"x": 2.0}, 10)}).outcome == "holds"


def test_random_measurements_need_their_whole_interval():
    def outcome(error, printed):
        interval = ([1.0 - error], [1.0 + error])
        check = bound("x", measured=interval, printed=[printed], controls={"half": [0.5]})
        return check.outcome

    assert outcome(0.0, 1.1) == outcome(0.05, 1.1) == "holds"
    assert outcome(0.2, 1.1) == outcome(0.2, 0.9) == "undecided"
    assert outcome(0.05, 0.9) == "fails"


def test_an_end_of_an_interval_is_not_its_own_bound():
    high = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="same array"):
        bound("x", measured=(high / 2, high), printed=high, controls={"half": high / 2})


def test_rounding_slack():
    arguments = {"measured": [1.0 + 1e-13], "printed": [1.0], "controls": {"half": [0.5]}}
    assert bound("x", **arguments).outcome == "holds"
    assert bound("x", slack=0.0, **arguments).outcome == "fails"


def test_infinite_and_zero_sides():
    check = bound(
        "x",
        measured=[0.0, 1.0, np.inf],
        printed=[0.0, np.inf, np.inf],
        controls={"finite": [0.0, 1.0, 5.0]},
    )
    assert check.outcome == "holds"
    assert check.controls[0].ratio == np.inf
    assert bound("x", measured=[1.0], printed=[0.0], controls={"c": [0.1]}).outcome == "fails"


@given(some.lists(some.floats(1e-6, 1e6), min_size=1, max_size=9), some.floats(0.1, 10))
def test_bound_by_a_multiple(values, factor):
    measured = np.array([1.0, *values])
    check = bound(
        "x",
        measured=measured,
        printed=factor * measured,
        controls={"a hundredth": factor * measured / 100},
    )
    assert check.printed.ratio == pytest.approx(1 / factor)
    assert check.outcome == ("holds" if factor >= 1 else "fails")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"measured": -np.ones(31)}, "nonnegative"),
        ({"printed": -np.ones(31)}, "nonnegative"),
        ({"sense": "<"}, "sense"),
        ({"slack": 0.1}, "slack"),
        ({"measured": (np.full(31, 2.0), np.ones(31))}, "lower <= upper"),
        ({"measured": (np.zeros(3), np.ones(31))}, "lower end of measured"),
        ({"attack": {"unknown": Attack(1.0, {}, 1)}}, "unknown"),
        ({"printed": np.ones(30)}, "shape"),
    ],
)
def test_bound_refuses(changes, words):
    with pytest.raises(ValueError, match=words):
        sine(**changes)


# --- privacy -------------------------------------------------------------------------------------


def loss(**changes):
    exact = np.linspace(0.1, 3, 9)
    arguments = {
        "exact": exact,
        "printed": 1.2 * exact,
        "audit_lower": 0.7 * exact,
        "controls": {"amplified twice": exact / 2},
    }
    return privacy("epsilon", **(arguments | SETTING | changes))


def test_privacy_outcomes():
    exact = np.linspace(0.1, 3, 9)
    assert loss().outcome == "holds"
    assert loss().tightness["median"] == pytest.approx(1.2)
    assert loss(printed=0.9 * exact).outcome == "fails"
    certified = (0.95 * exact, 1.05 * exact)
    assert loss(exact=certified).outcome == "holds"
    assert loss(exact=certified, printed=1.01 * exact).outcome == "undecided"
    assert loss(exact=certified, printed=0.9 * exact).outcome == "fails"


def test_an_audit_from_below_refutes():
    exact = np.linspace(0.1, 3, 9)
    certified = (np.zeros(9), 2 * exact)
    check = loss(exact=certified, audit_lower=1.3 * exact)
    assert check.outcome == "fails"


def test_an_audit_above_the_certified_value_decides_nothing():
    check = loss(audit_lower=np.linspace(0.1, 3, 9) * 1.1)
    assert check.outcome == "undecided"
    assert "audit" in check.reasons[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"neighbours": " "}, "neighbours"),
        ({"exact": (np.ones(9), np.zeros(9))}, "lower <= upper"),
        ({"audit_lower": 1.0}, "audit_lower"),
        ({"exact": -np.ones(9)}, "nonnegative"),
    ],
)
def test_privacy_refuses(changes, words):
    with pytest.raises(ValueError, match=words):
        loss(**changes)


def test_a_wrong_accountant_is_a_control():
    wrong = instead(np.linspace(0.1, 3, 9) * 2)
    assert loss(controls={"sensitivity doubled": wrong}).outcome == "holds"


# --- rate ----------------------------------------------------------------------------------------


def test_rate_of_noisy_and_exact_power_laws():
    rng = a_generator()
    noisy = SIZES**-0.5 * np.exp(0.1 * rng.standard_normal((50, 7)))
    for values in (noisy, 2 * SIZES**-0.5):
        check = rate("r", sizes=SIZES, values=values, printed=-0.5, controls={"-1": -1.0})
        assert check.outcome == "holds"
        wrong = rate("r", sizes=SIZES, values=values, printed=-1.0, controls={"-0.25": -0.25})
        assert wrong.outcome == "fails"
        low, high = check.numbers["interval"]
        assert low <= check.numbers["exponent"] <= high


def test_rate_ratio_reads_off_the_interval():
    values = SIZES**-0.5 * np.exp(0.02 * a_generator(3).standard_normal(7))
    check = rate("r", sizes=SIZES, values=values, printed=-0.5, controls={"-3": -3.0})
    low, high = check.numbers["interval"]
    expected = abs(check.numbers["exponent"] + 0.5) / ((high - low) / 2)
    assert check.printed.ratio == pytest.approx(expected, rel=1e-6)


def test_rate_with_a_wide_interval_decides_nothing():
    values = SIZES**-0.5 * np.exp(a_generator().standard_normal(7))
    check = rate("r", sizes=SIZES, values=values, printed=-0.5, controls={"-1": -1.0})
    assert check.outcome == "undecided"


def test_upper_rates_accept_faster_decay():
    values = SIZES**-0.8
    arguments = {"sizes": SIZES, "values": values, "printed": -0.5, "controls": {"-1": -1.0}}
    assert rate("r", **arguments).outcome == "fails"
    assert rate("r", sense="<=", **arguments).outcome == "holds"
    stronger = arguments | {"printed": -1.0, "controls": {"-1.5": -1.5}}
    assert rate("r", sense="<=", **stronger).outcome == "fails"
    weaker = arguments | {"controls": {"-0.25": -0.25}}
    assert rate("r", sense="<=", **weaker).outcome == "undecided"


def test_finite_size_allowance():
    values = SIZES**-0.5 * (1 + 1 / SIZES)
    arguments = {"sizes": SIZES, "values": np.tile(values, (9, 1)), "printed": -0.5}
    assert rate("r", controls={"-1": -1.0}, **arguments).outcome == "fails"
    assert rate("r", controls={"-1": -1.0}, allowance=0.02, **arguments).outcome == "holds"
    assert rate("r", controls={"-0.53": -0.53}, allowance=0.02, **arguments).outcome == "undecided"


def test_a_wrong_model_is_a_control_of_a_rate():
    wrong = instead(np.full(7, 0.3))
    check = rate("r", sizes=SIZES, values=SIZES**-0.5, printed=-0.5, controls={"no term": wrong})
    assert check.outcome == "holds"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sizes": SIZES[:4], "values": np.ones(4)}, "five"),
        ({"sizes": np.arange(10, 17)}, "1.5 decades"),
        ({"sizes": -SIZES}, "positive"),
        ({"values": np.zeros(7)}, "positive"),
        ({"values": np.ones(6)}, "values"),
        ({"values": np.ones((4, 7))}, "replicates"),
        ({"sense": ">="}, "sense"),
        ({"allowance": -1.0}, "allowance"),
        ({"printed": [1.0, 2.0]}, "shape"),
    ],
)
def test_rate_refuses(changes, words):
    arguments = {
        "sizes": SIZES,
        "values": SIZES**-0.5,
        "printed": -0.5,
        "controls": {"-1": -1.0},
    }
    with pytest.raises(ValueError, match=words):
        rate("r", **(arguments | changes))


# --- optimum -------------------------------------------------------------------------------------


def test_optimum_of_one_variable_with_curvature():
    check = optimum(
        "clip norm",
        objective=lambda c: c - 2 * np.log(c),
        printed=2.0,
        controls={"square root": 2**0.5},
        bounds={"c": (0.1, 9)},
        rtol=1e-5,
    )
    assert check.outcome == "holds"
    assert check.numbers["second derivatives"]["c"] == pytest.approx(0.5, rel=1e-3)
    assert check.numbers["value"] == pytest.approx(2 - 2 * np.log(2))


@settings(max_examples=8)
@given(some.floats(-2, 2), some.floats(-2, 2), some.floats(0.05, 20))
def test_optimum_of_a_quadratic(x, y, stiffness):
    def objective(p):
        return 1 + (p[0] - x) ** 2 + stiffness * (p[1] - y) ** 2 + 0.1 * p[0] * p[1]

    # Stationary point of the quadratic by linear algebra.
    hessian = np.array([[2, 0.1], [0.1, 2 * stiffness]])
    truth = np.linalg.solve(hessian, [2 * x, 2 * stiffness * y])
    check = optimum(
        "q",
        objective=objective,
        printed=truth,
        controls={"shifted": truth + 0.1},
        bounds=[(-9, 9), (-9, 9)],
        rtol=1e-4,
    )
    assert check.outcome == "holds"
    curvatures = list(check.numbers["second derivatives"].values())
    assert curvatures == pytest.approx(list(np.diag(hessian)), rel=1e-3)


def test_the_tolerance_at_zero_is_that_of_a_hundredth_of_the_range():
    check = optimum(
        "o",
        objective=lambda x: x[0] ** 2,
        printed=9e-6,
        controls={"c": 1.0},
        bounds=[(-9, 9)],
        rtol=1e-4,
    )
    assert check.printed.ratio == pytest.approx(9e-6 / (1e-4 * 0.18), rel=1e-3)


def test_a_local_optimum_is_not_the_optimum():
    def objective(x):
        return (x[0] ** 2 - 1) ** 2 + 0.3 * x[0]

    roots = np.sort(np.roots([4, 0, -4, 0.3]).real)
    arguments = {"objective": objective, "bounds": [(-2, 2)], "rtol": 1e-5}
    right = optimum("well", printed=roots[0], controls={"other well": roots[2]}, **arguments)
    assert right.outcome == "holds"
    wrong = optimum("well", printed=roots[2], controls={"top": roots[1]}, **arguments)
    assert wrong.outcome == "fails"
    assert wrong.numbers["value lost at the printed location"] > 0.5


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (lambda x: x[0], "boundary"),
        (lambda x: 1e6 + 1e-6 * (x[0] - 0.5) ** 2, "flat|curvature"),
        (lambda x: (x[0] - 0.5) ** 4 * 1e-3 + 1, "flat|curvature"),
    ],
)
def test_optimum_in_doubt_decides_nothing(objective, words):
    check = optimum(
        "o", objective=objective, printed=0.5, controls={"c": 0.9}, bounds=[(0, 1)], rtol=1e-6
    )
    assert check.outcome == "undecided"
    assert any(word in check.reasons[0] for word in words.split("|"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rtol": 0.0}, "rtol"),
        ({"printed": [0.5, 0.5]}, "shape"),
        ({"bounds": [(1, 0)]}, "bounds"),
        ({"objective": lambda x: np.nan}, "NaN"),
    ],
)
def test_optimum_refuses(changes, words):
    arguments = {
        "objective": lambda x: (x[0] - 0.5) ** 2,
        "printed": 0.5,
        "controls": {"c": 0.9},
        "bounds": [(0, 1)],
        "rtol": 1e-6,
    }
    with pytest.raises(ValueError, match=words):
        optimum("o", **(arguments | changes))


# --- coverage ------------------------------------------------------------------------------------


@given(
    some.integers(20, 3000),
    some.floats(0.5, 1),
    some.floats(0.05, 0.95),
    some.sampled_from([">=", "<=", "=="]),
)
def test_coverage_is_the_exact_binomial_test(trials, share, claim, sense):
    successes = round(share * trials)
    check = coverage(
        "c",
        successes=successes,
        trials=trials,
        printed=claim,
        controls={"wrong": claim / 2},
        sense=sense,
        family_error=1e-3,
    )
    tail = {
        ">=": stats.binom.cdf(successes, trials, claim),
        "<=": stats.binom.sf(successes - 1, trials, claim),
    }
    p_value = tail.get(sense, 2 * min(tail.values()))
    assert (check.printed.outcome == "rejected") == (p_value <= 1e-3)


def test_coverage_outcomes():
    def outcome(successes, trials, **controls):
        check = coverage("c", successes=successes, trials=trials, printed=0.95, controls=controls)
        return check.outcome

    assert outcome(9700, 10_000, stronger=0.99) == "holds"
    assert outcome(9700, 10_000, half_the_radius=instead((6800, 10_000))) == "holds"
    assert outcome(9300, 10_000, stronger=0.99) == "fails"
    assert outcome(97, 100, stronger=0.99) == "undecided"
    assert outcome(9999, 10_000, stronger=0.99) == "undecided"


def test_both_sides_of_an_exact_probability_share_the_error():
    fewest = int(stats.binom.ppf(1e-3, 1000, 0.5))  # one-sided error above 1e-3 / 2
    assert 5e-4 < stats.binom.cdf(fewest - 1, 1000, 0.5) < 1e-3
    arguments = {"trials": 1000, "printed": 0.5, "controls": {"c": 0.8}, "family_error": 1e-3}
    for successes in (fewest - 1, 1001 - fewest):
        assert coverage("c", successes=successes, sense="==", **arguments).outcome == "holds"
    assert coverage("c", successes=fewest - 1, sense=">=", **arguments).outcome == "fails"


def test_certain_events():
    arguments = {"trials": 50, "printed": 1.0, "controls": {"wrong event": instead((30, 50))}}
    assert coverage("c", successes=50, **arguments).outcome == "holds"
    assert coverage("c", successes=49, **arguments).outcome == "fails"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"successes": 11}, "successes"),
        ({"trials": 0}, "trials"),
        ({"printed": 1.5}, "probability"),
        ({"sense": "<"}, "sense"),
        ({"controls": {"c": instead((3, 2))}}, "successes"),
    ],
)
def test_coverage_refuses(changes, words):
    arguments = {"successes": 9, "trials": 10, "printed": 0.5, "controls": {"c": 0.9}}
    with pytest.raises(ValueError, match=words):
        coverage("c", **(arguments | changes))
