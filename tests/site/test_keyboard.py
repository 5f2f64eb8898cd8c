"""Every explorer of every page, the graph and the ledger, by keyboard alone."""

import re

import pytest

ACTIVE = "document.activeElement"
# Marks an explorer and lets Tab go on from before it; test_browser goes there from the top.
START = """k => {
  const explorer = [...document.querySelectorAll('.dp-explorer')][k];
  explorer.dataset.turn = 'now';
  getSelection().collapse(explorer.closest('figure').parentElement, 0);
}"""
LIMIT = 600  # Tabs after which a place counts as out of reach


def enter_main(page):
    """Skip the menus, as a reader does."""
    page.keyboard.press("Tab")
    assert "Skip to main content" in page.evaluate(f"{ACTIVE}.textContent")
    page.keyboard.press("Enter")


def tab_to(page, selector):
    """Press Tab until an element that matches has the focus, which must be seen."""
    for _ in range(LIMIT):
        page.keyboard.press("Tab")
        if page.evaluate(f"{ACTIVE}.matches({selector!r})"):
            outline = f"getComputedStyle({ACTIVE}).outlineStyle"
            assert page.evaluate(outline) != "none" or "claim-node" in selector
            return
    pytest.fail(f"{LIMIT} Tabs do not reach {selector}")


def with_explorers(name, site):
    return (site / name).read_text("utf-8").count('class="dp-explorer"') if site else 0


def test_explorers_by_keyboard(page_name, site, http_address, open_page):
    """Tab reaches every slider and table; arrows, Home and End move, Enter opens; Tab leads out."""
    count = with_explorers(page_name, site)
    if not count:
        return
    page = open_page(http_address + "_static/logo.svg", reduced_motion="reduce")
    page.route(re.compile(r"/mathjax/|\.(svg|png)$"), lambda route: route.abort())
    page.goto(http_address + page_name, wait_until="load")  # formulas and pictures play no part
    for number in range(count):
        page.evaluate(START, number)
        explorer = page.locator("[data-turn=now]")
        frame = explorer.evaluate_handle("e => e.querySelector('.dp-frame')")
        sliders = explorer.locator("input[type=range]").count()
        assert sliders
        pictures = set()
        for k in range(sliders):
            tab_to(page, "[data-turn=now] input[type=range]")
            seen, start = [], int(page.evaluate(f"{ACTIVE}.value"))
            for key in ("Home", "ArrowRight", "End"):
                page.keyboard.press(key)
                pictures.add(frame.evaluate("e => e.innerHTML"))
                shown = explorer.get_attribute("data-frame"), page.evaluate(f"{ACTIVE}.value")
                seen.append(shown)
            stops = int(page.evaluate(f"{ACTIVE}.max"))
            assert [value for _, value in seen] == ["0", "1", str(stops)]
            assert len({number for number, _ in seen}) == min(stops + 1, 3), f"slider {k} is dead"
            assert page.evaluate(f"{ACTIVE}.getAttribute('aria-valuetext')")
            hint = page.evaluate(f"{ACTIVE}.getAttribute('aria-describedby')")
            assert page.locator(f"[id='{hint}']").text_content(), f"slider {k} has no hint"
            for key in ["Home", *["ArrowRight"] * start]:  # the others are tried from the start
                page.keyboard.press(key)
            assert page.evaluate(f"{ACTIVE}.value") == str(start)
        assert len(pictures) > sliders
        if explorer.locator("details").count():
            tab_to(page, "[data-turn=now] summary")
            for opened in (True, False):
                page.keyboard.press("Enter")
                assert explorer.locator("details").evaluate("e => e.open") is opened
        page.keyboard.press("Tab")
        assert not page.evaluate(f"{ACTIVE}.closest('[data-turn=now]')")
        explorer.evaluate("e => delete e.dataset.turn")


def test_graph_by_keyboard(http_address, open_page):
    page = open_page(http_address + "book/graph.html", reduced_motion="reduce")
    box = "document.querySelector('.claim-canvas svg').getAttribute('viewBox')"
    views = page.locator(".claim-tools [data-view]").all()
    assert len(views) >= 5
    enter_main(page)
    for view in [v.get_attribute("data-view") for v in views]:
        tab_to(page, f'[data-view="{view}"]')
        page.keyboard.press("Enter")
        assert page.evaluate(f"{ACTIVE}.getAttribute('aria-pressed')") == "true"
    for how in ("in", "out", "fit"):
        before = page.evaluate(box)
        tab_to(page, f"[data-zoom={how}]")
        page.keyboard.press("Enter")
        assert how == "fit" or page.evaluate(box) != before
    tab_to(page, ".claim-canvas")
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "+", "-"):
        before = page.evaluate(box)
        page.keyboard.press(key)
        assert page.evaluate(box) != before, key
    page.keyboard.press("0")


def test_every_claim_of_the_graph_by_keyboard(http_address, open_page):
    """With all papers shown, Tab visits every claim, in sight, lit with its neighbours."""
    page = open_page(http_address + "book/graph.html", reduced_motion="reduce")
    enter_main(page)
    tab_to(page, '[data-view=""]')
    page.keyboard.press("Enter")
    tab_to(page, ".claim-canvas")
    claims = page.locator("a.claim-node").evaluate_all("all => all.map(e => e.dataset.claim)")
    assert len(claims) > 200
    state = f"""(() => {{
      const e = {ACTIVE}, c = e.closest('.claim-canvas')?.getBoundingClientRect();
      const r = e.getBoundingClientRect();
      return [e.dataset.claim, e.classList.contains('claim-near'), Boolean(c) && r.left >= c.left
        && r.right <= c.right && r.top >= c.top && r.bottom <= c.bottom];
    }})()"""
    visited = []
    for _ in claims:
        page.keyboard.press("Tab")
        visited.append(page.evaluate(state))
    assert [claim for claim, _, _ in visited] == claims
    assert all(lit for _, lit, _ in visited)
    assert all(inside for _, _, inside in visited)
    page.keyboard.press("Tab")
    assert not page.evaluate(f"{ACTIVE}.matches('.claim-node')")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"#(claim|ledger)-"))


def test_ledger_by_keyboard(http_address, open_page):
    page = open_page(http_address + "book/ledger.html", reduced_motion="reduce")
    rows = "[...document.querySelectorAll('tbody[data-verdict]')].filter(r => !r.hidden).length"
    everything = page.evaluate(rows)
    enter_main(page)
    tab_to(page, ".ledger-counts button")
    page.keyboard.press("Enter")
    assert 0 < page.evaluate(rows) < everything
    count = page.locator(".ledger-filters select").count()
    assert count
    for k in range(count):
        tab_to(page, ".ledger-filters select")
        page.keyboard.press("ArrowDown")
        assert page.evaluate(f"{ACTIVE}.selectedIndex") > 0, k
        assert page.evaluate(rows) < everything
        page.keyboard.press("Home")
        assert page.evaluate(f"{ACTIVE}.selectedIndex") == 0
    tab_to(page, ".ledger-filters input[type=search]")
    page.keyboard.type("bombari2025")
    assert 0 < page.evaluate(rows) < everything
    page.keyboard.press("Escape")  # empties a search field
    assert page.evaluate(f"{ACTIVE}.value") == ""
    page.keyboard.type("theorem")
    tab_to(page, ".ledger-filters [type=reset]")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{rows} === {everything}")
    tab_to(page, ".ledger-detail summary")
    page.keyboard.press("Enter")
    assert page.evaluate(f"{ACTIVE}.closest('details').open")
    page.wait_for_function(f"!{ACTIVE}.closest('details').querySelector('.ledger-tex')")
    assert not page.complaints
