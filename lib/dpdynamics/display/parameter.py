"""The parameter of an explorer: a grid of values with a label, a unit and a hint."""

import html
import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets

from ..arguments import text, whole

_SUBSCRIPT = re.compile(r"_(?:\{([^}]*)\}|(\w+))")


@dataclass(frozen=True)
class Parameter:
    """One slider.

    Parameters
    ----------
    values : sequence
        The grid, at least two values: increasing numbers, or strings.
    label : str
        What the slider says, in plain text (Unicode symbols, no TeX; ``σ_γ`` and ``η_{sgd}`` are
        set with a subscript).
    unit : str
        Appended to the value; empty for a pure number.
    hint : str
        A short sentence under the slider: what the quantity is, or what moving it right does.
    log : bool
        Move on a logarithmic scale (needs positive numbers).
    format : str
        Format specification of the values shown.
    start : int
        Index of the value shown first.
    steps : bool
        The slider goes from value to value: what lies between does not exist. Strings and
        consecutive whole numbers always do.
    coarse : bool
        The curves between two values cannot be read off their neighbours: the slider goes from
        value to value without a kernel, and moves freely with one.
    """

    values: Sequence[float | str]
    label: str
    unit: str = ""
    hint: str = ""
    log: bool = False
    format: str = ".4g"
    start: int = 0
    steps: bool = False
    coarse: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not isinstance(self.values, Iterable):
            raise ValueError(f"values must be a sequence, got {self.values!r}")
        values = tuple(getattr(v, "item", lambda v=v: v)() for v in self.values)
        object.__setattr__(self, "values", values)
        if len(values) < 2:
            raise ValueError(f"values must hold at least two entries, got {len(values)}")
        if self.words:
            if len(set(values)) < len(values):
                raise ValueError(f"values must be distinct, got {values}")
        elif not all(isinstance(v, int | float) and math.isfinite(v) for v in values) or any(
            a >= b for a, b in itertools.pairwise(values)
        ):
            raise ValueError(f"values must be increasing finite numbers or strings, got {values}")
        if self.log and (self.words or values[0] <= 0):
            raise ValueError(f"values must be positive numbers when log is set, got {values}")
        text("label", self.label)
        for name in ("unit", "hint"):
            if not isinstance(value := getattr(self, name), str):
                raise ValueError(f"{name} must be a text, got {value!r}")
        try:
            self.text(values[0])
        except (TypeError, ValueError) as error:
            raise ValueError(f"format must be a format specification: {error}") from None
        if whole("start", self.start, 0) >= len(values):
            raise ValueError(f"start must lie in [0, {len(values) - 1}], got {self.start}")
        consecutive = self.whole and values[-1] - values[0] == len(values) - 1
        object.__setattr__(self, "steps", self.steps or self.words or consecutive)

    @property
    def words(self) -> bool:
        """Whether the values are strings."""
        return all(isinstance(v, str) for v in self.values)

    @property
    def whole(self) -> bool:
        """Whether the values are integers."""
        return all(isinstance(v, int) for v in self.values)

    def text(self, value: float | str) -> str:
        """Write a value with its unit."""
        number = value if isinstance(value, str) else format(value, self.format)
        return f"{number} {self.unit}".rstrip()

    def slider(self) -> Any:
        """Make the live slider; its name tells the range: ipywidgets cuts what is typed beyond."""
        values: Sequence[Any] = self.values
        first, last, value = values[0], values[-1], values[self.start]
        common = {
            "description": plain(self.label),
            "tooltip": self.hint or None,
            "value": value,
            "continuous_update": False,
            "style": {"description_width": "initial"},
            "layout": {"width": "34rem"},
        }
        if self.steps:
            options = [(self.text(v), v) for v in values]
            return ipywidgets.SelectionSlider(options=options, **common)
        common["description"] += f", {self.text(first)} to {self.text(last)}"
        if self.log:
            low, high = math.log10(first), math.log10(last)
            number = ipywidgets.FloatLogSlider(min=low, max=high, step=(high - low) / 200, **common)
            number.readout_format = self.format
            return number
        if self.whole:
            return ipywidgets.IntSlider(min=first, max=last, **common)
        step = (last - first) / 200
        return ipywidgets.FloatSlider(
            min=first, max=last, step=step, readout_format=self.format, **common
        )


def plain(label: str) -> str:
    """Write a label without marks of subscripts."""
    return _SUBSCRIPT.sub(r" \1\2", label)


def typeset(label: str) -> str:
    """Write a label as HTML with its subscripts."""
    return _SUBSCRIPT.sub(r"<sub>\1\2</sub>", html.escape(label))
