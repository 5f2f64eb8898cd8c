"""Chapters on a projector: a question, three figures, what to remember, each on one screen."""

import pytest

SLIDES = "document.querySelectorAll('.dp-slide')"


def lessons(site, soup):
    """Chapters that say what to remember, with the characters that their slides must hold."""
    pages = sorted(str(p.relative_to(site)) for p in site.glob("notebooks/*/*.html"))
    found = {}
    for name in pages:
        page = soup(name)
        if remember := page.find(id="what-to-remember"):
            figures = [f for f in page.find_all("figure") if not f.find_parent("details")][:3]
            captions = [len(f.find("figcaption").get_text()) for f in figures]
            found[name] = max(captions), len(remember.get_text()), len(figures)
    return found


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768)])
def test_what_is_longest_fits_on_its_slide(size, site, soup, file_address, open_page):
    chapters = lessons(site, soup)
    assert len(chapters) > 25
    fullest = {max(chapters, key=lambda name: chapters[name][k]) for k in (0, 1)}
    fullest.add("notebooks/least_squares/risk_curve.html")
    for name in fullest:
        viewport = {"width": size[0], "height": size[1]}
        page = open_page(f"{file_address}{name}?slides", viewport=viewport)
        beyond = page.evaluate(
            f"[...{SLIDES}].map(s => [s.scrollHeight - s.clientHeight, s.scrollWidth -"
            " s.clientWidth])"
        )
        assert beyond == [[0, 0]] * (chapters[name][2] + 1), name
        assert not page.complaints


def test_slides_go_on_by_keyboard_and_their_explorer_is_alive(file_address, open_page):
    page = open_page(f"{file_address}notebooks/least_squares/risk_curve.html?slides")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{SLIDES}[1].getBoundingClientRect().top === 0")
    before = page.locator(".dp-slide .dp-frame").inner_html()
    page.locator(".dp-slide input[type=range]").first.focus()
    page.keyboard.press("End")
    assert page.locator(".dp-slide .dp-frame").inner_html() != before
    assert page.evaluate(f"{SLIDES}[1].getBoundingClientRect().top") == 0
    page.keyboard.press("Escape")
    page.wait_for_url(lambda address: "slides" not in address)
    page.wait_for_selector("article.bd-article")


def test_a_page_without_the_word_is_a_page(file_address, open_page):
    page = open_page(f"{file_address}notebooks/least_squares/risk_curve.html")
    assert not page.evaluate(f"{SLIDES}.length")
