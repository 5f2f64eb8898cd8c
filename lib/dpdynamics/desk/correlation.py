r"""Whether to correlate the noise, and with which :math:`\lambda`.

At equal privacy, zero-out neighbours and Poisson sampling. Correlated noise
:math:`\kappa(Z_t-\lambda Z_{t-1})` needs a larger multiplier :math:`\kappa` and partly cancels:
less so in directions of large curvature, where old noise is forgotten before it is cancelled.
"""

from collections.abc import Mapping, Sequence
from math import expm1, inf, log1p, sqrt
from typing import Any

from ..accounting import (
    Bracket,
    CorrelatedPoisson,
    Poisson,
    cumulative_noise_lower_bound,
    worst_sensitivity,
)
from ..accounting.correlated_matrices import checked_correlation
from ..arguments import (
    finite_array,
    fraction,
    integers,
    one_of,
    positive,
    probability,
    whole,
    within,
)
from ..divergence import gaussian_noise_multiplier
from .answers import Answer, Question, Refusal

_EVIDENCE = ("wang2026.lemF.11", "wang2026.thmF.12", "wang2026.thm4.1")
_CHAPTERS = ("correlated_noise", "optimisation")
_MARGIN = 0.98  # of the noise: what saves less than two per cent is no reason to correlate


def end_noise_std(*, correlation: float, decay: float, steps: int) -> float:
    r"""Compute the standard deviation that noise leaves in a direction at the end of a run.

    Of :math:`w_t=(1-a)w_{t-1}+Z_t-\lambda Z_{t-1}`, :math:`w_0=Z_0=0`, at t = k:

    .. math:: \sqrt{1+(1-a-\lambda)^2\,\frac{1-(1-a)^{2(k-1)}}{1-(1-a)^2}}.

    Parameters
    ----------
    correlation : float
        :math:`\lambda\in[0,1)`.
    decay : float
        :math:`a=\eta h\in[0,1]`, step size times curvature. At 0 it is `cumulative_noise_std`.
    steps : int
        k, at least 1.

    References
    ----------
    The stationary limit is in the evidence of claim wang2026.thm4.1.

    Examples
    --------
    >>> [round(end_noise_std(correlation=c, decay=0.1, steps=400), 3) for c in (0.0, 0.9)]
    [2.294, 1.0]
    """
    lam, a = checked_correlation(correlation), within("decay", decay, 0, 1)
    earlier = whole("steps", steps, 1) - 1
    if a == 0 or earlier == 0:
        memory = float(earlier)
    else:
        rate = 2 * log1p(-a) if a < 1 else -inf  # without cancellation for small a
        memory = expm1(earlier * rate) / expm1(rate)
    return sqrt(1 + (1 - a - lam) ** 2 * memory)


def correlate_noise(
    *,
    epsilon: float,
    delta: float,
    sampling_probability: float,
    steps: int,
    decay: float = 0.0,
    correlations: Sequence[float] = (0.5, 0.9),
    sampling: str = "poisson",
    multipliers: Mapping[float, Bracket] | None = None,
    blocks: Sequence[int] = (1, 4, 8),
) -> Answer | Refusal:
    r"""Say whether correlated noise leaves less noise at the end, at equal privacy.

    Parameters
    ----------
    epsilon, delta : float
        The budget.
    sampling_probability : float
        q in (0, 1].
    steps : int
        Number of releases, at least 1.
    decay : float
        :math:`\eta h\in[0,1]` of the direction that matters; 0 is a flat one, where the sum of
        all noises counts, the best case for correlation.
    correlations : sequence of float
        The :math:`\lambda\in(0,1)` to try, about a second each.
    sampling : {"poisson", "fixed", "shuffled"}
        Only the first has an amplification theorem for correlated noise. Others are refused, but
        for one shuffled epoch, in which each record takes part once.
    multipliers : mapping, optional
        Brackets of `CorrelatedPoisson.noise_for` by correlation, where they are known already.
    blocks : sequence of int
        As in `CorrelatedPoisson`; more of them certify a little less noise.

    Returns
    -------
    Answer or Refusal
        The value is the best noise at the end over that of independent noise, certified. It is
        refused where upper and lower bounds do not decide.
    """
    one_of("sampling", sampling, ("poisson", "fixed", "shuffled"))
    epsilon, delta = positive("epsilon", epsilon), fraction("delta", delta)
    q = probability("sampling_probability", sampling_probability)
    end_noise_std(correlation=0.0, decay=decay, steps=steps)  # their ranges
    count, words = whole("steps", steps, 1), f"Correlate the noise at ({epsilon:g}, {delta:g})?"
    question = Question(question=words, evidence=_EVIDENCE, chapters=_CHAPTERS)
    numbers = question.numbers
    tried = finite_array("correlations", correlations, ndim=1).tolist()
    if not tried or not all(0 < c < 1 for c in tried):
        raise ValueError(f"correlations must hold numbers in (0, 1), got {correlations!r}")
    for block in (lengths := integers("blocks", blocks)):
        whole("blocks", block, 1)
    if not lengths.size:
        raise ValueError("blocks must not be empty")
    known = dict(multipliers or {})
    for bracket in known.values():
        for end in bracket:
            positive("multipliers", float(end))
    once = sampling == "shuffled" and q * count <= 1 + 1e-9
    if sampling != "poisson" and not once:
        numbers.update({f"multiplier grows at {lam:g} by": 1 / (1 - lam) for lam in tried})
        return question.refuse(
            f"for {sampling} batches in which a record may take part again no amplification "
            "theorem holds with correlated noise; what remains is the multiplier of independent "
            "noise divided by 1 - lambda, which never gains",
            "draw Poisson samples, or keep independent noise",
            evidence=("wang2026.thmF.8", "wang2026.lemF.11"),
        )
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    run: dict[str, Any] = {"sampling_probability": q, "steps": count}
    if once:  # at any place: the longest column has to be hidden
        plain = float(gaussian_noise_multiplier(**budget))
        for lam in tried:
            longest = worst_sensitivity(correlation=lam, steps=count, participations=1)
            known[lam] = Bracket(longest * plain, longest * plain)
    else:
        try:
            plain = Poisson(**run).noise_for(**budget)
            for lam in tried:
                known[lam] = known.get(lam) or CorrelatedPoisson(
                    correlation=lam, blocks=blocks, **run
                ).noise_for(**budget)
        except (ArithmeticError, ValueError) as error:
            return question.refuse(
                f"the accountants give no number here: {error}",
                "keep independent noise and an accountant that is valid and looser",
            )
    numbers["independent multiplier"] = plain
    if not once:
        floor = float(cumulative_noise_lower_bound(**budget, **run))
        numbers["floor of the sum, any correlation"] = floor / (plain * sqrt(count))
    base = plain * end_noise_std(correlation=0.0, decay=decay, steps=count)
    ratios = {}
    for lam in tried:
        bracket = known[lam]
        left = end_noise_std(correlation=lam, decay=decay, steps=count) / base
        ratios[lam] = float(bracket.lower) * left, float(bracket.upper) * left
        numbers[f"multiplier at {lam:g}"] = float(bracket.upper)
        numbers[f"noise at the end, {lam:g}"] = ratios[lam][1]
    best = min(tried, key=lambda lam: ratios[lam][1])
    least = min(low for low, _ in ratios.values())
    value = ratios[best][1]
    if value > _MARGIN > least:
        return question.refuse(
            f"the bounds do not decide: the noise at the end is at most {value:.3g} and may be "
            f"{least:.3g} times that of independent noise",
            "keep independent noise, which is exact",
        )
    head = (
        f"Yes, lambda = {best:g}: it leaves {value:.4g} times the noise"
        if value <= _MARGIN
        else f"Do not: the best, lambda = {best:g}, leaves {value:.4g} times the noise"
    )
    return question.answer(
        f"{head} of independent noise at the end (step times curvature {decay:g}), with a "
        f"multiplier of {numbers[f'multiplier at {best:g}']:.4g} in place of {plain:.4g}.",
        value,
        (
            f"one epoch in any order, {count} releases, all public, no amplification on either "
            "side; one record's contributions zeroed out or put back, all others unchanged; "
            if once
            else f"Poisson sampling, q = {q:g}, {count} releases, all public; one record's "
            "contributions zeroed out or put back; certified block accountant; "
        )
        + "noise at the end of a direction of constant curvature; lambda among those tried. In the "
        "book's trainings on real data no gain in accuracy was significant",
    )
