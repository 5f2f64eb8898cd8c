"""Checks of arguments and the form of results, written once.

A check returns the clean value or raises ValueError.
"""

import operator
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Finite numbers beyond this size are refused: their squares and cubes, which nearly every formula
# takes, would overflow, and the result be nan, or zero, in silence. A positive number below its
# inverse, of which formulas take the inverse, is refused for the same reason.
LARGEST = 1e100
SMALLEST = 1e-100


def finite_array(
    name: str,
    value: ArrayLike,
    ndim: int | None = None,
    *,
    infinite: bool = False,
    largest: float = LARGEST,
) -> Array:
    """Return `value` as a float array with `ndim` axes when given.

    Finite and at most `largest` in size, unless `infinite`.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be a number or a full array of numbers") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be real numbers, got dtype {array.dtype}")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, got {array.ndim}")
    array = array.astype(np.float64, copy=False)
    if np.any(np.isnan(array)):
        raise ValueError(f"{name} must not contain NaN ({int(np.isnan(array).sum())} found)")
    if not infinite and np.any(np.isinf(array)):
        raise ValueError(f"{name} must be finite")
    if not infinite and np.any(np.abs(array) > largest):
        raise ValueError(f"{name} must be at most {largest:g} in size, got {np.abs(array).max()}")
    return array


def nonnegative_array(
    name: str, value: ArrayLike, ndim: int | None = None, *, largest: float = LARGEST
) -> Array:
    """Return `value` as a finite float array without negative entries."""
    array = finite_array(name, value, ndim, largest=largest)
    if np.any(array < 0):
        raise ValueError(f"{name} must be nonnegative, got a minimum of {array.min()}")
    return array


def positive_array(name: str, value: ArrayLike, *, smallest: float = SMALLEST) -> Array:
    """Return `value` as a finite float array of entries that are positive, at least `smallest`."""
    array = finite_array(name, value)
    if np.any(array < smallest):
        raise ValueError(
            f"{name} must be positive, at least {smallest:g}, got a minimum of {array.min()}"
        )
    return array


def fraction_array(name: str, value: ArrayLike) -> Array:
    """Return `value` as a float array in (0, 1)."""
    array = finite_array(name, value)
    if not np.all((array > 0) & (array < 1)):
        raise ValueError(f"{name} must lie in (0, 1), got {value!r}")
    return array


def orders_array(name: str, value: ArrayLike) -> Array:
    """Return `value` as a float array in (1, inf)."""
    array = finite_array(name, value)
    if np.any(array <= 1):
        raise ValueError(f"{name} must lie in (1, inf), got {value!r}")
    return array


def last_axis(name: str, value: ArrayLike, length: int) -> Array:
    """Return `value` as a finite float array whose last axis has the given length."""
    array = finite_array(name, value)
    if array.ndim == 0 or array.shape[-1] != length:
        raise ValueError(f"{name} must have a last axis of length {length}, got {array.shape}")
    return array


def vector(name: str, value: ArrayLike, length: int) -> Array:
    """Return `value` as a finite float vector of the given length."""
    return last_axis(name, finite_array(name, value, ndim=1), length)


def together(**arrays: Array) -> tuple[Array, ...]:
    """Return the arrays broadcast against each other."""
    try:
        return np.broadcast_arrays(*arrays.values())
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"these shapes must broadcast: {shapes}") from None


def number(name: str, value: float) -> float:
    """Return `value` as a float; not a string, an array with axes or NaN."""
    array = finite_array(name, value, infinite=True)
    if array.ndim:
        raise ValueError(f"{name} must be one number, got an array of shape {array.shape}")
    return float(array)


def within(name: str, value: float, low: float, high: float) -> float:
    """Return `value` as a float in [low, high]."""
    if not low <= number(name, value) <= high:
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}], got {value}")
    return float(value)


def nonnegative(name: str, value: float) -> float:
    """Return `value` as a float in [0, LARGEST]."""
    return within(name, value, 0, LARGEST)


def positive(name: str, value: float) -> float:
    """Return `value` as a float in [SMALLEST, LARGEST]."""
    return within(name, value, SMALLEST, LARGEST)


def whole(name: str, value: int, minimum: int) -> int:
    """Return `value` as an integer that is at least `minimum`."""
    try:
        found = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, got {value!r}") from None
    if found < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    if found > LARGEST:  # beyond 2^53 it is rounded, as widths in asymptotic bounds may be
        raise ValueError(f"{name} must be at most {LARGEST:g}, got {value}")
    return found


def probability(name: str, value: float) -> float:
    """Return `value` as a float in (0, 1], at least SMALLEST."""
    if not 0 < number(name, value) <= 1:
        raise ValueError(f"{name} must lie in (0, 1], got {value}")
    return positive(name, value)


def fraction(name: str, value: float) -> float:
    """Return `value` as a float in (0, 1)."""
    if not 0 < number(name, value) < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value}")
    return float(value)


def one_of(name: str, value: str, choices: Sequence[str]) -> str:
    """Return `value` if it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
    return value


def text(name: str, value: str) -> str:
    """Return `value` if it is a text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text that is not empty, got {value!r}")
    return value


def integers(name: str, value: ArrayLike) -> NDArray:
    """Return `value` as a vector of integers, which may be empty."""
    if finite_array(name, value).ndim == 1:
        array = np.asarray(value)
        if not array.size or (array.dtype.kind in "iu" and array.max() <= np.iinfo(int).max):
            return array.astype(int)
    raise ValueError(f"{name} must be a vector of integers")


def checkpoint_steps(checkpoints: ArrayLike | None, steps: int, minimum: int = 1) -> NDArray:
    """Return `minimum` or more increasing steps in 0..steps; all of them for None."""
    marks = np.arange(steps + 1) if checkpoints is None else integers("checkpoints", checkpoints)
    if marks.size < minimum:
        raise ValueError(f"checkpoints must be a vector of integers, at least {minimum}")
    if np.any(np.diff(marks) <= 0) or np.any((marks < 0) | (marks > steps)):
        raise ValueError(f"checkpoints must increase within 0..{steps}")
    return marks


def plain(values: Array) -> float | Array:
    """Return an array without axes as a float, and any other as it is."""
    return float(values) if values.ndim == 0 else values


def elementwise(function: Callable[[float], float], array: Array) -> float | Array:
    """Apply a function of one number to every entry; a float for an array without axes."""
    values = [function(x) for x in array.ravel().tolist()]
    return plain(np.array(values, dtype=np.float64).reshape(array.shape))
