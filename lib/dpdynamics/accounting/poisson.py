r"""Noisy sums of Poisson samples, composed, exactly.

One step is a `Pair`, in closed form, and steps compose as in `composition`. The value is within
1e-7 of the exact one, or refused. Refusals are rare; they happen where sampling probabilities are
small and delta is far below the chance of a telling participation: the mesh then gets too long.
On a mesh that is too coarse for that it is `bounded`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, log1p, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Array, one_of, plain, positive, probability, whole
from ..divergence.gaussian import gaussian_noise_multiplier
from ..divergence.gaussian_pair import Gaussian, SampledNormals
from ..divergence.pairs import Pair
from ..numerics.normal_masses import mixture_masses
from ..numerics.privacy_loss import composed_epsilon_lower, composed_epsilon_upper
from .composition import Composition, Direction, profile
from .runs import Run, least_noise, unseen

DIRECTIONS = {
    "add_remove": ("remove", "add"),
    "zero_out": ("remove", "add"),
    "add": ("add",),
    "remove": ("remove",),
    "replace": ("replace",),
}
_SLACK = 1e-7  # of the logarithms of a noise multiplier and of delta: their accuracy


@dataclass(frozen=True, kw_only=True)
class Poisson(Run[float | Array, float]):
    r"""Independent noise on Poisson samples; exact.

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
    noise : class of pairs
        `Gaussian`, or `Laplace` for vectors of l1 norm at most the clip norm; or another class
        that makes a `Pair` of a noise multiplier, a sampling probability and one of "remove",
        "add", "replace".

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
    noise: Callable[[float, float, str], Pair] = Gaussian

    def __post_init__(self) -> None:
        q = probability("sampling_probability", self.sampling_probability)
        object.__setattr__(self, "sampling_probability", q)
        object.__setattr__(self, "steps", whole("steps", self.steps, 1))
        one_of("relation", self.relation, tuple(DIRECTIONS))
        if not (isinstance(self.noise, type) and issubclass(self.noise, Pair)):
            raise ValueError(f"noise must be a class of pairs, got {self.noise!r}")

    def delta(self, *, noise_multiplier: float, epsilon: ArrayLike) -> float | Array:
        return compose((self, noise_multiplier)).delta(epsilon=epsilon)

    def epsilon(self, *, noise_multiplier: float, delta: ArrayLike) -> float | Array:
        return compose((self, noise_multiplier)).epsilon(delta=delta)

    def pairs(self, *, noise_multiplier: float) -> list[Pair]:
        """Return one step as a pair of distributions, one for each direction of the relation."""
        noise, q = positive("noise_multiplier", noise_multiplier), self.sampling_probability
        return [self.noise(noise, q, name) for name in DIRECTIONS[self.relation]]

    def _noiseless(self, epsilon: float) -> float:
        return unseen(self.sampling_probability, self.steps, self.relation, epsilon)

    def _noise_for(self, epsilon: float, delta: float) -> float:
        q, full = self.sampling_probability, gaussian_noise_multiplier(epsilon=epsilon, delta=delta)
        reach = float(full) * sqrt(self.steps) * (2 if self.relation == "replace" else 1)
        if q == 1 and self.noise is Gaussian:
            return reach * (1 + _SLACK)

        def excess(noise: float) -> float:
            pairs = self.pairs(noise_multiplier=noise)
            most = max(sum(profile([(pair, self.steps)], epsilon)) for pair in pairs)
            return log(max(most, 1e-300)) - log(delta) + _SLACK

        # The central limit of the composition: mu = q sqrt(k (exp(1/noise^2) - 1)).
        return least_noise(excess, log1p((reach * q) ** -2) ** -0.5, tolerance=_SLACK)

    def rdp(self, *, noise_multiplier: float, orders: ArrayLike) -> float | Array:
        r"""Compute the Renyi divergence of the run.

        Parameters
        ----------
        noise_multiplier : float
            Positive; with sampling at least 0.01 if the noise is Gaussian.
        orders : number or array
            :math:`\alpha > 1`, whole or fractional; for sampled Gaussian noise at most a million
            times `noise_multiplier`.

        Returns
        -------
        float or array of the shape of `orders`
            With a relative error below 1e-10, most often 1e-13 (values above 1e-290). For
            "add_remove" that of "remove", which is the larger one; "replace" is refused with
            sampling.

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
        return plain(
            self.steps * np.asarray(self.pairs(noise_multiplier=noise_multiplier)[0].renyi(orders))
        )


def compose(*parts: tuple[Poisson, float] | tuple[Pair, int]) -> Composition:
    r"""Compose releases of different kinds, exactly; a privacy accountant.

    Parameters
    ----------
    *parts : (run, noise multiplier) or (pair, times)
        Runs of `Poisson` with the same relation, adaptively one after another, each with its noise;
        or pairs of distributions and how often they are released.

    Returns
    -------
    Composition
        With the verbs `delta(epsilon=...)` and `epsilon(delta=...)` of a run, without its noise.

    Examples
    --------
    A warm-up with more noise:

    >>> early = Poisson(sampling_probability=0.01, steps=1000)
    >>> late = Poisson(sampling_probability=0.01, steps=2000)
    >>> round(compose((early, 2.0), (late, 1.0)).epsilon(delta=1e-6), 4)
    3.0589
    """
    rows: list[Direction] = []
    relations: set[tuple[str, ...]] = set()
    for part in parts:
        if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], Pair | Poisson):
            raise ValueError(f"parts must be (run, noise) or (pair, times), got {part!r}")
        what: Pair | Poisson = part[0]
        number: Any = part[1]
        if isinstance(what, Pair):
            rows.append([(what, whole("times", number, 1))])
            relations.add(())
        else:
            rows.append([(pair, what.steps) for pair in what.pairs(noise_multiplier=number)])
            relations.add(DIRECTIONS[what.relation])
    if len(relations) != 1:
        raise ValueError("parts must be one run or more, all with the same relation, or pairs")
    directions = [list(direction) for direction in zip(*rows, strict=True)]
    if sum(count for _, count in directions[0]) > 1:
        for pair, count in directions[0]:
            pair.cumulants(count, 1e-12)  # refuses next to no noise
    return Composition(directions)


def bounded(run: Poisson, noise: float, delta: float, side: int) -> float:
    """Bound the epsilon of Gaussian noise from above, or below for side -1, where it is refused."""
    bound, found = composed_epsilon_upper if side > 0 else bounded_below, 0.0
    for pair in run.pairs(noise_multiplier=noise):
        if not isinstance(pair, Gaussian):
            raise ArithmeticError(f"no bounds are known for {pair!r}")
        if run.steps * float(pair.delta(0.0)) > delta:  # else no epsilon is needed
            found = max(found, bound(pair, run.steps, delta))
    return found


def bounded_below(
    pair: SampledNormals, steps: int, delta: float, points: int = 2**15, cells: int = 2**13
) -> float:
    """Bound the epsilon of many steps of a pair, on so many cells of outputs and of losses."""
    noise, share = pair.noise_multiplier, pair.sampling_probability
    p, q = (mixture_masses(noise, share, place, points) for place in pair.places[0])
    return composed_epsilon_lower(p=p, q=q, times=steps, delta=delta, cells=cells)
