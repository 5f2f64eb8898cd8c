"""Private training against automatic differentiation, a plain loop and exact variances."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdynamics.kan import Recorder, Training, TwoLayerKAN
from dpdynamics.kan.training import Step

M, D, P, N = 8, 2, 5, 12


def problem(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    network, weights = TwoLayerKAN.initial(M, D, P, rng=rng, dtype=dtype)
    x = rng.uniform(-1, 1, (N, D))
    return network, weights, x, np.where(x[:, 0] > 0.1, 1.0, -1.0)


def training(seed=1, **changes):
    network, weights, x, y = problem()
    options = {"step_size": 0.7, "sampling": "fixed", "batch_size": 4, "initial": weights}
    options |= {"clip_norm": 0.2, "noise_multiplier": 1.5, "correlation": 0.6}
    return Training(network, x, y, rng=np.random.default_rng(seed), **(options | changes))


def over(values):
    return np.asarray(values)[:, None, None, None]


class Spy(list):
    """A record that keeps the steps."""

    def __call__(self, step: Step) -> None:
        self.append(step)


def test_a_run_is_algorithm_1_written_out():
    network, weights, x, y = problem()
    spy = Spy()
    run = training(radius=0.8).advance(12, spy)
    features, w, previous = network.features(x), weights, 0.0
    for step in spy:
        batch = step.batches[0]
        assert len(np.unique(batch)) == 4
        outer = network.output_gradients(w, features)
        gradients = over(-y / (1 + np.exp(y * network.values(w, features)))) * outer
        norms = np.sqrt((gradients**2).sum(axis=(1, 2, 3)))
        clipped = gradients * over(np.minimum(1, 0.2 / norms))
        np.testing.assert_allclose(step.gradient[0, 0], clipped.mean(axis=0), rtol=0, atol=1e-14)
        v = clipped[batch].sum(axis=0) / 4
        noise = step.noise[0, 0]
        w = w - 0.7 * (v + 0.2 / 4 * 1.5 * (noise - 0.6 * previous))
        move = w - weights
        w = weights + move * min(1.0, 0.8 / np.linalg.norm(move))
        previous = noise
        np.testing.assert_allclose(step.after[0, 0], w, rtol=0, atol=1e-13)
    assert run.index == 12
    assert np.linalg.norm(run.weights - run.start) == pytest.approx(0.8, rel=1e-12)


@pytest.mark.parametrize("sampling", ["full", "fixed", "poisson"])
def test_without_noise_and_clipping_it_is_sgd_by_automatic_differentiation(sampling):
    torch = pytest.importorskip("torch")
    network, weights, x, y = problem()
    size = N if sampling == "full" else 4
    spy = Spy()
    changes = {"clip_norm": np.inf, "noise_multiplier": 0.0}
    training(sampling=sampling, batch_size=size, **changes).advance(20, spy)
    model = network.torch_module(weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.7)
    for step in spy:
        batch = np.arange(N) if step.batches is None else step.batches[0]
        optimizer.zero_grad()
        margins = torch.as_tensor(y[batch]) * model(torch.as_tensor(x[batch]))
        (torch.nn.functional.softplus(-margins).sum() / size).backward()
        optimizer.step()
        after = next(iter(model.parameters())).detach().numpy().reshape(M, D, P)
        np.testing.assert_allclose(step.after[0, 0], after, rtol=0, atol=1e-12)


@given(
    correlation=st.floats(0, 0.99),
    eta=st.floats(0.01, 3),
    sampling=st.sampled_from(["full", "fixed", "poisson"]),
)
@settings(max_examples=15)
def test_the_shifted_iterate_obeys_lemma_c1(correlation, eta, sampling):
    spy = Spy()
    size = N if sampling == "full" else 4
    training(
        correlation=correlation, step_size=eta, sampling=sampling, batch_size=size, signs=[1, -1]
    ).advance(8, spy)
    target = np.random.default_rng(3).standard_normal((M, D, P))

    def product(a, b):
        return (a * b).sum(axis=(-3, -2, -1))

    for step in spy:
        u, z, g, dev = step.shifted_before, step.previous_noise, step.gradient, step.deviation
        c = over(step.noise_scale)
        predicted = u - eta * (g + dev + (1 - correlation) * c * z)
        np.testing.assert_allclose(step.shifted, predicted, rtol=0, atol=2e-14)
        c = step.noise_scale
        lam, far = 1 - correlation, u - target
        right = (
            product(far, far)
            - 2 * eta * product(g, step.before - target)
            - 2 * eta * product(dev, far)
            - 2 * lam * eta * c * product(z, far)
            + eta**2 * product(g + dev, g + dev)
            + (lam * eta * c) ** 2 * product(z, z)
            + 2 * lam * eta**2 * c * product(dev, z)
            - 2 * correlation * eta**2 * c * product(g, z)
        )
        left = product(step.shifted - target, step.shifted - target)
        np.testing.assert_allclose(left, right, rtol=1e-13)


def test_the_shift_is_broken_by_the_projection():
    spy = Spy()
    training(radius=0.3).advance(8, spy)
    last = spy[-1]
    predicted = last.shifted_before - 0.7 * (
        last.batch_gradient + 0.4 * over(last.noise_scale) * last.previous_noise
    )
    assert np.abs(last.shifted - predicted).max() > 1e-3


def test_correlation_zero_is_plain_dp_sgd():
    network, weights, x, y = problem()
    spy = Spy()
    training(correlation=0.0).advance(10, spy)
    w = weights
    features = network.features(x)
    for step in spy:
        batch = step.batches[0]
        total = network.clipped_gradient_sum(w, features[batch], y[batch], 0.2).total
        w = w - 0.7 * (total + 0.2 * 1.5 * step.noise[0, 0]) / 4
    np.testing.assert_allclose(step.after[0, 0], w, rtol=0, atol=1e-13)


@pytest.mark.parametrize("sampling", ["full", "fixed", "poisson"])
def test_a_resumed_run_is_the_same_to_the_bit(sampling):
    changes = {"sampling": sampling, "batch_size": N if sampling == "full" else 4}
    changes |= {"groups": 2, "signs": [1.0, -1.0], "radius": 2.0, "initial": None}
    changes |= {"step_size": np.linspace(1, 0.1, 14)}
    whole = training(**changes).advance(14)
    other = pickle.loads(pickle.dumps(training(**changes).advance(5)))
    assert other.index == 5
    other.advance(9)
    np.testing.assert_array_equal(other.weights, whole.weights)
    np.testing.assert_array_equal(other.noise, whole.noise)
    np.testing.assert_array_equal(other.start, whole.start)


def test_equal_seeds_share_batches_and_noise_whatever_else_differs():
    first, second = Spy(), Spy()
    training(initial=None).advance(6, first)
    training(initial=None, clip_norm=0.1, correlation=0.0, step_size=0.1).advance(6, second)
    np.testing.assert_array_equal(first[0].before, second[0].before)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.noise, b.noise)
        np.testing.assert_array_equal(a.batches, b.batches)


def test_members_are_the_runs_they_would_be_alone():
    changes = {"noise_multiplier": [1.5, 0.5], "correlation": [0.0, 0.9], "clip_norm": [0.1, 0.3]}
    changes["radius"] = [np.inf, 0.5]
    both = training(**changes).advance(10)
    for k in range(2):
        alone = training(**{name: values[k] for name, values in changes.items()}).advance(10)
        np.testing.assert_allclose(both.weights[:, k], alone.weights[:, 0], rtol=0, atol=1e-13)


def test_coupled_runs_on_neighbouring_samples():
    rng = np.random.default_rng(5)
    new_x, new_y = rng.uniform(-1, 1, (3, D)), np.array([1.0, -1.0, 1.0])
    network, weights, x, y = problem()
    where = [-1, 3, 7]
    spy = Spy()
    run = training(replacements=(where, new_x, new_y)).advance(15, spy)
    for k, i in enumerate(where):
        x_k, y_k = x.copy(), y.copy()
        if i >= 0:
            x_k[i], y_k[i] = new_x[k], new_y[k]
        options = {"initial": weights, "step_size": 0.7, "sampling": "fixed", "batch_size": 4}
        options |= {"clip_norm": 0.2, "noise_multiplier": 1.5, "correlation": 0.6}
        alone = Training(network, x_k, y_k, rng=np.random.default_rng(1), **options).advance(15)
        np.testing.assert_allclose(run.weights[:, k], alone.weights[:, 0], rtol=0, atol=1e-13)
        np.testing.assert_allclose(run.losses()[:, k], alone.losses()[:, 0], rtol=0, atol=1e-13)
    met = np.cumsum([3 in step.batches[0] for step in spy])
    moved = [bool(np.any(step.after[0, 1] != step.after[0, 0])) for step in spy]
    assert moved == list(met > 0)  # the noise cancels until the record is met


def test_groups_are_independent_and_antithetic_members_mirror():
    run = training(groups=3, signs=[1, -1, 0], initial=None)
    spy = Spy()
    run.advance(1, spy)
    step = spy[0]
    assert not np.array_equal(step.before[0], step.before[1])
    mean = (step.after[:, 0] + step.after[:, 1]) / 2
    np.testing.assert_allclose(mean, step.after[:, 2], rtol=0, atol=1e-14)
    assert np.abs(np.corrcoef(step.noise[:, 0].reshape(3, -1))[0, 1]) < 0.5


def test_the_noise_has_the_covariance_of_the_bidiagonal_matrix():
    lam, steps, groups = 0.7, 6, 250
    spy = Spy()
    kappa_over_b = 0.2 * 1.5 / 4
    training(correlation=lam, groups=groups, clip_norm=[0.2], initial=0.0).advance(steps, spy)
    noise = np.array(
        [((s.before - s.after) / s.step_size - s.batch_gradient) / kappa_over_b for s in spy]
    ).reshape(steps, -1)
    matrix = np.eye(steps) - lam * np.eye(steps, k=-1)
    exact = matrix @ matrix.T
    spread = np.sqrt((np.outer(np.diag(exact), np.diag(exact)) + exact**2) / noise.shape[1])
    assert np.all(np.abs(noise @ noise.T / noise.shape[1] - exact) < 5 * spread)
    total = np.var(noise.sum(axis=0))
    law = (1 - lam) ** 2 * (steps - 1) + 1
    assert abs(total / law - 1) < 5 * np.sqrt(2 / noise.shape[1])
    plus = (1 + lam) ** 2 * (steps - 1) + 1
    assert abs(total / plus - 1) > 5 * np.sqrt(2 / noise.shape[1])


def test_batches_have_the_laws_of_their_names():
    spy = Spy()
    for sampling in ("fixed", "poisson"):
        spy.clear()
        training(sampling=sampling, groups=400, step_size=0.0).advance(5, spy)
        taken = np.zeros((2000, N))
        batches = [batch for step in spy for batch in step.batches]
        for row, batch in zip(taken, batches, strict=True):
            row[batch] = 1
        share = taken.mean(axis=0)
        assert np.all(np.abs(share - 1 / 3) < 5 * np.sqrt(2 / 9 / 2000))
        pairs = (taken[:, 0] * taken[:, 1]).mean()
        exact = {"fixed": 4 * 3 / (N * (N - 1)), "poisson": 1 / 9}[sampling]
        assert abs(pairs - exact) < 5 * np.sqrt(exact / 2000)
        sizes = taken.sum(axis=1)
        assert (sizes.std() == 0) == (sampling == "fixed")


def test_an_empty_poisson_batch_leaves_noise_alone():
    spy = Spy()
    training(sampling="poisson", batch_size=1).advance(12, spy)
    empty = [step for step in spy if len(step.batches[0]) == 0]
    assert empty
    assert not np.any(empty[0].batch_gradient)


def test_full_batches_have_no_deviation():
    spy = Spy()
    training(sampling="full", batch_size=None).advance(3, spy)
    assert not any(np.any(step.deviation) for step in spy)
    assert training(batch_size=N).sampling == "full"


def test_schedule_and_recorder():
    sizes = np.array([1.0, 0.5, 0.25, 0.125])
    recorder = Recorder("step_size", "loss", "loss_after", "distance", every=2)
    run = training(step_size=sizes)
    assert run.loss().shape == (1, 1)
    run.advance(4, recorder)
    assert recorder.index == [2, 4]
    np.testing.assert_array_equal(recorder["step_size"], [0.5, 0.125])
    np.testing.assert_array_equal(recorder["loss_after"][-1], run.loss())
    np.testing.assert_allclose(recorder["distance"][-1], np.linalg.norm(run.weights - run.start))
    with pytest.raises(ValueError, match="steps"):
        run.advance(1)


def test_projection_twice_is_projection_once():
    run = training(radius=0.3)
    once = run._project(run.start + np.random.default_rng(0).standard_normal(run.start.shape))
    np.testing.assert_allclose(run._project(once.copy()), once, rtol=0, atol=1e-15)
    inside = run.start + 1e-3
    np.testing.assert_array_equal(run._project(inside.copy()), inside)


def test_single_precision():
    network, weights, x, y = problem(dtype=np.float32)
    options = {"step_size": 0.7, "clip_norm": 0.2, "noise_multiplier": 0.0, "initial": weights}
    run = Training(network, x, y, rng=np.random.default_rng(1), **options).advance(10)
    assert run.weights.dtype == run.noise.dtype == np.float32
    network, _, _, _ = problem()
    double = Training(network, x, y, rng=np.random.default_rng(1), **options).advance(10)
    np.testing.assert_allclose(run.weights, double.weights, rtol=0, atol=1e-4)
    noisy = Training(
        *(problem(dtype=np.float32)[i] for i in (0, 2, 3)),
        rng=np.random.default_rng(1),
        **(options | {"noise_multiplier": 1.0}),
    ).advance(3)
    assert noisy.weights.dtype == np.float32


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"step_size": -1.0}, "step_size"),
        ({"step_size": np.ones((2, 2))}, "step_size"),
        ({"sampling": "shuffled"}, "sampling"),
        ({"batch_size": None}, "batch_size"),
        ({"batch_size": N + 1}, "batch_size"),
        ({"batch_size": 0}, "batch_size"),
        ({"sampling": "full"}, "batch_size"),
        ({"clip_norm": 0.0}, "clip_norm"),
        ({"clip_norm": np.inf}, "clip_norm"),
        ({"noise_multiplier": -1.0}, "noise_multiplier"),
        ({"correlation": 1.0}, "correlation"),
        ({"radius": 0.0}, "radius"),
        ({"groups": 0}, "groups"),
        ({"initial": np.zeros(3)}, "initial"),
        ({"replacements": ([N], np.zeros((1, D)), [1.0])}, "replacements"),
        ({"replacements": ([0], np.zeros((1, 3)), [1.0])}, "replacements"),
        ({"replacements": ([0], np.zeros((1, D)), [0.5])}, "replacements"),
        ({"replacements": ([0, 1], np.zeros((2, D)), [1.0, 1.0]), "signs": [1, 1, 1]}, "members"),
        ({"replacements": ([0], np.zeros((1, D)), [1.0]), "signs": [1, -1]}, "members"),
        ({"radius": [1.0, 2.0], "signs": [1, 1, 1]}, "members"),
        ({"radius": np.ones((2, 2))}, "members"),
    ],
)
def test_bad_arguments_are_named(changes, name):
    with pytest.raises(ValueError, match=name):
        training(**changes)


def test_bad_data_and_names():
    network, _, x, y = problem()
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="labels"):
        Training(network, x, 2 * y, rng=rng, step_size=1.0)
    with pytest.raises(ValueError, match="features"):
        Training(network, 3 * x, y, rng=rng, step_size=1.0)
    with pytest.raises(ValueError, match="features"):
        Training(network, x[0], y, rng=rng, step_size=1.0)
    with pytest.raises(ValueError, match="names"):
        Recorder("lost")
