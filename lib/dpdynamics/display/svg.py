"""A matplotlib figure as compact SVG text that is the same, byte for byte, on every run."""

import functools
import io
import re
from typing import Any

import matplotlib
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser
from matplotlib.textpath import TextToPath

from .style import RC

_COORDINATES = re.compile(
    r'(?<= )(?:d|x|y|x1|x2|y1|y2|points|width|height)="[^"]*"|translate\([^)]*\)'
)
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r'(?:href="|url\()#([^")]+)')


_PARSED: Any = vars(MathTextParser)["_parse_cached"]


class _Formulas(MathTextParser):
    """Formulas, each parsed once; matplotlib remembers 50 for as long as a renderer lives."""

    _parse_cached = functools.lru_cache(4096)(_PARSED.__wrapped__)


_TEXT = TextToPath()
_TEXT.mathtext_parser = _Formulas("path")


class _Canvas(FigureCanvasBase):
    """A canvas whose layout measures text with the renderer that draws it."""

    def __init__(self, figure: Figure, renderer: Any) -> None:
        super().__init__(figure)
        self.get_renderer = lambda: renderer


def _drawn(figure: Figure, whole: bool) -> str:
    """Draw as ``savefig`` does, but once: it draws everything twice where there is a layout."""
    buffer = io.StringIO()
    canvas, dpi, image_dpi = figure.canvas, figure.dpi, RC["savefig.dpi"]
    width, height = figure.get_size_inches()
    points = FigureCanvasSVG.fixed_dpi
    nothing = {"Date": None, "Creator": None}
    vector: Any = RendererSVG(
        points * width, points * height, buffer, None, image_dpi, metadata=nothing
    )
    vector._text2path = _TEXT
    if whole:
        convert = vector._convert_path
        vector._convert_path = lambda path, transform=None, **_: convert(path, transform)
    mixed: Any = MixedModeRenderer
    renderer = mixed(figure, width, height, image_dpi, vector)
    try:
        _Canvas(figure, renderer)
        figure.dpi = points
        figure.set_facecolor(RC["savefig.facecolor"])
        figure.draw(renderer)
    finally:
        figure.dpi = dpi
        figure.set_canvas(canvas)
    renderer.finalize()
    return buffer.getvalue()


def render(figure: Figure, *, prefix: str = "", whole: bool = False) -> str:
    """Draw a figure as a compact ``<svg>`` element.

    Coordinates are rounded to two decimals (0.01 pt), metadata, comments and unused ids are
    dropped. Scales are not rounded: they multiply glyphs that are thousands of units wide.
    ``prefix`` is put before every id, so that several drawings can live in one HTML page; with it
    the ids that start with "panel" stay. ``whole`` keeps every vertex of every curve, also of what
    lies outside the picture.
    """
    with matplotlib.rc_context({key: RC[key] for key in ("svg.hashsalt", "svg.fonttype")}):
        text = _drawn(figure, whole)
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
    before: dict[int, set[int]] = {i: set() for i in pieces.values()}
    after: dict[int, set[int]] = {i: set() for i in pieces.values()}
    for sequence in sequences:
        for a, b in zip([-1, *sequence], [*sequence, -1], strict=True):
            if a >= 0:
                after[a].add(b)
            if b >= 0:
                before[b].add(a)
    text = list(pieces)
    chunks: list[str] = []
    renamed: dict[int, int] = {}
    follows = {
        b: next(iter(before[b]))
        for b in before
        if len(before[b]) == 1 and (a := next(iter(before[b]))) >= 0 and len(after[a]) == 1
    }
    for piece in range(len(text)):  # pieces are numbered in order of appearance: a precedes b
        if piece in follows:
            renamed[piece] = renamed[follows[piece]]
            chunks[renamed[piece]] += text[piece]
        else:
            renamed[piece] = len(chunks)
            chunks.append(text[piece])
    packed = [[renamed[i] for i in s if i not in follows] for s in sequences]
    return chunks, packed
