r"""What other published accountants report for Poisson sampling, add-or-remove neighbours.

Only the Renyi accountants are guarantees. The central limit is an approximation, and the closed
formula :math:`\varepsilon = q\sqrt{k\ln(1/\delta)}/\sigma` is the moments theorem with its constant
set to one, which is too small in general.
"""

from collections.abc import Callable
from math import expm1, log, sqrt

import numpy as np

from ..accounting import Poisson
from ..arguments import fraction, positive, probability, whole
from ..divergence import gaussian_epsilon, rdp_to_epsilon

_ALL = 1 + np.geomspace(0.02, 1000, 120)
_WHOLE = np.arange(2.0, 65.0)

Accountant = Callable[[float, float, int, float], float]


def renyi_tight(noise: float, q: float, steps: int, delta: float) -> float:
    """Return epsilon by Renyi divergences of fractional orders and the tight conversion."""
    return _renyi(noise, q, steps, delta, _ALL, "tight")


def renyi_classical(noise: float, q: float, steps: int, delta: float) -> float:
    """Return epsilon by whole orders from 2 to 64 and the classical conversion."""
    return _renyi(noise, q, steps, delta, _WHOLE, "mironov")


def central_limit(noise: float, q: float, steps: int, delta: float) -> float:
    """Return epsilon of the Gaussian limit of many steps: an approximation, not a bound."""
    noise, q, steps, delta = _checked(noise, q, steps, delta)
    mu = q * sqrt(steps * expm1(min(noise**-2, 700.0)))
    return float(gaussian_epsilon(mu=mu, delta=delta))


def moments_formula(noise: float, q: float, steps: int, delta: float) -> float:
    """Return the closed formula with constant one (claim anon2025.thm3.1): not a bound."""
    noise, q, steps, delta = _checked(noise, q, steps, delta)
    return q * sqrt(steps * log(1 / delta)) / noise


ACCOUNTANTS: dict[str, Accountant] = {
    "Renyi, all orders, tight": renyi_tight,
    "Renyi, whole orders, classical": renyi_classical,
    "central limit (no bound)": central_limit,
    "closed formula (no bound)": moments_formula,
}


def _checked(noise: float, q: float, steps: int, delta: float) -> tuple[float, float, int, float]:
    checked = positive("noise", noise), probability("q", q), whole("steps", steps, 1)
    return *checked, fraction("delta", delta)


def _renyi(
    noise: float, q: float, steps: int, delta: float, orders: np.ndarray, conversion: str
) -> float:
    noise, q, steps, delta = _checked(noise, q, steps, delta)
    run = Poisson(sampling_probability=q, steps=steps)
    rdp = run.rdp(noise_multiplier=noise, orders=orders)
    return float(rdp_to_epsilon(orders=orders, rdp=rdp, delta=delta, conversion=conversion))
