"""What the desk's words for batches and neighbours stand for: the one place where they are decided.

But for Poisson samples the number of records is public, and "add_remove"
is read as "zero_out".
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import ceil, floor
from typing import Any

from ..accounting import FixedSize, Poisson, Shuffled
from ..arguments import one_of, whole
from .answers import Question
from .bins import EpochsOfBins

Drawn = Poisson | FixedSize | Shuffled | EpochsOfBins

SAMPLINGS = ("poisson", "fixed", "shuffled", "bins", "unknown")
NEIGHBOURS = {
    "add_remove": "one record added or removed",
    "zero_out": "the contributions of one record zeroed out or put back",
    "replace": "one record replaced by another",
}
EVIDENCE = {  # claims of the ledger; the others rest on propositions of the chapter
    **dict.fromkeys(SAMPLINGS, ()),
    "shuffled": ("wang2026.lemD.4", "wang2026.lemD.6"),
}
CHAPTERS = {
    **dict.fromkeys(SAMPLINGS, ("accounting",)),
    "shuffled": ("accounting", "privacy_as_divergence", "conversions"),
}


def question_of(words: str, sampling: str, full: bool) -> Question:
    """Return a question about batches, which all are one way of sampling where they are `full`."""
    word = one_of("sampling", sampling, SAMPLINGS)
    word = "poisson" if full and word != "unknown" else word
    return Question(question=words, evidence=EVIDENCE[word], chapters=CHAPTERS[word])


def batches_of(
    *, batch_size: int, samples: int, steps: int, relation: str, runs: int = 1
) -> dict[str, Drawn]:
    """Return the run that each word stands for; all are one where a batch holds all records."""
    size, n = whole("batch_size", batch_size, 1), whole("samples", samples, 2)
    if size > n:
        raise ValueError(f"batch_size must be at most samples = {n}, got {batch_size}")
    steps, runs = whole("steps", steps, 1), whole("runs", runs, 1)
    one_of("relation", relation, tuple(NEIGHBOURS))
    total = steps * runs
    poisson = Poisson(sampling_probability=size / n, steps=total, relation=relation)
    if size == n:
        return dict.fromkeys(SAMPLINGS[:-1], poisson)
    near = "replace" if relation == "replace" else "zero_out"
    sizes = {"batch_size": size, "samples": n}
    return {
        "poisson": poisson,
        "fixed": FixedSize(**sizes, steps=total, relation=near),
        "shuffled": Shuffled(**sizes, steps=steps, runs=runs, relation=near),
        "bins": EpochsOfBins(batches=n // size, steps=steps, runs=runs, relation=near),
    }


def every_scheme(
    known: dict[str, Any], word: str, value: Callable[[Drawn], float]
) -> dict[str, float]:
    """Return what is guaranteed under every scheme, where there is a value.

    Steps that make whole epochs of n / B, rounded up, are so many epochs under every scheme.
    """
    found, share = {}, known["poisson"].sampling_probability
    for name, run in known.items():
        case = f"if {name}"
        if isinstance(run, Shuffled | EpochsOfBins):
            inside = run.batches if isinstance(run, EpochsOfBins) else run.samples // run.batch_size
            epochs = floor(run.steps * share * (1 + 1e-12))
            if ceil(epochs / share * (1 - 1e-12)) != run.steps:
                epochs = ceil(run.steps / inside)
            run = replace(run, steps=epochs * inside)
            case += f", {run.runs * epochs} epochs begun"
        with suppress(ArithmeticError, ValueError):
            found[f"{case}: {word}"] = value(run)
    return found
