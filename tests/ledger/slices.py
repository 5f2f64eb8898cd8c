"""Whether a script is a slice of its notebook in which every name holds what it holds there.

Written apart from ``dpdynamics.claims``, which cuts the slices, and coarser: a statement at the top
level of a cell is looked at as a whole, and what it may do to a name counts as done.
"""

from __future__ import annotations

import ast
import builtins
import json
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

BODIES = (ast.FunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
BRANCHES = (ast.If, ast.While, ast.Try, ast.AugAssign)  # what they bind they may leave alone
VERDICTS = ("verdict", "out_of_reach")


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at the top level of a cell."""

    node: ast.stmt
    cell: int  # its place among the code cells

    @cached_property
    def text(self) -> str:
        """What it is; of one that gives a verdict the call alone, shown or kept."""
        calls = [node for node in ast.walk(self.node) if isinstance(node, ast.Call)]
        given = [call for call in calls if getattr(call.func, "id", "") in VERDICTS]
        return ast.dump(given[0] if given else self.node)

    @cached_property
    def tables(self) -> list[symtable.SymbolTable]:
        """The symbols of the statement, and of all that is nested in it."""
        found = [symtable.symtable(ast.unparse(self.node), "cell", "exec")]
        for table in found:
            found += table.get_children()
        return found

    @cached_property
    def reads_now(self) -> set[str]:
        """Global names that it reads where it stands."""
        grown = {root(n.target) for n in ast.walk(self.node) if isinstance(n, ast.AugAssign)}
        read = {s.get_name() for s in self.tables[0].get_symbols() if s.is_referenced()}
        return read | (grown & self.binds)

    @cached_property
    def reads(self) -> set[str]:
        """Global names that it reads, there or when its functions are called."""
        nested = (s for table in self.tables[1:] for s in table.get_symbols())
        return self.reads_now | {
            s.get_name() for s in nested if s.is_referenced() and s.is_global()
        }

    @cached_property
    def binds(self) -> set[str]:
        """Names that it binds, perhaps."""
        symbols = self.tables[0].get_symbols()
        return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}

    @cached_property
    def changes(self) -> set[str]:
        """Names to whose objects it stores, or a method of which it calls for its effect."""
        found = set[str]()
        for node in ast.walk(self.node):
            if isinstance(node, ast.Subscript | ast.Attribute):
                found |= set() if isinstance(node.ctx, ast.Load) else {root(node)}
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                function = node.value.func
                found |= set() if isinstance(function, ast.Name) else {root(function)}
        return found & self.reads

    @cached_property
    def generators(self) -> set[str]:
        """Generators of random numbers that it binds."""
        value = getattr(self.node, "value", None)
        made = isinstance(value, ast.Call) and root(value.func) == "generator"
        return self.binds if made else set()


def root(node: ast.AST) -> str:
    """The name at the bottom of ``x.a[i]``."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return getattr(node, "id", "")


def statements(path: Path) -> list[Statement]:
    """All statements of a notebook, but for its bootstrap cell."""
    cells = [c for c in json.loads(path.read_text("utf-8"))["cells"] if c["cell_type"] == "code"]
    return [
        Statement(node, place)
        for place, cell in enumerate(cells)
        if "bootstrap" not in cell["metadata"].get("tags", ())
        for node in ast.parse("".join(t for t in cell["source"] if t[0] not in "%!")).body
    ]


def cells_of(script: list[ast.stmt], notebook: list[Statement]) -> set[int]:
    """The cells that a script consists of, whole and in order, and of nothing else."""
    left = [Statement(node, 0).text for node in script]
    found = set[int]()
    for cell in sorted({s.cell for s in notebook}):
        own = [s.text for s in notebook if s.cell == cell]
        if left[: len(own)] == own:
            found.add(cell)
            del left[: len(own)]
    assert left == [], f"not in the notebook, or not there in this order: {left[0]}"
    return found


def faults(notebook: list[Statement], cells: set[int]) -> Iterator[str]:
    """Where a name that one of the cells uses may be, or hold, something else without the others.

    Going backwards from the use, whatever binds the name or changes its object must be kept, up to
    a statement that surely binds it. Of a generator of random numbers every use is a change; what
    a function reads counts where it is used.
    """
    generators = set[str]().union(*(s.generators for s in notebook))
    modules = {name for s in notebook if isinstance(s.node, IMPORTS) for name in s.binds}
    touched = [s.binds | (s.changes - modules) | (s.reads & generators) for s in notebook]
    for place, user in enumerate(notebook):
        if user.cell not in cells:
            continue
        todo = list(user.reads_now if isinstance(user.node, BODIES) else user.reads)
        seen = set[str]()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            bound = name in user.binds and not isinstance(user.node, (*ASSIGNMENTS, ast.AugAssign))
            perhaps = bound
            for number in reversed(range(place)):
                if name not in touched[number]:
                    continue
                before = notebook[number]
                if before.cell not in cells:
                    if not bound:
                        yield f"{name}, used in cell {user.cell}: cell {before.cell} is missing"
                    break
                if name in before.binds:
                    perhaps, bound = True, bound or not isinstance(before.node, BRANCHES)
                    if isinstance(before.node, (*BODIES, *IMPORTS, *ASSIGNMENTS)):
                        todo += before.reads if len(before.tables) > 1 else ()
                        break
            if not perhaps and not hasattr(builtins, name):
                yield f"{name}, used in cell {user.cell}: is not bound"
