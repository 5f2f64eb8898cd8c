"""The notation table and the library name the same things."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
from pathlib import Path

import pytest
import yaml

import book_notation
import dpdynamics

NOTATION = book_notation.load()
PAPERS = ["lin2025", "bombari2025", "wang2026", "anon2025"]
ENTRIES = [entry for group in NOTATION["groups"] for entry in group["symbols"]]
NUMERICS = ("problems", "divergence", "accounting", "dynamics", "adaptive", "training", "kan")


def _public_objects(rooms: tuple[str, ...]) -> dict[str, object]:
    """What these rooms make public, by name; rooms that do not exist yet have nothing."""
    found: dict[str, object] = {}
    folder = Path(dpdynamics.__file__).parent
    for room in rooms:
        if (folder / room / "__init__.py").is_file():
            module = importlib.import_module(f"dpdynamics.{room}")
            names = getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")])
            found |= {name: getattr(module, name) for name in names}
    return {name: thing for name, thing in found.items() if not inspect.ismodule(thing)}


def _attributes(kind: type) -> set[str]:
    """Fields, properties and methods of a class, without those that every tuple has."""
    fields = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    annotated = {name for base in kind.__mro__ for name in getattr(base, "__annotations__", {})}
    return {
        name
        for name in fields | annotated | (set(dir(kind)) - set(dir(tuple)))
        if not name.startswith("_")
    }


@functools.cache
def code_names(group: str) -> set[str]:
    """Every name that a group's table may give: parameters, attributes, ``C.attribute``, ``f()``.

    Numerics have the names of all groups; the verification room adds those of the statistics.
    """
    rooms = (*NUMERICS, "verification") if group == "statistics" else NUMERICS
    names: set[str] = set()
    for name, thing in _public_objects(rooms).items():
        if inspect.isclass(thing):
            names |= _attributes(thing)
            names |= {f"{name}.{attribute}" for attribute in _attributes(thing)}
        if callable(thing):
            names |= {f"{name}()"}
            try:
                names |= set(inspect.signature(thing).parameters)
            except ValueError:  # a builtin without a signature
                continue
    return names


def test_every_paper_is_named():
    assert NOTATION["papers"] == PAPERS
    for paper in PAPERS:
        assert any(entry["names"][paper] is not None for entry in ENTRIES), paper


@pytest.mark.parametrize(
    ("group", "entry"),
    [(group["id"], entry) for group in NOTATION["groups"] for entry in group["symbols"]],
    ids=lambda value: value if isinstance(value, str) else value["symbol"],
)
def test_code_names(group, entry):
    for name in entry["code"]:
        message = f"{name} is no public parameter, attribute or function of the library"
        assert name in code_names(group), message


def _altered(tmp_path, **changes):
    """The notation with its second symbol changed, as a file."""
    text = yaml.safe_load(book_notation.SOURCE.read_text("utf-8"))
    text["groups"][0]["symbols"][1] |= changes
    file = tmp_path / "notation.yml"
    file.write_text(yaml.safe_dump(text), "utf-8")
    return file


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"symbol": ENTRIES[0]["symbol"]}, "unique"),
        ({"names": {"lin2025": "d"}}, "exactly the keys"),
        ({"meaning": "norm |x|"}, "vertical bar"),
        ({"size": "3"}, "fields must be"),
    ],
)
def test_a_broken_table_is_refused(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        book_notation.load(_altered(tmp_path, **changes))


def test_unknown_group_is_refused():
    with pytest.raises(ValueError, match="notation group must be one of"):
        book_notation.table(NOTATION, "nowhere")


def test_page_shows_every_group():
    page = (book_notation.SOURCE.parent / "notation.md").read_text("utf-8")
    for group in NOTATION["groups"]:
        assert f"## {group['title']}\n\n```{{notation}} {group['id']}\n```" in page


def test_tables_are_rectangular():
    for group in NOTATION["groups"]:
        lines = book_notation.table(NOTATION, group["id"]).splitlines()
        assert len(lines) == 2 + len(group["symbols"])
        assert len({line.count("|") for line in lines}) == 1
