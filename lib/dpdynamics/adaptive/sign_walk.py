r"""The exact law of DP-SignSGD on a separable objective, one coordinate at a time.

:math:`x_{k+1} = x_k - \eta\,\mathrm{sign}(f'(x_k) + \zeta_k)` is a walk on the lattice
:math:`x_0 + \eta\mathbb Z` that goes down from x with probability p(x) and up with 1 - p(x). Its
whole law is carried along, one vectorised shift a step, on the sites that can matter; what is left
out is counted.

A learning rate that changes stays on the lattice when every step is an integer multiple of one
number, and only then: no other schedule is accepted.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import Array, finite_array, integers, nonnegative, plain, positive_array, together
from .sign_probabilities import SymmetricSign

Function = Callable[[Array], ArrayLike]  # x (sites, *configurations) to the same shape
CHECK_EVERY = 32  # steps between two looks for sites to leave out


class LatticeLaw(NamedTuple):
    """A law on finitely many points, for each configuration.

    Attributes
    ----------
    points, probabilities : (sites, *configurations) arrays
        The probabilities add up to 1 - `lost`.
    lost : number or (*configurations) array
        Probability left out: an expectation misses at most `lost` times the largest absolute value
        of its function on the points that the walk can reach.
    """

    points: Array
    probabilities: Array
    lost: float | Array

    def expectation(self, function: Function) -> float | Array:
        """Return the expectation of a function of x (sites, *configurations)."""
        return plain(
            np.asarray(np.sum(self.probabilities * np.asarray(function(self.points)), axis=0))
        )

    @property
    def mean(self) -> float | Array:
        """Mean of each configuration."""
        return self.expectation(lambda x: x)

    @property
    def variance(self) -> float | Array:
        """Variance of each configuration."""
        return self._central(2)

    @property
    def kurtosis(self) -> float | Array:
        """Fourth central moment over the squared variance, 3 for a normal law."""
        variance = np.asarray(self.variance)
        if np.any(variance <= 0):
            raise ValueError("kurtosis: a law on a single point has none")
        return plain(np.asarray(self._central(4)) / variance**2)

    def _central(self, power: int) -> float | Array:
        return self.expectation(lambda x: (x - np.asarray(self.mean)) ** power)


class WalkExpectations(NamedTuple):
    """`values` (q, N, *configurations) of q functions at N steps, `lost` (N, *configurations)."""

    values: Array
    lost: Array


def sign_walk(
    down_probability: Function,
    x0: ArrayLike,
    learning_rate: ArrayLike,
    steps: ArrayLike,
    *,
    multiples: ArrayLike | None = None,
    tolerance: float = 1e-14,
) -> tuple[LatticeLaw, ...]:
    r"""Compute the law of :math:`x_k` at numbers of steps, without Monte Carlo.

    Parameters
    ----------
    down_probability : callable
        x (sites, *configurations) to the probability of a step down, of the same shape: from
        `gaussian_sign`, `student_sign` or an own distribution function of the noise. Parameters of
        shape (*configurations) broadcast. Numbers for `x0` and `learning_rate` make one
        configuration and x (sites, 1).
    x0, learning_rate : numbers or arrays
        Starts and steps :math:`\eta>0`; together their shapes are (*configurations). All share a
        window of sites, so laws of similar width belong together.
    steps : (N,) integers
        Nondecreasing, nonnegative.
    multiples : (K,) integers, optional
        Step k has the size `multiples[k]` times the learning rate; positive, as many as the largest
        of `steps`. All 1 by default.
    tolerance : float
        Largest probability that may be left out by the last step; 0 keeps every site.

    Returns
    -------
    tuple of LatticeLaw
        One for each number of steps.

    Raises
    ------
    ValueError
        If a shape or a range is violated, a probability is outside [0, 1], or a multiple is not an
        integer: such a schedule leaves the lattice.

    Examples
    --------
    >>> from dpdynamics.adaptive.sign_probabilities import gaussian_sign
    >>> (law,) = sign_walk(gaussian_sign(lambda x: x, 1.0), 0.0, 0.1, [1000])
    >>> round(law.variance, 6), law.lost < 1e-14
    (0.064648, True)

    References
    ----------
    Claims anon2025.def3.3 and anon2025.thmB.10 (the algorithm in Phase 2).
    """
    lattice = _Lattice(down_probability, (), x0, learning_rate)
    marks, sizes = _schedule(steps, multiples)
    laws = []
    for first, parity, law, lost in _propagated(lattice, marks, sizes, tolerance):
        sites = 2 * np.arange(first, first + len(law)) + parity
        laws.append(LatticeLaw(*lattice.shaped(lattice.points(sites), law), lattice.shape_of(lost)))
    return tuple(laws)


def sign_walk_expectations(
    down_probability: Function,
    functions: Sequence[Function],
    x0: ArrayLike,
    learning_rate: ArrayLike,
    steps: ArrayLike,
    *,
    multiples: ArrayLike | None = None,
    tolerance: float = 1e-14,
) -> WalkExpectations:
    r"""Compute :math:`E\,g(x_k)` for several g at many steps, without keeping the laws.

    Parameters
    ----------
    functions : sequence of callables
        Each x (sites, *configurations) to the same shape.
    down_probability, x0, learning_rate, steps, multiples, tolerance
        As in `sign_walk`, which gives the meaning of `lost` and the errors too.

    Returns
    -------
    WalkExpectations

    Examples
    --------
    >>> from dpdynamics.adaptive.sign_probabilities import gaussian_sign
    >>> down = gaussian_sign(lambda x: x, 1.0)
    >>> sign_walk_expectations(down, [lambda x: x, np.square], 0.0, 0.1, [0, 1]).values
    array([[0.  , 0.  ],
           [0.  , 0.01]])
    """
    lattice = _Lattice(down_probability, tuple(functions), x0, learning_rate)
    marks, sizes = _schedule(steps, multiples)
    values, losses = [], []
    for first, parity, law, lost in _propagated(lattice, marks, sizes, tolerance):
        rows = lattice.rows(lattice.values[parity], first, len(law))
        values.append(np.einsum("s...,sq...->q...", law, rows))
        losses.append(lost)
    totals = np.stack(values, axis=1)
    kept = lattice.configurations
    return WalkExpectations(
        totals.reshape(len(functions), len(marks), *kept), np.stack(losses).reshape(-1, *kept)
    )


class _Lattice:
    """Probabilities of a step, and values of functions, at the sites x0 + eta j.

    Site j = 2i + parity is row i - `low` of the tables of its parity, which grow when asked to. All
    arrays are (rows, *shape), the shape being (1,) for a configuration without axes.
    """

    def __init__(
        self,
        down_probability: Function,
        functions: tuple[Function, ...],
        x0: ArrayLike,
        learning_rate: ArrayLike,
    ) -> None:
        start, rate = finite_array("x0", x0), positive_array("learning_rate", learning_rate)
        self.configurations = together(x0=start, learning_rate=rate)[0].shape
        if 0 in self.configurations:
            raise ValueError("x0 and learning_rate must not be empty")
        self.shape = self.configurations or (1,)
        self._start, self._rate = start, rate
        self._down_probability, self._functions = down_probability, functions
        self.low = self.high = 0
        self.down = self.up = (np.empty((0, *self.shape)),) * 2
        self.values = (np.empty((0, len(functions), *self.shape)),) * 2

    def points(self, sites: NDArray[np.int64]) -> Array:
        return self._start + self._rate * sites.reshape(-1, *[1] * len(self.shape))

    def rows(self, table: Array, first: int, count: int) -> Array:
        return table[first - self.low : first - self.low + count]

    def shaped(self, *arrays: Array) -> tuple[Array, Array]:
        first, second = (a.reshape(len(a), *self.configurations) for a in arrays)
        return first, second

    def shape_of(self, lost: Array) -> float | Array:
        return plain(lost.reshape(self.configurations).copy())

    def cover(self, first: int, count: int) -> None:
        """Make the tables reach over the rows from `first` on, and as far again."""
        if first < self.low or not self.down[0].size:
            self._extend(first - count - 64, self.low, front=True)
        if first + count > self.high:
            self._extend(self.high, first + 2 * count + 64, front=False)

    def _extend(self, low: int, high: int, *, front: bool) -> None:
        x = self.points(np.arange(2 * low, 2 * high))
        if isinstance(self._down_probability, SymmetricSign):
            down, up = self._down_probability.both(x)
        else:
            down = np.asarray(self._down_probability(x))
            up = 1 - down
        down, up = (_of_shape("down_probability", p, x) for p in (down, up))
        if np.any((down < 0) | (up < 0)):
            raise ValueError("down_probability must lie in [0, 1]")
        values = [_of_shape("a function", function(x), x) for function in self._functions]
        table = np.stack(values, axis=1) if values else np.empty((len(x), 0, *self.shape))

        def joined(old: tuple[Array, ...], new: Array) -> tuple[Array, Array]:
            parts = [(new[p::2], old[p]) if front else (old[p], new[p::2]) for p in (0, 1)]
            return np.concatenate(parts[0]), np.concatenate(parts[1])

        self.down, self.up = joined(self.down, down), joined(self.up, up)
        self.values = joined(self.values, table)
        self.low, self.high = min(low, self.low), max(high, self.high)


def _propagated(
    lattice: _Lattice, marks: list[int], sizes: list[int], tolerance: float
) -> Iterator[tuple[int, int, Array, Array]]:
    """Yield first row, parity, law (rows, *shape) and lost probability at the marks.

    A law sits on the sites of one parity: rows i stand for the sites 2i + parity.
    """
    allowance = nonnegative("tolerance", tolerance) / max(2 * marks[-1], 1)
    first, parity, step, looked = 0, 0, 0, 0
    law, lost = np.ones((1, *lattice.shape)), np.zeros(lattice.shape)
    lattice.cover(first, 1)
    for mark in marks:
        while step < mark:
            if first < lattice.low or first + len(law) > lattice.high:
                lattice.cover(first, len(law))
            size, width, row = sizes[step], len(law), first - lattice.low
            after = np.empty((width + size, *lattice.shape))
            np.multiply(law, lattice.down[parity][row : row + width], out=after[:width])
            after[width:] = 0.0
            after[size:] += law * lattice.up[parity][row : row + width]
            first += (parity - size) // 2
            law, parity, step = after, (parity + size) % 2, step + 1
            if step - looked == CHECK_EVERY and allowance:
                front, back = (
                    _negligible(side, (step - looked) * allowance, lost)
                    for side in (law, law[::-1])
                )
                first, law, looked = first + front, law[front : len(law) - back], step
        lattice.cover(first, len(law))
        yield first, parity, law, lost.copy()


def _negligible(law: Array, allowance: float, lost: Array) -> int:
    """Count the rows in front that are worth at most the allowance; add them to what is lost."""
    totals = np.cumsum(law, axis=0)
    count = int(np.all(totals.reshape(len(law), -1) <= allowance, axis=1).sum())
    if count:
        lost += totals[count - 1]
    return count


def _schedule(steps: ArrayLike, multiples: ArrayLike | None) -> tuple[list[int], list[int]]:
    marks = integers("steps", steps)
    if marks.size == 0 or np.any(np.diff(marks, prepend=0) < 0):
        raise ValueError("steps must be a vector of integers, nonnegative and not decreasing")
    if multiples is None:
        return marks.tolist(), [1] * int(marks[-1])
    sizes = finite_array("multiples", multiples, ndim=1)
    if np.any(sizes != np.rint(sizes)) or np.any((sizes < 1) | (sizes > 2**40)):
        raise ValueError(
            "multiples must be integers in [1, 2^40]: any other schedule leaves the lattice"
        )
    if sizes.size < marks[-1]:
        raise ValueError(f"multiples must give at least {marks[-1]} steps, got {sizes.size}")
    return marks.tolist(), sizes.astype(np.int64).tolist()


def _of_shape(name: str, values: ArrayLike, x: Array) -> Array:
    array = finite_array(f"{name} of x", values)
    if array.shape not in ((), x.shape):
        raise ValueError(
            f"{name} must keep the shape {x.shape}, got {array.shape}: give x0 or learning_rate "
            "one entry for each configuration"
        )
    return np.broadcast_to(array, x.shape)
