"""The helpers of these tests lie beside them; the version of a gradebook is asked for once."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True, scope="session")
def version_of_gradebooks() -> Iterator[None]:
    """nbgrader starts a process for every new gradebook, to ask for the same word again."""
    with pytest.MonkeyPatch.context() as patch:
        import nbgrader.api

        patch.setattr(nbgrader.api, "get_alembic_version", cache(nbgrader.api.get_alembic_version))
        yield
