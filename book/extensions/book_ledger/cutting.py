"""A check cut out of its notebook: what computes it, and nothing else."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .slicing import Program, bound, parse

VERDICTS = ("verdict", "out_of_reach")
KINDS = (  # of checks: the library's functions whose first argument is the name of the check
    "identity",
    "expectation",
    "distribution",
    "bound",
    "rate",
    "optimum",
    "coverage",
    "privacy",
)
WIDTH = 98


class SliceError(ValueError):
    """A notebook's verdict is not written in a form from which a check can be cut out."""


@dataclass(frozen=True)
class Source:
    """The code of a notebook as one text, with the cell in which each statement stands."""

    notebook: Path

    @cached_property
    def cells(self) -> list[tuple[int, str]]:
        """Code cells with their positions among all cells, from 1."""
        cells = json.loads(self.notebook.read_text("utf-8"))["cells"]
        return [
            (position, _without_magic("".join(cell["source"])))
            for position, cell in enumerate(cells, start=1)
            if cell["cell_type"] == "code"
        ]

    @cached_property
    def text(self) -> str:
        """All code cells."""
        return "\n\n".join(code for _, code in self.cells)

    @cached_property
    def program(self) -> Program:
        """The statements of :attr:`text`."""
        return Program(parse(self.text))

    def lines_of(self, cell: int) -> range:
        """The lines of a cell in :attr:`text`."""
        first = 1
        for position, code in self.cells:
            last = first + code.count("\n")
            if position == cell:
                return range(first, last + 1)
            first = last + 2
        raise SliceError(f"{self.notebook.name} has no code cell {cell}")


def cut(source: Source, cell: int, claim: str, check: str) -> str:
    """The code that computes one check, bound to the name ``check``.

    Parameters
    ----------
    source : Source
        The notebook.
    cell : int
        The cell that gives the verdict.
    claim, check : str
        The claim, and the name of one of its checks.

    Raises
    ------
    SliceError
        If the cell gives no verdict on the claim.
    """
    lines, statements = source.lines_of(cell), source.program.statements
    found = [
        (index, call)
        for index, statement in enumerate(statements)
        if statement.lineno in lines
        for call in ast.walk(statement)
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") in VERDICTS
        and call.args
        and ast.unparse(call.args[0]) == repr(claim)
    ]
    if not found:
        raise SliceError(f"{source.notebook.name}, cell {cell}: no call of verdict on {claim}")
    end, call = found[0]
    candidates = _candidates(call, statements[:end], check)
    if len(candidates) == 1 and not isinstance(candidates[0], ast.Starred):
        wanted: ast.AST = candidates[0]
        last = f"check = {_segment(source.text, wanted)}"
    else:
        wanted = ast.List(candidates, ast.Load())
        inner = ", ".join(_segment(source.text, c) for c in candidates)
        last = f"checks = [{inner}]\ncheck = next(c for c in checks if c.name == {check!r})"
    kept = source.program.slice(wanted, end)
    return f"{_text(kept, statements, source.text)}\n{last}"


def _without_magic(cell: str) -> str:
    return "\n".join("" if line.startswith(("%", "!")) else line for line in cell.split("\n"))


def _segment(source: str, node: ast.AST) -> str:
    """The text of an expression, moved to the left margin."""
    text = ast.get_source_segment(source, node) or ast.unparse(node)
    first, newline, rest = text.partition("\n")
    return first + newline + textwrap.dedent(rest) if newline and not first.strip() else _left(text)


def _left(text: str) -> str:
    """An expression whose lines after the first keep the indentation of a call in a call."""
    first, *rest = text.split("\n")
    spaces = len(rest[-1]) - len(rest[-1].lstrip()) if rest else 0
    return "\n".join(
        [first, *(line[min(spaces, len(line) - len(line.lstrip())) :] for line in rest)]
    )


def _candidates(call: ast.Call, before: Sequence[ast.stmt], check: str) -> list[ast.expr]:
    """The arguments that may be the check: the one that has its name, or all that may have it."""
    given = list(call.args[1:])
    for keyword in call.keywords:
        if keyword.arg == "tested":
            value = keyword.value
            given += value.elts if isinstance(value, ast.List) else [ast.Starred(value, ast.Load())]
    names = [_name(argument, before, check) for argument in given]
    sure = [argument for argument, name in zip(given, names, strict=True) if name == check]
    return sure[:1] or [a for a, name in zip(given, names, strict=True) if name is None]


def _name(node: ast.expr, before: Sequence[ast.stmt], check: str) -> str | None:
    """The name of the check that an expression makes; None where it cannot be read off.

    A function of the notebook may make a name from its first argument, or use it as it is.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Call) and node.args:
        name = _name(node.args[0], before, check)
        return name if name == check or getattr(node.func, "id", "") in KINDS else None
    if isinstance(node, ast.Name):
        for index in range(len(before) - 1, -1, -1):
            statement = before[index]
            if node.id in bound(statement):
                simple = isinstance(statement, ast.Assign) and _is_name(statement.targets[0])
                value = statement.value if simple else None  # type: ignore[attr-defined]
                return _name(value, before[:index], check) if value else None
    return None


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


# --- text ----------------------------------------------------------------------------------------


def _text(kept: Sequence[ast.stmt], program: Sequence[ast.stmt], source: str) -> str:
    """The kept statements as they stand in the source, with the comments right above them."""
    lines = source.split("\n")
    whole = {statement.lineno: statement for statement in program}
    pieces: list[str] = []
    previous: ast.stmt | None = None
    for statement in kept:
        original = whole[statement.lineno]
        first = _first(original)
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        if previous is not None:
            big = any(isinstance(s, ast.FunctionDef | ast.ClassDef) for s in (previous, statement))
            imports = (ast.Import, ast.ImportFrom)
            gap = not (isinstance(statement, imports) and isinstance(previous, imports))
            near = first == (previous.end_lineno or 0) + 1
            pieces += [""] * (2 if big else int(gap and not near))
        if isinstance(statement, ast.Import | ast.ImportFrom):
            pieces += _import(statement)
        else:
            dropped = dict(_dropped(original, statement, lines))
            for number in range(first, (original.end_lineno or first) + 1):
                if number not in dropped:
                    pieces.append(lines[number - 1])
                elif dropped[number]:
                    pieces.append(dropped[number])
        previous = original
    return "\n".join(pieces)


def _first(statement: ast.stmt) -> int:
    """The first line of a statement, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def _import(statement: ast.Import | ast.ImportFrom) -> list[str]:
    line = ast.unparse(statement)
    if len(line) <= WIDTH:
        return [line]
    head, _, names = line.partition(" import ")
    return [f"{head} import (", *(f"    {name}," for name in names.split(", ")), ")"]


def _dropped(
    original: ast.stmt, short: ast.stmt, lines: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """Lines of the original that the short form lacks, with what replaces them."""
    if isinstance(original, ast.FunctionDef | ast.ClassDef) or original is short:
        return
    for field in ("body", "orelse"):
        before, after = getattr(original, field, []), getattr(short, field, [])
        remain = {s.lineno: s for s in after if hasattr(s, "lineno")}
        numbers: list[int] = []
        for statement in before:
            if statement.lineno in remain:
                yield from _dropped(statement, remain[statement.lineno], lines)
            else:
                numbers += range(_first(statement), (statement.end_lineno or 0) + 1)
        if numbers and not remain:
            if field == "body":
                yield numbers[0], f"{' ' * before[0].col_offset}pass"
                numbers = numbers[1:]
            elif not lines[numbers[0] - 1].lstrip().startswith("elif"):  # the else above goes too
                above = numbers[0] - 1
                while not lines[above - 1].lstrip().startswith("else"):
                    above -= 1
                numbers = [*range(above, numbers[0]), *numbers]
        yield from ((number, "") for number in numbers)
