"""Activations whose derivative is a quadratic polynomial of their value."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from ..arguments import one_of


class Activation(NamedTuple):
    r"""A sigmoidal function :math:`\sigma` with
    :math:`\sigma' = c_0 + c_1\sigma - \sigma^2`.

    `slope` and `curvature` are the suprema of :math:`|\sigma'|` and :math:`|\sigma''|`; the values
    fill (`lower`, 1).
    """

    function: Callable[..., Any]
    polynomial: tuple[float, float, float]
    lower: float
    slope: float
    curvature: float


_ALL = {
    "tanh": Activation(np.tanh, (1.0, 0.0, -1.0), -1.0, 1.0, float(4 / np.sqrt(27))),
    "sigmoid": Activation(expit, (0.0, 1.0, -1.0), 0.0, 0.25, float(1 / np.sqrt(108))),
}


def activation(name: str) -> Activation:
    """Give the activation "tanh" or "sigmoid"; ValueError for another name."""
    return _ALL[one_of("name of the activation", name, list(_ALL))]
