"""Pairs of distributions that a release may have, or privacy loss distributions (PLD)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ..arguments import Array, elementwise, one_of, orders_array, positive, probability
from ..numerics.inversion import Cumulants

NOTHING = np.zeros(0)


class Pair(ABC):
    r"""Two distributions P and Q that a release may have: all that composition asks of it.

    With :math:`L=\ln(dP/dQ)` under P, the privacy loss, a class says how L is distributed: by its
    profile and by its moment generating function. `compose` takes pairs, and a run draws its
    steps from a class of them, see `Poisson.noise`; so a new mechanism is one class. In
    dp-accounting the like is a `PrivacyLossDistribution`.
    """

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest loss, which may be infinite."""
        return -np.inf, np.inf

    @property
    def atoms(self) -> tuple[Array, Array]:
        """Two losses of positive probability, the least and the largest, and these; or nothing."""
        return NOTHING, NOTHING

    @abstractmethod
    def delta(self, epsilon: ArrayLike) -> float | Array:
        r"""Compute the privacy profile :math:`\int(p-e^\varepsilon q)_+`, for any real epsilon."""

    @abstractmethod
    def cumulants(self, steps: int, smallest: float) -> Cumulants:
        r"""Return :math:`\ln E\,e^{zL}` of so many releases, as `numerics.inversion` takes it.

        What lowers delta by much less than `smallest` may be left out.
        """

    def renyi(self, orders: ArrayLike) -> float | Array:
        r"""Compute the Renyi divergence of P from Q at orders :math:`\alpha>1`.

        The error is of the order of :math:`10^{-15}/(\alpha-1)`.
        """

        def at(order: float) -> float:
            z = np.array([order - 1 + 0j])
            return float(self.cumulants(1, 1e-290)(z, 0 * z, 1.0)[0, 0].real) / (order - 1)

        return elementwise(at, orders_array("orders", orders))


@dataclass(frozen=True)
class NoisySum(Pair):
    """A sum of vectors of norm 1 at most, each there with the `sampling_probability`, and noise.

    The scale of the noise is the `noise_multiplier`; `relation` is remove, add or replace.
    """

    noise_multiplier: float
    sampling_probability: float = 1.0
    relation: str = "remove"

    def __post_init__(self) -> None:
        positive("noise_multiplier", self.noise_multiplier)
        probability("sampling_probability", self.sampling_probability)
        one_of("relation", self.relation, ("remove", "add", "replace"))


def reach_of(steps: int, smallest: float) -> float:
    """Return where a normal law, in each of `steps` steps, leaves 1e-10 `smallest` outside."""
    return -float(ndtri(1e-10 * smallest / steps / 2))
