"""A valid call of every public function of the room kan: the arguments, by name."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dpdynamics.kan import TwoLayerKAN
from valid_calls.calls import Call, of, rng


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
    "comparator_factors": of(angle=0.5),
    "network_bounds": of(
        width=8, splines=5, failure_probability=0.1, activation="tanh", form="sharp"
    ),
    "logistic_loss": of(margins=np.array([0.5, -0.5]), derivative=1),
    "hessian_extremes": labelled,
    "margin_direction": lambda: labelled() | {"dual": np.full(4, 0.25)},
    "ntk_gram": labelled,
    "ntk_margin": of(gram=np.array([[2.0, 1.0], [1.0, 2.0]]), tolerance=1e-6),
    "self_bounding": of(gradient=1.0, hessian=0.5),
    "suprema": lambda: {"kan": network()["kan"], "feature_square": 1.0},
}
