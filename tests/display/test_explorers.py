"""Explorers: the static form is whole and self-contained, the live form agrees with it."""

import json
import re
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from dpdynamics.display import Parameter, explorers, panels
from dpdynamics.display import explorer as display_explorer
from dpdynamics.display.explorers import Explorer
from dpdynamics.display.frames import definitions, thin
from dpdynamics.display.parameter import plain, typeset
from dpdynamics.display.style import WIDTH
from dpdynamics.display.svg import measured

T = np.linspace(0, 5, 100)
WORDS = {
    "alt": "A falling exponential curve on linear axes; its rate follows the first slider.",
    "caption": r"Move the rate $\lambda$ & the <offset>.",
    "name": "fig-rate",
}
RATES = Parameter([0.5, 1.0, 2.0], "rate λ_x", unit="1/s", hint="How fast it <falls>.", log=True)
OFFSETS = Parameter([0, 1], "offset", start=1)


def draw(rate=1.0, offset=0, kind="linear"):
    figure, ax = panels(height=2.5)
    ax.plot(T, offset + np.exp(-rate * T))
    ax.set(ylim=(0, 2), yscale=kind if kind == "linear" else "linear")
    return figure


def readout(rate, offset):
    return {"at 1": f"{offset + np.exp(-rate):.3f}", "limit <": str(offset)}


@pytest.fixture(scope="module")
def made():
    return Explorer(draw, {"rate": RATES, "offset": OFFSETS}, readout=readout, **WORDS)


def data_of(html):
    return json.loads(re.search(r'class="dp-data">(.*?)</script>', html, re.DOTALL)[1])


def frames_of(data):
    return ["".join(data["chunks"][i] for i in s) for s in data["frames"]]


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def points(svg):
    """All curves of a picture as arrays of points."""
    paths = re.findall(r' d="(M [^A-KN-Y"]*)"', svg)
    return [np.array(re.findall(r"-?[\d.]+", d), float).reshape(-1, 2) for d in paths]


def test_frames_are_those_drawn(made):
    """Every frame has matplotlib's curves, to a tenth of a point, and all else as it draws it."""
    data = data_of(made.html)
    frames = frames_of(data)
    assert len(set(frames)) == 6
    assert data["values"] == [["0.5 1/s", "1 1/s", "2 1/s"], ["0", "1"]]
    assert data["numbers"] == [[0.5, 1.0, 2.0], None]
    for frame, point in zip(frames, made.grid(), strict=True):
        drawn = re.sub(r"<defs>.*?</defs>", "", made.frame(**point))
        body = drawn[drawn.index(">") + 1 :].removesuffix("</svg>")
        for ours, theirs in zip(points(frame), points(body), strict=True):
            seen = theirs[:, 1].argsort() if len(theirs) < 5 else theirs[:, 0].argsort()
            line = ours[ours[:, 0].argsort()]
            if len(theirs) >= 5:
                y = np.interp(theirs[seen, 0], line[:, 0], line[:, 1])
                np.testing.assert_allclose(theirs[seen, 1], y, atol=0.3)
        assert re.sub(r' d="[^"]*"', "", frame) == re.sub(r' d="[^"]*"', "", body)


def test_curves_keep_the_same_points(made):
    """What is interpolated in the page, number by number, has the same numbers in every frame."""
    data = data_of(made.html)
    frames = frames_of(data)
    shapes = {tuple(map(len, points(frame))) for frame in frames}
    assert len(shapes) == 1
    assert 10 < max(*shapes.pop()) < T.size


def test_halfway_the_interpolated_curve_is_the_drawn_one(made):
    """In picture coordinates, as the page does it: three stops of a rate, one between two."""
    texts = [measured(made._figure(rate=rate, offset=1))[0] for rate in (0.5, 1.0, 2.0, 2**0.5)]
    *stops, drawn = (max(points(t), key=len) for t in thin(texts))
    found = PchipInterpolator(np.log([0.5, 1.0, 2.0]), stops)(np.log(2) / 2)
    height = np.ptp(drawn[:, 1])
    assert 0 < np.abs(found - drawn).max() < 0.02 * height
    straight = (stops[1] + stops[2]) / 2
    assert np.abs(straight - drawn).max() > 1.5 * np.abs(found - drawn).max()


def test_far_points_are_cut_gaps_kept_and_a_twentieth_of_a_point_left_out():
    first = '<path d="M 0 0 L 1 9 L 2 0 L 3 1000000 M 5 0 L 6 0.04 L 7 0 L 8 0.06 L 9 0 "/>'
    frames = [first, "<path/>"]
    assert thin(frames)[0] == '<path d="M 0 0 L 1 9 L 2 0 L 3 5000 M 5 0 L 8 0.06 L 9 0 "/>'
    assert thin(frames)[1] == frames[1]
    curve = '<path d="M 0 0 C 1 1 2 2 3 3 L 4 4 L 5 5 L 6 6 L 7 7 "/>'
    assert thin([curve]) == [curve]


def test_what_is_defined_stands_once():
    frames = [f'<defs><path id="a" d="M 0 {i} "/></defs><use href="#a"/>' for i in (0, 0, 1)]
    shared, bodies = definitions(frames)
    assert shared == '<defs><path id="a" d="M 0 0 "/><path id="a" d="M 0 1 "/></defs>'
    assert bodies == ['<use href="#a"/>'] * 3


def test_start_is_in_the_page_without_script(made):
    before_data = made.html.split('<script type="application/json"')[0]
    start = "".join(data_of(made.html)["chunks"][i] for i in data_of(made.html)["frames"][1])
    assert start in before_data
    assert "Shown: rate λ x = 0.5 1/s, offset = 1." in before_data
    assert f"<dd>{1 + np.exp(-0.5):.3f}</dd>" in before_data


def test_sliders_are_native_and_named(made):
    inputs = [a for tag, a in Tags(made.html).found if tag == "input"]
    assert [a["type"] for a in inputs] == ["range", "range"]
    assert [a["aria-label"] for a in inputs] == ["rate λ x", "offset"]
    assert [a["aria-valuetext"] for a in inputs] == ["0.5 1/s", "1"]
    assert [(a["min"], a["max"], a["value"]) for a in inputs] == [("0", "2", "0"), ("0", "1", "1")]
    assert [a["step"] for a in inputs] == ["0.05", "1"]
    assert 'aria-live="polite"' in made.html
    assert any(
        a.get("role") == "img" and WORDS["alt"] in a["aria-label"] for _, a in Tags(made.html).found
    )


def test_a_coarse_grid_is_not_interpolated():
    rates = Parameter([0.5, 2.0], "rate", coarse=True)
    made = Explorer(draw, {"rate": rates}, **WORDS)
    assert data_of(made.html)["numbers"] == [None]
    assert 'step="1"' in made.html
    assert 'class="dp-note"' not in made.html


def test_hints_and_subscripts_are_shown(made):
    assert "rate λ<sub>x</sub></span>" in made.html
    assert 'aria-describedby="fig-rate-rate-hint"' in made.html
    assert 'id="fig-rate-rate-hint">How fast it &lt;falls&gt;.</span>' in made.html
    assert made.html.count("dp-hint") == 2  # one slider, one rule of style
    assert typeset("η_{sgd} of a & σ_γ/√B") == "η<sub>sgd</sub> of a &amp; σ<sub>γ</sub>/√B"
    assert plain("η_{sgd} of σ_γ/√B") == "η sgd of σ γ/√B"


def test_panels_are_stacked_on_a_phone():
    """A column moves below the other, flush on the right; two in a column stay together."""

    def three(rate):
        figure, axes = plt.subplot_mosaic([["a", "b"], ["c", "b"]], figsize=(WIDTH, 2.5))
        for ax in axes.values():
            ax.plot(T, rate * T)
        return figure

    made = Explorer(three, {"rate": [1, 2]}, **WORDS)
    moves = re.findall(
        r"\[data-stacked\] #(\S+) \{ transform: translate\((.*?)px, (.*?)px\)", made.html
    )
    (first, x, y), (second, across, down) = moves
    assert f' id="{first}"' in made.html
    assert f' id="{second}"' in made.html
    assert abs(float(y)) < 10
    assert float(across) < float(x) - 200
    assert float(down) > float(y) + 150
    width, height = map(float, data_of(made.html)["stacked"].split()[2:])
    assert 200 < width < 72 * WIDTH / 2 + 10
    assert 300 < height < 2 * 72 * 2.5 + 10


def test_axes_stay_where_they_are_unless_words_need_more_room():
    """A wider label moves the axes, a narrower one leaves them; no word leaves the picture."""

    def labelled(label):
        figure, ax = panels(height=2.5)
        ax.plot(T, 5 * np.exp(-T))
        ax.set_yticks([5.0], [label])
        return figure

    explorer = Explorer(labelled, {"label": ["middle", "i", "more than the middle"]}, **WORDS)
    frames = frames_of(data_of(explorer.html))
    left, narrow, wide = (max(points(f), key=len)[0, 0] for f in frames)
    assert narrow == left
    assert wide > left + 20
    assert all(float(x) >= 0 for f in frames for x in re.findall(r"translate\((-?[\d.]+)", f))


def test_panels_that_share_an_axis_keep_its_numbers():
    """On a phone no panel stands beside them: what one does, the other does."""

    def two(rate):
        figure, axes = panels(2, height=2.5, sharey=True)
        for ax in axes:
            ax.plot(T, rate * T)
        return figure

    figure = Explorer(two, {"rate": [1, 2]}, **WORDS)._figure(rate=1)
    figure.canvas.draw()
    shown = [[t.get_text() for t in ax.get_yticklabels() if t.get_visible()] for ax in figure.axes]
    assert shown[0]
    assert shown[1] == shown[0]


def test_table_lists_every_frame(made):
    rows = re.findall(r"<tr>(.*?)</tr>", made.html)
    assert len(rows) == 1 + 6
    assert "limit &lt;" in rows[0]
    assert f"{np.exp(-2):.3f}" in rows[5]


def test_nothing_external_and_text_escaped(made):
    without_namespace = made.html.replace("http://www.w3.org/2000/svg", "")
    assert "http" not in without_namespace
    assert "//" not in re.sub(r"^//.*|\s// .*", "", without_namespace.split("<script>")[0])
    assert not any("src" in a or (a.get("href") or "#")[0] != "#" for _, a in Tags(made.html).found)
    assert "&amp; the &lt;offset&gt;" in made.html


def test_same_bytes_twice(made):
    again = Explorer(draw, {"rate": RATES, "offset": OFFSETS}, readout=readout, **WORDS)
    assert again.html == made.html


def test_two_explorers_share_no_id(made):
    other = Explorer(draw, {"rate": RATES}, **{**WORDS, "name": "fig-other"})
    ids = [set(re.findall(r' id="([^"]+)"', e.html)) for e in (made, other)]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_budget():
    with pytest.raises(ValueError, match="its budget is 1,000"):
        Explorer(draw, {"rate": RATES}, **WORDS, budget=1000)


def test_budget_is_generous_enough_for_fifty_frames():
    rates = Parameter(list(np.round(np.geomspace(0.1, 10, 50), 4)), "rate", log=True)
    assert len(Explorer(draw, {"rate": rates}, **WORDS).html) < 200_000


def test_live_agrees_with_static_on_the_grid(made):
    *sliders, frame, words = made.live().children
    assert [s.description for s in sliders] == ["rate λ x, 0.5 1/s to 2 1/s", "offset"]
    assert [s.tooltip for s in sliders] == ["How fast it <falls>.", None]
    for point in made.grid():
        for slider, value in zip(sliders, point.values(), strict=True):
            slider.value = value
        assert made.frame(**point) in frame.value
        assert readout(**point)["at 1"] in words.value


def test_live_recomputes_between_grid_points(made):
    sliders = made.live().children
    assert (sliders[0].min, sliders[0].max) == pytest.approx((np.log10(0.5), np.log10(2)))
    sliders[0].value = 1.7
    assert made.frame(rate=1.7, offset=1) in sliders[2].value


def test_live_reports_a_refused_value():
    def fussy(rate):
        if rate > 1.5:
            raise ValueError("rate must be at most 1.5")
        return draw(rate)

    made = Explorer(fussy, {"rate": [0.5, 1.0]}, **WORDS)
    box = made.live().children
    box[0].max = 3.0
    box[0].value = 2.0
    assert "rate must be at most 1.5" in box[-1].value


def test_kinds_of_slider():
    kinds = {
        "IntSlider": Parameter([10, 100], "steps"),
        "FloatSlider": Parameter([0.1, 0.2], "rate"),
        "FloatLogSlider": Parameter([0.1, 10], "rate", log=True),
        "SelectionSlider": Parameter(["linear", "log"], "axis"),
    }
    for name, parameter in kinds.items():
        assert type(parameter.slider()).__name__ == name
        assert parameter.steps == (name == "SelectionSlider")
    assert type(Parameter([0.1, 0.2], "rate", coarse=True).slider()).__name__ == "FloatSlider"
    for parameter in (Parameter([1, 2, 3], "r"), Parameter([0.1, 0.2], "s", steps=True)):
        assert type(parameter.slider()).__name__ == "SelectionSlider"
        assert parameter.slider().value == parameter.values[0]


def test_words_as_values():
    made = Explorer(draw, {"kind": ["linear", "log"]}, **WORDS)
    assert data_of(made.html)["values"] == [["linear", "log"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"values": [1]}, "at least two"),
        ({"values": [1, 1]}, "increasing"),
        ({"values": [2, 1]}, "increasing"),
        ({"values": [0, float("inf")]}, "finite"),
        ({"values": ["a", "a"]}, "distinct"),
        ({"values": ["a", 1]}, "increasing finite numbers or strings"),
        ({"values": [0, 1], "log": True}, "positive"),
        ({"values": [0, 1], "label": " "}, "label"),
        ({"values": [0, 1], "start": 2}, "start"),
        ({"values": "ab"}, "values"),
        ({"values": [0, 1], "unit": None}, "unit"),
        ({"values": [0, 1], "hint": 1}, "hint"),
        ({"values": [0, 1], "format": ".4q"}, "format"),
    ],
)
def test_parameter_refuses(arguments, said):
    with pytest.raises(ValueError, match=said):
        Parameter(**{"label": "x", **arguments})


def test_explorer_refuses():
    with pytest.raises(ValueError, match="one, two or three"):
        Explorer(draw, {}, **WORDS)
    with pytest.raises(ValueError, match="alt"):
        Explorer(draw, {"rate": [1, 2]}, **{**WORDS, "alt": "short"})
    with pytest.raises(TypeError, match="must return a matplotlib Figure"):
        Explorer(lambda rate: rate, {"rate": [1, 2]}, **WORDS)
    with pytest.raises(ValueError, match="one size"):
        Explorer(lambda rate: panels(height=rate)[0], {"rate": [1, 2]}, **WORDS)
    with pytest.raises(ValueError, match="same keys"):
        Explorer(draw, {"rate": [1, 2]}, readout=lambda rate: {str(rate): "x"}, **WORDS)


def test_display_without_kernel_is_static_only(monkeypatch):
    seen = []
    monkeypatch.setattr(explorers, "display", seen.append)
    display_explorer(draw, {"rate": [1, 2]}, **WORDS)
    data, metadata = seen[0]._repr_mimebundle_()
    assert set(data) == {"text/html", "text/plain"}
    assert metadata["dpdynamics"]["figure"]["name"] == WORDS["name"]
    assert not plt.get_fignums()


def test_every_reference_has_its_definition():
    """Glyphs, markers, clips and the hatches of what is filled."""

    def filled(rate):
        figure, ax = panels(height=2.5)
        ax.fill_between(T, np.exp(-rate * T), hatch="///")
        ax.set(ylim=(0, 2))
        return figure

    html = Explorer(filled, {"rate": RATES}, **WORDS).html.replace('\\"', '"')
    wanted = set(re.findall(r"url\(#([^)]+)\)", html)) | set(re.findall(r'href="#([^"]+)', html))
    assert [name for name in wanted if re.search(r"-h[0-9a-f]+$", name)]
    assert wanted <= set(re.findall(r'id="([^"]+)"', html))
