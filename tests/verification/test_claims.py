"""A claim runs alone: the cells that it needs, no others, and with the same verdict."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dpdynamics import claims
from dpdynamics.claims import Notebook

ROOT = Path(__file__).resolve().parents[2]
VERDICT = 'verdict("a2025.b", {})'
SEEDED = "import random\n\ndef generator(seed):\n    return random.Random(seed)"
ADD = "def add(x):\n    x.append(3)\n\ndef show(x):\n    pass"


def notebook(path: Path, *cells: str) -> Notebook:
    """A notebook of these code cells."""
    code = [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    boot = {"cell_type": "code", "metadata": {"tags": ["bootstrap"]}, "source": "raise"}
    path.write_text(json.dumps({"cells": [boot, *code]}), "utf-8")
    return Notebook(path)


@pytest.fixture
def needed(tmp_path: Path):
    """The numbers of the cells that an expression needs, after they were seen to suffice."""

    def find(*cells: str, wanted: str) -> list[int]:
        book = notebook(tmp_path / "chapter.ipynb", *cells, VERDICT.format(wanted))
        kept = book.needed(["a2025.b"])
        everything: dict[str, object] = {}
        exec("\n".join(cells), everything)
        alone: dict[str, object] = {}
        exec("\n".join(cell.source for cell in kept[:-1]), alone)
        assert eval(wanted, everything) == eval(wanted, alone)
        assert kept[-1].place == len(cells) + 2
        return [cell.place - 1 for cell in kept[:-1]]

    return find


@pytest.mark.parametrize(
    ("cells", "wanted", "kept"),
    [
        (["a = 1", "b = 2", "c = a + 1", "print(b)"], "c", [1, 3]),
        (["a = 1", "a = 2", "b = 3"], "a", [2]),
        (["a = 1", "if True:\n    a = 2", "b = 3"], "a", [1, 2]),
        (["a = 1", "if True:\n    a = 2\nelse:\n    a = 3"], "a", [2]),
        (["a, b = 0, 1", "for _ in range(5):\n    a, b = b, a + b", "c = 3"], "a", [1, 2]),
        (["a = [i for i in range(3)]", "for i in range(9):\n    pass", "b = sum(a)"], "b", [1, 3]),
        (["i = 5", "for i in range(2):\n    pass", "b = [i for i in 'ab']"], "b", [3]),
        (["def f(x):\n    return x + s", "s = 1", "y = 0", "s = 2", "z = f(1)"], "z", [1, 4, 5]),
        (
            ["def f(x):\n    return x + s", "t = {'a': f}", "s = 2", "z = t['a'](1)"],
            "z",
            [1, 2, 3, 4],
        ),
        (["def f(x):\n    return x + s", "s = 1", "z = f(1)", "s = 2", "u = z"], "u", [1, 2, 3, 5]),
        (["class A:\n    pass", "a = A()", "a.x = 1", "b = a.x"], "b", [1, 2, 3, 4]),
        (["a = [1]", "try:\n    a.append(2)\nexcept ValueError:\n    pass", "b = 2"], "a", [1, 2]),
        (["n = 0", "while n < 4:\n    n += 1", "m = 1"], "n", [1, 2]),
    ],
)
def test_only_what_is_needed(needed, cells: list[str], wanted: str, kept: list[int]) -> None:
    assert needed(*cells, wanted=wanted) == kept


@pytest.mark.parametrize(
    "change",
    ["a += [3]", "a[0] = 3", "a.append(3)", "add(a)", "add(x=a)", "for _ in 'b':\n    add(a)"],
)
def test_changes_stay_and_what_only_shows_goes(needed, change: str) -> None:
    kept = needed(ADD, "a = [1, 2]", change, "show(a)\nprint(a)", wanted="a")
    assert kept == ([1, 2, 3] if "add" in change else [2, 3])


@pytest.mark.parametrize("call", ["run.each(keep)", "Run().each(keep)", "Run().fill(rows)"])
def test_what_a_method_is_handed_may_change(needed, call: str) -> None:
    each, fill = "def each(self, f):\n        f(1)", "def fill(self, x):\n        x.append(1)"
    cells = [f"class Run:\n    {each}\n\n    {fill}", "run, rows = Run(), []"]
    keep = "def keep(x):\n    rows.append(x)"
    assert 4 in needed(*cells, keep, call, wanted="rows")


def test_earlier_draws_of_a_generator_stay(needed) -> None:
    cells = ["rng = generator(1)", "x = rng.random()", "other = generator(2)\ny = other.random()"]
    assert needed(SEEDED, *cells, "z = rng.random()", wanted="z") == [1, 2, 3, 5]
    draw = ["rng = generator(1)", "def draw():\n    return rng.random()", "x = draw()"]
    assert needed(SEEDED, *draw, "y = 1", "z = draw()", wanted="z") == [1, 2, 3, 4, 6]
    shuffle = ["a = [1, 2, 3, 4]", "rng = generator(1)", "rng.shuffle(a)"]
    assert needed(SEEDED, *shuffle, wanted="a") == [1, 2, 3, 4]


CELLS = (
    "%matplotlib inline\nfrom dpdynamics.verification import identity, verdict",
    'x = 2.0\none = identity("one", measured=x, printed=x, rtol=0, controls={"three": 3.0})',
    "raise ValueError('a figure')",
    'print("shown")\nverdict("a2025.b", one)\nprint(verdict("a2025.c", one))',
)


def test_it_gives_the_verdicts_and_a_script_that_does(tmp_path: Path, capsys) -> None:
    book = notebook(tmp_path / "chapter.ipynb", *CELLS)
    assert book.claims == ["a2025.b", "a2025.c"]
    found = book.verdicts(["a2025.c"])
    assert capsys.readouterr().out == ""
    assert {claim: verdict.verdict for claim, verdict in found.items()} == {"a2025.c": "holds"}
    names: dict[str, dict] = {}
    exec(book.script(["a2025.b", "a2025.c"]), names)
    assert [str(v) for v in names["verdicts"].values()][1] == str(found["a2025.c"])


def test_an_error_names_its_cell(tmp_path: Path) -> None:
    book = notebook(tmp_path / "chapter.ipynb", "a = 1", "b = a / 0", VERDICT.format("b"))
    with pytest.raises(ZeroDivisionError) as caught:
        book.verdicts(book.claims)
    assert caught.value.__notes__ == ["in chapter.ipynb, cell 3"]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one notebook; the working directory is a folder of it."""
    (tmp_path / "book" / "claims").mkdir(parents=True)
    (tmp_path / "notebooks" / "part").mkdir(parents=True)
    notebook(tmp_path / "notebooks" / "part" / "chapter.ipynb", *CELLS)
    monkeypatch.chdir(tmp_path / "notebooks")
    monkeypatch.setenv("DPDYNAMICS_SEED", "1")
    return tmp_path


def test_the_door_lists_runs_and_prints(clone: Path, capsys) -> None:
    claims.main([])
    assert capsys.readouterr().out == "notebooks/part/chapter.ipynb: a2025.b, a2025.c\n"
    claims.main(["a2025.b", "--seed", "7", "--book", str(clone)])
    out = capsys.readouterr().out
    assert out.startswith("✓ a2025.b: holds\n") and "control: three: rejected" in out
    assert "shown" not in out and os.environ["DPDYNAMICS_SEED"] == "7"
    claims.main(["a2025.b", "--script"])
    script = capsys.readouterr().out
    exec(script, {})
    assert capsys.readouterr().out.endswith(out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a2025.d"], "no notebook decides 'a2025.d'; perhaps a2025."),
        (["thm1"], "perhaps without arguments it lists them"),
        (["a2025.b", "--book", "/"], "/ does not lie in a clone of the book"),
    ],
)
def test_what_is_not_there_is_said(clone: Path, capsys, arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as caught:
        claims.main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_every_claim_of_the_book_is_found_once() -> None:
    found = [claim for book in claims.notebooks(ROOT) for claim in book.claims]
    assert len(found) == len(set(found)) > 200
    assert claims.find_book(Path(__file__).parent) == ROOT
