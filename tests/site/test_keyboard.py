"""The graph and the ledger by keyboard alone; explorers are tried page by page."""

import re

ACTIVE = "document.activeElement"


def enter_main(page):
    """Skip the menus, as a reader does."""
    page.keyboard.press("Tab")
    assert "Skip to main content" in page.evaluate(f"{ACTIVE}.textContent")
    page.keyboard.press("Enter")


def test_graph_by_keyboard(http_address, open_page, tab_to):
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


def test_every_claim_of_the_graph_by_keyboard(http_address, open_page, tab_to):
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


def test_ledger_by_keyboard(http_address, open_page, tab_to):
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
