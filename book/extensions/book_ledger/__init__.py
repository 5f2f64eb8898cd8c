"""The ledger of claims in the book: boxes, table, graph and errata, from executed notebooks alone.

==============  ===========================================================================
``inventory``   papers, claims and chapters from ``book/claims``, with their consistency
``evidence``    the verdicts that notebooks stored in their outputs
``ledger``      both together: one row per claim; ``ledger.json``
``gate``        everything that is wrong with the evidence, in sentences that name the cell
``pages``       templates (``book/extensions/templates``) filled as nodes of a page
``directives``  ``{claim}``, ``{ledger}``, ``{errata}``, ``{claim-graph}``, ``{evidence}``, ...
``roles``       ``{claimref}``, ``{ledger-count}``, ``{evidence-number}``
``summary``     the numbers on the state of the evidence
``wording``     numbers and outcomes in words
``graph``       the picture of the graph, with ``layout``
``questions``   what each chapter calls open
``letters``     the errata of a paper as a letter to its authors, for a release
``scripts``     a standalone script for every claim with errata, by :mod:`dpdynamics.claims`
``anchors``     an anchor at each verdict in a chapter's page
==============  ===========================================================================

Nothing here stores a verdict. Style and behaviour are ``book/static/ledger.css`` and ``ledger.js``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

from . import anchors, directives, gate, inventory, ledger, letters, pages, roles, scripts

LOGGER = logging.getLogger(__name__)
SCHEMA = Path(__file__).parent / "ledger.schema.json"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx. The root of the book is the source folder."""
    for module in (pages, directives, roles, anchors):
        module.register(app)
    app.add_css_file("ledger.css")
    app.add_js_file("ledger.js", loading_method="defer")
    app.connect("builder-inited", read)
    # A page shows what many files hold: every build reads all pages again.
    app.connect("env-get-outdated", lambda app, env, *_: env.found_docs)
    app.connect("build-finished", write)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}


def read(app: Sphinx) -> None:
    """Read inventory and evidence; the pages find them as ``app.book_ledger``."""
    root = Path(app.srcdir)
    try:
        found = ledger.build(root)
        app.book_scripts = scripts.scripts(found, root)  # type: ignore[attr-defined]
    except inventory.InventoryError as error:
        raise ExtensionError(f"there is no ledger:\n{error}") from error
    app.book_ledger = found  # type: ignore[attr-defined]
    for decision in found.decisions:
        for wrong in gate.of_record(decision.record):
            place = f"{decision.place}, {decision.claim}"
            LOGGER.warning("%s: %s", place, wrong, type="book_ledger")


def write(app: Sphinx, error: Exception | None) -> None:
    """Put ledger and scripts below the root of the site; the letters, no part of it, beside it."""
    if error is None and app.builder.format == "html":
        out = Path(app.outdir)
        text = json.dumps(app.book_ledger.as_json(), ensure_ascii=False, indent=1)  # type: ignore[attr-defined]
        (out / "ledger.json").write_text(text + "\n", "utf-8")
        (out / SCHEMA.name).write_bytes(SCHEMA.read_bytes())
        found = app.book_scripts  # type: ignore[attr-defined]
        scripts.write(found, Path(app.srcdir), out)
        letters.write(app.book_ledger, found, out.parent / "letters")  # type: ignore[attr-defined]
