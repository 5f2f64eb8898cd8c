"""Which clip norm, step and schedule for least squares in one private pass."""

from math import sqrt
from typing import Any

from ..arguments import fraction, nonnegative, one_of, positive, whole, within
from ..divergence import gaussian_noise_multiplier
from ..dynamics import clipping_factors, tune_one_pass
from ..dynamics.tuning import Tuning
from ..problems import InverseTimeDecay
from .answers import Answer, Question, Refusal
from .refusals import visible_delta

_EVIDENCE = ("bombari2025.prop4.1", "bombari2025.eq4.2", "bombari2025.prop4.3", "bombari2025.thm3")
_CHAPTERS = ("one_pass", "clipped_diffusion", "rates", "clipping_and_schedule")


def plan_one_pass(
    *,
    samples: int,
    dimension: int,
    epsilon: float,
    delta: float,
    label_std: float,
    initial_risk: float,
    exponent: float | None = None,
    features: str = "gaussian",
) -> Answer | Refusal:
    r"""Tune clip norm, step and schedule of one-pass DP-SGD for least squares.

    Parameters
    ----------
    samples, dimension : int
        n and d.
    epsilon, delta : float
        The budget of the released last iterate, one record replaced.
    label_std : float
        :math:`\zeta`, standard deviation of the label noise; positive. Taken as public.
    initial_risk : float
        :math:`R_0`, excess risk of the start, with the factor 1/2; positive. Taken as public.
    exponent : float, optional
        :math:`\alpha` of a schedule :math:`\tilde\eta_0(1-t)^\alpha`; by default inverse time.
    features : {"gaussian", "other"}
        "other" is refused: clipping then has a bias that the theory does not see.

    Returns
    -------
    Answer or Refusal
        The value is the clip norm :math:`C = c\sqrt d`. Among the numbers: the excess risk to
        expect, that of least squares without privacy, and what it would cost to hardly clip
        (c at three label standard deviations, step tuned again).

    Examples
    --------
    >>> reply = plan_one_pass(
    ...     samples=2000, dimension=100, epsilon=8.0, delta=1e-5, label_std=0.5,
    ...     initial_risk=0.5, exponent=0.5,
    ... )
    >>> round(reply.numbers["clip constant c"], 2)
    0.48
    """
    n, d = whole("samples", samples, 2), whole("dimension", dimension, 1)
    epsilon, delta = positive("epsilon", epsilon), fraction("delta", delta)
    zeta = within("label_std", label_std, 1e-50, 1e50)  # it is squared
    start = positive("initial_risk", initial_risk)
    one_of("features", features, ("gaussian", "other"))
    if exponent is not None:
        nonnegative("exponent", exponent)
    words = f"How to clip and step, in one pass over n = {n} records of d = {d} features?"
    question = Question(question=words, evidence=_EVIDENCE, chapters=_CHAPTERS)
    if refusal := visible_delta(question, delta, n):
        return refusal
    mu = 1 / float(gaussian_noise_multiplier(epsilon=epsilon, delta=delta))
    rho, gamma = mu**2 / 2, d / n
    numbers = question.numbers
    numbers.update({"rho": rho, "gamma = d/n": gamma, "gamma^2/rho": gamma**2 / rho})
    if refusal := _outside(question, features, gamma, d):
        return refusal
    setting: dict[str, Any] = {
        "initial_risk": start,
        "aspect_ratio": gamma,
        "label_variance": zeta**2,
        "rho": rho,
    }
    best = tune_one_pass(exponent, **setting)
    risk, clip = float(best.risk), float(best.clip_constant)
    if clip > 29 * zeta or start > 1e30 * zeta**2:  # from there on the search gets nowhere
        return question.refuse(
            f"the label noise is so small against the residuals of the start (R_0 / zeta^2 = "
            f"{start / zeta**2:.2g}) that the best clip norm lies beyond the search, which ends "
            "at thirty label standard deviations",
            "tune the step for clip norms near the first residuals, sqrt(2 R_0 + zeta^2)",
            evidence=("bombari2025.prop4.3",),
        )
    if risk > start / 2:
        numbers["expected excess risk"] = risk
        return question.refuse(
            f"the best clip norm and step leave {risk / start:.0%} of the excess risk of the start",
            "ask for more records, fewer features, a larger epsilon or another schedule; do not "
            "train",
            evidence=("bombari2025.prop4.3", "bombari2025.thm3"),
        )
    loose = float(tune_one_pass(0.5, clip_constant=3 * zeta, **setting).risk)
    tight = risk if exponent == 0.5 else float(tune_one_pass(0.5, **setting).risk)
    free = zeta**2 / 2 * d / (n - d - 1)
    ratio = clip / zeta
    numbers["clip constant c"] = clip
    numbers["clip ratio c/zeta"] = ratio
    numbers["share of residuals kept at the end"] = float(clipping_factors(ratio).descent_factor)
    schedule = _schedule(best, numbers)
    numbers["expected excess risk"] = risk
    numbers["least squares, no privacy"] = free
    numbers["hardly clipping costs a factor"] = loose / tight
    return question.answer(
        f"Clip every gradient at C = {clip * sqrt(d):.4g} (c = {clip:.3g}, {ratio:.2g} label "
        f"standard deviations), step {schedule}/n in time t = k/n; expect an excess risk of "
        f"{risk:.3g}, {risk / free:.3g} times that of least squares without privacy.",
        clip * sqrt(d),
        "one pass in a fixed order, only the last iterate released, one record replaced, optimal "
        "noise schedule, exact Gaussian accounting; whitened Gaussian features, independent label "
        "noise; label noise and initial risk public",
    )


def _schedule(best: Tuning, numbers: dict[str, float]) -> str:
    """Return the step size in words, and note its parameters."""
    if isinstance(best.schedule, InverseTimeDecay):
        s, q = float(best.schedule.scale), float(best.schedule.offset)
        numbers.update({"schedule scale": s, "schedule offset": q})
        return f"{s:.4g}/(t + {q:.3g})"
    first, power = float(best.schedule.initial), float(best.schedule.exponent)
    numbers["first step"] = first
    return f"{first:.4g} (1 - t)^{power:g}"


def _outside(question: Question, features: str, gamma: float, d: int) -> Refusal | None:
    if features == "other":
        return question.refuse(
            "the equations are for Gaussian features and residuals that do not depend on them; "
            "elsewhere clipped descent settles at the minimiser of another loss, at a distance "
            "that no amount of data removes",
            "take the calculator's clip norm as a lower limit, and clip less as n/d grows",
            evidence=("bombari2025.ass1",),
        )
    if gamma > 0.5:
        return question.refuse(
            f"d/n = {gamma:.2g}: one pass over fewer than two records a parameter was never "
            "checked, and the private noise grows as d squared",
            "reduce the dimension by public means, or collect more records",
            evidence=("bombari2025.thm1",),
        )
    if d < 10:
        return question.refuse(
            f"d = {d}: the equation is a limit of many features; it was checked from d = 10 on",
            "use output perturbation or noisy sufficient statistics in so few dimensions",
            evidence=("bombari2025.thm1",),
        )
    return None
