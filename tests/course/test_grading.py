"""Every assignment half wrong through nbgrader; one in kernels as `make grade` does it, and more.

That one holds every kind of cell, and is handed in right and empty as well; the right and the
empty version of every assignment run in test_assignments.py.
"""

from pathlib import Path

import end_to_end
import pytest

from coursework.sources import Assignment, kind_of, names

pytestmark = [pytest.mark.filterwarnings(w) for w in end_to_end.WARNINGS]
IN_KERNELS = "project_recipe"


@pytest.mark.parametrize("name", names())
def test_submissions_are_graded_and_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_kernels = name == IN_KERNELS
    end_to_end.unhurried(monkeypatch, kernel=in_kernels)
    end_to_end.check(tmp_path, Assignment(name), thorough=in_kernels)


def test_kernels_run_every_kind_of_cell() -> None:
    def kinds(name: str) -> set[object]:
        assignment = Assignment(name)
        cells = assignment.cells.values()
        several = {kind for kind in ("given", "written") if len(assignment.ids(kind)) > 1}
        regions = {(kind_of(c), r) for c in cells for r in ("SOLUTION", "HIDDEN") if r in c.source}
        return {(kind_of(c), c.cell_type) for c in cells} | several | regions

    assert kinds(IN_KERNELS) == set().union(*map(kinds, names()))
