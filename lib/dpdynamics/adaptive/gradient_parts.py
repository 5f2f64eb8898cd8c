r"""The private gradient of Definition 3.3 by its lengths along and across the mean gradient.

In a block of k coordinates, where the mean gradient has length l, example j of the batch adds
:math:`c_j(l + s_ja)` along it, and across it :math:`L^2\leftarrow(L + c_js_jn)^2 + c_j^2s_j^2X`,
with a, n normal, :math:`X\sim\chi^2_{k-2}`, the scale :math:`s_j` of its noise and the factor
:math:`c_j` of clipping; the private noise is one more such vector. Exact in law for every batch
size; the direction across is uniform and independent of the lengths.
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..arguments import nonnegative_array, number, positive_array, whole
from ..optimisers import NumpyArrays
from .normalised_means import degrees


class Parts(NamedTuple):
    """Lengths (blocks, replicates) along and across; share of clipped examples (replicates,)."""

    along: Any
    across: Any
    clipped: Any


class PrivateNoise:
    r"""Noise of one private gradient; entries are numbers or have one value a replicate.

    `examples` vectors, each a mean gradient with noise of scale `gradient_noise` and
    `degrees_of_freedom`, are clipped at `clip_norm` and averaged; noise of standard deviation
    `private_std` is added to every coordinate. `noisy` and `private` tell which noise there is.
    """

    def __init__(
        self,
        arrays: NumpyArrays,
        replicates: int,
        clip_norm: Any,
        noise_multiplier: Any,
        gradient_noise: Any,
        batch_size: int,
        degrees_of_freedom: float,
    ) -> None:
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
        self.degrees_of_freedom = float(degrees(number("degrees_of_freedom", degrees_of_freedom)))
        self.noisy, self.private = bool(np.any(sigma)), bool(np.any(multiplier))
        self.examples = batch if self.noisy else 1
        self.arrays, self.clip_norm = arrays, arrays.double(clip)
        self.private_std = arrays.double(clip * multiplier / batch)
        self.gradient_noise = arrays.double(sigma)

    def scale(self, replicates: int) -> Any:
        """Return the scale of the noise of one example in each replicate."""
        nu = self.degrees_of_freedom
        if nu == inf:
            return self.gradient_noise
        return self.gradient_noise / (self.arrays.chi_square(nu, replicates) / nu) ** 0.5

    def factor(self, lengths: Any) -> Any:
        """Return what clipping multiplies vectors of these lengths by."""
        return self.clip_norm / lengths.clip(min=self.clip_norm)

    def parts(self, lengths: Any, sizes: Any) -> Parts:
        """Draw the private gradient, of mean lengths (blocks, replicates), as its parts.

        `sizes` are the numbers of coordinates of the blocks, (blocks, 1).
        """
        draws, shape, has_across = self.arrays, tuple(lengths.shape), (sizes > 1) * 1.0
        along, across, clipped = 0.0 * lengths, 0.0 * lengths, 0.0 * lengths[0]
        for j in range(self.examples):
            used = 1 if j == 0 else 2
            s = self.scale(shape[1])
            normals = s * draws.normal(used, *shape)
            a = lengths + normals[0]
            rest = s**2 * draws.chi_square((sizes - used).clip(min=0), *shape)
            n = 0.0 * a if j == 0 else normals[1] * has_across
            factor = self.factor((a**2 + n**2 + rest).sum(0) ** 0.5)
            clipped = clipped + (factor < 1)
            along = along + factor * a
            across = ((across + factor * n) ** 2 + factor**2 * rest) ** 0.5
        along, across = along / self.examples, across / self.examples
        if self.private:
            b, n = self.private_std * draws.normal(2, *shape)
            rest = draws.chi_square((sizes - 2).clip(min=0), *shape) * self.private_std**2
            along, across = along + b, ((across + n * has_across) ** 2 + rest) ** 0.5
        return Parts(along, across, clipped / self.examples)
