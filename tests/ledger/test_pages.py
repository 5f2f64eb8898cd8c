"""The pages: a small book is built with Sphinx and its ledger, graph, boxes and errata are read."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import jsonschema
import pytest
from nbformat.v4 import new_markdown_cell
from planting import ERRATUM, Book, cell, check, comparison, record
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import docutils_namespace, patch_docutils

from book_ledger import ledger, letters
from book_ledger.inventory import load
from book_ledger.questions import open_questions
from book_ledger.scripts import scripts
from dpdynamics.verification.rendering import as_html

BOX = "```{claim} test2025.thm1\n```"
PAGE = """# Page

See {claimref}`test2025.cor1` and {claimref}`words <test2025.thm1>`; {ledger-count}`holds` of
{ledger-count}`test2025 claims`, {ledger-count}`errata` erratum; of {ledger-count}`claims`
{ledger-count}`test2025 decided` decided,
{ledger-count}`assumed` assumed; {ledger-count}`errata constant` constant,
{ledger-count}`exercised` of {ledger-count}`terms` terms, {ledger-count}`test2025 coverage`.

```{ledger}
```

```{claim-graph}
```

```{errata}
```
"""


def build(book: Book, page: str = PAGE) -> tuple[Path, str]:
    """Build a book; return the site and the warnings."""
    root = book.write()
    (root / "index.md").write_text(
        f"{page}\n```{{toctree}}\nnotebooks/part/chapter\nnotebooks/part/later\n```\n", "utf-8"
    )
    out, warnings = root / "_build", io.StringIO()
    options = {
        "extensions": ["myst_nb", "book_ledger"],
        "myst_enable_extensions": ["dollarmath"],
        "nb_execution_mode": "off",
        "root_doc": "index",
        "html_theme": "basic",
        "exclude_patterns": ["_build"],
        "suppress_warnings": [],
    }
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            root, None, out, out / ".doctrees", "html", options, status=None, warning=warnings
        )
        app.build(force_all=True)
    lines = [line for line in warnings.getvalue().splitlines() if "ledger.css" not in line]
    return out, "\n".join(lines)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with an assumed definition, a corrected theorem and a corollary that holds."""
    corrected = check(
        outcome="corrected",
        printed=comparison("printed", 40.0),
        corrected=comparison("corrected", 0.5),
        tightness={"min": 2.5, "median": 3.0, "max": 9.0, "tightest at": {}, "under attack": 2.25},
    )
    theorem = record(verdict="holds, misprinted", checks=[corrected], errata=[ERRATUM])
    book = Book(tmp_path_factory.mktemp("book"))
    deciding = cell(record("def1", assumed=True), theorem)
    deciding.outputs[1].data["text/html"] = as_html(theorem)
    book.cells[1:] = [new_markdown_cell(BOX), deciding]
    out, warnings = build(book)
    assert warnings == ""
    return out


def test_every_internal_link_has_its_anchor(site: Path) -> None:
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    count = 0
    for path, text in pages.items():
        for address in re.findall(
            r'<a [^>]*href="([^"]*#(?:claim|ledger|verdict|check|erratum)-[^"]*)"', text
        ):
            name, _, fragment = address.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert f'id="{fragment}"' in pages[target], address
            count += 1
    assert count >= 12


def test_row_leads_to_the_deciding_cell(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    row = text[text.index('id="ledger-test2025-thm1"') :].partition("</tbody>")[0]
    assert 'href="notebooks/part/chapter.html#verdict-test2025-thm1"' in row
    for words in ("holds, misprinted", "1 of 1", "2.2", "0.5", "factor 1/2 dropped"):
        assert words in row
    chapter = (site / "notebooks/part/chapter.html").read_text("utf-8")
    assert '<div class="ledger-verdict" tabindex="-1" id="verdict-test2025-thm1">' in chapter


def test_erratum_and_bound_lead_to_their_check(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    address = 'href="notebooks/part/chapter.html#check-test2025-thm1-1"'
    erratum = text[text.index('id="erratum-test2025-thm1-1"') :].partition("</details>")[0]
    assert address in erratum
    chapter = (site / "notebooks/part/chapter.html").read_text("utf-8")
    assert '<a id="check-test2025-thm1-1"></a>' in chapter


def test_box_shows_statement_source_and_verdict(site: Path) -> None:
    chapter = (site / "notebooks/part/chapter.html").read_text("utf-8")
    box = chapter[chapter.index('id="claim-test2025-thm1"') :]
    for words in ("Theorem 1", r"\(x\le x\)", "Test et al. (2025), Section 1", "Definition 1"):
        assert words in box


def test_counts_come_from_the_ledger(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    assert (
        "1 of\n3, 1 erratum; of 3\n2 decided,\n1 assumed; 1 constant,\n3 of 6 terms, 50 %." in text
    )


def test_graph_names_every_claim_with_its_verdict(site: Path) -> None:
    text = (site / "index.html").read_text("utf-8")
    nodes = dict(re.findall(r'<a class="(claim-node [^"]*)" data-claim="([^"]*)"', text))
    classes = {claim: names.split() for names, claim in nodes.items()}
    assert set(classes) == {"test2025.def1", "test2025.thm1", "test2025.cor1"}
    assert "v-holds-misprinted" in classes["test2025.thm1"]
    assert "v-holds" in classes["test2025.cor1"]
    assert 'aria-label="Thm 1, about thm1: holds, misprinted"' in text
    assert '<div class="claim-graph" data-first="test2025">' in text


def test_json_conforms_to_its_schema(site: Path) -> None:
    data = json.loads((site / "ledger.json").read_text("utf-8"))
    schema = json.loads((site / "ledger.schema.json").read_text("utf-8"))
    jsonschema.validate(data, schema, cls=jsonschema.Draft202012Validator)
    assert data["counts"]["test2025"]["holds, misprinted"] == 1
    theorem = data["claims"][1]
    assert theorem["decided_in"]["cell"] == 3
    assert theorem["evidence"]["errata"] == [ERRATUM]


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(40.0, "by a factor 40"), (99.7, "by a factor 100"), ("inf", "without bound")],
)
def test_errata_say_how_far_off(ratio: float | str, words: str, tmp_path: Path) -> None:
    wrong = check(
        outcome="corrected",
        printed=comparison("printed", 40.0) | {"ratio": ratio, "margin": ratio},
        corrected=comparison("corrected", 0.5),
    )
    book = Book(tmp_path)
    book.cells[1:] = [cell(record(verdict="holds, misprinted", checks=[wrong], errata=[ERRATUM]))]
    out, _ = build(book, "# P\n\n```{errata}\n```\n")
    text = (out / "index.html").read_text("utf-8")
    assert (
        f"the printed statement is rejected {words}, the corrected one is accepted at 0.5 of"
        in text
    )


def test_text_is_escaped_and_a_link_to_nowhere_is_plain(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.paper["claims"][2]["name"] = 'a <b> & "c"'
    out, warnings = build(book, "# P\n\n{claimref}`test2025.cor1`\n\n```{claim-graph}\n```\n")
    assert warnings == ""
    text = (out / "index.html").read_text("utf-8")
    label = "test2025.cor1: a &lt;b&gt; &amp; &#34;c&#34;"
    assert f'<a title="{label}">Corollary 1</a>' in text
    assert "<title>Corollary 1, a &lt;b&gt; &amp; &#34;c&#34;: holds</title>" in text


def test_what_the_gate_refuses_is_a_warning_of_the_build(tmp_path: Path) -> None:
    book = Book(tmp_path)
    coarse = check(outcome="undecided", reasons=["the measurement is too coarse"])
    book.cells[1:] = [cell(record(verdict="undecided", checks=[coarse]))]
    _, warnings = build(book)
    place = "notebooks/part/chapter.ipynb, cell 2 [1], test2025.thm1"
    assert f"WARNING: {place}: undecided: the measurement is too coarse" in warnings


def test_a_claim_without_a_verdict_stops_the_build(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.gaps = True
    with pytest.raises(ExtensionError, match=r"ipynb: no cell decides test2025\.def1, which"):
        build(book)


def test_unknown_ids_are_warnings(tmp_path: Path) -> None:
    page = (
        "# P\n\n{claimref}`test2025.thm9` {ledger-count}`wrong`\n\n```{claim} test2025.thm8\n```\n"
    )
    _, warnings = build(Book(tmp_path), page)
    assert "index.md:3: WARNING: no claim 'test2025.thm9' in book/claims" in warnings
    assert "no claim 'test2025.thm8' in book/claims" in warnings
    assert "'wrong' is not 'claims'" in warnings


EVIDENCE = """# P

{evidence-number}`checks` checks, {evidence-number}`controls` controls.

```{evidence} verdicts
```

```{evidence} margins
```

```{evidence} coverage
```

```{evidence} unexercised
```

```{evidence} kinds
```

```{evidence} tightness
```

```{evidence} attained
```

```{evidence} loosest
```

```{evidence} out-of-reach
```

```{open-questions}
```
"""


@pytest.fixture(scope="module")
def evidence_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with every view of the evidence; beside it the errata's scripts."""
    book = Book(tmp_path_factory.mktemp("evidence"))
    book.add_own()
    wrong = check(
        outcome="corrected",
        printed=comparison("printed", 40.0),
        corrected=comparison("corrected", 0.5),
    )
    tightness = {"min": 1.0, "median": 2.0, "max": 3.0, "tightest at": {"n": 7}}
    loose = check(name="a bound", kind="bound", tightness=tightness | {"under attack": None})
    theorem = record(verdict="holds, misprinted", checks=[wrong, loose], errata=[ERRATUM])
    own = record() | {"claim": "book2026.overlap1"}
    beyond = record("def1", verdict="out of reach", reason="The data are not at hand.")
    box = "```{claim} book2026.overlap1\n```"
    ends = "## Errata and open ends\n\n**Open.** Whether $x<x$; see {doc}`chapter`.\n\n## Exercises"
    book.cells[1:] = [new_markdown_cell(box), cell(theorem, own, beyond), new_markdown_cell(ends)]
    out, warnings = build(book, EVIDENCE)
    assert warnings == ""
    return (out / "index.html").read_text("utf-8")


def test_summary_counts_the_papers_alone(evidence_page: str) -> None:
    assert "4 checks, 4 controls." in evidence_page
    label = "All papers: 1 holds, 1 holds, misprinted, 1 out of reach, of 3"
    assert f'aria-label="{label}"' in evidence_page
    assert 'aria-label="This book’s own: 1 holds, of 1"' in evidence_page


def test_bounds_and_what_is_out_of_reach(evidence_page: str) -> None:
    for words in ("n = 7", "the data are not at hand.", "What could be tested: "):
        assert words in evidence_page


def test_open_questions_come_from_the_chapter(evidence_page: str) -> None:
    open_ = evidence_page[evidence_page.index('class="open-questions"') :]
    assert "Whether" in open_ and r"\(x&lt;x\)" in open_
    assert 'href="notebooks/part/chapter.html"' in open_


def test_letter_counts_and_names_its_script(tmp_path: Path) -> None:
    book = Book(tmp_path)
    wrong = check(
        outcome="corrected",
        printed=comparison("printed", 40.0),
        corrected=comparison("corrected", 0.5),
    )
    theorem = record(verdict="holds, misprinted", checks=[wrong], errata=[ERRATUM])
    beyond = record("def1", verdict="out of reach", reason="The data are not at hand.")
    book.cells[1:] = [cell(theorem, beyond)]
    found = ledger.build(book.write())
    letters.write(found, scripts(found, tmp_path), tmp_path / "out")
    letter = (tmp_path / "out" / "letter-test2025.md").read_text("utf-8")
    for words in (
        "*A test* (the first version)",
        "1 holds but for a misprint",
        "1 is beyond what a computation of ours could decide",
        "We suggest one correction",
        "**1. Theorem 1, display** (constant).",
        "Script: test2025.thm1.py",
        "3 of the 6 terms",
    ):
        assert words in letter


def test_own_statement_is_not_called_printed(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.add_own()
    own = cell(record() | {"claim": "book2026.overlap1"})
    own["outputs"][0]["data"]["text/html"] = "<p>printed statement: accepted</p>"
    box = new_markdown_cell("```{claim} book2026.overlap1\n```")
    book.cells[1:] = [box, cell(record()), own]
    out, warnings = build(book)
    assert warnings == ""
    chapter = (out / "notebooks/part/chapter.html").read_text("utf-8")
    assert "<p>statement: accepted</p>" in chapter
    assert "A statement of this book, Section 1." in chapter
    text = (out / "index.html").read_text("utf-8")
    row = text[text.index('id="ledger-book2026-overlap1"') :].partition("</tbody>")[0]
    assert "printed" not in row
    assert "2 of\n3, 0 erratum" in text


def test_most_chapters_of_the_book_name_what_is_open() -> None:
    root = Path(__file__).resolve().parents[2]
    chapters = [c for c in load(root).chapters.values() if c.notebook and not c.appendix]
    found = {chapter.key: open_questions(root, chapter) for chapter in chapters}
    assert sum(bool(texts) for texts in found.values()) >= 0.8 * len(chapters)
    assert all(len(text) > 40 for texts in found.values() for text in texts)
