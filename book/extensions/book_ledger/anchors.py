"""An anchor at each verdict in a chapter's page, and at each of its checks.

The source of a notebook passes through Sphinx as text before myst-nb reads it. There the HTML form
of every verdict gets an element around it with the anchor ``verdict-ID``, and the name of its check
number N one with the anchor ``check-ID-N``. The machine-readable form, which is data and nothing to
show, is taken out (myst-nb warns about MIME types that it does not know).
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from sphinx.application import Sphinx

from .evidence import MIME, Record, record
from .inventory import slug

PRINTED = {"printed statement": "statement", "worst point, printed": "worst point, statement"}


def register(app: Sphinx) -> None:
    """Connect to the event that delivers a page's source."""
    app.connect("source-read", anchor)


def anchor(app: Sphinx, page: str, source: list[str]) -> None:
    """Give every verdict of a notebook its anchor."""
    if not app.env.doc2path(page).endswith(".ipynb") or MIME not in source[0]:
        return
    notebook = json.loads(source[0])
    seen: set[str] = set()
    inventory = app.book_ledger.inventory  # type: ignore[attr-defined]
    own = {key for key, claim in inventory.claims.items() if inventory.sources[claim.paper].own}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            verdict = record(output)
            if verdict is not None:
                claim = str(verdict.get("claim", ""))
                _wrap(output["data"], verdict, slug(claim), seen)
                if claim in own:  # no paper has printed it
                    for printed, said in PRINTED.items():
                        html = output["data"]["text/html"]
                        output["data"]["text/html"] = html.replace(printed, said)
    source[0] = json.dumps(notebook)


def _wrap(data: dict[str, Any], verdict: Record, claim: str, seen: set[str]) -> None:
    del data[MIME]
    html = "".join(data.get("text/html", "")) or f"<pre>{escape(''.join(data['text/plain']))}</pre>"
    identity = ""
    if claim not in seen:
        identity = f' id="verdict-{claim}"'
        for number, check in enumerate(verdict.get("checks", []), start=1):
            name = f"</span>{escape(check['name'])} <"
            marked = name.replace("</span>", f'</span><a id="check-{claim}-{number}"></a>')
            html = html.replace(name, marked, 1)
    seen.add(claim)
    data["text/html"] = f'<div class="ledger-verdict" tabindex="-1"{identity}>{html}</div>'
