"""Watches the tests of a submission from inside its kernel, where the text of this file runs first.

The last statement of a cell of tests becomes an assertion that must fail, so that assertions
without effect are noticed; and what a call in a test gives must not compare as its author likes.
Code of a submission that looks for the guard can deceive it, as it can deceive the tests.
"""

import ast
import hashlib

COMPARES = "what this calls has comparisons or arithmetic of its own"
OWN = "lt le gt ge abs bool float array array_ufunc sub rsub add radd mul rmul truediv"


def digest(tree: ast.AST) -> str:
    """What a cell is known by."""
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def checked(value: object) -> object:
    """The value, if it is none that answers every comparison."""
    kind = type(value)
    if kind.__module__ == "__main__":
        own = {name for base in kind.__mro__[:-1] for name in vars(base)
               if base.__module__ == "__main__"}  # fmt: skip
        if own & {f"__{name}__" for name in OWN.split()} or (value == object()) is True:
            raise TypeError(COMPARES)
    return value


class Guard:
    """A transformer of syntax trees, for IPython's ``ast_transformers``."""

    def __init__(self, word: str, tests: set[str]) -> None:
        self.word, self.tests = word, tests

    def visit(self, tree: ast.Module) -> ast.Module:
        """Change a cell of tests; leave others as they are."""
        if digest(tree) in self.tests:
            _Wrap(self.word).visit(tree)
            tree.body += ast.parse(f"assert False, {self.word!r}").body
        return ast.fix_missing_locations(tree)


class _Wrap(ast.NodeTransformer):
    """Put every call into a call of ``checked``."""

    def __init__(self, word: str) -> None:
        self.word = word

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        return ast.Call(ast.Name(self.word, ast.Load()), [node], [])
