"""A valid call of every public function of the room kan: the arguments, by name."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dpdynamics.kan import TwoLayerKAN
from valid_calls.calls import Call, of, rng

WIDTHS = {"width": 8, "splines": 5, "failure_probability": 0.1}
BOUND = {**WIDTHS, "activation": "tanh", "form": "sharp"}


@cache
def network() -> dict[str, Any]:
    """A small network with data."""
    kan, weights = TwoLayerKAN.initial(8, 2, 5, rng=rng())
    features = kan.features(rng().uniform(-0.5, 0.5, (4, 2)))
    return {"kan": kan, "weights": weights, "features": features}


def labelled() -> dict[str, Any]:
    """The same with labels."""
    return network() | {"labels": np.array([1.0, -1.0, 1.0, -1.0])}


CALLS: dict[str, Call] = {
    "activation": of(name="tanh"),
    "certified_noise": of(
        epsilon=1.0,
        delta=1e-5,
        sampling="full",
        batch_size=50,
        samples=50,
        steps=5,
        correlation=0.5,
    ),
    "coefficient_bounds": of(**WIDTHS, form="sharp"),
    "comparator_factors": of(angle=0.5),
    "gradient_bound": of(**BOUND),
    "hessian_bound": of(**BOUND),
    "logistic_curvature": of(margins=np.array([0.5, -0.5])),
    "logistic_loss": of(margins=np.array([0.5, -0.5])),
    "logistic_slope": of(margins=np.array([0.5, -0.5])),
    "loss_hessian_extremes": labelled,
    "margin_direction": lambda: labelled() | {"dual": np.full(4, 0.25)},
    "mean_loss_hessian_extremes": labelled,
    "ntk_gram": labelled,
    "ntk_margin": of(gram=np.array([[2.0, 1.0], [1.0, 2.0]]), tolerance=1e-6),
    "output_hessian_extremes": network,
    "self_bounding": of(gradient=1.0, hessian=0.5),
    "spline_bounds": of(size=5),
    "suprema": lambda: {"kan": network()["kan"], "feature_square": 1.0},
}
