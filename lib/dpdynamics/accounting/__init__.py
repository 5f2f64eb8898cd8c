"""Accounting: what a release costs.

Three concepts. A *pair* of distributions, `Pair`, or privacy loss distribution (PLD): what one
release may look like on neighbouring data; `Gaussian` and `Laplace` are pairs. *Composition*:
`compose` takes pairs and is the privacy accountant. A *run*, `Run`: how records are drawn and which
data are neighbours, with the verbs `delta`, `epsilon` and `noise_for`: `Poisson`, `FixedSize`,
`Shuffled`, `BallsInBins`, `CorrelatedPoisson`.

Beside these: the Gaussian mechanism and divergences in closed form; conversions between notions of
privacy (Renyi, concentrated, pure, tradeoff curves); the last iterate of a hidden run and of one
pass; correlated noise; audits from below. First floor: imports no other room. All logarithms are
natural. Everywhere a ValueError names an argument that is out of its range, and an ArithmeticError
says that the accuracy is not reached.
"""

from .audit import audit_epsilon, audit_mu
from .balls_in_bins import BallsInBins
from .conversions import (
    epsilon_to_zcdp,
    rdp_to_delta,
    rdp_to_epsilon,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from .correlated import (
    CorrelatedPoisson,
    cumulative_noise_lower_bound,
)
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
from .divergences import renyi_divergence_gaussian
from .fixed_size import (
    FixedSize,
)
from .gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_noise_multiplier,
)
from .gaussian_pair import Gaussian
from .hockey_stick import hockey_stick_gaussian
from .iteration import hidden_state_rdp
from .laplace import Laplace
from .one_pass import one_pass_gdp, one_pass_zcdp_by_record, optimal_noise_schedule
from .pairs import Pair
from .poisson import Poisson, compose
from .quadrature import renyi_divergence_quadrature
from .runs import Bracket
from .shuffled import Shuffled

__all__ = [
    "BallsInBins",
    "Bracket",
    "CorrelatedPoisson",
    "FixedSize",
    "Gaussian",
    "Laplace",
    "Pair",
    "Poisson",
    "Shuffled",
    "audit_epsilon",
    "audit_mu",
    "compose",
    "cumulative_noise_lower_bound",
    "cumulative_noise_std",
    "epsilon_to_zcdp",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_noise_multiplier",
    "hidden_state_rdp",
    "hockey_stick_gaussian",
    "noising_matrix",
    "one_pass_gdp",
    "one_pass_zcdp_by_record",
    "optimal_noise_schedule",
    "participation_sensitivity",
    "rdp_to_delta",
    "rdp_to_epsilon",
    "renyi_divergence_gaussian",
    "renyi_divergence_quadrature",
    "sampled_delta",
    "square_root_strategy",
    "strategy_matrix",
    "strategy_norm",
    "tree_strategy",
    "worst_sensitivity",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]
