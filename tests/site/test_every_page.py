"""Every page, loaded once: quiet, typeset, fit for a phone; then axe-core, light and dark."""

import re
from pathlib import Path

AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
THEME = "document.documentElement.dataset.theme = {!r}"
# axe takes a second for every thousand elements; most are letters of formulas or words of code.
# Two pages are seen whole; elsewhere a formula is one letter, and of the words of code that have
# one colour the first in sight stands for all.
WHOLE = ("book/notation.html", "book/reading.html")
ONE_OF_EACH = """() => {
  for (const formula of document.querySelectorAll('mjx-container')) formula.textContent = 'x';
  const seen = new Set(), kept = new Set();
  const words = [...document.querySelectorAll('pre span')];
  for (const word of words.filter(word => word.checkVisibility())) {
    if (!seen.has(word.className)) kept.add(word);
    seen.add(word.className);
  }
  for (const word of words) if (!kept.has(word)) word.replaceWith(...word.childNodes);
}"""

# Formulas wider than their column, in what is folded too; what it opens, it closes again.
TOO_WIDE = """() => {
  const closed = [...document.querySelectorAll('details:not([open]):has(.math)')];
  const folded = [...document.querySelectorAll('.toggle-hidden')];
  for (const part of closed) part.open = true;
  for (const part of folded) part.classList.remove('toggle-hidden');
  const inner = box => box.matches('span') ? box.querySelector('mjx-math').offsetWidth
    : box.scrollWidth;
  const wide = [...document.querySelectorAll('div.math > mjx-container, span.math')]
    .map(box => [box.closest('[id]').id, inner(box) - box.clientWidth])
    .filter(([, excess]) => excess > 2);
  for (const part of closed) part.open = false;
  for (const part of folded) part.classList.add('toggle-hidden');
  return wide;
}"""


def serious(page, options="{}"):
    """Run axe; describe up to three places for each serious or critical violation."""
    violations = page.evaluate(f"axe.run(document, {options})")["violations"]
    return "\n".join(
        f"{v['id']}: {v['help']}: {node['target']} {node['failureSummary']}"
        for v in violations
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"][:3]
    )


def test_page(page_name, http_address, open_page):
    """Quiet, typeset, no formula cut, fit for a phone, no serious violation in light and dark."""
    page = open_page(http_address + page_name, color_scheme="light", reduced_motion="reduce")
    assert not page.complaints
    body = page.inner_text("body")
    assert not re.search(r"\\\(|\\\[|\\begin\{", body)
    formulas = page.locator("span.math, div.math").count()
    assert page.locator("mjx-container").count() >= formulas
    assert page.locator("mjx-merror").count() == 0
    assert page.evaluate(TOO_WIDE) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})
    if page_name not in WHOLE:
        page.evaluate(ONE_OF_EACH)
    page.add_script_tag(path=AXE)
    page.evaluate(THEME.format("light"))
    assert not serious(page)
    page.evaluate(THEME.format("dark"))
    assert not serious(page, "{runOnly: ['color-contrast']}")


def test_explorers_on_a_phone_have_no_serious_violation(http_address, open_page):
    page = open_page(
        http_address + "notebooks/synthesis/practitioner.html",
        viewport={"width": 390, "height": 800},
        reduced_motion="reduce",
    )
    places = "[...document.querySelectorAll('.dp-frame')].map(e => e.scrollWidth - e.clientWidth)"
    assert page.evaluate(places) == [0] * 5, "a picture is wider than its frame"
    page.add_script_tag(path=AXE)
    assert not serious(page)


def test_axe_finds_what_it_should(http_address, open_page):
    page = open_page(http_address + "search.html")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"_static/logo.svg\">')")
    page.add_script_tag(path=AXE)
    assert "image-alt" in serious(page)
