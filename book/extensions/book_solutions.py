"""Solutions on a page apart, ``solutions/<part>/<chapter>.html``, to which exercises have links.

A solution is written in its chapter, so that it has the chapter's numbers, and is then taken out of
the page. Its addresses are made to lead from the page of solutions. An equation or a figure with a
label has no place in a solution: a link from the chapter to it would be dead, which a test finds.
"""

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node

LINK = '<p class="dp-solution"><a href="{}#{}-solution">Solution</a></p>\n</div>\n'
BOX = '<div class="solution admonition" id="{}-solution">\n{}</div>\n'
ADDRESS = re.compile(r'(<(?:a|img)\b[^>]*? (?:href|src)=")([^"]*)')
PAGE = """<section><h1>Solutions: {title}</h1>
<p>The exercises of <a href="{chapter}">{title}</a>, each with its solution.</p>
{boxes}</section>"""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.setup_extension("sphinx_exercise")
    app.connect("builder-inited", begin)
    app.add_node(exercise_enumerable_node, override=True, html=(open_exercise, close_exercise))
    app.add_node(solution_node, override=True, html=(open_solution, close_solution))
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": True, "parallel_write_safe": False}


def begin(app: Sphinx) -> None:
    """Start without solutions; a page has the boxes of its exercises and solutions by label."""
    app.book_solutions = {}  # type: ignore[attr-defined]


def place(page: str) -> str:
    """Name of the page of solutions of a chapter."""
    return f"solutions/{page.removeprefix('notebooks/')}"


def open_exercise(writer: HTML5Translator, node: nodes.Element) -> None:
    """Begin a box; remember where."""
    node["begin"] = len(writer.body)
    writer.body.append(f"{writer.starttag(node, 'div', CLASS='admonition')}\n")


def close_exercise(writer: HTML5Translator, node: nodes.Element) -> None:
    """End a box by a link to the solution; keep the exercise for the page of solutions."""
    page, label = writer.builder.current_docname, node["label"]
    boxes = writer.builder.app.book_solutions.setdefault(page, {})  # type: ignore[attr-defined]
    statement = "".join(writer.body[node["begin"] :])
    boxes[label] = re.sub(r' id="[^"]*"', "", statement) + "</div>\n"
    writer.body.append(LINK.format(writer.builder.get_relative_uri(page, place(page)), label))


def open_solution(writer: HTML5Translator, node: nodes.Element) -> None:
    """Remember where a solution begins."""
    node["begin"] = len(writer.body)


def close_solution(writer: HTML5Translator, node: nodes.Element) -> None:
    """Take the solution out of the page and put it below its exercise."""
    text = "".join(writer.body[node["begin"] :]).replace(' id="solution-content"', "")
    del writer.body[node["begin"] :]
    boxes = writer.builder.app.book_solutions[writer.builder.current_docname]  # type: ignore[attr-defined]
    boxes[node["target_label"]] += BOX.format(node["target_label"], text)


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the page of each chapter."""
    for page, boxes in app.book_solutions.items():  # type: ignore[attr-defined]
        chapter, root = app.builder.get_target_uri(page), "../" * place(page).count("/")
        text, title = "".join(boxes.values()), app.env.titles[page].astext()

        def moved(found: re.Match[str], chapter: str = chapter, root: str = root) -> str:
            away = urlsplit(found[2]).scheme
            return found[0] if away else f"{found[1]}{root}{urljoin(chapter, found[2])}"

        text = PAGE.format(
            title=html.escape(title), chapter=root + chapter, boxes=ADDRESS.sub(moved, text)
        )
        app.env.get_domain("math").data["has_equations"][place(page)] = True  # loads MathJax
        yield place(page), {"title": f"Solutions: {title}", "body": text}, "page.html"
