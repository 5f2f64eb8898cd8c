"""The inventory: papers, their claims, and the chapters that decide them.

Data in ``book/claims``: one YAML file per source (``claims.schema.json``) and ``chapters.yml``
(``chapters.schema.json``). A source is a paper, or the book itself, whose own statements are marked
``own: true`` and counted apart. The papers' statements are locked: ``digests.yml`` has the digest
of each, and the date and reason of each change. :func:`load` refuses anything inconsistent, naming
file and claim.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema
import networkx as nx
import yaml

HERE = Path(__file__).parent
FOLDER = "book/claims"
CHAPTERS = "chapters.yml"
DIGESTS = "digests.yml"
KINDS: tuple[str, ...] = tuple(
    json.loads((HERE / "claims.schema.json").read_text("utf-8"))["$defs"]["claim"]["properties"][
        "kind"
    ]["enum"]
)
ASSUMED_KINDS = ("definition", "assumption", "algorithm")  # exercised, not decided

# How the id of a claim begins; and what a node of the graph says where that is another word.
PREFIX = re.compile("prop|conj|def|alg|asm|ass|eq|thm|cor|lem|rem|fig|tab|overlap|")
SAID = {"Assumption": "Asm", "Overlap": "Ovl"}


class InventoryError(ValueError):
    """The inventory is inconsistent. ``problems`` lists everything that was found."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True)
class Claim:
    """One numbered statement, figure or table of a paper, as printed, or a statement of the book.

    Attributes are the fields of the inventory; ``statement`` and ``repaired`` are Markdown with
    LaTeX. ``changes`` are the dated changes of the statement, each with its reason.
    """

    id: str
    paper: str
    label: str
    name: str
    where: str
    kind: str
    statement: str
    uses: tuple[str, ...]
    reconstructed: bool = False
    repaired: str = ""
    changes: tuple[Mapping[str, str], ...] = ()

    @property
    def slug(self) -> str:
        """The id as it stands in HTML anchors: ``lin2025-thm4-2``."""
        return slug(self.id)

    @property
    def short(self) -> str:
        """The claim as a node of the graph names it: ``Thm 4.2``, from its id."""
        name = self.id.partition(".")[2]
        prefix = re.match(PREFIX, name)[0]  # type: ignore[index]
        word = SAID.get(self.label.partition(" ")[0], prefix.capitalize())
        rest = re.sub(r"\.(?=[a-z])", " ", name.removeprefix(prefix))
        return re.sub(r" \w{5,}$", "", f"{word} {rest}".strip())


def slug(claim_id: str) -> str:
    """A claim id as it stands in HTML anchors."""
    return re.sub(r"[^A-Za-z0-9]+", "-", claim_id)


@dataclass(frozen=True)
class Paper:
    """One source: its key, title and authors; a paper unless ``own``."""

    key: str
    short: str
    authors: str
    title: str
    version: str = ""
    note: str = ""
    own: bool = False

    @property
    def cited(self) -> str:
        """Authors and year: ``Lin et al. (2025)``; of the book's own statements ``This book``."""
        if self.own:
            return "This book"
        return f"{self.short} ({self.key[-4:]})"


@dataclass(frozen=True)
class Chapter:
    """One chapter. ``notebook`` is a path from the root of the book; a chapter that is generated
    has a ``page`` instead. An ``appendix`` is outside the course.
    """

    key: str
    title: str
    part: str
    owns: tuple[str, ...]
    notebook: str | None = None
    page: str | None = None
    appendix: bool = False

    @property
    def docname(self) -> str | None:
        """Name of the page; of a notebook, its path without the suffix."""
        return self.notebook.removesuffix(".ipynb") if self.notebook else self.page


@dataclass(frozen=True)
class Inventory:
    """Sources, claims, parts and chapters, each by key and in the order of the book."""

    sources: Mapping[str, Paper]
    claims: Mapping[str, Claim]
    parts: Mapping[str, str]
    chapters: Mapping[str, Chapter]

    @cached_property
    def papers(self) -> dict[str, Paper]:
        """The sources that are papers."""
        return {key: source for key, source in self.sources.items() if not source.own}

    @cached_property
    def owner(self) -> dict[str, Chapter]:
        """The chapter that owns each claim."""
        return {claim: chapter for chapter in self.chapters.values() for claim in chapter.owns}

    @cached_property
    def graph(self) -> nx.DiGraph:
        """Edges from a claim to the claims that use it."""
        return uses_graph(self.claims.values())

    def of_paper(self, key: str) -> list[Claim]:
        """The claims of one source, in its order."""
        return [claim for claim in self.claims.values() if claim.paper == key]


def uses_graph(claims: Iterable[Claim]) -> nx.DiGraph:
    """Graph of some claims in their order, with an edge from each to every one that uses it."""
    graph: nx.DiGraph = nx.DiGraph()
    chosen = {claim.id: claim for claim in claims}
    graph.add_nodes_from(chosen)
    graph.add_edges_from((u, c.id) for c in chosen.values() for u in c.uses if u in chosen)
    return graph


def load(root: Path) -> Inventory:
    """Read the inventory below the root of the book.

    Raises
    ------
    InventoryError
        If a file is missing or does not conform to its schema, an id is repeated or does not begin
        with its source's key, ``uses`` names an unknown claim or runs in a circle, a claim is
        owned by no chapter or by two, or a paper's statement is not the one whose digest is kept.
    """
    folder = root / FOLDER
    chapters = _read(folder / CHAPTERS, "chapters.schema.json")
    digests = _read(folder / DIGESTS, "digests.schema.json")
    order = [f"{key}.yml" for key in chapters["sources"]]
    found = sorted({path.name for path in folder.glob("*.yml")} - {CHAPTERS, DIGESTS})
    if sorted(order) != found:
        names = ", ".join(found)
        raise InventoryError([f"{CHAPTERS}: sources must list each of {names} once, got {order}"])
    documents = {name: _read(folder / name, "claims.schema.json") for name in order}
    problems = [
        *_claim_problems(documents),
        *_statement_problems(documents, digests),
        *_chapter_problems(documents, chapters),
    ]
    if problems:
        raise InventoryError(problems)
    claims = [
        Claim(
            paper=document["paper"],
            changes=tuple(digests.get(entry["id"], {}).get("changes", ())),
            **{**entry, "uses": tuple(entry["uses"])},
        )
        for document in documents.values()
        for entry in document["claims"]
    ]
    heads = [{k: v for k, v in d.items() if k != "claims"} for d in documents.values()]
    return Inventory(
        sources={head["paper"]: Paper(key=head.pop("paper"), **head) for head in heads},
        claims={claim.id: claim for claim in claims},
        parts={part["key"]: part["title"] for part in chapters["parts"]},
        chapters={
            entry["key"]: Chapter(part=part["key"], **{**entry, "owns": tuple(entry["owns"])})
            for part in chapters["parts"]
            for entry in part["chapters"]
        },
    )


def digest(statement: str) -> str:
    """The digest of a statement, which line breaks do not change."""
    return hashlib.sha256(" ".join(statement.split()).encode()).hexdigest()[:16]


def _read(path: Path, schema: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise InventoryError([f"{FOLDER}/{path.name}: there is no such file"]) from error
    except yaml.YAMLError as error:
        raise InventoryError([f"{path.name}: not YAML: {error}"]) from error
    validator = jsonschema.Draft202012Validator(json.loads((HERE / schema).read_text("utf-8")))
    errors = sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.path)))
    if errors:
        raise InventoryError(
            [
                f"{path.name}{_place(document, error.absolute_path)}: {error.message}"
                for error in errors
            ]
        )
    return document


def _place(document: Any, path: Iterable[str | int]) -> str:
    """Where in a file an error lies: the ids and keys on the way, then the field."""
    words: list[str] = []
    for step in path:
        document = document[step]
        if isinstance(document, dict) and ("id" in document or "key" in document):
            words.append(str(document.get("id", document.get("key"))))
        elif isinstance(step, str) and step not in ("claims", "parts", "chapters"):
            words.append(step)
        elif isinstance(step, int):
            words.append(f"entry {step + 1}")
    return ", " + ", ".join(words) if words else ""


def _claim_problems(documents: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What is wrong with the claims of all papers, taken together."""
    entries = [(name, entry) for name, d in documents.items() for entry in d["claims"]]
    known = Counter(entry["id"] for _, entry in entries)
    for name, document in documents.items():
        for entry in document["claims"]:
            place = f"{name}, {entry['id']}"
            if not entry["id"].startswith(document["paper"] + "."):
                yield f"{place}: the id must begin with {document['paper']}."
            for used in entry["uses"]:
                if used not in known:
                    yield f"{place}: uses {used}, which is no claim"
    for claim, times in known.items():
        if times > 1:
            where = ", ".join(name for name, entry in entries if entry["id"] == claim)
            yield f"{where}, {claim}: the id is given {times} times"
    graph: nx.DiGraph = nx.DiGraph((u, e["id"]) for _, e in entries for u in e["uses"])
    for circle in nx.simple_cycles(graph):
        yield f"{FOLDER}: uses runs in a circle: {' -> '.join(circle)}"


def _statement_problems(documents: dict[str, dict[str, Any]], kept: dict) -> Iterator[str]:
    """Statements of papers that are not the ones whose digests are kept."""
    found = {
        e["id"]: e["statement"] for d in documents.values() if not d.get("own") for e in d["claims"]
    }
    for claim, statement in found.items():
        now = digest(statement)
        if claim not in kept:
            yield f"{DIGESTS}: lacks {claim}: {{digest: {now}}}"
        elif kept[claim]["digest"] != now:
            yield (
                f"{DIGESTS}, {claim}: the statement was edited. A statement says what the paper "
                f"says; if it does so better now, keep the digest {now} and add to its changes "
                f"was: {kept[claim]['digest']}, the date and the reason"
            )
    for claim in kept.keys() - found.keys():
        yield f"{DIGESTS}: {claim} is no claim of a paper"


def _chapter_problems(documents: dict[str, dict[str, Any]], chapters: dict) -> Iterator[str]:
    """What is wrong with the chapters: repeated keys, claims without a home or with two."""
    entries = [entry for part in chapters["parts"] for entry in part["chapters"]]
    for field in ("key", "notebook"):
        counts = Counter(entry[field] for entry in entries if field in entry)
        for value, times in counts.items():
            if times > 1:
                yield f"{CHAPTERS}: {field} {value} is given {times} times"
    claims = [(name, entry["id"]) for name, d in documents.items() for entry in d["claims"]]
    known = {claim for _, claim in claims}
    owners: dict[str, list[str]] = {}
    for entry in entries:
        for claim in entry["owns"]:
            owners.setdefault(claim, []).append(entry["key"])
            if claim not in known:
                yield f"{CHAPTERS}, {entry['key']}: owns {claim}, which is no claim"
    for name, claim in claims:
        if claim not in owners:
            yield f"{name}, {claim}: no chapter in {CHAPTERS} owns it"
        elif len(owners[claim]) > 1:
            yield f"{name}, {claim}: owned by several chapters: {', '.join(owners[claim])}"
