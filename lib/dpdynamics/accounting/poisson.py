r"""The Poisson-subsampled Gaussian mechanism, composed, exactly.

One step is in closed form (`subsampled_step`), and so is full sampling (`gaussian`); the rest is
the inversion of the transform of the privacy loss (`inversion`) or, where that decays too slowly,
its convolution on a mesh (`convolution`). The logarithms of transforms add up, so runs of different
noise and sampling compose.

The value is within 1e-7 of the exact one, or refused. Refusals are rare; they happen where
sampling probabilities are small and delta is far below the chance of a telling participation: the
mesh then gets too long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, hypot, inf, log, log1p, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import (
    Array,
    elementwise,
    finite_array,
    fraction,
    fraction_array,
    nonnegative,
    one_of,
    orders_array,
    plain,
    positive,
    whole,
)
from ..numerics.convolution import epsilon_convolution, hockey_stick_convolution
from ..numerics.inversion import (
    Complex,
    Cumulants,
    Inversion,
    InversionError,
    epsilon_inversion,
    hockey_stick_inversion,
)
from ..numerics.roots import certified_root
from .gaussian import gaussian_delta, gaussian_epsilon, gaussian_noise_multiplier
from .runs import Run
from .subsampled_rdp import renyi_divergences
from .subsampled_step import SubsampledStep

_DIRECTIONS = {
    "add_remove": ("remove", "add"),
    "zero_out": ("remove", "add"),
    "add": ("add",),
    "remove": ("remove",),
    "replace": ("replace",),
}
_SLACK = 1e-7  # of the logarithms of a noise multiplier and of delta: their accuracy


@dataclass(frozen=True, kw_only=True)
class Poisson(Run[float | Array]):
    r"""Independent Gaussian noise on Poisson samples; exact.

    Parameters
    ----------
    sampling_probability : float
        q in (0, 1], with which each record is in each sample, independently; Opacus' `sample_rate`.
        With 1 and one step it is the plain Gaussian mechanism.
    steps : int
        Number of releases, each of a fresh sample; at least 1.
    relation : {"add_remove", "add", "remove", "replace", "zero_out"}
        "remove" compares the law with the record to the law without, "add" the other way round;
        "add_remove" and "zero_out" are the larger of the two. Under "replace" the noise multiplier
        is still over the clip norm.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Any real `epsilon`; `delta` has a relative accuracy of 1e-7 or better and is 0 below the floats.
    `epsilon` is accurate to 1e-7 relative to itself or to the distance in which the profile falls
    by a factor e, whichever is larger. `noise_for` is above the exact answer, by a relative 1e-6 at
    most; it refuses a `delta` from :math:`1-(1-q)^k` on, for "add" from
    :math:`1-e^\varepsilon(1-q)^k` on.

    Examples
    --------
    >>> run = Poisson(sampling_probability=0.04, steps=2250)
    >>> round(run.epsilon(noise_multiplier=1.5, delta=1e-5), 5)
    6.76878
    >>> round(run.noise_for(epsilon=8.0, delta=1e-5), 4)
    1.3459
    """

    sampling_probability: float
    steps: int = 1
    relation: str = "add_remove"

    def __post_init__(self) -> None:
        q = positive("sampling_probability", self.sampling_probability)
        if q > 1:
            raise ValueError(f"sampling_probability must lie in (0, 1], got {q}")
        object.__setattr__(self, "sampling_probability", q)
        object.__setattr__(self, "steps", whole("steps", self.steps, 1))
        one_of("relation", self.relation, tuple(_DIRECTIONS))

    def delta(self, *, noise_multiplier: float, epsilon: ArrayLike) -> float | Array:
        return compose((self, noise_multiplier)).delta(epsilon=epsilon)

    def epsilon(self, *, noise_multiplier: float, delta: ArrayLike) -> float | Array:
        return compose((self, noise_multiplier)).epsilon(delta=delta)

    def noise_for(self, *, epsilon: float, delta: float) -> float:
        epsilon, delta = nonnegative("epsilon", epsilon), fraction("delta", delta)
        full = float(gaussian_noise_multiplier(epsilon=epsilon, delta=delta))
        reach = full * sqrt(self.steps) * (2 if self.relation == "replace" else 1)
        if self.sampling_probability == 1:
            return reach * (1 + _SLACK)
        never = self.steps * log1p(-self.sampling_probability)  # ln of the chance of no part at all
        noiseless = max(0.0, -expm1(never + (epsilon if self.relation == "add" else 0.0)))
        if delta >= noiseless:
            raise ValueError(f"delta must be below {noiseless:g}, from where no noise is needed")

        def excess(log_noise: float) -> float:
            trial = _directions([(self, exp(log_noise))])
            largest = max(sum(_delta(direction, epsilon)) for direction in trial)
            return log(max(largest, 1e-300)) - log(delta) + _SLACK

        # The central limit of the composition: mu = q sqrt(k (exp(1/noise^2) - 1)).
        guess = -log(log1p((reach * self.sampling_probability) ** -2)) / 2
        return exp(certified_root(excess, guess, side=1, tolerance=_SLACK))

    def rdp(self, *, noise_multiplier: float, orders: ArrayLike) -> float | Array:
        r"""Compute the Renyi divergence of the run.

        Parameters
        ----------
        noise_multiplier : float
            Positive; with sampling at least 0.01.
        orders : number or array
            :math:`\alpha > 1`, whole or fractional; with sampling at most a million times
            `noise_multiplier`.

        Returns
        -------
        float or array of the shape of `orders`
            With a relative error below 1e-10, most often 1e-13 (values above 1e-290). For
            "add_remove" that of "remove", which is the larger one.

        Raises
        ------
        ValueError
            If an argument is out of range, or the relation is "replace" with sampling.

        References
        ----------
        Mironov (2017), proposition 7; Mironov, Talwar and Zhang (2019), theorem 5.

        Examples
        --------
        >>> run = Poisson(sampling_probability=0.01, steps=50)
        >>> rdp = run.rdp(noise_multiplier=2.5, orders=[1.5, 100])
        >>> [f"{value:.6g}" for value in rdp]
        ['0.000650071', '167.416']
        """
        sigma, alphas = (
            positive("noise_multiplier", noise_multiplier),
            orders_array("orders", orders),
        )
        q = self.sampling_probability
        if q == 1:
            shift = 2 if self.relation == "replace" else 1
            return plain(self.steps * alphas * shift**2 / 2 / sigma / sigma)
        one_of("relation", self.relation, ("add_remove", "zero_out", "add", "remove"))
        if sigma < 0.01:
            raise ValueError(f"noise_multiplier must be at least 0.01, got {noise_multiplier}")
        if alphas.size and alphas.max() > 1e6 * sigma:
            raise ValueError("orders must not exceed a million times noise_multiplier")
        return plain(self.steps * renyi_divergences(alphas, sigma, q, self.relation == "add"))


@dataclass(frozen=True)
class _GaussianStep:
    """A release of all records, in one direction; in the form of `SubsampledStep`."""

    mu: float
    relation: str
    probability: float = 1.0

    @property
    def base(self) -> float:
        """Losses have no end."""
        return {"remove": -inf, "add": inf, "replace": 0.0}[self.relation]

    def cumulants(self, steps: int, smallest: float) -> Cumulants:
        def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
            z = first[:, None] + second
            return np.asarray(steps * self.mu**2 / 2 * z * (1 + z))

        return log_mgf


_Direction = list[tuple[SubsampledStep | _GaussianStep, int]]  # steps and how often


class Composition:
    """Runs one after another, each at its noise; exact. Made by `compose`."""

    def __init__(self, directions: list[_Direction]) -> None:
        self._directions = directions
        step = directions[0][0][0]
        self._mu = step.mu if isinstance(step, _GaussianStep) else None  # all is Gaussian

    def delta(self, *, epsilon: ArrayLike) -> float | Array:
        """Compute the privacy profile, as `Poisson.delta` does."""
        epsilons = finite_array("epsilon", epsilon)
        if self._mu is not None:
            return gaussian_delta(mu=self._mu, epsilon=epsilons)
        return elementwise(lambda e: max(_delta(d, e).value for d in self._directions), epsilons)

    def epsilon(self, *, delta: ArrayLike) -> float | Array:
        """Compute the smallest epsilon that meets `delta`, as `Poisson.epsilon` does."""
        deltas = fraction_array("delta", delta)
        if self._mu is not None:
            return gaussian_epsilon(mu=self._mu, delta=deltas)
        return elementwise(lambda x: max(_epsilon(d, x) for d in self._directions), deltas)


def compose(*parts: tuple[Poisson, float]) -> Composition:
    r"""Compose runs of different sampling and noise, exactly.

    Parameters
    ----------
    *parts : (run, noise multiplier)
        Runs of `Poisson` with the same relation, adaptively one after another, each with its noise.

    Returns
    -------
    Composition
        With the verbs `delta(epsilon=...)` and `epsilon(delta=...)` of a run, without its noise.

    Raises
    ------
    ValueError
        If `parts` are none, or not such pairs, or of different relations.
    ArithmeticError
        If next to no noise is added.

    Examples
    --------
    A warm-up with more noise:

    >>> early = Poisson(sampling_probability=0.01, steps=1000)
    >>> late = Poisson(sampling_probability=0.01, steps=2000)
    >>> round(compose((early, 2.0), (late, 1.0)).epsilon(delta=1e-6), 4)
    3.0589
    """
    checked = []
    for part in parts:
        if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], Poisson)):
            raise ValueError(f"parts must be pairs of a Poisson run and its noise, got {part!r}")
        checked.append((part[0], positive("noise_multiplier", part[1])))
    if len({_DIRECTIONS[run.relation] for run, _ in checked}) != 1:
        raise ValueError("parts must be one run or more, all with the same relation")
    releases = sum(run.steps for run, _ in checked)
    if releases > 1 and any(k < 1e-4 and run.sampling_probability < 1 for run, k in checked):
        raise InversionError("the losses range too far for a mesh: noise_multiplier is below 1e-4")
    return Composition(_directions(checked))


def _directions(parts: Sequence[tuple[Poisson, float]]) -> list[_Direction]:
    """Return the steps of all parts, one list for each direction; like ones are joined."""
    found = []
    for name in _DIRECTIONS[parts[0][0].relation]:
        sampled: dict[SubsampledStep, int] = {}
        mu = 0.0
        for run, noise in parts:
            if run.sampling_probability == 1:
                mu = hypot(mu, (2 if name == "replace" else 1) * sqrt(run.steps) / noise)
                continue
            step = SubsampledStep(noise, run.sampling_probability, name)
            sampled[step] = sampled.get(step, 0) + run.steps
        direction: _Direction = list(sampled.items())
        found.append(direction + [(_GaussianStep(mu, name), 1)] * (mu > 0))
    return found


def _cumulants(direction: _Direction, smallest: float) -> Cumulants:
    each = [step.cumulants(count, smallest) for step, count in direction]

    def log_mgf(first: Complex, second: Complex, fineness: float) -> Complex:
        return np.asarray(sum(part(first, second, fineness) for part in each))

    return each[0] if len(each) == 1 else log_mgf


def _alone(direction: _Direction) -> SubsampledStep | None:
    """Return the sampled step where there is one kind only: it has other formulas too."""
    step = direction[0][0]
    return step if isinstance(step, SubsampledStep) and len(direction) == 1 else None


def _delta(direction: _Direction, epsilon: float) -> Inversion:
    edge = sum(count * step.base for step, count in direction)
    (first, count), alone = direction[0], _alone(direction)
    if first.relation == "add" and epsilon >= edge:
        return Inversion(0.0, 0.0)
    if first.relation == "remove" and epsilon <= edge:
        return Inversion(-expm1(epsilon), 0.0)
    if alone and count == 1:
        value = float(alone.delta(np.array(epsilon)))
        return Inversion(value, 1e-10 * value)
    for smallest in (1e-12, 1e-40, 1e-290):
        try:
            result = hockey_stick_inversion(_cumulants(direction, smallest), epsilon)
        except InversionError:
            if alone is None:
                raise
            result = hockey_stick_convolution(alone, count, epsilon, smallest)
        if result.value >= smallest:
            return result
    return Inversion(result.value, 1e-290)


def _epsilon(direction: _Direction, delta: float) -> float:
    idle = sum(k * log1p(-s.probability) if s.probability < 1 else -inf for s, k in direction)
    if delta >= -expm1(idle):  # the chance of taking part at all
        return 0.0
    count, alone = direction[0][1], _alone(direction)
    if alone and count == 1:
        return _root(alone, delta)
    try:
        return max(epsilon_inversion(_cumulants(direction, delta), delta).value, 0.0)
    except InversionError:
        if alone is None:
            raise
        if _delta(direction, 0.0).value <= delta:
            return 0.0
        return max(epsilon_convolution(alone, count, delta).value, 0.0)


def _root(law: SubsampledStep, delta: float) -> float:
    """Solve one step, whose profile is in closed form."""

    def excess(epsilon: float) -> float:
        value = float(law.delta(np.array(epsilon)))
        return (log(value) if value > 0 else -inf) - log(delta)

    if excess(0.0) <= 0:
        return 0.0
    return exp(certified_root(lambda x: max(excess(exp(x)), -1e3), 0.0, side=1, tolerance=1e-14))
