"""Attacks: an optimiser searches a box of parameters for the largest violation of an inequality."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from ..arguments import Array, whole
from .statistics import finite

Bounds = Mapping[str, tuple[float, float]] | Sequence[tuple[float, float]]


class Box:
    """A box of named or numbered parameters, seen as the unit cube."""

    def __init__(self, bounds: Bounds):
        self.named = isinstance(bounds, Mapping)
        if not isinstance(bounds, Mapping):
            bounds = {f"x{i}": pair for i, pair in enumerate(bounds)}
        self.names = list(bounds)
        pairs = finite("bounds", list(bounds.values()))
        if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs[:, 0] >= pairs[:, 1]).any():
            raise ValueError("bounds must be pairs (low, high) with low < high")
        self.low, self.high = pairs.T
        self.width = self.high - self.low
        self.dimension = len(pairs)

    def point(self, unit: Array) -> Array:
        """Map the unit cube to the box."""
        return np.clip(self.low + self.width * unit, self.low, self.high)

    def label(self, values: Array) -> dict[str, float]:
        """Give each coordinate its name."""
        return dict(zip(self.names, map(float, values), strict=True))

    def call(self, function: Callable[..., float], unit: Array) -> float:
        """Evaluate ``function`` by keywords (named) or on one array; NaN is an error."""
        x = self.point(unit)
        value = float(function(**self.label(x)) if self.named else function(x))
        if np.isnan(value):
            raise ValueError(f"the function must not be NaN; it is at {self.label(x)}")
        return value

    def descend(self, cost: Callable[[Array], float], start: Array, xatol: float) -> Array:
        """Run Nelder-Mead inside the unit cube."""
        found = optimize.minimize(
            cost,
            np.clip(start, 0.0, 1.0),
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * self.dimension,
            options={"xatol": xatol, "fatol": 0.0, "maxfev": 400 * self.dimension},
        )
        return np.clip(found.x, 0.0, 1.0)


@dataclass(frozen=True)
class Attack:
    """The largest value an optimiser found, where it found it, and how often it looked."""

    value: float
    argument: Mapping[str, float]
    evaluations: int


def attack(
    ratio: Callable[..., float],
    bounds: Bounds,
    *,
    rng: np.random.Generator,
    starts: int = 64,
    generations: int = 40,
) -> Attack:
    """Search a box for the largest ``ratio``, left side of an inequality over right side.

    Differential evolution from a Latin hypercube with the corners of the box added (up to six
    parameters), then Nelder-Mead from the three best members. The search can refute an inequality;
    that it finds nothing is evidence, not proof.

    Parameters
    ----------
    ratio : callable
        Called with keywords if ``bounds`` is a mapping, with one array of shape (k,) otherwise.
        Returns a number; infinity is allowed, NaN is an error.
    bounds : mapping or sequence of (low, high)
        The box, finite, ``low < high``.
    rng : numpy.random.Generator
    starts, generations : int
        Size of the population (at least 8) and number of its generations.
    """
    starts, generations = whole("starts", starts, 8), whole("generations", generations, 0)
    box = Box(bounds)
    best, evaluations = (-np.inf, box.low), 0

    def cost(unit: Array) -> float:  # decreasing in the ratio and bounded, infinity included
        nonlocal best, evaluations
        value = box.call(ratio, unit)
        evaluations += 1
        if value > best[0]:
            best = value, box.point(unit)
        return -np.copysign(1.0, value) if np.isinf(value) else -value / (1 + abs(value))

    population = stats.qmc.LatinHypercube(box.dimension, rng=rng).random(starts)
    if box.dimension <= 6:
        corners = np.indices((2,) * box.dimension).reshape(box.dimension, -1).T
        population = np.vstack([population, corners])
    try:
        evolved = optimize.differential_evolution(
            cost,
            [(0.0, 1.0)] * box.dimension,
            init=population,
            maxiter=generations,
            polish=False,
            tol=1e-10,
            rng=rng,
        )
    except RuntimeError as error:  # scipy hides the errors of the function behind its own
        raise error.__cause__ or error from None
    for start in evolved.population[np.argsort(evolved.population_energies)[:3]]:
        box.descend(cost, start, xatol=1e-10)
    return Attack(best[0], box.label(best[1]), evaluations)
