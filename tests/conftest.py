"""Property tests are unhurried (the machine may be shared) and the same on every run."""

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None, derandomize=True)
hypothesis.settings.load_profile("unhurried")

LONG = ("tests/course/", "tests/site/", "notebooks/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, so that one worker does not wait for the other at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write down what a run of everything took, for ``make weight``."""
    if config.args == ["notebooks", "tests"] and not hasattr(config, "workerinput"):
        times = os.times()
        seconds = times.user + times.system + times.children_user + times.children_system
        built = Path(__file__).resolve().parents[1] / "_build"
        built.mkdir(exist_ok=True)
        (built / "test-seconds").write_text(f"{seconds:.0f}\n", "utf-8")
