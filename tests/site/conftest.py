"""What the tests of the built site share: the pages, a server, a browser that records everything.

The site is ``_build/html`` (``make test`` builds it first); SITE names another one.
"""

import functools
import http.server
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from paper.typeset import CHROMIUM, OFFLINE, chromium

ROOT = Path(__file__).parents[2]
DESK = {"width": 1280, "height": 900}
WAIT = 300_000  # milliseconds; other processes may have the machine
SITE = Path(os.environ.get("SITE", ROOT / "_build" / "html")).resolve()


def pages() -> list[str]:
    """List the pages of the book; the root's index only redirects to the title page."""
    found = sorted(SITE.rglob("*.html"))
    skip = ("_static", "_sources", "reports", "index.html")
    return [
        p.relative_to(SITE).as_posix() for p in found if p.relative_to(SITE).parts[0] not in skip
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes ``page_name`` once for every page; without a site, once, to skip.

    All tests of a file ask a page in a row, so that it is loaded once.
    """
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", pages() or ["(no site)"], scope="module")


@pytest.fixture(scope="session")
def site() -> Path:
    """Folder of the built site."""
    if not (SITE / "index.html").exists():
        pytest.skip(f"no site at {SITE}: run `make book` first")
    return SITE


@pytest.fixture(scope="session")
def soup(site: Path) -> Callable[[str], BeautifulSoup]:
    """Function that parses a page of the site."""
    return functools.cache(
        lambda name: BeautifulSoup((site / name).read_text("utf-8"), "html.parser")
    )


@pytest.fixture(scope="session")
def anchors(soup: Callable[[str], BeautifulSoup]) -> Callable[[str], set[str]]:
    """Function that gives the places in a page that a link can lead to."""

    def found(name: str) -> set[str]:
        named = soup(name).find_all("a", attrs={"name": True})
        return {tag["id"] for tag in soup(name).find_all(id=True)} | {tag["name"] for tag in named}

    return functools.cache(found)


@pytest.fixture(scope="session")
def serve_folder() -> Iterator[Callable[[Path], str]]:
    """Function that serves a folder on a free local port and returns its address."""
    servers = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    def serve(folder: Path) -> str:
        handler = functools.partial(Quiet, directory=str(folder))
        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def http_address(site: Path, serve_folder: Callable[[Path], str]) -> str:
    """Address of the site on a local server, with a final slash."""
    return serve_folder(site)


@pytest.fixture(scope="session")
def file_address(site: Path) -> str:
    """Address of the site on the disk, with a final slash."""
    return f"{site.as_uri()}/"


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium that can reach nothing but this machine."""
    executable = chromium()
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(CHROMIUM)} is installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                OFFLINE,
            ],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def new_page(browser):
    """Function that gives a blank page with options of a context.

    Pages with the same options share what they fetched and compiled; each starts without what an
    earlier one stored. A page has an attribute ``complaints``: console errors, script errors,
    failed requests and requests to anywhere but this machine.
    """
    contexts = {}

    def new_page(**options):
        key = json.dumps(options, sort_keys=True)
        if key not in contexts:
            contexts[key] = browser.new_context(viewport=DESK, **options)
            contexts[key].set_default_timeout(WAIT)
            contexts[key].add_init_script("try { localStorage.clear(); } catch {}")
        page = contexts[key].new_page()
        page.complaints = []

        def request(r) -> None:
            if not r.url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:", "about:")):
                page.complaints.append(f"external request: {r.url}")

        def response(r) -> None:
            if r.status >= 400:
                page.complaints.append(f"status {r.status}: {r.url}")

        page.on("request", request)
        page.on("response", response)
        page.on("requestfailed", lambda r: page.complaints.append(f"failed request: {r.url}"))
        page.on("pageerror", lambda e: page.complaints.append(f"script error: {e}"))
        page.on(
            "console", lambda m: m.type == "error" and page.complaints.append(f"console: {m.text}")
        )
        return page

    return new_page


def load(page, address: str) -> None:
    """Open an address and wait for its formulas; what an earlier one complained of is forgotten."""
    page.goto("about:blank")
    page.complaints.clear()
    page.goto(address, wait_until="load")
    page.wait_for_function(
        "!window.MathJax?.startup?.promise"
        " || MathJax.startup.promise.then(() => document.fonts.ready).then(() => true)"
    )


@pytest.fixture
def open_page(new_page):
    """Function that opens an address in a page of its own, with a size and options of a context."""
    pages = []

    def open_page(address: str, viewport=DESK, **options):
        page = new_page(**options)
        pages.append(page)
        page.set_viewport_size(viewport)
        if options.get("java_script_enabled", True):
            load(page, address)
        else:
            page.goto(address, wait_until="load")
        return page

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture(scope="session")
def shared_page(new_page, http_address):
    """Function that gives a page of the site, loaded and typeset once for tests in a row.

    Size, medium and colours are those of a desk again; what else a test changes, it puts back.
    """
    page, names = new_page(color_scheme="light", reduced_motion="reduce"), [""]

    def shared_page(name: str):
        page.set_viewport_size(DESK)
        page.emulate_media(media="screen", color_scheme="light", reduced_motion="reduce")
        if name != names[0]:
            names[0] = ""
            load(page, http_address + name)
            names[0] = name
        page.evaluate("document.documentElement.dataset.theme = 'light'")
        return page

    return shared_page


@pytest.fixture(scope="session")
def tab_to():
    """Function that presses Tab until an element that matches has the focus, which must be seen."""
    active, limit = "document.activeElement", 600

    def tab_to(page, selector: str) -> None:
        for _ in range(limit):
            page.keyboard.press("Tab")
            if page.evaluate(f"{active}.matches({selector!r})"):
                outline = f"getComputedStyle({active}).outlineStyle"
                assert page.evaluate(outline) != "none" or "claim-node" in selector
                return
        pytest.fail(f"{limit} Tabs do not reach {selector}")

    return tab_to
