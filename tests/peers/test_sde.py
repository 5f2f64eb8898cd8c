"""Euler-Maruyama against torchsde on the same Brownian increments."""

import numpy as np
import torch
import torchsde

from dpdynamics.dynamics import euler_maruyama


class Equation(torch.nn.Module):
    sde_type = "ito"
    noise_type = "diagonal"

    def f(self, t, y):
        return torch.sin(t) - y

    def g(self, t, y):
        return 0.3 * torch.cos(y)


def test_the_paths_are_those_of_torchsde():
    steps, replicates, dim = 32, 5, 3
    equation, h = Equation(), 1 / steps
    y0 = torch.linspace(-1, 1, replicates * dim, dtype=torch.float64).reshape(replicates, dim)
    path = torchsde.BrownianInterval(
        0.0, 1.0, size=(replicates, dim), dtype=torch.float64, entropy=1
    )
    increments = np.stack([path(k * h, (k + 1) * h).numpy() for k in range(steps)])
    theirs = torchsde.sdeint(
        equation, y0, torch.tensor([0.0, 0.5, 1.0]), bm=path, method="euler", dt=h
    )
    ours = euler_maruyama(
        lambda t, x: equation.f(torch.tensor(t), x),
        equation.g,
        y0.numpy(),
        [0.0, 0.5, 1.0],
        max_step=h,
        increments=increments,
        backend="torch",
    )
    np.testing.assert_allclose(ours.values, theirs.numpy(), rtol=1e-6, atol=1e-7)
