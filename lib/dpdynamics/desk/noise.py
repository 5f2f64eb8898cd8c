"""How much noise a budget needs."""

from math import ceil, inf, sqrt

import numpy as np

from ..accounting import calibrate_noise_multiplier, gaussian_noise_multiplier
from ..arguments import fraction, one_of, positive, whole
from ..kan import certified_noise
from .accountants import ACCOUNTANTS, multiplier
from .answers import Answer, Refusal
from .batches import RELATIONS
from .refusals import unknown_batches, visible_delta

SAMPLINGS = ("poisson", "fixed", "shuffled", "unknown")
EVIDENCE = {
    "poisson": ("anon2025.thm3.1",),
    "fixed": ("wang2026.lemD.7", "wang2026.eq19"),
    "shuffled": ("wang2026.lemD.4", "wang2026.lemD.6"),
}
CHAPTERS = {
    "poisson": ("accounting",),
    "fixed": ("accounting",),
    "shuffled": ("accounting", "privacy_as_divergence", "conversions"),
}
NEIGHBOURS = {
    "add_remove": "one record added or removed",
    "replace": "one record replaced by another",
}


def required_noise(
    *,
    epsilon: float,
    delta: float,
    samples: int,
    batch_size: int,
    steps: int,
    sampling: str = "poisson",
    relation: str = "add_remove",
) -> Answer | Refusal:
    """Compute the noise multiplier that a budget needs, and what other accountants would ask.

    Parameters
    ----------
    epsilon : float
        Positive.
    delta : float
        In (0, 1).
    samples, batch_size : int
        n and B, the expected size for Poisson sampling; B <= n.
    steps : int
        Number of noisy sums that are released, at least 1.
    sampling : {"poisson", "fixed", "shuffled", "unknown"}
        "fixed" is a fresh sample of B records without replacement, "shuffled" any order of
        epochs, "unknown" is refused.
    relation : {"add_remove", "replace"}
        With fixed-size and shuffled batches the first stands for zeroing a record out.

    Returns
    -------
    Answer or Refusal
        The value is the noise multiplier: standard deviation of the noise on the clipped sum over
        the clip norm. Exact for Poisson sampling, otherwise enough, and no more is known.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> reply = required_noise(
    ...     epsilon=2.0, delta=1e-6, samples=50_000, batch_size=500, steps=3000
    ... )
    >>> round(reply.value, 3)
    1.433
    """
    epsilon, delta = positive("epsilon", epsilon), fraction("delta", delta)
    n, count = whole("samples", samples, 2), whole("steps", steps, 1)
    batch = whole("batch_size", batch_size, 1)
    if batch > n:
        raise ValueError(f"batch_size must be at most samples = {n}, got {batch_size}")
    one_of("sampling", sampling, SAMPLINGS)
    one_of("relation", relation, RELATIONS)
    question = f"Which noise multiplier gives ({epsilon:g}, {delta:g})?"
    refusal = visible_delta(question, delta, n)
    if refusal is not None:
        return refusal
    if sampling == "unknown":
        return unknown_batches(question)
    exact = sampling == "poisson" or batch == n
    numbers: dict[str, float] = {}
    q, shift = batch / n, 2.0 if relation == "replace" else 1.0
    if exact:
        try:
            noise = calibrate_noise_multiplier(
                epsilon=epsilon,
                delta=delta,
                sampling_probability=q,
                steps=count,
                relation=relation,
            )
        except (ArithmeticError, ValueError) as error:
            return Refusal(
                question,
                f"the exact accountant gives no number here: {error}",
                "use Renyi accounting, which is valid and looser, or a budget of usual size",
                {"sampling probability": q},
                ("anon2025.thm3.1",),
                ("accounting",),
            )
        numbers = _others(epsilon, delta, q, count, noise) if relation == "add_remove" else {}
        words = "exact profile of the composition"
    elif sampling == "fixed":
        noise = shift * sqrt(count) * float(gaussian_noise_multiplier(epsilon=epsilon, delta=delta))
        words = f"{count} plain Gaussian releases, no amplification (enough, not exact)"
        amplified = _fixed(epsilon, delta, batch, n, count)
        if amplified < noise:
            noise = amplified
            words = "exact step without replacement, Renyi composition (enough, not exact)"
    else:
        epochs = ceil(count / (n // batch))
        noise = (
            shift * sqrt(epochs) * float(gaussian_noise_multiplier(epsilon=epsilon, delta=delta))
        )
        words = f"{epochs} plain Gaussian releases, no amplification (enough, not exact)"
    return Answer(
        question,
        f"Noise multiplier {noise:.4g}: standard deviation {noise:.4g} times the clip norm on "
        f"every clipped sum; {words}.",
        noise,
        f"DP-SGD and every method that uses only its noisy sums; {sampling} batches; "
        f"{NEIGHBOURS[relation]}; all {count} sums released; one run",
        numbers,
        EVIDENCE["poisson" if exact else sampling],
        CHAPTERS["poisson" if exact else sampling],
    )


def _fixed(epsilon: float, delta: float, batch: int, samples: int, steps: int) -> float:
    """Return the certified multiplier for batches of fixed size, inf if the search fails."""
    try:
        with np.errstate(over="ignore"):
            found = certified_noise(
                epsilon=epsilon,
                delta=delta,
                sampling="fixed",
                batch_size=batch,
                samples=samples,
                steps=steps,
            )
    except (ArithmeticError, ValueError):
        return inf
    return float(found.noise_multiplier)


def _others(epsilon: float, delta: float, q: float, steps: int, near: float) -> dict[str, float]:
    """Return what other accountants ask for; those that ask for next to nothing are left out."""
    found = {}
    for name, accountant in ACCOUNTANTS.items():
        try:
            found[name] = multiplier(
                accountant, epsilon=epsilon, q=q, steps=steps, delta=delta, near=near
            )
        except ArithmeticError:
            continue
    return found
