"""The slice of a program: what is needed stays, the rest goes, and the result is the same."""

import ast

import pytest

from book_ledger.slicing import Program, parse


def cut(source: str, wanted: str) -> str:
    """The slice of a source text for an expression, after it was seen to give the same value."""
    statements = parse(source)
    kept = Program(statements).slice(ast.parse(wanted, mode="eval").body, len(statements))
    text = "\n".join(ast.unparse(statement) for statement in kept)
    values = []
    for program in (source, text):
        names: dict[str, object] = {"show": print}
        exec(compile(program, "slice", "exec"), names)
        values.append(eval(wanted, names))
    assert values[0] == values[1]
    return text


def test_only_what_is_needed() -> None:
    assert cut("a = 1\nb = 2\nc = a + 1\nprint(b)", "c") == "a = 1\nc = a + 1"


def test_the_last_definition_counts() -> None:
    assert cut("a = 1\na = 2\nb = 3", "a") == "a = 2"


def test_imports_keep_the_names_that_are_used() -> None:
    assert cut("from math import cos, pi, sin\nx = cos(pi)", "x").startswith(
        "from math import cos, pi\n"
    )


@pytest.mark.parametrize("change", ["a += [3]", "a[0] = 3", "a.append(3)", "add(a)"])
def test_changes_stay(change: str) -> None:
    source = f"def add(x):\n    x.append(3)\na = [1, 2]\n{change}\nb = len(a)"
    assert change in cut(source, "(a, b)")


def test_what_a_generator_shuffles_is_changed() -> None:
    source = "def generator(seed):\n    return random.Random(seed)\n"
    source = f"import random\n{source}a = [1, 2, 3, 4]\nrng = generator(1)\nrng.shuffle(a)"
    assert "rng.shuffle(a)" in cut(source, "a")


def test_a_change_below_try_stays() -> None:
    source = "a = [1]\ntry:\n    a.append(2)\nexcept ValueError:\n    pass\nb = 2"
    assert "append" in cut(source, "a")


@pytest.mark.parametrize("body", ["pass", "if i > limit:\n        break"])
def test_what_stands_after_a_loop_without_break_stays(body: str) -> None:
    source = f"limit, shift = 7, 2\nfor i in range(3):\n    {body}\nelse:\n    a = shift\nb = 3"
    text = cut(source, "a")
    assert "a = shift" in text
    assert "b = 3" not in text


def test_a_function_reads_its_globals_when_it_is_called() -> None:
    text = cut("def f(x):\n    return x + shift\nshift = 1\ny = 0\nshift = 2\nz = f(1)", "z")
    assert "shift = 2" in text
    assert "shift = 1" not in text
    assert "y" not in text


def test_a_function_that_is_handed_on_is_called_later() -> None:
    source = "def f(x):\n    return x + shift\ntable = {'a': f}\nshift = 2\nz = table['a'](1)"
    assert "shift = 2" in cut(source, "z")


@pytest.mark.parametrize("call", ["run.each(keep)", "Run().each(keep)", "Run().fill(rows)"])
def test_what_a_method_is_handed_may_change(call: str) -> None:
    each, fill = "def each(self, f):\n        f(1)", "def fill(self, x):\n        x.append(1)"
    keep = "run, rows = Run(), []\ndef keep(x):\n    rows.append(x)"
    source = f"class Run:\n    {each}\n    {fill}\n{keep}\n{call}"
    assert call in cut(source, "rows")


def test_loops_lose_what_is_only_shown() -> None:
    source = (
        "found, seen = [], 0\nfor i in range(4):\n    found.append(i)\n    print(i)\n    seen = i"
    )
    text = cut(source, "sum(found)")
    assert "append" in text
    assert "print" not in text
    assert "seen = i" not in text


def test_loops_carry_names_from_one_round_to_the_next() -> None:
    source = "a, b = 0, 1\nfor _ in range(5):\n    c = b\n    b = a + b\n    a = c\nd = 7"
    text = cut(source, "a")
    assert "b = a + b" in text
    assert "d = 7" not in text


def test_branches_and_breaks() -> None:
    source = (
        "n = 0\nwhile True:\n    n += 1\n    if n > 4:\n        break\n"
        "if n > 3:\n    size = n\n    label = 'large'\nelse:\n    size = 0"
    )
    text = cut(source, "size")
    assert "break" in text
    assert "label" not in text


def test_earlier_draws_of_a_generator_stay() -> None:
    source = (
        "import random\ndef generator(seed):\n    return random.Random(seed)\n"
        "rng = generator(1)\nx = rng.random()\nother = generator(2)\ny = other.random()\n"
        "z = rng.random()"
    )
    text = cut(source, "z")
    assert "x = rng.random()" in text
    assert "other" not in text
