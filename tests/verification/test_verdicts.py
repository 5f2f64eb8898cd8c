"""Verdicts: the worst outcome wins, errata need evidence, and what is shown follows the schema."""

from __future__ import annotations

import html.parser
import json
import re
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from dpdynamics.verification import (
    Erratum,
    bound,
    distribution,
    expectation,
    identity,
    instead,
    optimum,
    out_of_reach,
    rate,
    verdict,
)
from dpdynamics.verification.rendering import COLOURS, MIME, SYMBOLS, plain
from dpdynamics.verification.verdicts import Verdict
from dpdynamics.verification.words import (
    GRADES,
    PARTS,
    SEVERITY,
    VERDICTS,
    exercised,
    found_on_substitute,
    repaired,
)

SCHEMA = json.loads(
    resources.files("dpdynamics.verification").joinpath("evidence.schema.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def a_check(outcome: str, name: str = "two and two"):
    """Return a check with the given outcome."""
    printed, corrected = {
        "holds": (4.0, None),
        "corrected": (5.0, 4.0),
        "fails": (5.0, None),
        "undecided": (4.0, None),
    }[outcome]
    controls = {} if outcome == "undecided" else {"three": 3.0}
    check = identity(
        name, measured=4.0, printed=printed, corrected=corrected, controls=controls, rtol=1e-12
    )
    assert check.outcome == outcome
    return check


def an_erratum(
    check: str = "two and two", grade: str = "misprint", part: str = "statement"
) -> Erratum:
    return Erratum("p. 3, (5)", "2 + 2 = 5", "2 + 2 = 4", "None.", check, grade, part)


def in_the_open(result: Verdict) -> str:
    """What the box of a verdict says below its folded evidence."""
    box = result._repr_mimebundle_()[0]["text/html"]
    return re.sub(r"<[^>]*>", "", box.rpartition("</details>")[2])


OUTCOMES = ["holds", "corrected", "fails", "undecided"]
LEFT = {"holds": "holds", "corrected": "fails as printed", "fails": "fails as printed"}
BY_GRADE = {
    "misprint": "holds, misprinted",
    "constant": "holds, misprinted",
    "condition": "holds under a condition",
    "conclusion": "fails as printed",
}


@given(some.lists(some.sampled_from(OUTCOMES), min_size=1, max_size=4))
def test_the_worst_outcome_wins(outcomes):
    checks = [a_check(outcome, f"check {i}") for i, outcome in enumerate(outcomes)]
    worst = OUTCOMES[max(map(OUTCOMES.index, outcomes))]
    assert verdict("lin2025.eq5", *checks).verdict == LEFT.get(worst, worst)


@given(some.lists(some.sampled_from([*BY_GRADE]), min_size=1, max_size=3))
def test_the_gravest_erratum_wins(grades):
    result = verdict(
        "lin2025.eq5",
        a_check("corrected"),
        a_check("holds", "another"),
        errata=[an_erratum(grade=grade) for grade in grades],
    )
    words = [BY_GRADE[grade] for grade in grades]
    assert result.verdict == max(words, key=list(SEVERITY).index)


def test_each_rejected_statement_needs_a_grade_of_its_own():
    checks = a_check("corrected"), a_check("corrected", "another")
    assert verdict("lin2025.eq5", *checks, errata=[an_erratum()]).verdict == "fails as printed"
    both = [an_erratum(), an_erratum("another", "condition")]
    assert verdict("lin2025.eq5", *checks, errata=both).verdict == "holds under a condition"
    one = [replace(an_erratum(), also=("another",))]
    assert verdict("lin2025.eq5", *checks, errata=one).verdict == "holds, misprinted"
    with pytest.raises(ValueError, match="check of an erratum"):
        verdict("lin2025.eq5", *checks, errata=[replace(an_erratum(), also=("a third",))])


@pytest.mark.parametrize("grade", [*BY_GRADE])
def test_a_slip_of_the_proof_leaves_the_statement(grade):
    def word(outcome):
        slip = an_erratum(grade=grade, part="proof")
        return verdict("lin2025.eq5", a_check(outcome), errata=[slip]).verdict

    assert word("corrected") == "holds, misprinted"
    assert word("fails") == "fails as printed"  # nothing true stands in its place


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_rebuilt_and_assumed_replace_holds_only(outcome):
    check = a_check(outcome)
    other = LEFT.get(outcome, outcome)
    rebuilt = verdict("bombari2025.thm1", check, rebuilt=True).verdict
    assert rebuilt == ("holds as rebuilt" if outcome == "holds" else other)
    assumed = verdict("lin2025.asm1", check, assumed=True).verdict
    assert assumed == ("assumed" if outcome == "holds" else other)


def test_out_of_reach_yields_to_a_refutation_of_the_claim_itself():
    def word(*tested, substitute=(), errata=()):
        return out_of_reach(
            "lin2025.conj3.1",
            reason="it is about all laws",
            tested=tested,
            substitute=substitute,
            errata=errata,
        ).verdict

    assert word() == word(a_check("holds")) == "out of reach"
    assert word(a_check("corrected"), errata=[an_erratum()]) == "out of reach"
    assert word(a_check("corrected"), errata=[an_erratum(grade="conclusion")]) == "fails as printed"
    assert word(a_check("fails")) == "fails as printed"
    assert word(a_check("undecided")) == "undecided"
    for outcome in OUTCOMES:
        assert word(substitute=[a_check(outcome)]) == "out of reach"


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_the_stand_in_found_is_recorded_and_said(outcome):
    checks = [a_check("holds"), a_check(outcome, "on other data")]
    result = out_of_reach(
        "anon2025.fig4", reason="no data", tested=checks[:1], substitute=checks[1:]
    )
    assert result.evidence["substitute"] == ["on other data"]
    assert found_on_substitute(result.evidence) == outcome
    assert "What could be tested, on a stand-in," in str(result)


def test_a_claim_decided_in_part_says_that_the_stand_in_is_about_the_rest():
    refuted = out_of_reach(
        "anon2025.fig4",
        reason="no data",
        tested=[a_check("fails")],
        substitute=[a_check("holds", "on other data")],
    )
    assert refuted.verdict == "fails as printed"
    assert "What could be tested of the rest, on a stand-in, holds." in str(refuted)


@pytest.mark.parametrize("outcome", ["corrected", "fails"])
def test_an_erratum_is_tied_to_its_evidence(outcome):
    result = verdict("lin2025.eq5", a_check(outcome), errata=[an_erratum()])
    assert result.evidence["errata"][0]["check"] == "two and two"


@pytest.mark.parametrize("outcome", ["holds", "undecided"])
def test_an_erratum_on_an_accepted_statement_has_nothing_to_show(outcome):
    result = verdict("lin2025.eq5", a_check(outcome), errata=[an_erratum()])
    assert result.verdict == "undecided"
    said = (
        "The erratum at p. 3, (5) has nothing to show: with these numbers the check "
        "“two and two” does not reject the printed statement."
    )
    assert said in in_the_open(result)
    assert said in str(result)


def test_an_erratum_without_its_check_words_or_grade_is_refused():
    with pytest.raises(ValueError, match="check of an erratum"):
        verdict("lin2025.eq5", a_check("fails"), errata=[an_erratum("another")])
    with pytest.raises(ValueError, match="consequence"):
        Erratum("p. 3", "a", "b", " ", "c", "misprint")
    with pytest.raises(ValueError, match="grade"):
        an_erratum(grade="typo")
    with pytest.raises(ValueError, match="part"):
        an_erratum(part="lemma")


def test_coverage_names_what_exercises_each_term():
    checks = a_check("holds"), a_check("corrected", "another")
    result = verdict(
        "lin2025.eq5",
        *checks,
        errata=[an_erratum("another")],
        coverage={"a sum": "three", "the sign": ("three", "another"), "all x": None},
    )
    assert result.evidence["coverage"] == [
        {"term": "a sum", "by": ["three"]},
        {"term": "the sign", "by": ["three", "another"]},
        {"term": "all x", "by": []},
    ]
    assert exercised(result.evidence["coverage"]) == (2, 3)
    assert "Terms of the statement exercised: 2 of 3" in result._repr_mimebundle_()[0]["text/html"]
    assert "all x: not exercised" in str(result)


@pytest.mark.parametrize("by", ["four", ["three", "four"], "", [" "]])
def test_coverage_by_no_control_and_no_check_is_refused(by):
    with pytest.raises(ValueError, match="coverage"):
        verdict("lin2025.eq5", a_check("holds"), coverage={"a sum": by})
    with pytest.raises(ValueError, match="coverage"):
        verdict("lin2025.eq5", a_check("undecided"), coverage={"a sum": "three"})


def test_coverage_by_what_was_not_rejected_decides_nothing():
    four = identity("4", measured=4.0, printed=4.0, controls={"four": 4.0}, rtol=1e-12)
    result = verdict("lin2025.eq5", four, coverage={"a sum": ["four", "4"]})
    assert result.verdict == "undecided"
    assert in_the_open(result).count("The term “a sum” is not exercised: with these numbers") == 2
    result = verdict("lin2025.eq5", a_check("holds"), coverage={"a sum": "two and two"})
    assert result.verdict == "undecided"


def test_a_reader_s_numbers_are_answered_in_the_open():
    """Outside the folded evidence; a verdict of the book has nothing there."""

    def of(**changes):
        given = {"printed": 5.0, "corrected": 4.0, "controls": {"three": 3.0}} | changes
        check = identity("two and two", measured=4.0, rtol=1e-12, **given)
        return verdict("lin2025.eq5", check, errata=[an_erratum()])

    assert of().verdict == "holds, misprinted"
    assert in_the_open(of()) == ""
    equal = of(controls={"three": 4.0})
    assert equal.verdict == "undecided"
    assert "Control “three” is the statement itself: the check treats" in in_the_open(equal)
    fixed = of(printed=4.0)
    assert fixed.verdict == "undecided"
    assert "The corrected statement is the printed one: nothing is" in in_the_open(fixed)
    assert "has nothing to show" in in_the_open(fixed)
    broken = verdict("lin2025.eq5", a_check("fails"))
    assert broken.verdict == "fails as printed"
    assert in_the_open(broken) == (
        "The check “two and two” rejects the printed statement, and no erratum says so."
    )
    for result in (equal, fixed, broken):
        VALIDATOR.validate(result.evidence)


def test_repaired_means_that_a_true_statement_stands_beside_each_false_one():
    def of(*checks, **more):
        return repaired(verdict("lin2025.eq5", *checks, **more).evidence)

    assert of(a_check("holds"))
    assert of(a_check("corrected"), errata=[an_erratum(grade="conclusion")])
    assert not of(a_check("corrected"), a_check("fails", "another"))
    assert not of(a_check("undecided"))


@pytest.mark.parametrize("claim", ["", "eq5", "lin.eq5", "Lin2025.eq5", "lin2025.", "lin2025.a b"])
def test_malformed_claims_are_refused(claim):
    with pytest.raises(ValueError, match="claim"):
        verdict(claim, a_check("holds"))


def test_verdicts_need_distinct_checks_and_reasons():
    with pytest.raises(ValueError, match="checks"):
        verdict("lin2025.eq5")
    with pytest.raises(ValueError, match="distinct"):
        verdict("lin2025.eq5", a_check("holds"), a_check("fails"))
    with pytest.raises(ValueError, match="reason"):
        out_of_reach("lin2025.eq5", reason=" ")


# --- what is shown -------------------------------------------------------------------------------


def rich_verdict() -> Verdict:
    """A verdict with most kinds of evidence, infinities and awkward characters."""
    rng, x = np.random.default_rng(0), np.linspace(0.1, 3, 12)
    sizes = np.array([10, 30, 100, 300, 1000])
    return verdict(
        "lin2025.eq5",
        identity("∞ = ∞", measured=[np.inf], printed=[np.inf], controls={"1": [1.0]}, rtol=1e-9),
        identity('a < b & "c"', measured=1.0, printed=2.0, controls={"<3>": 3.0}, rtol=0),
        bound(
            "sine",
            measured=np.sin(x),
            printed=x,
            controls={"9/10": 0.9 * x},
            where={"x": x},
        ),
        expectation(
            "mean",
            samples=rng.normal(size=(99, 2)),
            printed=[0, 0],
            controls={"1": [1, 1], "biased": instead(rng.normal(2, 1, (50, 2)))},
        ),
        distribution(
            "law",
            samples=rng.uniform(size=400),
            printed_cdf=lambda t: np.clip(t, 0, 1),
            controls={"square": lambda t: np.clip(t, 0, 1) ** 2},
        ),
        rate("r", sizes=sizes, values=1 / sizes, printed=-1.0, controls={"-1/2": -0.5}),
        optimum(
            "o",
            objective=lambda c: (c - 1) ** 2,
            printed=1.0,
            controls={"2": 2.0},
            bounds={"c": (0, 3)},
            rtol=1e-5,
        ),
        a_check("undecided"),
        errata=[an_erratum('a < b & "c"')],
    )


@pytest.mark.parametrize(
    "make",
    [
        rich_verdict,
        *(lambda word=word: verdict("wang2026.thm1", a_check(word)) for word in OUTCOMES),
        lambda: verdict("wang2026.thm1", a_check("holds"), coverage={"four": "three", "x": None}),
        lambda: out_of_reach("lin2025.conj3.1", reason="asymptotic"),
    ],
)
def test_the_bundle_follows_the_schema_and_says_it_three_times(make):
    result = make()
    data, metadata = result._repr_mimebundle_()
    assert set(data) == {MIME, "text/html", "text/plain"}
    stored = json.loads(json.dumps(data[MIME], allow_nan=False))
    VALIDATOR.validate(stored)
    assert stored == data[MIME]
    for shown in (data["text/plain"], data["text/html"]):
        assert result.verdict in shown
        assert result.claim in shown
        assert SYMBOLS[result.verdict] in shown
    assert metadata == {"dpdynamics": {"claim": result.claim}}
    assert str(result) == repr(result) == data["text/plain"]


def test_the_schema_is_a_schema_and_refuses_forgeries():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    stored = verdict("lin2025.eq5", a_check("holds")).evidence
    VALIDATOR.validate(stored)
    forgeries = [
        stored | {"verdict": "proved"},
        stored | {"checks": []},
        stored | {"claim": "eq5"},
        stored | {"checks": [stored["checks"][0] | {"controls": []}]},
        stored | {"checks": [stored["checks"][0] | {"outcome": "undecided"}]},
        stored | {"verdict": "out of reach"},
        stored | {"note": "typed by hand"},
    ]
    for forged in forgeries:
        assert not VALIDATOR.is_valid(forged)


def test_the_schema_has_the_words_of_the_library():
    erratum = SCHEMA["$defs"]["erratum"]["properties"]
    assert SCHEMA["properties"]["verdict"]["enum"] == list(VERDICTS)
    assert erratum["grade"]["enum"] == list(GRADES)
    assert erratum["part"]["enum"] == list(PARTS)


def test_a_definition_shows_no_box():
    result = verdict("anon2025.def1", a_check("holds"), assumed=True)
    shown = result._repr_mimebundle_()[0]
    assert shown["text/html"].count("<") == 2
    assert "hidden" in shown["text/html"]
    VALIDATOR.validate(shown[MIME])


def test_text_speaks_plainly():
    text = str(rich_verdict())
    assert text.startswith("? lin2025.eq5: undecided")
    assert "control: 9/10: rejected by a factor 1.1" in text
    assert "control (wrong measurement): biased: rejected" in text
    assert "tightness: 1 at x 0.1" in text
    assert "no control: nothing shows that this check can fail" in text
    assert "rejected without bound" in text
    assert "erratum (misprint): p. 3, (5)" in text
    assert "printed: 2 + 2 = 5" in text


class _Outline(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_closed_escaped_and_speaks_without_colour():
    box = rich_verdict()._repr_mimebundle_()[0]["text/html"]
    outline = _Outline()
    outline.feed(box)
    assert outline.open == []
    assert {"script", "img", "link", "style"}.isdisjoint(outline.tags)
    assert "a &lt; b &amp; &quot;c&quot;" in box
    assert "<3>" not in box
    assert ("aria-label", "Verdict on lin2025.eq5: undecided") in outline.attributes
    assert "http" not in box


def test_mathematics_of_an_erratum_is_typeset():
    right = {"correct": r"$a\le b$ & $c$", "printed": "2 + 2 = 5", "consequence": "None"}
    slip = Erratum(location="(5)", check="c", grade="misprint", **right)
    values = {"measured": 1.0, "printed": 2.0, "corrected": 1.0, "rtol": 1e-9}
    wrong = identity("c", **values, controls={"3": 3.0})
    box = verdict("lin2025.eq5", wrong, errata=[slip])._repr_mimebundle_()[0]["text/html"]
    assert r"\(a\le b\) &amp; \(c\)" in box
    assert "<details class='mathjax_process'" in box


def test_every_verdict_has_a_symbol_and_a_colour():
    assert set(SYMBOLS) == set(COLOURS) == set(VERDICTS)
    assert len(set(SYMBOLS.values())) == len(SYMBOLS)


@given(some.floats(allow_nan=False))
def test_numbers_keep_six_digits(number):
    written = plain(number)
    json.dumps(written, allow_nan=False)
    assert float(written) == pytest.approx(number, rel=1e-5)
    assert plain(written) == written


def test_nan_is_never_written():
    assert plain({"a": (np.int64(3), np.float32(0.5), [True])}) == {"a": [3, 0.5, [True]]}
    with pytest.raises(ValueError, match="NaN"):
        plain([1.0, np.nan])


def test_the_base_seed_is_recorded(monkeypatch):
    monkeypatch.delenv("DPDYNAMICS_SEED", raising=False)
    assert verdict("lin2025.eq5", a_check("holds")).evidence["seed"] == 2025
    monkeypatch.setenv("DPDYNAMICS_SEED", "7")
    assert verdict("lin2025.eq5", a_check("holds")).evidence["seed"] == 7
    assert out_of_reach("lin2025.eq5", reason="asymptotic").evidence["seed"] == 7
