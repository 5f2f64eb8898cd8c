"""Multiprecision values of the subsampled Gaussian divergences, remembered for both test files."""

from functools import cache
from itertools import pairwise

import mpmath


@cache
def exact_rdp(q: float, sigma: float, order: float, relation: str = "remove") -> float:
    """Gauss-Legendre panels in 30 digits, for any order: D of the pair named by `relation`."""
    with mpmath.workdps(30):
        p, s, a = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(order)
        power = a if relation == "remove" else 1 - a

        def integrand(t):
            excess = p * mpmath.expm1(t / s - 1 / (2 * s * s))
            return mpmath.npdf(t) * ((1 + excess) ** power - 1 - power * excess)

        kink = s * mpmath.log((1 - p) / p) + 1 / (2 * s)
        peaks = [mpmath.mpf(0), 1 / s, a / s] if relation == "remove" else [mpmath.mpf(0), 1 / s]
        lean = mpmath.sqrt(2 * (a - 1) * mpmath.log1p(p / (1 - p) * mpmath.exp(-1 / (2 * s * s))))
        low, high = -16 - (lean if relation == "add" else 0), max(peaks) + 16
        edges = {low, high, *(peak + 2 * k for peak in peaks for k in range(-8, 9))}
        edges |= {kink + s * k for k in (-30, -20, -12, -8, -4, -2, 0, 2, 4, 8, 12, 20, 30)}
        if high - low < 120:
            edges |= set(mpmath.linspace(low, high, int((high - low) / 3)))
        inside = sorted(edge for edge in edges if low <= edge <= high)
        mass = mpmath.mpf(0)
        for left, right in pairwise(inside):
            far = min(abs(left - peak) for peak in peaks) >= 16 and high - low >= 120
            if not (far and right - left > 10 * s):  # a gap between two distant peaks
                mass += mpmath.quad(integrand, [left, right], method="gauss-legendre", maxdegree=5)
        return float(mpmath.log1p(mass) / (a - 1))


@cache
def exact_rdp_whole(q: float, sigma: float, order: int) -> float:
    """The binomial sum in 80 digits: D((1 - q) N(0, s^2) + q N(1, s^2) || N(0, s^2))."""
    with mpmath.workdps(80):
        p, s = mpmath.mpf(q), mpmath.mpf(sigma)
        ratio, weight, moment = p / (1 - p), (1 - p) ** order, mpmath.mpf(0)
        for k in range(order + 1):
            moment += weight * mpmath.exp(mpmath.mpf(k * (k - 1)) / (2 * s * s))
            weight *= ratio * (order - k) / (k + 1)
        return float(mpmath.log(moment) / (order - 1))
