"""KAN: the two-layer Kolmogorov-Arnold network and its private training.

Spline bases, the network with its gradients and their clipped sums, its curvature, the margin of
its tangent features at initialisation, training by SGD with correlated noise, and a classifier that
states the guarantee it spent. Second floor: imports :mod:`~dpdynamics.problems` and
:mod:`~dpdynamics.accounting`.
"""

from .activations import Activation, activation
from .curvature import (
    LOGISTIC_SELF_BOUND,
    ComparatorFactors,
    SelfBounding,
    Suprema,
    coefficient_bounds,
    comparator_factors,
    gradient_bound,
    hessian_bound,
    loss_hessian_extremes,
    mean_loss_hessian_extremes,
    output_hessian_extremes,
    self_bounding,
    suprema,
)
from .estimator import Guarantee, PrivateKANClassifier, certified_noise
from .network import (
    ClippedGradient,
    Factors,
    TwoLayerKAN,
    logistic_curvature,
    logistic_loss,
    logistic_slope,
)
from .separability import Margin, margin_direction, ntk_gram, ntk_margin
from .splines import CubicSplines, SplineBounds, spline_bounds
from .training import Recorder, Step, Training

__all__ = [
    "LOGISTIC_SELF_BOUND",
    "Activation",
    "ClippedGradient",
    "ComparatorFactors",
    "CubicSplines",
    "Factors",
    "Guarantee",
    "Margin",
    "PrivateKANClassifier",
    "Recorder",
    "SelfBounding",
    "SplineBounds",
    "Step",
    "Suprema",
    "Training",
    "TwoLayerKAN",
    "activation",
    "certified_noise",
    "coefficient_bounds",
    "comparator_factors",
    "gradient_bound",
    "hessian_bound",
    "logistic_curvature",
    "logistic_loss",
    "logistic_slope",
    "loss_hessian_extremes",
    "margin_direction",
    "mean_loss_hessian_extremes",
    "ntk_gram",
    "ntk_margin",
    "output_hessian_extremes",
    "self_bounding",
    "spline_bounds",
    "suprema",
]
