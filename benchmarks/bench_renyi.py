"""Renyi divergence of Gaussians that differ by a matrix of rank four, against dense matrices."""

import numpy as np
from timing import result, timed

from dpdynamics.divergence import renyi_divergence_gaussian
from dpdynamics.divergence.covariances import DiagonalPlusLowRank


def _textbook(mean_p, cov_p, mean_q, cov_q, order):
    """The formula as it is usually written, with determinants of dense matrices."""
    gap, mixture = mean_p - mean_q, order * cov_q + (1 - order) * cov_p
    np.linalg.cholesky(mixture)  # the condition; without it an infinite value passes for a number
    log_p, log_q, log_m = (np.linalg.slogdet(m)[1] for m in (cov_p, cov_q, mixture))
    means = order / 2 * gap @ np.linalg.solve(mixture, gap)
    return means + ((1 - order) * log_p + order * log_q - log_m) / (2 * (order - 1))


def _pair(dimension):
    rng = np.random.default_rng(0)
    base, rate = rng.uniform(0.5, 2, dimension), 1e-4
    laws = []
    for record in rng.standard_normal((2, dimension)):
        factors = np.stack([record, base * record], axis=1)
        core = np.array([[rate**2 * (base @ record**2), -rate], [-rate, 0.0]])
        laws.append(DiagonalPlusLowRank(base, factors, core))
    return 1e-3 * rng.standard_normal(dimension), laws


def bench_low_rank():
    """Dimension 1000, one order."""
    gap, (p, q) = _pair(1000)
    dense_p, dense_q, zero = p.dense(), q.dense(), np.zeros(1000)
    ours, theirs = [], []
    for _ in range(5):
        for _ in range(20):
            seconds, value = timed(renyi_divergence_gaussian, gap, p, zero, q, 2.0)
            ours.append(seconds)
        seconds, reference = timed(_textbook, gap, dense_p, zero, dense_q, 2.0)
        theirs.append(seconds)
    if not np.isclose(value, reference, rtol=1e-6):
        raise ValueError(f"the two divergences disagree: {value} and {reference}")
    return result("Renyi divergence, rank 4, d = 1000", ours, theirs, 300)
