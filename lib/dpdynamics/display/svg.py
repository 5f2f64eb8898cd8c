"""A matplotlib figure as compact SVG text that is the same, byte for byte, on every run."""

import io
import itertools
import re
from collections import Counter
from typing import Any, cast

import matplotlib
import numpy as np
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.textpath import TextToPath
from matplotlib.transforms import Bbox

from ..arguments import Array
from .style import RC

_COORDINATES = re.compile(
    r'(?<= )(?:d|x|y|x1|x2|y1|y2|points|width|height)="[^"]*"|translate\([^)]*\)'
)
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r'(?:href="|url\()#([^")]+)')
_TEXT = TextToPath()  # one for all drawings: it remembers the formulas that it parsed


def _drawn(figure: Figure, prefix: str, whole: bool) -> tuple[str, list[Any]]:
    """Draw as ``savefig`` does, but once: it draws everything twice where there is a layout."""
    buffer = io.StringIO()
    canvas, dpi = figure.canvas, figure.dpi
    width, height = 72 * figure.get_size_inches()
    nothing = {"Date": None, "Creator": None}
    renderer: Any = RendererSVG(width, height, buffer, None, RC["savefig.dpi"], metadata=nothing)
    renderer._text2path = _TEXT
    if whole:
        convert = renderer._convert_path
        renderer._convert_path = lambda path, transform=None, **_: convert(path, transform)
    try:
        measuring: Any = FigureCanvasBase(figure)  # becomes the figure's: the layout asks it
        measuring.get_renderer = lambda: renderer
        figure.dpi = 72
        figure.set_facecolor(RC["savefig.facecolor"])
        with matplotlib.rc_context({key: RC[key] for key in ("svg.hashsalt", "svg.fonttype")}):
            figure.draw(renderer)
        boxes = (
            [cast(Bbox, ax.get_tightbbox(renderer)).extents for ax in figure.axes] if whole else []
        )
    finally:
        figure.dpi = dpi
        figure.set_canvas(canvas)
    renderer.finalize()
    return _compact(buffer.getvalue(), prefix), boxes


def render(figure: Figure, *, prefix: str = "") -> str:
    """Draw a figure as a compact ``<svg>`` element.

    Coordinates are rounded to two decimals (0.01 pt), metadata, comments and unused ids are
    dropped. Scales are not rounded: they multiply glyphs that are thousands of units wide.
    ``prefix`` is put before every id, so that several drawings can live in one HTML page; with it
    the ids that start with "panel" stay.
    """
    return _drawn(figure, prefix, whole=False)[0]


def measured(figure: Figure, *, prefix: str = "") -> tuple[str, Array]:
    """Draw with every vertex of every curve, also of what lies outside the picture; measure.

    Returns the ``<svg>`` element, and the boxes (axes, 4) of the axes with their labels: left, top,
    right and bottom in points.
    """
    text, boxes = _drawn(figure, prefix, whole=True)
    left, low, right, high = np.transpose(boxes)
    height = 72 * figure.get_figheight()
    return text, np.stack([left, height - high, right, height - low], axis=-1)


def _compact(text: str, prefix: str) -> str:
    """Leave out of SVG text what no reader sees (see `render`)."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", text).replace("> <", "><").replace(" />", "/>").strip()
    text = text.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    text = text.replace("xlink:href", "href").replace(";base64, ", ";base64,")
    used = set(_REFERENCE.findall(text))
    text = re.sub(
        r' id="([^"]+)"',
        lambda m: f' id="{prefix}{m[1]}"' if m[1] in used or m[1].startswith("panel") else "",
        text,
    )
    if prefix:
        text = _REFERENCE.sub(lambda m: m[0].replace("#", f"#{prefix}"), text)
    return _COORDINATES.sub(lambda m: _LONG_NUMBER.sub(_short, m[0]), text)


def _short(match: re.Match[str]) -> str:
    number = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if number == "-0" else number


def split(text: str) -> list[str]:
    """Cut SVG text before every group; the pieces joined are the text again."""
    return re.split(r"(?=<g[ >])", text)


def pack(frames: list[str]) -> tuple[list[str], list[list[int]]]:
    """Store the pieces that frames share once.

    Pieces that always follow one another are joined, so that what does not move between frames
    becomes a few large chunks.
    Returns the chunks, and for every frame their indices: ``"".join(chunks[i] for i in sequence)``
    is the frame, bit for bit.
    """
    pieces: dict[str, int] = {}
    sequences = [[pieces.setdefault(p, len(pieces)) for p in split(f)] for f in frames]
    steps = {step for s in sequences for step in itertools.pairwise([-1, *s, -1])}
    leaving = Counter(a for a, _ in steps)
    entering = Counter(b for _, b in steps)
    follows = {b: a for a, b in steps if a >= 0 and leaving[a] == entering[b] == 1}
    text = list(pieces)
    chunks: list[str] = []
    renamed: dict[int, int] = {}
    for piece in range(len(text)):  # pieces are numbered in order of appearance: a precedes b
        if piece in follows:
            renamed[piece] = renamed[follows[piece]]
            chunks[renamed[piece]] += text[piece]
        else:
            renamed[piece] = len(chunks)
            chunks.append(text[piece])
    packed = [[renamed[i] for i in s if i not in follows] for s in sequences]
    return chunks, packed
