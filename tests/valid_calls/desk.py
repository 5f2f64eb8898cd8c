"""A valid call of every public function of the room desk: the arguments, by name."""

from __future__ import annotations

from dpdynamics.desk import PUBLISHED
from valid_calls.calls import Call, of

RELATION = {"relation": "add_remove"}
RUN = {"noise_multiplier": 1.0, "batch_size": 10, "samples": 100, "steps": 20, "delta": 1e-3}
BUDGET = {"epsilon": 2.0, "delta": 1e-3}

CALLS: dict[str, Call] = {
    "choose_optimiser": of(
        noise_multiplier=4.0,
        clip_norm=50.0,
        batch_size=100,
        gradient_noise=1.0,
        dimension=100,
        sgd_step=0.01,
        rival_step=0.01,
        rival="adam",
        curvature=1.0,
        steps=1000,
    ),
    "correlate_noise": of(
        **BUDGET,
        sampling_probability=0.2,
        steps=8,
        decay=0.1,
        correlations=(0.5,),
        sampling="poisson",
        blocks=(1, 2),
    ),
    "end_noise_std": of(correlation=0.5, decay=0.1, steps=5),
    "plan_one_pass": of(
        samples=2000,
        dimension=100,
        epsilon=8.0,
        delta=1e-5,
        label_std=0.5,
        initial_risk=0.5,
        exponent=0.5,
        features="gaussian",
    ),
    "recipe_epsilon": of(recipe=PUBLISHED[0], sampling="poisson", **RELATION),
    "required_noise": of(
        **BUDGET, samples=100, batch_size=10, steps=20, sampling="poisson", **RELATION
    ),
    "spent_epsilon": of(**RUN, sampling="poisson", **RELATION, runs=2),
}
