"""Every page, loaded once: quiet, typeset, fit for a phone; then axe-core, light and dark."""

import re
from pathlib import Path

AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
DARK = "document.documentElement.dataset.theme = 'dark'"


def serious(page, options="{}"):
    """Run axe; describe up to three places for each serious or critical violation."""
    violations = page.evaluate(f"axe.run(document, {options})")["violations"]
    return "\n".join(
        f"{v['id']}: {v['help']}: {node['target']} {node['failureSummary']}"
        for v in violations
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"][:3]
    )


def test_page_is_quiet_and_typeset(page_name, shared_page):
    page = shared_page(page_name)
    assert not page.complaints
    body = page.inner_text("body")
    assert not re.search(r"\\\(|\\\[|\\begin\{", body)
    formulas = page.locator("span.math, div.math").count()
    assert page.locator("mjx-container").count() >= formulas
    assert page.locator("mjx-merror").count() == 0


def test_page_fits_a_phone(page_name, shared_page):
    page = shared_page(page_name)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_page_has_no_serious_violation(page_name, shared_page):
    page = shared_page(page_name)
    page.add_script_tag(path=AXE)
    assert not serious(page)
    page.evaluate(DARK)
    assert not serious(page, "{runOnly: ['color-contrast']}")


def test_explorers_on_a_phone_have_no_serious_violation(http_address, open_page):
    page = open_page(
        http_address + "notebooks/synthesis/practitioner.html",
        viewport={"width": 390, "height": 800},
        reduced_motion="reduce",
    )
    assert page.locator(".dp-frame[data-wide]").count(), "no picture is wider than its frame"
    page.add_script_tag(path=AXE)
    assert not serious(page)


def test_axe_finds_what_it_should(http_address, open_page):
    page = open_page(http_address + "search.html")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"_static/logo.svg\">')")
    page.add_script_tag(path=AXE)
    assert "image-alt" in serious(page)
