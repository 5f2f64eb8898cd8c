r"""Ensembles of DP-SGD, DP-SignSGD and DP-Adam on a function with known gradient and model noise.

An example has the gradient :math:`\nabla f(x) + \sigma_\gamma t_\nu(0, I_d)`. Its clipped average
over a batch with private noise is a vector of length A along :math:`\nabla f` and an independent
uniform direction times L across it; A and L are a few numbers a replicate
(:mod:`~dpdynamics.adaptive.gradient_parts`), so that a step needs one normal vector whatever the
batch size.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import Array, checkpoint_steps, finite_array, nonnegative, one_of, vector
from ..arguments import nonnegative_array as nonnegatives
from .backends import NumpyBackend, TorchBackend, make_backend
from .gradient_parts import PrivateNoise

_FEW = 8  # below, the direction across loses digits in single precision


class EnsembleRuns(NamedTuple):
    """An ensemble of runs.

    `checkpoints` (N,) are numbers of steps taken, `values` (N, ...) those of the statistic there,
    `final` the last states (replicates, d) in the chosen precision, `clipped` (replicates, N) the
    number of clipped steps so far, a step counting by its share of clipped examples.
    """

    checkpoints: np.ndarray
    values: NDArray
    final: NDArray
    clipped: Array


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
    per_example: bool = True,
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
) -> EnsembleRuns:
    r"""Simulate independent runs of a private optimiser.

    Parameters
    ----------
    gradient : callable
        x (replicates, d) to :math:`\nabla f(x)` of that shape; it must not change x. Its constants
        should have the chosen precision: a mixed product is slow.
    x0 : (replicates, d) array
    step_sizes : (n,) array
        :math:`\eta_k`, nonnegative.
    method : {"sgd", "sign", "adam"}
    clip_norm, noise_multiplier, gradient_noise : numbers or (replicates,) arrays
        C, :math:`\sigma_{DP}` and :math:`\sigma_\gamma`.
    batch_size : int
        B; the private noise has standard deviation :math:`C\sigma_{DP}/B` a coordinate.
    degrees_of_freedom : float
        :math:`\nu` in (0, inf]; inf: Gaussian.
    per_example : bool
        True: B examples are clipped and averaged (Definition 3.3). False: one gradient with noise
        of scale :math:`\sigma_\gamma/\sqrt B` is clipped (Assumption B.2, Appendix C.1).
    clip : bool
        False leaves out the clipping, with the same noise: the second phase everywhere.
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
    dtype : {"float64", "float32"}
    backend : {"numpy", "torch"}
        What `gradient` and `statistic` compute with.
    device : str
        For torch.

    Returns
    -------
    EnsembleRuns
        NumPy arrays.

    Raises
    ------
    ValueError
        If a shape or a range is violated, or a statistic is not finite: the message names the step.

    Examples
    --------
    >>> runs = private_ensemble(
    ...     lambda x: x, np.ones((4, 9)), np.full(20, 0.1), method="sign", clip_norm=1.0,
    ...     noise_multiplier=0.5, gradient_noise=0.1, statistic=lambda x: (x * x).sum(1) / 2,
    ...     checkpoints=[0, 10, 20], rng=np.random.default_rng(0),
    ... )
    >>> runs.values.shape
    (3, 4)

    References
    ----------
    Claims anon2025.def3.3, anon2025.eq208 and anon2025.figC.1.
    """
    start = finite_array("x0", x0, ndim=2)
    if start.size == 0:
        raise ValueError(f"x0 must not be empty, got shape {start.shape}")
    etas = nonnegatives("step_sizes", step_sizes, ndim=1)
    one_of("method", method, ("sgd", "sign", "adam"))
    noise = PrivateNoise.checked(
        len(start),
        clip_norm=clip_norm,
        noise_multiplier=noise_multiplier,
        batch_size=batch_size,
        gradient_noise=gradient_noise,
        degrees_of_freedom=degrees_of_freedom,
        per_example=per_example,
    )
    arrays = make_backend(backend, dtype, device, rng)
    marks, x = checkpoint_steps(checkpoints, len(etas)), arrays.array(start)
    drawn = literal or not noise.noisy or start.shape[1] < _FEW
    sampler = _Sampler(arrays, noise, x, clip=clip, literal=drawn)
    rule = _Adam(arrays, x, betas, adam_epsilon) if method == "adam" else None
    clipped = arrays.double(np.zeros(len(start)))
    values: list[NDArray] = []
    shares: list[NDArray] = []
    with arrays.quiet():
        for k in range(marks[-1] + 1):
            if marks[len(values)] == k:
                values.append(_observed(statistic, x, arrays, k))
                shares.append(arrays.numpy(clipped))
            if len(values) == marks.size:
                break
            slope = gradient(x)
            if tuple(slope.shape) != tuple(x.shape):
                raise ValueError(f"gradient must return shape {start.shape}, got {slope.shape}")
            g, share = sampler.sample(slope)
            clipped += share
            if method == "sign":
                arrays.sign(g)
            elif rule is not None:
                rule.direct(g)
            arrays.scaled(g, float(etas[k]), g)
            x -= g
    return EnsembleRuns(marks, np.stack(values), arrays.numpy(x), np.stack(shares, axis=1))


def _observed(
    statistic: Callable[[Any], Any] | None, x: Any, arrays: NumpyBackend | TorchBackend, k: int
) -> NDArray:
    value = arrays.numpy(x if statistic is None else statistic(x))
    if not np.all(np.isfinite(value)):
        raise ValueError(f"statistic is not finite after {k} steps")
    return value


class _Sampler:
    """Draws private gradients into one buffer."""

    def __init__(
        self,
        arrays: NumpyBackend | TorchBackend,
        noise: PrivateNoise,
        x: Any,
        *,
        clip: bool,
        literal: bool,
    ) -> None:
        self.arrays, self.clip, self.literal = arrays, clip, literal
        self.noise = replace(
            noise,
            clip_norm=arrays.double(noise.clip_norm),
            private_std=arrays.double(noise.private_std),
            gradient_noise=arrays.double(noise.gradient_noise),
        )
        self.out, self.work = x * 0, x * 0

    def sample(self, slope: Any) -> tuple[Any, Any]:
        """Return the private gradient about the mean gradient, and shares of clipped examples."""
        if not self.clip:
            return self._unclipped(slope)
        return self._drawn(slope) if self.literal else self._merged(slope)

    def _merged(self, slope: Any) -> tuple[Any, Any]:
        arrays, out = self.arrays, self.out
        square = arrays.dot(slope, slope)
        parts = self.noise.parts(square.T**0.5, [slope.shape[1]], arrays.draws)
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

    def _drawn(self, slope: Any) -> tuple[Any, Any]:
        """Definition 3.3 word by word."""
        arrays, out, work, noise = self.arrays, self.out, self.work, self.noise
        out *= 0
        clipped = 0.0
        for _ in range(noise.examples):
            if noise.noisy:
                arrays.fill(work)
                arrays.scaled(work, _column(noise.scale(arrays.draws, len(slope))), work)
                work += slope
            else:
                arrays.scaled(slope, 1.0, work)
            lengths = arrays.dot(work, work)[:, 0] ** 0.5
            factor = noise.clip_norm / lengths.clip(min=noise.clip_norm)
            clipped = clipped + (factor < 1)
            arrays.scaled(work, _column(factor / noise.examples), work)
            out += work
        if noise.private:
            arrays.fill(work)
            arrays.scaled(work, _column(noise.private_std), work)
            out += work
        return out, clipped / noise.examples

    def _unclipped(self, slope: Any) -> tuple[Any, float]:
        arrays, noise = self.arrays, self.noise
        scales = [noise.scale(arrays.draws, len(slope)) for _ in range(noise.examples)]
        variance = noise.private_std**2 + sum(s**2 for s in scales) / noise.examples**2
        arrays.fill(self.out)
        arrays.scaled(self.out, _column(variance**0.5), self.out)
        self.out += slope
        return self.out, 0.0


class _Adam:
    """Equation (208): replaces a gradient by the direction of DP-Adam."""

    def __init__(
        self,
        arrays: NumpyBackend | TorchBackend,
        x: Any,
        betas: tuple[float, float],
        epsilon: float,
    ) -> None:
        b1, b2 = vector("betas", betas, 2).tolist()
        if not (0 <= b1 < 1 and 0 <= b2 < 1):
            raise ValueError(f"betas must lie in [0, 1), got {betas}")
        self.arrays, self.betas = arrays, (b1, b2)
        self.epsilon = nonnegative("adam_epsilon", epsilon)
        self.first, self.second, self.work, self.steps = x * 0, x * 0, x * 0, 0

    def direct(self, g: Any) -> None:
        """Overwrite g."""
        self.steps += 1
        (b1, b2), space = self.betas, self.arrays.space
        self.arrays.scaled(g, 1 - b1, self.work)
        self.first *= b1
        self.first += self.work
        space.multiply(g, g, out=g)
        g *= 1 - b2
        self.second *= b2
        self.second += g
        self.arrays.scaled(self.second, 1 / (1 - b2**self.steps), g)
        space.sqrt(g, out=g)
        g += self.epsilon
        space.divide(self.first, g, out=g)
        g *= 1 / (1 - b1**self.steps)


def _column(value: Any) -> Any:
    """Return a number as it is, and a value a replicate as a column."""
    return value[:, None] if getattr(value, "ndim", 0) else value
