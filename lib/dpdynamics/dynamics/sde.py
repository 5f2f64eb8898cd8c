r"""Ensembles of solutions of :math:`dX = b(t, X)\,dt + s(t, X)\,dW` (Ito) by Euler-Maruyama.

The scheme has strong order 1/2 (order 1 for noise that does not depend on the state) and weak order
1. The Brownian increments can be prescribed, so that different steps follow the same path.
"""

from collections.abc import Callable, Iterator
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpdynamics.arguments import finite_array, one_of, positive, whole

from ..normals import Normals
from .runs import Runs

MOST_STEPS = 1e9  # between two times; more would not end
Coefficient = Callable[[float, Any], Any]  # (t, x), x (replicates, dim), to drift or diffusion
Statistic = Callable[[Any], Any]  # x (replicates, dim) to an array of a fixed shape


def euler_maruyama(
    drift: Coefficient,
    diffusion: Coefficient,
    x0: ArrayLike,
    times: ArrayLike,
    *,
    rng: np.random.Generator | None = None,
    max_step: float | None = None,
    substeps: int = 1,
    statistic: Statistic | None = None,
    noise_dimension: int | None = None,
    increments: ArrayLike | None = None,
    dtype: str = "float64",
    backend: str = "numpy",
    device: str = "cpu",
) -> Runs:
    r"""Simulate independent solutions of an Ito equation that start at `times[0]`.

    Parameters
    ----------
    drift : callable
        (t, x) to an array (replicates, dim); t is a float, x must not be changed.
    diffusion : callable
        (t, x) to the diagonal of s, of shape (), (dim,) or (replicates, dim); with
        `noise_dimension` m to matrices s of shape (dim, m) or (replicates, dim, m).
    x0 : (replicates, dim) array
    times : (N,) array
        Increasing; `statistic` is recorded at each of them, the first included.
    rng : numpy.random.Generator
        Needed unless `increments` are given. Single-precision draws come from a fast generator
        that it seeds: for Monte Carlo only, not for the noise of a private release.
    max_step : float, optional
        Each interval between times is divided evenly into steps of at most this length. None: into
        `substeps` steps.
    substeps : int
        At least 1; not with `max_step`.
    statistic : callable, optional
        Maps states x to an array of a fixed shape. None: the states themselves, so that `values`
        are the paths (N, replicates, dim).
    noise_dimension : int, optional
        Number m of Brownian motions. None: one for each coordinate.
    increments : (steps, replicates, m) array, optional
        Brownian increments W(t + h) - W(t) of all steps in order, instead of random ones.
    dtype : {"float64", "float32"}
    backend : {"numpy", "torch"}
        What `drift`, `diffusion` and `statistic` compute with. On the CPU both see the same draws;
        on another `device` they come from a torch.Generator that `rng` seeds.
    device : str
        For torch.

    Returns
    -------
    Runs
        At the times: `values` (N, ...) of the statistic, and the final states.

    Raises
    ------
    ValueError
        If a shape or a range is violated, or a state or a statistic is not finite: the message
        names the time.

    Examples
    --------
    >>> import numpy as np
    >>> paths = euler_maruyama(
    ...     lambda t, x: -x, lambda t, x: 0.2, np.ones((4, 2)), [0.0, 1.0, 3.0],
    ...     rng=np.random.default_rng(0), max_step=0.01,
    ... )
    >>> paths.values.shape
    (3, 4, 2)

    References
    ----------
    Kloeden and Platen, Numerical Solution of Stochastic Differential Equations (1992), 10.2, 14.1.
    """
    space = _space(backend, dtype, device)
    start = finite_array("x0", x0, ndim=2)
    if start.size == 0:
        raise ValueError(f"x0 must not be empty, got shape {start.shape}")
    grid = time_grid(times, max_step, substeps)
    count = sum(pieces for _, _, pieces in grid)
    scheme = Euler(drift, diffusion, space, start.shape, noise_dimension)
    noise: Iterator[Any]
    if increments is not None:
        given = finite_array("increments", increments, ndim=3)
        if given.shape != (count, *scheme.noise_shape):
            raise ValueError(
                f"increments must have shape {(count, *scheme.noise_shape)}, got {given.shape}"
            )
        noise = (space.array(dw) for dw in given)
    elif rng is None:
        raise ValueError("rng must be given unless increments are")
    else:
        draw = space.normals(rng, scheme.noise_shape)
        noise = (draw(sqrt(h)) for _, h, pieces in grid for _ in range(pieces))

    x = space.array(start)
    with space.quiet():
        values = [_observed(statistic, x, space, float(np.asarray(times)[0]))]
        for begin, h, pieces in grid:
            for k in range(pieces):
                scheme.advance(x, begin + k * h, h, next(noise))
            values.append(_observed(statistic, x, space, begin + pieces * h))
    return Runs(finite_array("times", times), np.stack(values), space.numpy(x))


class Euler:
    """One step of the scheme on an ensemble; used with draws from elsewhere too."""

    def __init__(
        self,
        drift: Coefficient,
        diffusion: Coefficient,
        space: "_Numpy | _Torch",
        shape: tuple[int, ...],
        noise_dimension: int | None = None,
    ) -> None:
        self.drift, self.diffusion, self.space, self.shape = drift, diffusion, space, shape
        self.general = noise_dimension is not None
        m = shape[1] if noise_dimension is None else whole("noise_dimension", noise_dimension, 1)
        self.noise_shape = shape[0], m
        matrix = (shape[1], m)
        self.allowed = [matrix, (shape[0], *matrix)] if self.general else [(), shape[1:], shape]

    def advance(self, x: Any, t: float, h: float, dw: Any) -> None:
        """Move x in place from t to t + h along the increment dw, which may be overwritten."""
        b = self.space.asarray(self.drift(t, x))
        if tuple(b.shape) != self.shape:
            raise ValueError(f"drift must return shape {self.shape}, got {tuple(b.shape)}")
        s = self.space.asarray(self.diffusion(t, x))
        if tuple(s.shape) not in self.allowed:
            expected = ", ".join(map(str, self.allowed))
            raise ValueError(f"diffusion must return shape {expected}, got {tuple(s.shape)}")
        if not self.general:
            dw *= s
        else:
            dw = dw @ s.T if s.ndim == 2 else (s @ dw[..., None])[..., 0]
        dw += h * b
        x += dw
        if not self.space.finite(x):
            raise ValueError(f"drift, diffusion: a state is not finite at time {t + h:.6g}")


def time_grid(
    times: ArrayLike, max_step: float | None, substeps: int
) -> list[tuple[float, float, int]]:
    """Start, step and number of steps of each interval between the times."""
    grid = finite_array("times", times, ndim=1)
    if grid.size == 0 or np.any(np.diff(grid) <= 0):
        raise ValueError("times must not be empty and must increase")
    substeps = whole("substeps", substeps, minimum=1)
    if max_step is not None and substeps != 1:
        raise ValueError("substeps must not be given together with max_step")
    longest = None if max_step is None else positive("max_step", max_step)
    steps = []
    for begin, end in zip(grid[:-1].tolist(), grid[1:].tolist(), strict=True):
        pieces = substeps if longest is None else max(1, ceil((end - begin) / longest - 1e-9))
        if pieces > MOST_STEPS:
            raise ValueError(f"times, max_step, substeps, steps: more than {MOST_STEPS:g} steps")
        steps.append((begin, (end - begin) / pieces, pieces))
    return steps


def _observed(statistic: Statistic | None, x: Any, space: "_Numpy | _Torch", t: float) -> NDArray:
    value = space.numpy(x if statistic is None else statistic(x))
    if not np.all(np.isfinite(value)):
        raise ValueError(f"statistic is not finite at time {t:.6g}")
    return value


def _space(backend: str, dtype: str, device: str) -> "_Numpy | _Torch":
    one_of("dtype", dtype, ("float64", "float32"))
    if one_of("backend", backend, ("numpy", "torch")) == "torch":
        return _Torch(dtype, device)
    if device != "cpu":
        raise ValueError(f"device must be cpu for the numpy backend, got {device!r}")
    return _Numpy(dtype)


class _Numpy:
    """Arrays of one dtype."""

    def __init__(self, dtype: str) -> None:
        self.dtype = np.dtype(dtype)

    def array(self, value: ArrayLike) -> NDArray:
        return np.array(value, dtype=self.dtype)

    def asarray(self, value: Any) -> NDArray:
        return np.asarray(value, dtype=self.dtype)

    def numpy(self, x: Any) -> NDArray:
        return np.array(x)

    def finite(self, x: NDArray) -> bool:
        return bool(np.isfinite(x).all())

    def normals(
        self, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> Callable[[float], NDArray]:
        stream, out = Normals(rng, self.dtype), np.empty(shape, self.dtype)

        def draw(scale: float) -> NDArray:
            stream.fill(out, scale)
            return out

        return draw

    def quiet(self) -> Any:
        """Overflow is reported once, as an error that names the time."""
        return np.errstate(over="ignore", invalid="ignore")


def float64_space() -> _Numpy:
    """Return the arrays that `Euler` needs for computations in double precision."""
    return _Numpy("float64")


class _Torch:
    """Tensors of one dtype on one device."""

    def __init__(self, dtype: str, device: str) -> None:
        import torch

        self.torch, self.host = torch, _Numpy(dtype)
        self.dtype, self.device = getattr(torch, dtype), torch.device(device)

    def array(self, value: ArrayLike) -> Any:
        return self.torch.tensor(np.asarray(value), dtype=self.dtype, device=self.device)

    def asarray(self, value: Any) -> Any:
        return self.torch.as_tensor(value, dtype=self.dtype, device=self.device)

    def numpy(self, x: Any) -> NDArray:
        return np.array(x.cpu().numpy() if isinstance(x, self.torch.Tensor) else x)

    def finite(self, x: Any) -> bool:
        # The sum is finite unless a state is not, or the sum overflows: much faster to look at.
        return bool(self.torch.isfinite(x.sum()) or self.torch.isfinite(x).all())

    def normals(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Callable[[float], Any]:
        if self.device.type == "cpu":
            draw, from_numpy = self.host.normals(rng, shape), self.torch.from_numpy
            return lambda scale: from_numpy(draw(scale))
        return self.generated(rng, shape)

    def generated(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Callable[[float], Any]:
        """Draws on the device itself."""
        generator = self.torch.Generator(self.device).manual_seed(int(rng.integers(1 << 62)))
        out = self.torch.empty(shape, dtype=self.dtype, device=self.device)
        return lambda scale: out.normal_(0.0, scale, generator=generator)

    def quiet(self) -> Any:
        return self.torch.no_grad()
