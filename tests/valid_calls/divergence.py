"""A valid call of every public function of the room divergence: the arguments, by name."""

from __future__ import annotations

import numpy as np
from scipy import stats

from valid_calls.calls import Call, of, rng

BUDGET = {"epsilon": 2.0, "delta": 1e-5}
ORDERS = np.array([2.0, 3.0])
RDP = np.array([0.2, 0.3])
GAUSSIANS = {"mean_p": 0.3, "cov_p": 1.0, "mean_q": 0.0, "cov_q": 1.2}

CALLS: dict[str, Call] = {
    "audit_epsilon": of(
        outputs_p=np.linspace(-1, 2, 200),
        outputs_q=np.linspace(-2, 1, 200),
        delta=0.01,
        confidence=0.9,
        rng=rng(),
    ),
    "audit_mu": of(
        outputs_p=np.linspace(-1, 2, 200),
        outputs_q=np.linspace(-2, 1, 200),
        confidence=0.9,
        rng=rng(),
    ),
    "epsilon_to_zcdp": of(epsilon=1.0, delta=1e-5, conversion="tight"),
    "gaussian_delta": of(mu=1.0, epsilon=1.0),
    "gaussian_epsilon": of(mu=1.0, delta=1e-5),
    "gaussian_noise_multiplier": of(**BUDGET),
    "hockey_stick_gaussian": of(**GAUSSIANS, epsilon=0.5),
    "rdp_to_delta": of(orders=ORDERS, rdp=RDP, epsilon=1.0, conversion="tight"),
    "rdp_to_epsilon": of(orders=ORDERS, rdp=RDP, delta=1e-5, conversion="tight"),
    "renyi_divergence_gaussian": of(**GAUSSIANS, order=2.0),
    "renyi_divergence_quadrature": lambda: {
        "logpdf_p": stats.norm(0.5).logpdf,
        "logpdf_q": stats.norm(0.0).logpdf,
        "order": 2.0,
        "dimension": 1,
        "center": 0.0,
        "scale": 1.0,
    },
    "zcdp_to_delta": of(rho=0.5, epsilon=1.0, conversion="tight"),
    "zcdp_to_epsilon": of(rho=0.5, delta=1e-5, conversion="tight"),
}
for _name in ("Gaussian", "Laplace"):
    _pair = {"noise_multiplier": 1.5, "sampling_probability": 0.5, "relation": "remove"}
    CALLS[_name] = of(**_pair)
