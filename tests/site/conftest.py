"""What the tests of the built site share: the pages, a server, a browser that records everything.

The site is ``_build/html`` (``make test`` builds it first); SITE names another one.
"""

import functools
import http.server
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from paper.typeset import CHROMIUM, OFFLINE, chromium

ROOT = Path(__file__).parents[2]
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
    """Run a test that takes ``page_name`` once for every page; without a site, once, to skip."""
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", pages() or ["(no site)"])


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


def opener(browser):
    """Yield a function that opens an address and waits for its scripts; then close its pages.

    The page has an attribute ``complaints``: console errors, script errors, failed requests and
    requests to anywhere but this machine.
    """
    contexts = []

    def open_page(address: str, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(WAIT)
        page = context.new_page()
        page.complaints = []

        def request(r) -> None:
            if not r.url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:")):
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
        page.goto(address, wait_until="load")
        if options.get("java_script_enabled", True):
            page.wait_for_function(
                "!window.MathJax?.startup?.promise"
                " || MathJax.startup.promise.then(() => document.fonts.ready).then(() => true)"
            )
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(browser):
    """Function that opens an address in a page of its own, with options of a context."""
    yield from opener(browser)


@pytest.fixture(scope="session")
def shared_page(browser, http_address):
    """Function that gives a page of the site, loaded and typeset once for tests in a row.

    Size, medium and colours are those of a desk again; what else a test changes, it puts back.
    """
    opening = opener(browser)
    open_page = next(opening)
    last = {}

    def shared_page(name: str):
        if name not in last:
            for page in last.values():
                page.context.close()
            last.clear()
            last[name] = open_page(
                http_address + name, color_scheme="light", reduced_motion="reduce"
            )
        page = last[name]
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(media="screen", color_scheme="light", reduced_motion="reduce")
        page.evaluate("document.documentElement.dataset.theme = 'light'")
        return page

    yield shared_page
    next(opening, None)
