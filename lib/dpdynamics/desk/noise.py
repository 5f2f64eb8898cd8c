"""How much noise a budget needs."""

from contextlib import suppress

from ..accounting import Bracket, Poisson
from ..accounting.poisson import bounded
from ..accounting.runs import least_noise
from ..arguments import fraction, positive
from .accountants import ACCOUNTANTS, Accountant
from .answers import Answer, Refusal, upper
from .batches import NEIGHBOURS, Drawn, batches_of, every_scheme, question_of
from .refusals import always, unknown_batches, visible_delta

_WORDS = {
    "poisson": "exact profile of the composition",
    "fixed": "steps of fixed size against an adversary (enough, not exact)",
    "shuffled": "plain Gaussian releases, no amplification (enough, not exact)",
    "bins": "one epoch exactly, several composed (enough, not exact)",
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
    sampling : {"poisson", "fixed", "shuffled", "bins", "unknown"}
        "fixed" is a fresh sample of B records without replacement, "shuffled" any order of
        epochs, "bins" one random batch of floor(n/B) for each record and epoch (balls and bins),
        "unknown" is refused, with what is enough under each.
    relation : {"add_remove", "zero_out", "replace"}
        But for Poisson samples the first stands for zeroing a record out.

    Returns
    -------
    Answer or Refusal
        The value is the noise multiplier: standard deviation of the noise on the clipped sum over
        the clip norm. Exact for Poisson sampling, but for a few steps at a tiny sampling
        probability; otherwise enough, and no more is known.

    Examples
    --------
    >>> reply = required_noise(
    ...     epsilon=2.0, delta=1e-6, samples=50_000, batch_size=500, steps=3000
    ... )
    >>> round(reply.value, 3)
    1.433
    """
    epsilon, delta = positive("epsilon", epsilon), fraction("delta", delta)
    runs = batches_of(batch_size=batch_size, samples=samples, steps=steps, relation=relation)
    words = f"Which noise multiplier gives ({epsilon:g}, {delta:g})?"
    question = question_of(words, sampling, full=batch_size == samples)

    def instead(delta: float) -> str:
        return always(delta=delta, steps=steps, relation=relation, epsilon=epsilon)

    def smaller(delta: float) -> str:
        if sampling == "unknown":
            return instead(delta)
        reply = required_noise(
            epsilon=epsilon, delta=delta, samples=samples, batch_size=batch_size, steps=steps,
            sampling=sampling, relation=relation,
        )  # fmt: skip
        if isinstance(reply, Refusal):
            return reply.instead
        return f"noise {upper(reply.value)} is enough at delta = {delta:g}"

    if refusal := visible_delta(question, delta, samples, smaller):
        return refusal
    if sampling == "unknown":
        enough = every_scheme(runs, "enough", lambda run: _enough(run, epsilon, delta)[0])
        question.numbers.update(enough)
        return unknown_batches(question, instead(delta))
    run = runs[sampling]
    try:
        noise, exact = _enough(run, epsilon, delta)
    except (ArithmeticError, ValueError) as error:
        question.numbers["sampling probability"] = batch_size / samples
        return question.refuse(
            f"the accountant gives no number here: {error}",
            f"use Renyi accounting, which is valid and looser: {instead(delta)}",
        )
    method = _WORDS["poisson" if exact else sampling]
    if isinstance(run, Poisson) and not exact:
        method = "bounds on a mesh (enough, not exact)"
    if isinstance(run, Poisson) and relation != "replace":
        question.numbers.update(_others(epsilon, delta, run, noise))
    return question.answer(
        f"Noise multiplier {upper(noise)}: standard deviation {upper(noise)} times the clip norm "
        f"on every clipped sum; {method}.",
        noise,
        f"DP-SGD and every method that uses only its noisy sums; {sampling} batches; "
        f"{NEIGHBOURS[run.relation]}; all {steps} sums released; one run",
    )


def _enough(run: Drawn, epsilon: float, delta: float) -> tuple[float, bool]:
    """Return a noise multiplier that is enough, and whether it is exact."""
    try:
        found = run.noise_for(epsilon=epsilon, delta=delta)
    except ArithmeticError:
        if not isinstance(run, Poisson):
            raise

        def excess(noise: float) -> float:
            return bounded(run, noise, delta, 1) - epsilon

        return least_noise(excess, 1.0, tolerance=1e-4), False
    return (float(found.upper), False) if isinstance(found, Bracket) else (found, True)


def _others(epsilon: float, delta: float, run: Poisson, near: float) -> dict[str, float]:
    """Return what other accountants ask for; those that ask for next to nothing are left out."""
    found = {}
    for name, accountant in ACCOUNTANTS.items():

        def excess(noise: float, reported: Accountant = accountant) -> float:
            return reported(noise, run.sampling_probability, run.steps, delta) - epsilon

        with suppress(ArithmeticError):
            found[name] = least_noise(excess, near, tolerance=1e-6, reach=6.0)
    return found
