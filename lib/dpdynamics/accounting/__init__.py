"""Accounting: what a run of releases costs.

A *run*, `Run`: how records are drawn and which data are neighbours, with the verbs `delta`,
`epsilon` and `noise_for`: `Poisson`, `FixedSize`, `Shuffled`, `BallsInBins`, `CorrelatedPoisson`.
*Composition*: `compose` takes the pairs of :mod:`~dpdynamics.divergence`, or runs, and is the
privacy accountant; it inverts the transform of the privacy loss, or convolves a privacy loss
distribution (PLD) on a mesh, see :mod:`~dpdynamics.numerics`.

Beside these: the last iterate of a hidden run and of one pass; the strategies of correlated noise
and what they cost. Second floor: imports :mod:`~dpdynamics.divergence`. All logarithms are natural.
Everywhere a ValueError names an argument that is out of its range, and an ArithmeticError says that
the accuracy is not reached.
"""

from .balls_in_bins import BallsInBins
from .correlated import CorrelatedPoisson, cumulative_noise_lower_bound
from .correlated_matrices import (
    cumulative_noise_std,
    noising_matrix,
    participation_sensitivity,
    square_root_strategy,
    strategy_matrix,
    strategy_norm,
    tree_strategy,
    worst_sensitivity,
)
from .correlated_sampling import sampled_delta
from .fixed_size import FixedSize
from .iteration import hidden_state_rdp
from .one_pass import one_pass_gdp, one_pass_zcdp_by_record, optimal_noise_schedule
from .poisson import Poisson, compose
from .runs import Bracket
from .shuffled import Shuffled

__all__ = [
    "BallsInBins",
    "Bracket",
    "CorrelatedPoisson",
    "FixedSize",
    "Poisson",
    "Shuffled",
    "compose",
    "cumulative_noise_lower_bound",
    "cumulative_noise_std",
    "hidden_state_rdp",
    "noising_matrix",
    "one_pass_gdp",
    "one_pass_zcdp_by_record",
    "optimal_noise_schedule",
    "participation_sensitivity",
    "sampled_delta",
    "square_root_strategy",
    "strategy_matrix",
    "strategy_norm",
    "tree_strategy",
    "worst_sensitivity",
]
