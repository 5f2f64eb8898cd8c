r"""Correlated noise with Poisson sampling: the exact pair, by filtering and sampling.

The pair of claim wang2026.thmF.8 is, in coordinates CX of `correlated_matrices`,

.. math:: P = \sum_{y\in\{0,1\}^T}s(y)\,N(Cy,\kappa^2I),\qquad Q = N(0,\kappa^2I).

Its means are a Markov chain, :math:`s_t=\lambda s_{t-1}+y_t`, so that dP/dQ is the likelihood of a
hidden Markov model, and the forward filter finds it in time linear in T once s lives on a grid.

A reference for tests and pictures, in seconds and with a sampling error; the certified interval is
`CorrelatedPoisson`. Zero-out neighbours, Poisson sampling.
"""

from math import log
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import brentq
from scipy.special import expit

from ..arguments import Array, number, positive, whole
from .correlated import CorrelatedPoisson, binomial_pair
from .correlated_matrices import checked_correlation, encode

_ENOUGH = 100


class SampledDelta(NamedTuple):
    """A `value` with its standard error and the number of samples that it rests on."""

    value: float
    standard_error: float
    effective_samples: float


def correlated_loss(
    outputs: Array,
    *,
    noise_multiplier: float,
    correlation: float,
    sampling_probability: float,
    states: Array,
) -> Array:
    r"""Compute :math:`\ln(dP/dQ)` (n,) of points x (n, T) of the pair by the forward filter.

    A state is shared between its neighbours among `states`, equally spaced from 0, in the mean
    right, with an error of second order; beyond the last one it is moved there.
    """
    variance, r = noise_multiplier**2, sampling_probability
    knots = states[[0, *range(states.size), -1]]
    moved = [np.minimum(correlation * states + part, states[-1]) for part in (0.0, 1.0)]
    idle, taken = (BSpline.design_matrix(place, knots, 1) for place in moved)  # hat functions
    moves = ((1 - r) * idle + r * taken).T.tocsr()
    law, logs = np.zeros((states.size, len(outputs))), np.zeros(len(outputs))
    law[0] = 1.0
    for column in outputs.T:
        law = moves @ law
        exponents = (
            np.multiply.outer(states, column / variance) - (states**2 / (2 * variance))[:, None]
        )
        largest = exponents.max(axis=0, where=law > 0, initial=-np.inf)
        law *= np.exp(np.minimum(exponents - largest, 0.0))  # without a law, nothing to weigh
        total = law.sum(axis=0)
        law /= total
        logs += np.log(total) + largest
    return logs


def sampled_delta(
    *,
    noise_multiplier: float,
    correlation: float,
    sampling_probability: float,
    steps: int,
    epsilon: float,
    samples: int = 1500,
    nodes: int = 81,
    seed: int = 0,
) -> SampledDelta:
    r"""Estimate the exact profile of removal by importance sampling.

    Participations are drawn with a larger probability and the noise with a mean along
    :math:`C\mathbf1`, both from the saddle point of a binomial number of like participations. It is
    refused with an ArithmeticError if fewer than 100 samples are effective, or if the value is
    significantly below the certified lower bound: the proposal misses what matters.

    Parameters
    ----------
    noise_multiplier, correlation, sampling_probability, steps
        As in `CorrelatedPoisson`; the sampling probability below 1.
    epsilon : float
        Any real number.
    samples : int
        At least 100.
    nodes : int
        Points of the grid of the filter, at least 2.
    seed : int
    """
    kappa, lam = positive("noise_multiplier", noise_multiplier), checked_correlation(correlation)
    run = CorrelatedPoisson(
        correlation=lam, sampling_probability=sampling_probability, steps=steps, relation="remove"
    )
    count, r = run.steps, run.sampling_probability
    size, points = whole("samples", samples, _ENOUGH), whole("nodes", nodes, 2)
    if r == 1:
        raise ValueError("sampling_probability must be below 1: there is nothing to sample")
    encoded = encode(lam, np.ones(count))
    direction = encoded / np.linalg.norm(encoded)
    weight = float(encode(lam, direction, transposed=True).mean()) / kappa
    part, mean = _proposal(r, count, weight, number("epsilon", epsilon))
    rng = np.random.default_rng(seed)
    y = (rng.random((size, count)) < part).astype(np.float64)
    z = rng.standard_normal((size, count)) + mean * direction
    means = encode(lam, y)
    loss = correlated_loss(
        means + kappa * z,
        noise_multiplier=kappa,
        correlation=lam,
        sampling_probability=r,
        states=np.linspace(0.0, min(1 / (1 - lam), 1.1 * float(means.max()) + 0.5), points),
    )
    taken = y.sum(axis=1)
    logs = taken * log(r / part) + (count - taken) * log((1 - r) / (1 - part))
    logs += mean**2 / 2 - mean * (z @ direction)
    values = np.exp(logs) * np.maximum(-np.expm1(np.minimum(epsilon - loss, 0.0)), 0.0)
    value, error = float(values.mean()), float(values.std() / np.sqrt(size))
    effective = float(values.sum() ** 2 / max(float(values @ values), 1e-300))
    if effective < _ENOUGH:
        raise ArithmeticError(f"only {effective:.0f} samples are effective; draw more")
    if value + 5 * error < run.delta(noise_multiplier=kappa, epsilon=epsilon).lower:
        raise ArithmeticError("the proposal misses a part of the law: below the lower bound")
    return SampledDelta(value, error, effective)


def _proposal(r: float, steps: int, weight: float, epsilon: float) -> tuple[float, float]:
    """Return the probability of taking part and the mean of the noise to draw with."""
    pair = binomial_pair(r, steps).scaled(1 / weight)

    def excess(x: float) -> float:
        return float(pair.loss(np.array([x]))[0]) - max(epsilon, 0.5 * pair.base)

    def part(a: float) -> float:
        return float(expit(a * weight + log(r / (1 - r))))

    last = 50.0 + pair.means[-1]
    if not excess(-50.0) < 0 < excess(last):
        raise ArithmeticError(f"epsilon = {epsilon:g} is out of the reach of such a run")
    target = 0.15 + brentq(excess, -50.0, last)
    mean = float(brentq(lambda a: part(a) * steps * weight + a - target, -60.0, 60.0 + target))
    return part(mean), mean
