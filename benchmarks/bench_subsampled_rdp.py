"""Subsampled Gaussian divergence at the 151 default orders of Opacus, against Opacus."""

from statistics import median
from time import perf_counter

import numpy as np

from dpdynamics.accounting import subsampled_gaussian_rdp


def _measured(q, sigma):
    from opacus.accountants import RDPAccountant
    from opacus.accountants.analysis.rdp import compute_rdp

    orders, steps, ours, theirs = RDPAccountant.DEFAULT_ALPHAS, 1000, [], []
    for _ in range(9):
        for _ in range(30):
            start = perf_counter()
            values = subsampled_gaussian_rdp(
                noise_multiplier=sigma, sampling_probability=q, steps=steps, orders=orders
            )
            ours.append(perf_counter() - start)
        start = perf_counter()
        reference = compute_rdp(q=q, noise_multiplier=sigma, steps=steps, orders=orders)
        theirs.append(perf_counter() - start)
    if not np.allclose(values, reference, rtol=1e-6, atol=0):
        raise ValueError(f"the two accountants disagree at q = {q}, noise multiplier {sigma}")
    return {
        "name": f"subsampled RDP, {len(orders)} orders, q {q}, sigma {sigma}",
        "ours_s": median(ours),
        "theirs_s": median(theirs),
        "ratio": median(theirs) / median(ours),
        "target": 60,
    }


def bench_unit_noise():
    """Sampling probability 0.01, noise multiplier 1."""
    return _measured(0.01, 1.0)


def bench_opacus_own_case():
    """The case of Opacus's own test: sampling probability 0.04, noise multiplier 1.5."""
    return _measured(0.04, 1.5)
