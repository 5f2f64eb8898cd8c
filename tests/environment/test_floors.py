"""The rooms of the library: who may import whom, what else they may import, and how big they are.

A room imports only rooms on lower floors. So the numerics never see verification or display, and
these two never see each other.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from nb.fingerprint import imported_modules
from nb.layout import LIBRARY
from nb.lint import allowed_imports
from weight import imported, lines_of

FLOOR = {
    "numerics": 0,
    "problems": 1,
    "divergence": 1,
    "accounting": 2,
    "dynamics": 2,
    "adaptive": 2,
    "training": 2,
    "kan": 2,
    "verification": 3,
    "display": 3,
    "desk": 3,
    "extras": 3,
}
DOOR = "__main__.py"  # stands before the house: it opens any room, and no room can import it
PACKAGE = LIBRARY / "dpdynamics"
MAX_LINES = {
    "file": 300,
    "room": 1800,
}  # of code: an hour's and a day's reading


def broken_floors(package: Path) -> list[str]:
    """Every import of a room that is not on a lower floor, as ``file: imports room``."""
    broken = []
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).parts
        own = parts[0] if len(parts) > 1 else ""
        if parts == (DOOR,):
            continue
        dotted = ".".join(["dpdynamics", *parts[:-1]])
        for module in sorted(set(imported_modules(ast.parse(file.read_text("utf-8")), dotted))):
            head, *rest = module.split(".")
            room = rest[0] if head == "dpdynamics" and rest else ""
            if room in FLOOR and room != own and FLOOR[room] >= FLOOR.get(own, 0):
                broken.append(f"{file.relative_to(package).as_posix()}: imports {room}")
    return sorted(set(broken))


def test_rooms_import_only_lower_floors() -> None:
    assert broken_floors(PACKAGE) == []


def test_every_room_has_a_floor_and_a_door_plate() -> None:
    rooms = {f.parent.name: f for f in PACKAGE.glob("*/__init__.py")}
    assert set(rooms) <= set(FLOOR), f"rooms without a floor: {sorted(set(rooms) - set(FLOOR))}"
    assert rooms
    for room, file in rooms.items():
        assert ast.get_docstring(ast.parse(file.read_text("utf-8"))), room


@pytest.mark.parametrize(
    ("file", "text", "broken"),
    [
        ("dynamics/x.py", "from ..problems import f", []),
        ("dynamics/x.py", "from .y import f", []),
        ("problems/x.py", "from dpdynamics.dynamics.y import f", ["dynamics"]),
        ("problems/x.py", "import dpdynamics.divergence", ["divergence"]),
        ("divergence/x.py", "from ..accounting.runs import f", ["accounting"]),
        ("accounting/x.py", "def f():\n    from ..display import g", ["display"]),
        ("verification/x.py", "from .. import display", ["display"]),
        ("display/deep/x.py", "from ...verification import g", ["verification"]),
        ("problems/x.py", "import dpdynamics.verification.statistics", ["verification"]),
        ("problems/x.py", "from ..arguments import f", []),
        ("arguments.py", "from .problems import f", ["problems"]),
        ("__init__.py", "from . import problems", ["problems"]),
        ("__main__.py", "from .desk import f", []),
        ("desk/__main__.py", "from ..display import f", ["display"]),
    ],
)
def test_the_floor_test_can_fail(tmp_path: Path, file: str, text: str, broken: list[str]) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    assert broken_floors(tmp_path) == [f"{file}: imports {room}" for room in broken]


OPTIONAL = {
    "numba"
}  # imported inside the one function that needs it, `kernels` in compiled_steps.py


def test_the_library_imports_only_its_dependencies() -> None:
    foreign = set()
    for file in PACKAGE.rglob("*.py"):
        dotted = ".".join(["dpdynamics", *file.relative_to(PACKAGE).parts[:-1]])
        modules = imported_modules(ast.parse(file.read_text("utf-8")), dotted)
        names = {module.split(".")[0] for module in modules} - allowed_imports() - OPTIONAL
        foreign |= {f"{file.relative_to(PACKAGE).as_posix()}: {name}" for name in names}
    assert sorted(foreign) == []


def test_what_is_optional_is_imported_late() -> None:
    for file in PACKAGE.rglob("*.py"):
        top = [n for n in ast.parse(file.read_text("utf-8")).body if isinstance(n, ast.Import)]
        assert not {alias.name for node in top for alias in node.names} & OPTIONAL, file


def test_code_lines() -> None:
    text = '"""A\n\nB"""\n\n# c\nx = 1  # d\n\n\ndef f():\n    """E."""\n    return "f"\n'
    assert lines_of(text)[1] == 3


def test_a_name_counts_where_it_is_imported_or_read_from_a_room() -> None:
    text = "%magic\nfrom dpdynamics import accounting as a, desk\na.compose(desk.PUBLISHED)\n"
    text += "from dpdynamics.kan import Training\ngrid = other.noise_for(Gaussian)\n"
    assert imported(text) == {"accounting.compose", "desk.PUBLISHED", "kan.Training"}


def test_a_file_is_read_in_an_hour_and_a_room_in_a_day() -> None:
    rooms_files = [f for f in sorted(PACKAGE.rglob("*.py")) if f.name != "__init__.py"]  # no doors
    files = {f: lines_of(f.read_text("utf-8"))[1] for f in rooms_files}
    rooms = {name: sum(n for f, n in files.items() if name in f.parts) for name in FLOOR}
    long = {f.name: n for f, n in files.items() if n > MAX_LINES["file"]}
    assert not long
    assert {name: n for name, n in rooms.items() if n > MAX_LINES["room"]} == {}
