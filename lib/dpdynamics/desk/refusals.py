"""Refusals that several calculators share."""

from .answers import Refusal


def visible_delta(question: str, delta: float, samples: int) -> Refusal | None:
    """Refuse a delta that allows to publish records outright: from 1 / n on."""
    if delta * samples < 1:
        return None
    return Refusal(
        question,
        f"delta = {delta:g} is not below 1/n = {1 / samples:.2g}: a mechanism that publishes each "
        "record with probability delta, and so one record or more on average, would pass",
        "take delta well below 1/n",
        {"delta times n": delta * samples},
        ("anon2025.def3.2",),
        ("privacy_as_divergence", "foundations_lemmas"),
    )


def unknown_batches(question: str, numbers: dict[str, float] | None = None) -> Refusal:
    """Refuse an epsilon without a sampling scheme."""
    return Refusal(
        question,
        "without the way in which the batches were drawn there is no epsilon: the same noise has "
        "very different values for Poisson samples, fixed-size batches and shuffled epochs",
        "read the data loader; where it shuffles, account for shuffled epochs",
        numbers or {},
        ("anon2025.thm3.1", "wang2026.thmF.8"),
        ("accounting", "correlated_noise"),
    )
