"""The trainer against dense loops, exact laws of pure noise, and exact invariances."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, chisquare, ks_2samp, kstest

from dense_training import batches_of, dense_training, random_data
from dpdynamics.problems.text import movie_reviews
from dpdynamics.training import steps as module_of_steps
from dpdynamics.training.sparse_trainer import SparseTrainer, train_configurations

RATES, CLIPS = np.array([0.3, 0.05, 0.1]), np.array([0.2, 0.7, 50.0])
OPTIMIZERS, SAMPLINGS = ["sgd", "sign", "adam"], ["shuffle", "fixed", "poisson"]


def rng(seed=0):
    return np.random.default_rng(seed)


def trainer(data, optimizer="sgd", test=None, *, seed=0, rate=0.1, clip=0.5, sigma=1.0, **more):
    settings = {"learning_rate": rate, "clip_norm": clip, "noise_multiplier": sigma}
    return SparseTrainer(
        data, test, optimizer=optimizer, rng=rng(seed), **({"batch_size": 8} | settings | more)
    )


def advanced(steps, *arguments, **keywords):
    run = trainer(*arguments, **keywords)
    run.advance(steps)
    return run


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("noise", ["lazy", "dense"])
def test_without_noise_every_configuration_is_the_dense_loop(classes, optimizer, sampling, noise):
    data, steps, size = random_data(3, classes=classes), 25, 3
    batches = batches_of(7, data, steps, size, sampling)
    more = {"batch_size": size, "sampling": sampling, "noise": noise, "beta1": [0.9, 0.5, 0.0]}
    run = advanced(steps, data, optimizer, seed=7, rate=RATES, clip=CLIPS, sigma=0.0, **more)
    for found, rate, clip, beta1 in zip(run.weights, RATES, CLIPS, more["beta1"], strict=True):
        settings = {"optimizer": optimizer, "learning_rate": rate, "clip_norm": clip}
        expected = dense_training(data, batches, batch_size=size, beta1=beta1, **settings)
        np.testing.assert_allclose(found, expected, atol=1e-5)


class Ones:
    """Noise that is one at every step: its sums are known, so that nothing is left to chance."""

    def standard_normal(self, size, dtype):
        return np.ones(size, dtype=dtype)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("noise", ["lazy", "dense"])
def test_every_step_of_noise_is_received_once(monkeypatch, classes, optimizer, noise):
    """With a noise of one, lazy sums are counts, and the run is the dense loop to rounding."""

    def known(rng, counts, outputs):
        return np.repeat(counts[:, None], outputs, axis=1).astype(np.float32)

    monkeypatch.setattr(module_of_steps, "sum_of_normals", known)
    monkeypatch.setattr(module_of_steps, "sum_of_signs", known)
    data, steps, size = random_data(4, columns=30, density=0.1, classes=classes), 20, 2
    batches = batches_of(1, data, steps, size, "poisson")
    more = {"batch_size": size, "sampling": "poisson", "noise": noise}
    run = trainer(data, optimizer, seed=1, rate=RATES, clip=CLIPS, sigma=0.4, **more)
    run.steps.fresh = run.steps.idle.rng = Ones()
    run.advance(7)
    run.record()
    run.advance(steps - 7)
    for found, rate, clip in zip(run.weights, RATES, CLIPS, strict=True):
        expected = dense_training(
            data, batches, optimizer=optimizer, learning_rate=rate, clip_norm=clip,
            batch_size=size, noise_scale=clip * 0.4 / size, noise=np.ones(steps),
        )  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("optimizer", ["sgd", "sign"])
@pytest.mark.parametrize("noise", ["lazy", "dense"])
@pytest.mark.parametrize("seed", [0, 1])
def test_weights_without_data_have_the_exact_law(optimizer, noise, seed):
    """At a multiplier of 1e4 the gradient is noise: normal weights, and sums of fair signs."""
    data, _ = movie_reviews(rng(9), train_size=300, test_size=1, vocabulary=3000)
    steps, sigma = 12, 1e4
    run = advanced(steps, data, optimizer, seed=seed, sigma=sigma, noise=noise, rate=1.0)
    found = run.weights[0, 0].astype(float)
    if optimizer == "sgd":
        unit = 0.5 * sigma / 8 * np.sqrt(steps)
        assert kstest(found / unit, "norm").pvalue > 1e-3
        return
    heads = np.bincount(np.round((found + steps) / 2).astype(int), minlength=steps + 1)
    expected = len(found) * binom(steps, 0.5).pmf(np.arange(steps + 1))
    groups = [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8]
    counts = [np.bincount(groups, weights=w) for w in (heads, expected)]
    assert chisquare(*counts).pvalue > 1e-3


@pytest.mark.parametrize("optimizer", ["sgd", "sign"])
def test_lazy_noise_has_the_law_of_dense_noise(optimizer):
    """Words that occur now and then, signal and noise of one size: moments and losses compared."""
    data, steps, runs = random_data(5, size=12, columns=6, density=0.3), 8, 400
    finals = {}
    for noise in ("lazy", "dense"):
        first = 0 if noise == "lazy" else 10_000
        every = [
            advanced(
                steps, data, optimizer, seed=first + k, rate=0.2, clip=1.0, sigma=0.6,
                noise=noise, batch_size=2,
            )
            for k in range(runs)
        ]  # fmt: skip
        finals[noise] = np.array([run.weights[0, 0] for run in every], dtype=float)
    lazy, dense = finals["lazy"], finals["dense"]
    gap = lazy.mean(axis=0) - dense.mean(axis=0)
    error = np.sqrt((lazy.var(axis=0) + dense.var(axis=0)) / runs)
    assert np.all(np.abs(gap) < 4.5 * error)
    assert np.all(np.abs(np.log(lazy.var(axis=0) / dense.var(axis=0))) < 4.5 * np.sqrt(4 / runs))
    signs = 2 * data.labels - 1
    losses = [
        np.log1p(np.exp(-signs * (data.features @ w.T).T)).mean(axis=1) for w in (lazy, dense)
    ]
    assert ks_2samp(*losses).pvalue > 1e-4


def test_noise_of_adam_is_that_of_the_equations():
    """First step: the update is -eta g / (|g| + eps), with the sign of the private gradient."""
    data = random_data(0)
    run = advanced(1, data, "adam", rate=0.3, clip=1e-6, sigma=1e7, noise="dense")
    fresh, _ = rng(0).spawn(2)[1].spawn(2)
    z = fresh.standard_normal((data.dimension, 1), dtype=np.float32)[:, 0]
    np.testing.assert_allclose(run.weights[0, 0], -0.3 * np.sign(z), rtol=1e-5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_scale_of_the_noise(optimizer):
    """Equal C sigma / B is equal noise: sigma doubled where C is halved and nothing is clipped."""
    data = random_data(1)
    run = advanced(20, data, optimizer, clip=[100.0, 200.0], sigma=[0.02, 0.01], rate=0.1)
    np.testing.assert_allclose(run.weights[0], run.weights[1], atol=1e-5)


def test_when_all_is_clipped_dp_sgd_sees_the_product_of_rate_and_clip_norm():
    data = random_data(2)
    clips = np.array([1e-4, 2e-4, 4e-4])
    run = advanced(20, data, clip=clips, rate=0.01 / clips, sigma=0.5)
    assert run.record().clipped_share.min() == 1
    np.testing.assert_allclose(run.weights[1:], run.weights[[0, 0]], atol=1e-5)


@pytest.mark.parametrize("optimizer", ["sign", "adam"])
def test_when_all_is_clipped_the_adaptive_methods_ignore_the_clip_norm(optimizer):
    clips, sigma = np.array([1e-4, 2e-4, 4e-4]), 0.5
    run = advanced(20, random_data(2), optimizer, clip=clips, sigma=sigma, adam_epsilon=1e-12)
    assert run.record().clipped_share.min() == 1
    np.testing.assert_allclose(run.weights[1:], run.weights[[0, 0]], atol=2e-4)


@pytest.mark.parametrize(("optimizer", "power"), [("sgd", 2), ("sign", 1)])
def test_features_on_another_scale(optimizer, power):
    """x -> s x with C -> s C: the logits agree when the rate is divided by s^2, or by s."""
    one, other = random_data(6), random_data(6, scale=4.0)
    first = advanced(20, one, optimizer, rate=0.2, clip=0.5)
    second = advanced(20, other, optimizer, rate=0.2 / 4**power, clip=2.0)
    np.testing.assert_allclose(4 * second.weights, first.weights, atol=2e-5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_configuration_does_not_feel_the_others(optimizer, classes):
    data = random_data(0, classes=classes)
    together = advanced(20, data, optimizer, rate=RATES[:, None], clip=CLIPS, sigma=[1.0, 2.0, 0.5])
    alone = advanced(20, data, optimizer, rate=RATES[1], clip=CLIPS[2], sigma=0.5)
    np.testing.assert_allclose(together.weights[5], alone.weights[0], atol=1e-5)


def test_divergence_is_reported_and_stays_where_it_is():
    data = random_data(0)
    settings = {"sigma": 1e4, "test": data, "clip": 0.5}
    run = advanced(30, data, "sgd", rate=[1e38, 0.1], **settings)
    table = run.record()
    alone = advanced(30, data, "sgd", rate=0.1, **settings).record()
    assert table.diverged.tolist() == [True, False]
    worst = table.iloc[0]
    for column in ("train_loss", "test_loss", "weight_norm"):
        assert worst[column] == np.inf
    assert worst.train_accuracy == worst.test_accuracy == 0
    assert worst.clipped_share == 1
    assert not table.isna().any().any()
    for column in ("train_loss", "weight_norm", "clipped_share"):
        assert table[column][1] == pytest.approx(alone[column][0], rel=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_recorded_values_are_those_of_the_weights(classes):
    train, test = random_data(0, classes=classes), random_data(1, size=25, classes=classes)
    run = advanced(15, train, test=test, rate=RATES, clip=CLIPS, evaluation_rows=20, seed=3)
    table = run.record()
    for k, w in enumerate(run.weights.astype(float)):
        for name, data in (("train", train.subset(slice(20))), ("test", test.subset(slice(20)))):
            x, labels = data.features.toarray().astype(float), data.labels
            logits = x @ w.T
            if classes == 2:
                logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
            p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            losses = -np.log(p[np.arange(20), labels])
            assert table[f"{name}_loss"][k] == pytest.approx(losses.mean(), rel=1e-5)
            assert table[f"{name}_accuracy"][k] == np.mean(p.argmax(axis=1) == labels)
            if name == "train":
                slope = (p - np.eye(classes)[labels])[:, int(classes == 2) :]
                lengths = np.linalg.norm(slope[:, :, None] * x[:, None], axis=(1, 2))
                assert table.clipped_share[k] == np.mean(lengths > CLIPS[k])
        assert table.weight_norm[k] == pytest.approx(np.linalg.norm(w), rel=1e-5)


def test_the_table():
    data = random_data(0)
    table = train_configurations(
        data, data, optimizer="adam", learning_rate=[[0.1], [0.2]], clip_norm=[0.5, 1.0, 2.0],
        noise_multiplier=1.0, rng=rng(), batch_size=7, record=[0, 3, 10], steps=10,
    )  # fmt: skip
    assert len(table) == 18
    assert table.columns.tolist() == [
        "optimizer", "learning_rate", "clip_norm", "noise_multiplier", "beta1", "beta2",
        "adam_epsilon", "batch_size", "sampling", "configuration", "step", "train_loss",
        "train_accuracy", "clipped_share", "test_loss", "test_accuracy", "weight_norm", "diverged",
    ]  # fmt: skip
    start, last = table[:6], table[12:]
    np.testing.assert_allclose(start.train_loss, np.log(2))
    assert start.weight_norm.tolist() == [0] * 6
    assert last.learning_rate.tolist() == [0.1] * 3 + [0.2] * 3
    assert last.clip_norm.tolist() == [0.5, 1.0, 2.0] * 2
    assert last.configuration.tolist() == [0, 1, 2, 3, 4, 5]
    assert last.step.tolist() == [10] * 6
    without = train_configurations(
        data, optimizer="sgd", learning_rate=0.1, clip_norm=1.0, noise_multiplier=0.0, rng=rng(),
        steps=0, batch_size=7,
    )  # fmt: skip
    assert not {"test_loss", "beta1"} & set(without.columns)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_one_generator_state_gives_one_run_and_a_pickled_copy_goes_on_alike(optimizer):
    one, two = (trainer(random_data(0), optimizer, seed=5, rate=RATES) for _ in range(2))
    other = trainer(random_data(0), optimizer, seed=6, rate=RATES)
    for run in (one, two, other):
        run.advance(9)
    np.testing.assert_array_equal(one.weights, two.weights)
    assert not np.array_equal(one.weights, other.weights)
    copy = pickle.loads(pickle.dumps(one))
    one.advance(9)
    copy.advance(9)
    np.testing.assert_array_equal(one.weights, copy.weights)
    assert copy.taken == 18


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_dense_noise_does_not_depend_on_what_is_recorded(optimizer):
    often, once = (trainer(random_data(0), optimizer, noise="dense") for _ in range(2))
    for _ in range(5):
        often.advance(2)
        often.record()
    once.advance(10)
    np.testing.assert_allclose(often.weights, once.weights, atol=1e-6)


@pytest.mark.parametrize("engine", ["lazy", "dense"])
def test_optimizers_see_the_same_batches_and_the_same_noise(engine):
    """One step of pure noise: DP-SignSGD and DP-Adam move as the signs of the move of DP-SGD."""
    data = random_data(0, columns=60, density=0.2)
    settings = {"seed": 2, "sigma": 1e6, "rate": 1.0, "noise": engine}
    sgd, sign, adam = (advanced(1, data, optimizer, **settings) for optimizer in OPTIMIZERS)
    batches = [run.batches.draw() for run in (sgd, sign, adam)]
    np.testing.assert_array_equal(batches[0], batches[1])
    np.testing.assert_array_equal(batches[0], batches[2])
    occurs = np.zeros(data.dimension, dtype=bool)
    occurs[data.features[batches_of(2, data, 1, 8)[0]].indices] = True
    moved = [run.steps.host_weights()[:, 0, 0] for run in (sgd, sign, adam)]
    np.testing.assert_array_equal(np.sign(moved[0])[occurs], moved[1][occurs])
    np.testing.assert_allclose(moved[2][occurs], moved[1][occurs], rtol=1e-5)
    if engine == "lazy":
        assert np.all(moved[0][~occurs] == 0)
        assert occurs.sum() < data.dimension


def test_signal_is_learned_and_permuted_labels_teach_nothing():
    train, test = movie_reviews(rng(1), train_size=3000, test_size=2000, rows="unit")
    settings = {"optimizer": "sgd", "learning_rate": 4.0, "clip_norm": 0.5, "steps": 368}
    settings |= {"noise_multiplier": [0.0, 1.0]}
    real = train_configurations(train, test, rng=rng(2), **settings)
    null = train_configurations(train.with_permuted_labels(rng(3)), test, rng=rng(2), **settings)
    assert real.test_accuracy.min() > 0.5 + 10 * 0.5 / np.sqrt(test.size)
    assert real.test_loss.max() < np.log(2) - 0.1
    assert null.test_loss.min() > np.log(2)
    assert np.all(np.abs(null.test_accuracy - 0.5) < 0.1)


def test_the_noise_of_a_record_is_over_the_expected_batch_size():
    """Poisson batches of one record on average, all alike: the mean step is that of the mean."""
    data = random_data(0, size=1).subset(np.zeros(10, dtype=int))
    run = trainer(data, sampling="poisson", batch_size=1, sigma=0.0, rate=1.0, clip=1e-3)
    steps = 4000
    run.advance(steps)
    slope = expit(0.0) - data.labels[0]
    x = data.features[[0]].toarray()[0]
    expected = -np.sign(slope) * 1e-3 * x / np.linalg.norm(x)
    assert np.linalg.norm(run.weights[0, 0]) / steps == pytest.approx(
        np.linalg.norm(expected), rel=5 * 0.95 / np.sqrt(steps)
    )


GOOD = {"optimizer": "sgd", "learning_rate": 0.1, "clip_norm": 1.0, "noise_multiplier": 1.0}


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("optimizer", {"optimizer": "adamw"}),
        ("learning_rate", {"learning_rate": 0.0}),
        ("clip_norm", {"clip_norm": 0.0}),
        ("clip_norm", {"clip_norm": np.inf}),
        ("clip_norm", {"clip_norm": np.nan}),
        ("noise_multiplier", {"noise_multiplier": -1.0}),
        ("broadcast", {"learning_rate": [1.0, 2.0], "clip_norm": [1.0, 2.0, 3.0]}),
        ("batch_size", {"batch_size": 41}),
        ("sampling", {"sampling": "cyclic"}),
        ("beta1", {"beta1": 1.0}),
        ("beta2", {"beta2": -0.1}),
        ("adam_epsilon", {"adam_epsilon": 0.0}),
        ("engine", {"engine": "jax"}),
        ("noise", {"noise": "none"}),
        ("evaluation_rows", {"evaluation_rows": 0}),
        ("test", {"test": random_data(0, columns=5)}),
        ("test", {"test": random_data(0, classes=3)}),
        ("steps", {"steps": None}),
        ("steps", {"steps": 2.5}),
        ("record", {"record": []}),
        ("record", {"record": [3, 2]}),
        ("record", {"record": [0.5]}),
        ("record", {"record": [5]}),
        ("record", {"record": [-1, 2]}),
    ],
)
def test_bad_input(message, changes):
    arguments = GOOD | {"test": None, "rng": rng(), "steps": 4, "batch_size": 8} | changes
    with pytest.raises(ValueError, match=message):
        train_configurations(random_data(0), **arguments)


def test_no_clipping_without_noise():
    run = advanced(5, random_data(0), clip=np.inf, sigma=0.0)
    assert run.record().clipped_share[0] == 0
    assert np.isfinite(run.weights).all()
