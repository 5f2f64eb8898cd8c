"""Accounting: what a release costs.

Divergences of Gaussian laws and of any two densities; the Gaussian mechanism exactly; conversions
between notions of privacy; Poisson, fixed-size and shuffled batches, exactly where that is known;
the last iterate of a hidden run and of one pass; correlated noise; calibration; audits
from below. First floor: imports no other room. All logarithms are natural.
"""

from .audit import Audit, audit_epsilon, audit_mu
from .calibration import calibrate_noise_multiplier
from .composition import composed_epsilon_lower
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
    Bracket,
    add_delta_bound,
    block_pair,
    correlated_gaussian_delta,
    correlated_gaussian_epsilon,
    correlated_noise_multiplier,
    cumulative_noise_lower_bound,
)
from .correlated_matrices import (
    cumulative_noise_std,
    independent_noise_multiplier,
    noising_matrix,
    participation_sensitivity,
    printed_correlated_multiplier,
    printed_independent_multiplier,
    strategy_matrix,
    strategy_norm,
    worst_sensitivity,
)
from .correlated_sampling import SampledDelta, correlated_loss, sampled_delta
from .covariances import DiagonalPlusLowRank
from .divergences import kl_divergence_gaussian, renyi_divergence_gaussian
from .fixed_size import (
    FixedSizePair,
    fixed_size_delta,
    fixed_size_pair,
    fixed_size_rdp,
    fixed_size_rdp_bound,
    fixed_size_rdp_lower,
)
from .gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    gaussian_noise_multiplier,
    gaussian_tradeoff,
)
from .hockey_stick import hockey_stick_gaussian
from .iteration import hidden_state_rdp
from .mixtures import NormalMixture
from .one_pass import one_pass_gdp, one_pass_zcdp, one_pass_zcdp_by_record, optimal_noise_schedule
from .quadrature import Quadrature, renyi_divergence_quadrature
from .shift_mixtures import ShiftMixture
from .shuffling import random_allocation_delta
from .subsampled import subsampled_gaussian_delta, subsampled_gaussian_epsilon
from .subsampled_rdp import gaussian_rdp, subsampled_gaussian_rdp

__all__ = [
    "Audit",
    "Bracket",
    "DiagonalPlusLowRank",
    "FixedSizePair",
    "NormalMixture",
    "Quadrature",
    "SampledDelta",
    "ShiftMixture",
    "add_delta_bound",
    "audit_epsilon",
    "audit_mu",
    "block_pair",
    "calibrate_noise_multiplier",
    "composed_epsilon_lower",
    "correlated_gaussian_delta",
    "correlated_gaussian_epsilon",
    "correlated_loss",
    "correlated_noise_multiplier",
    "cumulative_noise_lower_bound",
    "cumulative_noise_std",
    "epsilon_to_zcdp",
    "fixed_size_delta",
    "fixed_size_pair",
    "fixed_size_rdp",
    "fixed_size_rdp_bound",
    "fixed_size_rdp_lower",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_noise_multiplier",
    "gaussian_rdp",
    "gaussian_tradeoff",
    "hidden_state_rdp",
    "hockey_stick_gaussian",
    "independent_noise_multiplier",
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
    "random_allocation_delta",
    "rdp_to_delta",
    "rdp_to_epsilon",
    "renyi_divergence_gaussian",
    "renyi_divergence_quadrature",
    "sampled_delta",
    "strategy_matrix",
    "strategy_norm",
    "subsampled_gaussian_delta",
    "subsampled_gaussian_epsilon",
    "subsampled_gaussian_rdp",
    "tradeoff_to_delta",
    "worst_sensitivity",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]
