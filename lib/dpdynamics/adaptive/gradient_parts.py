r"""The private gradient of Definition 3.3 by its lengths along and across the mean gradient.

The mean gradient has length :math:`\ell_b` in block b, of :math:`k_b` coordinates, and example j
is :math:`\nabla f + s_jZ_j` with Z standard normal. Along the mean in block b it is
:math:`\ell_b + s_ja_{jb}`; across, an isotropic vector in :math:`k_b - 1` dimensions. Let the sum
of those of the earlier examples have length L. Relative to its direction the new one has a normal
component n and a rest of squared length :math:`X\sim\chi^2_{k_b-2}`, whence
:math:`L^2\leftarrow(L + c_js_jn)^2 + c_j^2s_j^2X`; the factor
:math:`c_j = \min(1, C/|\nabla f + s_jZ_j|)` depends on :math:`a_{jb}^2, n^2 + X` only, and the
private noise is one more such vector. Thus two lengths a block, exact in law for every batch size,
cost 2B + 2 normals and as many chi-squares as vectors; the direction across is uniform and
independent of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arguments import nonnegative_array, number, positive_array, whole
from .normalised_means import degrees


class Draws(Protocol):
    """Random arrays of double precision."""

    def normal(self, *shape: int) -> Any:
        """Return standard normals."""

    def chi_square(self, degrees_of_freedom: float, *shape: int) -> Any:
        """Return chi-squares; 0 for no degrees of freedom."""


class NumpyDraws:
    """Draws of a NumPy generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def normal(self, *shape: int) -> NDArray:
        """Return standard normals."""
        return self._rng.standard_normal(shape)

    def chi_square(self, degrees_of_freedom: float, *shape: int) -> NDArray:
        """Return chi-squares; 0 for no degrees of freedom."""
        if degrees_of_freedom == 0:
            return np.zeros(shape)
        return 2 * self._rng.standard_gamma(degrees_of_freedom / 2, shape)


class Parts(NamedTuple):
    """Lengths (blocks, replicates) along and across; share of clipped examples (replicates,)."""

    along: Any
    across: Any
    clipped: Any


@dataclass(frozen=True)
class PrivateNoise:
    r"""Noise of one private gradient; entries are numbers or have one value a replicate.

    `examples` vectors, each a mean gradient with noise of scale `gradient_noise` and
    `degrees_of_freedom`, are clipped at `clip_norm` and averaged; noise of standard deviation
    `private_std` is added to every coordinate. `noisy` and `private` tell which noise there is.
    """

    clip_norm: Any
    private_std: Any
    gradient_noise: Any
    examples: int
    degrees_of_freedom: float
    noisy: bool
    private: bool

    @classmethod
    def checked(
        cls,
        replicates: int,
        *,
        clip_norm: Any,
        noise_multiplier: Any,
        batch_size: int,
        gradient_noise: Any,
        degrees_of_freedom: float,
        per_example: bool,
    ) -> "PrivateNoise":
        """Return the noise of a batch; one vector with averaged noise unless `per_example`."""
        batch = whole("batch_size", batch_size, 1)
        clip = positive_array("clip_norm", clip_norm)
        multiplier = nonnegative_array("noise_multiplier", noise_multiplier)
        sigma = nonnegative_array("gradient_noise", gradient_noise)
        for name, value in (
            ("clip_norm", clip),
            ("noise_multiplier", multiplier),
            ("gradient_noise", sigma),
        ):
            if value.shape not in ((), (replicates,)):
                raise ValueError(
                    f"{name} must be a number or {replicates} of them, got {value.shape}"
                )
        nu = float(degrees(number("degrees_of_freedom", degrees_of_freedom)))
        tau, noisy = clip * multiplier / batch, bool(np.any(sigma))
        if not (per_example and noisy):
            batch, sigma = 1, sigma / sqrt(batch)
        return cls(clip, tau, sigma, batch, nu, noisy, bool(np.any(multiplier)))

    def scale(self, draws: Draws, replicates: int) -> Any:
        """Return the scale of the noise of one example in each replicate."""
        nu = self.degrees_of_freedom
        if nu == inf:
            return self.gradient_noise
        return self.gradient_noise / (draws.chi_square(nu, replicates) / nu) ** 0.5

    def parts(self, lengths: Any, multiplicities: Sequence[int], draws: Draws) -> Parts:
        """Draw the private gradient, of mean lengths (blocks, replicates), as its parts."""
        blocks, runs = lengths.shape
        along, across, clipped = 0.0 * lengths, 0.0 * lengths, 0.0 * lengths[0]
        for j in range(self.examples):
            s = self.scale(draws, runs)
            normals = s * draws.normal(1 if j == 0 else 2, blocks, runs)
            a = lengths + normals[0]
            rest = s**2 * self._across(draws, multiplicities, 1 if j == 0 else 2, runs, lengths)
            n = 0.0 * a if j == 0 else normals[1] * self._has_across(multiplicities, lengths)
            square = (a**2 + n**2 + rest).sum(0)
            factor = self.clip_norm / (square**0.5).clip(min=self.clip_norm)
            clipped = clipped + (factor < 1)
            along = along + factor * a
            across = ((across + factor * n) ** 2 + factor**2 * rest) ** 0.5
        along, across = along / self.examples, across / self.examples
        if self.private:
            b, n = self.private_std * draws.normal(2, blocks, runs)
            rest = self._across(draws, multiplicities, 2, runs, lengths) * self.private_std**2
            n = n * self._has_across(multiplicities, lengths)
            along, across = along + b, ((across + n) ** 2 + rest) ** 0.5
        return Parts(along, across, clipped / self.examples)

    @staticmethod
    def _across(
        draws: Draws, multiplicities: Sequence[int], used: int, runs: int, like: Any
    ) -> Any:
        """Return squared lengths (blocks, runs) of normals in multiplicities - used dimensions."""
        if len(multiplicities) == 1:
            return draws.chi_square(max(multiplicities[0] - used, 0), 1, runs)
        out = 0.0 * like
        for b, k in enumerate(multiplicities):
            out[b] = draws.chi_square(max(k - used, 0), runs)
        return out

    @staticmethod
    def _has_across(multiplicities: Sequence[int], like: Any) -> Any:
        if min(multiplicities) > 1:
            return 1.0
        mask = 0.0 * like[:, :1] + 1.0
        for b, k in enumerate(multiplicities):
            mask[b] = float(k > 1)
        return mask
