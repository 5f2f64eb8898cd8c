"""What each check lets pass and what it refuses, at the very ends of its range."""

import numpy as np
import pytest

from dpdynamics import arguments
from dpdynamics.arguments import LARGEST, SMALLEST

JUST_ABOVE = np.nextafter(LARGEST, np.inf)
ACCEPTED = [
    ("finite_array", ([[True, False]], 2), [[1.0, 0.0]]),
    ("finite_array", (-LARGEST,), -LARGEST),
    ("nonnegative_array", ([0.0, 2],), [0.0, 2.0]),
    ("positive_array", ([SMALLEST],), [SMALLEST]),
    ("fraction_array", ([1e-300, 1 - 1e-16],), [1e-300, 1 - 1e-16]),
    ("orders_array", (np.array([2], np.uint8),), [2.0]),
    ("last_axis", ([[1, 2], [3, 4]], 2), [[1.0, 2.0], [3.0, 4.0]]),
    ("vector", ([1, 2], 2), [1.0, 2.0]),
    ("number", (np.inf,), np.inf),
    ("within", (2, 2, 3), 2.0),
    ("within", (3, 2, 3), 3.0),
    ("nonnegative", (0,), 0.0),
    ("nonnegative", (LARGEST,), LARGEST),
    ("positive", (SMALLEST,), SMALLEST),
    ("whole", (np.uint8(3), 3), 3),
    ("fraction", (0.5,), 0.5),
    ("one_of", ("a", ("a", "b")), "a"),
    ("text", ("a",), "a"),
    ("integers", ([],), []),
    ("integers", ([3, -1],), [3, -1]),
]
REFUSED = [
    ("finite_array", ([[1.0], [1.0, 2.0]],)),
    ("finite_array", ("abc",)),
    ("finite_array", (1j,)),
    ("finite_array", ([1.0], 0)),
    ("finite_array", ([np.nan],)),
    ("finite_array", ([-np.inf],)),
    ("finite_array", (-JUST_ABOVE,)),
    ("nonnegative_array", ([0.0, -1e-300],)),
    ("positive_array", ([np.nextafter(SMALLEST, 0)],)),
    ("fraction_array", ([0.5, 0.0],)),
    ("fraction_array", ([0.5, 1.0],)),
    ("orders_array", ([2.0, 1.0],)),
    ("last_axis", (1.0, 1)),
    ("last_axis", ([1.0, 2.0], 3)),
    ("vector", ([[1.0]], 1)),
    ("number", ([1.0],)),
    ("number", (np.nan,)),
    ("within", (np.nextafter(2, 0), 2, 3)),
    ("within", (np.nextafter(3, 4), 2, 3)),
    ("nonnegative", (-1e-300,)),
    ("nonnegative", (JUST_ABOVE,)),
    ("positive", (0,)),
    ("positive", (JUST_ABOVE,)),
    ("whole", (2.0, 1)),
    ("whole", (2, 3)),
    ("whole", (10**101, 1)),
    ("fraction", (0.0,)),
    ("fraction", (1.0,)),
    ("one_of", ("c", ("a", "b"))),
    ("one_of", (["a"], ("a", "b"))),
    ("text", (" ",)),
    ("text", (3,)),
    ("integers", ([1.0],)),
    ("integers", ([[1]],)),
    ("integers", (np.array([2**63], np.uint64),)),
]


@pytest.mark.parametrize(("check", "given", "value"), ACCEPTED)
def test_the_clean_value_comes_back(check, given, value):
    found = getattr(arguments, check)("name", *given)
    np.testing.assert_array_equal(found, value)
    assert np.asarray(found).dtype == np.asarray(value).dtype or not np.size(value)


@pytest.mark.parametrize(("check", "given"), REFUSED)
def test_a_refusal_names_the_argument(check, given):
    with pytest.raises(ValueError, match=r"^name must "):
        getattr(arguments, check)("name", *given)


def test_infinite_numbers_and_other_limits_pass_on_request():
    assert arguments.finite_array("x", -np.inf, infinite=True) == -np.inf
    assert arguments.finite_array("x", 1e150, infinite=True) == 1e150
    assert arguments.finite_array("x", 3.0, largest=3.0) == 3.0
    with pytest.raises(ValueError, match="at most 3"):
        arguments.nonnegative_array("x", 3.1, largest=3.0)
    with pytest.raises(ValueError, match="at least 2"):
        arguments.positive_array("x", 1.9, smallest=2.0)


def test_arrays_broadcast_together_or_are_named():
    left, right = arguments.together(a=np.zeros(2), b=np.ones((3, 1)))
    assert left.shape == right.shape == (3, 2)
    with pytest.raises(ValueError, match=r"a \(2,\), b \(3,\)"):
        arguments.together(a=np.zeros(2), b=np.zeros(3))


def test_checkpoints_increase_within_the_steps():
    steps = arguments.checkpoint_steps
    assert steps(None, 3).tolist() == [0, 1, 2, 3]
    assert steps([0, 3], 3).tolist() == [0, 3]
    assert steps([2], 3, 1).tolist() == [2]
    for marks, least in (([0, 4], 1), ([-1, 2], 1), ([1, 1], 1), ([2, 1], 1), ([], 1), ([1], 2)):
        with pytest.raises(ValueError, match="checkpoints must"):
            steps(marks, 3, least)


def test_results_without_axes_are_numbers():
    assert isinstance(arguments.plain(np.array(2.0)), float)
    assert arguments.plain(np.array([2.0])).shape == (1,)
    squared = arguments.elementwise(lambda x: x**2, np.array([[1.0, 3.0]]))
    assert squared.tolist() == [[1.0, 9.0]]
    assert arguments.elementwise(lambda x: x + 1, np.array(2.0)) == 3.0
