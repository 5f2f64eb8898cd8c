"""A question, and what a calculator returns: an answer with its evidence, or a refusal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from textwrap import wrap
from typing import ClassVar

_WIDTH = 72


@dataclass(frozen=True, repr=False)
class Answer:
    """A number, what it means, where it holds, and what it rests on.

    Parameters
    ----------
    question : str
        The question that was asked, in words.
    sentence : str
        The answer in one sentence, with the number and what it is a number of.
    value : float
        The number itself.
    regime : str
        The conditions under which it holds.
    numbers : mapping
        Other numbers, by name.
    evidence : tuple of str
        Ids of claims in the ledger.
    chapters : tuple of str
        Keys of the chapters that decide them.
    """

    question: str
    sentence: str
    value: float
    regime: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    refused: ClassVar[bool] = False

    def __repr__(self) -> str:
        return _page(self.question, self.sentence, self, ("holds for", self.regime))


@dataclass(frozen=True, repr=False)
class Refusal:
    """Why there is no number, what is known all the same, and what to do instead.

    Parameters
    ----------
    question, numbers, evidence, chapters
        As in `Answer`; the numbers are bounds and diagnoses, none of them is the answer.
    reason : str
        Which condition fails.
    instead : str
        What to do.
    """

    question: str
    reason: str
    instead: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    refused: ClassVar[bool] = True

    def __repr__(self) -> str:
        return _page(self.question, f"REFUSED: {self.reason}", self, ("instead", self.instead))


@dataclass(frozen=True)
class Question:
    """What is asked, what the answer will rest on, and the numbers that are known so far."""

    words: str
    evidence: tuple[str, ...]
    chapters: tuple[str, ...]
    numbers: dict[str, float] = field(default_factory=dict)

    def answer(self, sentence: str, value: float, regime: str) -> Answer:
        """Answer it."""
        rest = self.numbers, self.evidence, self.chapters
        return Answer(self.words, sentence, value, regime, *rest)

    def refuse(
        self,
        reason: str,
        instead: str,
        evidence: tuple[str, ...] | None = None,
        chapters: tuple[str, ...] | None = None,
    ) -> Refusal:
        """Refuse an answer; the evidence and the chapters are the question's unless given."""
        rest = (
            self.evidence if evidence is None else evidence,
            self.chapters if chapters is None else chapters,
        )
        return Refusal(self.words, reason, instead, self.numbers, *rest)


def _page(question: str, head: str, reply: Answer | Refusal, last: tuple[str, str]) -> str:
    """Write a reply as lines of at most 72 characters."""
    lines = [*wrap(f"? {question}", _WIDTH), *wrap(head, _WIDTH)]
    width = max((len(name) for name in reply.numbers), default=0)
    lines += [f"  {name:{width}}  {value:.4g}" for name, value in reply.numbers.items()]
    rest = [last, ("evidence", ", ".join(reply.evidence)), ("chapter", ", ".join(reply.chapters))]
    for name, text in rest:
        if text:
            lines += wrap(f"{name}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def upper(value: float, digits: int = 4) -> str:
    """Return a bound from above in few digits, rounded up."""
    return f"{Context(digits, ROUND_CEILING).create_decimal(repr(float(value))).normalize():f}"


def lower(value: float, digits: int = 4) -> str:
    """Return a bound from below in few digits, rounded down."""
    return f"{Context(digits, ROUND_FLOOR).create_decimal(repr(float(value))).normalize():f}"
