"""Verdicts under another seed: only what they need runs, and what differs is named."""

from __future__ import annotations

import pytest

from dpdynamics.verification import generator
from nb.execute import execute

NOT_NEEDED = 'import os\nassert "DPDYNAMICS_SEED" not in os.environ'
CELL = """\
from dpdynamics.verification import generator, identity, verdict

x = float(generator("luck").integers(1000))
verdict(
    "a2025.b",
    identity("luck", measured=x, printed={}, rtol=0, controls={{"off": -1.0}}),
)"""


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("x + 0", "seed 1: the same verdicts"),
        (str(generator("luck").integers(1000)), "claim a2025.b: stored ('holds', [('luck', "),
        ("x / (x == {})", "chapter.ipynb, cell 4: ZeroDivisionError: float division by zero"),
    ],
)
def test_verdicts_are_computed_again(plant, tool, printed: str, words: str) -> None:
    printed = printed.format(float(generator("luck").integers(1000)))
    path = plant(NOT_NEEDED, CELL.format(printed), name="chapter.ipynb")
    assert execute(path).error == ""
    result = tool("seeds", "--jobs", "1", "--seeds", "1", "--", path)
    assert words in result.stdout
    assert result.returncode == int("same" not in words)
