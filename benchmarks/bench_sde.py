"""Second moments of an ensemble of Ornstein-Uhlenbeck paths, against diffrax and torchsde."""

import os

import numpy as np
from ornstein_uhlenbeck import first_two_moments, ornstein_uhlenbeck_moments
from timing import result, timed

from dpdynamics.dynamics import euler_maruyama

REPLICATES, DIMENSION, STEPS, SIGMA = 200, 1024, 1000, 0.2
VARIANCE = SIGMA**2 / 2 * -np.expm1(-2)


def bench_diffrax_with_numpy():
    """One thread each; theirs compiled, `UnsafeBrownianPath` and `DirectAdjoint`, the fastest."""
    return _compared("numpy and diffrax", "numpy", _diffrax(), rounds=5, target=1.4)


def bench_diffrax_with_torch():
    """The same with a drift in torch."""
    return _compared("torch and diffrax", "torch", _diffrax(), rounds=5, target=1.4)


def bench_diffrax_with_the_kernel():
    """Compiled with numba; its increments are signs, right for moments and not for paths."""
    return _compared("kernel and diffrax", "kernel", _diffrax(), rounds=5, target=6)


def bench_torchsde():
    """Both in torch, one thread; theirs without gradients."""
    return _compared("torch and torchsde", "torch", _torchsde(), rounds=1, target=2.5)


def _compared(name, backend, theirs, rounds, target):
    import torch

    torch.set_num_threads(1)
    ours_s, theirs_s = [], []
    for seed in range(rounds):
        for run, taken in ((_ours(backend), ours_s), (theirs, theirs_s)):
            seconds, second = timed(run, seed)
            taken.append(seconds)
            if not np.isclose(second.mean(), VARIANCE, rtol=0.02):
                raise ValueError(f"{name}: mean square {second.mean()}, expected {VARIANCE}")
    return result(f"OU d 1024, 200 paths, 1000 steps: {name}", ours_s, theirs_s, target)


def _ours(backend):
    if backend == "kernel":
        return _compiled()

    def run(seed):
        ensemble = euler_maruyama(
            lambda t, x: -x,
            lambda t, x: SIGMA,
            np.zeros((REPLICATES, DIMENSION)),
            [0.0, 1.0],
            rng=np.random.default_rng(seed),
            substeps=STEPS,
            statistic=first_two_moments,
            dtype="float32",
            backend=backend,
        )
        return ensemble.values[-1, 1]

    return run


def _compiled():
    def run(seed):
        start, rng = np.zeros((REPLICATES, DIMENSION)), np.random.default_rng(seed)
        ensemble = ornstein_uhlenbeck_moments(
            start, [0.0, 1.0], rate=1.0, diffusion=SIGMA, rng=rng, max_step=1 / STEPS
        )
        return ensemble.values[-1, 1]

    run(0)  # compile
    return run


def _diffrax():
    # Without these XLA may use every core, and the comparison would be one of threads.
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("XLA_FLAGS", flags)
    import diffrax
    import jax
    import jax.numpy as jnp
    import lineax

    shape = jax.ShapeDtypeStruct((REPLICATES, DIMENSION), jnp.float32)

    @jax.jit
    def solve(key):
        path = diffrax.UnsafeBrownianPath(shape=shape, key=key)
        drift = diffrax.ODETerm(lambda t, y, args: -y)
        diffusion = diffrax.ControlTerm(
            lambda t, y, args: lineax.DiagonalLinearOperator(jnp.full_like(y, SIGMA)), path
        )
        end = diffrax.diffeqsolve(
            diffrax.MultiTerm(drift, diffusion),
            diffrax.Euler(),
            0.0,
            1.0,
            dt0=1 / STEPS,
            y0=jnp.zeros(shape.shape, shape.dtype),
            saveat=diffrax.SaveAt(t1=True),
            adjoint=diffrax.DirectAdjoint(),
            max_steps=STEPS + 2,
        ).ys[0]
        return jnp.mean(end**2, axis=0)

    def run(seed):
        return np.asarray(solve(jax.random.PRNGKey(seed)), dtype=float)

    run(0)  # compile
    return run


def _torchsde():
    import torch
    import torchsde

    class Equation(torch.nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def f(self, t, y):
            return -y

        def g(self, t, y):
            return torch.full_like(y, SIGMA)

    def run(seed):
        torch.manual_seed(seed)
        with torch.no_grad():
            start = torch.zeros(REPLICATES, DIMENSION)
            times = torch.tensor([0.0, 1.0])
            end = torchsde.sdeint(Equation(), start, times, dt=1 / STEPS, method="euler")[-1]
        return (end**2).mean(0).numpy().astype(float)

    return run
