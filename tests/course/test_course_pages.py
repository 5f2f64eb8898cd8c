"""The pages of the course: a small book is built with its plans, and the graph is read."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from book_course import SAMPLE, handed_out
from book_course.prerequisites import HEIGHT, WIDTH, ahead, draw, earlier, order, uses
from book_ledger.inventory import load
from book_ledger.questions import needed
from coursework.sources import Assignment, shown
from nb.layout import ROOT

sys.path.insert(0, str(ROOT / "tests" / "ledger"))
from planting import Book

PAGE = """# Course

```{prerequisites}
```

```{course-chapters}
```

```{course-exercises}
```

```{course-assignments}
```

```{course-weeks}
1: chapter; assignment: tiny
2: later
```

```{chapters}
```

Both take {reading-time}`chapter, later`, as {reading-time}`all` do.
"""
LESSON = """*Time:* 45 minutes.

```{exercise} An exercise
:label: ex-one
*Warm-up, 10 minutes.* Why?
```"""
PLAN = {
    "chapter": "chapter",
    "goals": ["add", "subtract", "say which of both was right"],
    "class_minutes": 90,
    "marking": "Look for the sign: the commonest misunderstanding is that there is none.",
}


def build(folder: Path, page: str = PAGE) -> tuple[str, str]:
    """Build a book of two chapters, one of them with a plan; return the page and the warnings."""
    import planted_course

    root = Book(folder).write()
    planted_course.write(root / "course")
    plan = root / "course" / "plan" / "chapter.yml"
    plan.parent.mkdir()
    plan.write_text(yaml.safe_dump(PLAN), "utf-8")
    chapter = root / "notebooks" / "part" / "chapter.ipynb"
    notebook = nbformat.read(chapter, as_version=4)
    notebook.cells[0].source += "\n\nYou add. **What is a sum?**"
    notebook.cells.append(nbformat.v4.new_markdown_cell(LESSON))
    nbformat.write(notebook, chapter)
    (root / "index.md").write_text(
        f"{page}\n```{{toctree}}\nnotebooks/part/chapter\nnotebooks/part/later\n```\n", "utf-8"
    )
    out, warnings = root / "_build", io.StringIO()
    options = {
        "extensions": ["myst_nb", "sphinx_exercise", "book_ledger", "book_course"],
        "myst_enable_extensions": ["dollarmath", "deflist"],
        "nb_execution_mode": "off",
        "root_doc": "index",
        "html_theme": "basic",
        "exclude_patterns": ["_build", "course"],
    }
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            root, None, out, out / ".doctrees", "html", options, status=None, warning=warnings
        )
        app.build(force_all=True)
    lines = [line for line in warnings.getvalue().splitlines() if "ledger." not in line]
    return (out / "index.html").read_text("utf-8"), "\n".join(lines)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    text, warnings = build(tmp_path_factory.mktemp("book"))
    assert warnings == ""
    return text


def test_the_graph_names_and_links_the_chapters(page: str) -> None:
    assert '<a class="course-node part-1" data-chapter="chapter"' in page
    assert 'href="notebooks/part/chapter.html"' in page
    assert 'data-chapter="later" aria-label="Later: builds on A chapter"' in page
    assert page.count('class="course-edge"') == 1
    words = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "A chapter needs no other chapter. Later needs no other chapter" in words
    assert "its claims use those of A chapter." in words


def test_goals_times_and_points(page: str) -> None:
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "1 h 30 in class, 45 min to read alone. The student can" in words
    assert "add; subtract; say which of both was right." in words
    assert "Look for the sign" not in words, "students read these pages"
    assert re.search(r"Exercise 1 (\(An exercise\) )?10 10 min", words)
    assert "Something tiny several 3 25 min 15 5" in words
    assert "1 A chapter 1 h 30 45 min Something tiny, 25 min 2 h 40 10 min" in words
    assert "2 Later 0 min 0 min – 0 min 0 min All 1 h 30 45 min 25 min 2 h 40 10 min" in words
    assert "A chapter . What is a sum? 45 min Later" in words
    assert "Both take 45 min, as 45 min do." in words


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    plan = "```{course-weeks}\n%s\n```\n\n"
    weeks = f"# Course\n\n{plan % '1: none'}{plan % '2: ; assignment: none'}"
    _, warnings = build(tmp_path, f"{weeks}{{reading-time}}`none`\n")
    assert warnings.count("no chapter or assignment") == 2
    assert "no chapter ['none']" in warnings


INVENTORY = load(ROOT)


def test_the_sample_is_what_students_see_and_no_more() -> None:
    page, assignment = handed_out(ROOT, SAMPLE), Assignment(SAMPLE)
    assert "*Write your answer here" in page and "# YOUR CODE HERE" in page
    for name in assignment.ids("tests"):
        assert shown(assignment.cells[name]).strip() in page, name
    assert not any(line in page for line in assignment.secrets())


def test_the_edges_are_the_uses_of_the_ledger() -> None:
    """Counted again, claim by claim, from the files."""
    chapters = yaml.safe_load((ROOT / "book" / "claims" / "chapters.yml").read_text("utf-8"))
    home = {
        claim: chapter["key"]
        for part in chapters["parts"]
        for chapter in part["chapters"]
        for claim in chapter["owns"]
        if "appendix" not in chapter
    }
    expected = set()
    for file in (ROOT / "book" / "claims").glob("*.yml"):
        for claim in yaml.safe_load(file.read_text("utf-8")).get("claims", []):
            known = [used for used in claim["uses"] if {used, claim["id"]} <= set(home)]
            expected |= {(home[used], home[claim["id"]]) for used in known}
    assert set(uses(INVENTORY)) == {(a, b) for a, b in expected if a != b}
    graph, later = earlier(INVENTORY), ahead(INVENTORY)
    backward = {(used, user) for user, others in later.items() for used in others}
    assert set(graph.edges) | backward == set(uses(INVENTORY))
    assert not set(graph.edges) & backward


def test_the_desk_builds_on_what_it_names_and_help_is_no_need() -> None:
    chapters = INVENTORY.chapters
    needs = {k: [chapters[n] for n in needed(ROOT, c)] for k, c in chapters.items()}
    nodes = {node["chapter"].key: node for node in draw(INVENTORY, needs)["nodes"]}
    assert not chapters["practitioner"].owns
    before = [chapter.key for chapter in nodes["practitioner"]["before"]]
    assert before == ["privacy_as_divergence"]
    assert [chapter.key for chapter in needs["clipping_and_schedule"]] == ["clipped_diffusion"]


def test_boxes_do_not_overlap_and_titles_fit() -> None:
    nodes = draw(INVENTORY, {})["nodes"]
    assert [node["chapter"].key for node in nodes] == list(order(INVENTORY))
    boxes = [node["place"] for node in nodes]
    for i, (x, y) in enumerate(boxes):
        assert all(abs(x - a) > WIDTH or abs(y - b) > HEIGHT for a, b in boxes[:i])
    assert not any("…" in line for node in nodes for line, _ in node["lines"])


@pytest.mark.parametrize("number", [0, 1])
def test_a_plan_of_weeks_follows_the_arrows(number: int) -> None:
    text = (ROOT / "book" / "instructors.md").read_text("utf-8")
    plan = re.findall(r"```\{course-weeks\}\n(.*?)```", text, flags=re.DOTALL)[number]
    weeks: dict[str, int] = {}
    for week, line in enumerate(plan.splitlines()):
        for key in line.partition(":")[2].partition(";")[0].split(","):
            weeks[key.strip()] = week
    graph = earlier(INVENTORY)
    assert set(weeks) <= set(INVENTORY.chapters)
    for used, user in graph.edges:
        if used in weeks and user in weeks:
            assert weeks[used] <= weeks[user], f"{user} is taught before {used}"
    if number == 1:  # the page calls it closed
        pairs = [(n, key) for key in weeks for n in needed(ROOT, INVENTORY.chapters[key])]
        assert pairs and all(weeks[n] < weeks[key] for n, key in pairs)
        assert all(used in weeks for user in weeks for used in graph.predecessors(user))
