"""``make mutants`` tells a change that the tests see from one that they do not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

import mutants

PACKAGE = {
    "lib/dpdynamics/__init__.py": "",
    "lib/dpdynamics/tiny/__init__.py": "",
    "lib/dpdynamics/tiny/sums.py": "def twice(x):\n    return 2 * x\n\n\ndef small(x):\n"
    "    return x < 9\n",
    "tests/tiny/test_sums.py": "from dpdynamics.tiny.sums import twice\n\n\n"
    "def test_twice():\n    assert twice(3) == 6\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A library of two functions, of which one is tested."""
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_survivor_fails_until_it_is_answered(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = mutants.draw(root, 100, 1, ["tiny"])
    assert drawn == mutants.draw(root, 100, 1, ["tiny"])
    assert not mutants.judge(root, drawn)
    lines = capsys.readouterr().out.splitlines()
    by_word = {
        word: {line.split(": ", 1)[1] for line in lines if line.startswith(f"{word}  ")}
        for word in ("killed", "survived")
    }
    assert len(by_word["killed"]) == len(by_word["survived"]) == 2
    assert "return 2 * x  ->  return (2 / x)" in by_word["killed"]
    assert "return x < 9  ->  return (x <= 9)" in by_word["survived"]

    answers = [
        {"file": mutant.file, "before": mutant.before, "after": mutant.after, "equivalent": "so"}
        for mutant in drawn["tiny"]
        if "< 9" in mutant.before
    ]
    (root / "tests" / "mutants.yml").write_text(yaml.safe_dump(answers))
    assert mutants.judge(root, drawn)
    assert "100.0%" in capsys.readouterr().out


def test_texts_errors_and_hints_stay() -> None:
    source = '''
"""A text of 3."""
__all__ = ["f"]
@cache(maxsize=8)
def f(x: Literal[1] = 5) -> Literal[2]:
    """Another of 4."""
    if x:
        raise ValueError(f"not {x + 1}", 7)
    return f"{x - 1}"
'''
    changed = [node for node, _ in mutants.places(ast.parse(source))]
    assert [ast.unparse(node) for node in changed] == ["5"]


def test_answers_belong_to_lines_of_the_library() -> None:
    for answer in yaml.safe_load((mutants.ROOT / "tests" / "mutants.yml").read_text("utf-8")):
        text = (mutants.ROOT / mutants.LIBRARY / answer["file"]).read_text("utf-8")
        assert answer["before"] in " ".join(text.split()), answer
        assert answer.get("equivalent") or answer.get("accepted"), answer
