"""KAN: the two-layer Kolmogorov-Arnold network and its private training.

Spline bases, the network with its gradients and their clipped sums, its curvature, the margin of
its tangent features at initialisation, and training by SGD with correlated noise. An argument that
has a wrong shape or is outside its range raises ValueError with its name. Second floor: imports
no room of the first.
"""

from .activations import activation
from .curvature import (
    LOGISTIC_SELF_BOUND,
    comparator_factors,
    hessian_extremes,
    network_bounds,
    self_bounding,
    suprema,
)
from .network import TwoLayerKAN, logistic_loss
from .separability import margin_direction, ntk_gram, ntk_margin
from .splines import CubicSplines
from .training import Recorder, Training

__all__ = [
    "LOGISTIC_SELF_BOUND",
    "CubicSplines",
    "Recorder",
    "Training",
    "TwoLayerKAN",
    "activation",
    "comparator_factors",
    "hessian_extremes",
    "logistic_loss",
    "margin_direction",
    "network_bounds",
    "ntk_gram",
    "ntk_margin",
    "self_bounding",
    "suprema",
]
