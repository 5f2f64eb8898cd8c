"""Masses of normal laws between points, without cancellation in the tails."""

import numpy as np
from scipy.special import log_ndtr, ndtr

from ..arguments import Array


def normal_masses(u: Array) -> Array:
    """Return the standard normal masses between neighbours on the first axis."""
    tail = ndtr(-np.abs(u))
    across = (u[:-1] < 0) != (u[1:] < 0)
    return np.where(across, 1 - tail[:-1] - tail[1:], np.abs(np.diff(tail, axis=0)))


def mixture_masses(noise: float, share: float, place: float, cells: int) -> Array:
    """Return (1 - share) N(0, noise^2) + share N(place, noise^2), place <= 2, on cells."""
    x = np.linspace(-12 * noise, 2 + 12 * noise, cells)
    away = cell_masses(log_ndtr((x - place) / noise))
    return (1 - share) * cell_masses(log_ndtr(x / noise)) + share * away


def cell_masses(log_below: Array) -> Array:
    """Return the chances of the cells between points, from ln P(X <= x), without cancellation."""
    below = np.concatenate([[0.0], np.exp(log_below), [1.0]])
    above = np.concatenate([[1.0], -np.expm1(log_below), [0.0]])
    return np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
