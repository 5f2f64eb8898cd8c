"""How a valid call is written: the arguments, by name, made anew each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[], dict[str, Any]]


class Text(str):
    """A text of any words, as against the name of a choice."""


class Words(str):
    """A text of any words, or of none."""


def rng() -> np.random.Generator:
    """A generator."""
    return np.random.default_rng(0)


def of(**arguments: Any) -> Call:
    """Arguments that do not change from call to call; a generator is made anew."""
    return lambda: arguments | ({"rng": rng()} if "rng" in arguments else {})
