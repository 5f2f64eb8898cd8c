"""Moments of an Ornstein-Uhlenbeck ensemble by a compiled kernel; needs the package numba.

The increments of the weak Euler scheme are plus or minus the square root of the step, one random
bit each: their first three moments are those of a Brownian increment, which is all that weak order
1 asks for, and the first two moments of the states are those of Euler-Maruyama exactly. The paths
themselves are not Gaussian. For Monte Carlo only; never for the noise of a private release.
"""

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpdynamics.arguments import finite_array, nonnegative_array
from dpdynamics.dynamics.sde import time_grid
from dpdynamics.runs import Runs

_LARGEST = 1e19  # its square is finite in single precision


def first_two_moments(x: Any) -> Any:
    """Means over the replicates of x and of its square, (2, dim), summed in double precision."""
    if hasattr(x, "double"):
        return (x.double()[None] ** x.new_tensor([[[1.0]], [[2.0]]]).double()).mean(1)
    return np.stack([x.mean(0, dtype=np.float64), (x * x).mean(0, dtype=np.float64)])


def ornstein_uhlenbeck_moments(
    x0: ArrayLike,
    times: ArrayLike,
    *,
    rate: ArrayLike,
    diffusion: ArrayLike,
    rng: np.random.Generator,
    max_step: float | None = None,
) -> Runs:
    r"""Simulate :math:`dX = -aX\,dt + s\,dW` in single precision and record two moments.

    Parameters
    ----------
    x0 : (replicates, dim) array
    times : (N,) array
        Increasing; the moments are recorded there, the first time included.
    rate, diffusion : numbers or (dim,) arrays
        a, finite, and s, nonnegative.
    rng : numpy.random.Generator
        Draws the 64-bit keys of the streams of bits, one stream for each entry of the state.
    max_step : float, optional
        As for `euler_maruyama`.

    Returns
    -------
    Runs
        `values` (N, 2, dim) as by `first_two_moments`.

    Raises
    ------
    ValueError
        If a shape or a range is violated, or a state is not finite.
    ModuleNotFoundError
        Without numba.

    References
    ----------
    Kloeden and Platen, Numerical Solution of Stochastic Differential Equations (1992), 14.1.
    """
    x = finite_array("x0", x0, ndim=2, largest=_LARGEST).astype(np.float32)
    if x.size == 0:
        raise ValueError(f"x0 must not be empty, got shape {x.shape}")
    a, s = finite_array("rate", rate), nonnegative_array("diffusion", diffusion)
    for name, value in (("rate", a), ("diffusion", s)):
        if value.shape not in ((), x.shape[1:]):
            raise ValueError(f"{name} must be a number or have shape {x.shape[1:]}")
    a, s = np.broadcast_to(a, x.shape[1:]), np.broadcast_to(s, x.shape[1:])
    grid = time_grid(times, max_step, 1)
    advance, keys = _kernel(), rng.integers(1 << 32, size=(2, *x.shape), dtype=np.uint32)
    done = 0
    values = [first_two_moments(x)]
    for begin, h, pieces in grid:
        with np.errstate(over="ignore"):
            keep, kick = (1 - h * a).astype(np.float32), (sqrt(h) * s).astype(np.float32)
        advance(x, keys, keep, kick, done, pieces)
        done += pieces
        if not np.abs(x).max() <= _LARGEST:
            raise ValueError(
                f"rate, diffusion: a state is not finite at time {begin + h * pieces:.6g}, or its "
                "square is not"
            )
        values.append(first_two_moments(x))
    return Runs(finite_array("times", times), np.stack(values), x)


@cache
def _kernel() -> Callable[[NDArray, NDArray, NDArray, NDArray, int, int], None]:
    try:
        import numba
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("ornstein_uhlenbeck_moments needs numba") from error

    @numba.njit(fastmath=True)
    def advance(x: Any, keys: Any, keep: Any, kick: Any, first: int, steps: int) -> None:
        plus = kick.view(np.uint32)
        word, signed = np.empty_like(plus), np.empty_like(plus)
        noise = signed.view(np.float32)
        for r in range(len(x)):
            row, one, two = x[r], keys[0, r], keys[1, r]
            for step in range(first, first + steps):
                bit = np.uint32(step % 32)
                if bit == 0 or step == first:
                    count = np.uint32(step // 32) * np.uint32(0x9E3779B9)
                    for j in range(row.size):  # a counter hashed with 64 bits of key
                        z = one[j] + count
                        z = (z ^ (z >> np.uint32(16))) * np.uint32(0x7FEB352D)
                        z = (z ^ (z >> np.uint32(15)) ^ two[j]) * np.uint32(0x846CA68B)
                        word[j] = z ^ (z >> np.uint32(16))
                for j in range(row.size):
                    signed[j] = plus[j] ^ ((word[j] << bit) & np.uint32(0x80000000))
                for j in range(row.size):
                    row[j] = keep[j] * row[j] + noise[j]

    return advance
