"""Watches the tests of a submission from inside its kernel, where the text of this file runs first.

A cell of tests runs on when one of its assertions fails, so that all that fail are told. Its last
statement becomes an assertion that must fail, so that assertions without effect are noticed. What a
call in a test gives must not compare as its author likes, and the functions of Python and of
modules that a test names must not have been replaced. Code of a submission that looks for the guard
can deceive it, as it can deceive the tests.
"""

import ast
import builtins
import functools
import hashlib
import sys
import types

COMPARES = "what this calls has comparisons or arithmetic of its own"
REPLACED = "a function that this names is no longer the one that it was"
ARITHMETIC = (
    "lt le gt ge abs bool float array array_ufunc pow rpow neg round sub rsub add radd mul rmul"
    " truediv rtruediv"
)
OWN = {f"__{name}__" for name in ARITHMETIC.split()}
PYTHON = dict(vars(builtins))
BREAK = "\x1e"  # between the words of several assertions
TRIED = """
try:
    pass
except AssertionError as failed:
    {word}.failed.append(str(failed))
"""
TOLD = """
assert not {word}.failed, {line!r}.join({word}.failed)
assert False, {word!r}
"""


def digest(tree: ast.AST) -> str:
    """What a cell is known by."""
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


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
    mock = sys.modules.get("unittest.mock")
    parts = (vars(base).get(name) for base in type(value).__mro__[:-1] for name in OWN)
    if any(foreign(part) for part in parts) or (mock and isinstance(value, mock.NonCallableMock)):
        raise TypeError(COMPARES)
    try:
        likes = (value == object()) is True
    except Exception:
        likes = False
    if likes:
        raise TypeError(COMPARES)
    return value


class Guard:
    """A transformer of syntax trees, for IPython's ``ast_transformers``."""

    def __init__(self, word: str, tests: set[str], space: dict[str, object]) -> None:
        self.word, self.tests, self.space = word, tests, space

    def visit(self, tree: ast.Module) -> ast.Module:
        """Change a cell of tests; leave others as they are."""
        if digest(tree) in self.tests:
            if any(self.replaced(node) for node in ast.walk(tree)):
                tree.body = ast.parse(f"raise TypeError({REPLACED!r})").body
            _Wrap(self.word).visit(tree)
            tree.body = [self.tried(statement) for statement in tree.body]
            tree.body[:0] = ast.parse(f"{self.word}.failed = []").body
            tree.body += ast.parse(TOLD.format(word=self.word, line=BREAK)).body
        return ast.fix_missing_locations(tree)

    def tried(self, statement: ast.stmt) -> ast.stmt:
        """A statement that goes on behind an assertion that fails."""
        if not any(isinstance(node, ast.Assert) for node in ast.walk(statement)):
            return statement
        tried = ast.parse(TRIED.format(word=self.word)).body[0]
        assert isinstance(tried, ast.Try)
        tried.body = [statement]
        return tried

    def replaced(self, node: ast.AST) -> bool:
        """Whether a name of Python's own, or ``module.name``, is now something else."""
        if isinstance(node, ast.Name) and node.id in PYTHON:
            mine = self.space.get(node.id, vars(builtins).get(node.id))
            return mine is not PYTHON[node.id]
        if isinstance(node, ast.Attribute):
            return isinstance(self.module(node.value), types.ModuleType) and foreign(
                self.module(node)
            )
        return False

    def module(self, node: ast.AST) -> object:
        """What ``module.module.name`` stands for, nothing for other expressions."""
        if isinstance(node, ast.Name):
            return self.space.get(node.id)
        if isinstance(node, ast.Attribute):
            place = self.module(node.value)
            return vars(place).get(node.attr) if isinstance(place, types.ModuleType) else None
        return None


class _Wrap(ast.NodeTransformer):
    """Put every call into a call of ``checked``."""

    def __init__(self, word: str) -> None:
        self.word = word

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        return ast.Call(ast.Name(self.word, ast.Load()), [node], [])
