"""Property tests are unhurried (the machine may be shared) and the same on every run."""

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None, derandomize=True)
hypothesis.settings.load_profile("unhurried")

LONG = ("tests/course/", "tests/site/", "notebooks/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, so that one worker does not wait for the other at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
