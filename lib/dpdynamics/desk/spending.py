"""What epsilon a recipe really buys."""

from math import inf

from ..accounting import Bracket, Poisson
from ..accounting.poisson import bounded
from ..arguments import fraction, nonnegative, positive, whole
from ..divergence import gaussian_epsilon
from .answers import Answer, Question, Refusal, lower, upper
from .batches import NEIGHBOURS, Drawn, batches_of, every_scheme, question_of
from .recipes import Recipe
from .refusals import always, unknown_batches, visible_delta

_FAINTEST = 0.05  # less noise hides nothing: refused before any accounting


def spent_epsilon(
    *,
    noise_multiplier: float,
    batch_size: int,
    samples: int,
    steps: int,
    delta: float,
    sampling: str = "poisson",
    relation: str = "add_remove",
    clipped: bool = True,
    runs: int = 1,
) -> Answer | Refusal:
    """Compute the epsilon of a run from what was really done.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation on the clipped sum over the clip norm; nonnegative.
    batch_size, samples, steps, delta, sampling, relation
        As in `required_noise`.
    clipped : bool
        Whether every record's gradient is at most the clip norm, by clipping or by the loss itself.
        Without such a bound there is no epsilon.
    runs : int
        Number of trainings on the same data whose results were looked at; all are paid for.

    Returns
    -------
    Answer or Refusal
        The value is an epsilon that is guaranteed. It is exact for Poisson sampling; for other
        batches, and for a few steps at a tiny sampling probability, "at least" and "at most" among
        the numbers enclose the truth. Where they are more than a factor four apart nothing useful
        is known, and the recipe is refused, with both.

    Examples
    --------
    >>> recipe = {"noise_multiplier": 1.0, "batch_size": 500, "samples": 50_000, "steps": 3000}
    >>> round(spent_epsilon(delta=1e-6, **recipe).value, 3)
    3.625
    >>> spent_epsilon(delta=1e-6, sampling="shuffled", relation="replace", **recipe).refused
    True
    """
    noise = nonnegative("noise_multiplier", noise_multiplier)
    if noise > 0:
        positive("noise_multiplier", noise)
    delta, total = fraction("delta", delta), whole("steps", steps, 1) * whole("runs", runs, 1)
    known = batches_of(
        batch_size=batch_size, samples=samples, steps=steps, relation=relation, runs=runs
    )
    words = f"Which epsilon, at delta = {delta:g}, does noise {noise:g} buy?"
    question = question_of(words, sampling, full=batch_size == samples)

    def instead(delta: float) -> str:
        return always(delta=delta, steps=total, relation=relation, noise=noise)

    def smaller(delta: float) -> str:
        if sampling == "unknown":
            return instead(delta)
        reply = spent_epsilon(
            noise_multiplier=noise, batch_size=batch_size, samples=samples, steps=steps,
            delta=delta, sampling=sampling, relation=relation, clipped=clipped, runs=runs,
        )  # fmt: skip
        if isinstance(reply, Refusal):
            return reply.instead
        return f"quote {upper(reply.value, 3)} at delta = {delta:g}"

    refusal = _hopeless(question, noise, clipped, delta, instead(delta)) or visible_delta(
        question, delta, samples, smaller
    )
    if refusal:
        return refusal
    if sampling == "unknown":
        at_most = every_scheme(known, "at most", lambda run: _spent(run, noise, delta)[1])
        question.numbers.update(at_most)
        return unknown_batches(question, instead(delta))
    try:
        low, high = _spent(known[sampling], noise, delta)
    except ArithmeticError as error:
        return question.refuse(
            f"the accountant does not reach its accuracy: {error}",
            f"use Renyi accounting, which is valid and looser: {instead(delta)}",
        )
    if low != high:
        question.numbers.update({"at least": low, "at most": high})
    regime = (
        f"DP-SGD and every method that uses only its noisy sums; {sampling} batches; "
        f"{NEIGHBOURS[known[sampling].relation]}; all {total} sums released"
    )
    if high > 4 * low:
        return question.refuse(
            f"only bounds are known for {sampling} batches, here from {lower(low, 3)} to "
            f"{upper(high, 3)}",
            f"quote {upper(high, 3)} at delta = {delta:g}, which is guaranteed, or draw Poisson "
            "samples",
        )
    return question.answer(
        f"epsilon = {upper(high)}, exact and rounded up."
        if low == high
        else f"epsilon = {upper(high)} is guaranteed, and no value below {lower(low)} is true.",
        high,
        regime,
    )


def recipe_epsilon(
    recipe: Recipe, *, sampling: str | None = None, relation: str = "add_remove"
) -> Answer | Refusal:
    """Compute the epsilon of a published recipe.

    Parameters
    ----------
    recipe : Recipe
    sampling : str, optional
        By default the way in which its batches were drawn; any of `required_noise`.
    relation : {"add_remove", "zero_out", "replace"}

    Returns
    -------
    Answer or Refusal
        As `spent_epsilon`.

    Examples
    --------
    >>> from dpdynamics.desk import PUBLISHED
    >>> first = PUBLISHED[0]
    >>> print(first.reported, round(recipe_epsilon(first, sampling="poisson").value, 3))
    1.26 0.947
    """
    return spent_epsilon(
        noise_multiplier=recipe.noise_multiplier,
        batch_size=recipe.batch_size,
        samples=recipe.samples,
        steps=recipe.steps,
        delta=recipe.delta,
        sampling=recipe.drawn if sampling is None else sampling,
        relation=relation,
        clipped=recipe.clipped,
    )


def _spent(run: Drawn, noise: float, delta: float) -> tuple[float, float]:
    try:
        found = run.epsilon(noise_multiplier=noise, delta=delta)
    except ArithmeticError:
        if not isinstance(run, Poisson):
            raise
        found = Bracket(*(bounded(run, noise, delta, side) for side in (-1, 1)))
        if found.upper == inf:
            raise
    low, high = found if isinstance(found, Bracket) else (found, found)
    return float(low), float(high)


def _hopeless(
    question: Question, noise: float, clipped: bool, delta: float, instead: str
) -> Refusal | None:
    if not clipped:
        return question.refuse(
            "without a bound on its gradient one record can move the sum by any amount: no epsilon "
            "is finite, whatever the noise. A divergence of observed pairs is not differential "
            "privacy",
            "quote none; clip every record's gradient at C, or prove that the loss has no larger "
            "one: then one step costs mu = C / (noise std), twice that for a replaced record",
            evidence=("lin2025.eqg", "lin2025.thm4.3"),
            chapters=("with_or_without_clipping", "one_record", "least_squares_experiments"),
        )
    if noise == 0:
        reason = "without noise no epsilon is finite"
        return question.refuse(
            reason, f"add noise: {instead}", evidence=(), chapters=("accounting",)
        )
    if noise < _FAINTEST:
        question.numbers["epsilon of one full batch"] = float(
            gaussian_epsilon(mu=1 / noise, delta=delta)
        )
        return question.refuse(
            f"a record that takes part once moves the sum by {1 / noise:.3g} standard deviations "
            "of the noise: whoever knows the others sees it",
            f"take a noise multiplier near one: {instead}",
            evidence=("wang2026.lemD.4",),
            chapters=("accounting", "gaussian_divergence"),
        )
    return None
