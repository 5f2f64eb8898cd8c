"""Half of the assignments, end to end through nbgrader (two files: two workers share them)."""

from pathlib import Path

import end_to_end
import pytest

from coursework.sources import Assignment, names

pytestmark = [pytest.mark.filterwarnings(w) for w in end_to_end.WARNINGS]


@pytest.mark.parametrize("name", names()[1::2])
def test_right_empty_and_wrong_submissions(name: str, tmp_path: Path) -> None:
    end_to_end.check(tmp_path, Assignment(name))
