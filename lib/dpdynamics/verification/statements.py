"""A statement as a function, its cases as data, its wrong versions as changed keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arguments import Array

Statement = Callable[..., Any]


def stated(
    statement: Statement,
    cases: Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    corrected: Mapping[str, Any] | Statement | None = None,
    controls: Mapping[str, Any],
    where: Sequence[str] = (),
) -> dict[str, Any]:
    """Evaluate a statement and its wrong versions: the keywords ``printed`` and so on of a check.

    Parameters
    ----------
    statement : callable
        The statement as printed, a function of one case that gives a number or an array. What a
        control changes is a keyword of it, with the printed value as its default.
    cases : iterable, or mapping of str to array_like, optional
        Of an iterable each item is a case: a tuple holds its arguments in order, a mapping holds
        them by name, anything else is the only argument. A mapping holds all cases as arrays by
        name, for a vectorised statement, which is evaluated once. Without cases the statement has
        no arguments.
    corrected : mapping or callable, optional
        The keywords that differ where the printed statement is wrong, or another function.
    controls : mapping of words to mapping, callable or values
        Keywords that differ from the corrected statement where there is one, else from the printed
        one; another function; or what the check takes itself, :func:`instead` for example.
    where : sequence of str, optional
        Arguments of the statement, numbers, that name a case in the evidence.

    Returns
    -------
    dict
        ``printed``, ``corrected``, ``controls``, each with a row for each case unless the statement
        is evaluated once; ``where`` if asked for.
    """
    if not callable(statement):
        raise ValueError(f"statement must be a function of one case, got {statement!r}")
    if not isinstance(controls, Mapping):
        raise ValueError(f"controls must map words to changed keywords, got {controls!r}")
    if isinstance(cases, str) or not isinstance(cases, Iterable | None):
        raise ValueError(f"cases must be a sequence of cases, got {cases!r}")
    given = {} if cases is None else cases
    once = isinstance(given, Mapping)
    calls = [_arguments(case) for case in ([given] if once else given)]
    if not calls:
        raise ValueError("cases must hold at least one case")

    def values(whose: str, function: Statement, changed: Mapping[str, Any]) -> Array:
        for args, named in calls:
            _bind(whose, function, args, {**named, **changed})
        rows = [np.asarray(function(*args, **{**named, **changed})) for args, named in calls]
        return rows[0] if once else np.array(rows)

    sound: tuple[Statement, Mapping[str, Any]] = statement, {}
    if callable(corrected):
        sound = corrected, {}
    elif isinstance(corrected, Mapping):
        sound = statement, corrected
    elif corrected is not None:
        raise ValueError(f"corrected must be changed keywords or a function, got {corrected!r}")

    def control(whose: str, given: Any) -> Any:
        if isinstance(given, Mapping):
            return values(whose, sound[0], {**sound[1], **given})
        return values(whose, given, {}) if callable(given) else given

    found = {
        "printed": values("statement", statement, {}),
        "corrected": None if corrected is None else values("corrected", *sound),
        "controls": {words: control(f"controls[{words!r}]", c) for words, c in controls.items()},
    }
    if where:
        bound = [_bind("statement", statement, *call) for call in calls]
        for name in where:
            if not all(name in arguments for arguments in bound):
                raise ValueError(f"where must name arguments of the cases, got {name!r}")
        grids = {name: [arguments[name] for arguments in bound] for name in where}
        found["where"] = {name: grid[0] if once else np.array(grid) for name, grid in grids.items()}
    return found


def _arguments(case: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a case, in order and by name."""
    if isinstance(case, Mapping):
        return (), dict(case)
    return (case if isinstance(case, tuple) else (case,)), {}


def _bind(
    whose: str, function: Statement, args: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by name; a call that does not fit is refused."""
    try:
        return dict(inspect.signature(function).bind(*args, **named).arguments)
    except (TypeError, ValueError) as error:  # ValueError: a function without a signature
        raise ValueError(f"{whose} does not take these arguments: {error}") from None
