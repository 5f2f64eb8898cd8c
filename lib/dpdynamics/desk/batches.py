"""What the desk's words for batches and neighbours stand for: the one place where they are decided.

But for Poisson samples the number of records is public, and "add_remove"
is read as "zero_out".
"""

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
EVIDENCE = {
    "poisson": ("anon2025.thm3.1",),
    "fixed": ("wang2026.lemD.7", "wang2026.eq19"),
    "shuffled": ("wang2026.lemD.4", "wang2026.lemD.6"),
    "bins": ("wang2026.lemD.4", "wang2026.lemD.6"),
    "unknown": ("anon2025.thm3.1", "wang2026.thmF.8"),
}
CHAPTERS = {
    "poisson": ("accounting",),
    "fixed": ("accounting",),
    **dict.fromkeys(("shuffled", "bins"), ("accounting", "privacy_as_divergence", "conversions")),
    "unknown": ("accounting", "correlated_noise"),
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
