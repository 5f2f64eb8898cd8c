"""Every page under axe-core, light and dark: no serious or critical violation."""

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


def test_page_has_no_serious_violation(page_name, http_address, open_page):
    page = open_page(http_address + page_name, color_scheme="light", reduced_motion="reduce")
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
