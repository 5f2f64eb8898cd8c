"""Explorers: sliders over a figure, live with a kernel and precomputed without one.

One display carries both forms. With a kernel, ipywidgets sliders run over the whole range of each
parameter and ``draw`` is called anew. Without one (the rendered book, a file sent by mail, a page
exported from a notebook) native range inputs step through frames that were drawn once, on the grid.
"""

import html
import itertools
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
from IPython import get_ipython
from IPython.display import display
from matplotlib.figure import Figure

from ..arguments import text, whole
from .figures import Shown, describe
from .svg import pack, render

BUDGET = 600_000
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Parameter:
    """One slider.

    Parameters
    ----------
    values : sequence
        The grid, at least two values: increasing numbers, or strings.
    label : str
        What the slider says, in plain text (Unicode symbols, no TeX).
    unit : str
        Appended to the value; empty for a pure number.
    log : bool
        With a kernel, move on a logarithmic scale (needs positive numbers).
    format : str
        Format specification of the values shown.
    start : int
        Index of the value shown first.
    """

    values: Sequence[float | str]
    label: str
    unit: str = ""
    log: bool = False
    format: str = ".4g"
    start: int = 0

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
        if not isinstance(self.unit, str):
            raise ValueError(f"unit must be a text, got {self.unit!r}")
        try:
            self.text(values[0])
        except (TypeError, ValueError) as error:
            raise ValueError(f"format must be a format specification: {error}") from None
        if whole("start", self.start, 0) >= len(values):
            raise ValueError(f"start must lie in [0, {len(values) - 1}], got {self.start}")

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
        """Make the live slider: the grid's whole range, or the grid itself for strings."""
        values: Sequence[Any] = self.values
        first, last, value = values[0], values[-1], values[self.start]
        name = f"{self.label} ({self.unit})" if self.unit else self.label
        common = {
            "description": name,
            "value": value,
            "continuous_update": False,
            "style": {"description_width": "initial"},
            "layout": {"width": "28rem"},
        }
        if self.words:
            return ipywidgets.SelectionSlider(options=list(values), **common)
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


@dataclass
class Explorer:
    """The two forms of one explorer; made by :func:`explorer`, which see for the parameters."""

    draw: Callable[..., Figure]
    parameters: Mapping[str, Any]
    alt: str
    caption: str
    name: str
    readout: Callable[..., Mapping[str, str]] | None = None
    budget: int = BUDGET

    def __post_init__(self) -> None:
        self.metadata = describe(self.alt, self.caption, self.name)
        self.alt = self.metadata["dpdynamics"]["figure"]["alt"]
        if not 1 <= len(self.parameters) <= 3:
            raise ValueError(f"parameters must hold one, two or three, got {len(self.parameters)}")
        self.parameters = {
            key: p if isinstance(p, Parameter) else Parameter(p, label=key)
            for key, p in self.parameters.items()
        }
        whole("budget", self.budget, 1)
        self.html = self._static()
        if len(self.html) > self.budget:
            raise ValueError(
                f"explorer {self.name!r} takes {len(self.html):,} characters, its budget is "
                f"{self.budget:,}: take fewer values per parameter or fewer points per curve"
            )

    def frame(self, **params: Any) -> str:
        """Draw one frame as SVG text."""
        figure = self.draw(**params)
        if not isinstance(figure, Figure):
            raise TypeError(f"draw must return a matplotlib Figure, got {type(figure).__name__}")
        text = render(figure, prefix=f"x{zlib.crc32(self.name.encode()):x}-")
        plt.close(figure)
        return text

    def grid(self) -> list[dict[str, Any]]:
        """List the parameters of all frames, the last parameter running fastest."""
        axes = [p.values for p in self.parameters.values()]
        return [
            dict(zip(self.parameters, point, strict=True)) for point in itertools.product(*axes)
        ]

    def _texts(self, point: Mapping[str, Any]) -> list[str]:
        return [p.text(point[key]) for key, p in self.parameters.items()]

    def _still(self, point: Mapping[str, Any]) -> str:
        labels = (p.label for p in self.parameters.values())
        pairs = zip(labels, self._texts(point), strict=True)
        return "Shown: " + ", ".join(f"{label} = {text}" for label, text in pairs) + "."

    def _readouts(self, grid: list[dict[str, Any]]) -> list[dict[str, str]]:
        if self.readout is None:
            return []
        rows = [{k: str(v) for k, v in self.readout(**point).items()} for point in grid]
        if any(list(row) != list(rows[0]) for row in rows):
            raise ValueError(
                "readout must return the same keys, in the same order, on all the grid"
            )
        return rows

    def _static(self) -> str:
        grid, ps = self.grid(), list(self.parameters.values())
        chunks, frames = pack([self.frame(**point) for point in grid])
        rows = self._readouts(grid)
        start = 0
        for p in ps:
            start = start * len(p.values) + p.start
        columns = list(rows[0]) if rows else []
        data = {
            "alt": self.alt,
            "labels": [p.label for p in ps],
            "values": [[p.text(v) for v in p.values] for p in ps],
            "columns": columns,
            "frames": frames,
            "chunks": chunks,
        }
        controls = "".join(
            f'<label><span class="dp-name"><span>{_e(p.label)}</span>'
            f"<output>{_e(p.text(p.values[p.start]))}</output></span>"
            f'<input type="range" min="0" max="{len(p.values) - 1}" step="1" value="{p.start}" '
            f'autocomplete="off" aria-label="{_e(p.label)}" '
            f'aria-valuetext="{_e(p.text(p.values[p.start]))}"></label>'
            for p in ps
        )
        still = self._still(grid[start])
        svg = "".join(chunks[i] for i in frames[start])
        return (
            f'<div class="dp-explorer" role="group" aria-label="Explorer {_e(self.name)}">'
            f"<style>{_asset('explorer.css')}</style>"
            f'<div class="dp-controls">{controls}</div><p class="dp-still">{_e(still)}</p>'
            f'<div class="dp-frame" role="img" aria-label="{_e(f"{self.alt} {still}")}">{svg}</div>'
            f"{_list(rows[start]) if rows else ''}{self._table(grid, rows)}"
            f'<p class="dp-caption">{_e(self.caption)}</p>'
            f'<script type="application/json" class="dp-data">{_script(data)}</script>'
            f"<script>{_asset('explorer.js')}</script></div>"
        )

    def _table(self, grid: list[dict[str, Any]], rows: list[dict[str, str]]) -> str:
        if not rows:
            return ""
        heads = [p.label for p in self.parameters.values()] + list(rows[0])
        head = "".join(f'<th scope="col">{_e(h)}</th>' for h in heads)
        body = "".join(
            "<tr>"
            + "".join(f'<th scope="row">{_e(t)}</th>' for t in self._texts(point))
            + "".join(f"<td>{_e(t)}</td>" for t in row.values())
            + "</tr>"
            for point, row in zip(grid, rows, strict=True)
        )
        return (
            "<details><summary>All values as a table</summary>"
            f'<div class="dp-scroll" tabindex="0" role="region" '
            f'aria-label="Values of {_e(self.name)}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
        )

    def live(self) -> Any:
        """Make the ipywidgets form; ``draw`` runs again at every change."""
        sliders = {key: p.slider() for key, p in self.parameters.items()}
        frame, words = ipywidgets.HTML(), ipywidgets.HTML()

        def update(_: Any = None) -> None:
            point = {key: s.value for key, s in sliders.items()}
            for key, p in self.parameters.items():
                if p.whole:
                    point[key] = round(point[key])
            try:
                frame.value = (
                    f'<div role="img" aria-label="{_e(f"{self.alt} {self._still(point)}")}" '
                    f'style="background:#fff">{self.frame(**point)}</div>'
                )
                rows = self._readouts([point])
                words.value = (
                    "; ".join(f"{k}: <b>{_e(v)}</b>" for k, v in rows[0].items()) if rows else ""
                )
            except ValueError as error:
                words.value = f"<b>Outside the range:</b> {_e(str(error))}"

        for slider in sliders.values():
            slider.observe(update, names="value")
        update()
        return ipywidgets.VBox([*sliders.values(), frame, words])

    def bundle(self) -> Shown:
        """Collect the forms there are: the live one only where a kernel runs."""
        data: dict[str, Any] = {"text/plain": self.alt, "text/html": self.html}
        shell = get_ipython()
        if getattr(shell, "kernel", None) is not None:
            data[WIDGET_VIEW] = self.live()._repr_mimebundle_()[WIDGET_VIEW]
        return Shown(data, self.metadata)


def explorer(
    draw: Callable[..., Figure],
    parameters: Mapping[str, Parameter | Sequence[float | str]],
    *,
    alt: str,
    caption: str,
    name: str,
    readout: Callable[..., Mapping[str, str]] | None = None,
    budget: int = BUDGET,
) -> None:
    """Display an explorer: sliders over a figure, with a kernel and without.

    Parameters
    ----------
    draw : callable
        ``draw(**params)`` returns a matplotlib figure. Keep axis limits fixed, so that frames can
        be compared and store little.
    parameters : mapping
        One, two or three of them, by the names ``draw`` knows: a :class:`Parameter`, or a plain
        sequence whose name is its label. The product of the grids is drawn.
    alt : str
        What a reader who cannot see the picture needs; the values shown are appended.
    caption : str
        Caption in MyST Markdown.
    name : str
        Label, for ``{numref}``.
    readout : callable, optional
        ``readout(**params)`` returns key numbers as texts, the same keys everywhere.
    budget : int
        Largest number of characters of the static form.
    """
    display(Explorer(draw, parameters, alt, caption, name, readout, budget).bundle())


def _e(text: str) -> str:
    return html.escape(text)


def _asset(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8").strip()


def _script(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c") if "<!--" in text else text.replace("</", "<\\/")


def _list(row: Mapping[str, str]) -> str:
    items = "".join(f"<div><dt>{_e(k)}</dt><dd>{_e(v)}</dd></div>" for k, v in row.items())
    return f'<dl class="dp-readout" aria-live="polite">{items}</dl>'
