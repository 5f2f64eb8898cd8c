"""Statements about finitely many real numbers: proved for a whole box, or by exact algebra."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import flint
import numpy as np

from ..arguments import whole
from .evidence import UNDECIDED, Check, Comparison, judged
from .trial import put_to_test

Statement = Callable[..., Any]
Changed = Mapping[str, Any] | Statement
Box = Mapping[str, tuple[flint.fmpq, flint.fmpq]]
Sides = tuple[flint.arb, flint.arb]

BALLS = 20_000  # the most pieces of a box for one statement


def certified(
    name: str,
    *,
    statement: Statement,
    over: Mapping[str, tuple[Any, Any]] | Iterable[str] | None = None,
    corrected: Changed | None = None,
    controls: Mapping[str, Changed],
    precision: int = 128,
) -> Check:
    """Prove a strict inequality at every point of a box, or an identity by exact algebra.

    Ball arithmetic (python-flint) returns balls that contain the true value for every choice of
    the arguments in their balls. The box is halved until the left side lies below the right side
    on each piece; one rational point at which the left side is certain to be the larger refutes
    the statement. What is neither proved nor refuted leaves the check undecided: also an inequality
    with equality somewhere, from which the factor that vanishes there must be divided out.

    Parameters
    ----------
    statement : callable
        Takes the variables by name. For an inequality it returns a pair (left, right) of
        ``flint.arb``, or a list of pairs that must all hold; the right side must be positive. For
        an identity it returns the difference of both sides, ``flint.fmpq_mpoly`` or
        ``flint.fmpq``, or a list. What a control changes is a keyword with the printed value as
        its default.
    over : mapping of str to pair (low, high), or iterable of str, optional
        The box of an inequality: integers, fractions, decimal strings, or floats, which are read
        as the decimals that they print. Or the names of the indeterminates of an identity. Without
        it an inequality between constants.
    corrected, controls : mapping or callable
        Changed keywords (of the corrected statement where there is one), or another function.
    precision : int
        Bits of the arithmetic, at least 53.
    """
    whole("precision", precision, 53)
    if isinstance(over, str) or not isinstance(over, Iterable | None):
        raise ValueError(f"over must be a box or names of indeterminates, got {over!r}")
    names = () if over is None else tuple(over)

    def read(argument: str, given: Changed) -> Statement:
        sound = statement
        if argument.startswith("controls") and corrected is not None:
            sound = read("corrected", corrected)
        if isinstance(given, Mapping):
            function: Statement = partial(sound, **given) if given else sound
        else:
            function = given
        try:
            inspect.signature(function).bind(**dict.fromkeys(names))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{argument} must be a function of {names}: {error}") from None
        return function

    with flint.ctx.workprec(precision):
        if over is None or isinstance(over, Mapping):
            box = {key: _ends(key, ends) for key, ends in (over or {}).items()}
            sizes = {"balls": 0}
            compare = partial(_cover, box, sizes)
            test = f"left side < right side, in balls of {precision} bits that cover the box"
            numbers: dict[str, Any] = {
                "box": {key: [_float(end) for end in ends] for key, ends in box.items()}
            }
        else:
            sizes = {}
            compare = partial(_vanish, names)
            test = "the difference of both sides vanishes, in exact rational algebra"
            numbers = {"indeterminates": list(names)}
        return put_to_test(
            name,
            "certified",
            np.zeros(0),
            (statement, corrected, controls),
            compare=compare,
            read=read,
            as_array=lambda function: np.array([repr(function)]),
            test=test,
            sizes=sizes,
            numbers=numbers,
        )


def _cover(box: Box, sizes: dict[str, int], label: str, _: Any, statement: Statement) -> Comparison:
    """Halve a box along its relatively widest side until every piece decides; count the pieces."""
    pieces, ratio, before = [tuple(box.values())], 0.0, sizes["balls"]
    widths = [high - low for low, high in box.values()]
    while pieces:
        piece = pieces.pop()
        sizes["balls"] += 1
        middle = [(low + high) / 2 for low, high in piece]
        inside = _sides(label, statement, box, [flint.arb(value) for value in middle])
        balls = [flint.arb(low).union(flint.arb(high)) for low, high in piece]
        around = _sides(label, statement, box, balls)
        if all(left < right and right > 0 for left, right in around):
            ratio = max(ratio, *(_float(left / right) for left, right in inside))
            continue
        place = {key: _float(value) for key, value in zip(box, middle, strict=True)}
        for left, right in inside:
            if left > right:
                excess = _float(left / right) if right > 0 else np.inf
                place |= {"left": _float(left), "right": _float(right)}
                return judged(label, max(excess, 1 + np.finfo(float).eps), place)
        parts = [
            (high - low) / width if width else width
            for (low, high), width in zip(piece, widths, strict=True)
        ]
        widest = max(parts, default=None)
        if not widest or sizes["balls"] - before >= BALLS:
            return Comparison(label, 1.0, UNDECIDED, worst=place)
        k = parts.index(widest)
        (low, high), half = piece[k], middle[k]
        pieces += [(*piece[:k], part, *piece[k + 1 :]) for part in ((low, half), (half, high))]
    return judged(label, min(ratio, 1.0), {"balls": sizes["balls"] - before})


def _sides(label: str, statement: Statement, box: Box, values: list[flint.arb]) -> list[Sides]:
    given = statement(**dict(zip(box, values, strict=True)))
    pairs = given if isinstance(given, list) else [given]
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise ValueError(f"{label}: a statement must return (left, right), got {pair!r}")
    return [(flint.arb(left), flint.arb(right)) for left, right in pairs]


def _vanish(names: tuple[str, ...], label: str, _: Any, statement: Statement) -> Comparison:
    """See whether polynomials over the rationals, in these indeterminates, are zero."""
    ring = flint.fmpq_mpoly_ctx.get(names, "lex")
    given = statement(**dict(zip(names, ring.gens(), strict=True)))
    terms = given if isinstance(given, list) else [given]
    for term in terms:
        if not isinstance(term, flint.fmpq_mpoly | flint.fmpq | flint.fmpz | int):
            raise ValueError(f"{label}: a statement must return polynomials, got {term!r}")
    wrong = [str(term) for term in terms if term != 0]
    if wrong:
        return judged(label, np.inf, {"difference": wrong[0][:200]})
    return judged(label, 0.0, {})


def _ends(name: str, ends: Any) -> tuple[flint.fmpq, flint.fmpq]:
    """Read an interval of rationals."""
    try:
        low, high = (Fraction(str(end)) for end in ends)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"over[{name!r}] must be a pair (low, high) of rationals: {error}"
        ) from None
    if low > high:
        raise ValueError(
            f"over[{name!r}] must be a pair (low, high) with low <= high, got {ends!r}"
        )
    return flint.fmpq(low.numerator, low.denominator), flint.fmpq(high.numerator, high.denominator)


def _float(value: flint.arb | flint.fmpq) -> float:
    """The middle of a ball, or a rational, as a float."""
    return float(flint.arb(value).mid())
