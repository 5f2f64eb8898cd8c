"""Turn what ``dpdynamics.display`` shows into numbered figures with alternative text and caption.

``show`` and ``explorer`` put ``{"dpdynamics": {"figure": {alt, caption, name}}}`` into the metadata
of their output. myst-nb can make figures, but takes caption and label from the cell, one pair for
all the outputs of a cell. This extension hands it each output by itself, inside myst-nb's own
figure context.

How it hooks in. myst-nb offers entry points for renderers; those must be declared by an installed
package and would be loaded for every book on the machine. Its mime plugins see one mime type at a
time, before the type is chosen, so a figure made there would be made (and numbered) once per type.
Wrapping the one method that renders a cell's outputs has neither fault; should a later myst-nb
rename it, ``setup`` stops with an AttributeError instead of losing captions in silence.

``{picture} NOTEBOOK NAME`` shows the figure of that name on another page, unnumbered, over the
words that the directive contains.
"""

import functools
import json
import os
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.render import create_figure_context
from myst_nb.sphinx_ import SphinxNbRenderer
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOGGER = logging.getLogger(__name__)
METHOD = "_render_nb_cell_code_outputs"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("picture", Picture)
    method = getattr(SphinxNbRenderer, METHOD)
    if not hasattr(method, "__wrapped__"):
        setattr(SphinxNbRenderer, METHOD, with_figures(method))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def with_figures(method: Any) -> Any:
    """Wrap myst-nb's method that renders the outputs of one cell."""

    @functools.wraps(method)
    def render(self: Any, token: Any, outputs: list[Any]) -> None:
        line = token.map[0] if token.map else 0
        for output in outputs:
            words = output.get("metadata", {}).get("dpdynamics", {}).get("figure")
            options = words and {key: words[key] for key in ("caption", "name")}
            known = len(self.current_node)
            with create_figure_context(self, options and {**options, "classes": "dp-figure"}, line):
                method(self, token, [output])
            for node in self.current_node[known:]:
                for image in node.findall(nodes.image):
                    if words:
                        image["alt"] = words["alt"]
                    if not image.get("alt"):
                        LOGGER.warning(
                            "a picture in a notebook has no alternative text: display it with "
                            "dpdynamics.display.show",
                            location=(self.document["source"], line),
                            type="book_figures",
                        )

    return render


class Picture(SphinxDirective):
    """``{picture} NOTEBOOK NAME``: a figure of a chapter, as the chapter's last run drew it."""

    required_arguments = 2
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write the drawing beside the page trees; a name that is not there is an error."""
        notebook, name = self.arguments
        path = Path(self.env.srcdir) / notebook
        try:
            alt, drawing = drawings(path)[name]
        except KeyError:
            raise self.error(f"{notebook} has no drawing {name!r}") from None
        file = Path(self.env.doctreedir) / "pictures" / f"{name}.svg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(drawing, "utf-8")
        image = nodes.image("", uri="/" + os.path.relpath(file, self.env.srcdir), alt=alt)
        return [nodes.container("", image, *self.parse_content_to_nodes(), classes=["picture"])]


def drawings(path: Path) -> dict[str, tuple[str, str]]:
    """The figures of a notebook as its last run drew them: alternative text and SVG, by name."""
    found = {}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            words = output.get("metadata", {}).get("dpdynamics", {}).get("figure", {})
            drawing = output.get("data", {}).get("image/svg+xml")
            if words and drawing:
                found[words["name"]] = words["alt"], "".join(drawing)
    return found
