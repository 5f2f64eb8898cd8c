"""The files of the built site: nothing external, no dead link, every picture described."""

import hashlib
import re
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import yaml

from book_accountant import NUMBERS

ROOT = Path(__file__).parents[2]
URL = re.compile(r"""url\(\s*["']?([^"')]+)["']?\s*\)|@import\s+["']([^"']+)["']""")
EXTERNAL = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)


def external(addresses):
    return [a for a in addresses if EXTERNAL.match(a.strip())]


def css_addresses(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return [a or b for a, b in URL.findall(text)]


def page_addresses(soup):
    """What a page makes the browser fetch, and what its own scripts name."""
    found = [tag["src"] for tag in soup.find_all(src=True)]
    found += [
        part.split()[0] for tag in soup.find_all(srcset=True) for part in tag["srcset"].split(",")
    ]
    found += [tag["href"] for tag in soup.find_all("link", href=True)]
    found += [tag["data"] for tag in soup.find_all("object", attrs={"data": True})]
    for tag in soup.find_all("style"):
        found += css_addresses(tag.text)
    for tag in soup.find_all(style=True):
        found += css_addresses(tag["style"])
    for tag in soup.find_all("script", src=False):
        if tag.get("type", "text/javascript") in ("text/javascript", "module"):
            code = tag.text.replace("http://www.w3.org/", "")
            found += re.findall(r"""["'](https?://[^"']+)""", code)
    return found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a { background: url('https://x.org/a.png') }", 1),
        ("@import '//x.org/a.css';", 1),
        ("a { background: url(a.png), url(data:image/png;base64,//x) } /* url(//x) */", 0),
    ],
)
def test_scan_of_css_finds_what_it_should(text, count):
    assert len(external(css_addresses(text))) == count


def test_page_loads_nothing_external(page_name, site, soup):
    assert not external(page_addresses(soup(page_name)))


def test_page_stays_within_its_budget(page_name, site):
    size = (site / page_name).stat().st_size
    assert size < 2_000_000, f"{page_name} has {size / 1e6:.1f} MB; use fewer explorer frames"


def test_css_loads_nothing_external_and_nothing_missing(site):
    for path in site.rglob("*.css"):
        addresses = css_addresses(path.read_text("utf-8"))
        assert not external(addresses), path
        for address in addresses:
            if not address.startswith(("data:", "#")):
                assert (path.parent / unquote(urlsplit(address).path)).exists(), (
                    f"{path}: {address}"
                )


def test_our_scripts_name_no_address(site):
    for name in ("widgets.js", "book.js", *NUMBERS, "accountant_form.js"):
        code = (site / "_static" / name).read_text().replace("http://www.w3.org/", "")
        assert "//" not in re.sub(r"^\s*//.*", "", code, flags=re.M)


def test_links_lead_somewhere(page_name, site, soup, anchors):
    dead = []
    tags = soup(page_name).find_all(["a", "img", "script", "link", "source"])
    for address in {tag.get("href") or tag.get("src") for tag in tags} - {None, "", "#"}:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (
            ((site / page_name).parent / unquote(parts.path)).resolve()
            if parts.path
            else site / page_name
        )
        if not target.is_file() or site not in target.parents:
            dead.append(address)
        elif parts.fragment and target.suffix == ".html":
            places = anchors(target.relative_to(site).as_posix())
            dead += [address] if unquote(parts.fragment) not in places else []
    assert not dead


def test_solutions_are_on_a_page_apart(site, soup):
    """Each exercise leads to its own, and that back; neither the chapter nor the search has it."""
    searched = (site / "search_sections.js").read_text("utf-8")
    compared = set()
    for path in site.glob("notebooks/*/*.html"):
        page = path.relative_to(site).as_posix()
        shown = " ".join(soup(page).get_text().split())
        for exercise in soup(page).select(".exercise"):
            (link,) = exercise.select(".dp-solution > a")
            there, place = urljoin(page, link["href"]).split("#")
            solution = soup(there).find(class_="solution", id=place)
            back = urljoin(there, solution.select_one(".admonition-title > a")["href"])
            assert back == f"{page}#{exercise['id']}"
            assert " ".join(solution.section.get_text().split()) not in shown, back
            texts = solution.section.find_all(string=True)
            prose = max((t for t in texts if not t.find_parent(class_="math")), key=len)
            prose = " ".join(prose.split())
            if len(prose) > 25:
                assert prose not in searched, back
                compared.add(back)
    assert len(compared) > 180


def test_root_leads_to_the_title_page(site):
    assert "url=book/index.html" in (site / "index.html").read_text("utf-8")
    assert (site / "book" / "index.html").is_file()


def test_pictures_are_described(page_name, site, soup):
    main = soup(page_name).find("article") or soup(page_name).find("main") or soup(page_name)
    silent = [
        str(image)[:200] for image in main.find_all("img") if not image.get("alt", "").strip()
    ]
    for svg in main.find_all("svg"):
        labelled = [svg, *svg.find_parents(attrs={"role": "img"})]
        named = any(
            (t.get("aria-label") or t.get("aria-labelledby") or "").strip() for t in labelled
        )
        hidden = any(t.get("aria-hidden") == "true" for t in [svg, *svg.parents])
        if not (named or hidden or svg.find_parent("svg") or svg.find("title", recursive=False)):
            silent.append(str(svg)[:200])
    assert not silent


def test_figures_have_number_and_caption(page_name, site, soup):
    for figure in soup(page_name).find_all("figure", class_="dp-figure"):
        assert figure.get("id")
        caption = figure.find("figcaption")
        assert caption.find(class_="caption-number").text.startswith("Fig.")
        assert caption.find(class_="caption-text").text.strip()


def test_vendored_scripts_are_those_recorded(site):
    record = (ROOT / "tools" / "vendor.sha256").read_text().splitlines()
    assert len(record) > 30
    for line in record:
        digest, path = line.split()
        assert hashlib.sha256((ROOT / path).read_bytes()).hexdigest() == digest, path


def test_notes_on_marking_are_on_no_page(site):
    """Students read the site."""
    notes = [
        yaml.safe_load(p.read_text("utf-8"))["marking"] for p in ROOT.glob("course/plan/*.yml")
    ]
    assert len(notes) > 20
    for page in site.glob("book/*.html"):
        words = " ".join(re.sub(r"<[^>]+>", "", page.read_text("utf-8")).split())
        assert not [note for note in notes if " ".join(note.split())[:60] in words], page.name
