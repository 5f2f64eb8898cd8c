"""A backward slice of a program: only the statements that some names depend on.

The program is a list of statements as they stand one after the other at module level, in a
notebook's cells for instance. Names are followed through definitions, uses, augmented assignments,
stores to items and attributes, calls of methods that stand alone, and the state of random
generators. What a function reads when it is called counts where it is called. The slice may keep
more than is needed; a test that runs it shows that nothing is missing.
"""

from __future__ import annotations

import ast
import functools
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
DISPLAY = frozenset({"print", "show", "display", "explorer"})
GENERATORS = frozenset({"generator", "default_rng"})


def bound(node: ast.AST) -> set[str]:
    """Names that a statement binds where it stands."""
    if isinstance(node, BODIES):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    names = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()
    if isinstance(node, ast.Lambda):
        return names
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
    return names.union(*(bound(child) for child in ast.iter_child_nodes(node)))


def parse(source: str) -> tuple[ast.stmt, ...]:
    """The statements of a source text."""
    return tuple(ast.parse(source).body)


@functools.cache
def read(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """Global names read where a node stands, and those read when its functions are called."""
    text = ast.unparse(node)
    now: set[str] = set()
    later: set[str] = set()

    def visit(table: symtable.SymbolTable, called: bool) -> None:
        top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (top or symbol.is_global()):
                (later if called else now).add(symbol.get_name())
        for child in table.get_children():
            function = child.get_type() == "function" and child.get_name() not in (
                "listcomp",
                "setcomp",
                "dictcomp",
                "genexpr",
            )
            visit(child, called or function)

    visit(symtable.symtable(text, "slice", "exec"), False)
    if not isinstance(node, BODIES):
        now |= later  # a lambda in an expression may be called at once
    return frozenset(now), frozenset(later)


@dataclass(frozen=True)
class Program:
    """Statements in order, with what each binds, reads and changes."""

    statements: tuple[ast.stmt, ...]

    def slice(self, wanted: ast.AST, end: int) -> list[ast.stmt]:
        """What of the first ``end`` statements is needed to evaluate ``wanted`` after them.

        Some come back with a shorter body, imports with the names that are used; their positions in
        the source text stay as they were.
        """
        place = (
            self.position[self.statements[end]] if end < len(self.statements) else len(self.flat)
        )
        return self.block(self.statements[:end], self.uses(wanted, place))[0]

    @cached_property
    def flat(self) -> list[ast.stmt]:
        """All statements outside functions and classes, in the order of the text."""
        return list(_flatten(self.statements))

    @cached_property
    def position(self) -> dict[ast.stmt, int]:
        """Place of each statement in :attr:`flat`."""
        return {statement: index for index, statement in enumerate(self.flat)}

    @cached_property
    def definitions(self) -> dict[str, list[int]]:
        """Places where each name is bound by a simple statement, a loop or a context."""
        found: dict[str, list[int]] = {}
        for index, statement in enumerate(self.flat):
            for name in bound(_header(statement)):
                found.setdefault(name, []).append(index)
        return found

    @cached_property
    def modules(self) -> set[str]:
        """Names bound by imports."""
        imports = (s for s in self.flat if isinstance(s, ast.Import | ast.ImportFrom))
        return set().union(*(bound(statement) for statement in imports))

    @cached_property
    def random(self) -> set[str]:
        """Names of random generators."""
        return {
            name
            for statement in self.flat
            if isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Call)
            and _called(statement.value) in GENERATORS
            for name in bound(statement)
        }

    def reaching(self, name: str, before: int) -> ast.stmt | None:
        """The last statement before a place that binds a name."""
        places = [index for index in self.definitions.get(name, ()) if index < before]
        return self.flat[places[-1]] if places else None

    def uses(self, node: ast.AST, place: int) -> set[str]:
        """Names that evaluating a node at a place depends on."""
        names, later = read(node)
        result = set(names)
        if not isinstance(node, BODIES):
            result |= later
        todo = list(result)
        seen: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                called = self._called_later(name, place, frozenset())
                result |= called
                todo += called
        return result

    def _called_later(self, name: str, place: int, above: frozenset[str]) -> set[str]:
        """Names that are read when the function behind a name is called."""
        definition = self.reaching(name, place)
        if definition is None or name in above or isinstance(definition, ast.Import):
            return set()
        now, later = read(_header(definition))
        if isinstance(definition, BODIES):
            return set(later | (now - self.modules))
        if not isinstance(definition, ast.Assign | ast.AnnAssign):
            return set()
        where = self.position[definition]
        return set(later).union(
            *(
                self._called_later(n, where, above | {name})
                for n in _handed(definition) - self.modules
            )
        )

    def changed(self, statement: ast.stmt) -> set[str]:
        """Names whose value a simple statement changes without binding them."""
        found: set[str] = set()
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(
                node.ctx, ast.Load
            ):
                found |= _roots(node)
            elif isinstance(node, ast.AugAssign):
                found |= _roots(node.target)
        whole = ast.walk(statement) if isinstance(statement, ast.Try) else (statement,)
        for node in whole:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                found |= self._changed_by_call(node.value, self.position[statement])
        if self.random:
            found |= self.random & self.uses(statement, self.position[statement])
        return found

    def _changed_by_call(self, call: ast.Call, place: int) -> set[str]:
        if isinstance(call.func, ast.Attribute):
            roots = _roots(call.func)
            if roots & self.random:  # a shuffle
                return roots.union(*map(_roots, call.args))
            chain = isinstance(call.func.value, ast.Call)
            if roots & self.modules and not chain:
                return _roots(call.args[0]) if call.args else roots
            handed = set().union(*map(_roots, call.args))
            inside = self._changed_by_functions(handed, place)  # run.advance(25, keep)
            return roots | inside | (handed if chain else set())  # Run(x).advance(25, record)
        definition = self.reaching(_called(call), place)
        if _called(call) in DISPLAY or not isinstance(definition, ast.FunctionDef):
            return set()
        inside = _changed_inside(definition)
        parameters = [argument.arg for argument in definition.args.args]
        given = [*zip(parameters, call.args, strict=False)]
        given += [(k.arg, k.value) for k in call.keywords if k.arg]
        handed = {name for p, value in given if p in inside for name in _roots(value)}
        return handed | (inside - set(parameters) - bound_inside(definition))

    def _changed_by_functions(self, names: set[str], place: int) -> set[str]:
        """Names that change when the functions behind some names are called."""
        found = (self.reaching(name, place) for name in names)
        functions = [f for f in found if isinstance(f, ast.FunctionDef)]
        return set().union(
            *(
                _changed_inside(f) - {a.arg for a in f.args.args} - bound_inside(f)
                for f in functions
            )
        )

    def block(
        self, statements: Sequence[ast.stmt], live: set[str]
    ) -> tuple[list[ast.stmt], set[str]]:
        """The kept statements of a block and the names that are needed before it."""
        kept: list[ast.stmt] = []
        for statement in reversed(statements):
            short, live = self._one(statement, live)
            if short is not None:
                kept.insert(0, short)
        return kept, live

    def _one(self, statement: ast.stmt, live: set[str]) -> tuple[ast.stmt | None, set[str]]:
        place = self.position[statement]
        if isinstance(statement, ast.For | ast.While):
            return self._loop(statement, live)
        if isinstance(statement, ast.If):
            body, before = self.block(statement.body, live)
            other, instead = self.block(statement.orelse, live)
            leaves = any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(statement))
            if not (body or other or leaves):
                return None, live
            if leaves:
                body, other = statement.body, statement.orelse
                before |= set().union(*(self.uses(s, place) for s in [*body, *other]))
            short: ast.stmt = _with(statement, body=body or [ast.Pass()], orelse=other)
            return short, before | instead | self.uses(statement.test, place)
        if isinstance(statement, ast.With):
            body, before = self.block(statement.body, live)
            names = set().union(*(bound(item) for item in statement.items))
            if not body and not names & live:
                return None, live
            heads = set().union(*(self.uses(i.context_expr, place) for i in statement.items))
            return _with(statement, body=body or [ast.Pass()]), (before - names) | heads
        if isinstance(statement, ast.Break | ast.Continue):
            return statement, live
        names, changed = bound(statement), self.changed(statement)
        if not (names | changed) & live:
            return None, live
        if isinstance(statement, ast.Import | ast.ImportFrom):
            chosen = [a for a in statement.names if bound(_with(statement, names=[a])) & live]
            return _with(statement, names=chosen), live - names
        kills = isinstance(statement, (ast.Assign, ast.AnnAssign, *BODIES))
        # what a function reads is needed where it is called, and there it has been added
        functions = isinstance(statement, BODIES)
        uses = set(read(statement)[0]) if functions else self.uses(statement, place)
        return statement, (live - (names - changed) if kills else live) | uses

    def _loop(
        self, statement: ast.For | ast.While, live: set[str]
    ) -> tuple[ast.stmt | None, set[str]]:
        place = self.position[statement]
        header = statement.iter if isinstance(statement, ast.For) else statement.test
        names = bound(statement.target) if isinstance(statement, ast.For) else set()
        other, after = self.block(statement.orelse, live)
        trial, _ = self.block(statement.body, set(live))
        if not (_substance(trial) or other or names & live):
            return None, live
        live = live | after
        uses, inside = self.uses(header, place), set(live)
        while True:
            body, before = self.block(statement.body, inside | uses)
            if before <= inside:
                break
            inside |= before
        return (
            _with(statement, body=body or [ast.Pass()], orelse=other),
            live | (before - names) | uses,
        )


@functools.cache
def _handed(definition: ast.stmt) -> frozenset[str]:
    """Names of functions that an assignment hands on: partial(f), {"a": f}, Problem(f)."""
    nodes = list(ast.walk(definition))
    calls = [n.func for n in nodes if isinstance(n, ast.Call)]
    named = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return frozenset(named - {f.id for f in calls if isinstance(f, ast.Name)})


def _substance(statements: Sequence[ast.stmt]) -> bool:
    """Whether anything is left but leaving the loop."""
    only = (ast.Break, ast.Continue, ast.Pass)
    return any(
        not isinstance(s, only)
        and not (isinstance(s, ast.If) and all(isinstance(t, only) for t in [*s.body, *s.orelse]))
        for s in statements
    )


def _changed_inside(function: ast.FunctionDef) -> set[str]:
    """Names whose value a function changes without binding them, its parameters among them."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found |= _roots(node)
        elif isinstance(node, ast.AugAssign):
            found |= _roots(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            found |= _roots(node.value.func)
    return found


def bound_inside(function: ast.FunctionDef) -> set[str]:
    """Names that are local to a function."""
    return set().union(*(bound(statement) for statement in function.body))


def _with(statement: ast.stmt, **fields: object) -> ast.stmt:
    """A copy of a statement with other fields, at the same place of the source."""
    values = {name: getattr(statement, name) for name in statement._fields}
    return ast.copy_location(type(statement)(**{**values, **fields}), statement)


def _flatten(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        yield statement
        if not isinstance(statement, BODIES):
            for field in ("body", "orelse", "finalbody"):
                yield from _flatten(getattr(statement, field, []))


def _header(statement: ast.stmt) -> ast.AST:
    """A statement without the block below it; simple statements, functions, classes as they are."""
    if isinstance(statement, ast.For):
        return ast.Assign([statement.target], statement.iter, lineno=1)
    if isinstance(statement, ast.With):
        return _with(statement, body=[ast.Pass()])
    if isinstance(statement, ast.If | ast.While):
        return ast.Expr(statement.test)
    return statement


def _roots(node: ast.AST) -> set[str]:
    """The names at the bottom of ``x``, ``x.a``, ``x[i]``, ``x.a()`` and of tuples of these."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Tuple | ast.List):
        return set().union(*(_roots(item) for item in node.elts))
    return {node.id} if isinstance(node, ast.Name) else set()


def _called(call: ast.Call) -> str:
    """The last word of what is called."""
    return getattr(call.func, "id", getattr(call.func, "attr", ""))
