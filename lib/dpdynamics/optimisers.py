r"""The moves of DP-SGD, DP-SignSGD and DP-Adam, in place, on arrays of NumPy or torch.

With the private gradient g they are :math:`-\eta g`, :math:`-\eta\,\mathrm{sign}\,g` (zero where g
is), and :math:`-\eta\hat m/(\sqrt{\hat v}+\epsilon)` with the bias-corrected moments of g.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import one_of

# The generator of single-precision normals; see its warning about private releases.
from .normals import Normals

METHODS = ("sgd", "sign", "adam")
_BLOCK = 1 << 15  # entries of a dense pass that stay in the cache of a processor


def descend(space: Any, x: Any, g: Any, rate: Any, *, signs: bool) -> None:
    """Take a step of DP-SGD, or of DP-SignSGD; g is overwritten."""
    if signs and space is np:  # without the branches of np.sign
        np.multiply(g, np.finfo(g.dtype).max, out=g)
        np.clip(g, -1, 1, out=g)
    elif signs:
        g.sign_()
    g *= rate
    x -= g


def adam_factors(rate: Any, beta1: Any, beta2: Any, epsilon: Any, steps: int) -> list[Any]:
    r"""Factors of m, g, v and :math:`g^2` at a step counted from 1, and (rate, floor): the step is
    rate m / (sqrt v + floor), the bias corrections included.
    """
    root = (1 - beta2**steps) ** 0.5
    return [beta1, 1 - beta1, beta2, 1 - beta2, rate * root / (1 - beta1**steps), epsilon * root]


def adam(space: Any, x: Any, g: Any, moments: Any, factors: list[Any]) -> None:
    """Take a step of DP-Adam; moments are m and v, and g is overwritten."""
    old1, new1, old2, new2, rate, floor = factors
    height = max(1, _BLOCK // g[0].size) if space is np else len(g)
    for start in range(0, len(g), height):
        part = slice(start, start + height)
        block, m, v, w = (array[part] for array in (g, *moments, x))
        m *= old1
        m += new1 * block
        space.square(block, out=block)
        block *= new2
        v *= old2
        v += block
        space.sqrt(v, out=block)
        block += floor
        space.divide(m, block, out=block)
        block *= rate
        w -= block


class NumpyArrays:
    """NumPy arrays of one precision; draws are of double precision except for `fill`."""

    space: Any = np

    def __init__(self, dtype: str, rng: np.random.Generator) -> None:
        self.dtype, self._rng = np.dtype(dtype), rng
        self._normals = Normals(rng, self.dtype)

    def array(self, value: Any) -> Any:
        """Return an array of this precision."""
        return np.asarray(value, dtype=self.dtype)

    def double(self, value: Any) -> Any:
        """Return an array of double precision."""
        return np.asarray(value, dtype=np.float64)

    def numpy(self, x: Any) -> NDArray:
        """Return a copy as a NumPy array."""
        return np.array(x)

    def finite(self, x: Any) -> bool:
        """Whether every entry is."""
        return bool(np.isfinite(x).all())

    def fill(self, out: Any, scale: float = 1.0) -> None:
        """Overwrite with independent normals of standard deviation `scale`."""
        self._normals.fill(out, scale)

    def normal(self, *shape: int) -> Any:
        """Return standard normals."""
        return self._rng.standard_normal(shape)

    def chi_square(self, degrees_of_freedom: ArrayLike, *shape: int) -> Any:
        """Return chi-squares; 0 for no degrees of freedom."""
        half = np.asarray(degrees_of_freedom) / 2  # a number is faster than an array of one
        return 2 * self._rng.standard_gamma(half.item() if half.size == 1 else half, shape)

    def dot(self, a: Any, b: Any) -> Any:
        """Return inner products of rows, as a double column."""
        return self.double(self.space.linalg.vecdot(a, b))[:, None]

    def scaled(self, x: Any, factor: Any, out: Any) -> None:
        """Write x times a number or a column of numbers."""
        factor = self.array(factor) if hasattr(factor, "ndim") else factor
        self.space.multiply(x, factor, out=out)

    def quiet(self) -> Any:
        """Return the context for a loop: no warnings, no gradients."""
        return np.errstate(over="ignore", invalid="ignore")


class TorchArrays(NumpyArrays):
    """Tensors; `fill` draws as NumPy does on the CPU, the rest by a generator that `rng` seeds."""

    def __init__(self, dtype: str, device: str, rng: np.random.Generator) -> None:
        import torch

        self.space, self.dtype, self.device = torch, getattr(torch, dtype), torch.device(device)
        self._rng = rng
        if self.device.type == "cpu":
            self._normals = Normals(rng, np.dtype(dtype))

    @cached_property
    def _generator(self) -> Any:
        seed = int(self._rng.integers(1 << 62))
        return self.space.Generator(self.device).manual_seed(seed)

    def array(self, value: Any) -> Any:
        """Return a tensor of this precision."""
        return self.space.as_tensor(value, dtype=self.dtype, device=self.device)

    def double(self, value: Any) -> Any:
        """Return a tensor of double precision."""
        return self.space.as_tensor(value, dtype=self.space.float64, device=self.device)

    def numpy(self, x: Any) -> NDArray:
        """Return a copy as a NumPy array."""
        return np.array(x.cpu().numpy() if isinstance(x, self.space.Tensor) else x)

    def finite(self, x: Any) -> bool:
        """Whether every entry is; the sum tells fastest, unless it overflows."""
        return bool(self.space.isfinite(x.sum()) or self.space.isfinite(x).all())

    def fill(self, out: Any, scale: float = 1.0) -> None:
        """Overwrite with independent normals of standard deviation `scale`."""
        if self.device.type == "cpu":
            self._normals.fill(out.numpy(), scale)
        else:
            out.normal_(0.0, scale, generator=self._generator)

    def normal(self, *shape: int) -> Any:
        """Return standard normals."""
        out = self.space.empty(shape, dtype=self.space.float64, device=self.device)
        return out.normal_(generator=self._generator)

    def chi_square(self, degrees_of_freedom: Any, *shape: int) -> Any:
        """Return chi-squares; 0 for no degrees of freedom."""
        alpha = (self.double(degrees_of_freedom) / 2).expand(shape).contiguous()
        return 2 * self.space._standard_gamma(alpha, generator=self._generator)

    def quiet(self) -> Any:
        """Return the context for a loop: no warnings, no gradients."""
        return self.space.no_grad()


def arrays_of(backend: str, dtype: str, device: str, rng: np.random.Generator) -> NumpyArrays:
    """Return the arrays of this backend, "numpy" or "torch"."""
    one_of("dtype", dtype, ("float64", "float32"))
    if one_of("backend", backend, ("numpy", "torch")) == "torch":
        return TorchArrays(dtype, device, rng)
    if device != "cpu":
        raise ValueError(f"device must be cpu for the numpy backend, got {device!r}")
    return NumpyArrays(dtype, rng)
