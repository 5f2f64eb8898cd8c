"""Every assignment end to end through nbgrader, some of them in kernels as `make grade` does it."""

from pathlib import Path

import end_to_end
import pytest

from coursework.sources import Assignment, kind_of, names

pytestmark = [pytest.mark.filterwarnings(w) for w in end_to_end.WARNINGS]
IN_KERNELS = ("diffusion", "project_referee", "rates")


@pytest.mark.parametrize("name", names())
def test_right_empty_and_wrong_submissions(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_to_end.unhurried(monkeypatch, kernel=name in IN_KERNELS)
    end_to_end.check(tmp_path, Assignment(name))


def test_kernels_run_every_kind_of_cell() -> None:
    def kinds(name: str) -> set[object]:
        assignment = Assignment(name)
        cells = assignment.cells.values()
        several = {kind for kind in ("given", "written") if len(assignment.ids(kind)) > 1}
        regions = {(kind_of(c), r) for c in cells for r in ("SOLUTION", "HIDDEN") if r in c.source}
        return {(kind_of(c), c.cell_type) for c in cells} | several | regions

    assert set().union(*map(kinds, IN_KERNELS)) == set().union(*map(kinds, names()))
