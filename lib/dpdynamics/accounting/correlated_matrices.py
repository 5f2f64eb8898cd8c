r"""Correlated noise: its strategy matrices and the sensitivities of what they encode.

All T releases are :math:`X + \kappa C^{-1}Z` in clip norms, equivalent to :math:`CX+\kappa Z`, with
independent standard normal Z and a lower triangular strategy matrix C. A strategy is data, the
argument `correlation`:

* a number :math:`\lambda\in[0,1)`: :math:`C_{tu} = \lambda^{t-u}`, noise
  :math:`\kappa(Z_t-\lambda Z_{t-1})` (DP-lambda-CGD; Algorithm 1 of wang2026 makes T - 1 of its T
  steps, and so as many releases);
* a vector of coefficients, :math:`C_{tu} = c_{t-u}`, zero beyond its end, such as
  `square_root_strategy`: a banded Toeplitz matrix;
* a lower triangular matrix, such as `tree_strategy`.

A record that takes part as :math:`y\ge0` moves CX by at most :math:`\|Cy\|` if no entry of
:math:`C^\top C` is negative. This holds for adaptive releases too.
"""

from math import pi, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular, toeplitz
from scipy.optimize import brentq
from scipy.signal import lfilter

from ..arguments import Array, finite_array, nonnegative_array, plain, positive, whole


def square_root_strategy(*, steps: int, bands: int | None = None) -> Array:
    r"""Build the coefficients of the square root of the prefix sums, :math:`\binom{2k}k/4^k`.

    With one participation the root mean square error of its prefix sums is
    :math:`\frac1\pi\ln T+O(1)`, which no strategy improves by more than a constant.

    Parameters
    ----------
    steps : int
        T, at least 1.
    bands : int, optional
        How many coefficients to keep; by default all T. With as many as steps between two
        participations, columns that a record meets are orthogonal.

    Returns
    -------
    (bands,) array

    References
    ----------
    Fichtenberger, Henzinger and Upadhyay (2023); Kalinin and Lampert (2024) for the bands.
    """
    count = whole("steps", steps, 1)
    kept = count if bands is None else min(whole("bands", bands, 1), count)
    k = np.arange(1, kept)
    return np.cumprod(np.append(1.0, (2 * k - 1) / (2 * k)))


def tree_strategy(*, steps: int) -> Array:
    r"""Build the strategy of tree aggregation, each node of a binary tree with its own noise.

    The lower triangular C with the Gram matrix of the tree: it is decoded as well as all nodes
    allow (Honaker), and the noise of a prefix sum is at most that of the nodes that it is made of.

    Parameters
    ----------
    steps : int
        T, at least 1; leaves beyond it are left out.

    Returns
    -------
    (steps, steps) array

    References
    ----------
    Dwork, Naor, Pitassi and Rothblum (2010); Honaker (2015); Denisov, McMahan, Rush, Smith and
    Thakurta (2022) for lower triangular factors.
    """
    leaves = np.arange(whole("steps", steps, 1))
    gram = np.zeros((leaves.size, leaves.size))
    for level in range((leaves.size - 1).bit_length() + 1):
        nodes = leaves >> level
        gram += nodes[:, None] == nodes
    return np.asarray(cholesky(gram[::-1, ::-1])[::-1, ::-1])


def strategy_matrix(*, correlation: ArrayLike, steps: int) -> Array:
    r"""Build the strategy matrix C.

    Parameters
    ----------
    correlation : number, (k,) or (steps, steps) array
        See the head of this file; with a positive diagonal.
    steps : int
        At least 1.

    Returns
    -------
    (steps, steps) array
        Lower triangular, the inverse of `noising_matrix`; claim wang2026.eq24.
    """
    count, found = whole("steps", steps, 1), finite_array("correlation", correlation)
    if found.ndim == 0:
        found = checked_correlation(found) ** np.arange(count, dtype=np.float64)
    if found.ndim == 1 and found.size and found[0] > 0:
        return np.asarray(np.tril(toeplitz(np.append(found, np.zeros(count))[:count])))
    lower = found.shape == (count, count) and not np.triu(found, 1).any()
    if not lower or not np.all(np.diagonal(found) > 0):
        raise ValueError(
            "correlation must be a number in [0, 1), coefficients of which the first is positive, "
            f"or a lower triangular ({count}, {count}) matrix with a positive diagonal"
        )
    return found


def noising_matrix(*, correlation: ArrayLike, steps: int) -> Array:
    r"""Build :math:`C^{-1}`, which makes the noise of the releases of white noise.

    For a number it is :math:`I-\lambda L`, L the shift by one step. Parameters, size and errors are
    those of `strategy_matrix`.
    """
    count = whole("steps", steps, 1)
    if np.ndim(finite_array("correlation", correlation)) == 0:
        lam = checked_correlation(correlation)
        return np.asarray(np.eye(count) - lam * np.eye(count, k=-1))
    encoder = strategy_matrix(correlation=correlation, steps=count)
    return np.asarray(solve_triangular(encoder, np.eye(count), lower=True))


def strategy_norm(*, correlation: ArrayLike, steps: int) -> float:
    r"""Compute the spectral norm :math:`\|C\|_2`, for a number below 1/(1 - lambda).

    The noise is that of independent releases of multiplier :math:`\kappa/\|C\|_2` and more: any
    guarantee for these, under any relation and sampling, holds for the correlated ones.

    Parameters
    ----------
    correlation, steps
        As in `strategy_matrix`.

    Returns
    -------
    float
        Rounded up, by a relative 1e-12 or so.
    """
    count = whole("steps", steps, 1)
    if np.ndim(finite_array("correlation", correlation)):
        encoder = strategy_matrix(correlation=correlation, steps=count)
        return (1 + 1e-12) * float(np.linalg.norm(encoder, 2))
    lam = checked_correlation(correlation)

    # The eigenvalues of C^-1 C^-T are (1 - lambda)^2 + 4 lambda sin^2(theta/2) at the roots theta.
    def gap(theta: float) -> float:
        return sin((count + 1) * theta) - lam * sin(count * theta)

    if lam == 0:
        return 1.0
    low, high = 1e-9 * pi / (count + 1), (1 + 1e-9) * pi / (count + 1)
    theta = float(brentq(gap, low, high, xtol=1e-300, rtol=1e-14))
    return (1 + 1e-12) / sqrt((1 - lam) ** 2 + 4 * lam * sin(theta / 2) ** 2)


def participation_sensitivity(*, correlation: ArrayLike, pattern: ArrayLike) -> float | Array:
    r"""Compute :math:`\|Cy\|_2`, the sensitivity to a record that takes part as y.

    Refused if an entry of :math:`C^\top C` is negative: vectors of different directions are worse.

    Parameters
    ----------
    correlation : number, (k,) or (T, T) array
        As in `strategy_matrix`.
    pattern : (..., T) array
        y, nonnegative; 1 in the steps in which the record takes part.

    Returns
    -------
    float or (...) array
        For zero-out neighbours, in clip norms; twice as much for replacing the record.
    """
    y = nonnegative_array("pattern", pattern)
    if y.ndim == 0 or y.shape[-1] == 0:
        raise ValueError("pattern must have a last axis with one entry a step")
    hashable_strategy(correlation, y.shape[-1])
    return plain(np.sqrt(np.sum(encode(correlation, y) ** 2, axis=-1)))


def worst_sensitivity(
    *,
    correlation: ArrayLike,
    steps: int,
    participations: int | None = None,
    separation: int = 1,
) -> float:
    r"""Compute the largest :math:`\|Cy\|_2` of the patterns that a schedule allows, exactly.

    It is known in four cases, and else refused with an ArithmeticError. For nonnegative Toeplitz
    coefficients that do not increase, a number among them, the worst pattern starts at once and
    goes on without delay. Where columns `separation` apart are orthogonal (bands), the largest
    norms are added up. If a record takes part once, the longest column counts, and if it may take
    part in all steps, all do.

    Without sampling the mechanism with noise multiplier :math:`\kappa` is then exactly Gaussian,
    `gaussian_delta` at :math:`\mu` = this value over :math:`\kappa`.

    Parameters
    ----------
    correlation, steps
        As in `strategy_matrix`.
    participations : int, optional
        At most so many of the steps; by default as many as fit.
    separation : int
        b of b-min-separation: at least so many steps from one participation to the next.

    Returns
    -------
    float
        As that of `participation_sensitivity`.

    References
    ----------
    Choquette-Choo et al. (2023), for bands; Kalinin and Lampert (2024), Theorem 2, for Toeplitz
    matrices.

    Examples
    --------
    >>> schedule = {"correlation": 0.9, "steps": 400, "participations": 4}
    >>> [round(worst_sensitivity(**schedule, separation=apart), 3) for apart in (1, 100)]
    [8.614, 4.588]
    """
    count, apart = whole("steps", steps, 1), whole("separation", separation, 1)
    fitting = -(-count // apart)
    if participations is not None:
        fitting = min(fitting, whole("participations", participations, 1))
    pattern = np.zeros(count)
    pattern[::apart][:fitting] = 1
    entries = finite_array("correlation", correlation)
    falling = entries.ndim == 1 and np.all(np.diff(entries) <= 0) and np.all(entries >= 0)
    if entries.ndim == 0 or falling or (apart == 1 and fitting == count):
        return float(participation_sensitivity(correlation=correlation, pattern=pattern))
    gram = _gram(correlation, count)
    if fitting > 1 and np.triu(gram, apart).any():
        raise ArithmeticError(
            "the worst pattern of this strategy is not known: it takes falling coefficients, "
            "columns that are orthogonal from the separation on, or one participation"
        )
    best = np.zeros((fitting + 1, count + apart))  # by participations left, from a step on
    for start in range(count - 1, -1, -1):
        taken = gram[start, start] + best[:-1, start + apart]
        best[1:, start] = np.maximum(best[1:, start + 1], taken)
    return sqrt(best[fitting, 0])


def cumulative_noise_std(*, noise_multiplier: float, correlation: ArrayLike, steps: int) -> float:
    r"""Compute the standard deviation of the sum of all noises, in clip norms.

    It is :math:`\kappa\|C^{-\top}\mathbf 1\|`; for a number
    :math:`\kappa((1-\lambda)^2(T-1)+1)^{1/2}`.

    Parameters
    ----------
    noise_multiplier : float
        Positive.
    correlation, steps
        As in `strategy_matrix`.
    """
    kappa, count = positive("noise_multiplier", noise_multiplier), whole("steps", steps, 1)
    if np.ndim(finite_array("correlation", correlation)) == 0:
        lam = checked_correlation(correlation)
        return kappa * sqrt((1 - lam) ** 2 * (count - 1) + 1)
    encoder = strategy_matrix(correlation=correlation, steps=count)
    decoded = solve_triangular(encoder, np.ones(count), lower=True, trans="T")
    return kappa * float(np.linalg.norm(decoded))


def encode(correlation: ArrayLike, pattern: Array, *, transposed: bool = False) -> Array:
    """Return C y, or the transpose of C applied to y, of patterns (..., T)."""
    if np.ndim(correlation):
        encoder = strategy_matrix(correlation=correlation, steps=pattern.shape[-1])
        return np.asarray(pattern @ (encoder if transposed else encoder.T))
    way = slice(None, None, -1 if transposed else 1)
    lam = checked_correlation(correlation)
    return np.asarray(lfilter([1.0], [1.0, -lam], pattern[..., way], axis=-1)[..., way])


def hashable_strategy(correlation: ArrayLike, steps: int) -> ArrayLike:
    """Return a strategy without negative inner products of columns as a number or as tuples."""
    entries = finite_array("correlation", correlation)
    if entries.ndim == 0:
        return checked_correlation(entries)
    _gram(entries, steps)
    rows = entries.tolist()
    return tuple(tuple(row) for row in rows) if entries.ndim == 2 else tuple(rows)


def checked_correlation(value: ArrayLike) -> float:
    """Return a correlation in [0, 1)."""
    entries = finite_array("correlation", value)
    if entries.ndim or not 0 <= entries < 1:
        raise ValueError(f"correlation must be a number in [0, 1), got {value!r}")
    return float(entries)


def _gram(correlation: ArrayLike, steps: int) -> Array:
    """Return C^T C, whose entries are not negative, up to rounding."""
    encoder = strategy_matrix(correlation=correlation, steps=steps)
    gram = encoder.T @ encoder
    rounding = 1e-13 * float(np.diagonal(gram).max()) * steps
    if gram.min() < -rounding:
        raise ValueError("correlation must have columns with nonnegative inner products")
    return np.where(gram > rounding, gram, 0.0)
