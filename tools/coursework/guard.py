"""Watches the tests of a submission from inside its kernel, where the text of this file runs first.

A cell of tests runs on when one of its assertions fails, so that all that fail are told. Its last
statement becomes an assertion that must fail, so that assertions without effect are noticed. What a
call in a test gives must not compare as its author likes, and the functions of Python and of
modules that a test names, or imports, must not have been replaced. The last call of a function of
the student is written down, to be told with an assertion that fails or with any other error. Code
of a submission that looks for the guard can deceive it, as it can deceive the tests.
"""

import ast
import builtins
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping

COMPARES = "what this calls has comparisons or arithmetic of its own"
REPLACED = "a function that this names is no longer the one that it was"
ARITHMETIC = (
    "lt le gt ge abs bool float array array_ufunc pow rpow neg round sub rsub add radd mul rmul"
    " truediv rtruediv"
)
OWN = {f"__{name}__" for name in ARITHMETIC.split()}
PYTHON = dict(vars(builtins))
# By identity, since a class can say that it equals another one.
PLAIN = {*map(id, (bool, int, float, complex, str, bytes, tuple, list, dict, set, type(None)))}
HEAP = 1 << 9  # the flag of a class that is made by a statement ``class``
flags = vars(type)["__flags__"].__get__
BREAK = "\x1e"  # between the words of several assertions
CALL = "\x1f"  # between the words of an assertion and the last call before it
LONGEST_CALL = 120  # characters
TRIED = """
try:
    pass
except AssertionError as failed:
    {word}.failed.append(str(failed) + {call!r} + {word}.last)
"""
WHOLE = f"""{TRIED}except Exception as failed:
    {{word}}.stop(failed)
"""
TOLD = """
assert not {word}.failed, {line!r}.join({word}.failed)
assert False, {word!r}
"""


def digest(tree: ast.AST) -> str:
    """What a cell is known by."""
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def known(cells: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Cells of tests by their digests: the modules from which they import, each with a name."""
    trees = [ast.parse(text) for text in cells]
    found = [[n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)] for tree in trees]
    return {
        digest(tree): [(str(node.module), alias.name) for node in nodes for alias in node.names]
        for tree, nodes in zip(trees, found, strict=True)
    }


def parts(thing: object) -> list[object]:
    """A thing; of a function its code and defaults, and what the names in its code stand for."""
    if not isinstance(thing, types.FunctionType):
        return [thing]
    codes = [thing.__code__]
    for code in codes:
        codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    names = {**vars(builtins), **thing.__globals__}
    defaults = thing.__defaults__, *(thing.__kwdefaults__ or {}).values()
    return [thing, thing.__code__, *defaults, *(names.get(n) for c in codes for n in c.co_names)]


def foreign(function: object) -> bool:
    """Whether a function was written in Python outside of the modules that are installed."""
    if isinstance(function, functools.partial | functools.partialmethod):
        return True
    if not isinstance(function, types.FunctionType):
        return False
    module = sys.modules.get(str(function.__globals__.get("__name__")))
    return getattr(module, "__spec__", None) is None or vars(module) is not function.__globals__


def checked(value: object) -> object:
    """The value, if it is none that answers every comparison."""
    kind = type(value)
    if id(kind) in PLAIN or (kind.__module__ == "numpy" and not flags(kind) & HEAP):
        return value  # arrays above all: a comparison of a large one takes long
    mock = sys.modules.get("unittest.mock")
    parts = (vars(base).get(name) for base in kind.__mro__[:-1] for name in OWN)
    if any(foreign(part) for part in parts) or (mock and isinstance(value, mock.NonCallableMock)):
        raise TypeError(COMPARES)
    try:
        likes = (value == object()) is True
    except Exception:
        likes = False
    if likes:
        raise TypeError(COMPARES)
    return value


def typed(value: object) -> str:
    """A number, a word or a short list as one would type it; anything else as dots."""
    if isinstance(value, bool | int | float | str | None):
        kind = next(k for k in (bool, int, float, str, type(None)) if isinstance(value, k))
        return kind.__repr__(value)
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return typed(value.tolist()) if value.size <= 6 and value.ndim < 2 else "..."
    if type(value) in (list, tuple) and len(value) <= 6:
        return "[" + ", ".join(map(typed, value)) + "]"
    return "..."


class Guard:
    """A transformer of syntax trees, for IPython's ``ast_transformers``.

    It stands in a namespace as ``word``, and what it makes of a cell calls it there. ``tests`` is
    what it knows of their cells, ``own`` are the names of the functions that the student writes.
    """

    __call__ = staticmethod(checked)

    def __init__(
        self,
        word: str,
        tests: Mapping[str, list[tuple[str, str]]],
        space: dict[str, object],
        own: Collection[str] = (),
    ) -> None:
        self.word, self.tests, self.space, self.own = word, tests, space, own
        self.failed: list[str] = []
        self.last = ""
        self.imported = {
            (module, name): parts(getattr(__import__(module, fromlist=[name]), name))
            for places in tests.values()
            for module, name in places
        }
        space[word] = self

    def visit(self, tree: ast.Module) -> ast.Module:
        """Change a cell of tests; leave others as they are."""
        if digest(tree) in self.tests:
            if any(self.replaced(node) for node in ast.walk(tree)):
                tree.body = ast.parse(f"raise TypeError({REPLACED!r})").body
            _Wrap(self.word, self.own).visit(tree)
            tree.body = [self.around(TRIED, s) if _asserts(s) else s for s in tree.body]
            tree.body = [self.around(WHOLE, *tree.body)]
            tree.body[:0] = ast.parse(f"{self.word}.failed, {self.word}.last = [], ''").body
            tree.body += ast.parse(TOLD.format(word=self.word, line=BREAK)).body
        return ast.fix_missing_locations(tree)

    def around(self, text: str, *statements: ast.stmt) -> ast.stmt:
        """A statement that tries some others, and goes on as a text says when they fail."""
        tried = ast.parse(text.format(word=self.word, call=CALL)).body[0]
        assert isinstance(tried, ast.Try)
        tried.body = list(statements)
        return tried

    def replaced(self, node: ast.AST) -> bool:
        """Whether a name of Python's own, ``module.name`` or an imported one is something else."""
        if isinstance(node, ast.Name) and node.id in PYTHON:
            mine = self.space.get(node.id, vars(builtins).get(node.id))
            return mine is not PYTHON[node.id]
        if isinstance(node, ast.ImportFrom):
            imported = [(a, self.imported[str(node.module), a.name][0]) for a in node.names]
            return any(
                callable(thing) and self.space.get(alias.asname or alias.name, thing) is not thing
                for alias, thing in imported
            )
        if isinstance(node, ast.Attribute):
            return isinstance(self.module(node.value), types.ModuleType) and foreign(
                self.module(node)
            )
        return False

    def module(self, node: ast.AST) -> object:
        """What ``module.module.name`` stands for, nothing for other expressions."""
        if isinstance(node, ast.Name):
            imported = {name: things[0] for (_, name), things in self.imported.items()}
            return {**sys.modules, **imported, **self.space}.get(node.id)
        if isinstance(node, ast.Attribute):
            place = self.module(node.value)
            return vars(place).get(node.attr) if isinstance(place, types.ModuleType) else None
        return None

    def same(self, module: str, name: str, value: object) -> None:
        """Refuse what a test imported, if it is not what it was before the submission ran."""
        if [*map(id, parts(value))] != [*map(id, self.imported[module, name])]:
            raise TypeError(REPLACED)

    def called(
        self, name: str, function: Callable[..., object], *given: object, **named: object
    ) -> object:
        """What a function of the student returns; the call is written down."""
        words = [*map(typed, given), *(f"{key}={typed(value)}" for key, value in named.items())]
        line = f"{name}({', '.join(words)})"
        tells = len(line) <= LONGEST_CALL and any(word.strip("[], .") for word in words)
        self.last = line if tells else ""
        return function(*given, **named)

    def stop(self, error: Exception) -> None:
        """End the cell with an error of the same name that has the last call behind its words."""
        words = str(error)
        if words not in (COMPARES, REPLACED):
            words += CALL + self.last
        raise type(type(error).__name__, (Exception,), {})(words) from None


def _asserts(statement: ast.stmt) -> bool:
    """Whether an assertion stands in a statement."""
    return any(isinstance(node, ast.Assert) for node in ast.walk(statement))


class _Wrap(ast.NodeTransformer):
    """Put every call into one of the guard, and look at every name that is imported."""

    def __init__(self, word: str, own: Collection[str]) -> None:
        self.word, self.own = word, own

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.own:
            node.args[:0] = [ast.Constant(node.func.id), node.func]
            node.func = ast.Attribute(ast.Name(self.word, ast.Load()), "called", ast.Load())
        return ast.Call(ast.Name(self.word, ast.Load()), [node], [])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        look = "\n".join(
            f"{self.word}.same({node.module!r}, {a.name!r}, {a.asname or a.name})"
            for a in node.names
        )
        return [node, *ast.parse(look).body]
