"""Refusals that several calculators share."""

from collections.abc import Callable
from math import floor, log10, sqrt

from ..divergence import gaussian_epsilon, gaussian_noise_multiplier
from .answers import Question, Refusal, upper


def always(
    *,
    delta: float,
    steps: int,
    relation: str,
    noise: float | None = None,
    epsilon: float | None = None,
) -> str:
    """Say what may be quoted, or which noise is enough, however the batches are drawn.

    Plain Gaussian releases of all steps, as if each record took part in each.
    """
    whole = (2.0 if relation == "replace" else 1.0) * sqrt(steps)
    where = (
        f"at delta = {delta:g} for {steps} steps, however the batches are drawn, "
        "if none holds a record twice"
    )
    enough = whole * float(
        gaussian_noise_multiplier(epsilon=10.0 if epsilon is None else epsilon, delta=delta)
    )
    if epsilon is not None:
        return f"noise {upper(enough)} is enough {where}"
    if not noise:
        return f"from noise {upper(enough, 3)} on, epsilon 10 may be quoted {where}"
    found = float(gaussian_epsilon(mu=whole / noise, delta=delta))
    weak = f"; epsilon 10 takes noise {upper(enough, 3)} without amplification"
    return f"quote {upper(found, 3)}, which holds {where}{weak if found > 100 else ''}"


def visible_delta(
    question: Question, delta: float, samples: int, instead: Callable[[float], str] | None = None
) -> Refusal | None:
    """Refuse a delta that allows to publish records outright: from 1 / n on.

    `instead` says what may be quoted at a smaller one.
    """
    if delta * samples < 1:
        return None
    quoted = f": {instead(10.0 ** floor(log10(0.1 / samples)))}" if instead else ""
    question.numbers["delta times n"] = delta * samples
    return question.refuse(
        f"delta = {delta:g} is not below 1/n = {1 / samples:.2g}: a mechanism that publishes each "
        "record with probability delta, and so one record or more on average, would pass",
        f"take delta well below 1/n{quoted}",
        evidence=("anon2025.def3.2",),
        chapters=("privacy_as_divergence", "foundations_lemmas"),
    )


def unknown_batches(question: Question, instead: str) -> Refusal:
    """Refuse an epsilon without a sampling scheme."""
    return question.refuse(
        "without the way in which the batches were drawn there is no epsilon: the same noise has "
        "very different values for Poisson samples, fixed-size batches and shuffled epochs",
        f"read the data loader; until you know, {instead}",
    )
