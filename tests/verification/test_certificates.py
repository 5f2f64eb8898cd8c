"""Proofs by ball arithmetic and by exact algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from scipy import special

from dpdynamics.verification import certified, verdict


def above_tangent(x: arb, *, slope: Any = 1) -> tuple[arb, arb]:
    """The exponential lies above its tangent at 0 (away from 0)."""
    return 1 + slope * x, x.exp()


def chebyshev(x: arb, y: arb, *, power: int = 1) -> tuple[arb, arb]:
    """A strict inequality of two variables: 2xy < x^2 + y^2 + 1/10."""
    return 2 * (x * y) ** power, x**2 + y**2 + arb("0.1")


def test_a_true_inequality_is_proved_and_a_false_one_refuted_at_a_point() -> None:
    check = certified(
        "tangent",
        statement=above_tangent,
        over={"x": ("0.01", 4)},
        controls={"slope 2": {"slope": 2}},
    )
    assert check.outcome == "holds"
    assert check.kind == "certified"
    worst = check.controls[0].worst
    assert 1 + 2 * worst["x"] > np.exp(worst["x"])
    assert worst["left"] == pytest.approx(1 + 2 * worst["x"])
    assert check.sizes["balls"] >= 2
    assert dict(check.numbers["box"]) == {"x": [0.01, 4.0]}
    assert check.printed.ratio == pytest.approx(1.01 * np.exp(-0.01), abs=1e-2)


def test_several_variables_are_covered() -> None:
    box = {"x": (-1, 1), "y": (-1, 1)}
    check = certified(
        "squares", statement=chebyshev, over=box, controls={"square root": lambda x, y: (x, y)}
    )
    assert check.outcome == "holds"
    assert check.sizes["balls"] > 50  # the diagonal is narrow


def test_equality_inside_the_box_is_never_proved() -> None:
    check = certified(
        "equality",
        statement=lambda x: (2 * x, 1 + x * x),
        over={"x": (0, 3)},
        controls={"wrong": lambda x: (2 + x, 1 + x * 0)},
    )
    assert check.outcome == "undecided"
    assert check.reasons == ("the measurement is too coarse for the printed statement",)


def test_a_violation_in_a_tiny_set_is_found_or_left_undecided() -> None:
    """A bump of width 1e-6, which no grid sees."""
    at = fmpq(271828, 1000000)
    check = certified(
        "bump",
        statement=lambda x: ((-(((x - at) * 1_000_000) ** 2)).exp(), arb("0.5")),
        over={"x": (0, 1)},
        controls={"half": lambda x: (arb(1), arb("0.5"))},
    )
    assert check.outcome == "fails"
    assert check.printed.worst["x"] == pytest.approx(0.271828, abs=1e-6)


def test_undefined_sides_are_not_accepted() -> None:
    check = certified(
        "pole",
        statement=lambda x: (x - 10, 1 / (x * x)),
        over={"x": (-1, 1)},
        controls={"wrong": lambda x: (arb(2), arb(1))},
    )
    assert check.outcome == "undecided"


def test_a_right_side_that_is_not_positive_proves_nothing() -> None:
    check = certified(
        "negative",
        statement=lambda x: (-2 - x, -1 - x),
        over={"x": (0, 1)},
        controls={"wrong": lambda x: (arb(2), arb(1))},
    )
    assert check.outcome == "undecided"


def test_constants_need_no_box() -> None:
    def root(*, digits: str = "1.2533") -> list[tuple[arb, arb]]:
        value, half = (arb.pi() / 2).sqrt(), arb("0.00005")
        return [(arb(digits) - half, value), (value, arb(digits) + half)]

    check = certified("sqrt(pi/2)", statement=root, controls={"last digit": {"digits": "1.2534"}})
    assert check.outcome == "holds"


def test_enclosures_agree_with_scipy() -> None:
    """The margin of a proved inequality is that of ordinary floating point."""
    check = certified(
        "erf",
        statement=lambda x, *, factor=2: (
            factor * x * (-x * x).exp() / arb.pi().sqrt(),
            x.erf(),
        ),
        over={"x": ("0.1", 3)},
        controls={"three": {"factor": 3}},
    )
    x = np.linspace(0.1, 3, 10_000)
    assert check.outcome == "holds"
    exact = (2 * x * np.exp(-(x**2)) / np.sqrt(np.pi) / special.erf(x)).max()
    assert check.printed.ratio == pytest.approx(exact, abs=2e-2)


def test_corrected_statements_and_their_controls() -> None:
    check = certified(
        "corrected",
        statement=above_tangent,
        over={"x": (1, 2)},
        corrected={"slope": fmpq(1, 2)},
        controls={"slope 3": {"slope": 3}},
    )
    assert check.outcome == "holds"  # the printed one is true as well
    check = certified(
        "corrected",
        statement=lambda x, *, slope=5: (1 + slope * x, x.exp()),
        over={"x": (1, 2)},
        corrected={"slope": 1},
        controls={"slope 3": {"slope": 3}},
    )
    assert check.outcome == "corrected"


def binomial(x: Any, y: Any, *, middle: int = 2) -> Any:
    """The square of a sum, less its expansion."""
    return (x + y) ** 2 - x**2 - middle * x * y - y**2


def test_an_identity_is_decided_by_algebra() -> None:
    check = certified(
        "binomial", statement=binomial, over=("x", "y"), controls={"3xy": {"middle": 3}}
    )
    assert check.outcome == "holds"
    assert check.controls[0].worst == {"difference": "-x*y"}
    assert check.numbers["indeterminates"] == ["x", "y"]
    assert "algebra" in check.test


def test_an_identity_true_at_few_points_only_fails() -> None:
    check = certified(
        "roots", statement=lambda x: x**3 - x, over=["x"], controls={"one": lambda x: x - x + 1}
    )
    assert check.outcome == "fails"


def test_controls_that_hold_leave_the_check_undecided() -> None:
    check = certified(
        "weak",
        statement=above_tangent,
        over={"x": (1, 2)},
        controls={"slope 1/2": {"slope": fmpq(1, 2)}},
    )
    assert check.outcome == "undecided"


def test_it_enters_a_verdict() -> None:
    check = certified(
        "binomial", statement=binomial, over=("x", "y"), controls={"3xy": {"middle": 3}}
    )
    found = verdict("lin2025.eq5", check, coverage={"2xy": "3xy"})
    assert found.verdict == "holds"
    assert found.evidence["checks"][0]["kind"] == "certified"


def test_a_control_that_changes_nothing_is_the_statement_itself() -> None:
    check = certified("tangent", statement=above_tangent, over={"x": (1, 2)}, controls={"same": {}})
    assert check.controls[0].outcome == "identical"
    assert check.reasons == (
        'control "same" is the statement itself: the check treats both alike, and shows nothing',
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"over": {"x": (2, 1)}}, "over"),
        ({"over": {"x": (0, float("nan"))}}, "over"),
        ({"over": {"x": 3}}, "over"),
        ({"over": "x"}, "over"),
        ({"over": {"y": (0, 1)}}, "printed must be a function"),
        ({"statement": lambda x: x}, "must return"),
        ({"statement": 3}, "printed must be a function"),
        ({"controls": {"c": {"nothing": 1}}}, "controls"),
        ({"over": ("x",), "statement": lambda x: (x, x)}, "must return polynomials"),
        ({"precision": 10}, "precision"),
    ],
)
def test_mistakes_are_named(wrong: dict[str, Any], words: str) -> None:
    right: dict[str, Any] = {
        "statement": above_tangent,
        "over": {"x": (1, 2)},
        "controls": {"slope 3": {"slope": 3}},
    }
    with pytest.raises(ValueError, match=words):
        certified("mistake", **(right | wrong))
