r"""Shuffled epochs: each record once an epoch, in a fresh random order.

Other records can point the opposite way, and the batch of the record in question holds one of them
less. So in units of the clip norm, seen from the sum of a batch without the record, its batch lies
at 2, at 1 where it is zeroed out, and at 0 where it is replaced by one like the others; all other
batches lie at 0.

**From above** no amplification: a record takes part at most once an epoch, at a place that the
attacker may know. **From below** what an attacker proves who boils each epoch down to one outcome,
whose law does not depend on the record's place, so that nothing need be known of the order: see
`epoch_attacks`, with places 2 and 1, or 2 and 0.

If B does not divide n, epochs may keep or drop their last, smaller batch; the bound is the smaller
of both. Where it is dropped, the record misses an epoch with the chance that it falls there.
"""

from dataclasses import dataclass
from math import ceil, sqrt

from ..arguments import whole
from ..divergence.gaussian import gaussian_epsilon
from .epoch_attacks import attacked
from .runs import BoundedRun, no_other_number

_PLACES = {"zero_out": (2.0, 1.0), "replace": (2.0, 0.0)}


@dataclass(frozen=True, kw_only=True)
class Shuffled(BoundedRun):
    """Independent Gaussian noise on the batches of shuffled epochs: bounds.

    Parameters
    ----------
    batch_size, samples : int
        B <= n. Where B does not divide n, both bounds hold whether epochs keep the last, smaller
        batch or drop it.
    steps : int
        Number of releases of one run, at least 1. A started epoch counts from above and not from
        below.
    runs : int
        Number of such runs on the same records; each starts its epochs anew.
    relation : {"zero_out", "replace"}
        One record's contributions zeroed out or put back, or the record replaced. Another number of
        records is not covered.

    Examples
    --------
    >>> run = Shuffled(batch_size=500, samples=50_000, steps=3000)
    >>> [round(end, 1) for end in run.epsilon(noise_multiplier=1.0, delta=1e-6)]
    [17.9, 40.3]
    """

    batch_size: int
    samples: int
    steps: int = 1
    runs: int = 1
    relation: str = "zero_out"

    def __post_init__(self) -> None:
        for name in ("batch_size", "samples", "steps", "runs"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1))
        if self.batch_size > self.samples:
            raise ValueError(f"batch_size must be at most samples, got {self.batch_size}")
        no_other_number(self.relation, "shuffled epochs")

    def _bound(self, noise: float, delta: float, side: int, rough: bool = False) -> float:
        whole_batches, rest = divmod(self.samples, self.batch_size)
        if side > 0 or (whole_batches == 1 and rest == 0):
            started = self.runs * ceil(self.steps / whole_batches)
            shift = 2.0 if self.relation == "replace" else 1.0
            return float(gaussian_epsilon(mu=shift * sqrt(started) / noise, delta=delta))
        full, places = ceil(self.samples / self.batch_size), _PLACES[self.relation]
        kinds = {(full, 1.0), (whole_batches, 1 - rest / self.samples)}
        done = {kind: self.runs * (self.steps // kind[0]) for kind in kinds}
        return min(attacked(noise, delta, kind, done[kind], places, rough) for kind in kinds)
