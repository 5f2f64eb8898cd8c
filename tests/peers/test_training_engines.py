"""The engines of the trainer against each other, and against Opacus; needs numba, torch, opacus."""

import numpy as np
import pytest
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from scipy.stats import kstest

from dense_training import batches_of, dense_training, random_data
from dpdynamics.problems.text import movie_reviews
from dpdynamics.training.sparse_trainer import SparseTrainer

RATES, CLIPS, SIGMAS = np.array([0.3, 0.05, 0.1]), np.array([0.2, 0.7, 5.0]), [1.0, 0.2, 0.5]
OPTIMIZERS = ["sgd", "sign", "adam"]


def advanced(steps, data, optimizer, engine, *, sigma=0.0, seed=0, **more):
    settings = {"learning_rate": RATES, "clip_norm": CLIPS, "batch_size": 4} | more
    run = SparseTrainer(
        data, optimizer=optimizer, noise_multiplier=sigma, engine=engine,
        rng=np.random.default_rng(seed), **settings,
    )  # fmt: skip
    run.advance(steps)
    return run


@pytest.mark.parametrize("noise", ["lazy", "dense"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("sampling", ["shuffle", "poisson"])
def test_compiled_steps_are_the_numpy_steps(optimizer, classes, noise, sampling):
    data = random_data(0, columns=25, density=0.2, classes=classes)
    more = {"sigma": SIGMAS, "noise": noise, "sampling": sampling, "batch_size": 2}
    ours, plain = (advanced(30, data, optimizer, e, **more) for e in ("numba", "numpy"))
    np.testing.assert_allclose(ours.weights, plain.weights, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(ours.record().train_loss, plain.record().train_loss, rtol=1e-4)


@pytest.mark.parametrize("engine", ["numba", "torch"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_without_noise_every_engine_is_the_dense_loop(optimizer, classes, engine):
    data = random_data(2, classes=classes)
    run = advanced(20, data, optimizer, engine, seed=3)
    batches = batches_of(3, data, 20, 4)
    for found, rate, clip in zip(run.weights, RATES, CLIPS, strict=True):
        settings = {"optimizer": optimizer, "learning_rate": rate, "clip_norm": clip}
        expected = dense_training(data, batches, batch_size=4, **settings)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_noise_of_the_torch_engine_has_the_exact_law():
    data, _ = movie_reviews(np.random.default_rng(0), train_size=50, test_size=1, vocabulary=3000)
    run = advanced(9, data, "sgd", "torch", sigma=1e4)
    for found, rate, clip in zip(run.weights[:, 0].astype(float), RATES, CLIPS, strict=True):
        assert kstest(found / (rate * clip * 1e4 / 4 * 3), "norm").pvalue > 1e-3
    same = advanced(9, data, "sgd", "torch", sigma=1e4)
    np.testing.assert_array_equal(run.weights, same.weights)


@pytest.mark.parametrize("engine", ["numba", "torch"])
def test_the_losses_of_the_engines_have_one_law(engine):
    """Means over seeds of a run that learns."""
    data, _ = movie_reviews(np.random.default_rng(0), train_size=60, test_size=1, vocabulary=40)
    settings = {"sigma": SIGMAS, "noise": "dense" if engine == "torch" else "lazy"}
    losses = [
        [
            advanced(12, data, "adam", e, seed=100 * (e == engine) + k, **settings)
            .record()
            .train_loss
            for k in range(60)
        ]
        for e in (engine, "numpy")
    ]
    first, second = (np.array(sample) for sample in losses)
    error = np.sqrt((first.var(axis=0, ddof=1) + second.var(axis=0, ddof=1)) / 60)
    assert np.all(np.abs(first.mean(axis=0) - second.mean(axis=0)) < 4.5 * error)


@pytest.mark.filterwarnings("ignore:Full backward hook")
@pytest.mark.parametrize("classes", [2, 3])
def test_opacus_takes_the_same_steps(classes):
    """DPOptimizer without noise, on the same batches; its noise is checked by its scale alone."""
    data, steps, size = random_data(5, classes=classes), 15, 4
    run = advanced(steps, data, "sgd", "numpy", seed=1)
    x = torch.from_numpy(data.features.toarray())
    y = torch.from_numpy(data.labels)
    for found, rate, clip in zip(run.weights, RATES, CLIPS, strict=True):
        module = torch.nn.Linear(data.dimension, 1 if classes == 2 else classes, bias=False)
        torch.nn.init.zeros_(module.weight)
        model = GradSampleModule(module)
        optimizer = DPOptimizer(
            torch.optim.SGD(model.parameters(), lr=rate),
            noise_multiplier=0.0, max_grad_norm=clip, expected_batch_size=size,
        )  # fmt: skip
        for batch in batches_of(1, data, steps, size):
            optimizer.zero_grad()
            logits = model(x[batch])
            if classes == 2:
                loss = torch.nn.functional.binary_cross_entropy_with_logits(
                    logits[:, 0], y[batch].float()
                )
            else:
                loss = torch.nn.functional.cross_entropy(logits, y[batch])
            loss.backward()
            optimizer.step()
        np.testing.assert_allclose(found, module.weight.detach().numpy(), atol=2e-5)
