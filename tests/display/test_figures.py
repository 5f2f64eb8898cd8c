"""Figures: words required, bytes repeatable."""

import json
import xml.etree.ElementTree as ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdynamics.display import band, figures, panels, show
from dpdynamics.display.svg import pack, render, split

WORDS = {
    "alt": "A wave with three periods whose height falls to a tenth from left to right.",
    "caption": r"A damped wave, $e^{-t}\cos t$.",
    "name": "fig-wave",
}


def wave(decay: float = 0.3):
    figure, ax = panels()
    t = np.linspace(0, 8, 300)
    ax.plot(t, np.exp(-decay * t) * np.cos(t), label=r"$\sigma = 1$")
    ax.plot(t[::30], np.cos(t[::30]), "o")
    ax.set(xlabel="time $t$", ylim=(-1, 1))
    ax.legend()
    return figure


@pytest.fixture
def shown(monkeypatch):
    """What was displayed."""
    seen = []
    monkeypatch.setattr(figures, "display", seen.append)
    return seen


def test_show_carries_words_and_closes(shown):
    figure = wave()
    show(figure, **WORDS)
    data, metadata = shown[0]._repr_mimebundle_()
    assert set(data) == {"image/svg+xml", "text/plain"}
    assert data["text/plain"] == WORDS["alt"] == repr(shown[0])
    assert metadata["dpdynamics"]["figure"] == WORDS
    assert figure.number not in plt.get_fignums()
    json.dumps(metadata)


def test_show_raster(shown):
    show(wave(), **WORDS, raster=True)
    show(wave(), **WORDS, raster=True)
    data, metadata = shown[0]._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"}
    assert metadata["image/png"]["width"] == round(96 * 6.8)
    assert data == shown[1].data


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"alt": ""}, "alt must"),
        ({"alt": "A plot."}, "40 characters"),
        ({"alt": WORDS["alt"], "caption": f" {WORDS['alt']}\n"}, "repeat the caption"),
        ({"caption": "  "}, "caption must"),
        ({"name": "Fig Wave"}, "slug"),
        ({"name": "fig--wave"}, "slug"),
        ({"name": "1wave"}, "slug"),
    ],
)
def test_words_are_required(change, said, shown):
    figure = wave()
    with pytest.raises(ValueError, match=said):
        show(figure, **{**WORDS, **change})
    assert not shown
    plt.close(figure)


def test_svg_has_the_same_bytes_twice():
    one, two, other = wave(), wave(), wave(0.31)
    assert render(one) == render(two) == render(one)
    assert render(one) != render(other)
    plt.close("all")


def test_svg_is_compact_and_whole():
    figure = wave()
    text = render(figure, prefix="p-")
    plt.close(figure)
    assert text.startswith("<svg ")
    assert "<metadata" not in text
    assert "<!--" not in text
    assert "xlink" not in text
    tree = ElementTree.fromstring(text)
    ids = {e.get("id") for e in tree.iter() if e.get("id")}
    used = {e.get("href").removeprefix("#") for e in tree.iter() if e.get("href")}
    assert used
    assert used <= ids
    assert all(i.startswith("p-") for i in ids)


@given(st.lists(st.text(alphabet="ab<g >/", max_size=40), min_size=1, max_size=6))
def test_packed_frames_come_back(texts):
    chunks, sequences = pack(texts)
    assert ["".join(chunks[i] for i in s) for s in sequences] == texts
    assert all("".join(split(t)) == t for t in texts)


def test_pieces_that_stay_together_are_one_chunk():
    same, other = "<svg><g>a</g><g>b</g></svg>", "<svg><g>a</g><g>c</g></svg>"
    assert pack([same, same]) == ([same], [[0], [0]])
    assert pack([same, other])[0] == ["<svg><g>a</g>", "<g>b</g></svg>", "<g>c</g></svg>"]


def test_packing_pays():
    frames = []
    for decay in np.linspace(0.1, 1, 10):
        figure = wave(decay)
        frames.append(render(figure))
        plt.close(figure)
    chunks, sequences = pack(frames)
    assert ["".join(chunks[i] for i in s) for s in sequences] == frames
    assert sum(map(len, chunks)) < 0.5 * sum(map(len, frames))


def test_band():
    figure, ax = panels()
    x = np.linspace(0, 1, 5)
    (line,) = ax.plot(x, x)
    area = band(ax, x, x - 0.1, x + 0.1)
    assert area.get_facecolor()[0][:3] == pytest.approx(
        plt.matplotlib.colors.to_rgb(line.get_color())
    )
    with pytest.raises(ValueError, match="lower must not exceed"):
        band(ax, x, x + 0.1, x)
    with pytest.raises(ValueError, match="upper must not contain NaN"):
        band(ax, x, x, x * np.nan)
    with pytest.raises(ValueError, match="equal length"):
        band(ax, x, x[:-1], x)
    plt.close(figure)
