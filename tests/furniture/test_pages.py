"""What the prose pages promise about themselves."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from pybtex.database import parse_file

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
PAGES = sorted(BOOK.glob("*.md"))
SVG = "{http://www.w3.org/2000/svg}"


def prose(path: Path) -> str:
    """Text of a page without its fenced code."""
    text = path.read_text("utf-8")
    return re.sub(r"^```[a-z]+\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def glossary_terms() -> list[str]:
    """Terms of the glossary: lines inside a glossary directive that are not indented."""
    text = (BOOK / "glossary.md").read_text("utf-8")
    inside = re.findall(r"^```\{glossary\}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return [line for block in inside for line in block.splitlines() if re.match(r"\S", line)]


def test_every_page_is_in_the_contents():
    listed = re.findall(r"book/([a-z_]+)$", (ROOT / "_toc.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == [page.stem for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_one_title_and_no_skipped_heading(page):
    levels = [len(h) for h in re.findall(r"^(#+) ", prose(page), flags=re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_have_alternative_text(page):
    text = page.read_text("utf-8")
    for figure in re.findall(r"^```\{figure\} (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        alt = re.search(r"^:alt: (.+)$", figure[1], flags=re.MULTILINE)
        assert alt, figure[0]
        assert len(alt[1]) >= 40, figure[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_count_of_claims_is_typed(page):
    typed = re.findall(r"\b\d+ (?:claims|of \d+ claims|verdicts|errata)\b", prose(page))
    assert not typed


def test_glossary_is_complete_enough_and_has_no_twins():
    terms = glossary_terms()
    assert len(terms) >= 45
    assert not [term for term, times in Counter(map(str.lower, terms)).items() if times > 1]


def test_terms_that_pages_use_are_in_the_glossary():
    known = {term.lower() for term in glossary_terms()}
    for page in PAGES:
        used = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", page.read_text("utf-8"))
        missing = {
            " ".join(term.split()) for term in used if " ".join(term.split()).lower() not in known
        }
        assert not missing, page.name


def test_bibliography_holds_every_citation_and_the_four_papers():
    keys = set(parse_file(str(BOOK / "references.bib")).entries)
    papers = yaml.safe_load((BOOK / "notation.yml").read_text("utf-8"))["papers"]
    assert set(papers) <= keys
    for page in PAGES:
        cited = re.findall(r"\{cite:[a-z]+\}`([^`]+)`", page.read_text("utf-8"))
        assert {key.strip() for group in cited for key in group.split(",")} <= keys, page.name


def test_every_reference_has_author_title_and_year():
    for key, entry in parse_file(str(BOOK / "references.bib")).entries.items():
        assert entry.persons.get("author"), key
        assert {"title", "year"} <= set(entry.fields), key


@pytest.mark.parametrize("name", ["rooms", "flow"])
def test_drawing_is_self_contained(name):
    tree = ET.parse(BOOK / "figures" / f"{name}.svg")
    assert tree.getroot().find(f"{SVG}title").text
    for node in tree.iter():
        assert not any("href" in key for key in node.attrib)
        assert "url(http" not in (node.text or "")


def test_drawing_shows_the_rooms_that_exist():
    words = " ".join(
        "".join(node.itertext())
        for node in ET.parse(BOOK / "figures" / "rooms.svg").iter(f"{SVG}text")
        if node.get("class") == "name"
    )
    rooms = {f.parent.name for f in (ROOT / "lib" / "dpdynamics").glob("*/__init__.py")}
    assert rooms == set(re.findall("[a-z]+", words.replace("notebooks", "")))


def test_commands_that_the_guide_names_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    known = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z]+)`", page.read_text("utf-8")))
        assert named <= known, page.name
