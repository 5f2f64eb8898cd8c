"""One document typeset and printed by a headless Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
MEASURE = 658  # CSS pixels of the text's width: A4 without its margins
# A formula becomes one picture for screen readers, described by its TeX. Its glyphs are generated
# content, to which a PDF gives no tag: a blank that is text carries it.
DESCRIBE = """() => {
  for (const formula of window.MathJax?.startup?.document?.math ?? []) {
    const box = formula.typesetRoot, mark = document.createElement('mjx-mark');
    box.querySelector('mjx-assistive-mml')?.remove();
    for (const child of box.children) child.removeAttribute('aria-hidden');
    mark.textContent = '\\u00a0';
    box.append(mark);
    box.setAttribute('role', 'img');
    box.setAttribute('aria-label', 'Formula: ' + formula.math.trim());
  }
}"""
# Boxes wider than the text are made smaller, at most to 0.55 of their size.
FIT = """async () => {
  const all = [...document.querySelectorAll('.bd-article mjx-container, .bd-article table')];
  const measure = (e) => {
    let box = e.parentElement;
    while (getComputedStyle(box).display.startsWith('inline')) box = box.parentElement;
    const own = e.getBoundingClientRect(), outer = box.getBoundingClientRect();
    const style = getComputedStyle(box);
    const right = outer.right - parseFloat(style.paddingRight) - parseFloat(style.borderRightWidth);
    const inner = e.matches('mjx-container') ? e.querySelector('mjx-math') : e;
    const wide = Math.max(inner.getBoundingClientRect().width, own.width);
    const block = e.matches('table') || e.getAttribute('display');
    return [wide, block ? right - own.left : box.clientWidth];
  };
  let changed = 0;
  for (let round = 0; round < 4; round++) {
    const sizes = all.map((e) => [e, ...measure(e)]).filter(([e, wide, free]) => wide > free + 0.5);
    if (!sizes.length) break;
    for (const [e, wide, free] of sizes) {
      const old = parseFloat(e.style.getPropertyValue('--fit') || 1);
      const fit = Math.max(0.55, old * Math.max(0.5, free / wide) * 0.985);
      e.style.setProperty('--fit', fit.toFixed(3));
      if (e.matches('table')) e.classList.add('paper-fit');
      changed++;
    }
  }
  return changed;
}"""
# What still stands out of the page to the right, and raw formulas: the start of a text each.
FAULTS = """(measure) => {
  const faults = [];
  const say = (kind, e, more) => {
    const text = e.textContent.trim().replace(/\\s+/g, ' ').slice(0, 70);
    faults.push(`${kind}: ${more} in ${e.closest('section[id]')?.id || ''}: "${text}"`);
  };
  const article = document.querySelector('.bd-article');
  const left = article.getBoundingClientRect().left;
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const over = (r) => r.width > 0 && (r.right > left + measure + 8 || r.left < left - 8);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || node.parentElement.closest('.ledger-unseen')) continue;
    range.selectNodeContents(node);
    const r = range.getBoundingClientRect();
    const more = `${Math.round(r.right - left - measure)} px`;
    if (over(r)) say('over the edge', node.parentElement, more);
  }
  for (const e of article.querySelectorAll('mjx-container')) {
    const out = [...e.querySelectorAll('mjx-c')].some((c) => over(c.getBoundingClientRect()));
    if (out) say('over the edge', e.parentElement, 'formula');
  }
  for (const e of document.querySelectorAll('mjx-merror')) say('formula in error', e, e.title);
  for (const e of document.images) {
    if (!e.complete || !e.naturalWidth) say('no picture', e.parentElement, e.src);
  }
  return faults;
}"""
NUMBERS = """(numbers) => {
  for (const e of document.querySelectorAll('.paper-number'))
    e.textContent = numbers[e.dataset.target] ?? e.textContent;
}"""


def chromium() -> str | None:
    """Path of an installed Chromium or Chrome."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium, while a ``with`` statement runs."""
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-gpu", OFFLINE]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=options)
        yield running
        running.close()


class Press:
    """Prints documents by a running browser of Playwright's.

    ``faults`` is what did not fit on a page, was missing or in error, so far.
    """

    def __init__(self, browser: Any) -> None:
        self.faults: list[str] = []
        self._browser = browser
        self.version = browser.version

    def print(
        self, source: Path, target: Path, before: int, numbers: dict[str, int] | None = None
    ) -> None:
        """Print an HTML document as the PDF `target`, with so many pages `before` it.

        `numbers` are the pages of the places that a table of contents in the document names.
        """
        page = self._browser.new_page(viewport={"width": MEASURE, "height": 1000})
        page.set_default_timeout(300_000)
        page.emulate_media(media="print", color_scheme="light", reduced_motion="reduce")
        page.goto(source.as_uri(), wait_until="load")
        page.wait_for_function(
            "!window.MathJax?.startup?.promise"
            " || MathJax.startup.promise.then(() => document.fonts.ready).then(() => true)"
        )
        page.evaluate(DESCRIBE)
        page.evaluate(FIT)
        page.evaluate(NUMBERS, numbers or {})
        self.faults += page.evaluate(FAULTS, MEASURE)
        start = f"document.documentElement.style.counterReset = 'page {before}'"
        page.evaluate(start)
        page.pdf(path=target, prefer_css_page_size=True, print_background=True, tagged=True)
        page.close()
