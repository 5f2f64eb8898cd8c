"""Laws of features and of label noise, with samplers in the eigenbasis of the features."""

from dataclasses import dataclass
from functools import cached_property
from math import erfc, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc

from ..arguments import Array, last_axis, nonnegative, nonnegative_array, positive, whole

Size = int | tuple[int, ...]


def _shape(size: Size) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else tuple(size)


class Design(Protocol):
    """The law of a feature vector: the eigenvalues of its second moment and a sampler."""

    @property
    def eigenvalues(self) -> Array:
        """Eigenvalues (d,) of the uncentred second moment."""

    def sample(self, rng: np.random.Generator, size: Size) -> Array:
        """Draw features (*size, d) in the eigenbasis of the second moment."""


@dataclass(frozen=True)
class UniformDesign:
    r"""Independent entries :math:`a_j\sim U(0, 1/\sqrt d)`, the design of lin2025, Section 5.

    The second moment is :math:`\frac1{12d}I + \frac14uu^\top` with :math:`u` the unit vector along
    the ones; a Householder reflection takes it to the first coordinate vector.
    """

    dimension: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", whole("dimension", self.dimension, minimum=1))

    @cached_property
    def eigenvalues(self) -> Array:
        """Eigenvalues (d,): the large one first, then d - 1 equal ones."""
        eigenvalues = np.full(self.dimension, 1 / (12 * self.dimension))
        eigenvalues[0] += 0.25
        return eigenvalues

    def rotate(self, v: ArrayLike) -> Array:
        """Reflect (..., d) from the original coordinates to the eigenbasis, or back."""
        v = last_axis("v", v, self.dimension)
        if self.dimension == 1:
            return v
        normal = np.full(self.dimension, 1 / sqrt(self.dimension))
        normal[0] -= 1
        along = v @ normal * (-2 / (normal @ normal))
        return v + along[..., None] * normal

    def sample(self, rng: np.random.Generator, size: Size) -> Array:
        """Draw features (*size, d) in the eigenbasis."""
        entries = rng.random((*_shape(size), self.dimension)) / sqrt(self.dimension)
        return self.rotate(entries)


@dataclass(frozen=True, eq=False)
class GaussianDesign:
    r"""Gaussian features :math:`a\sim N(0, \mathrm{diag}(\lambda))`, `eigenvalues` (d,) >= 0."""

    eigenvalues: Array

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "eigenvalues", nonnegative_array("eigenvalues", self.eigenvalues, ndim=1)
        )

    def sample(self, rng: np.random.Generator, size: Size) -> Array:
        """Draw features (*size, d)."""
        features = rng.standard_normal((*_shape(size), self.eigenvalues.size))
        features *= np.sqrt(self.eigenvalues)
        return features


@dataclass(frozen=True)
class GaussianLabelNoise:
    r"""Label noise :math:`N(0, \text{scale}^2)`, its values cut at :math:`\pm` `clip` scales.

    A value beyond the threshold is moved to the threshold, not redrawn. `scale` is in [0, inf);
    `clip` is in (0, inf), or None for plain Gaussian noise.
    """

    scale: float
    clip: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", nonnegative("scale", self.scale))
        if self.clip is not None:
            object.__setattr__(self, "clip", positive("clip", self.clip))

    @property
    def variance(self) -> float:
        """Variance after clipping, in closed form."""
        if (c := self.clip) is None:
            return self.scale**2
        inside = float(gammainc(1.5, c**2 / 2))
        return self.scale**2 * (inside + c**2 * erfc(c / sqrt(2)))

    def sample(self, rng: np.random.Generator, size: Size) -> Array:
        """Draw label noise of shape `size`."""
        noise = rng.standard_normal(_shape(size))
        if self.clip is not None:
            np.clip(noise, -self.clip, self.clip, out=noise)
        return self.scale * noise
