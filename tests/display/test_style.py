"""The style: legible, doubled, and the same with and without the matplotlibrc."""

from itertools import combinations
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgb

from dpdynamics.display import COLOURS, marks, panels
from dpdynamics.display.style import LINES, MARKERS, RC, WIDTH, use_style

# Machado, Oliveira and Fernandes (2009), severity 1: what is left of linear RGB.
DEFICIENCIES = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}  # fmt: skip


def linear(colour: str) -> list[float]:
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]


def luminance(colour: str) -> float:
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


@pytest.mark.parametrize("name", COLOURS)
def test_colours_stand_out_on_white(name):
    assert 1.05 / (luminance(COLOURS[name]) + 0.05) >= 3  # WCAG 1.4.11


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_first_six_colours_differ_for_every_eye(deficiency):
    seen = [
        [
            sum(m * c for m, c in zip(row, linear(colour), strict=True))
            for row in DEFICIENCIES[deficiency]
        ]
        for colour in list(COLOURS.values())[:6]
    ]
    assert all(
        sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) > 0.1**2
        for x, y in combinations(seen, 2)
    )


def test_colour_is_doubled_by_line_and_marker():
    assert len(set(LINES)) == len(set(MARKERS)) == len(COLOURS)
    cycle = list(plt.rcParams["axes.prop_cycle"])
    assert [c["color"] for c in cycle] == list(COLOURS.values())
    assert [c["linestyle"] for c in cycle] == list(LINES)
    assert len({marks(k)["marker"] for k in range(7)}) == 7
    with pytest.raises(ValueError, match="index"):
        marks(-1)


def test_use_style_restores():
    with matplotlib.rc_context({"axes.grid": False}):
        use_style()
        assert plt.rcParams["axes.grid"] is True


def test_matplotlibrc_agrees_with_the_style():
    path = Path(__file__).parents[2] / "lib" / "matplotlibrc"
    settings = matplotlib.rc_params_from_file(path, use_default_template=False)
    assert settings["svg.hashsalt"]
    for key, value in settings.items():
        assert key == "backend" or value == RC[key], key


def test_panels_have_the_book_width():
    figure, axes = panels(2, height=3)
    assert tuple(figure.get_size_inches()) == (WIDTH, 3)
    assert len(axes) == 2
    plt.close(figure)
    with pytest.raises(ValueError, match="columns"):
        panels(0)
    for height in (0, 1e-3, 1e3):
        with pytest.raises(ValueError, match="height"):
            panels(height=height)
