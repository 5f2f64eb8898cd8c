"""Mutants of the library: is a small fault found by the tests of its room?

    python tools/mutants.py                  about 200, the rooms in proportion to their code
    python tools/mutants.py --room numerics --count 8 --seed 3

One operator, comparison, constant, sign, ``not``, ``and`` or ``min`` is changed in a copy of the
library, and the tests of its room and those that import the changed module run on it, first those
that use its names.
Texts, errors, type hints, decorators and ``__all__`` stay. ``tests/mutants.yml`` answers survivors;
a survivor without an answer is a failure.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from weight import weigh

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = Path("lib/dpdynamics")
TARGET = 0.92  # of the mutants that are not equivalent
PAIRS = [
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)),
    *((ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.And, ast.Or)),
]
POWERS = dict.fromkeys((ast.Pow, ast.FloorDiv, ast.Mod), ast.Mult)
OTHER = {**dict(PAIRS), **{b: a for a, b in PAIRS}, **POWERS}
EXTREME = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the lines before and after it, and the whole text after it."""

    file: str
    line: int
    before: str
    after: str
    text: bytes

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}"


def variants(node: ast.AST) -> Iterator[str]:
    """Sources of the nodes that may stand in the place of this one."""
    match node:
        case (
            ast.BinOp(ast.Constant(str()) | ast.JoinedStr())
            | ast.BinOp(right=ast.Constant(str()) | ast.JoinedStr())
        ):
            pass
        case ast.BinOp(left, op, right) if type(op) in OTHER:
            yield ast.unparse(ast.BinOp(left, OTHER[type(op)](), right))
        case ast.AugAssign(target, op, value) if type(op) in OTHER:
            yield ast.unparse(ast.AugAssign(target, OTHER[type(op)](), value))
        case ast.BoolOp(op, values):
            yield ast.unparse(ast.BoolOp(OTHER[type(op)](), values))
        case ast.Compare(left, ops, values):
            for i, op in enumerate(ops):
                others = [*ops[:i], OTHER[type(op)](), *ops[i + 1 :]]
                yield ast.unparse(ast.Compare(left, others, values))
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield ast.unparse(operand)
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value)):
            yield from (str(value + 1), str(value - 1))
        case ast.Constant(float(value)):
            yield str(2 * value or 1.0)
        case ast.Name(name) if name in EXTREME:
            yield EXTREME[name]
        case ast.Attribute(value, name) if name in EXTREME:
            yield ast.unparse(ast.Attribute(value, EXTREME[name]))


def places(node: ast.AST) -> Iterator[tuple[ast.AST, list[str]]]:
    """Nodes that can be changed, each with its variants."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Expr(ast.Constant()):
            return
        case ast.Assign([ast.Name("__all__")]):
            return
    if found := list(variants(node)):
        yield node, found
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from places(child)


def change(root: Path, file: str, node: ast.AST, variant: str) -> Mutant:
    """The mutant that has a variant in the place of a node."""
    lines = (root / file).read_bytes().splitlines(keepends=True)
    first, last = node.lineno - 1, node.end_lineno
    head, tail = lines[first][: node.col_offset], lines[last - 1][node.end_col_offset :]
    changed = head + (variant if isinstance(node, ast.stmt) else f"({variant})").encode() + tail
    before, after = (" ".join(b.decode().split()) for b in (b"".join(lines[first:last]), changed))
    text = b"".join([*lines[:first], changed, *lines[last:]])
    return Mutant(file.removeprefix(f"{LIBRARY}/"), node.lineno, before, after, text)


def rooms(root: Path) -> dict[str, list[Path]]:
    """The modules of every room; a module beside the rooms is a room of its own."""
    found = {p.stem: [p] for p in root.glob(f"{LIBRARY}/*.py") if p.stem != "__init__"}
    found |= {p.parent.name: sorted(p.parent.glob("*.py")) for p in root.glob(f"{LIBRARY}/*/*.py")}
    return dict(sorted(found.items()))


def draw(root: Path, count: int, seed: int, only: list[str]) -> dict[str, list[Mutant]]:
    """Mutants of every room, or of some, in proportion to the lines of code."""
    known = {room: files for room, files in rooms(root).items() if not only or room in only}
    code = {room: weigh(files)[1] for room, files in known.items()}
    drawn: dict[str, list[Mutant]] = {}
    for room, files in known.items():
        rng = random.Random(f"{seed} {room}")
        names = [str(path.relative_to(root)) for path in files]
        trees = [(name, ast.parse((root / name).read_bytes())) for name in names]
        spots = [(name, *place) for name, tree in trees for place in places(tree)]
        share = min(round(count * code[room] / sum(code.values())), len(spots))
        chosen = rng.sample(spots, share)
        drawn[room] = [change(root, name, node, rng.choice(found)) for name, node, found in chosen]
    return drawn


def runs(root: Path, room: str, module: str) -> list[list[str]]:
    """Arguments of the runs of pytest for a room and a module, users of its names first.

    They are those of the room and those that import the module; one beside the rooms that serves
    few of them has theirs.
    """
    words, folders, served = {f"dpdynamics.{room}"}, {room}, [room]
    if not (root / LIBRARY / room).is_dir():
        sources = {n: "".join(p.read_text("utf-8") for p in ps) for n, ps in rooms(root).items()}
        served = [name for name, source in sources.items() if f".{room} import" in source]
        folders |= set(served if len(served) <= 3 else [])
    body = ast.parse((root / LIBRARY / module).read_bytes()).body
    words |= {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    imported, uses = f"dpdynamics.{module.removesuffix('.py').replace('/', '.')} ", {}
    for path in (root / "tests").glob("*/test_*.py"):
        text = path.read_text(encoding="utf-8")
        if path.parent.name in folders or imported in text:
            uses[path] = sum(word in words for word in re.findall(r"[\w.]+", text))
    found = [str(path) for path in sorted(uses, key=lambda path: (-uses[path], path))]
    called = [n for n in served if (root / "tests" / "valid_calls" / f"{n}.py").is_file()]
    names = " or ".join(f"{name}." for name in called)
    return [found, *([["tests/mistakes", "-k", names]] if called else [])]


def survives(
    root: Path, room: str, module: str, mutant: Mutant | None, limit: float | None
) -> bool:
    """Whether the tests of a module pass on the library, or on the mutant, within the limit."""
    with TemporaryDirectory() as folder:
        shutil.copytree(root / "lib", f"{folder}/lib", ignore=shutil.ignore_patterns("__pycache__"))
        if mutant:
            (folder / LIBRARY / mutant.file).write_bytes(mutant.text)
        path = os.pathsep.join([f"{folder}/lib", str(root / "tests")])
        environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take most of a short run
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        end = time.monotonic() + limit if limit else None
        for arguments in runs(root, room, module):
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            process = subprocess.Popen(
                [*command, *arguments], cwd=root, env=environment, start_new_session=True, **quiet
            )
            try:
                status = process.wait(max(0.0, end - time.monotonic()) if end else None)
            except subprocess.TimeoutExpired:
                status = 1
            with contextlib.suppress(ProcessLookupError):  # the run, and what it started
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if status not in (0, 5):  # 5: no test has this name
                return False
    return True


def judge(root: Path, drawn: dict[str, list[Mutant]]) -> bool:
    """Print the fate of every mutant and the table; whether enough die and the rest is answered."""
    path = root / "tests" / "mutants.yml"
    answers = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else []
    known = {(answer["file"], answer["before"], answer["after"]): answer for answer in answers}
    limits: dict[str, float] = {}

    def unmutated(room: str, file: str) -> None:
        start = time.monotonic()
        if not survives(root, room, file, None, None):
            raise SystemExit(f"the tests of {file} fail without any mutant")
        limits[file] = 30 + 3 * (time.monotonic() - start)

    def fate(room: str, mutant: Mutant) -> tuple[str, str]:
        answer = known.get((mutant.file, mutant.before, mutant.after), {})
        if "equivalent" in answer:
            return room, "equivalent"
        start = time.monotonic()
        alive = survives(root, room, mutant.file, mutant, limits[mutant.file])
        word = "survived" if alive else "killed"
        word = "answered" if word == "survived" and "accepted" in answer else word
        print(f"{word:10} {time.monotonic() - start:5.0f} s  {mutant}", flush=True)
        return room, word

    with ThreadPoolExecutor(2) as pool:
        files = {m.file: room for room, mutants in drawn.items() for m in mutants}
        list(pool.map(unmutated, files.values(), files))
        pairs = [(room, mutant) for room, mutants in drawn.items() for mutant in mutants]
        fates = list(pool.map(fate, *zip(*pairs, strict=True)))

    columns = ("killed", "survived", "answered", "equivalent")
    print(f"\n{'':14}" + "".join(f"{word:>12}" for word in columns))
    for room in drawn:
        print(f"{room:14}" + "".join(f"{fates.count((room, word)):12}" for word in columns))
    total = {word: sum(word == found for _, found in fates) for word in columns}
    share = total["killed"] / max(1, len(fates) - total["equivalent"])
    print(f"{'all':14}" + "".join(f"{total[word]:12}" for word in columns))
    print(f"\n{share:.1%} of those that are not equivalent are killed; the target is {TARGET:.0%}.")
    for (_, word), (_, mutant) in zip(fates, pairs, strict=True):
        if word == "survived":
            print(f"survived without an answer in tests/mutants.yml: {mutant}")
    return share >= TARGET and not total["survived"]


def main() -> int:
    """Draw the mutants and judge them; 1 if too many survive, or one without an answer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="about so many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--room", action="append", default=[], help="one room; may be repeated")
    given = parser.parse_args()
    if unknown := set(given.room) - set(rooms(ROOT)):
        parser.error(f"no such room: {', '.join(unknown)}")
    drawn = draw(ROOT, given.count, given.seed, given.room)
    return 0 if judge(ROOT, drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
