"""A valid call of every public function of the room verification: the arguments, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from valid_calls.calls import Call, Text, of, rng

GRID = {"where": {"x": np.array([1.0, 2.0])}}
DRAWS = np.linspace(-1.0, 1.0, 200)


def uniform_cdf(x: Any) -> Any:
    """The law of the draws."""
    return np.clip((x + 1) / 2, 0, 1)


def shifted_cdf(x: Any) -> Any:
    """A wrong law."""
    return np.clip(x / 2, 0, 1)


CALLS: dict[str, Call] = {
    "attack": of(
        ratio=lambda x: 0.5 + 0.1 * x, bounds={"x": (0.0, 1.0)}, rng=rng(), starts=8, generations=2
    ),
    "bound": of(
        name=Text("a bound"),
        measured=np.array([1.0, 2.0]),
        printed=np.array([2.0, 3.0]),
        controls={"smaller": np.array([0.5, 1.0])},
        sense="<=",
        slack=1e-12,
        **GRID,
    ),
    "certified": of(
        name=Text("a proof"),
        statement=lambda x, *, power=1: (x, 1 + x**power),
        over={"x": (1, 2)},
        corrected={"power": 2},
        controls={"no power": lambda x: (1 + x, x)},
        precision=64,
    ),
    "coverage": of(
        name=Text("an event"),
        successes=95,
        trials=100,
        printed=0.9,
        controls={"surely": 0.999},
        sense=">=",
        family_error=1e-4,
    ),
    "critical_value": of(comparisons=3, family_error=0.01, dof=10.0, sides=2),
    "distribution": of(
        name=Text("a law"),
        samples=DRAWS,
        printed_cdf=uniform_cdf,
        controls={"shifted": shifted_cdf},
        family_error=1e-4,
        allowance=0.01,
    ),
    "expectation": of(
        name=Text("a mean"),
        samples=DRAWS,
        printed=0.0,
        controls={"larger": 1.0},
        family_error=1e-4,
        allowance=0.01,
    ),
    "generator": of(label=Text("stream")),
    "identity": of(
        name=Text("an identity"),
        measured=np.array([1.0, 2.0]),
        printed=np.array([1.0, 2.0]),
        controls={"twice": np.array([2.0, 4.0])},
        rtol=1e-12,
        atol=1e-12,
        reason=Text("rounding"),
        **GRID,
    ),
    "instead": of(measured=1.0),
    "loglog_slope": of(sizes=np.array([1.0, 2.0, 4.0]), values=np.array([1.0, 2.1, 3.9])),
    "optimum": of(
        name=Text("an optimum"),
        objective=lambda x: (x - 0.5) ** 2,
        printed=0.5,
        controls={"elsewhere": 0.7},
        bounds={"x": (0.0, 1.0)},
        rtol=1e-3,
    ),
    "out_of_reach": of(claim="lin2025.eq5", reason=Text("no computation decides it")),
    "privacy": of(
        name=Text("a loss"),
        exact=np.array([1.0, 2.0]),
        printed=np.array([2.0, 3.0]),
        mechanism=Text("Gaussian"),
        neighbours=Text("add or remove"),
        sampling=Text("none"),
        accountant=Text("exact"),
        controls={"smaller": np.array([0.5, 1.0])},
        audit_lower=np.array([0.5, 1.0]),
        **GRID,
    ),
    "rate": of(
        name=Text("a rate"),
        sizes=np.array([1.0, 3.0, 10.0, 30.0, 100.0]),
        values=np.array([1.0, 3.001, 9.99, 30.0, 100.0]),
        printed=1.0,
        controls={"square": 2.0},
        sense="==",
        family_error=1e-4,
        allowance=0.01,
    ),
    "rejection_probability": of(noncentrality=1.0, critical=2.0, dof=10.0, sides=2),
    "stated": of(
        statement=lambda x, y, *, half=0.5: half * x * y,
        cases=[(1.0, 2.0), {"x": 3.0, "y": 4.0}],
        corrected={"half": 1.0},
        controls={"a quarter": {"half": 0.25}},
        where=("x",),
    ),
}
