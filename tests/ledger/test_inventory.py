"""The inventory: the real one is sound, and each inconsistency is named with file and claim."""

from pathlib import Path

import pytest
import yaml
from planting import Book, claim

from book_ledger.inventory import InventoryError, digest, load

CLAIMS = {"lin2025": 37, "bombari2025": 40, "anon2025": 52, "wang2026": 78}


def test_every_claim_of_the_four_papers_is_owned_by_one_chapter(root: Path) -> None:
    inventory = load(root)
    assert {key: len(inventory.of_paper(key)) for key in inventory.papers} == CLAIMS
    assert sum(CLAIMS.values()) == 207
    assert set(inventory.sources) - set(inventory.papers) == {"book2026"}
    owned = [claim for chapter in inventory.chapters.values() for claim in chapter.owns]
    assert sorted(owned) == sorted(inventory.claims)


def test_uses_resolve_without_circles(root: Path) -> None:
    inventory = load(root)
    position = {claim: i for i, claim in enumerate(inventory.graph)}
    assert set(position) == set(inventory.claims)
    assert inventory.graph.number_of_edges() == sum(len(c.uses) for c in inventory.claims.values())


def test_displayed_formulas_of_statements_stand_in_paragraphs_of_their_own(root: Path) -> None:
    for entry in load(root).claims.values():
        for paragraph in entry.statement.split("\n\n"):
            if "$$" in paragraph:
                text = paragraph.strip()
                assert text.startswith("$$") and text.endswith("$$"), entry.id


def test_short_labels_fit_a_node_and_tell_a_papers_claims_apart(root: Path) -> None:
    inventory = load(root)
    for paper in inventory.sources:
        shorts = [entry.short for entry in inventory.of_paper(paper)]
        assert max(map(len, shorts)) <= 10
        assert len(set(shorts)) == len(shorts)


def problems(book: Book) -> str:
    with pytest.raises(InventoryError) as caught:
        load(book.write())
    return "\n".join(caught.value.problems)


def test_every_statement_of_the_papers_is_locked(root: Path) -> None:
    claims = [c for c in load(root).claims.values() if c.paper in CLAIMS]
    kept = yaml.safe_load((root / "book/claims/digests.yml").read_text("utf-8"))
    assert {c.id: digest(c.statement) for c in claims} == {i: k["digest"] for i, k in kept.items()}


def test_an_edited_statement_is_refused_until_it_has_a_reason(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.write()
    book.digests = {c["id"]: {"digest": digest(c["statement"])} for c in book.paper["claims"]}
    theorem = book.paper["claims"][1]
    theorem["statement"] = "For all $x$,\n$x\\le x$."  # only its lines
    load(book.write())
    theorem["statement"] = "For most $x$, $x\\le x$."
    assert "digests.yml, test2025.thm1: the statement was edited" in problems(book)
    was = book.digests["test2025.thm1"]["digest"]
    change = {"was": was, "date": "2026-01-02", "reason": "A misreading."}
    book.digests["test2025.thm1"] = {"digest": digest(theorem["statement"]), "changes": [change]}
    assert load(book.write()).claims["test2025.thm1"].changes == (change,)
    del book.digests["test2025.cor1"]
    assert "digests.yml: lacks test2025.cor1" in problems(book)


def test_repeated_id(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.paper["claims"].append(claim("thm1", "theorem"))
    assert "test2025.yml, test2025.yml, test2025.thm1: the id is given 2 times" in problems(book)


def test_unknown_use(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.paper["claims"][1]["uses"] = ["test2025.lem9"]
    assert "test2025.yml, test2025.thm1: uses test2025.lem9, which is no claim" in problems(book)


def test_circle(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.paper["claims"][0]["uses"] = ["test2025.cor1"]
    words = problems(book)
    assert "circle" in words
    assert all(f"test2025.{name}" in words for name in ("def1", "thm1", "cor1"))


def test_claim_without_a_home_and_with_two(tmp_path: Path) -> None:
    book = Book(tmp_path)
    _ready, later = book.chapters["parts"][0]["chapters"]
    later["owns"] = ["test2025.thm1"]
    words = problems(book)
    assert "test2025.yml, test2025.cor1: no chapter in chapters.yml owns it" in words
    assert "test2025.yml, test2025.thm1: owned by several chapters: chapter, later" in words


def test_owning_an_unknown_claim(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.chapters["parts"][0]["chapters"][0]["owns"].append("test2025.fig7")
    assert "chapters.yml, chapter: owns test2025.fig7, which is no claim" in problems(book)


@pytest.mark.parametrize("field", ["statement", "kind", "where"])
def test_missing_field_names_file_and_claim(tmp_path: Path, field: str) -> None:
    book = Book(tmp_path)
    del book.paper["claims"][1][field]
    assert f"test2025.yml, test2025.thm1: '{field}' is a required property" in problems(book)


def test_unknown_kind(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.paper["claims"][2]["kind"] = "hunch"
    assert "test2025.yml, test2025.cor1, kind: 'hunch'" in problems(book)


def test_chapter_is_either_a_notebook_or_a_page(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.chapters["parts"][0]["chapters"][0]["page"] = "book/page"
    assert "chapters.yml, part, chapter:" in problems(book)


def test_paper_that_is_not_listed(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.chapters["sources"] = ["other2025"]
    assert "chapters.yml: sources must list each of test2025.yml once" in problems(book)


def test_chapter_may_be_a_generated_page(tmp_path: Path) -> None:
    book = Book(tmp_path)
    page = {"key": "state", "title": "State", "page": "book/state", "owns": []}
    book.chapters["parts"][0]["chapters"].append(page)
    chapter = load(book.write()).chapters["state"]
    assert (chapter.docname, chapter.notebook) == ("book/state", None)
