"""Public functions refuse plain mistakes with a ``ValueError`` that names the argument."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from dpdynamics.accounting.runs import Run
from dpdynamics.divergence import Pair
from valid_calls import CALLS, ELSEWHERE, ROOMS
from valid_calls.calls import Text, Words

# rooms whose classes that check arguments are walked too
CLASSES = ("adaptive", "desk", "display", "problems")


def public() -> dict[str, Any]:
    """The public functions of the rooms, by room and name."""
    found = {}
    for room in ROOMS:
        module = importlib.import_module(f"dpdynamics.{room}")
        for name in module.__all__:
            thing = getattr(module, name)
            run = (
                inspect.isclass(thing) and issubclass(thing, Run) and not inspect.isabstract(thing)
            )
            pair = inspect.isclass(thing) and issubclass(thing, Pair) and thing is not Pair
            checked = run or pair or (room in CLASSES and hasattr(thing, "__post_init__"))
            if checked or inspect.isfunction(thing):
                found[f"{room}.{name}"] = thing
            if run:
                found |= {f"{room}.{name}.{verb}": asked(thing, verb) for verb in verbs(thing)}
    return found


def verbs(kind: type[Run]) -> list[str]:
    """The public methods of a run."""
    return [n for n, m in inspect.getmembers(kind, inspect.isfunction) if not n.startswith("_")]


def asked(kind: type[Run], verb: str) -> Any:
    """A function of the fields of a run and of the arguments of a verb together."""
    own = inspect.signature(kind).parameters
    rest = dict(inspect.signature(getattr(kind, verb)).parameters)
    del rest["self"]

    def function(**arguments: Any) -> Any:
        run = kind(**{name: arguments.pop(name) for name in own if name in arguments})
        return getattr(run, verb)(**arguments)

    function.__signature__ = inspect.Signature([*own.values(), *rest.values()])  # type: ignore[attr-defined]
    return function


FUNCTIONS = public()


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    """Close what the room display has drawn."""
    yield
    plt.close("all")


def test_every_public_function_has_a_valid_call() -> None:
    assert set(FUNCTIONS) == set(CALLS) | set(ELSEWHERE)
    assert not set(CALLS) & set(ELSEWHERE)


def is_number(value: Any) -> bool:
    """Whether an argument is one number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def is_array(value: Any) -> bool:
    """Whether an argument is an array, or a list or tuple of numbers."""
    if isinstance(value, list | tuple):
        return bool(value) and all(is_number(item) for item in value)
    return isinstance(value, np.ndarray) and value.dtype.kind in "iuf"


def mistakes(function: Any, arguments: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Name of the argument, what is wrong, and the wrong value."""
    parameters = inspect.signature(function).parameters
    for name, value in arguments.items():
        if name in ("rng", "self") or name.startswith("_"):
            continue
        optional = name in parameters and parameters[name].default is None  # not so by **
        if is_number(value) or is_array(value):
            if not optional:
                yield name, "None", None
            yield name, "a string", "abc"
            yield name, "ragged", [[1.0], [1.0, 2.0]]
            yield name, "an object", object()
        if is_number(value):
            yield name, "nan", np.nan
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            holed = value.copy()
            holed.flat[0] = np.nan
            yield name, "nan inside", holed
            yield name, "one axis more", value[None, None, None]
        if isinstance(value, str):
            if isinstance(value, Text):
                yield name, "blank", " "
            elif not isinstance(value, Words):
                yield name, "an unknown choice", "no such choice"
            yield name, "a number", 3


@pytest.mark.parametrize("key", CALLS)
def test_the_valid_call_is_valid(key: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FUNCTIONS[key](**CALLS[key]())


def answer(key: str, **changes: Any) -> Any:
    """The result of the valid call with some arguments changed, or what it raised."""
    try:
        return FUNCTIONS[key](**CALLS[key]() | changes)
    except Exception as error:
        return error
    finally:
        plt.close("all")


def refused(result: Any, name: str) -> bool:
    """Whether a result is a refusal that names the argument."""
    return isinstance(result, ValueError) and bool(re.search(rf"\b{name}\b", str(result)))


@pytest.mark.parametrize("key", CALLS)
def test_mistakes_are_refused_by_name(key: str) -> None:
    wrong_answers = {}
    for name, what, wrong in mistakes(FUNCTIONS[key], CALLS[key]()):
        result = answer(key, **{name: wrong})
        if what == "one axis more" and not isinstance(result, Exception):
            continue  # some functions act on arrays of any shape
        if not refused(result, name):
            wrong_answers[name, what] = repr(result)
    assert wrong_answers == {}


def numbers(result: Any) -> Iterator[float]:
    """All numbers in a result, however it is built."""
    if isinstance(result, dict):
        yield from numbers(list(result.values()))
    elif isinstance(result, list | tuple):
        for item in result:
            yield from numbers(item)
    elif dataclasses.is_dataclass(result) and not isinstance(result, type):
        yield from numbers([getattr(result, field.name) for field in dataclasses.fields(result)])
    elif isinstance(result, np.ndarray) and result.dtype.kind == "f":
        yield from result.ravel().tolist()
    elif is_number(result):
        yield float(result)


def numeric(key: str) -> dict[str, Any]:
    """The arguments of the valid call that are one number."""
    return {name: value for name, value in CALLS[key]().items() if is_number(value)}


def right_about_far(result: Any, name: str) -> bool:
    """Whether a result is a named refusal, an accuracy said to be out of reach, or numbers."""
    if isinstance(result, ArithmeticError):
        return not isinstance(result, OverflowError | ZeroDivisionError)
    if isinstance(result, Exception):
        return refused(result, name)
    return not any(np.isnan(value) for value in numbers(result))


@pytest.mark.parametrize("key", CALLS)
def test_far_numbers_are_refused_by_name_or_answered(key: str) -> None:
    wrong_answers = {}
    for name, value in numeric(key).items():
        for far in (-1, 0) if isinstance(value, int) else (-1.0, 0.0, 1e-300, 1e90, 1e300, np.inf):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                result = answer(key, **{name: far})
            if not right_about_far(result, name):
                wrong_answers[name, far] = repr(result)
    assert wrong_answers == {}


@pytest.mark.parametrize("key", CALLS)
def test_unsigned_numbers_count_like_any_other(key: str) -> None:
    """8 bits wrap where an argument is used before it is converted."""
    short = {name: value for name, value in numeric(key).items() if value in range(256)}
    expected = list(numbers(answer(key)))
    for name, value in short.items():
        result = answer(key, **{name: np.uint8(value)})
        assert not isinstance(result, Exception), (name, result)
        if not dataclasses.is_dataclass(FUNCTIONS[key]):  # it may keep the number as it was given
            assert list(numbers(result)) == pytest.approx(expected, rel=1e-12), name
