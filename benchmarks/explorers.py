"""How soon the explorers of the built pages follow their sliders, in headless Chromium.

    python benchmarks/explorers.py [--moves 20] [WORD ...]    pages whose path contains a word

A move sets one slider to a place between its ends; its time is that from the input event to the end
of the frame that shows the change, the script's share of it beside. As under a hand, the pointer
has been on the explorer for a moment. `make site` builds the pages.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from paper.typeset import chromium

SITE = Path(__file__).parents[1] / "_build" / "html"
MOVES = """async ([number, moves]) => {
  const root = document.querySelectorAll(".dp-explorer")[number];
  const sliders = [...root.querySelectorAll("input[type=range]")], found = [];
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (let i = 0; i < moves; i++) {
    const slider = sliders[i % sliders.length], low = Number(slider.min), high = Number(slider.max);
    const place = low + (high - low) * ((0.37 + 0.618 * i) % 1);
    await frame();
    const before = root.querySelector("svg").outerHTML;
    const start = performance.now();
    slider.value = place;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const script = performance.now() - start;
    await frame();
    const all = performance.now() - start;
    if (root.querySelector("svg").outerHTML !== before) found.push([all, script]);
  }
  return found;
}"""


def measured(page: Page, number: int, moves: int) -> list[tuple[float, float]]:
    """Milliseconds, to the frame and of the script alone, of the moves that changed the picture."""
    explorer = page.locator(".dp-explorer").nth(number)
    explorer.scroll_into_view_if_needed()
    explorer.hover()
    page.wait_for_timeout(1000)
    return [(whole, script) for whole, script in page.evaluate(MOVES, [number, moves])]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--moves", type=int, default=20)
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args()
    names = ("median", "worst", "script", "worst", "moves")
    print(f"{'ms from input to frame':40} " + " ".join(f"{name:>7}" for name in names))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        for file in sorted(SITE.glob("notebooks/*/*.html")):
            name = file.relative_to(SITE / "notebooks").with_suffix("").as_posix()
            if asked.words and not any(word in name for word in asked.words):
                continue
            page.goto(file.as_uri())
            for number in range(page.locator(".dp-explorer[data-ready]").count()):
                times = measured(page, number, asked.moves)
                columns = [list(column) for column in zip(*times, strict=True)]
                cells = [f"{pick(column):7.0f}" for column in columns for pick in (median, max)]
                print(f"{name + ', ' + str(number + 1):40} {' '.join(cells)} {len(times):7}")


if __name__ == "__main__":
    main()
