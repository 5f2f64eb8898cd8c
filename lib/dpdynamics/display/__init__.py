"""Display (third floor): one figure style, and explorers that also work in a page without a kernel.

Importing the room applies the style.

* :func:`show` displays a matplotlib figure with alternative text, caption and label.
* :func:`explorer` displays sliders over a figure: live with a kernel, precomputed without one.
* :class:`Parameter` is one slider: a short grid of values with a label and a unit.
* :func:`panels`, :func:`band`, :func:`marks`, :data:`COLOURS` keep figures alike.

Nothing here computes: the rooms below hand over numbers, this room shows them.
"""

from .explorers import explorer
from .figures import band, panels, show
from .parameter import Parameter
from .style import COLOURS, marks, use_style

__all__ = [
    "COLOURS",
    "Parameter",
    "band",
    "explorer",
    "marks",
    "panels",
    "show",
]

use_style()
