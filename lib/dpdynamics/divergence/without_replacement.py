r"""One step on a batch of fixed size, drawn without replacement: its dominating pair.

Lengths are in units of the clip norm, k is the noise multiplier and q = B/n. A pair (a, b) stands
for :math:`P=(1-q)N(0,k^2)+qN(a,k^2)` and Q with b for a. Whatever the data, the profile of a step
at :math:`\varepsilon\ge0` is at most that of

======================================= ======
the record ...                          pair
======================================= ======
is replaced                             (2, 0)
is in P, and zeroed out in Q: "remove"  (2, 1)
is zeroed out in P, and in Q: "add"     (1, 0)
======================================= ======

and at :math:`\varepsilon<0` what the pair of the other direction gives at :math:`-\varepsilon`,
P and Q exchanged. Both are attained, by different data; the proof, by joint convexity and Kahane's
inequality, is in the chapter on accounting. The supremum of profiles is one itself: of a loss
whose positive values have the law that they have in the first pair, whose negative ones are those
of the second with their sign turned, and which is 0 with the rest of the probability. Steps that
are chosen adaptively are dominated by the composition of such losses (Zhu, Dong and Wang, 2022).
"""

from dataclasses import dataclass

from .gaussian_pair import Places, SampledNormals

PAIRS: dict[str, tuple[Places, Places]] = {
    "replace": ((2.0, 0.0), (2.0, 0.0)),
    "remove": ((2.0, 1.0), (1.0, 0.0)),
    "add": ((1.0, 0.0), (2.0, 1.0)),
}


@dataclass(frozen=True)
class WithoutReplacement(SampledNormals):
    """The dominating pair of one step with Gaussian noise, see the head of this file.

    Many steps compose by inversion, a few by convolution.

    Examples
    --------
    >>> f"{WithoutReplacement(1.0, 0.01, 'remove').delta(1.0):.3g}"
    '0.000169'
    """

    faintest = 0.02

    @property
    def places(self) -> tuple[Places, Places]:
        return PAIRS[self.relation]
