"""A valid call of every public function of the room accounting: the arguments, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from valid_calls.calls import Call, of

BLOCKS = {"correlation": 0.5, "sampling_probability": 0.1, "steps": 8}
BUDGET = {"epsilon": 2.0, "delta": 1e-5}
ORDERS = np.array([2.0, 3.0])
PASS = {"step_sizes": np.array([0.5, 0.4, 0.3]), "noise_scales": np.array([1.0, 1.0, 1.0])}
LEVEL = {"noise_multiplier": 1.5, "epsilon": 1.0}
SPENT = {"noise_multiplier": 1.5, "delta": 1e-3}
SIZES = {"batch_size": 10, "samples": 100}
RUNS: dict[str, dict[str, Any]] = {
    "BallsInBins": {"batches": 10, "relation": "add_remove", "epochs": 1},
    "CorrelatedPoisson": {**BLOCKS, "relation": "zero_out", "blocks": (1, 2)},
    "FixedSize": {**SIZES, "steps": 20, "relation": "zero_out"},
    "Poisson": {"sampling_probability": 0.1, "steps": 20, "relation": "add_remove"},
    "Shuffled": {**SIZES, "steps": 20, "runs": 2, "relation": "zero_out"},
}

CALLS: dict[str, Call] = {
    "cumulative_noise_lower_bound": of(
        **BUDGET, sampling_probability=0.1, steps=20, relation="zero_out"
    ),
    "cumulative_noise_std": of(noise_multiplier=1.0, correlation=0.5, steps=5),
    "hidden_state_rdp": of(
        step_size=0.1,
        smoothness=1.0,
        sensitivity=1.0,
        noise_std=1.0,
        steps=5,
        orders=ORDERS,
        strong_convexity=0.5,
        diameter=2.0,
    ),
    "noising_matrix": of(correlation=0.5, steps=4),
    "one_pass_gdp": of(**PASS),
    "one_pass_zcdp_by_record": of(**PASS),
    "optimal_noise_schedule": of(step_sizes=np.array([0.5, 0.4, 0.3]), rho=0.5),
    "participation_sensitivity": of(correlation=0.5, pattern=np.array([1.0, 0.0, 1.0])),
    "sampled_delta": of(**BLOCKS, noise_multiplier=3.0, epsilon=0.1, samples=1000, nodes=21),
    "square_root_strategy": of(steps=5, bands=3),
    "strategy_matrix": of(correlation=0.5, steps=4),
    "strategy_norm": of(correlation=0.5, steps=4),
    "tree_strategy": of(steps=5),
    "worst_sensitivity": of(correlation=0.5, steps=5, participations=2, separation=2),
}
for _name, _run in RUNS.items():
    CALLS |= {
        _name: of(**_run),
        f"{_name}.delta": of(**_run, **LEVEL),
        f"{_name}.epsilon": of(**_run, **SPENT),
        f"{_name}.noise_for": of(**_run, **BUDGET),
    }
    if _name == "CorrelatedPoisson":
        CALLS[f"{_name}.block_pair"] = of(**_run, block=2)
    if _name == "Poisson":
        CALLS[f"{_name}.pairs"] = of(**_run, noise_multiplier=1.5)
    if _name in ("FixedSize", "Poisson"):
        CALLS[f"{_name}.rdp"] = of(**_run, noise_multiplier=1.5, orders=ORDERS)
