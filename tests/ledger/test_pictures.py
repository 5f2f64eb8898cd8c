"""The README's pictures: those that the notebooks of today would give."""

import re
from xml.etree import ElementTree

import pytest

import book_pictures
from book_ledger.ledger import build

DRAWN = book_pictures.drawn()


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.stem)
def test_a_picture_is_the_one_that_is_drawn_today(path):
    assert path.read_text("utf-8") == DRAWN[path], "draw it again: make run"
    assert len(DRAWN[path]) < 100_000
    assert "background: #fff" in ElementTree.fromstring(DRAWN[path]).get("style")


def test_the_graph_shows_every_claim_in_the_colour_of_its_verdict(root):
    ledger = build(root)
    drawing = ElementTree.fromstring(book_pictures.claims(ledger))
    nodes = [shape.get("fill") for shape in drawing.iter() if shape.tag.endswith("rect")]
    kinds = len(set(nodes))
    assert len(nodes) == len(ledger.rows) + kinds  # each colour once more, in the key
    assert kinds == sum(ledger.count(verdict) > 0 for verdict in ledger.verdicts)
    changed = next(row for row in ledger.rows.values() if row.verdict == "holds")
    before = book_pictures.claims(ledger)
    ledger.rows[changed.claim.id] = next(r for r in ledger.rows.values() if r.verdict == "assumed")
    assert book_pictures.claims(ledger) != before


def test_the_readme_shows_both_with_words(root):
    shown = re.findall(r"!\[([^]]+)\]\(([^)]+)\)", (root / "README.md").read_text("utf-8"))
    assert {root / path for _, path in shown} == set(DRAWN)
    assert all(len(words.split()) > 15 for words, _ in shown)
