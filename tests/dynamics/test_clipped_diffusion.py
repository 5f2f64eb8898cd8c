"""The homogenised equation by norms: against d coordinates, an exact recursion and the ODE."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from dpdynamics.dynamics.clipped_diffusion import clipped_diffusion
from dpdynamics.dynamics.clipped_risk import clipped_risk
from dpdynamics.dynamics.clipping import clipping_factors
from dpdynamics.dynamics.spectra import SpectralBlocks
from dpdynamics.problems import PolynomialDecay

BLOCKS = SpectralBlocks(np.array([0.4, 1.2]), np.array([1, 3]), np.array([1.0, 0.5]))
SCHEDULE = PolynomialDecay(3.0, 0.5)


def test_the_norms_have_the_law_of_the_equation_in_d_coordinates():
    n, c, zeta2, rho, steps, runs = 12, 0.6, 0.2, 0.5, 250, 10_000
    rng, setting = np.random.default_rng(11), {"clip_constant": c, "samples": n, "rho": rho}
    ours = clipped_diffusion(
        BLOCKS, SCHEDULE, label_variance=zeta2, rng=rng, replicates=runs, steps=50, **setting
    )
    lam, v = BLOCKS.coordinates()
    d, h, v = lam.size, 1 / steps, np.tile(v, (runs, 1))
    for t in np.arange(steps) * h:  # Euler-Maruyama of (4.7) as it stands
        eta, decrease = SCHEDULE(t), SCHEDULE.square_decrease(t)
        total = (v**2 @ lam + zeta2)[:, None]
        mu, nu = clipping_factors(c / np.sqrt(total))
        sampling = eta * np.sqrt(nu * total / n * lam) * rng.standard_normal((runs, d))
        private = np.sqrt(2 * d) / n * c * np.sqrt(decrease / rho) * rng.standard_normal((runs, d))
        v = v - h * eta * mu * lam * v + np.sqrt(h) * (sampling + private)
    risk = v**2 @ lam / 2
    assert ks_2samp(ours[:, -1], risk).pvalue > 1e-5
    assert ks_2samp(ours[:, -1], 1.1 * risk).pvalue < 1e-5  # it would notice a tenth


def test_without_clipping_the_mean_solves_the_coupled_family_for_every_n():
    n, runs, times = 30, 40_000, [0, 0.5, 1]
    setting = {"clip_constant": np.inf, "label_variance": 0.2, "rho": np.inf, "times": times}
    ours = clipped_diffusion(
        BLOCKS,
        SCHEDULE,
        samples=n,
        rng=np.random.default_rng(1),
        replicates=runs,
        steps=50,
        **setting,
    )
    exact = clipped_risk(BLOCKS, SCHEDULE, aspect_ratio=BLOCKS.dimension / n, **setting)
    error = ours.std(0) / np.sqrt(runs)
    assert np.all(np.abs(ours.mean(0) - exact) <= 5 * error + 1e-11)


def test_second_order_in_the_step_as_the_noise_vanishes():
    blocks, n = SpectralBlocks.isotropic(10**8, 0.5), 5 * 10**8
    setting = {"clip_constant": 0.3, "label_variance": 0.04, "rho": 0.5}
    exact = clipped_risk(0.5, SCHEDULE, aspect_ratio=0.2, steps=3200, **setting)[-1]
    errors = [
        clipped_diffusion(
            blocks, SCHEDULE, samples=n, rng=np.random.default_rng(0), steps=steps, **setting
        )[0, -1]
        / exact
        - 1
        for steps in (10, 20)
    ]
    assert 3 < errors[0] / errors[1] < 5


def test_fluctuations_vanish_and_the_mean_becomes_the_ode():
    spreads = []
    for d in (100, 1600):
        blocks = SpectralBlocks(
            np.array([0.6, 1.4]), np.array([d // 2, d // 2]), np.array([0.6, 0.6])
        )
        setting = {"clip_constant": 0.5, "label_variance": 0.04, "rho": 0.5, "times": [0, 0.5, 1]}
        risk = clipped_diffusion(
            blocks,
            SCHEDULE,
            samples=5 * d,
            rng=np.random.default_rng(2),
            replicates=400,
            steps=100,
            **setting,
        )
        ode = clipped_risk(blocks, SCHEDULE, aspect_ratio=0.2, **setting)
        spreads.append(risk.std(0)[1:])
        allowed = 5 * risk.std(0) / 20 + (0.001 + 2 / d) * ode
        assert np.all(np.abs(risk.mean(0) - ode) <= allowed)
    assert np.all(np.abs(spreads[0] / spreads[1] - 4) < 0.8)  # d^(-1/2)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"blocks": SpectralBlocks.grouped([1.0, 2.0], [1.0, 1.0])}, "mean 1"),
        ({"clip_constant": -1.0}, "clip_constant"),
        ({"samples": 0}, "samples"),
        ({"label_variance": -1.0}, "label_variance"),
        ({"rho": -1.0}, "rho"),
        ({"replicates": 0}, "replicates"),
        ({"times": [0.0, 1.1]}, "t must lie"),
        ({"steps": 0}, "steps"),
    ],
)
def test_bad_input(change, word):
    given = {"blocks": BLOCKS, "schedule": SCHEDULE, "clip_constant": 0.5, "samples": 10}
    given |= {"label_variance": 0.1, "rho": 0.5}
    with pytest.raises(ValueError, match=word):
        clipped_diffusion(rng=np.random.default_rng(0), **given | change)
