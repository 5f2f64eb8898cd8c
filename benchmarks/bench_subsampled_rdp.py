"""Subsampled Gaussian divergence at the 151 default orders of Opacus, against Opacus."""

import numpy as np
from timing import result, timed

from dpdynamics.accounting import Poisson


def _measured(q, sigma):
    from opacus.accountants import RDPAccountant
    from opacus.accountants.analysis.rdp import compute_rdp

    orders, steps, ours, theirs = RDPAccountant.DEFAULT_ALPHAS, 1000, [], []
    for _ in range(9):
        for _ in range(30):
            seconds, values = timed(
                Poisson(sampling_probability=q, steps=steps).rdp,
                noise_multiplier=sigma,
                orders=orders,
            )
            ours.append(seconds)
        seconds, reference = timed(
            compute_rdp, q=q, noise_multiplier=sigma, steps=steps, orders=orders
        )
        theirs.append(seconds)
    if not np.allclose(values, reference, rtol=1e-6, atol=0):
        raise ValueError(f"the two accountants disagree at q = {q}, noise multiplier {sigma}")
    name = f"subsampled RDP, {len(orders)} orders, q {q}, sigma {sigma}"
    return result(name, ours, theirs, 60)


def bench_unit_noise():
    """Sampling probability 0.01, noise multiplier 1."""
    return _measured(0.01, 1.0)


def bench_opacus_own_case():
    """The case of Opacus's own test: sampling probability 0.04, noise multiplier 1.5."""
    return _measured(0.04, 1.5)
