"""One claim of the book, run alone with all its checks.

    python -m dpdynamics.claims                    the claims, by notebook
    python -m dpdynamics.claims CLAIM... --seed 7  their verdicts (default seed: the book's)
    python -m dpdynamics.claims CLAIM --script     the script that computes the verdict

The claims are those of the clone that the working directory lies in, or of ``--book PATH``.

A claim needs the cell that gives its verdict and, going backwards, the cells that bind what a
needed cell uses, change it in place, or draw from a generator that it draws from; no others run.
What a function reads counts where the function is mentioned. Followed are assignments, stores to
items and attributes, and methods and functions of the notebook that are called for their effect; a
function of a library is taken to change nothing but the first argument of a call that stands alone.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import io
import json
import os
import symtable
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

VERDICTS = ("verdict", "out_of_reach")  # the calls that give one, with the claim's id in front
_BODIES = (ast.FunctionDef, ast.ClassDef)
_COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")


@dataclass
class Cell:
    """A code cell with the global names that it touches."""

    place: int  # among all cells of the notebook, from 1
    source: str
    binds: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)  # bound before it
    changes: set[str] = field(default_factory=set)

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Its statements."""
        return ast.parse(self.source).body

    @cached_property
    def claims(self) -> dict[str, ast.stmt]:
        """The claims on which it gives a verdict, with the statements that do so."""
        return {
            ast.literal_eval(call.args[0]): statement
            for statement in self.statements
            for call in _verdict_calls(statement)
        }


class Notebook:
    """The code cells of a notebook, and which of them a claim needs.

    Parameters
    ----------
    path : Path
        An ``.ipynb`` file; its bootstrap cell is left out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        cells = json.loads(path.read_text("utf-8"))["cells"]
        self._cells = [
            Cell(place, _without_magic("".join(cell["source"])))
            for place, cell in enumerate(cells, start=1)
            if cell["cell_type"] == "code" and "bootstrap" not in cell["metadata"].get("tags", [])
        ]

    @cached_property
    def cells(self) -> list[Cell]:
        """Its code cells, in order, with the names that they touch."""
        reader = _Reader()
        for cell in self._cells:
            reader.read(cell)
        return self._cells

    @cached_property
    def claims(self) -> list[str]:
        """The claims on which it gives a verdict, in order."""
        return [claim for cell in self._cells for claim in cell.claims]

    def needed(self, claims: Iterable[str]) -> list[Cell]:
        """The cells that the verdicts on some of its claims need, in order."""
        wanted, live, kept = set(claims), set[str](), list[Cell]()
        for cell in reversed(self.cells):
            if wanted & set(cell.claims) or live & (cell.binds | cell.changes):
                kept.insert(0, cell)
                live = (live - cell.binds) | cell.uses
        return kept

    def script(self, claims: Iterable[str]) -> str:
        """The code that computes the verdicts on some of its claims, as ``verdicts[claim]``."""
        cells = [code for _, code in self._collecting(claims)]
        return "\n\n".join(["verdicts = {}", *cells]) + "\n"

    def verdicts(self, claims: Iterable[str]) -> dict[str, Any]:
        """The verdicts on some of its claims, computed; what its cells print is not shown.

        An error of a cell passes with a note that names the cell.
        """
        names: dict[str, Any] = {"__name__": "__main__", "verdicts": {}}
        with contextlib.redirect_stdout(io.StringIO()):
            for place, code in self._collecting(claims):
                try:
                    exec(compile(code, f"{self.path.name}, cell {place}", "exec"), names)
                except Exception as error:
                    error.add_note(f"in {self.path.name}, cell {place}")
                    raise
        return names["verdicts"]

    def _collecting(self, claims: Iterable[str]) -> Iterator[tuple[int, str]]:
        """Places and sources of the needed cells, with their verdicts kept and not shown."""
        wanted = set(claims)
        for cell in self.needed(wanted):
            lines = cell.source.split("\n")
            for claim, statement in reversed(cell.claims.items()):
                (call,) = _verdict_calls(statement)
                kept = f"verdicts[{claim!r}] = " if claim in wanted else ""
                text = kept + (ast.get_source_segment(cell.source, call) or "")
                lines[statement.lineno - 1 : statement.end_lineno] = text.split("\n")
            yield cell.place, "\n".join(lines)


def _without_magic(source: str) -> str:
    return "\n".join("" if line.startswith(("%", "!")) else line for line in source.split("\n"))


def _verdict_calls(statement: ast.stmt) -> Iterator[ast.Call]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in VERDICTS:
            yield from (node for claim in node.args[:1] if isinstance(claim, ast.Constant))


# --- definitions and uses ------------------------------------------------------------------------


class _Reader:
    """Reads cells in order and notes what each binds, uses and changes."""

    def __init__(self) -> None:
        self.inside: dict[str, set[str]] = {}  # what the function behind a name reads
        self.effects: dict[str, set[str]] = {}  # what it changes
        self.fills: dict[str, set[int | str | None]] = {}  # which of its parameters it changes
        self.modules: set[str] = set()
        self.generators: set[str] = set()

    def read(self, cell: Cell) -> None:
        self.cell = cell
        self.block(cell.statements)

    def block(self, statements: Iterable[ast.AST]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.AST) -> None:
        if isinstance(node, ast.For):
            self.block([_assignment(node.target, node.iter), *node.body, *node.orelse])
        elif isinstance(node, ast.While):
            self.block([ast.Expr(node.test), *node.body, *node.orelse])
        elif isinstance(node, ast.With):
            heads = [_assignment(item.optional_vars, item.context_expr) for item in node.items]
            self.block([*heads, *node.body])
        elif isinstance(node, ast.If):
            self.use(node.test)
            before = set(self.cell.binds)
            self.block(node.body)
            first, self.cell.binds = self.cell.binds, before
            self.block(node.orelse)
            self.cell.changes |= first ^ self.cell.binds
            self.cell.binds &= first
        elif isinstance(node, ast.Try):
            handlers = (s for handler in node.handlers for s in handler.body)
            self.block([*node.body, *handlers, *node.orelse, *node.finalbody])
        else:
            self.use(node)
            self.bind(node)

    def use(self, node: ast.AST) -> None:
        """Note what evaluating a node reads and changes."""
        now, later = _reads(node)
        names = now if isinstance(node, _BODIES) else now | later
        todo, used = list(names), set[str]()
        while todo:
            name = todo.pop()
            if name not in used:
                used.add(name)
                todo += self.inside.get(name, ())
        changed = (used & self.generators).union(*(self.effects.get(n, ()) for n in used))
        if not isinstance(node, _BODIES):
            changed |= _stores(node)
            for call in ast.walk(node):
                if isinstance(call, ast.Call):
                    changed |= self.changed_by(
                        call, alone=isinstance(node, ast.Expr) and call is node.value
                    )
        changed -= self.modules
        self.cell.uses |= (used | changed) - self.cell.binds
        self.cell.changes |= changed

    def changed_by(self, call: ast.Call, alone: bool) -> set[str]:
        """What a call changes directly."""
        if isinstance(call.func, ast.Name):
            filled = self.fills.get(call.func.id, set())
            given = [*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)]
            return set().union(*(roots(value) for key, value in given if key in filled))
        handed = set().union(*map(roots, call.args))
        bottom = roots(call.func)
        if bottom & self.generators:  # a shuffle
            return handed
        if not alone:
            return set()
        if bottom & self.modules:
            return roots(call.args[0]) if call.args else set()
        fresh = any(isinstance(part, ast.Call) for part in ast.walk(call.func))
        return bottom | (handed if fresh else set())

    def bind(self, node: ast.AST) -> None:
        """Note what a node binds, and what is behind the names."""
        names = _bound(node)
        self.cell.binds |= names
        inside, effects, fills = set[str](), set[str](), set[int | str | None]()
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.modules |= names
        elif isinstance(node, _BODIES):
            now, later = _reads(node)
            inside = now | later
            changed, fills = _effects(node)
            effects = changed & inside  # the other names are its own
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            inside = _handed(node.value) | _reads(node.value)[1]
            made = node.value.func if isinstance(node.value, ast.Call) else None
            self.generators |= names if getattr(made, "id", "") == "generator" else set()
        for name in names:
            self.inside[name] = inside - self.modules - {name}
            self.effects[name], self.fills[name] = effects, fills


def _assignment(target: ast.expr | None, value: ast.expr) -> ast.stmt:
    return ast.Assign([target], value, lineno=1) if target else ast.Expr(value)


def _reads(node: ast.AST) -> tuple[set[str], set[str]]:
    """Global names read where a node stands, and those read when its functions are called."""
    now, later = set[str](), set[str]()

    def visit(table: symtable.SymbolTable, called: bool) -> None:
        top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (top or symbol.is_global()):
                (later if called else now).add(symbol.get_name())
        for child in table.get_children():
            function = child.get_type() == "function" and child.get_name() not in _COMPREHENSIONS
            visit(child, called or function)

    visit(symtable.symtable(ast.unparse(node), "cell", "exec"), False)
    return now, later


def _bound(node: ast.AST) -> set[str]:
    """Names that a node binds where it stands."""
    symbols = symtable.symtable(ast.unparse(node), "cell", "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


def _stores(node: ast.AST) -> set[str]:
    """Names whose object gets another item, attribute or value."""
    found = set[str]()
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript | ast.Attribute) and not isinstance(part.ctx, ast.Load):
            found |= roots(part)
        elif isinstance(part, ast.AugAssign):
            found |= roots(part.target)
    return found


def _effects(body: ast.FunctionDef | ast.ClassDef) -> tuple[set[str], set[int | str | None]]:
    """What a function of the notebook changes: names; parameters, by place and by name."""
    found = _stores(body)
    for part in ast.walk(body):
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            found |= roots(part.value.func)
    arguments = getattr(body, "args", None)
    own = [a.arg for a in [*arguments.args, *arguments.kwonlyargs]] if arguments else []
    filled = {key for pair in enumerate(own) if pair[1] in found for key in pair}
    return found, filled


def _handed(value: ast.expr) -> set[str]:
    """Names that an expression hands on, not called there: partial(f), {"a": f}, Problem(f)."""
    called = {node.func for node in ast.walk(value) if isinstance(node, ast.Call)}
    named = (node for node in ast.walk(value) if isinstance(node, ast.Name) and node not in called)
    return {node.id for node in named} & _reads(value)[0]


def roots(node: ast.AST) -> set[str]:
    """The names at the bottom of ``x``, ``x.a``, ``x[i]``, ``x.a()`` and of tuples of these."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Tuple | ast.List):
        return set[str]().union(*map(roots, node.elts))
    return {node.id} if isinstance(node, ast.Name) else set()


# --- the command line ----------------------------------------------------------------------------


def notebooks(book: Path) -> list[Notebook]:
    """The notebooks of a clone, by path."""
    paths = (book / "notebooks").rglob("*.ipynb")
    return [Notebook(path) for path in sorted(paths) if ".ipynb_checkpoints" not in path.parts]


def find_book(start: Path) -> Path:
    """The clone of the book that a folder lies in."""
    for folder in (start, *start.parents):
        if (folder / "book" / "claims").is_dir() and (folder / "notebooks").is_dir():
            return folder
    raise ValueError(f"{start} does not lie in a clone of the book; name one with --book")


def find_claim(claim: str, found: Sequence[Notebook]) -> Notebook:
    """The notebook that gives the verdict on a claim; an error names claims with similar ids."""
    owners = {name: notebook for notebook in found for name in notebook.claims}
    if claim not in owners:
        near = difflib.get_close_matches(claim, owners, n=5) or ["without arguments it lists them"]
        raise ValueError(f"claim: no notebook decides {claim!r}; perhaps {', '.join(near)}")
    return owners[claim]


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m dpdynamics.claims",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("claims", nargs="*", metavar="CLAIM")
    parser.add_argument("--seed", type=int, help="another base seed of all random numbers")
    parser.add_argument("--script", action="store_true", help="print the code, do not run it")
    parser.add_argument("--book", type=Path, help="a clone of the book")
    given = parser.parse_args(arguments)
    try:
        book = find_book(given.book or Path.cwd())
        found = notebooks(book)
        chosen = [(claim, find_claim(claim, found)) for claim in given.claims]
    except ValueError as error:
        parser.error(str(error))
    if given.seed is not None:
        os.environ["DPDYNAMICS_SEED"] = str(given.seed)
    os.environ.setdefault("MPLBACKEND", "agg")
    os.chdir(book)
    for notebook in found if not chosen else ():
        print(f"{notebook.path.relative_to(book)}: {', '.join(notebook.claims) or 'none'}")
    for claim, notebook in chosen:
        if given.script:
            print(notebook.script([claim]) + f"\nprint(verdicts[{claim!r}])")
        else:
            print(notebook.verdicts([claim])[claim])


if __name__ == "__main__":
    main()
