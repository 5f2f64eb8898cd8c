"""Accounting: what a release costs.

Divergences of Gaussian laws and of any two densities; the Gaussian mechanism exactly; conversions
between notions of privacy; Poisson, fixed-size and shuffled batches, exactly where that is known;
the last iterate of a hidden run and of one pass; correlated noise; calibration; audits
from below. First floor: imports no other room. All logarithms are natural.
"""

from .audit import audit_epsilon, audit_mu
from .balls_in_bins import BallsInBins
from .conversions import (
    epsilon_to_zcdp,
    profile_to_rdp,
    profile_to_tradeoff,
    pure_to_rdp,
    pure_to_zcdp,
    rdp_to_delta,
    rdp_to_epsilon,
    tradeoff_to_delta,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from .correlated import (
    CorrelatedPoisson,
    add_delta_bound,
    block_pair,
    cumulative_noise_lower_bound,
)
from .correlated_matrices import (
    cumulative_noise_std,
    noising_matrix,
    participation_sensitivity,
    printed_correlated_multiplier,
    printed_independent_multiplier,
    strategy_matrix,
    strategy_norm,
    worst_sensitivity,
)
from .correlated_sampling import correlated_loss, sampled_delta
from .covariances import DiagonalPlusLowRank
from .divergences import kl_divergence_gaussian, renyi_divergence_gaussian
from .fixed_size import (
    FixedSize,
    fixed_size_pair,
    fixed_size_rdp_bound,
)
from .gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_noise_multiplier,
    gaussian_tradeoff,
)
from .hockey_stick import hockey_stick_gaussian
from .iteration import hidden_state_rdp
from .one_pass import one_pass_gdp, one_pass_zcdp, one_pass_zcdp_by_record, optimal_noise_schedule
from .poisson import Poisson, compose
from .quadrature import renyi_divergence_quadrature
from .runs import Bracket, Run
from .shuffled import Shuffled

__all__ = [
    "BallsInBins",
    "Bracket",
    "CorrelatedPoisson",
    "DiagonalPlusLowRank",
    "FixedSize",
    "Poisson",
    "Run",
    "Shuffled",
    "add_delta_bound",
    "audit_epsilon",
    "audit_mu",
    "block_pair",
    "compose",
    "correlated_loss",
    "cumulative_noise_lower_bound",
    "cumulative_noise_std",
    "epsilon_to_zcdp",
    "fixed_size_pair",
    "fixed_size_rdp_bound",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_noise_multiplier",
    "gaussian_tradeoff",
    "hidden_state_rdp",
    "hockey_stick_gaussian",
    "kl_divergence_gaussian",
    "noising_matrix",
    "one_pass_gdp",
    "one_pass_zcdp",
    "one_pass_zcdp_by_record",
    "optimal_noise_schedule",
    "participation_sensitivity",
    "printed_correlated_multiplier",
    "printed_independent_multiplier",
    "profile_to_rdp",
    "profile_to_tradeoff",
    "pure_to_rdp",
    "pure_to_zcdp",
    "rdp_to_delta",
    "rdp_to_epsilon",
    "renyi_divergence_gaussian",
    "renyi_divergence_quadrature",
    "sampled_delta",
    "strategy_matrix",
    "strategy_norm",
    "tradeoff_to_delta",
    "worst_sensitivity",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]
