"""Repairs of the HTML that the theme and docutils write.

* Jupyter Book always loads sphinx-thebe. Its scripts name an address on the network, are written
  twice into each page (a script error in the console), and serve a button this book does not have.
* docutils calls a bibliography a list whose entries are no list items; screen readers then announce
  an empty list.
* myst-nb names the button that opens a hidden cell otherwise than it reads.
* A browser may break a line between a formula and the comma after it.
"""

import re
from typing import Any

from sphinx.application import Sphinx

REPLACED = {
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    ' aria-label="Toggle hidden content"': "",
}
FORMULA = re.compile(r'[(“]?<span class="math notranslate nohighlight">[^<]*</span>[-.,:;?!)”’]+')


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", repair, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def repair(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Mend one page before it is written."""
    context["script_files"] = [
        script
        for script in context.get("script_files", [])
        if "thebe" not in f"{script} {getattr(script, 'attributes', {}).get('body', '')}".lower()
    ]
    if "body" in context:
        for written, meant in REPLACED.items():
            context["body"] = context["body"].replace(written, meant)
        context["body"] = FORMULA.sub(r'<span class="dp-held">\g<0></span>', context["body"])
