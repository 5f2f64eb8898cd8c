"""Explorers: sliders over a figure, live with a kernel and precomputed without one.

One display carries both forms. With a kernel, ipywidgets sliders run over the whole range of each
parameter and ``draw`` is called anew. Without one (the rendered book, a file sent by mail, a page
exported from a notebook) native range inputs move a figure that was drawn once at every stop of the
grid; between two stops the page interpolates the curves, and says so.
"""

import html
import itertools
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
from IPython import get_ipython
from IPython.display import display
from matplotlib.figure import Figure

from ..arguments import Array, whole
from .figures import Shown, describe
from .frames import definitions, thin
from .parameter import Parameter, plain, typeset
from .svg import measured, pack, render

BUDGET = 600_000
SCALE = 1.48
"""Pixels that a point takes at most, so that all explorers have one size of type."""
NARROW = 5.4
"""Largest width in inches of a single panel, so that its words can be read on a phone."""
FREE = 3.0
"""Points that a layout leaves free around the words of every panel (matplotlib's default)."""
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


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

    def _prefix(self) -> str:
        return f"x{zlib.crc32(self.name.encode()):x}-"

    def _figure(self, **params: Any) -> Figure:
        figure = self.draw(**params)
        if not isinstance(figure, Figure):
            raise TypeError(f"draw must return a matplotlib Figure, got {type(figure).__name__}")
        if len(figure.axes) == 1:
            figure.set_figwidth(min(figure.get_figwidth(), NARROW))
        for k, ax in enumerate(figure.axes):
            ax.set_gid(f"panel{k}")
            if len(ax.get_shared_y_axes().get_siblings(ax)) > 1:
                ax.tick_params(labelleft=True)  # on a phone no panel stands beside it
        plt.close(figure)
        return figure

    def frame(self, **params: Any) -> str:
        """Draw one frame as SVG text."""
        return render(self._figure(**params), prefix=self._prefix())

    def _table_of_frames(
        self, grid: list[dict[str, Any]]
    ) -> tuple[str, list[str], tuple[str, str]]:
        """Draw all frames; return what they share, what they do not, and the phone's layout.

        Axes stay where the first frame has them, unless the words of a frame need more room: a
        layout takes as long as the drawing.
        """
        texts: list[str] = []
        boxes: list[Array] = []
        places: list[Any] = []
        for point in grid:
            figure = self._figure(**point)
            if len(figure.axes) == len(places):
                figure.set_layout_engine("none")
                for ax, place in zip(figure.axes, places, strict=True):
                    ax.set_position(place)
            text, box = measured(figure, prefix=self._prefix())
            if not places:
                places = [ax.get_position(original=True) for ax in figure.axes]
            elif len(box) == len(places) and not _fits(box, boxes[0]):
                text, box = measured(self._figure(**point), prefix=self._prefix())
            texts.append(text)
            boxes.append(box)
        heads = {text[: text.index(">") + 1] for text in texts}
        if len(heads) > 1:
            raise ValueError("draw must return figures of one size on all the grid")
        (head,) = heads
        width = float(head.split('width="')[1].split("pt")[0])
        open_ = re.sub(r'(?:width|height)="[^"]*" ', "", head)
        open_ = open_.replace("<svg", f'<svg style="max-width: {SCALE * width:.0f}px"')
        shared, bodies = definitions([text.removeprefix(head) for text in texts])
        bodies = thin([body.removesuffix("</svg>") for body in bodies])
        return open_ + shared, bodies, _stacked(boxes, self._prefix())

    def grid(self) -> list[dict[str, Any]]:
        """List the parameters of all frames, the last parameter running fastest."""
        axes = [p.values for p in self.parameters.values()]
        return [
            dict(zip(self.parameters, point, strict=True)) for point in itertools.product(*axes)
        ]

    def _texts(self, point: Mapping[str, Any]) -> list[str]:
        return [p.text(point[key]) for key, p in self.parameters.items()]

    def _still(self, point: Mapping[str, Any]) -> str:
        labels = (plain(p.label) for p in self.parameters.values())
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
        head, bodies, (box, moves) = self._table_of_frames(grid)
        chunks, frames = pack(bodies)
        rows = self._readouts(grid)
        start = int(np.ravel_multi_index([p.start for p in ps], [len(p.values) for p in ps]))
        data = {
            "alt": self.alt,
            "labels": [plain(p.label) for p in ps],
            "values": [[p.text(v) for v in p.values] for p in ps],
            "numbers": [None if p.steps or p.coarse else p.values for p in ps],
            "logs": [p.log for p in ps],
            "units": [p.unit for p in ps],
            "wholes": [p.whole for p in ps],
            "stacked": box,
            "frames": frames,
            "chunks": chunks,
        }
        controls = "".join(self._control(key) for key in self.parameters)
        still = self._still(grid[start])
        svg = f"{head}{bodies[start]}</svg>"
        note = '<p class="dp-note"></p>' if any(data["numbers"]) else ""
        return (
            f'<div class="dp-explorer" role="group" aria-label="Explorer {_e(self.name)}">'
            f"<style>{_asset('explorer.css')}</style><style>{moves}</style>"
            f'<div class="dp-controls">{controls}</div><p class="dp-still">{_e(still)}</p>'
            f'<div class="dp-frame" role="img" aria-label="{_e(f"{self.alt} {still}")}">{svg}</div>'
            f"{note}{_list(rows[start]) if rows else ''}{self._table(grid, rows)}"
            f'<p class="dp-caption">{_e(self.caption)}</p>'
            f'<script type="application/json" class="dp-data">{_script(data)}</script>'
            f"<script>{_asset('explorer.js')}</script></div>"
        )

    def _control(self, key: str) -> str:
        """Write a slider: its value counts stops, and goes by twentieths where it may."""
        p = self.parameters[key]
        place, shown = f"{self.name}-{key.replace('_', '-')}", _e(p.text(p.values[p.start]))
        described = f' aria-describedby="{place}-hint"' if p.hint else ""
        hint = f'<span class="dp-hint" id="{place}-hint">{_e(p.hint)}</span>' if p.hint else ""
        stops = "".join(f'<option value="{i}"></option>' for i in range(len(p.values)))
        return (
            f'<div class="dp-control"><label for="{place}"><span>{typeset(p.label)}</span>'
            f"<output>{shown}</output></label>"
            f'<input type="range" id="{place}" min="0" max="{len(p.values) - 1}" '
            f'step="{1 if p.steps or p.coarse else 0.05}" value="{p.start}" list="{place}-stops" '
            f'autocomplete="off" aria-label="{_e(plain(p.label))}" '
            f'aria-valuetext="{shown}"{described}>'
            f'<datalist id="{place}-stops">{stops}</datalist>{hint}</div>'
        )

    def _table(self, grid: list[dict[str, Any]], rows: list[dict[str, str]]) -> str:
        if not rows:
            return ""
        heads = [p.label for p in self.parameters.values()] + list(rows[0])
        head = "".join(f'<th scope="col">{typeset(h)}</th>' for h in heads)
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
                words.value = "; ".join(
                    f"{typeset(k)}: <b>{_e(v)}</b>" for row in rows for k, v in row.items()
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
        ``draw(**params)`` returns a matplotlib figure. Keep its axis limits and the points of its
        curves fixed: only then can curves be interpolated, and frames be compared and store little.
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
    items = "".join(f"<div><dt>{typeset(k)}</dt><dd>{_e(v)}</dd></div>" for k, v in row.items())
    return f'<dl class="dp-readout" aria-live="polite">{items}</dl>'


def _fits(box: Array, first: Array) -> bool:
    """Whether no words reach further than in the first frame by more than a layout leaves free."""
    beyond = np.concatenate([first[:, :2] - box[:, :2], box[:, 2:] - first[:, 2:]])
    return float(beyond.max()) < FREE


def _stacked(boxes: list[Array], prefix: str) -> tuple[str, str]:
    """Lay panels out below one another: the new view box, and the style that moves them."""
    alike = [frame for frame in boxes if len(frame) == len(boxes[0])]
    lows, highs = np.min(alike, axis=0)[:, :2], np.max(alike, axis=0)[:, 2:]
    columns: list[list[int]] = []
    for k in np.argsort(lows[:, 0]):
        if columns and lows[k, 0] < max(highs[j, 0] for j in columns[-1]) - 20:
            columns[-1].append(int(k))
        else:
            columns.append([int(k)])
    width = max(highs[c, 0].max() - lows[c, 0].min() for c in columns) + 8
    moves, bottom = "", 0.0
    for column in columns:  # flush on the right: there the axes end
        across, down = width - 4 - highs[column, 0].max(), bottom + 4 - lows[column, 1].min()
        places = ", ".join(f"[data-stacked] #{prefix}panel{k}" for k in column)
        moves += f"{places} {{ transform: translate({across:.1f}px, {down:.1f}px); }}\n"
        bottom = down + highs[column, 1].max() + 4
    return f"0 0 {width:.1f} {bottom:.1f}", moves
