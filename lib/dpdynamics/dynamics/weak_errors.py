r"""Weak errors of a stochastic differential equation for an optimiser, by coupled Monte Carlo.

An optimiser :math:`x_{k+1} = S_\eta(x_k, z_k)` driven by standard normals and an equation driven by
Brownian motion are run on the same randomness, :math:`z_k = (W_{(k+1)\eta} - W_{k\eta})/\sqrt\eta`.
The law of each is untouched, but their difference fluctuates far less than either.
"""

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from dpdynamics.arguments import Array, finite_array, fraction, positive, positive_array, whole

from .sde import MOST_STEPS, Coefficient, Euler, float64_space


class WeakErrors(NamedTuple):
    r"""Estimates of :math:`E\,g(X_T) - E\,g(x_K)` for L learning rates and q test functions.

    Attributes
    ----------
    learning_rates : (L,) array
    differences, standard_errors : (L, q) arrays
    half_widths : (L, q) array
        All true values lie within `differences` plus or minus these, at the joint confidence.
    corrections : (L, q) array
        What extrapolation in the step of the Euler-Maruyama scheme changed: the error that is left
        in `differences` is of second order in that step, so much smaller than these.
    """

    learning_rates: Array
    differences: Array
    standard_errors: Array
    half_widths: Array
    corrections: Array


def weak_error(
    optimizer_step: Callable[[Array, Array, float], Array],
    equation: Callable[[float], tuple[Coefficient, Coefficient]],
    test_functions: Callable[[Array], Array],
    x0: ArrayLike,
    learning_rates: ArrayLike,
    horizon: float,
    *,
    rng: np.random.Generator,
    replicates: int,
    substeps: int = 8,
    noise_dimension: int | None = None,
    coupled: bool = True,
    confidence: float = 0.9999,
) -> WeakErrors:
    r"""Estimate :math:`E\,g(X_T) - E\,g(x_{T/\eta})` for each learning rate, with intervals.

    The equation is solved by Euler-Maruyama with `substeps` and with half as many steps per
    optimiser step on the same path; the two are extrapolated pathwise (Talay and Tubaro).

    Parameters
    ----------
    optimizer_step : callable
        (x, z, learning_rate) to the next iterate; x (replicates, dim), z (replicates, m) standard
        normal. Noise of another law is a function of z (a uniform is `ndtr(z)`).
    equation : callable
        learning_rate to the pair (drift, diffusion), as in `euler_maruyama`. For short intervals
        give the diffusion the sign with which z enters the step (often minus).
    test_functions : callable
        x (replicates, dim) to (replicates,) or (replicates, q).
    x0 : (dim,) array
    learning_rates : (L,) array
        Each divides `horizon`, T in the time of the equation, into a whole number of steps.
    horizon : float
    rng : numpy.random.Generator
    replicates, substeps : int
        At least 2; the substeps even.
    noise_dimension : int, optional
        Number m of Brownian motions; None: dim, and a diagonal diffusion.
    coupled : bool
        False draws the normals of the optimiser independently.
    confidence : float
        Joint over all learning rates and test functions (Bonferroni, Student t), in (0, 1).

    Returns
    -------
    WeakErrors

    Raises
    ------
    ValueError
        If a shape or a range is violated, or a path leaves the range of floating point.

    References
    ----------
    Claims anon2025.def3.1 and anon2025.thmB.4; Talay and Tubaro, Stochastic Anal. Appl. 8 (1990).
    """
    start = finite_array("x0", x0, ndim=1)
    if not start.size:
        raise ValueError("x0 must not be empty")
    rates = positive_array("learning_rates", learning_rates)
    horizon, replicates = positive("horizon", horizon), whole("replicates", replicates, minimum=2)
    if whole("substeps", substeps, minimum=2) % 2:
        raise ValueError(f"substeps must be even, got {substeps}")
    if rates.ndim != 1 or rates.size == 0:
        raise ValueError(f"learning_rates must be a vector, not empty, got shape {rates.shape}")
    steps = np.rint(horizon / rates)
    if np.any(steps > MOST_STEPS):
        raise ValueError(f"horizon, learning_rates: more than {MOST_STEPS:g} steps")
    if np.any(np.abs(steps * rates - horizon) > 1e-9 * horizon):
        raise ValueError(f"learning_rates must divide the horizon {horizon} evenly")
    tail = (1 - fraction("confidence", confidence)) / 2

    rows = []
    for eta, count in zip(rates.tolist(), steps.astype(int).tolist(), strict=True):
        scheme = Euler(*equation(eta), float64_space(), (replicates, start.size), noise_dimension)
        fine, coarse, iterate = (np.tile(start, (replicates, 1)) for _ in range(3))
        h = eta / substeps
        for k in range(count):
            total = np.zeros(scheme.noise_shape)
            for j in range(0, substeps, 2):
                t = k * eta + j * h
                first, second = sqrt(h) * rng.standard_normal((2, *scheme.noise_shape))
                both = first + second
                total += both
                scheme.advance(fine, t, h, first)
                scheme.advance(fine, t + h, h, second)
                scheme.advance(coarse, t, 2 * h, both)
            z = total / sqrt(eta) if coupled else rng.standard_normal(scheme.noise_shape)
            iterate = finite_array(
                "optimizer_step(x, z, learning_rate)", optimizer_step(iterate, z, eta), ndim=2
            )
            if iterate.shape != fine.shape:
                raise ValueError(
                    f"optimizer_step must return shape {fine.shape}, got {iterate.shape}"
                )
        g = [_evaluated(test_functions, x) for x in (fine, coarse, iterate)]
        correction = g[0] - g[1]
        samples = g[0] + correction - g[2]
        spread = samples.std(axis=0, ddof=1) / sqrt(replicates)
        rows.append((samples.mean(axis=0), spread, correction.mean(axis=0)))

    differences, errors, corrections = (np.stack(column) for column in zip(*rows, strict=True))
    critical = stats.t.isf(tail / differences.size, replicates - 1)
    return WeakErrors(rates, differences, errors, critical * errors, corrections)


def _evaluated(test_functions: Callable[[Array], Array], x: Array) -> Array:
    values = finite_array("test_functions(x)", test_functions(x))
    if values.ndim not in (1, 2) or len(values) != len(x):
        raise ValueError(
            f"test_functions must return (replicates,) or (replicates, q), got {values.shape}"
        )
    return values.reshape(len(x), -1)
