r"""Ensembles of DP-SGD, DP-SignSGD and DP-Adam on functions with known gradient and model noise.

The clipped average over a batch with private noise is a vector of length A along the mean gradient
and an independent uniform direction times L across it; A and L are a few numbers a replicate
(:mod:`~dpdynamics.adaptive.gradient_parts`), so that a step needs one normal vector whatever the
batch size. On a quadratic DP-SGD needs none: in the eigenspace of :math:`\lambda_b` a step is
:math:`q_b^2\leftarrow(q_b - \eta A_b)^2 + \eta^2L_b^2` for the norm :math:`q_b` of the iterate and
the mean gradient :math:`\lambda_bq_b`.
"""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import (
    checkpoint_steps,
    finite_array,
    nonnegative,
    nonnegative_array,
    one_of,
    positive_array,
    vector,
    whole,
)
from ..optimisers import METHODS, NumpyArrays, adam, adam_factors, arrays_of, descend
from ..runs import Runs, recorded
from .gradient_parts import PrivateNoise

_FEW = 8  # below, the direction across loses digits in single precision


def private_ensemble(
    gradient: Callable[[Any], Any],
    x0: ArrayLike,
    step_sizes: ArrayLike,
    *,
    method: str = "sgd",
    clip_norm: ArrayLike,
    noise_multiplier: ArrayLike,
    gradient_noise: ArrayLike = 0.0,
    batch_size: int = 1,
    degrees_of_freedom: float = inf,
    clip: bool = True,
    betas: tuple[float, float] = (0.9, 0.999),
    adam_epsilon: float = 1e-8,
    statistic: Callable[[Any], Any] | None = None,
    checkpoints: ArrayLike | None = None,
    literal: bool = False,
    rng: np.random.Generator,
    dtype: str = "float64",
    backend: str = "numpy",
    device: str = "cpu",
) -> Runs:
    r"""Simulate runs of a private optimiser on gradients :math:`\nabla f(x) + \sigma_\gamma t_\nu`.

    Claims anon2025.def3.3, anon2025.eq208 and anon2025.figC.1.

    Parameters
    ----------
    gradient : callable
        x (replicates, d) to :math:`\nabla f(x)` of that shape; it must not change x. Its constants
        should have the chosen precision: a mixed product is slow.
    x0, step_sizes : (replicates, d) and (n,) arrays
        The starts and :math:`\eta_k`, nonnegative.
    method : {"sgd", "sign", "adam"}
    clip_norm, noise_multiplier, gradient_noise : numbers or (replicates,) arrays
        C, :math:`\sigma_{DP}` and :math:`\sigma_\gamma`.
    batch_size : int
        B examples, clipped and averaged (Definition 3.3); the private noise has standard deviation
        :math:`C\sigma_{DP}/B` a coordinate.
    degrees_of_freedom : float
        :math:`\nu` in [0.2, 1e12], or inf for Gaussian noise.
    clip : bool
        False leaves it out, with the same noise: the second phase everywhere.
    betas, adam_epsilon : of DP-Adam
        Decay rates in [0, 1) and the constant added to the root.
    statistic : callable, optional
        x to an array of a fixed shape, recorded at `checkpoints`. None: the states.
    checkpoints : (N,) integers, optional
        Steps in 0..n, increasing; default 0..n.
    literal : bool
        True draws every example and the private noise as vectors, with the same law.
    rng : numpy.random.Generator
        Single-precision draws come from a fast generator that it seeds: for Monte Carlo only, not
        for the noise of a private release.
    dtype, backend, device : {"float64", "float32"}, {"numpy", "torch"}, str
        What `gradient` and `statistic` compute with; a device of torch.

    Returns
    -------
    Runs
        NumPy arrays. ValueError names the step after which a statistic is not finite.
    """
    start = finite_array("x0", x0, ndim=2)
    if start.size == 0:
        raise ValueError(f"x0 must not be empty, got shape {start.shape}")
    etas = nonnegative_array("step_sizes", step_sizes, ndim=1).tolist()
    one_of("method", method, METHODS)
    b1, b2 = vector("betas", betas, 2).tolist()
    if not (0 <= b1 < 1 and 0 <= b2 < 1):
        raise ValueError(f"betas must lie in [0, 1), got {betas}")
    floor = nonnegative("adam_epsilon", adam_epsilon)
    arrays = arrays_of(backend, dtype, device, rng)
    model = clip_norm, noise_multiplier, gradient_noise, batch_size, degrees_of_freedom
    noise = PrivateNoise(arrays, len(start), *model)
    marks, x = checkpoint_steps(checkpoints, len(etas)), arrays.array(start) * 1
    sampler = _Sampler(noise, x)
    draw = sampler.merged
    if literal or not noise.noisy or start.shape[1] < _FEW:
        draw = sampler.drawn
    if not clip:
        draw = sampler.unclipped
    clipped = arrays.double(np.zeros(len(start)))
    moments = (x * 0, x * 0) if method == "adam" else ()

    def step(k: int) -> None:
        slope = gradient(x)
        if tuple(slope.shape) != tuple(x.shape):
            raise ValueError(f"gradient must return shape {start.shape}, got {slope.shape}")
        g, share = draw(slope)
        clipped[:] += share
        if method == "adam":
            adam(arrays.space, x, g, moments, adam_factors(etas[k], b1, b2, floor, k + 1))
        else:
            descend(arrays.space, x, g, etas[k], signs=method == "sign")

    def observe(k: int) -> tuple[NDArray, NDArray]:
        value = arrays.numpy(x if statistic is None else statistic(x))
        if not np.all(np.isfinite(value)):
            raise ValueError(f"statistic is not finite after {k} steps")
        return value, arrays.numpy(clipped)

    with arrays.quiet():
        values, shares = zip(*recorded(marks, marks[-1], step, observe), strict=True)
    return Runs(marks, np.stack(values), arrays.numpy(x), np.stack(shares, axis=1))


def radial_chain(
    start_norms: ArrayLike,
    step_sizes: ArrayLike,
    *,
    eigenvalues: ArrayLike,
    multiplicities: ArrayLike,
    clip_norm: ArrayLike,
    noise_multiplier: ArrayLike,
    gradient_noise: ArrayLike,
    batch_size: int = 1,
    degrees_of_freedom: float = inf,
    rng: np.random.Generator,
    replicates: int = 1,
    checkpoints: ArrayLike | None = None,
) -> Runs:
    r"""Simulate DP-SGD on :math:`f(x) = \frac12\sum_b\lambda_b|x_b|^2` by norms, exactly in law.

    Claims anon2025.def3.3 and anon2025.thmB.5. Arguments not named here are those of
    `private_ensemble`.

    Parameters
    ----------
    start_norms : (blocks,) or (replicates, blocks) array
        :math:`|x_b|` at the start; a number for one block.
    step_sizes : (n,) or (n, replicates) array
        :math:`\eta_k`, nonnegative.
    eigenvalues, multiplicities : numbers or (blocks,) arrays
        :math:`\lambda_b`, nonnegative, and the dimensions of the eigenspaces.
    rng, replicates : numpy.random.Generator, int

    Returns
    -------
    Runs
        `values` (N, replicates, blocks) are the norms; the loss is ``values**2 @ eigenvalues / 2``.
    """
    runs = whole("replicates", replicates, 1)
    curvature = np.atleast_1d(nonnegative_array("eigenvalues", eigenvalues))[:, None]
    sizes = np.atleast_1d(positive_array("multiplicities", multiplicities))
    if curvature.ndim != 2 or sizes.shape != curvature.shape[:1] or np.any(sizes % 1):
        raise ValueError(f"multiplicities must be {len(curvature)} whole numbers, got {sizes}")
    start = np.atleast_1d(nonnegative_array("start_norms", start_norms))
    if start.shape not in (sizes.shape, (runs, *sizes.shape)):
        raise ValueError(f"start_norms must have shape {sizes.shape}, got {start.shape}")
    etas = nonnegative_array("step_sizes", step_sizes)
    if etas.ndim not in (1, 2) or etas.shape[1:] not in ((), (runs,)):
        raise ValueError(f"step_sizes must have shape (n,) or (n, {runs}), got {etas.shape}")
    model = clip_norm, noise_multiplier, gradient_noise, batch_size, degrees_of_freedom
    noise = PrivateNoise(NumpyArrays("float64", rng), runs, *model)
    q, clipped = np.broadcast_to(start, (runs, sizes.size)).T.copy(), np.zeros(runs)

    def step(k: int) -> None:
        parts = noise.parts(curvature * q, sizes[:, None])
        np.hypot(q - etas[k] * parts.along, etas[k] * parts.across, out=q)
        np.add(clipped, parts.clipped, out=clipped)

    marks = checkpoint_steps(checkpoints, len(etas))
    seen = recorded(marks, marks[-1], step, lambda k: (q.T.copy(), clipped.copy()))
    norms, shares = zip(*seen, strict=True)
    return Runs(marks, np.stack(norms), q.T, np.stack(shares, axis=1))


class _Sampler:
    """Draws private gradients about mean gradients, and shares of clipped examples."""

    def __init__(self, noise: PrivateNoise, x: Any) -> None:
        self.noise, self.arrays = noise, noise.arrays
        self.out, self.work = x * 0, x * 0
        self.sizes = self.arrays.double([[x.shape[1]]])

    def merged(self, slope: Any) -> tuple[Any, Any]:
        """By lengths along and across, and one direction."""
        arrays, out = self.arrays, self.out
        square = arrays.dot(slope, slope)
        parts = self.noise.parts(square.T**0.5, self.sizes)
        along, across = parts.along.T, parts.across.T
        arrays.fill(out)
        safe = square + (square == 0)
        inner = arrays.dot(out, slope) / safe
        rest = arrays.dot(out, out) - inner**2 * square
        lengths = across + (square == 0) * ((along**2 + across**2) ** 0.5 - across)
        factor = lengths / rest**0.5
        arrays.scaled(out, factor, out)
        arrays.scaled(slope, along / safe**0.5 - factor * inner, self.work)
        out += self.work
        return out, parts.clipped

    def drawn(self, slope: Any) -> tuple[Any, Any]:
        """Definition 3.3 word by word."""
        arrays, out, work, noise = self.arrays, self.out, self.work, self.noise
        out *= 0
        clipped = 0.0
        for _ in range(noise.examples):
            if noise.noisy:
                arrays.fill(work)
                arrays.scaled(work, _column(noise.scale(len(slope))), work)
                work += slope
            else:
                arrays.scaled(slope, 1.0, work)
            factor = noise.factor(arrays.dot(work, work)[:, 0] ** 0.5)
            clipped = clipped + (factor < 1)
            arrays.scaled(work, _column(factor / noise.examples), work)
            out += work
        if noise.private:
            arrays.fill(work)
            arrays.scaled(work, _column(noise.private_std), work)
            out += work
        return out, clipped / noise.examples

    def unclipped(self, slope: Any) -> tuple[Any, Any]:
        """With the same noise."""
        arrays, noise = self.arrays, self.noise
        scales = [noise.scale(len(slope)) for _ in range(noise.examples)]
        variance = noise.private_std**2 + sum(s**2 for s in scales) / noise.examples**2
        arrays.fill(self.out)
        arrays.scaled(self.out, _column(variance**0.5), self.out)
        self.out += slope
        return self.out, 0.0


def _column(value: Any) -> Any:
    """Return a number as it is, and a value a replicate as a column."""
    return value[:, None] if getattr(value, "ndim", 0) else value
