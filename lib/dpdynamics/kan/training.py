r"""Private training of the two-layer network: projected DP-SGD with noise that takes itself back.

Update t, with batches :math:`\mathcal B_t` of (expected) size B and :math:`Z_0=0`:

.. math::

   v_t = \frac1B\sum_{i\in\mathcal B_t}\mathrm{clip}_C\nabla\ell(y_if_{W_{t-1}}(x_i)),\qquad
   W_t = \Pi\Bigl(W_{t-1}-\eta_t\bigl(v_t+\tfrac{C\kappa}B(Z_t-\lambda Z_{t-1})\bigr)\Bigr),

:math:`\ell(z)=\ln(1+e^{-z})`, :math:`\Pi` the projection on the ball of radius R around
:math:`W_0`. Claim wang2026.alg1. `steps` counts updates: Algorithm 1 with T makes T-1 of them and
returns T iterates.

A run is an ensemble of `groups`, which are independent, times `members`, which share batches and
noise and may differ in data, noise, correlation, clipping and radius.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import Array, finite_array, integers, nonnegative_array, one_of, vector, whole
from ..batches import subsample
from .network import TwoLayerKAN, logistic_loss

SAMPLINGS = ("full", "fixed", "poisson")
Batches = list[NDArray[np.intp]]  # the records drawn, for each group


class Training:
    r"""A run of Algorithm 1 for an ensemble of shape (G, K): groups times members.

    A pickled run goes on, to the bit, as if it had not been interrupted.

    Parameters
    ----------
    network : TwoLayerKAN
        Its precision is that of weights, gradients and noise.
    features : (n, d) array
        Inputs in [-1, 1].
    labels : (n,) array
        -1 or 1.
    rng : numpy.random.Generator
        Spawns one generator each for the initial weights, the batches and the noise: runs with
        generators in equal states share all three, whatever their other arguments.
    step_size : number or (N,) array
        :math:`\eta`, or :math:`\eta_1,\dots,\eta_N`: then N updates at most.
    sampling : {"full", "fixed", "poisson"}
        All records; `batch_size` of them without replacement; each with probability
        `batch_size` / n.
    batch_size : int
        B; needed unless `sampling` is "full", where it is n.
    clip_norm, noise_multiplier, correlation, radius : number or (K,) array
        C in (0, inf]; :math:`\kappa\ge0`; :math:`\lambda\in[0,1)`; R in (0, inf], inf for no
        projection. Noise needs a finite C.
    signs : number or (K,) array
        Factors of the common noise: -1 for an antithetic member, 0 for a noiseless one.
    groups : int
        G.
    initial : array that broadcasts to (G, K, m, d, p), optional
        :math:`W_0`; by default standard normal, one for each group.
    replacements : (indices, features, labels) of shapes (K,), (K, d), (K,), optional
        Member k trains on the data with that record replaced; index -1 replaces none.

    Attributes
    ----------
    weights, start : (G, K, m, d, p) arrays
        :math:`W_t` and :math:`W_0`; not to be changed in place.
    noise : (G, 1, m, d, p) array
        :math:`Z_t`, common to the members of a group.
    index : int
        t.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> network, _ = TwoLayerKAN.initial(32, 2, 6, rng=rng)
    >>> x = rng.uniform(-1, 1, (50, 2))
    >>> run = Training(network, x, np.sign(x[:, 0]), rng=rng, step_size=1.0)
    >>> before = run.loss()
    >>> bool(np.all(run.advance(20).loss() < before))
    True
    """

    def __init__(
        self,
        network: TwoLayerKAN,
        features: ArrayLike,
        labels: ArrayLike,
        *,
        rng: np.random.Generator,
        step_size: ArrayLike,
        sampling: str = "full",
        batch_size: int | None = None,
        clip_norm: ArrayLike = np.inf,
        noise_multiplier: ArrayLike = 0.0,
        correlation: ArrayLike = 0.0,
        radius: ArrayLike = np.inf,
        signs: ArrayLike = 1.0,
        groups: int = 1,
        initial: ArrayLike | None = None,
        replacements: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    ) -> None:
        self.network, self.dtype = network, network.dtype
        x = finite_array("features", features, ndim=2)
        if np.any(np.abs(x) > 1):
            raise ValueError(f"features must lie in [-1, 1], got {np.abs(x).max()} in size")
        self.samples = n = len(x)
        y = _signs_of("labels", vector("labels", labels, n))
        self._rows = np.arange(n)[None]  # (K, n) or (1, n): a member's records in x, y
        if replacements is not None:
            x, y, self._rows = _with_replacements(x, y, *replacements)
        self._features, self._labels = network.features(x), y

        self.step_sizes = nonnegative_array("step_size", step_size)
        if self.step_sizes.ndim > 1:
            raise ValueError("step_size must be a number or have one axis")
        one_of("sampling", sampling, SAMPLINGS)
        if sampling != "full" and batch_size is None:
            raise ValueError(f"batch_size must be given for sampling {sampling!r}")
        self.batch_size = n if batch_size is None else whole("batch_size", batch_size, 1)
        if self.batch_size > n or (sampling == "full" and self.batch_size < n):
            raise ValueError(f"batch_size must be at most n = {n}, and n for full batches")
        self.sampling = "full" if self.batch_size == n else sampling

        settings = (
            finite_array("clip_norm", clip_norm, infinite=True),
            nonnegative_array("noise_multiplier", noise_multiplier),
            nonnegative_array("correlation", correlation),
            finite_array("radius", radius, infinite=True),
            finite_array("signs", signs),
        )
        known = 1 if replacements is None else len(self._rows)
        self.members = max(known, *(value.size for value in settings))
        if any(value.shape not in ((), (1,), (self.members,)) for value in settings) or (
            replacements is not None and known != self.members
        ):
            raise ValueError("members must be equally many in all settings and replacements")
        clip, kappa, lam, reach, sign = (np.broadcast_to(v, self.members) for v in settings)
        for name, value in (("clip_norm", clip), ("radius", reach)):
            if np.any(value <= 0):
                raise ValueError(f"{name} must be positive")
        if np.any(lam >= 1):
            raise ValueError("correlation must lie in [0, 1)")
        if np.any(np.isinf(clip) & (kappa > 0)):
            raise ValueError("clip_norm must be finite where there is noise")
        self.clip_norm, self.noise_multiplier, self.correlation = clip, kappa, lam
        self.radius, self.groups = reach, whole("groups", groups, 1)
        self._rows = np.broadcast_to(self._rows, (self.members, n))
        finite_clip = np.where(np.isinf(clip), 0.0, clip)
        self.noise_scale = sign * finite_clip * kappa / self.batch_size

        starts, self._batch_rng, self._noise_rng = rng.spawn(3)
        shape = (self.groups, self.members, *network.shape)
        if initial is None:
            w = starts.standard_normal((self.groups, 1, *shape[2:]))
        else:
            w = finite_array("initial", initial)
        try:
            self.start: Any = np.broadcast_to(w, shape).astype(self.dtype, order="C")
        except ValueError:
            raise ValueError(f"initial must broadcast to {shape}, got {w.shape}") from None
        self.weights: Any = self.start.copy()
        self.noise: Any = np.zeros((self.groups, 1, *shape[2:]), self.dtype)
        self.index = 0

    def advance(self, steps: int, record: Callable[["Step"], object] | None = None) -> "Training":
        """Make `steps` updates and return the run; `record` is called after each.

        Raises ValueError if the schedule of step sizes is too short.
        """
        end = self.index + whole("steps", steps, 0)
        if self.step_sizes.ndim and end > len(self.step_sizes):
            raise ValueError(f"steps must not exceed the {len(self.step_sizes)} step sizes")
        scale = _over_weights(self.noise_scale, self.dtype)
        lam = _over_weights(self.correlation, self.dtype)
        for _ in range(steps):
            eta = float(self.step_sizes[self.index] if self.step_sizes.ndim else self.step_sizes)
            before, previous = self.weights, self.noise
            batches = self._draw()
            gradient = self._mean_gradient(before, batches)
            direction = gradient
            if np.any(self.noise_scale):
                self.noise = self._noise_rng.standard_normal(previous.shape, self.dtype)
                direction = gradient + scale * (self.noise - lam * previous)
            self.weights = self._project(before - self.dtype.type(eta) * direction)
            self.index += 1
            if record is not None:
                now = self.weights, previous, self.noise
                record(Step(self, self.index, batches, eta, before, *now, gradient))
        return self

    def outputs(self, features: ArrayLike) -> Array:
        """Return f at the inputs (n, d) for the present weights, of shape (G, K, n)."""
        rows = self.network.features(features)
        return np.array([[self.network.values(w, rows) for w in group] for group in self.weights])

    def losses(self, weights: Array | None = None) -> Array:
        """Return the loss of each record, (G, K, n), at the present or the given weights."""
        groups = self.weights if weights is None else weights
        margins = [
            [
                self._labels[rows] * self.network.values(w, self._features[rows])
                for w, rows in zip(group, self._rows, strict=True)
            ]
            for group in groups
        ]
        return logistic_loss(margins)

    def loss(self, weights: Array | None = None) -> Array:
        """Return the empirical risk, (G, K), at the present or the given weights."""
        return np.asarray(self.losses(weights).mean(axis=-1))

    def gradient(self, weights: Array | None = None) -> Array:
        """Return the mean of all clipped gradients, (G, K, m, d, p)."""
        return self._mean_gradient(self.weights if weights is None else weights, None)

    def _draw(self) -> Batches | None:
        if self.sampling == "full":
            return None
        batch = self._batch_rng, self.samples, self.batch_size, self.sampling
        return [subsample(*batch) for _ in range(self.groups)]

    def _mean_gradient(self, weights: Array, batches: Batches | None) -> Array:
        total = np.empty_like(self.weights)
        for g in range(self.groups):
            for k, clip in enumerate(self.clip_norm):
                rows = self._rows[k] if batches is None else self._rows[k, batches[g]]
                total[g, k] = self.network.clipped_gradient_sum(
                    weights[g, k], self._features[rows], self._labels[rows], clip
                ).total
        total /= self.samples if batches is None else self.batch_size
        return total

    def _project(self, weights: Any) -> Any:
        if np.all(np.isinf(self.radius)):
            return weights
        move = weights - self.start
        distance = np.sqrt(np.sum(move**2, axis=(-3, -2, -1)))
        out = distance > self.radius
        if np.any(out):
            shrink = np.broadcast_to(self.radius, out.shape)[out] / distance[out]
            weights[out] = self.start[out] + _over_weights(shrink, self.dtype) * move[out]
        return weights


@dataclass(frozen=True, eq=False)
class Step:
    r"""Update t of a run, as `Training.advance` hands it to a record; shapes as in `Training`.

    Attributes
    ----------
    index : int
        t, from 1 on.
    batches : list of G integer arrays, or None
        The records drawn by each group; None for full batches.
    step_size : float
        :math:`\eta_t`.
    before, after : arrays
        :math:`W_{t-1}`, :math:`W_t`.
    previous_noise, noise : (G, 1, m, d, p) arrays
        :math:`Z_{t-1}`, :math:`Z_t`.
    batch_gradient : array
        :math:`v_t`.
    """

    run: Training
    index: int
    batches: Batches | None
    step_size: float
    before: Array
    after: Array
    previous_noise: Array
    noise: Array
    batch_gradient: Array

    @property
    def noise_scale(self) -> Array:
        r"""The numbers :math:`\pm C\kappa/B`, (K,)."""
        return self.run.noise_scale

    @cached_property
    def gradient(self) -> Array:
        r"""Mean of all clipped gradients at :math:`W_{t-1}`."""
        return self.batch_gradient if self.batches is None else self.run.gradient(self.before)

    @cached_property
    def deviation(self) -> Array:
        r"""Deviation :math:`\Delta_t` of the batch from the full gradient: 0 for full batches."""
        return self.batch_gradient - self.gradient

    @cached_property
    def shifted(self) -> Array:
        r"""Shifted iterate :math:`U_t=W_t+\eta_tc_{priv}Z_t`."""
        return self._shift(self.after, self.noise)

    @cached_property
    def shifted_before(self) -> Array:
        r"""Shifted iterate :math:`U_{t-1}`, with :math:`\eta_t` for the step size."""
        return self._shift(self.before, self.previous_noise)

    @cached_property
    def loss(self) -> Array:
        r"""Empirical risk (G, K) at :math:`W_{t-1}`."""
        return self.run.loss(self.before)

    @cached_property
    def loss_after(self) -> Array:
        r"""Empirical risk (G, K) at :math:`W_t`."""
        return self.run.loss(self.after)

    @cached_property
    def distance(self) -> Array:
        r"""Distance :math:`\|W_t-W_0\|`, (G, K)."""
        return np.asarray(np.sqrt(np.sum((self.after - self.run.start) ** 2, axis=(-3, -2, -1))))

    def _shift(self, weights: Array, noise: Array) -> Array:
        scale = _over_weights(self.step_size * self.noise_scale, self.run.dtype)
        return np.asarray(weights + scale * noise)


class Recorder:
    """A record of attributes of `Step`, taken at every `every`-th update.

    Examples
    --------
    ``recorder = Recorder("loss", "distance")``, then ``run.advance(100, recorder)``:
    ``recorder["loss"]`` has shape (100, G, K) and ``recorder.index`` holds the 100 values of t.
    """

    def __init__(self, *names: str, every: int = 1) -> None:
        for name in names:
            if not hasattr(Step, name) and name not in Step.__dataclass_fields__:
                raise ValueError(f"names must be attributes of Step, got {name!r}")
        self.every = whole("every", every, 1)
        self.index: list[int] = []
        self._values: dict[str, list[Any]] = {name: [] for name in names}

    def __call__(self, step: Step) -> None:
        """Take the record."""
        if step.index % self.every == 0:
            self.index.append(step.index)
            for name, values in self._values.items():
                values.append(getattr(step, name))

    def __getitem__(self, name: str) -> Array:
        """Return what was recorded, the updates first."""
        return np.array(self._values[name])


def _over_weights(values: Array, dtype: np.dtype[Any]) -> Any:
    """Return values (K,) in a form that broadcasts against (G, K, m, d, p)."""
    return values.astype(dtype)[:, None, None, None]


def _signs_of(name: str, labels: Array) -> Array:
    if not np.all(np.abs(labels) == 1):
        raise ValueError(f"{name} must be -1 or 1")
    return labels


def _with_replacements(
    x: Array, y: Array, indices: ArrayLike, features: ArrayLike, labels: ArrayLike
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Append the new records; return each member's records in the longer arrays."""
    where = integers("replacements[0]", indices)
    if np.any((where < -1) | (where >= len(x))):
        raise ValueError(f"replacements[0] must be whole numbers in -1..{len(x) - 1}")
    count = len(where)
    new_x = finite_array("replacements[1]", features, ndim=2)
    if new_x.shape != (count, x.shape[1]):
        raise ValueError(f"replacements[1] must have shape {(count, x.shape[1])}")
    new_y = _signs_of("replacements[2]", vector("replacements[2]", labels, count))
    rows = np.tile(np.arange(len(x)), (count, 1))
    (new,) = np.nonzero(where >= 0)
    rows[new, where[new]] = len(x) + new
    return np.concatenate([x, new_x]), np.concatenate([y, new_y]), rows
