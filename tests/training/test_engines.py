"""The engines of the trainer against each other and a dense loop; needs numba and torch."""

import numpy as np
import pytest
from scipy.stats import kstest

from dense_training import batches_of, dense_training, random_data
from dpdynamics.problems.text import movie_reviews
from dpdynamics.training.sparse_trainer import SparseTrainer

pytest.importorskip("numba")
pytest.importorskip("torch")

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
