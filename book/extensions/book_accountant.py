"""The directive ``{accountant}``: the form that answers, in the page, what a run of DP-SGD spends.

Its content is what stands in its place where no script runs: on paper, in JupyterLab, without
JavaScript. The form is ``book/static/accountant_form.js``, its numbers are those of `NUMBERS`;
they, and their style, are loaded by pages with the directive only.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book_ledger.pages import LedgerDirective, fill
from dpdynamics.desk import batches
from dpdynamics.verification import words

PAIR = ("acc-pair", "dominating pair of one Poisson step")
LOSS = ("the-distribution-of-the-privacy-loss", "distribution of the privacy loss")
ONE_STEP = ("acc-fixed-pairs", "batches of fixed size: the worst of one step")
MANY_STEPS = ("acc-many", "many steps of fixed size")
SHUFFLED = ("acc-shuffled", "what shuffled epochs spend at least")
BINS = ("acc-bins", "balls and bins, epoch after epoch")
PLACES = {  # in the chapter on accounting
    "poisson": (PAIR, LOSS),
    "fixed": (ONE_STEP, MANY_STEPS, LOSS),
    "shuffled": (SHUFFLED,),
    "bins": (BINS,),
    "unknown": (PAIR, ONE_STEP, MANY_STEPS, SHUFFLED, BINS),
}
PARTS = ("_mesh", "_many", "_epochs", "_attacks", "_replaced", "")  # in this order
NUMBERS = [f"accountant{part}.js" for part in PARTS]
MARK = '<form class="accountant-form"'


class Accountant(LedgerDirective):
    """``{accountant}``: the form, and instead of it the content."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Put content and form into one container."""
        self.assert_has_content()
        still = nodes.container("", *self.parse_content_to_nodes(), classes=["accountant-still"])
        inventory = self.ledger.inventory
        rows = self.ledger.rows
        evidence = [  # a claim that the exact accountant refutes is nothing that an answer rests on
            (k, [c for c in batches.EVIDENCE[k] if rows[c].verdict != words.FAILS], places)
            for k, places in PLACES.items()
        ]
        labels = {
            claim.id: f"{inventory.sources[claim.paper].cited}, {claim.label}"
            for _, ids, _ in evidence
            for claim in map(inventory.claims.__getitem__, ids)
        }
        form = fill("accountant.html", evidence=evidence, labels=labels)
        return [nodes.container("", still, *form, classes=["accountant"])]


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let a page with the form load its script and style."""
    if MARK in context.get("body", ""):
        app.add_css_file("accountant.css")
        for script in (*NUMBERS, "accountant_form.js"):
            app.add_js_file(script, loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_directive("accountant", Accountant)
    app.connect("html-page-context", load)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
