r"""Which optimiser at which privacy: DP-SGD against DP-SignSGD or DP-Adam at given steps.

With S the standard deviation of a coordinate of the private gradient and :math:`\rho` the ratio of
the rival's step to that of DP-SGD, the plateaus on a quadratic cross at
:math:`S = \sqrt{\pi/2}\,\rho` for the sign and at :math:`S=\rho` for Adam, the speeds at
:math:`\sqrt{2/\pi}\,\rho` and :math:`\rho`. In the clipped phase both plateaus carry the factor
:math:`K_1 = \max\{1, G/C\}`, :math:`G=\sigma_\gamma\sqrt d`, which leaves the crossing where it is.
"""

from math import pi, sqrt

from ..adaptive import plateau, private_gradient_scale
from ..arguments import nonnegative, one_of, positive, whole
from .answers import Answer, Question, Refusal

_PRICE = {"sign": sqrt(pi / 2), "adam": 1.0}
_NAMES = {"sign": "DP-SignSGD", "adam": "DP-Adam"}
_CHAPTERS = ("which_optimiser", "speed_and_plateau")
_EVIDENCE = ("anon2025.thm4.5", "anon2025.corB.16", "anon2025.eq203")


def choose_optimiser(
    *,
    noise_multiplier: float,
    clip_norm: float,
    batch_size: int,
    gradient_noise: float,
    dimension: int,
    sgd_step: float,
    rival_step: float,
    rival: str = "sign",
    tuned: bool = False,
    curvature: float | None = None,
    steps: int | None = None,
) -> Answer | Refusal:
    r"""Say which optimiser has the lower plateau at fixed steps.

    Parameters
    ----------
    noise_multiplier : float
        :math:`\sigma_{DP}`, positive.
    clip_norm : float
        C, positive.
    batch_size, dimension : int
        B and d.
    gradient_noise : float
        :math:`\sigma_\gamma\ge0`, standard deviation of a coordinate of one record's gradient.
    sgd_step, rival_step : float
        Learning rates that would be used, positive.
    rival : {"sign", "adam"}
    tuned : bool
        Whether the steps are tuned anew at each privacy. Then it refuses.
    curvature : float, optional
        :math:`\lambda > 0` of the flattest direction that matters; with `steps` it tells whether
        the plateau is reached, and without it whether the steps are small.
    steps : int, optional
        Length of the run; needs `curvature`.

    Returns
    -------
    Answer or Refusal
        The value is the plateau of the rival over that of DP-SGD.

    Examples
    --------
    >>> settings = {
    ...     "clip_norm": 50.0, "batch_size": 100, "gradient_noise": 1.0, "dimension": 100,
    ...     "sgd_step": 0.01, "rival_step": 0.01,
    ... }
    >>> for noise in (1.0, 2.0, 4.0):
    ...     print(noise, round(choose_optimiser(noise_multiplier=noise, **settings).value, 3))
    1.0 2.458
    2.0 1.247
    4.0 0.626
    """
    noise = positive("noise_multiplier", noise_multiplier)
    clip, spread = positive("clip_norm", clip_norm), nonnegative("gradient_noise", gradient_noise)
    batch, d = whole("batch_size", batch_size, 1), whole("dimension", dimension, 1)
    eta, other = positive("sgd_step", sgd_step), positive("rival_step", rival_step)
    name = _NAMES[one_of("rival", rival, tuple(_NAMES))]
    words = f"DP-SGD with step {eta:g}, or {name} with step {other:g}?"
    question = Question(question=words, evidence=_EVIDENCE, chapters=_CHAPTERS)
    length = spread * sqrt(d)
    phase = 2 if clip >= 3 * length else 1 if clip <= length / 3 else 0
    if curvature is not None:
        positive("curvature", curvature)
    if steps is not None:
        whole("steps", steps, 1)
        if curvature is None:
            raise ValueError("curvature must be given with steps")
    if tuned:
        return _tuned(question, name, _PRICE[rival] ** 2, eta * clip * noise / batch)
    numbers = question.numbers
    if length:
        numbers["C / G"] = clip / length
    if phase == 0:
        return question.refuse(
            f"C is {clip / length:.2g} times the length G of a record's noise: some gradients are "
            "clipped and some are not, and the plateaus are known for either extreme only",
            "move C by a factor of three, or compute the clipped moments",
            evidence=("anon2025.assB.2", "anon2025.remB.2"),
            chapters=("stochastic_differential_equations", "speed_and_plateau"),
        )
    scale = private_gradient_scale(
        spread, batch, clip, noise, clipped_dimension=d if phase == 1 else None
    )
    contraction = 1.0 if phase == 2 else clip / length
    ratio, price = other / eta, _PRICE[rival]
    plateaus = (
        float(plateau(eta, scale, contraction)),
        float(plateau(other, scale, contraction, method="sign")) * price / sqrt(pi / 2),
    )
    quotient = plateaus[1] / plateaus[0]
    numbers["S"] = scale
    numbers["plateaus cross at S"] = price * ratio
    numbers["speeds cross at S"] = ratio / price
    numbers["plateau of DP-SGD"] = plateaus[0]
    numbers[f"plateau of {name}"] = plateaus[1]
    numbers["K_1 = max(1, G/C)"] = 1 / contraction
    speeds = {"DP-SGD": eta, name: other / scale}  # in units of the curvature
    if refusal := _unsettled(question, speeds, contraction, price, curvature, steps):
        return refusal
    winner, loser = (name, "DP-SGD") if quotient < 1 else ("DP-SGD", name)
    faster = name if scale < ratio / price else "DP-SGD"
    return question.answer(
        f"{winner}: its plateau is {max(quotient, 1 / quotient):.3g} times lower than that of "
        f"{loser}; {faster} gets there faster (S = {scale:.3g}, plateaus cross at "
        f"{price * ratio:.3g}).",
        quotient,
        f"mean training loss at stationarity near a quadratic minimum, phase {phase} "
        f"({'nothing' if phase == 2 else 'everything'} clipped), isotropic noise, fixed steps "
        "with rate times curvature well below S; nothing about privacy enters but the noise",
    )


def _unsettled(
    question: Question,
    speeds: dict[str, float],
    contraction: float,
    price: float,
    curvature: float | None,
    steps: int | None,
) -> Refusal | None:
    """Refuse where the steps are large, or too few to reach the plateau."""
    if curvature is None:
        return None
    size = {key: speed * curvature for key, speed in speeds.items()}
    if max(size.values()) > 0.3:
        question.numbers.update({f"relative step of {k}": v for k, v in size.items()})
        return question.refuse(
            f"a step times the curvature is {max(size.values()):.2g} in units of the noise: the "
            "linear laws of the plateau are off by more than a tenth",
            "use the exact stationary laws of the adaptive room",
            evidence=("anon2025.thmB.15",),
            chapters=("stationary_laws",),
        )
    if steps is None:
        return None
    rates = {k: v * contraction / (1 if k == "DP-SGD" else price) for k, v in size.items()}
    slow = min(rates, key=lambda key: rates[key])
    passed = steps * rates[slow]
    if passed < 3:
        question.numbers["decay times"] = passed
        return question.refuse(
            f"{slow} runs for {passed:.2g} of its own decay times only: the plateau is not "
            "reached, and at a finite horizon the order can be the reverse",
            "run longer, or compare the exact moments at the horizon",
            evidence=("anon2025.thm4.6", "anon2025.thm4.7"),
            chapters=("which_optimiser",),
        )
    return None


def _tuned(question: Question, name: str, price: float, portable: float) -> Refusal:
    question.numbers["price of the rival at equal speed"] = price
    question.numbers["eta' of this step"] = portable
    return question.refuse(
        "with steps tuned at each privacy the theory ranks by what is minimised: for the average "
        "gradient the rival's best step is the portable one, for the last iterate that of DP-SGD; "
        f"at equal speed the plateau of {name} is {price:.3g} times that of DP-SGD at every "
        "privacy",
        "run DP-SGD with the step eta' B / (C noise), which is portable, tune eta' once, and pay "
        "for the tuning",
        evidence=("anon2025.thm4.6", "anon2025.thm4.7"),
        chapters=("which_optimiser", "private_training"),
    )
