"""A question, and what a calculator returns: an answer with its evidence, or a refusal."""

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from textwrap import wrap
from typing import ClassVar

_WIDTH = 72


@dataclass(frozen=True, kw_only=True, repr=False)
class Question:
    """A question, what its answer rests on, and the numbers that are known so far.

    Parameters
    ----------
    question : str
        In words.
    evidence : tuple of str
        Ids of claims in the ledger.
    chapters : tuple of str
        Keys of the chapters that decide them.
    numbers : dict
        By name; those beside a refusal are bounds and diagnoses, none of them is the answer.
    """

    question: str
    evidence: tuple[str, ...]
    chapters: tuple[str, ...]
    numbers: dict[str, float] = field(default_factory=dict)

    def answer(self, sentence: str, value: float, regime: str) -> "Answer":
        """Answer it."""
        return Answer(**vars(self), sentence=sentence, value=value, regime=regime)

    def refuse(self, reason: str, instead: str, **others: tuple[str, ...]) -> "Refusal":
        """Refuse an answer; `others` are evidence and chapters that are not the question's."""
        return Refusal(**{**vars(self), **others}, reason=reason, instead=instead)

    def _page(self, head: str, name: str, text: str) -> str:
        """Write a reply as lines of at most 72 characters."""
        lines = [*wrap(f"? {self.question}", _WIDTH), *wrap(head, _WIDTH)]
        width = max(map(len, self.numbers), default=0)
        ends = {"at least": lower, "at most": upper, "enough": upper}
        for key, value in self.numbers.items():
            lines.append(
                f"  {key:{width}}  {ends.get(key.rpartition(': ')[2], '{:.4g}'.format)(value)}"
            )
        rest = {name: text, "evidence": ", ".join(self.evidence)}
        rest["chapter"] = ", ".join(self.chapters)
        for label, words in rest.items():
            entry = f"{label}: {words}" if words else ""
            lines += wrap(entry, _WIDTH, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(Question):
    """A number, what it means, where it holds, and what it rests on.

    Parameters
    ----------
    sentence : str
        The answer in one sentence, with the number and what it is a number of.
    value : float
        The number itself.
    regime : str
        The conditions under which it holds.
    """

    sentence: str
    value: float
    regime: str
    refused: ClassVar[bool] = False

    def __repr__(self) -> str:
        return self._page(self.sentence, "holds for", self.regime)


@dataclass(frozen=True, kw_only=True, repr=False)
class Refusal(Question):
    """Why there is no number, what is known all the same, and what to do instead.

    Parameters
    ----------
    reason : str
        Which condition fails.
    instead : str
        What to do.
    """

    reason: str
    instead: str
    refused: ClassVar[bool] = True

    def __repr__(self) -> str:
        return self._page(f"REFUSED: {self.reason}", "instead", self.instead)


def upper(value: float, digits: int = 4) -> str:
    """Return a bound from above in few digits, rounded up."""
    return f"{Context(digits, ROUND_CEILING).create_decimal(repr(float(value))).normalize():f}"


def lower(value: float, digits: int = 4) -> str:
    """Return a bound from below in few digits, rounded down."""
    return f"{Context(digits, ROUND_FLOOR).create_decimal(repr(float(value))).normalize():f}"
