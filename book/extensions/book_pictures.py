"""The two pictures of the README, drawn from what the notebooks hold: ``make run`` does so.

The six readings of one run are the figure of a chapter; the graph of claims is laid out as on its
page, for a look at the whole. Both have a white ground, for light and dark pages alike.
"""

from __future__ import annotations

import re
from pathlib import Path

from book_figures import drawings
from book_ledger.inventory import uses_graph
from book_ledger.layout import arrange, curve
from book_ledger.ledger import Ledger, build
from book_ledger.wording import verdict_class
from dpdynamics.verification.rendering import SYMBOLS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "book" / "figures"
WIDTH, GAP = 2960.0, 50.0
SVG = '<svg xmlns="http://www.w3.org/2000/svg" style="background: #fff" '
STYLE = (
    "text{font:700 30px sans-serif;text-anchor:middle;fill:#fff}"
    ".name{font-size:52px;text-anchor:start;fill:#222}.key{font-size:44px;font-weight:400}"
    "path{fill:none;stroke:#8a94a0;stroke-width:2}"
)


def readings() -> str:
    """The figure of the desk's chapter, as its last run drew it."""
    _, drawing = drawings(ROOT / "notebooks/synthesis/practitioner.ipynb")["fig-desk-main"]
    return drawing.replace("<svg ", '<svg style="background: #fff" ', 1)


def claims(ledger: Ledger) -> str:
    """All claims, paper beside paper: colour and symbol are the verdict, lines the dependencies."""
    css = (ROOT / "book/static/ledger.css").read_text("utf-8")
    used = [verdict for verdict in ledger.verdicts if ledger.count(verdict)]
    colours = {v: re.search(rf"\.{verdict_class(v)} {{ --v: (#\w+)", css)[1] for v in used}

    def node(x: float, y: float, verdict: str) -> str:
        box = f'<rect x="{x - 49:.0f}" y="{y - 17:.0f}" width="98" height="34" rx="17"'
        words = f'<text x="{x:.0f}" y="{y + 11:.0f}">{SYMBOLS[verdict]}</text>'
        return f'{box} fill="{colours[verdict]}"/>{words}'

    parts, left, top, below = [], 0.0, 0.0, 0.0
    for key, paper in ledger.inventory.sources.items():
        layout = arrange(uses_graph(ledger.inventory.of_paper(key)))
        if left + layout.width > WIDTH:
            left, top = 0.0, below + GAP
        parts.append(
            f'<text class="name" x="{left + 10:.0f}" y="{top + 50:.0f}">{paper.cited}</text>'
        )
        parts.append(f'<g transform="translate({left:.0f} {top + 70:.0f})">')
        for path in layout.paths.values():
            parts.append(f'<path d="{curve(path, 0)}"/>')
        for claim, (x, y) in layout.places.items():
            parts.append(node(x, y, ledger.rows[claim].verdict))
        parts.append("</g>")
        left, below = left + layout.width + GAP, max(below, top + 70 + layout.height)
    for number, verdict in enumerate(used):
        x, y = left + 60 + 760 * (number % 3), top + 130 + 90 * (number // 3)
        words = f"{verdict}: {ledger.count(verdict)}"
        key = f'<text class="name key" x="{x + 65:.0f}" y="{y + 17:.0f}">{words}</text>'
        parts.append(node(x, y, verdict) + key)
    size = f'viewBox="0 0 {WIDTH:.0f} {below + GAP:.0f}"'
    return f"{SVG}{size}><style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"


def drawn() -> dict[Path, str]:
    """Both pictures, with the files that hold them."""
    return {FOLDER / "six_readings.svg": readings(), FOLDER / "claims.svg": claims(build(ROOT))}


if __name__ == "__main__":
    for file, drawing in drawn().items():
        file.write_text(drawing, "utf-8")
