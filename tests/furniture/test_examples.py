"""The code that prose pages and docstrings show runs, and gives what they say it gives."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
LIBRARY = ROOT / "lib"
SHOWN = sorted(f for f in LIBRARY.rglob("*.py") if ">>> " in f.read_text("utf-8"))
SCHEMAS = BOOK / "extensions" / "book_ledger"
ROUNDING = re.compile(r"accepted at \S+ of")  # how small rounding is depends on the machine


def blocks(page: str, language: str) -> list[str]:
    """Fenced blocks of one language on a page, in order."""
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def run_like_a_notebook(sources: list[str]) -> str:
    """Execute blocks one after the other; what they print, and the value of a last expression."""
    names: dict[str, Any] = {}
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        for source in sources:
            tree = ast.parse(source)
            last = tree.body[-1]
            value = ast.Expression(tree.body.pop().value) if isinstance(last, ast.Expr) else None
            exec(compile(tree, "<page>", "exec"), names)
            if value is not None:
                print(eval(compile(value, "<page>", "eval"), names))
    return shown.getvalue()


def comparable(text: str) -> list[str]:
    """Words of an output: a page may break its lines elsewhere."""
    return ROUNDING.sub("accepted at ... of", text).split()


@pytest.mark.parametrize("file", SHOWN, ids=lambda f: f.stem)
def test_docstrings_give_the_printed_output(file):
    module = importlib.import_module(".".join(file.relative_to(LIBRARY).with_suffix("").parts))
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("page", ["book/reading.md", "CONTRIBUTING.md"])
def test_code_gives_the_printed_output(page):
    sources, printed = blocks(page, "python"), blocks(page, "text")
    assert sources, f"{page} shows no code"
    assert len(printed) == 1, f"{page} must show one output"
    assert comparable(run_like_a_notebook(sources)) == comparable(printed[0])


def test_example_accepts_only_rounding():
    """What the comparison above leaves out is small: every accepted ratio is below one."""
    for page in ("book/reading.md", "CONTRIBUTING.md"):
        shown = run_like_a_notebook(blocks(page, "python"))
        ratios = [float(r) for r in re.findall(r"accepted at (\S+) of", shown)]
        assert ratios, page
        assert max(ratios) < 1, page


def _validate(instance: Any, schema: str, definition: str) -> None:
    document = json.loads((SCHEMAS / schema).read_text("utf-8"))
    part = {"$ref": f"#/$defs/{definition}", "$defs": document["$defs"]}
    jsonschema.Draft202012Validator(part).validate(instance)


def test_inventory_entries_of_the_guide_are_valid():
    claims, chapters = (yaml.safe_load(block) for block in blocks("CONTRIBUTING.md", "yaml"))
    for claim in claims:
        _validate(claim, "claims.schema.json", "claim")
    for chapter in chapters:
        _validate(chapter, "chapters.schema.json", "chapter")
    assert {claim["id"] for claim in claims} == {owned for c in chapters for owned in c["owns"]}


def test_guide_decides_the_claim_that_it_enters():
    claims, _ = (yaml.safe_load(block) for block in blocks("CONTRIBUTING.md", "yaml"))
    code = "\n".join(blocks("CONTRIBUTING.md", "python"))
    assert all(f'verdict(\n    "{claim["id"]}"' in code for claim in claims)


def test_words_and_symbols_of_verdicts_are_those_of_the_library():
    from dpdynamics.verification import rendering

    table = re.findall(r"^\| (\S) \| ([a-z, ]+) \|", (BOOK / "reading.md").read_text("utf-8"), re.M)
    stated = {word: symbol for symbol, word in table}
    assert stated == {w: s for w, s in rendering.SYMBOLS.items() if w != "undecided"}
    assert f"**undecided** ({rendering.SYMBOLS['undecided']})" in (BOOK / "reading.md").read_text(
        "utf-8"
    )


def test_kinds_of_evidence_are_those_of_the_library():
    from dpdynamics import verification

    text = (BOOK / "reading.md").read_text("utf-8")
    section = text.partition("### Kinds of evidence")[2].partition("\n## ")[0]
    kinds = set(re.findall(r"^\| ([a-z]+) \|", section, flags=re.MULTILINE))
    schema = json.loads(
        (Path(verification.__file__).parent / "evidence.schema.json").read_text("utf-8")
    )
    assert kinds == set(_kinds(schema))


def _kinds(node: Any) -> list[str]:
    """The enumeration of kinds, wherever the schema holds it."""
    if isinstance(node, dict):
        kind = node.get("kind")
        if isinstance(kind, dict) and "enum" in kind:
            return list(kind["enum"])
        return [k for child in node.values() for k in _kinds(child)]
    return [k for child in node for k in _kinds(child)] if isinstance(node, list) else []
