r"""What an attacker proves who boils an epoch down to one outcome: lower bounds.

In units of the clip norm one of the T batches of an epoch lies at place a under P and at b under Q,
at random or not, all others at 0, each under noise :math:`\sigma`. Two outcomes, whose laws do not
depend on which batch it is:

* the largest release, :math:`\Phi(x-a/\sigma)\Phi(x)^{T-1}`;
* the same where it exceeds a cut, and else the sum over all releases z, in deviations, of

  .. math:: f(z)=e^{az/\sigma-a^2/(2\sigma^2)}-e^{bz/\sigma-b^2/(2\sigma^2)},

  which the likelihood ratio of the epoch follows where it is near one, and wholly if b is 0.

The attacker rounds every f(z) to a mesh, and looks at the sum modulo a window: both are maps of the
releases, so that nothing is lost of the proof, and the law of the sum is one cyclic convolution. A
record that misses the epoch with some chance mixes both laws with that of T quiet releases.

More than what the transforms were seen to round is taken off the chances of P and added to those
of Q. Outcomes that are too faint for this are joined to the likeliest one.
"""

from math import sqrt

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import log_ndtr, ndtri

from ..arguments import Array
from ..numerics.normal_masses import cell_masses, normal_masses
from ..numerics.privacy_loss import composed_epsilon_lower

_LEAST = 1e-100  # noise; to what has less an attacker may add some
_REACH = 9.0  # in deviations; 1e-19 of the normal law is beyond
_START = -12.0  # of the cells for the largest release: 1e-33 of one is below
_FINENESS = 0.05  # of the mesh, in deviations of f; twelve cells squared share a loss of 2e-4
_WIDTH = 24.0  # of the window for sums, in their deviations, beside the largest f
_RARE = 3e-4  # chance of a quiet epoch with a release above the cut, unless delta may be reached
_WANTED, _LONGEST = 1 << 16, 1 << 18  # points of a window for the latter, and at most
_ATOM = 0.9  # with more in one cell the mesh tells little, and what is rounded is not spread evenly
_ROUNDING = 2.2e-16  # of transforms, spread over all points; 120 and 30 times T at most are seen
_FAINT = 100.0  # times what is taken off: losses are known to one per cent


def attacked(
    noise: float,
    delta: float,
    epoch: tuple[int, float],
    epochs: int,
    places: tuple[float, float],
    rough: bool = False,
) -> float:
    """Return the epsilon that the better attack proves, if `rough` in less time.

    The record's batch lies at the first of `places` under P, at the second under Q. An epoch is its
    number of batches, and the probability that the record is in one of them.
    """
    if not epochs:
        return 0.0
    noise = max(noise, _LEAST)
    shifts = places[0] / noise, places[1] / noise
    outcomes = [(_largest(_START, *epoch, shifts, 2**12 if rough else 2**15), 0.0)]
    outcomes += _sums(delta, *epoch, shifts, rough)
    cells, found = 2**12 if rough else 2**14, [0.0]
    for (p, q), off in outcomes:
        kept = p > off
        if not kept.any():
            continue
        laws = {"p": p[kept] - off, "q": q[kept] + off}
        found.append(composed_epsilon_lower(**laws, times=epochs, delta=delta, cells=cells))
    return max(found)


def _largest(
    start: float, batches: int, present: float, shifts: tuple[float, float], points: int
) -> tuple[Array, Array]:
    """Return the laws of the largest release, in deviations, below the start and on cells."""
    x = np.linspace(start, max(start, *shifts) + _REACH, points)
    quiet = log_ndtr(x)
    away = (1 - present) * cell_masses(batches * quiet)
    p, q = (
        present * cell_masses((batches - 1) * quiet + log_ndtr(x - shift)) + away
        for shift in shifts
    )
    return p, q


def _sums(
    delta: float, batches: int, present: float, shifts: tuple[float, float], rough: bool
) -> list[tuple[tuple[Array, Array], float]]:
    """Return the laws of the sum up to a cut, and of the largest release else; what to take off.

    Nothing if f does not vary in floats, or hardly on the mesh. Where a place is negative a release
    below -cut counts as one at -cut.
    """
    for rare in (min(delta, _RARE), _RARE):
        cut = -float(ndtri(max(rare / batches, 1e-19)))
        ends = np.linspace(-cut if min(shifts) < 0 else -_REACH, cut, 2**14 if rough else 2**16)
        z = np.append(ends[0], (ends[:-1] + ends[1:]) / 2)
        f, g = (np.exp(shift * (z - shift / 2)) for shift in shifts)
        f -= g
        quiet, *loud = (normal_masses(np.append(-np.inf, ends) - a) for a in (0.0, *shifts))
        mean = quiet @ f / quiet.sum()
        deviation = sqrt(quiet @ (f - mean) ** 2)
        if not deviation > 1e-150:
            return []
        reach = _WIDTH * sqrt(batches) * deviation + float(np.ptp(f))
        unit = (2 if rough else 1) * _FINENESS * deviation
        if reach < _WANTED * unit:
            break
    unit = max(unit, reach / _LONGEST)
    size = next_fast_len(int(reach / unit) + 2, real=True)
    at = np.mod(np.rint((f - mean) / unit).astype(np.int64), size)
    laws = [np.bincount(at, weights=law, minlength=size) for law in (quiet, *loud)]
    if laws[0].max() > _ATOM:
        return []
    one, *others = (rfft(law) for law in laws)
    rest = one ** (batches - 1)
    sums = [irfft(rest * (present * law + (1 - present) * one), size) for law in others]
    norm = max(float(np.linalg.norm(law)) for law in sums)
    off = _ROUNDING * (600 + 90 * batches) * norm / sqrt(size)
    above = _largest(cut, batches, present, shifts, 2**12)
    p, q = (np.append(low, high[1:]) for low, high in zip(sums, above, strict=True))
    faint, top = np.maximum(p, q) < _FAINT * off, int(p.argmax())
    for law, way in ((p, -1), (q, 1)):
        law[top] += law[faint].sum() + way * off * np.count_nonzero(faint)
    return [((p[~faint], q[~faint]), off)]
