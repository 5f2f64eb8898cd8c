"""The book on paper: a handful of its pages printed and checked, and each check seen to fail.

``make pdf`` prints the whole book and runs the same checks on it (``tools/paper/check.py``).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject

import pdf
from nb.layout import ROOT
from paper.assemble import SOLUTIONS, book_pages
from paper.check import HEADING, check, outline, read_pages, tagged, wanted
from paper.finish import places, rounded
from paper.typeset import Press

# Explorer, errata, wide tables, an appendix, code that is the lesson, references.
HANDFUL = {
    "book/index",
    "book/notation",
    "book/errata",
    "notebooks/least_squares/risk_curve",
    "notebooks/clipping/diffusion_lemmas",
    "notebooks/synthesis/practitioner",
    "book/bibliography",
}
PICTURE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='90' height='60'%3E"
    "%3Crect width='90' height='60'/%3E%3C/svg%3E"
)
FIGURE = (
    f'<figure id="fig-a"><img alt="A black box." src="{PICTURE}"><figcaption><p><span '
    'class="caption-number">Fig. 1.1 </span>A box.</p></figcaption></figure>'
)
SECTION = '<section id="more"><h2>More of it</h2><p>Text.</p></section>'
# What a reading edition leaves out, and what it keeps or moves.
FOLDED = (
    '<div class="cell dp-code"><details class="hide"><summary><p>Code</p></summary><div '
    'class="highlight"><pre>hidden = 1</pre></div></details></div>'
)
OPEN = '<div class="cell_input"><div class="highlight"><pre>lesson = 2</pre></div></div>'
VERDICT = (
    '<div id="verdict" class="dpd-verdict"><details><summary>It holds.</summary><p id="check-1">'
    'Its evidence.</p></details></div><p><a href="#check-1">One check</a></p>'
)
EXERCISE = (
    '<div class="exercise admonition" id="ex"><p class="admonition-title">Exercise 1.1</p><p>Why?'
    '</p><p class="dp-solution"><a href="../../solutions/part/chapter.html#ex-solution">'
    "Solution</a></p></div>"
)
SOLUTION = (
    '<h1>Solutions: Chapter</h1><div class="exercise admonition"><p>Again: \\(y^3\\)?</p></div>'
    '<div class="solution admonition" id="ex-solution"><p class="admonition-title">Solution to '
    '<a href="../../notebooks/part/chapter.html#ex">Exercise 1.1</a></p><p>Therefore.</p></div>'
)
PAGES = {"book/index": "", "notebooks/part/chapter": "Part I: First"}
INDEX = '<h1>Small</h1><p>See <a href="../notebooks/part/chapter.html#more">more</a>.</p>'
CHAPTER = (
    '<h1>Chapter</h1><p>Let <span class="math notranslate">\\(x^2\\)</span>'
    ' and <a href="#more">more</a>.</p>'
    f"{FIGURE}{SECTION}{FOLDED}{OPEN}{VERDICT}{EXERCISE}"
)


@pytest.fixture(scope="module")
def handful(site, browser, tmp_path_factory):
    """The handful's pages, its PDF, the text on paper, and the faults that were found."""
    pages = [entry for entry in book_pages(ROOT) if entry[0] in HANDFUL]
    assert len(pages) == len(HANDFUL)
    path, texts = tmp_path_factory.mktemp("pdf") / "handful.pdf", []
    faults = pdf.make(site, pages, path, Press(browser))

    def read_once(*file):
        texts.extend(read_pages(*file))
        return texts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paper.check.read_pages", read_once)
        faults += check(path, site, pages)
    return pages, path, " ".join(page.text for page in texts), faults


def test_a_handful_of_pages_is_printed_without_fault(handful):
    *_, faults = handful
    assert faults == []


def test_the_handful_holds_what_the_site_holds(handful, site):
    """The check has something to compare: bookmarks, figures, formulas as pictures with TeX."""
    pages, path, *_ = handful
    target = wanted(site, pages)
    with PdfReader(path) as reader:
        assert len(list(outline(reader))) == len(target.headings) > 40
        marked = tagged(reader)
        assert marked["/Figure"] == target.pictures
        assert marked["/Formula"].total() >= target.formulas > 400
        assert sum(target.pictures.values()) >= 3
        assert sum(target.captions.values()) >= 3
        assert len(target.solutions) > 12


def test_the_handful_is_to_be_read(handful):
    """No folded code, no table of an explorer, of a verdict its line and no evidence."""
    *_, text, _ = handful
    for words in (
        "Hide code",
        "plt.",
        "control:",
        "All values as a table",
        "A script that decides",
    ):
        assert words not in text
    assert text.count("controls rejected") >= 5
    assert "print(desk.spent_epsilon(**RUN))" in text
    assert re.search(r"Shown: .*stability limit.*Fig\. \d+\.2", text, re.DOTALL)


def test_ledger_and_graph_stay_on_the_screen():
    pages = {page for page, _ in book_pages(ROOT)}
    assert not pages & {f"book/{name}" for name in ("ledger", "graph", "instructors", "machines")}
    assert len(pages) > 40


def test_no_heading_of_the_book_has_a_formula(site):
    """A bookmark and a line of the contents are plain text."""
    for page, _ in book_pages(ROOT):
        found = HEADING.findall((site / f"{page}.html").read_text("utf-8"))
        assert not [words for _, words in found if 'class="math' in words], page


def test_coordinates_are_rounded_and_matrices_are_not():
    """A page is one scale away from its text: its last digit moves a line by a centimetre."""
    drawing = (
        b"q\n3.125 0 0 3.125 212.5 -30262.53125 cm\n.40000001 2267.627 m\n1 0 0 -1 8.2179 9 Tm"
    )
    shorter = b"q\n3.125 0 0 3.125 212.5 -30262.53125 cm\n.4000 2267.62 m\n1 0 0 -1 8.21 9 Tm"
    assert rounded(drawing) == shorter
    assert rounded(b"3.9930556 0 0 1 0 0 cm\n") == b"3.9930556 0 0 1 0 0 cm\n"


# ------------------------------------------------------------------------------ planted faults


def write(site: Path, folder: Path, chapter: str, solution: str = SOLUTION) -> Path:
    """Write a site of two pages and one of solutions, with the book's style and MathJax."""
    template = (site / "book" / "index.html").read_text("utf-8")
    begin, end = template.index("<article "), template.index("</article>")
    names = (*PAGES, "solutions/part/chapter")
    for page, content in zip(names, (INDEX, chapter, solution), strict=True):
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        section = '<section id="top" class="tex2jax_ignore mathjax_ignore">'
        article = f'<article class="bd-article">{section}{content}</section>'
        text = template[:begin] + article + template[end:]
        text = text.replace("../_static", "../" * page.count("/") + "_static")
        (folder / f"{page}.html").write_text(text, "utf-8")
    (folder / "_static").symlink_to(site / "_static")
    return folder


@pytest.fixture(scope="module")
def good(site, browser, tmp_path_factory):
    """Folder of a site of two pages, and its PDF."""
    folder = tmp_path_factory.mktemp("good")
    write(site, folder / "s", CHAPTER)
    assert pdf.make(folder / "s", list(PAGES.items()), folder / "s.pdf", Press(browser)) == []
    return folder / "s", folder / "s.pdf"


def test_a_small_book_is_printed_without_fault(good):
    folder, path = good
    assert check(path, folder, list(PAGES.items())) == []
    with PdfReader(path) as reader:
        assert [title for _, title, _ in outline(reader)] == [
            "Small",
            "Part I: First",
            "Chapter",
            "More of it",
            SOLUTIONS,
            "Chapter",
        ]
        *_, chapter, back = [page.extract_text() for page in reader.pages]
        for words in ("lesson = 2", "It holds.", "Why?", "Solution"):
            assert words in chapter
        assert "Therefore." in back and "Again" not in back
        assert "hidden" not in chapter + back
        assert "evidence" not in chapter + back
        where = places(reader)
        assert where["notebooks-part-chapter--check-1"] == len(reader.pages) - 1
        links = [
            [str(note.get_object().get("/Dest", "")) for note in page["/Annots"]]
            for page in reader.pages[-2:]
        ]
        assert "/solutions-part-chapter--ex-solution" in links[0]
        assert links[1] == ["/notebooks-part-chapter--ex"]


@pytest.mark.parametrize(
    ("limit", "said"), [("PAGES", "5 pages, more than 0"), ("MEGABYTES", "MB, more than 0")]
)
def test_more_than_is_good_to_read_is_refused(good, monkeypatch, limit, said):
    folder, path = good
    monkeypatch.setattr(f"paper.check.{limit}", 0)
    (fault,) = check(path, folder, list(PAGES.items()))
    assert said in fault


def test_two_prints_are_equal(good, browser, tmp_path):
    """Apart from nothing: times and identifiers are taken out."""
    folder, path = good
    assert pdf.make(folder, list(PAGES.items()), tmp_path / "b.pdf", Press(browser)) == []
    assert (tmp_path / "b.pdf").read_bytes() == path.read_bytes()


FAULTS = (
    "<p>A bare \\(x^2\\) and a bare $$y$$, then "
    '<span class="math notranslate">\\(z^2^3\\)</span>.</p>'
    '<figure id="fig-b"><img alt="Nothing." src="nothing.svg"></figure>'
    '<p><a href="file:///x">out</a> and <a href="#less">nowhere</a></p>'
    f"<p><span style='white-space: nowrap'>{'wide ' * 60}</span></p>"
)


@pytest.fixture(scope="module")
def faults(site, browser, tmp_path_factory):
    """What is found at fault with a site of two pages in which all of ``FAULTS`` is planted."""
    folder = tmp_path_factory.mktemp("faults")
    site, path = write(site, folder / "s", CHAPTER + FAULTS), folder / "s.pdf"
    found = pdf.make(site, list(PAGES.items()), path, Press(browser))
    return found + check(path, site, list(PAGES.items()))


@pytest.mark.parametrize(
    "said",
    [
        r"raw formula: .*\\\(x",
        r"raw formula: .*\$\$",
        "formula in error",
        "no picture: .*nothing.svg",
        "over the edge: .*wide wide",
        "of its size",
        "a link out of the book: file:///x",
        "a link to nowhere: .*--less",
    ],
)
def test_a_fault_of_a_page_is_found(faults, said):
    assert any(re.search(said, fault) for fault in faults), faults


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        (
            FIGURE.replace("black", "white").replace("1.1", "1.2"),
            ["no figure: A white box.", "no caption: Fig. 1.2"],
        ),
        (SECTION.replace("More", "Less"), ["no bookmark: Less of it"]),
        ('<span class="caption-number">Fig. 1.2 </span>', ["no caption: Fig. 1.2"]),
    ],
)
def test_what_the_print_lost_is_missed(good, site, tmp_path, lost, said):
    """The site has it, the print is of a page without it."""
    folder = write(site, tmp_path / "s", CHAPTER + lost)
    assert set(said) <= set(check(good[1], folder, list(PAGES.items())))


def test_a_solution_that_the_print_lost_is_missed(good, site, tmp_path):
    lost = SOLUTION + SOLUTION.replace('id="ex', 'id="lost')
    folder = write(site, tmp_path / "s", CHAPTER, lost)
    said = ["no solution: solutions-part-chapter--lost-solution"]
    assert check(good[1], folder, list(PAGES.items())) == said


def spoil(path: Path, how: str) -> None:
    """Damage a PDF."""
    writer = PdfWriter(clone_from=path)
    root = writer.root_object
    if how == "outline":
        del root["/Outlines"]
    elif how == "one bookmark":
        part = root["/Outlines"]["/First"]["/Next"]
        part["/First"][NameObject("/Title")] = part["/Title"]
    elif how == "tags":
        del root["/StructTreeRoot"], root["/MarkInfo"]
    elif how == "language":
        del root["/Lang"]
    elif how == "page":
        writer.insert_blank_page(index=2)
    elif how == "title":
        writer.metadata = None
    writer.write(path)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("outline", ["no bookmark: Chapter", "the printed contents differ"]),
        ("one bookmark", ["no bookmark: Chapter", "bookmark of nothing"]),
        ("tags", ["not tagged", "no figure: A black box.", "0 formulas, the site has 1"]),
        ("language", ["no language"]),
        ("page", ["its number is", "the printed contents differ"]),
        ("title", ["no /Title in the metadata"]),
    ],
)
def test_a_damaged_document_is_refused(good, how, said, tmp_path):
    folder, source = good
    path = shutil.copy(source, tmp_path / "damaged.pdf")
    spoil(path, how)
    found = check(path, folder, list(PAGES.items()))
    for words in said:
        assert any(words in fault for fault in found), (words, found)


def test_the_command_needs_a_browser(monkeypatch):
    monkeypatch.setattr("pdf.chromium", lambda: None)
    with pytest.raises(SystemExit, match="Chromium or Chrome is needed"):
        pdf.main()


def test_the_pages_of_the_handful_are_in_the_book():
    assert {page for page, _ in book_pages(ROOT)} >= HANDFUL
