"""Explorer, desk, search and ledger in the distribution's Firefox, driven by WebDriver BiDi."""

import json
import re
import shutil
import subprocess
import time

import pytest
import websocket

from dpdynamics.accounting import Poisson

CHAPTER = "notebooks/least_squares/risk_curve.html"
ARROW_RIGHT, HOME = "\ue014", "\ue011"
# Firefox itself stays at home: what is left to ask for is the page's.
QUIET = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.downloads.remote.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
}


class Firefox:
    """A headless Firefox with one page, and what the page asked for and complained of."""

    def __init__(self, executable, profile):
        settings = (f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in QUIET.items())
        (profile / "user.js").write_text("".join(settings), "utf-8")
        command = [executable, "--headless", "--no-remote", "--profile", str(profile)]
        with (profile / "log").open("w") as log:
            self.process = subprocess.Popen(
                [*command, "--remote-debugging-port", "0"], stdout=log, stderr=log
            )
        listening = re.compile(r"BiDi listening on (ws://\S+)")
        for _ in range(600):
            if match := listening.search((profile / "log").read_text("utf-8")):
                break
            time.sleep(0.1)
        address = match[1]
        self.socket = websocket.create_connection(
            f"{address}/session", timeout=120, suppress_origin=True
        )
        self.number, self.requests, self.complaints = 0, [], []
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.page = self.command("browsingContext.getTree")["contexts"][0]["context"]

    def command(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("method") == "network.beforeRequestSent":
                self.requests.append(message["params"]["request"]["url"])
            elif message.get("method") == "log.entryAdded":
                if message["params"]["level"] == "error":
                    self.complaints.append(message["params"]["text"])
            elif message.get("id") == self.number:
                assert message["type"] == "success", message
                return message["result"]

    def open(self, address):
        """Open an address and wait for its formulas; what an earlier page said is forgotten."""
        self.requests.clear()
        self.complaints.clear()
        self.command("browsingContext.navigate", context=self.page, url=address, wait="complete")
        self.run("window.MathJax?.startup?.promise.then(() => document.fonts.ready).then(() => 1)")

    def run(self, expression):
        """What a JavaScript expression, or its promise, comes to."""
        result = self.command(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then((x) => JSON.stringify(x ?? null))",
            target={"context": self.page},
            awaitPromise=True,
        )
        assert result["type"] == "success", result
        return json.loads(result["result"]["value"])

    def wait(self, condition):
        """Until a JavaScript expression is true, for 20 seconds."""
        for _ in range(200):
            if self.run(condition):
                return
            time.sleep(0.1)
        raise AssertionError(f"never true: {condition}")

    def press(self, key):
        actions = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": actions}
        self.command("input.performActions", context=self.page, actions=[keyboard])


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    executable = shutil.which("firefox-esr") or shutil.which("firefox")
    if executable is None:
        pytest.skip("no Firefox: neither firefox-esr nor firefox is installed")
    made = Firefox(executable, tmp_path_factory.mktemp("profile"))
    yield made
    made.command("browser.close")
    made.socket.close()
    made.process.wait(30)


@pytest.fixture(params=["http", "file"])
def address(request):
    return request.getfixturevalue(f"{request.param}_address")


def test_a_chapter_asks_no_network_and_complains_of_nothing(firefox, address):
    firefox.open(address + CHAPTER)
    assert firefox.run("document.querySelectorAll('mjx-container').length") > 100
    assert firefox.run("[...document.images].every((i) => i.complete && i.naturalWidth > 0)")
    assert firefox.requests
    local = ("file:", "data:", "blob:", "http://127.0.0.1:")
    assert not [request for request in firefox.requests if not request.startswith(local)]
    assert not firefox.complaints


def test_an_explorer_follows_the_keyboard(firefox, file_address):
    firefox.open(file_address + CHAPTER)
    seen = []
    shown = (
        "[document.querySelector('.dp-frame').innerHTML, document.querySelector('.dp-explorer"
        " output').textContent, [...document.querySelectorAll('.dp-readout dd')].map((e) =>"
        " e.textContent).join()]"
    )
    firefox.run("document.querySelector('.dp-explorer input').focus()")
    for key in (HOME, ARROW_RIGHT, HOME):
        firefox.press(key)
        seen.append(firefox.run(shown))
    first, second, again = seen
    assert all(a != b for a, b in zip(first, second, strict=True))
    assert again == first
    assert not firefox.complaints


def test_the_desk_answers_with_the_library_s_number(firefox, file_address):
    firefox.open(file_address + "notebooks/synthesis/practitioner.html")
    firefox.run("document.querySelector('.accountant-form [name=value]').value = '1.3'")
    firefox.run("document.querySelector('.accountant-form').requestSubmit()")
    said = firefox.run("document.querySelector('.accountant-answer p').textContent")
    run = Poisson(sampling_probability=0.01, steps=3000, relation="add_remove")
    wanted = run.epsilon(noise_multiplier=1.3, delta=1e-6)
    assert float(re.search(r"\d+\.\d+", said)[0]) == pytest.approx(wanted, rel=1e-4)
    firefox.wait("document.querySelectorAll('.accountant-plots svg').length === 2")
    assert not firefox.complaints


def test_search_finds_and_the_ledger_filters(firefox, file_address):
    firefox.open(file_address + "search.html?q=renyi")
    assert "Rényi" in firefox.run("document.querySelector('#search-results li a').textContent")
    firefox.open(file_address + "book/ledger.html")
    rows = "[...document.querySelectorAll('tbody[data-verdict]')].filter(r => r.offsetParent)"
    everything = firefox.run(f"{rows}.length")
    firefox.run("document.querySelector('.ledger-filters input[type=search]').focus()")
    for letter in "bombari":
        firefox.press(letter)
    firefox.wait(f"{rows}.length < {everything}")
    assert firefox.run(f"{rows}.every((row) => /bombari/i.test(row.textContent))")
    assert not firefox.complaints
