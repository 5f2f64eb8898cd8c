"""The site as a reader without a network meets it, in headless Chromium."""

import io
import re

import numpy as np
import pytest
from PIL import Image
from scipy.interpolate import PchipInterpolator

from dpdynamics.display import Parameter, panels
from dpdynamics.display.explorers import Explorer

CHAPTER = "notebooks/least_squares/risk_curve.html"
LEDGER = "book/ledger.html"


@pytest.fixture(params=["http", "file"])
def address(request):
    """Address of the site, once from a server and once from the disk."""
    return request.getfixturevalue(f"{request.param}_address")


def state(explorer):
    """What an explorer shows: frame, drawing, values, readouts."""
    return explorer.evaluate(
        """e => ({frame: e.dataset.frame, svg: e.querySelector('.dp-frame').innerHTML,
        label: e.querySelector('.dp-frame').getAttribute('aria-label'),
        values: [...e.querySelectorAll('output')].map(o => o.textContent),
        spoken: [...e.querySelectorAll('input')].map(o => o.getAttribute('aria-valuetext')),
        readout: [...e.querySelectorAll('.dp-readout dd')].map(o => o.textContent)})"""
    )


def test_chapter_works_from_server_and_disk(address, open_page):
    page = open_page(address + CHAPTER)
    assert page.locator("mjx-container").count() > 0
    assert page.locator(".dp-explorer[data-ready]").count() > 0
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert not page.complaints


def test_explorers_follow_the_keyboard(address, open_page):
    page = open_page(address + CHAPTER)
    explorers = page.locator(".dp-explorer").all()
    assert explorers
    for number, explorer in enumerate(explorers):
        others = [state(e) for e in explorers if e is not explorer]
        for k, slider in enumerate(explorer.locator("input[type=range]").all()):
            slider.focus()
            page.keyboard.press("Home")
            first = state(explorer)
            page.keyboard.press("ArrowRight")
            second = state(explorer)
            page.keyboard.press("End")
            last = state(explorer)
            count = int(slider.get_attribute("max"))
            assert len({first["frame"], second["frame"], last["frame"]}) == min(count + 1, 3)
            assert first["svg"] != last["svg"], f"explorer {number}, slider {k} moves nothing"
            assert first["values"][k] != last["values"][k]
            assert last["spoken"] == last["values"]
            assert last["values"][k] in last["label"]
            page.keyboard.press("Home")
            assert state(explorer) == first
        assert [state(e) for e in explorers if e is not explorer] == others


def test_explorers_follow_the_mouse(shared_page):
    page = shared_page(CHAPTER)
    for explorer in page.locator(".dp-explorer").all():
        before = state(explorer)
        slider = explorer.locator("input[type=range]").first
        slider.focus()
        page.keyboard.press("Home")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 8, y)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 4, y, steps=5)
        page.mouse.up()
        after = state(explorer)
        assert slider.input_value() == slider.get_attribute("max")
        assert after["svg"] != before["svg"]
        if before["readout"]:
            assert after["readout"] != before["readout"]


def test_explorers_follow_a_finger(http_address, open_page):
    page = open_page(
        http_address + CHAPTER,
        viewport={"width": 390, "height": 800},
        has_touch=True,
        is_mobile=True,
    )
    slider = page.locator(".dp-explorer input[type=range]").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box["width"] >= 200
    assert box["height"] >= 24  # WCAG 2.5.8
    page.touchscreen.tap(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
    assert slider.input_value() == slider.get_attribute("max")


BETWEEN = """e => {
  const svg = e.querySelector('.dp-frame svg');
  window.static_ = [...svg.querySelectorAll('g, path, use')];
  window.changed = [];
  new MutationObserver((all) => window.changed.push(...all.map((r) => [r.type, r.target.tagName])))
    .observe(svg, {subtree: true, childList: true, attributes: true});
}"""
CURVES = """(e, places) => {
  [...e.querySelectorAll('input[type=range]')].forEach((slider, k) => {
    if (places[k] === undefined) return;
    slider.value = places[k];
    slider.dispatchEvent(new Event('input'));
  });
  return [...e.querySelectorAll('.dp-frame svg > g path')].map(p => p.getAttribute('d'))
    .filter(d => d.length > 300).map(d => d.match(/-?[\\d.]+/g).map(Number));
}"""


def test_interpolated_curves_are_monotone_cubics(shared_page):
    """Along one slider, and along two in turn, number by number."""
    page = shared_page(CHAPTER)
    explorer = page.locator(".dp-explorer").first

    def curves(*places):
        return np.concatenate(explorer.evaluate(CURVES, list(places)))

    rates, noises = np.log([0.1, 0.2, 0.4, 0.8]), [0.4, 0.7, 1.4]
    grid = np.array([[curves(i, j) for j in (2, 3, 4)] for i in range(4)])
    rate, noise = np.log(0.2) + 0.4 * np.log(2), 0.7 + 0.5 * 0.7
    between = PchipInterpolator(rates, grid)(rate)
    np.testing.assert_allclose(curves(1.4, 3), between[1], atol=0.02)
    assert np.abs(between[1] - grid[1, 1]).max() > 5
    both = PchipInterpolator(rates, PchipInterpolator(noises, grid, axis=1)(noise))(rate)
    np.testing.assert_allclose(curves(1.4, 3.5), both, atol=0.02)
    np.testing.assert_array_equal(curves(1, 3), grid[1, 1])


def test_explorers_draw_curves_between_stops(shared_page):
    """Only the curves change, to what lies between the stops; all else stays, and is named."""
    page = shared_page(CHAPTER)
    explorer = page.locator(".dp-explorer").first
    slider = explorer.locator("input[type=range]").first
    note = explorer.locator(".dp-note")
    slider.focus()
    for key in ("Home", "ArrowRight"):
        page.keyboard.press(key)
    before = state(explorer)
    assert note.text_content() == ""
    explorer.evaluate(BETWEEN)
    for _ in range(8):
        page.keyboard.press("Shift+ArrowRight")
    between = state(explorer)
    changes = page.evaluate("window.changed")
    assert changes
    assert {tuple(c) for c in changes} == {("attributes", "path")}
    assert page.evaluate("window.static_.every(node => node.isConnected)")
    assert between["frame"] == before["frame"]
    assert float(between["values"][0]) == pytest.approx(0.2 * 2**0.4, rel=0.01)
    assert between["spoken"] == between["values"]
    assert (
        "interpolated between learning rate γ = 0.2 and 0.4; all else as at 0.2"
        in note.text_content()
    )
    page.keyboard.press("ArrowRight")
    ends = zip(before["readout"], state(explorer)["readout"], strict=True)
    assert between["readout"] == [a if a == b else f"{a} to {b}" for a, b in ends]
    page.keyboard.press("ArrowLeft")
    assert state(explorer) == before
    assert note.text_content() == ""


def test_between_stops_words_and_what_has_no_counterpart_stay_at_a_stop(tmp_path, open_page):
    """Whole numbers stay whole; a curve that only one stop has is drawn there, and is not mixed."""

    def draw(n, extra):
        figure, ax = panels(height=2.5)
        for k in range(1 + (extra > 1)):
            ax.plot([0, 1, 2, 3, 4], [k, n, k, n, k])
        ax.text(1, 20, f"n = {n}")
        ax.set(ylim=(0, 30))
        return figure

    parameters = {
        "n": Parameter([1, 10, 20], "count n"),
        "extra": Parameter([1.0, 2.0], "extra_x"),
    }
    words = {
        "alt": "A zigzag line whose height is the count, on linear axes.",
        "caption": "A line.",
    }
    page = tmp_path / "page.html"
    page.write_text(Explorer(draw, parameters, name="fig-zigzag", **words).html, "utf-8")
    page = open_page(page.as_uri())
    explorer = page.locator(".dp-explorer")
    glyphs = (
        "e => [...e.querySelectorAll('.dp-frame svg > g use')].map(u => u.getAttribute('href'))"
    )
    note = explorer.locator(".dp-note")
    explorer.evaluate(CURVES, [0, 0])
    stop = explorer.evaluate(glyphs)
    explorer.evaluate(CURVES, [0.35, 0])
    assert state(explorer)["values"] == ["4", "1"]
    assert explorer.evaluate(glyphs) == stop
    assert (
        note.text_content() == "Curves interpolated between count n = 1 and 10; all else as at 1."
    )
    explorer.evaluate(CURVES, [0, 0.7])
    assert note.text_content() == "Drawn as at 2."
    assert explorer.get_attribute("data-frame") == "1"
    assert not page.complaints


def test_controls_say_what_they_are(shared_page):
    page = shared_page(CHAPTER)
    for slider in page.locator(".dp-explorer input[type=range]").all():
        hint = page.locator(f"#{slider.get_attribute('aria-describedby')}")
        assert hint.is_visible()
        assert len(hint.text_content()) > 20


def test_panels_stand_below_one_another_on_a_phone(http_address, open_page):
    page = open_page(
        http_address + "notebooks/adaptive/which_optimiser.html",
        viewport={"width": 390, "height": 800},
    )
    frame = page.locator(".dp-explorer .dp-frame").first
    boxes = """e => [...e.querySelectorAll('g[id*=panel] > g:first-child > path')]
        .map(p => p.getBoundingClientRect())"""
    first, second = frame.evaluate(
        f"e => ({boxes})(e).map(b => [b.left, b.right, b.top, b.bottom])"
    )
    assert second[2] > first[3]
    assert all(b[1] - b[0] > 250 and b[0] >= 0 and b[1] <= 390 for b in (first, second))
    assert abs(first[1] - second[1]) < 20
    assert frame.evaluate("e => e.scrollWidth <= e.clientWidth")
    page.set_viewport_size({"width": 1280, "height": 800})
    first, second = frame.evaluate(
        f"e => ({boxes})(e).map(b => [b.left, b.right, b.top, b.bottom])"
    )
    assert second[0] > first[1]


def test_explorers_show_a_frame_and_a_table_without_script(file_address, open_page):
    page = open_page(file_address + CHAPTER, java_script_enabled=False)
    for explorer in page.locator(".dp-explorer").all():
        assert explorer.locator(".dp-frame svg").is_visible()
        assert explorer.locator(".dp-still").is_visible()
        assert not explorer.locator(".dp-controls").is_visible()
        if explorer.locator("details").count():
            explorer.locator("summary").click()
            assert explorer.locator("tbody tr").first.is_visible()


def test_print_hides_furniture_and_opens_details(http_address, open_page):
    page = open_page(http_address + CHAPTER, color_scheme="dark")
    page.emulate_media(media="print")
    for selector in (".bd-sidebar-primary", ".bd-header-article", ".dp-controls"):
        assert not page.locator(selector).first.is_visible(), selector
    assert page.locator(".dp-still").first.is_visible()
    closed = "details.hide, .dpd-verdict details"  # code and numbers stay away unless opened
    assert page.locator("article details").count() > page.locator(closed).count() > 0
    for details in page.locator("article details").all():
        content = details.locator("> :not(summary)").first
        assert content.is_visible() != details.evaluate(f"e => e.matches('{closed}')")
    page.evaluate(f"document.querySelector('{closed}').open = true")
    assert page.locator(closed).first.locator("> :not(summary)").first.is_visible()
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(f"dispatchEvent(new Event('beforeprint')), {theme}") == "light"
    assert page.evaluate(f"dispatchEvent(new Event('afterprint')), {theme}") == "dark"


@pytest.mark.parametrize("name", [LEDGER, "book/notation.html"])
def test_no_table_is_cut_on_paper(name, http_address, open_page):
    page = open_page(http_address + name, viewport={"width": 700, "height": 1000})
    page.emulate_media(media="print")
    cells = page.locator("article table :is(th, td):last-child")
    edges = cells.evaluate_all("all => all.map(e => e.getBoundingClientRect().right)")
    assert edges
    assert max(edges) <= 700
    for scroller in page.locator(".ledger-scroll, .pst-scrollable-table-container").all():
        assert scroller.evaluate("e => getComputedStyle(e).overflowX") == "visible"


def test_display_formulas_are_as_large_as_others_on_paper(shared_page):
    page = shared_page(CHAPTER)
    page.emulate_media(media="print")
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    inline = page.locator(".bd-article section > p mjx-container").first.evaluate(size)
    display = page.locator(".bd-article section > div.math mjx-container").first.evaluate(size)
    assert display == pytest.approx(inline, rel=0.02)


def test_wide_numbered_equations_scroll_on_screen(shared_page):
    page = shared_page(CHAPTER)
    page.set_viewport_size({"width": 390, "height": 800})
    equations = page.locator("div.math:has(> .eqno) > mjx-container")
    assert equations.count()
    assert {e.evaluate("e => getComputedStyle(e).overflowX") for e in equations.all()} == {"auto"}
    wide = page.locator("div.math > mjx-container[data-more]").first  # it fades where it goes on
    assert wide.evaluate("e => getComputedStyle(e).maskImage").startswith("linear-gradient")
    assert wide.evaluate("e => e.tabIndex") == 0
    box = wide.element_handle()
    box.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    page.wait_for_function("e => !e.hasAttribute('data-more')", arg=box)
    assert box.evaluate("e => getComputedStyle(e).maskImage") == "none"


def test_sliders_are_near_by_keyboard(http_address, open_page):
    page = open_page(http_address + CHAPTER)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to main content"
    page.keyboard.press("Enter")
    for _ in range(89):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('input[type=range]')"):
            return
    pytest.fail("89 Tabs past the contents do not reach the first slider")


def test_figures_are_readable_on_a_phone(shared_page):
    page = shared_page(CHAPTER)
    page.set_viewport_size({"width": 390, "height": 800})
    for figure in page.locator("figure.dp-figure:has(> img)").all():
        assert figure.locator("> img").bounding_box()["width"] >= 560
        figure.evaluate("e => { e.scrollLeft = 1000; }")
        assert figure.evaluate("e => e.scrollLeft") > 0
        caption = figure.locator("> figcaption").bounding_box()
        assert caption["x"] >= 0
        assert caption["x"] + caption["width"] <= 390


@pytest.mark.parametrize("width", [1280, 390])
def test_graph_starts_readable_and_fills_its_frame(width, http_address, open_page):
    page = open_page(http_address + "book/graph.html", viewport={"width": width, "height": 900})
    first = page.locator(".claim-graph").get_attribute("data-first")
    assert page.locator(f"[data-view={first}]").get_attribute("aria-pressed") == "true"
    papers = page.locator(".claim-paper").all()
    assert [p.get_attribute("data-paper") for p in papers if p.is_visible()] == [first]
    assert page.locator(".claim-node text").first.bounding_box()["height"] >= 8
    picture = page.locator(f".claim-paper[data-paper={first}]").bounding_box()
    frame = page.locator(".claim-canvas").bounding_box()
    assert frame["height"] <= 1.15 * picture["height"] + 20


def test_the_whole_graph_is_legible(http_address, open_page):
    """All papers stand in a tall page, nothing of them outside the frame, its text of 11 px."""
    page = open_page(http_address + "book/graph.html", viewport={"width": 1280, "height": 900})
    page.locator("[data-view='']").click()
    frame = page.locator(".claim-canvas").bounding_box()
    sizes = page.locator(".claim-canvas text").evaluate_all(
        "all => all.map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a)"
    )
    assert len(sizes) > 200
    assert min(sizes) >= 11
    for paper in page.locator(".claim-paper").all():
        box = paper.bounding_box()
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]
    texts = page.locator(".claim-node").evaluate_all(
        "all => all.map(e => [e.querySelector('.claim-shape').getBoundingClientRect().width,"
        " ...[...e.querySelectorAll('text')].map(t => t.getBoundingClientRect().width)])"
    )
    assert all(width < shape for shape, *widths in texts for width in widths)


def test_the_graph_of_chapters_fits_a_page(http_address, open_page):
    page = open_page(
        http_address + "book/instructors.html", viewport={"width": 1280, "height": 900}
    )
    graph = page.locator(".course-graph")
    assert graph.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert graph.locator("text").first.bounding_box()["height"] >= 8


def test_title_page_shows_the_whole_table_of_papers_on_a_phone(http_address, open_page):
    page = open_page(http_address + "book/index.html", viewport={"width": 390, "height": 800})
    last = page.locator("#the-four-papers th").last.bounding_box()
    assert last["x"] + last["width"] <= 390


def test_dark_mode_is_dark_and_so_are_figures(http_address, open_page):
    """As the screen shows it: most of a page, of a figure and of an explorer is dark."""
    page = open_page(http_address + CHAPTER, color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    light = open_page(http_address + CHAPTER, color_scheme="light")
    for chosen, dark in ((page, True), (light, False)):
        assert (lightness(chosen.screenshot()) < 90) is dark
        for card in chosen.locator("figure img, .dp-explorer").all():
            assert (lightness(card.screenshot()) < 90) is dark


def lightness(picture):
    """Mean of a screenshot, from 0 (black) to 255."""
    return float(np.asarray(Image.open(io.BytesIO(picture)).convert("L")).mean())


def test_ledger_filters(address, open_page):
    page = open_page(address + LEDGER)
    rows = (
        "[...document.querySelectorAll('tbody[data-verdict]')].filter(r => r.offsetParent).length"
    )
    everything = page.evaluate(rows)
    selects = page.locator(".ledger-filters select").all()
    assert everything > 1
    assert selects
    narrowed = 0
    for select in selects:
        values = select.evaluate("s => [...s.options].map(o => o.value)")
        counts = []
        for value in values[1:]:
            select.select_option(value)
            counts.append(page.evaluate(rows))
        assert all(count <= everything for count in counts)
        narrowed += any(count < everything for count in counts)
        select.select_option(values[0])
        assert page.evaluate(rows) == everything
    assert narrowed
    page.locator(".ledger-filters input[type=search]").fill("bombari2025")
    assert 0 < page.evaluate(rows) < everything
    found = {}
    for words in ("plateau", "renyi", "Rényi", "zyzzyva"):
        page.locator(".ledger-filters input[type=search]").fill(words)
        found[words] = page.evaluate(rows)
    assert found["plateau"] > 5  # in statements; one name has it
    assert found["renyi"] == found["Rényi"] > 5
    assert found["zyzzyva"] == 0
    assert not page.complaints


def test_the_filters_find_what_errata_say(http_address, open_page):
    page = open_page(http_address + "book/errata.html")
    said = page.locator(".erratum").evaluate_all(
        "all => all.map(e => [e.id, e.querySelectorAll('dd')[3].textContent])"
    )
    shown = "all => all.filter(e => !e.hidden).map(e => e.id)"
    page.locator(".ledger-filters input[type=search]").fill("renyi")
    assert len(page.locator(".erratum").evaluate_all(shown)) > 5
    name, words = next(
        (i, w) for i, w in said if w.isascii() and len(w.split()) > 6 and "\\" not in w
    )
    claim, _, _ = name.removeprefix("erratum-").rpartition("-")
    page.locator(".ledger-filters input[type=search]").fill(words)
    assert name in page.locator(".erratum").evaluate_all(shown)
    page = open_page(http_address + LEDGER)
    page.locator(".ledger-filters input[type=search]").fill(words)
    assert page.locator(f"#ledger-{claim}").is_visible()


SOUGHT = {
    "choose epsilon": "practitioner",
    "model card": "practitioner",
    "which optimizer": "which_optimiser",
    "clipping norm": "with_or_without_clipping",
    "renyi": "gaussian_divergence",
    "Rényi divergence": "gaussian_divergence",
    "zCDP": "conversions",
    "group privacy": "privacy_as_divergence",
    "shuffled batches": "accounting",
    "moments accountant": "accounting",
    "concentration inequality": "concentration",
    "effective dimension": "concentration",
    "Freedman": "concentration",
    "stochastic differential equation": "stochastic_differential_equations",
    "ito formula": "stochastic_differential_equations",
    "risk curve": "risk_curve",
    "checkpoint": "several_releases",
    "last iterate": "several_releases",
    "learning rate schedule": "rates",
    "plateau": "speed_and_plateau",
    "sign SGD": "sign_sde",
    "stability": "population_risk",
    "margin": "separability",
    "ledger": "ledger",
    "errata": "errata",
    "notation": "notation",
    "how to cite": "index",
    "grade assignment": "assignments",
    "anon2025.thmB.14": "speed_and_plateau",
    "Theorem B.14": "speed_and_plateau",
    "erratum B.14": "errata",
    "neighbouring data sets": "glossary",
    "sampling without replacement": "accounting",
    "privacy profile": "glossary",
}


def test_search_finds_the_right_page_first(site, open_page):
    """From a disk, with an excerpt that has a word of the query."""
    page = open_page((site / "search.html").as_uri() + "?q=renyi")
    first = page.locator("#search-results li").first
    assert "Rényi" in first.locator("a").inner_text()
    assert "Rényi" in first.locator("p mark").first.inner_text()
    assert "best first" in page.inner_text("#search-status")
    found = page.evaluate("words => words.map(w => (bookSearch(w)[0] ?? [''])[0])", list(SOUGHT))
    assert {w: re.sub(r".*/|\.html.*", "", p) for w, p in zip(SOUGHT, found, strict=True)} == SOUGHT
    results = page.evaluate("words => bookSearch(words)", "Theorem 4.1")
    assert all(result[2].startswith("Theorem 4.1. ") for result in results[:3])
    assert "lemmas" not in page.evaluate("bookSearch('sign descent')[0][0]")
    assert not page.evaluate(r"searchSections.filter(s => /\\begin\{/.test(s[3])).length")
    assert page.evaluate("bookSearch('xyzzy plugh').length") == 0
    for word in ("import", "numpy", "linspace"):  # code is not searched
        assert not any(
            "linspace" in result[3] for result in page.evaluate("w => bookSearch(w)", word)
        )
    assert not page.complaints
