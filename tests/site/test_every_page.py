"""Every page, loaded once: quiet, typeset, fit for a phone, by keyboard; then axe, light and dark.

The tests follow one another on a page: the later ones see formulas as letters, and axe sees of
what is alike only the first two.
"""

import re
from pathlib import Path

import pytest

ACTIVE = "document.activeElement"
AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
THEME = "document.documentElement.dataset.theme = {!r}"
EXPLORERS = "notebooks/synthesis/practitioner.html"
# axe takes a second for every thousand elements. Two pages are seen whole.
WHOLE = ("book/notation.html", "book/reading.html")
# Elsewhere a formula is one letter.
LETTERS = """() => {
  for (const formula of document.querySelectorAll('mjx-container')) formula.textContent = 'x';
}"""
# And of what is alike the first two of a page stand for all: alike in names, classes, attributes
# and which of them have words, of itself, of what it holds and of what holds it. An attribute's
# value counts where a style or a role may hang on it, an id where a style or another element names
# it; words, addresses and the numbers of a drawing do not.
FIRST_TWO = """() => {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const css = rules.map((rule) => rule.cssText).join();
  const every = (pattern) => [...css.matchAll(pattern)].map((match) => match[1]);
  const valued = new Set(['class', 'style', 'role', 'type', 'tabindex', 'lang', 'fill', 'stroke',
    'colspan', 'scope', 'aria-hidden', 'aria-expanded', ...every(/\\[([\\w-]+)[~|^$*]?=/g)]);
  const named = new Set(every(/#([\\w-]+)/g));
  for (const key of ['for', 'headers', 'aria-labelledby', 'aria-describedby', 'aria-controls',
    'aria-owns', 'aria-activedescendant', 'aria-details', 'aria-errormessage', 'aria-flowto']) {
    valued.add(key);
    for (const e of document.querySelectorAll(`[${key}]`))
      for (const id of e.getAttribute(key).split(/\\s+/)) named.add(id);
  }
  const parts = 'td, th, dt, dd, thead, tbody:only-of-type, caption, summary, legend';
  const names = 'a, button, summary, label, legend, caption, svg, [role=img], [role=button]';
  const numbers = new Map();
  const number = (text) => numbers.get(text) ?? (numbers.set(text, numbers.size), numbers.size - 1);
  const own = new Map(), whole = new Map(), seen = new Map(), more = [];
  const look = (e) => {
    const attributes = [...e.attributes].map(({ name, value }) =>
      `${name}${valued.has(name) ? '=' + value : value.trim() ? '' : '!'}`);
    own.set(e, `${e.tagName} ${attributes.sort().join(' ')} ${named.has(e.id) ? e.id : ''}`);
    const held = [...e.childNodes].map((c) => c.nodeType === 3 ? (c.data.trim() ? 'words' : '')
      : c.nodeType === 1 ? look(c) : '').filter((c) => c !== '');
    whole.set(e, number(own.get(e) + '>' + held.join()));
    return whole.get(e);
  };
  look(document.documentElement);
  const go = (e, place) => {
    for (const child of [...e.children]) {
      const kind = `${place} ${whole.get(child)} ${child.checkVisibility()}`;
      const count = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, count);
      if (count > 2 && !child.matches(parts)) more.push(child);
      else if (!child.matches(names)) go(child, number(place + '<' + own.get(child)));
    }
  };
  go(document.body, 0);
  for (const e of more) e.remove();
}"""

# Formulas wider than their column, in what is folded too; what it opens, it closes again.
TOO_WIDE = """() => {
  const closed = [...document.querySelectorAll('details:not([open]):has(.math)')];
  for (const part of closed) part.open = true;
  const inner = box => box.matches('span') ? box.querySelector('mjx-math').offsetWidth
    : box.scrollWidth;
  const wide = [...document.querySelectorAll('div.math > mjx-container, span.math')]
    .map(box => [box.closest('[id]').id, inner(box) - box.clientWidth])
    .filter(([, excess]) => excess > 2);
  for (const part of closed) part.open = false;
  return wide;
}"""
FRAMES = "[...document.querySelectorAll('.dp-frame')].map(e => e.scrollWidth - e.clientWidth)"
PHONE = {"width": 390, "height": 800}
# Marks an explorer and lets Tab go on from before it; test_browser goes there from the top.
START = """k => {
  const explorer = [...document.querySelectorAll('.dp-explorer')][k];
  explorer.dataset.turn = 'now';
  getSelection().collapse(explorer.closest('figure').parentElement, 0);
}"""


@pytest.fixture
def page(page_name, shared_page):
    return shared_page(page_name)


def serious(page, only=""):
    """Run axe; describe up to three places for each serious or critical violation."""
    options = f"{{resultTypes: ['violations'], {only}}}"
    violations = page.evaluate(f"axe.run(document, {options})")["violations"]
    return "\n".join(
        f"{v['id']}: {v['help']}: {node['target']} {node['failureSummary']}"
        for v in violations
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"][:3]
    )


def in_both_themes(page):
    """What axe finds in light, and in dark what has too little contrast."""
    page.evaluate(THEME.format("light"))
    found = serious(page)
    page.evaluate(THEME.format("dark"))
    return found + serious(page, "runOnly: ['color-contrast']")


def test_page_is_quiet_and_typeset(page):
    assert not page.complaints
    body = page.inner_text("body")
    assert not re.search(r"\\\(|\\\[|\\begin\{", body)
    formulas = page.locator("span.math, div.math").count()
    assert page.locator("mjx-container").count() >= formulas
    assert page.locator("mjx-merror").count() == 0


def test_page_cuts_no_formula_and_fits_a_phone(page, page_name):
    assert page.evaluate(TOO_WIDE) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not any(page.evaluate(FRAMES)), "a picture is wider than its frame"
    if page_name not in WHOLE:
        page.evaluate(LETTERS)


def test_explorers_by_keyboard(page, tab_to):
    """Tab reaches every slider and table; arrows, Home and End move, Enter opens; Tab leads out."""
    for number in range(page.locator(".dp-explorer").count()):
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


def test_page_has_no_serious_violation(page, page_name):
    if page_name not in WHOLE:
        page.evaluate(FIRST_TWO)
    page.add_script_tag(path=AXE)
    assert not in_both_themes(page)


def test_explorers_on_a_phone_have_no_serious_violation(http_address, open_page):
    page = open_page(http_address + EXPLORERS, viewport=PHONE, reduced_motion="reduce")
    assert page.evaluate(FRAMES) == [0] * 5, "a picture is wider than its frame"
    page.evaluate(LETTERS)
    page.evaluate(FIRST_TWO)
    page.add_script_tag(path=AXE)
    assert not serious(page)


# Each stands far down in a list of items that are alike but for it.
PLANTED = {
    "image-alt": '<img src="../_static/logo.svg">',
    "button-name": "<button></button>",
    "link-name": '<a href="#top"></a>',
    "label": '<input type="text">',
    "select-name": "<select><option>one</option></select>",
    "list": "<ul><p>no item</p></ul>",
    "aria-valid-attr-value": '<button aria-expanded="maybe">words</button>',
    "nested-interactive": '<div role="button" tabindex="0"><a href="#top">words</a></div>',
    "aria-hidden-focus": '<div aria-hidden="true"><button>words</button></div>',
    "color-contrast": '<span style="color: #999; background: #fff">pale</span>',
}
IN_THE_DARK = '<b style="color: #222; background: var(--pst-color-background)">dark</b>'
PLANT = """(planted) => {
  const items = Array.from({ length: 60 }, (_, k) =>
    `<li data-number="${k}">Words <a href="#place-${k}">a link</a>${planted[k - 20] ?? ''}</li>`);
  document.querySelector('article').insertAdjacentHTML('beforeend', `<ol>${items.join('')}</ol>`);
}"""


def test_axe_finds_what_is_planted_among_what_is_alike(http_address, open_page):
    page = open_page(http_address + "book/students.html", reduced_motion="reduce")
    page.evaluate(PLANT, [*PLANTED.values(), IN_THE_DARK])
    page.evaluate(LETTERS)
    page.evaluate(FIRST_TWO)
    assert page.locator("[data-number]").count() == 2 + len(PLANTED) + 1
    page.add_script_tag(path=AXE)
    found = in_both_themes(page)
    assert [rule for rule in PLANTED if f"{rule}: " not in found] == []
    assert found.count("#222222") == 1
