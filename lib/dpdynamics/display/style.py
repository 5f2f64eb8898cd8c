"""The one figure style of the book.

A figure is a light card; on a dark page the book's style sheet turns its lightness and keeps its
hues, so captions name hues, never black or white. Colours are Okabe and Ito's (2008),
distinguishable with every common colour vision deficiency; each colour comes with its own line
style, and :func:`marks` adds its own marker, so no meaning hangs on colour alone. Fonts ship with
matplotlib and text is drawn as paths: the same bytes everywhere.
"""

from typing import Any

import matplotlib
from cycler import cycler

from ..arguments import whole

WIDTH = 6.8
"""Width in inches of every figure, so that type has one size throughout the book."""

COLOURS = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "sky": "#2E94C9",
    "black": "#222222",
    "orange": "#B77900",
}
"""Okabe and Ito's hues, sky and orange darkened to a contrast of 3:1 on white; orange comes last
because dark orange is close to vermillion for a deuteranope."""

LINES = ("-", (0, (5, 1.6)), (0, (5, 1.4, 1, 1.4)), (0, (1.2, 1.2)), (0, (9, 2)),
         (0, (4, 1.2, 1, 1.2, 1, 1.2)), (0, (2.5, 1.2)))  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, FAINT = "#222222", "#D9DDE3"

RC: dict[Any, Any] = {
    "figure.figsize": (WIDTH, 3.7),
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "white",
    "savefig.dpi": 160,
    "axes.prop_cycle": cycler(color=list(COLOURS.values())) + cycler(linestyle=LINES),
    "axes.edgecolor": "#6B7280",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 11.5,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.formatter.use_mathtext": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": "#6B7280",
    "ytick.color": "#6B7280",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 10.5,
    "ytick.labelsize": 10.5,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.minor.width": 0.5,
    "ytick.minor.width": 0.5,
    "lines.linewidth": 1.7,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2.5,
    "legend.frameon": False,
    "legend.fontsize": 10.5,
    "legend.handlelength": 2.8,
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "font.size": 11,
    "mathtext.fontset": "stix",
    "text.color": INK,
    "text.usetex": False,
    "image.cmap": "cividis",
    "svg.fonttype": "path",
    "svg.hashsalt": "dpdynamics",
}


def use_style() -> None:
    """Apply the style to matplotlib's global settings (also done on importing the room)."""
    matplotlib.rcParams.update(RC)


def marks(index: int) -> dict[str, str]:
    """Keywords of ``Axes.plot`` for the ``index``-th series of points, in step with the lines.

    Series count from 0; colours repeat after seven.
    """
    colours = list(COLOURS.values())
    k = whole("index", index, 0) % len(colours)
    return {"color": colours[k], "marker": MARKERS[k], "linestyle": "none"}
