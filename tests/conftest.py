"""Property tests are unhurried (the machine may be shared) and the same on every run."""

import json
import os
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None, derandomize=True)
hypothesis.settings.load_profile("unhurried")

LONG = ("tests/course/", "tests/site/", "notebooks/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, so that one worker does not wait for the other at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


SECONDS: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what each file takes."""
    SECONDS[report.nodeid.split("::")[0]] += report.duration


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write down what a run of everything took, for ``make weight``."""
    if config.args == ["notebooks", "tests"] and not hasattr(config, "workerinput"):
        times = os.times()
        total = times.user + times.system + times.children_user + times.children_system
        built = Path(__file__).resolve().parents[1] / "_build"
        built.mkdir(exist_ok=True)
        files = {name: round(seconds, 1) for name, seconds in SECONDS.most_common()}
        taken = {"core_seconds": round(total), "files": files}
        (built / "test-seconds.json").write_text(json.dumps(taken, indent=1) + "\n", "utf-8")
