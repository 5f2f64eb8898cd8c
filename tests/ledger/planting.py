"""A small book of one paper, three claims and two chapters, with outputs written by hand."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book_ledger.evidence import MIME
from book_ledger.inventory import digest

CHAPTER = "notebooks/part/chapter.ipynb"
LATER = "notebooks/part/later.ipynb"


def claim(name: str, kind: str, uses: list[str] | None = None) -> dict[str, Any]:
    """One entry of an inventory."""
    return {
        "id": f"test2025.{name}",
        "label": f"{kind.capitalize()} {name[-1]}",
        "name": f"about {name}",
        "where": "Section 1",
        "kind": kind,
        "statement": "For all $x$, $x\\le x$.\n",
        "uses": uses or [],
    }


def comparison(label: str, ratio: float, **changes: Any) -> dict[str, Any]:
    """One comparison, accepted when its ratio is at most 1."""
    return {
        "label": label,
        "outcome": "accepted" if ratio <= 1 else "rejected",
        "ratio": ratio,
        "margin": ratio if ratio > 1 else 1 / ratio,
        "power": None,
        "replaces": "statement",
        "worst": {},
    } | changes


def check(**changes: Any) -> dict[str, Any]:
    """A sound check that holds."""
    return {
        "name": "closed form = quadrature",
        "kind": "identity",
        "outcome": "holds",
        "reasons": [],
        "test": "tolerance 1e-9 x max |measured|",
        "comparisons": 7,
        "sizes": {"points": 7},
        "numbers": {},
        "tightness": None,
        "printed": comparison("printed", 0.25),
        "corrected": None,
        "controls": [comparison("factor 1/2 dropped", 1e6)],
    } | changes


def record(name: str = "thm1", **changes: Any) -> dict[str, Any]:
    """A sound verdict that holds."""
    return {
        "claim": f"test2025.{name}",
        "verdict": "assumed" if changes.get("assumed") else "holds",
        "assumed": False,
        "rebuilt": False,
        "reason": "",
        "substitute": [],
        "seed": 2025,
        "checks": [check()],
        "errata": [],
        "coverage": [
            {"term": "the factor 1/2", "by": ["factor 1/2 dropped"]},
            {"term": "for all $x$", "by": []},
        ],
    } | changes


ERRATUM = {
    "location": "Theorem 1, display",
    "printed": "$1$",
    "correct": "$2$",
    "consequence": "None.",
    "check": "closed form = quadrature",
    "grade": "constant",
    "part": "statement",
    "also": [],
}


CHECK = 'identity("closed form = quadrature", measured=2.0, printed=1.0, rtol=1e-9)'


def cell(*records: dict[str, Any], execution: int | None = 1) -> Any:
    """An executed cell that displays verdicts."""
    outputs = [
        new_output(
            "display_data",
            data={MIME: entry, "text/plain": entry["verdict"], "text/html": "<p>verdict</p>"},
            metadata={"dpdynamics": {"claim": entry["claim"]}},
        )
        for entry in records
    ]
    source = "\n".join(f'verdict("{entry["claim"]}", {CHECK})' for entry in records)
    return new_code_cell(source, execution_count=execution, outputs=outputs)


class Book:
    """A book in a folder: change ``paper``, ``chapters`` or ``cells``, then :meth:`write` it.

    A last cell soundly decides what the chapter owns and ``cells`` do not, unless ``gaps``.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.paper = {
            "paper": "test2025",
            "short": "Test et al.",
            "authors": "A. Test",
            "title": "A test",
            "version": "the first version",
            "claims": [
                claim("def1", "definition"),
                claim("thm1", "theorem", ["test2025.def1"]),
                claim("cor1", "corollary", ["test2025.thm1"]),
            ],
        }
        ready = {
            "key": "chapter",
            "title": "A chapter",
            "notebook": CHAPTER,
            "owns": ["test2025.def1", "test2025.thm1"],
        }
        later = {"key": "later", "title": "Later", "notebook": LATER, "owns": ["test2025.cor1"]}
        self.chapters = {
            "sources": ["test2025"],
            "parts": [{"key": "part", "title": "Part I", "chapters": [ready, later]}],
        }
        self.own: dict[str, Any] | None = None
        self.digests: dict[str, Any] | None = None
        self.cells = [new_markdown_cell("# A chapter"), cell(record())]
        self.gaps = False

    def add_own(self) -> None:
        """Add a statement of the book itself, owned by the chapter."""
        statement = claim("overlap1", "proposition") | {"id": "book2026.overlap1"}
        self.own = self.paper | {"paper": "book2026", "own": True, "claims": [statement]}
        self.chapters["sources"].append("book2026")
        self.chapters["parts"][0]["chapters"][0]["owns"].append("book2026.overlap1")

    def write(self) -> Path:
        """Write inventory and notebooks; return the root."""
        folder = self.root / "book" / "claims"
        folder.mkdir(parents=True, exist_ok=True)
        kept = {c["id"]: {"digest": digest(c.get("statement", ""))} for c in self.paper["claims"]}
        files = {
            "test2025.yml": self.paper,
            "chapters.yml": self.chapters,
            "digests.yml": kept if self.digests is None else self.digests,
        }
        if self.own:
            files["book2026.yml"] = self.own
        for name, content in files.items():
            (folder / name).write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
        metadata = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
        for chapter in self.chapters["parts"][0]["chapters"]:
            written = chapter.get("notebook") == CHAPTER
            cells = self.cells if written else [new_markdown_cell(f"# {chapter['title']}")]
            path = self.root / chapter.get("notebook", LATER)
            path.parent.mkdir(parents=True, exist_ok=True)
            rest = [] if self.gaps else self.undecided(chapter["owns"], cells)
            cells = copy.deepcopy([*cells, *([cell(*rest)] if rest else [])])
            nbformat.write(new_notebook(cells=cells, metadata=metadata), path)
        return self.root

    def undecided(self, owned: list[str], cells: list[Any]) -> list[dict[str, Any]]:
        """Sound verdicts on the claims of which no cell has one."""
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        decided = {o["data"][MIME]["claim"] for o in outputs if MIME in o.get("data", {})}
        own = self.own["claims"] if self.own else []
        kinds = {c["id"]: c.get("kind") for c in [*self.paper["claims"], *own]}
        return [
            record(assumed=kinds.get(claim) == "definition") | {"claim": claim}
            for claim in owned
            if claim not in decided
        ]
