"""Arrays of one precision on one device, NumPy's or torch's, for ensembles of optimisers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import one_of

# The generator of single-precision normals; see its warning about private releases.
from ..normals import Normals
from .gradient_parts import NumpyDraws


def make_backend(
    backend: str, dtype: str, device: str, rng: np.random.Generator
) -> "NumpyBackend | TorchBackend":
    """Return the backend of this name."""
    one_of("dtype", dtype, ("float64", "float32"))
    if one_of("backend", backend, ("numpy", "torch")) == "torch":
        return TorchBackend(dtype, device, rng)
    if device != "cpu":
        raise ValueError(f"device must be cpu for the numpy backend, got {device!r}")
    return NumpyBackend(dtype, rng)


class NumpyBackend:
    """NumPy arrays; small draws are of double precision, large ones of the chosen one."""

    def __init__(self, dtype: str, rng: np.random.Generator) -> None:
        self.dtype, self.space = np.dtype(dtype), np
        self.draws, self._normals = NumpyDraws(rng), Normals(rng, self.dtype)

    def array(self, value: ArrayLike) -> NDArray:
        return np.array(value, dtype=self.dtype)

    def double(self, value: ArrayLike) -> NDArray:
        return np.array(value, dtype=np.float64)

    def fill(self, out: NDArray) -> None:
        """Overwrite with standard normals."""
        self._normals.fill(out, 1.0)

    def dot(self, a: NDArray, b: NDArray) -> NDArray:
        """Return inner products of rows, as a double column."""
        return np.vecdot(a, b).astype(np.float64)[:, None]

    def scaled(self, x: NDArray, factor: Any, out: NDArray) -> None:
        """Write x times a number or a column of numbers."""
        np.multiply(x, np.asarray(factor, dtype=self.dtype), out=out)

    def sign(self, x: NDArray) -> None:
        """Replace numbers by their signs, without the branches of np.sign."""
        np.multiply(x, np.finfo(self.dtype).max, out=x)
        np.clip(x, -1, 1, out=x)

    def numpy(self, x: Any) -> NDArray:
        return np.array(x)

    def quiet(self) -> Any:
        return np.errstate(over="ignore", invalid="ignore")


class TorchBackend:
    """Tensors on a device; draws come from a generator there that `rng` seeds."""

    def __init__(self, dtype: str, device: str, rng: np.random.Generator) -> None:
        import torch

        self.space, self.dtype, self.device = torch, getattr(torch, dtype), torch.device(device)
        seed = int(rng.integers(1 << 62))
        self._generator = torch.Generator(self.device).manual_seed(seed)
        self.draws = self

    def array(self, value: ArrayLike) -> Any:
        return self.space.tensor(np.asarray(value), dtype=self.dtype, device=self.device)

    def double(self, value: ArrayLike) -> Any:
        return self.space.tensor(np.asarray(value), dtype=self.space.float64, device=self.device)

    def fill(self, out: Any) -> None:
        """Overwrite with standard normals."""
        out.normal_(generator=self._generator)

    def normal(self, *shape: int) -> Any:
        """Return standard normals of double precision."""
        return self._empty(shape).normal_(generator=self._generator)

    def chi_square(self, degrees_of_freedom: float, *shape: int) -> Any:
        """Return chi-squares of double precision; 0 for no degrees of freedom."""
        alpha = self._empty(shape).fill_(degrees_of_freedom / 2)
        if degrees_of_freedom == 0:
            return alpha
        return 2 * self.space._standard_gamma(alpha, generator=self._generator)

    def dot(self, a: Any, b: Any) -> Any:
        """Return inner products of rows, as a double column."""
        return self.space.linalg.vecdot(a, b).double()[:, None]

    def scaled(self, x: Any, factor: Any, out: Any) -> None:
        """Write x times a number or a column of numbers."""
        if isinstance(factor, self.space.Tensor):
            factor = factor.to(self.dtype)
        self.space.mul(x, factor, out=out)

    def sign(self, x: Any) -> None:
        """Replace numbers by their signs."""
        self.space.sign(x, out=x)

    def numpy(self, x: Any) -> NDArray:
        return np.array(x.cpu().numpy() if isinstance(x, self.space.Tensor) else x)

    def quiet(self) -> Any:
        return self.space.no_grad()

    def _empty(self, shape: tuple[int, ...]) -> Any:
        return self.space.empty(shape, dtype=self.space.float64, device=self.device)
