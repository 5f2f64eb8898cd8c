"""The weight of the repository: code by part, names and who uses them, what tests cost.

python tools/weight.py            the table
python tools/weight.py --names    and every public name with the number of chapters that use it
"""

from __future__ import annotations

import argparse
import ast
import importlib
import io
import json
import re
import tokenize
from collections import Counter
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "lib" / "dpdynamics"


def lines_of(source: str) -> tuple[int, int]:
    """All lines of a Python source, and those that hold code: no docstring, comment or blank."""
    code: set[int] = set()
    silent = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in silent:
            code.update(range(token.start[0], token.end[0] + 1))
    total = source.count("\n")
    for node in ast.walk(ast.parse(source)):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text and isinstance(node.value.value, str):
            code.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return total, len([number for number in code if number <= total])


def weigh(files: list[Path]) -> tuple[int, int]:
    """Lines and lines of code of all files."""
    pairs = [lines_of(path.read_text(encoding="utf-8")) for path in files]
    return sum(total for total, _ in pairs), sum(code for _, code in pairs)


def cells(path: Path) -> list[str]:
    """The sources of the code cells of a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def imported(source: str) -> set[str]:
    """The names of rooms, as `room.name`, that a source imports or reads from an imported room."""
    tree = ast.parse(re.sub(r"(?m)^([ \t]*)[%!].*", r"\1pass", source))
    found: set[str] = set()
    rooms: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "dpdynamics":
            rooms |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpdynamics."):
            found |= {f"{node.module.split('.')[1]}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {f"{rooms[key]}.{node.attr}" for key in {node.value.id} & rooms.keys()}
    return found


def uses() -> dict[str, int]:
    """How many chapters import each public name of the rooms."""
    chapters = sorted((ROOT / "notebooks").glob("*/*.ipynb"))
    found = Counter(name for path in chapters for name in imported("\n".join(cells(path))))
    rooms = sorted(path.parent.name for path in LIBRARY.glob("*/__init__.py"))
    return {
        f"{room}.{name}": found[f"{room}.{name}"]
        for room in rooms
        for name in importlib.import_module(f"dpdynamics.{room}").__all__
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", action="store_true", help="list every public name")
    arguments = parser.parse_args()
    used = uses()
    rooms = Counter(name.split(".")[0] for name in used)

    print(f"{'':24}{'lines':>8}{'code':>8}{'names':>8}")
    for room in sorted(rooms):
        total, code = weigh(sorted((LIBRARY / room).rglob("*.py")))
        print(f"  {room:22}{total:8}{code:8}{rooms[room]:8}")
    parts = {
        "library": LIBRARY.rglob("*.py"),
        "tests": (ROOT / "tests").rglob("*.py"),
        "extensions": (ROOT / "book" / "extensions").rglob("*.py"),
        "tools": (ROOT / "tools").rglob("*.py"),
        "benchmarks": (ROOT / "benchmarks").rglob("*.py"),
    }
    for part, files in parts.items():
        total, code = weigh(sorted(files))
        print(f"{part:24}{total:8}{code:8}{len(used) if part == 'library' else '':>8}")
    notebooks = sorted((ROOT / "notebooks").glob("*/*.ipynb"))
    written = sum(cell.count("\n") + 1 for path in notebooks for cell in cells(path))
    print(f"{'code in notebooks':24}{written:8}")

    shares = Counter(min(count, 3) for count in used.values())
    print("\npublic names used by no chapter, one, two, three or more: ", end="")
    print(", ".join(str(shares[count]) for count in range(4)))
    path = ROOT / "_build" / "test-seconds.json"
    if path.is_file():
        taken = json.loads(path.read_text("utf-8"))
        minutes = taken["core_seconds"] / 60
        measured = date.fromtimestamp(path.stat().st_mtime)
        print(f"core-minutes of make test on {measured}: {minutes:.0f}; seconds by file:")
        for name, seconds in list(taken["files"].items())[:12]:
            print(f"  {seconds:6.0f}  {name}")
    else:
        print("core-minutes of the last make test: not measured")
    if arguments.names:
        for name, count in sorted(used.items(), key=lambda item: (item[1], item[0])):
            print(f"  {count:2}  {name}")


if __name__ == "__main__":
    main()
