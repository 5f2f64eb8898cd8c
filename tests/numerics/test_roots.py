"""Roots on the safe side."""

from math import log

import pytest

from dpdynamics.numerics.roots import certified_root


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("root", [-300.0, -1.0, 0.0, 0.05, 17.0, 399.0])
def test_the_root_is_near_and_its_sign_is_safe(root: float, side: int) -> None:
    def f(x: float) -> float:
        return 3 * (root - x)

    found = certified_root(f, 0.0, side=side, tolerance=1e-7)
    assert found == pytest.approx(root, abs=2e-7)
    assert (f(found) <= 0) == (side > 0)


@pytest.mark.parametrize("side", [1, -1])
def test_a_staircase_ends_on_the_right_stair(side: int) -> None:
    found = certified_root(lambda x: 2.5 - x // 1, 0.2, side=side, tolerance=1e-6)
    assert found == pytest.approx(3.0, abs=3e-6)
    assert (found >= 3.0) == (side > 0)


def test_what_is_out_of_reach_is_refused() -> None:
    assert certified_root(lambda x: 5.9 - x, 0.0, side=1, tolerance=1e-9, reach=6.0) >= 5.9
    for f in (lambda x: 6.1 - x, lambda x: -6.1 - x, lambda x: 1.0, lambda x: log(0.5)):
        with pytest.raises(ArithmeticError, match="no root"):
            certified_root(f, 0.0, side=1, tolerance=1e-9, reach=6.0)
