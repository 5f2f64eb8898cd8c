"""A valid call of every public function and checked class of the room display."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from valid_calls.calls import Call, Text, Words, of

WORDS = {
    "alt": Text("A straight line that rises from the lower left to the upper right corner."),
    "caption": Text("A line."),
    "name": "fig-line",
}
X = np.array([0.0, 1.0])


def draw(slope: float = 1.0) -> Figure:
    """A figure that matplotlib.pyplot does not keep."""
    figure = Figure()
    figure.subplots().plot(X, slope * X)
    return figure


def axes() -> Any:
    """Axes of such a figure."""
    return draw().axes[0]


CALLS: dict[str, Call] = {
    "Parameter": of(
        values=[0.5, 1.0, 2.0],
        label=Text("rate"),
        unit=Words("1/s"),
        hint=Words("Right: it falls faster."),
        log=True,
        format=".3g",
        start=1,
        steps=True,
        coarse=True,
    ),
    "band": lambda: {"ax": axes(), "x": X, "lower": X - 1, "upper": X + 1},
    "explorer": of(draw=draw, parameters={"slope": [1.0, 2.0]}, **WORDS, budget=100_000),
    "marks": of(index=3),
    "panels": of(columns=2, height=3.7),
    "show": lambda: {"fig": draw(), **WORDS},
}
