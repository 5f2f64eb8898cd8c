"""The risk curve against quadrature of the Volterra equations, and against diffrax.

The quadrature is the route of the paper: the trapezoidal rule for the Volterra equation, with
O(N^2) evaluations of a kernel that is a sum over the distinct eigenvalues; its result is checked to
agree with ours to its own accuracy, which is far below ours. diffrax solves the d equations of the
variances; its tolerance is the largest that gives the error asked for, in half decades.
"""

import os

import numpy as np
from scipy.linalg import solve_triangular
from timing import result, seconds, timed

from dpdynamics.dynamics import gradient_flow, law, risk_curve
from dpdynamics.problems import literal_preset, theory_preset


def _quadrature(problem, x0, schedule, noise_scale, times):
    """The population risk at evenly spaced times, which are also the nodes."""
    rates, index = np.unique(problem.curvature, return_inverse=True)
    sampling = np.bincount(index, weights=problem.eigenvalues**2)
    private = np.bincount(index, weights=problem.eigenvalues) * noise_scale**2 / 2
    clock, scale = schedule.integral(times), schedule(times) ** 2 / problem.dimension
    forcing = problem.population_risk(gradient_flow(problem, x0, schedule, times))
    system = np.eye(times.size)
    for n in range(1, times.size):
        past = slice(n + 1)
        weight = scale[past] * (times[1] - times[0])
        weight[[0, n]] /= 2
        squared_flow = np.exp(-2 * np.multiply.outer(clock[n] - clock[past], rates))
        system[n, past] -= weight * (squared_flow @ sampling)
        forcing[n] += weight @ (squared_flow @ private)
    return solve_triangular(system, forcing, lower=True)


def _measure(name, setting, nodes, target, repeats=3):
    times = np.linspace(0, setting.horizon, nodes)
    arguments = setting.problem, setting.x0, setting.schedule, setting.noise_scale, times
    ours, theirs = [], []
    for _ in range(repeats):
        ours += [seconds(lambda: risk_curve(*arguments)) for _ in range(5)]
        taken, quadrature = timed(_quadrature, *arguments)
        theirs.append(taken)
    error = np.abs(quadrature / risk_curve(*arguments).population - 1).max()
    if not error < 1e-2:
        raise ValueError(f"the two risk curves disagree by {error}")
    title = f"risk curve, {name}, {nodes} times, error {error:.0e}"
    return result(title, ours, theirs, target)


def bench_literal():
    """Two distinct eigenvalues among 1000."""
    return _measure("literal", literal_preset(np.random.default_rng(0)), 1501, target=30)


def bench_theory():
    """A thousand distinct eigenvalues."""
    setting = theory_preset(np.random.default_rng(0), 1000)
    return _measure("theory", setting, 501, target=300, repeats=1)


def bench_diffrax_literal():
    """Theirs at an error of 1e-8, ours at rounding."""
    return _against_diffrax("literal", literal_preset(np.random.default_rng(0)), 1e-8, target=3)


def bench_diffrax_theory():
    """Nearly equal errors: theirs 1e-13, ours at rounding."""
    setting = theory_preset(np.random.default_rng(0), 1000)
    return _against_diffrax("theory", setting, 1e-13, target=3)


def bench_diffrax_theory_coarse():
    """Theirs at 1e-8 only, ours still at rounding: beside the target, which is for equal errors."""
    setting = theory_preset(np.random.default_rng(0), 1000)
    return _against_diffrax("theory", setting, 1e-8, target=None)


def _against_diffrax(name, setting, accuracy, target, nodes=501, rounds=15):
    times = np.linspace(0, setting.horizon, nodes)
    arguments = setting.problem, setting.x0, setting.schedule, setting.noise_scale, times
    gaussian = law(*arguments)  # by d exponentials: no collocation in it
    squares = (gaussian.mean - setting.problem.truth) ** 2 + gaussian.variance
    exact = (squares @ setting.problem.eigenvalues + setting.problem.label_variance) / 2

    def error(curve):
        return np.abs(curve / exact - 1).max()

    if not error(risk_curve(*arguments).population) < min(accuracy, 1e-13):
        raise ValueError(f"our risk curve is wrong by {error(risk_curve(*arguments).population)}")
    solve = _diffrax(setting, times)
    for rtol in 10.0 ** -np.arange(6, 16, 0.5):
        reached = error(solve(rtol))  # the first compiles
        if reached <= accuracy:
            break
    else:
        raise ValueError(f"diffrax does not reach {accuracy}, only {reached}")
    ours, theirs = [], []
    runs = (lambda: risk_curve(*arguments), ours), (lambda: solve(rtol), theirs)
    for _ in range(rounds):
        for function, taken in runs:
            taken += [seconds(function) for _ in range(4)]
    title = f"risk curve, {name}, Tsit5 of diffrax at {reached:.0e}"
    return result(title, ours, theirs, target)


def _diffrax(setting, times):
    """The compiled solver; one thread, float64, saving nothing but the risk."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("XLA_FLAGS", flags)
    import diffrax
    import jax
    import jax.numpy as jnp

    problem, rate = setting.problem, float(setting.schedule(0.0))
    with jax.enable_x64(True):
        eigenvalues, curvature = jnp.asarray(problem.eigenvalues), jnp.asarray(problem.curvature)
        start = jnp.asarray(setting.x0 - problem.fixed_point)
        offset = jnp.asarray(problem.fixed_point - problem.truth)
        saved, zero = jnp.asarray(times), jnp.zeros(problem.dimension)

        def risk(t, variance, args):
            flow = offset + jnp.exp(-rate * curvature * t) * start
            return (eigenvalues @ (flow**2 + variance) + problem.label_variance) / 2

        def slope(t, variance, args):
            noise = 2 * risk(t, variance, args) * eigenvalues + setting.noise_scale**2
            return rate**2 / problem.dimension * noise - 2 * rate * curvature * variance

        @jax.jit
        def solve(variance, rtol):
            return diffrax.diffeqsolve(
                diffrax.ODETerm(slope),
                diffrax.Tsit5(),
                0.0,
                saved[-1],
                dt0=None,
                y0=variance,
                saveat=diffrax.SaveAt(ts=saved, fn=risk),
                stepsize_controller=diffrax.PIDController(rtol=rtol, atol=1e-2 * rtol),
            ).ys

    def run(rtol):
        with jax.enable_x64(True):
            return np.asarray(solve(zero, rtol))

    return run
