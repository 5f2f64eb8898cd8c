r"""Composition from below: an epsilon that repeated releases certainly exceed.

Outcomes of one release are few, with chances p and q under the two neighbours. Everything done to
them here can only hide: outcomes are merged, losses :math:`\ln(p/q)` are lowered, chances under P
are dropped. So the epsilon that is found is a proved lower bound, up to rounding of the floats,
for which a margin is kept.

1. Outcomes near the likeliest loss are merged, and the mesh is laid through their common loss.
2. From the largest loss downwards outcomes are gathered until their common loss,
   :math:`\ln(\sum p/\sum q)`, has fallen to the point of the mesh below the first of them; the last
   outcome is split. Such groups lie on the mesh without rounding: the error is of second order.
3. The laws are convolved by a Fourier transform. What lies above its window reappears below, which
   lowers losses; what lies below is bounded by Chernoff and taken off.
"""

from math import exp

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import lfilter

from ..arguments import Array, finite_array, fraction, whole

_LONGEST = 1 << 22
_TILTS = np.geomspace(1e-3, 1e3, 200)


def composed_epsilon_lower(
    *, p: Array, q: Array, times: int, delta: float, cells: int = 2**13
) -> float:
    r"""Bound from below the epsilon of independent releases of one discrete outcome.

    The outcomes have the chances `p` and `q`, each with a sum of 1 at most. If other outputs were
    merged into them, it is a lower bound for these. `cells` are points of the mesh in the range of
    the losses of one release. Below a `delta` of 1e-12 or so the bound is loose.

    Examples
    --------
    Randomised response, once and ten times:

    >>> truth = {"p": [0.75, 0.25], "q": [0.25, 0.75], "delta": 0.01}
    >>> [round(composed_epsilon_lower(**truth, times=k), 2) for k in (1, 10)]
    [1.08, 10.79]
    """
    first, second = finite_array("p", p, 1), finite_array("q", q, 1)
    if first.shape != second.shape:
        raise ValueError(f"q must have the shape of p, {first.shape}, got {second.shape}")
    for name, masses in (("p", first), ("q", second)):
        if masses.size == 0 or masses.min() < 0 or masses.sum() > 1 + 1e-9:
            raise ValueError(f"{name} must hold chances with a sum of 1 at most")
    count, delta = whole("times", times, 1), fraction("delta", delta)
    cells = whole("cells", cells, 16)
    kept = first > 1e-6 * delta / count / first.size
    chances, rivals = first[kept], np.maximum(second[kept], 1e-300)
    losses = np.log(chances) - np.log(rivals)
    if not losses.size or np.ptp(losses) < 1e-9:
        return 0.0
    while True:
        mesh = float(np.ptp(losses)) / cells
        base, lowest, masses = _on_mesh(chances, rivals, losses, mesh)
        levels = base + mesh * np.arange(lowest, lowest + masses.size, dtype=np.float64)
        low, high = _window(levels, masses, count, delta)
        size = next_fast_len(int((high - low) / mesh) + 2, real=True)
        if size <= _LONGEST or cells < 32:
            break
        cells //= 2
    folded = np.bincount((lowest + np.arange(masses.size)) % size, masses, size)
    start = int(np.floor((low - count * base) / mesh))
    law = np.roll(irfft(rfft(folded) ** count, size), -(start % size))[::-1]
    profile = np.cumsum(law) - lfilter([1], [1, -exp(-mesh)], law)
    proved = np.flatnonzero(profile >= delta * (1 + 2e-6) + 1e-13 + 1e-15 * count)
    if not proved.size:
        return 0.0
    return max(count * base + (start + size - 1 - int(proved[0])) * mesh, 0.0)


def _on_mesh(p: Array, q: Array, losses: Array, mesh: float) -> tuple[float, int, Array]:
    """Return a loss, and masses of P at that loss plus whole multiples of the mesh."""
    weights, edges = np.histogram(losses, bins=int(np.ptp(losses) / mesh), weights=p)
    near = np.abs(losses - edges[weights.argmax()] - mesh / 2) <= 3 * mesh
    base = float(np.log(p[near].sum() / q[near].sum()))
    p, q = (np.append(x[~near], x[near].sum()) for x in (p, q * exp(base)))
    losses = np.append(losses[~near] - base, 0.0)
    points = np.floor(losses / mesh).astype(int)
    lowest = int(points.min())
    masses = np.zeros(int(points.max()) - lowest + 1)
    order = np.argsort(-losses)
    surplus, level, ratio = 0.0, 0, 1.0
    for chance, rival, point in zip(*(x[order].tolist() for x in (p, q, points)), strict=True):
        if surplus <= 0:
            level, ratio = point, exp(mesh * point)
        gain = chance - ratio * rival
        if surplus + gain >= 0:
            surplus += gain
            masses[level - lowest] += chance
            continue
        share = surplus / -gain  # of this outcome completes the group, the rest begins another
        masses[level - lowest] += share * chance
        level, ratio = point, exp(mesh * point)
        masses[level - lowest] += (1 - share) * chance
        surplus = max((1 - share) * (chance - ratio * rival), 0.0)
    return base, lowest, masses


def _window(levels: Array, masses: Array, times: int, delta: float) -> tuple[float, float]:
    """Return losses of the composition with at most 1e-6 delta below, and little above."""

    def log_mgf(tilts: Array) -> Array:
        exponents = np.multiply.outer(tilts, levels)
        top = exponents.max(axis=1, where=masses > 0, initial=-np.inf)
        exponents = np.minimum(exponents - top[:, None], 0.0)  # beyond the top there is no mass
        return np.asarray(np.log(np.exp(exponents) @ masses) + top)

    above = (times * log_mgf(_TILTS) - np.log(1e-3) - np.log(delta)) / _TILTS
    below = -(times * log_mgf(-_TILTS) - np.log(1e-6) - np.log(delta)) / _TILTS
    low = max(float(below.max()), times * float(levels[0]))
    return low, max(min(float(above.min()), times * float(levels[-1])), low)
