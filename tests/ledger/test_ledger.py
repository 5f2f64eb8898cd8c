"""The gate: the real book passes it, and each planted fault is named with its cell."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_output
from planting import CHAPTER, ERRATUM, LATER, Book, cell, check, comparison, record

from book_ledger import gate, ledger
from book_ledger.inventory import InventoryError
from dpdynamics.verification import Erratum, identity, instead, out_of_reach, verdict


def test_the_book_has_no_problem(root: Path) -> None:
    assert gate.problems(root) == []


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path)


def problem(book: Book, *cells: object) -> str:
    """The one problem of a book with these cells after its title; it must name a cell."""
    book.cells[1:] = cells
    found = gate.problems(book.write())
    assert len(found) == 1, found
    assert found[0].startswith(f"{CHAPTER}, cell {len(cells) + 1}")
    return found[0]


def problem_of(book: Book, recorded: object) -> str:
    """All that is wrong with a book in which one cell records this, each time in that cell."""
    book.cells[1:] = [cell(recorded)]
    found = gate.problems(book.write())
    assert all(line.startswith(f"{CHAPTER}, cell 2") for line in found)
    return "\n".join(found)


def test_sound_evidence_passes(book: Book) -> None:
    corrected = check(
        outcome="corrected",
        printed=comparison("printed", 40.0),
        corrected=comparison("corrected", 0.5),
    )
    definition = record("def1", assumed=True)
    theorem = record(verdict="holds, misprinted", checks=[corrected], errata=[ERRATUM])
    book.cells[1:] = [cell(definition, theorem)]
    assert gate.problems(book.write()) == []
    rows = ledger.build(book.root).rows
    assert [row.verdict for row in rows.values()] == ["assumed", "holds, misprinted", "holds"]


def test_planted_false_claim(book: Book) -> None:
    false = check(outcome="fails", printed=comparison("printed", 40.0))
    words = problem(book, cell(record(verdict="fails as printed", checks=[false])))
    assert "rejects the printed statement, and no erratum says so" in words


def test_planted_false_claim_recorded_as_true(book: Book) -> None:
    false = check(outcome="fails", printed=comparison("printed", 40.0))
    words = problem(book, cell(record(checks=[false], errata=[ERRATUM])))
    assert "recorded as holds, but its checks and errata give fails as printed" in words


@pytest.mark.parametrize(
    ("grade", "part", "word"),
    [
        ("misprint", "statement", "holds, misprinted"),
        ("constant", "statement", "holds, misprinted"),
        ("condition", "statement", "holds under a condition"),
        ("conclusion", "statement", "fails as printed"),
        ("conclusion", "proof", "holds, misprinted"),
    ],
)
def test_the_verdict_follows_the_gravest_erratum(
    book: Book, grade: str, part: str, word: str
) -> None:
    erratum = ERRATUM | {"grade": grade, "part": part}
    corrected = check(
        outcome="corrected",
        printed=comparison("printed", 40.0),
        corrected=comparison("corrected", 0.5),
    )
    book.cells[1:] = [cell(record(verdict=word, checks=[corrected], errata=[ERRATUM, erratum]))]
    assert gate.problems(book.write()) == []
    words = problem(book, cell(record(checks=[corrected], errata=[erratum])))
    assert f"recorded as holds, but its checks and errata give {word}" in words


def test_coverage_is_required_and_rests_on_rejected_controls(book: Book) -> None:
    assert "coverage is missing" in problem(book, cell(record(coverage=[])))
    invented = [{"term": "the sign", "by": ["sign flipped"]}]
    book.cells[1:] = [cell(record(verdict="undecided", coverage=invented))]
    words = "\n".join(gate.problems(book.write()))
    assert 'the term "the sign" is not exercised: with these numbers "sign flipped" is' in words
    assert "give undecided" in problem_of(book, record(coverage=invented))


def test_rebuilt_statements_are_called_so(book: Book) -> None:
    book.paper["claims"][1]["reconstructed"] = True
    words = problem(book, cell(record()))
    assert "rebuilt must be said exactly where the inventory calls" in words
    book.cells[1:] = [cell(record(verdict="holds as rebuilt", rebuilt=True))]
    assert gate.problems(book.write()) == []
    assert ledger.build(book.root).rows["test2025.thm1"].word == "holds as rebuilt"
    corrected = check(
        outcome="corrected",
        printed=comparison("printed", 40.0),
        corrected=comparison("corrected", 0.5),
    )
    mended = record(verdict="holds, misprinted", rebuilt=True, checks=[corrected], errata=[ERRATUM])
    book.cells[1:] = [cell(mended)]
    assert gate.problems(book.write()) == []
    assert ledger.build(book.root).rows[mended["claim"]].word == "holds, misprinted, rebuilt"


def test_a_repaired_statement_needs_its_check(book: Book) -> None:
    book.paper["claims"][1]["repaired"] = "$x\\le 2x$ for $x>0$."
    assert "no accepted correction stands behind it" in problem(book, cell(record()))
    corrected = check(
        outcome="corrected",
        printed=comparison("printed", 40.0),
        corrected=comparison("corrected", 0.5),
    )
    grave = ERRATUM | {"grade": "conclusion"}
    mended = record(verdict="fails as printed", checks=[corrected], errata=[grave])
    book.cells[1:] = [cell(mended)]
    assert gate.problems(book.write()) == []


def test_a_stand_in_decides_nothing(book: Book) -> None:
    wrong = check(outcome="fails", printed=comparison("printed", 40.0))
    beyond = record(verdict="out of reach", reason="No data.", checks=[wrong])
    book.cells[1:] = [cell(beyond | {"substitute": [wrong["name"]]})]
    assert gate.problems(book.write()) == []
    book.cells[1:] = [cell(beyond | {"substitute": ["another"]})]
    assert "which is called a substitute" in "\n".join(gate.problems(book.write()))


def test_planted_check_without_control(book: Book) -> None:
    book.cells[1:] = [cell(record(checks=[check(controls=[])]))]
    found = "\n".join(gate.problems(book.write()))
    assert f"{CHAPTER}, cell 2 [1], test2025.thm1: check " in found
    assert "no control: nothing shows that this check can fail" in found
    assert "recorded as holds, but its checks and errata give undecided" in found


def test_planted_control_that_passes(book: Book) -> None:
    passing = check(controls=[comparison("sign flipped", 0.9)])
    book.cells[1:] = [cell(record(checks=[passing]))]
    found = "\n".join(gate.problems(book.write()))
    assert f'{CHAPTER}, cell 2 [1], test2025.thm1: check "{passing["name"]}"' in found
    assert 'control "sign flipped" is not rejected (ratio 0.9)' in found


def test_control_that_claims_to_be_rejected(book: Book) -> None:
    liar = check(controls=[comparison("sign flipped", 0.9, outcome="rejected", margin=1.1)])
    book.cells[1:] = [cell(record(checks=[liar]))]
    found = "\n".join(gate.problems(book.write()))
    assert 'control "sign flipped" is not rejected (ratio 0.9)' in found
    assert '"sign flipped" is recorded as rejected at ratio 0.9' in found


def test_statistical_control_needs_power(book: Book) -> None:
    without = check(kind="expectation")
    assert "has no power" in problem(book, cell(record(checks=[without])))
    terms = [{"term": "the mean", "by": ["wrong"]}]
    weak = check(kind="expectation", controls=[comparison("wrong", 9.0, power=0.8)])
    assert "is rejected with power 0.8 only" in problem(
        book, cell(record(checks=[weak], coverage=terms))
    )


def test_planted_failing_cell(book: Book) -> None:
    error = new_output("error", ename="ZeroDivisionError", evalue="division", traceback=[])
    failing = new_code_cell("1 / 0", execution_count=2, outputs=[error])
    words = problem(book, cell(record()), failing)
    assert words == f"{CHAPTER}, cell 3 [2]: the cell failed: ZeroDivisionError: division"


def test_unexecuted_notebook(book: Book) -> None:
    words = problem(book, new_code_cell("verdict(...)"))
    assert words == f"{CHAPTER}, cell 2: the code cell was not executed (it has no execution count)"


def test_undecided(book: Book) -> None:
    coarse = check(outcome="undecided", reasons=["the measurement is too coarse"])
    words = problem(book, cell(record(verdict="undecided", checks=[coarse])))
    assert "test2025.thm1: undecided: the measurement is too coarse" in words


def played(**changes: object) -> dict[str, object]:
    """What a reader's cell records: a misprint and its correction, with some numbers changed."""
    given = {"printed": 1.0, "corrected": 2.0, "controls": {"three": 3.0}} | changes
    on_substitute = given.pop("substitute", False)
    tried = identity(ERRATUM["check"], measured=2.0, rtol=1e-9, **given)  # type: ignore[arg-type]
    term = {} if on_substitute else {"the factor": "three"}
    sound = identity("another", measured=2.0, printed=2.0, controls={"three": 3.0}, rtol=1e-9)
    slip = Erratum(**{**ERRATUM, "also": ()})
    if on_substitute:
        found = out_of_reach("test2025.thm1", reason="a", tested=[sound], substitute=[tried])
    else:
        found = verdict("test2025.thm1", tried, errata=[slip], coverage=term)
    return found.evidence


@pytest.mark.parametrize("substitute", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {"printed": 2.0},
        {"corrected": 1.0},
        {"controls": {"three": 1.0}},
        {"controls": {"three": 2.0}},
        {"controls": {"three": instead(2.0)}},
        {"printed": 2.0, "corrected": None, "controls": {"three": 2.0}},
    ],
)
def test_what_a_reader_s_numbers_leave_undecided_enters_no_ledger(
    book: Book, changes: dict[str, object], substitute: bool
) -> None:
    assert gate.of_record(played(substitute=substitute)) == []
    assert problem_of(book, played(**changes, substitute=substitute))


def test_a_printed_statement_that_holds_leaves_its_erratum_nothing_to_show(book: Book) -> None:
    words = problem_of(book, played(printed=2.0, corrected=None))
    assert "the erratum at Theorem 1, display has nothing to show" in words


def test_unknown_claim(book: Book) -> None:
    assert "test2025.thm9: no such claim" in problem(book, cell(record("thm9")))


def test_claim_of_another_chapter(book: Book) -> None:
    book.cells[1:] = [cell(record("cor1"))]
    foreign, again = gate.problems(book.write())
    assert foreign.startswith(
        f"{CHAPTER}, cell 2 [1], test2025.cor1: decided in a chapter that does"
    )
    assert foreign.endswith("not own it: it belongs to later")
    assert again == f"{LATER}, cell 2 [1], test2025.cor1: decided before, in {CHAPTER}, cell 2 [1]"


def test_claim_decided_twice(book: Book) -> None:
    words = problem(book, cell(record()), cell(record(), execution=2))
    assert f"decided before, in {CHAPTER}, cell 2 [1]" in words


def test_every_claim_has_a_verdict(book: Book) -> None:
    book.gaps = True
    page = {"key": "page", "title": "Page", "page": "book/page", "owns": ["test2025.cor1"]}
    book.chapters["parts"][0]["chapters"][1] = page
    book.cells[1:] = [cell(record("def1", assumed=True)), new_code_cell("1", execution_count=2)]
    words = [
        f"{CHAPTER}: no cell decides test2025.thm1, which the chapter owns",
        "book/page: no cell decides test2025.cor1, which the chapter owns",
    ]
    assert gate.problems(book.write()) == [
        f"{LATER}: no chapter in chapters.yml lists this notebook",
        *words,
    ]
    with pytest.raises(InventoryError) as caught:
        ledger.build(book.root)
    assert caught.value.problems == words


def test_assumed_is_for_definitions(book: Book) -> None:
    assert "assumed, but its kind is theorem" in problem(book, cell(record(assumed=True)))
    assert "holds, but its kind is definition" in problem(book, cell(record("def1")))


def test_erratum_must_rest_on_a_check_that_rejects(book: Book) -> None:
    for erratum in (ERRATUM, ERRATUM | {"check": "another"}):
        words = problem_of(book, record(errata=[erratum]))
        assert "recorded as holds, but its checks and errata give undecided" in words
        assert f'the check "{erratum["check"]}" does not reject the printed statement' in words


def test_malformed_record(book: Book) -> None:
    broken = record()
    del broken["checks"][0]["printed"]
    assert "malformed at checks/0: 'printed' is a required" in problem(book, cell(broken))


def test_missing_and_unlisted_notebooks(book: Book) -> None:
    book.write()
    (book.root / CHAPTER).rename(book.root / "notebooks/part/other.ipynb")
    unlisted, missing, *foreign = gate.problems(book.root)
    assert missing == f"{CHAPTER}: listed in chapters.yml, but missing"
    assert unlisted == "notebooks/part/other.ipynb: no chapter in chapters.yml lists this notebook"
    words = "decided in a chapter that does not own it: it belongs to chapter"
    assert len(foreign) == 2 and all(words in line for line in foreign)
    with pytest.raises(InventoryError, match=r"listed in chapters\.yml, but missing"):
        ledger.build(book.root)


def test_a_file_that_is_no_notebook(book: Book) -> None:
    (book.write() / CHAPTER).write_text("{")
    (words,) = gate.problems(book.root)
    assert words.startswith(f"{CHAPTER}: not a notebook: ")


def own(**changes: object) -> dict:
    """A sound verdict on the statement of the book itself."""
    return record(**changes) | {"claim": "book2026.overlap1"}


def test_own_statements_are_counted_apart(book: Book) -> None:
    book.add_own()
    book.cells[1:] = [cell(record(), own())]
    assert gate.problems(book.write()) == []
    found = ledger.build(book.root)
    assert list(found.inventory.papers) == ["test2025"]
    assert (found.count(), found.count("holds")) == (3, 2)
    assert (found.count(source="book2026"), found.count("holds", "book2026")) == (1, 1)
    data = found.as_json()
    assert data["counts"]["all"]["claims"] == 3
    assert data["counts"]["book2026"]["holds"] == 1
    assert [source["own"] for source in data["papers"]] == [False, True]


def test_own_statements_must_hold_and_have_no_errata(book: Book) -> None:
    book.add_own()
    corrected = check(
        outcome="corrected",
        printed=comparison("printed", 40.0),
        corrected=comparison("corrected", 0.5),
    )
    verdict = own(verdict="holds, misprinted", checks=[corrected], errata=[ERRATUM])
    book.cells[1:] = [cell(record(), verdict)]
    found = "\n".join(gate.problems(book.write()))
    assert "an erratum to a statement of the book's own: mend the statement instead" in found
    assert "holds, misprinted: a statement of the book's own must hold" in found
