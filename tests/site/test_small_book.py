"""A small book with the book's own configuration: figures, plain widgets, what is refused."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from nbclient import NotebookClient

from reproducible import differences

ROOT = Path(__file__).parents[2]
SHOW = """
from dpdynamics.display import explorer, panels, show
def draw(slope):
    fig, ax = panels(height=2)
    ax.plot([0, 1], [0, slope])
    ax.set(ylim=(0, 3))
    return fig
for k in (1, 2):
    show(draw(k), alt=f"A straight line through the origin that rises with slope {k}.",
         caption=f"A line of slope $a = {k}$, after {{cite:t}}`euclid`.", name=f"fig-line-{k}")
print("between")
explorer(draw, {"slope": [1, 2, 3]}, alt="A straight line through the origin, of chosen slope.",
         caption="Choose the slope $a$.", name="fig-choose")
"""
WIDGET = """
import ipywidgets as w
slider = w.IntSlider(min=0, max=2, value=0, description="frame")
stack = w.Stack([w.HTML(f"<b class='shown'>frame {k}</b>") for k in range(3)], selected_index=0)
w.jslink((slider, "value"), (stack, "selected_index"))
w.VBox([slider, stack])
"""
RUN = (
    "# tag: hide-input\nlength = 3",
    "# tag: hide-input\n# tag: table\nprint('a table of lengths')",
    "# tag: hide-input\nprint('a length by the way:', length)",
    "print('a lesson in code')",
    "# tag: hide-input\nlength += 1",
)
BARE = """
import matplotlib.pyplot as plt
plt.plot([1, 2]);
"""
ENVIRONMENT = {
    **os.environ,
    "MATPLOTLIBRC": str(ROOT / "lib" / "matplotlibrc"),
    "SOURCE_DATE_EPOCH": "0",
}


def write_book(folder, *sources):
    """Write a book of one page and one executed notebook; return the result of building it."""
    (folder / "book").mkdir(parents=True)
    shutil.copytree(ROOT / "book" / "static", folder / "book" / "static")
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    extensions = config["sphinx"]["local_extensions"]
    config["sphinx"]["local_extensions"] = {
        name: str(ROOT / extensions[name]) for name in ("book_figures", "book_folds", "book_theme")
    }
    for key in ("html_sidebars", "templates_path"):  # they name the desk, which is not in this book
        del config["sphinx"]["config"][key]
    (folder / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False))
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters: [{file: book/chapter}]\n"
    )
    (folder / "book" / "references.bib").write_text(
        "@book{euclid, author={Euclid}, title={Elements}, publisher={Teubner}, year={1883}}\n"
    )
    title = "# Small\n\n{ref}`here <chapter>`\n\n```{bibliography}\n```\n"
    if "name=f" in sources[0]:
        title += "\n```{picture} book/chapter.ipynb fig-line-2\nA *line*.\n```\n"
    (folder / "book" / "index.md").write_text(title)
    cells = [nbformat.v4.new_markdown_cell("(chapter)=\n# Chapter\n\nSome $x$.")]
    if "name=f" in sources[0]:
        cells[0].source += "\n\nSee {numref}`fig-line-2` and {numref}`fig-choose`."
    for source in sources:
        tags = re.findall(r"^# tag: (\S+)$", source, re.MULTILINE)
        cells.append(nbformat.v4.new_code_cell(source, metadata={"tags": tags}))
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    NotebookClient(notebook, timeout=600).execute()
    nbformat.write(notebook, folder / "book" / "chapter.ipynb")
    return build(folder)


def build(folder):
    """Build the book in a folder from its stored outputs."""
    code = "from jupyter_book.cli.main import main; main()"
    options = ["build", str(folder), "-W", "-n", "--keep-going", "-q"]
    return subprocess.run(
        [sys.executable, "-c", code, *options],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    """Folder of the site of a book with figures and a widget."""
    folder = tmp_path_factory.mktemp("small") / "b"
    result = write_book(folder, SHOW, WIDGET, *RUN)
    assert result.returncode == 0, result.stderr[-3000:]
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def chapter(small_book):
    return BeautifulSoup((small_book / "book" / "chapter.html").read_text("utf-8"), "html.parser")


def test_each_output_is_a_figure_of_its_own(chapter):
    figures = chapter.find_all("figure")
    assert [f["id"] for f in figures] == ["fig-line-1", "fig-line-2", "fig-choose"]
    assert [f.find(class_="caption-number").text.strip() for f in figures] == [
        "Fig. 1",
        "Fig. 2",
        "Fig. 3",
    ]
    for k, figure in enumerate(figures[:2], 1):
        assert figure.img["alt"] == f"A straight line through the origin that rises with slope {k}."
        assert figure.img["src"].endswith(".svg")
        assert figure.figcaption.find(class_="math")
        assert figure.figcaption.find("a", title=lambda t: t and "Euclid" in t)
    assert figures[2].find(class_="dp-explorer")
    assert "between" in chapter.text


def test_a_figure_is_shown_on_another_page(small_book):
    page = BeautifulSoup((small_book / "book" / "index.html").read_text("utf-8"), "html.parser")
    picture = page.find(class_="picture")
    assert picture.img["alt"] == "A straight line through the origin that rises with slope 2."
    assert "<svg" in (small_book / "book" / picture.img["src"]).read_text("utf-8")
    assert picture.em.text == "line"


def test_figures_can_be_referred_to(chapter):
    links = {a["href"]: a.text for a in chapter.find_all("a", class_="reference internal")}
    assert links["#fig-line-2"] == "Fig. 2"
    assert links["#fig-choose"] == "Fig. 3"


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_plain_widgets_move_without_kernel_and_network(scheme, small_book, open_page, serve_folder):
    address = f"{small_book.as_uri()}/" if scheme == "file" else serve_folder(small_book)
    page = open_page(address + "book/chapter.html")
    page.wait_for_selector(".widget-slider .noUi-handle, .widget-slider [role=slider]")
    assert page.locator(".shown:visible").inner_text() == "frame 0"
    page.locator("[role=slider]").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".shown:visible").inner_text() == "frame 1"
    assert page.evaluate("document.fonts.ready.then(() => true)")
    assert not page.complaints


def test_a_picture_without_words_fails_the_build(tmp_path):
    result = write_book(tmp_path / "b", BARE)
    assert result.returncode != 0
    assert "no alternative text" in result.stderr


def test_a_run_of_hidden_cells_has_one_bar_under_what_it_shows(chapter):
    bars = chapter.find_all("details", class_="hide")
    assert [bar.summary.get_text(" ", strip=True) for bar in bars] == [
        "Code and what it prints Hide code and what it prints",
        "Code Hide code",
    ]
    first = bars[0].get_text()
    order = ["length = 3", "print('a table of lengths')", "print('a length", "by the way: 3"]
    places = [first.index(words) for words in order]
    assert places == sorted(places)
    text = chapter.article.get_text()
    assert text.count("a table of lengths") == 2 and "\na table of lengths" not in first
    assert text.index("\na table of lengths") < text.index("length = 3")
    assert "a lesson in code" in text and "a lesson in code" not in first + bars[1].get_text()


def test_two_builds_at_two_places_are_equal(small_book, tmp_path):
    """What ``make reproducible`` does with the whole book."""
    source, copy = small_book.parents[1], tmp_path / "a" / "longer" / "path" / "to" / "it"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("_build"))
    assert build(copy).returncode == 0
    pages = copy / "_build" / "html"
    assert len(list(pages.rglob("*.html"))) > 3
    assert differences(small_book, pages) == []
    (pages / "book" / "index.html").write_text("another")
    assert differences(small_book, pages) == ["book/index.html"]
