r"""Ensembles of solutions of :math:`dX = b(t, X)\,dt + s(t, X)\,dW` (Ito) by Euler-Maruyama.

The scheme has strong order 1/2 (order 1 for noise that does not depend on the state) and weak order
1: Kloeden and Platen, Numerical Solution of Stochastic Differential Equations (1992), 10.2, 14.1.
"""

from collections.abc import Callable
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import finite_array, positive, whole
from ..optimisers import arrays_of
from ..runs import Runs

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
        (t, x) to the diagonal of s, of shape (), (dim,) or (replicates, dim).
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
    increments : (steps, replicates, dim) array, optional
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
    """
    start = finite_array("x0", x0, ndim=2)
    if start.size == 0:
        raise ValueError(f"x0 must not be empty, got shape {start.shape}")
    if rng is None and increments is None:
        raise ValueError("rng must be given unless increments are")
    arrays = arrays_of(backend, dtype, device, rng or np.random.default_rng(0))
    grid = time_grid(times, max_step, substeps)
    allowed = [(), start.shape[1:], start.shape]
    shape = sum(pieces for _, _, pieces in grid), *start.shape
    given = None if increments is None else finite_array("increments", increments, ndim=3)
    if given is not None and given.shape != shape:
        raise ValueError(f"increments must have shape {shape}, got {given.shape}")
    x, noise, done = arrays.array(start) * 1, arrays.array(np.empty(start.shape)), 0

    def advance(t: float, h: float) -> None:
        """Move x from t to t + h."""
        nonlocal x
        if given is None:
            arrays.fill(noise, sqrt(h))
        dw = noise if given is None else arrays.array(given[done]) * 1
        b, s = arrays.array(drift(t, x)), arrays.array(diffusion(t, x))
        if tuple(b.shape) != start.shape:
            raise ValueError(f"drift must return shape {start.shape}, got {tuple(b.shape)}")
        if tuple(s.shape) not in allowed:
            expected = ", ".join(map(str, allowed))
            raise ValueError(f"diffusion must return shape {expected}, got {tuple(s.shape)}")
        dw *= s
        dw += h * b
        x += dw
        if not arrays.finite(x):
            raise ValueError(f"drift, diffusion: a state is not finite at time {t + h:.6g}")

    def observed(t: float) -> NDArray:
        value = arrays.numpy(x if statistic is None else statistic(x))
        if not np.all(np.isfinite(value)):
            raise ValueError(f"statistic is not finite at time {t:.6g}")
        return value

    with arrays.quiet():
        values = [observed(float(np.asarray(times)[0]))]
        for begin, h, pieces in grid:
            for k in range(pieces):
                advance(begin + k * h, h)
                done += 1
            values.append(observed(begin + pieces * h))
    return Runs(finite_array("times", times), np.stack(values), arrays.numpy(x))


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
