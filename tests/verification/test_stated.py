"""A statement, its cases and its changed keywords become the arguments of a check."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from dpdynamics.verification import expectation, identity, instead, rate, stated

CASES = [(1.0, 2.0), (3.0, 2.0)]


def work(force: float, way: float, *, half: float = 0.5, power: float = 2) -> float:
    return half * force * way**power


def test_a_control_is_a_changed_keyword() -> None:
    found = stated(
        work, CASES, controls={"1/2 dropped": {"half": 1.0}, "wrong power": {"power": 1}}
    )
    assert found["printed"].tolist() == [2.0, 6.0]
    assert found["corrected"] is None
    assert {words: value.tolist() for words, value in found["controls"].items()} == {
        "1/2 dropped": [4.0, 12.0],
        "wrong power": [1.0, 3.0],
    }
    assert set(found) == {"printed", "corrected", "controls"}


def test_controls_start_from_the_corrected_statement() -> None:
    found = stated(
        work, CASES, corrected={"half": 0.25}, controls={"linear": {"power": 1}, "as said": work}
    )
    assert found["corrected"].tolist() == [1.0, 3.0]
    assert found["controls"]["linear"].tolist() == [0.5, 1.5]
    assert found["controls"]["as said"].tolist() == [2.0, 6.0]


def test_another_function_may_correct_and_what_the_check_takes_is_passed_on() -> None:
    wrong = instead(np.ones(2))

    def doubled(force: float, way: float, *, twice: float = 2.0) -> float:
        return twice * force * way

    controls = {"once": {"twice": 1.0}, "ones": wrong, "numbers": [7.0, 8.0]}
    found = stated(work, CASES, corrected=doubled, controls=controls)
    assert found["corrected"].tolist() == [4.0, 12.0]
    assert found["controls"]["once"].tolist() == [2.0, 6.0]
    assert found["controls"]["ones"] is wrong
    assert found["controls"]["numbers"] == [7.0, 8.0]


def test_cases_are_tuples_mappings_or_single_arguments() -> None:
    named = [{"force": 1.0, "way": 2.0}, {"way": 2.0, "force": 3.0}]
    tuples = stated(work, CASES, controls={})
    assert stated(work, named, controls={})["printed"].tolist() == tuples["printed"].tolist()
    arrays = {"force": np.array([1.0, 3.0]), "way": np.array([2.0, 2.0])}
    grid = stated(work, arrays, controls={}, where=("way",))
    assert grid["printed"].tolist() == tuples["printed"].tolist()
    assert grid["where"] == {"way": arrays["way"]}
    single = stated(lambda x: 2 * x, np.array([1.0, 5.0]), controls={})
    assert single["printed"].tolist() == [2.0, 10.0]


def test_arguments_of_the_cases_name_the_worst_point() -> None:
    found = stated(work, CASES, controls={"twice": {"half": 1.0}}, where=("force",))
    check = identity("work", measured=[2.0, 6.1], rtol=1e-12, **found)
    assert check.printed.worst["force"] == 3.0


def test_the_keywords_fit_a_check_of_samples_and_one_of_an_exponent() -> None:
    samples = np.random.default_rng(0).normal([2.0, 6.0], 0.1, size=(200, 2))
    check = expectation(
        "work", samples=samples, **stated(work, CASES, controls={"linear": {"power": 1}})
    )
    assert check.outcome == "holds"
    sizes = np.geomspace(1, 100, 6)
    exponent = stated(lambda *, power=2.0: power, controls={"linear": {"power": 1.0}})
    assert rate("area", sizes=sizes, values=3 * sizes**2, **exponent).outcome == "holds"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"statement": 3.0}, "statement must be a function"),
        ({"cases": []}, "cases must hold at least one"),
        ({"cases": "abc"}, "cases must be a sequence"),
        ({"cases": 3}, "cases must be a sequence"),
        ({"cases": {"force": 1.0}}, "statement does not take these arguments: missing"),
        ({"cases": [(1.0,)]}, "statement does not take these arguments: missing"),
        ({"corrected": 3.0}, "corrected must be changed keywords or a function"),
        ({"corrected": {"haff": 1.0}}, "corrected does not take .* keyword argument 'haff'"),
        ({"controls": [1.0]}, "controls must map words to changed keywords"),
        ({"controls": {"odd": {"haff": 1.0}}}, r"controls\['odd'\] does not take .* 'haff'"),
        ({"where": ("half",)}, "where must name arguments of the cases, got 'half'"),
    ],
)
def test_what_is_no_statement_is_refused_by_name(changed: dict[str, Any], message: str) -> None:
    arguments = {"statement": work, "cases": CASES, "controls": {"twice": {"half": 1.0}}}
    given = arguments | changed
    with pytest.raises(ValueError, match=message) as caught:
        stated(given.pop("statement"), **given)
    assert re.match(next(iter(changed)), str(caught.value)) or "cases" in changed
