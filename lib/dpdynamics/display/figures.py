"""Figures with alternative text, caption and label."""

import base64
import io
import re
from typing import Any

import matplotlib.pyplot as plt
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ..arguments import finite_array, text, whole, within
from .style import INK, WIDTH
from .svg import render

SHORTEST_ALT = 40


def describe(alt: str, caption: str, name: str) -> dict[str, dict[str, dict[str, str]]]:
    """Check the words that go with a figure; return them as output metadata."""
    for word, value in {"alt": alt, "caption": caption, "name": name}.items():
        text(word, value)
    alt, caption = " ".join(alt.split()), caption.strip()
    if len(alt) < SHORTEST_ALT:
        raise ValueError(
            f"alt must say what the picture shows in at least {SHORTEST_ALT} characters, "
            f"got {alt!r}"
        )
    if alt == " ".join(caption.split()):
        raise ValueError("alt must not repeat the caption: say what a reader would see")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(
            f"name must be a slug of lower-case letters, digits and single hyphens, got {name!r}"
        )
    return {"dpdynamics": {"figure": {"alt": alt, "caption": caption, "name": name}}}


class Shown:
    """A mime bundle with metadata; in a terminal it prints as its alternative text."""

    def __init__(self, data: dict[str, str], metadata: dict[str, Any]) -> None:
        self.data, self.metadata = data, metadata

    def __repr__(self) -> str:
        return self.data["text/plain"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        return self.data, self.metadata


def show(fig: Figure, *, alt: str, caption: str, name: str, raster: bool = False) -> None:
    """Display a figure and close it.

    Parameters
    ----------
    fig : Figure
    alt : str
        What a reader who cannot see the picture needs: what is plotted and what it shows, in at
        least 40 characters.
    caption : str
        Caption in MyST Markdown (mathematics and citations allowed).
    name : str
        Label, for ``{numref}``: lower-case letters, digits and single hyphens.
    raster : bool
        Display as PNG instead of SVG: for pictures of very many points.
    """
    metadata: dict[str, Any] = describe(alt, caption, name)
    data = {"text/plain": metadata["dpdynamics"]["figure"]["alt"]}
    if raster:
        buffer = io.BytesIO()
        fig.savefig(buffer, format="png", metadata={"Software": None})
        data["image/png"] = base64.b64encode(buffer.getvalue()).decode()
        metadata["image/png"] = {"width": round(96 * fig.get_figwidth())}
    else:
        data["image/svg+xml"] = render(fig)
    plt.close(fig)
    display(Shown(data, metadata))


def panels(columns: int = 1, *, height: float = 3.7, **options: Any) -> tuple[Figure, Any]:
    """Make a figure of the book's width with panels side by side, as ``plt.subplots`` does.

    Parameters
    ----------
    columns : int
        Number of panels.
    height : float
        In inches, from 0.1 to 100.
    **options
        Passed to ``matplotlib.pyplot.subplots`` (``sharey=True``, for example).
    """
    size = WIDTH, within("height", height, 0.1, 100)
    return plt.subplots(1, whole("columns", columns, 1), figsize=size, **options)


def band(ax: Axes, x: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> PolyCollection:
    """Shade the uncertainty between two curves, in the colour of the last line drawn.

    Parameters
    ----------
    ax : Axes
    x, lower, upper : array_like, shape (n,)
        Abscissae and both edges, finite, ``lower <= upper``.
    """
    edges = {"x": x, "lower": lower, "upper": upper}
    x, lower, upper = (finite_array(name, values) for name, values in edges.items())
    if not x.shape == lower.shape == upper.shape or x.ndim != 1:
        raise ValueError(
            "x, lower and upper must be one-dimensional and of equal length, "
            f"got shapes {x.shape}, {lower.shape}, {upper.shape}"
        )
    if (lower > upper).any():
        raise ValueError("lower must not exceed upper anywhere")
    color: Any = ax.lines[-1].get_color() if ax.lines else INK
    return ax.fill_between(x, lower, upper, color=color, alpha=0.18, linewidth=0)
