"""The private classifier: its guarantee against the accountants, its protocol, its refusals."""

import pickle

import numpy as np
import pytest

from accounting.asking import ask
from dpdynamics.accounting import CorrelatedPoisson, FixedSize, Poisson, strategy_matrix
from dpdynamics.divergence import gaussian_delta, gaussian_noise_multiplier, rdp_to_epsilon
from dpdynamics.extras import PrivateKANClassifier
from dpdynamics.extras.estimator import certified_noise
from dpdynamics.kan import Training


def data(n=200, d=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, (n, d))
    return x, np.where(x[:, 0] > 5, "large", "small")


def classifier(**changes):
    settings = {"epsilon": 8.0, "bounds": (0, 10), "width": 24, "steps": 15, "random_state": 3}
    return PrivateKANClassifier(**(settings | changes))


@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_poisson_noise_spends_the_budget_and_no_more(epsilon):
    guarantee = certified_noise(
        epsilon=epsilon, delta=1e-5, sampling="poisson", batch_size=20, samples=200, steps=30
    )
    run = {"sampling_probability": 0.1, "steps": 30, "delta": 1e-5}
    noise = guarantee.noise_multiplier
    assert ask(Poisson, "epsilon", noise_multiplier=noise, **run) <= epsilon
    assert ask(Poisson, "epsilon", noise_multiplier=noise * 0.999, **run) > epsilon
    assert guarantee.relation.startswith("zero-out")


def test_correlated_poisson_noise_is_certified():
    guarantee = certified_noise(
        epsilon=2.0,
        delta=1e-5,
        sampling="poisson",
        batch_size=20,
        samples=200,
        steps=12,
        correlation=0.5,
    )
    spent = CorrelatedPoisson(correlation=0.5, sampling_probability=0.1, steps=12).epsilon(
        noise_multiplier=guarantee.noise_multiplier, delta=1e-5
    )
    assert spent.upper <= 2.0 * (1 + 1e-6)
    assert spent.upper > 1.9


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_full_batches_are_the_gaussian_mechanism_at_the_largest_sensitivity(correlation):
    guarantee = certified_noise(
        epsilon=1.0,
        delta=1e-6,
        sampling="full",
        batch_size=50,
        samples=50,
        steps=9,
        correlation=correlation,
    )
    rows = strategy_matrix(correlation=correlation, steps=9).sum(axis=1)
    mu = np.linalg.norm(rows) / guarantee.noise_multiplier
    assert gaussian_delta(mu=mu, epsilon=1.0) == pytest.approx(1e-6, rel=1e-6)


def test_fixed_size_batches_are_certified_for_replacement():
    settings = {"delta": 1e-5, "sampling": "fixed", "batch_size": 20, "samples": 200, "steps": 10}
    guarantee = certified_noise(epsilon=4.0, **settings)
    noise, orders = guarantee.noise_multiplier, np.arange(2.0, 16, 2)
    run = FixedSize(batch_size=20, samples=200, steps=10)
    assert run.epsilon(noise_multiplier=noise, delta=1e-5).upper == pytest.approx(4.0, rel=1e-5)
    rdp = run.rdp(noise_multiplier=noise, orders=orders).upper
    assert 4.0 < rdp_to_epsilon(orders=orders, rdp=rdp, delta=1e-5) < 5.0  # valid and looser
    assert guarantee.relation.startswith("replace")
    correlated = certified_noise(epsilon=4.0, correlation=0.75, **settings)
    assert correlated.noise_multiplier == pytest.approx(4 * guarantee.noise_multiplier)


@pytest.mark.parametrize(("epsilon", "share"), [(1e-3, 1 / 6), (1e5, 1.0)])
def test_fixed_size_batches_at_the_ends_are_plain_releases(epsilon, share):
    """Of a share of the record at much noise, of all of it at next to none."""
    settings = {"epsilon": epsilon, "delta": 1e-5}
    noise = certified_noise(**settings, sampling="fixed", batch_size=5, samples=30, steps=4)
    plain = share * 2 * np.sqrt(4) * gaussian_noise_multiplier(**settings)
    assert noise.noise_multiplier == pytest.approx(plain, rel=2e-3)


def test_batches_of_all_records_are_full_batches():
    settings = {"epsilon": 1.0, "delta": 1e-5, "batch_size": 30, "samples": 30, "steps": 4}
    full = certified_noise(sampling="full", **settings)
    assert certified_noise(sampling="fixed", **settings) == full
    assert certified_noise(sampling="poisson", **settings) == full


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"sampling": "shuffled"}, "sampling"),
        ({"sampling": "xyz", "batch_size": 30}, "sampling"),
        ({"batch_size": 31}, "batch_size"),
        ({"sampling": "full"}, "batch_size"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"steps": 0}, "steps"),
        ({"correlation": 1.0}, "correlation"),
        ({"delta": 0.9, "batch_size": 1, "steps": 1}, "delta"),
        ({"sampling": "fixed", "epsilon": np.nan}, "epsilon"),
    ],
)
def test_no_guarantee_for_bad_arguments(changes, name):
    settings = {"epsilon": 1.0, "delta": 1e-5, "sampling": "poisson", "batch_size": 5}
    settings |= {"samples": 30, "steps": 4}
    with pytest.raises(ValueError, match=name):
        certified_noise(**(settings | changes))


@pytest.mark.parametrize("sampling", ["poisson", "full", "fixed"])
def test_it_learns_and_states_its_guarantee(sampling):
    x, y = data(400)
    model = classifier(sampling=sampling, width=64, steps=20).fit(x, y)
    assert model.score(x, y) > 0.85
    assert (model.epsilon_, model.delta_) == (8.0, 1e-5)
    size = 400 if sampling == "full" else 80
    assert model.sampling_probability_ == size / 400
    guarantee = certified_noise(
        epsilon=8.0, delta=1e-5, sampling=sampling, batch_size=size, samples=400, steps=20
    )
    assert (model.noise_multiplier_, model.accountant_, model.relation_) == guarantee


def test_predictions_agree_with_one_another():
    x, y = data()
    model = classifier().fit(x, y)
    values = model.decision_function(x)
    probabilities = model.predict_proba(x)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(probabilities[:, 1] / probabilities[:, 0]), values)
    np.testing.assert_array_equal(model.predict(x), model.classes_[(values > 0).astype(int)])
    weights = np.arange(len(y))
    right = model.predict(x) == y
    assert model.score(x, y, weights) == pytest.approx((right * weights).sum() / weights.sum())


def test_the_average_is_that_of_the_last_iterates():
    x, y = data()
    models = {a: classifier(average=a, epsilon=np.inf).fit(x, y) for a in (0.0, 0.2)}
    rng = np.random.default_rng(3)
    network, weights = models[0.0].network_, None
    weights = rng.standard_normal(network.shape)
    rng.standard_normal(network.coefficients.shape)
    run = Training(
        network,
        np.clip(x / 5 - 1, -1, 1),
        np.where(y == "small", 1, -1),
        rng=rng,
        step_size=10.0,
        sampling="poisson",
        batch_size=40,
        clip_norm=0.3,
        initial=weights,
    )
    last = [run.advance(1).weights[0, 0] for _ in range(15)][-3:]
    np.testing.assert_allclose(models[0.0].weights_, last[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(models[0.2].weights_, np.mean(last, axis=0), rtol=0, atol=1e-12)


def test_infinite_epsilon_means_no_noise_and_no_guarantee():
    x, y = data()
    model = classifier(epsilon=np.inf).fit(x, y)
    assert model.noise_multiplier_ == 0
    assert model.epsilon_ == np.inf
    assert model.accountant_ == model.relation_ == "none"


def test_inputs_are_cut_off_at_the_bounds_and_not_fitted_to_the_data():
    x, y = data()
    model = classifier().fit(x, y)
    far = x.copy()
    far[:, 1] = 1e6
    edge = x.copy()
    edge[:, 1] = 10
    np.testing.assert_array_equal(model.decision_function(far), model.decision_function(edge))
    moved = classifier(bounds=(np.array([-100.0, 3]), np.array([-90.0, 4]))).fit(
        x - np.array([100, 0]), y
    )
    scaled = classifier(bounds=(np.array([0.0, 3]), np.array([10.0, 4]))).fit(x, y)
    np.testing.assert_allclose(moved.weights_, scaled.weights_, rtol=0, atol=1e-9)
    ball = classifier(domain="ball")._scaled(np.full((1, 9), 50.0))
    assert np.linalg.norm(ball) == pytest.approx(1)


def test_a_seed_repeats_a_fit_and_a_pickle_keeps_it():
    x, y = data()
    model = classifier(correlation=0.3, steps=6).fit(x, y)
    again = classifier(correlation=0.3, steps=6).fit(x, y)
    np.testing.assert_array_equal(model.weights_, again.weights_)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))


def test_parameters_can_be_read_and_set():
    model = classifier()
    copy = PrivateKANClassifier(**model.get_params())
    assert copy.get_params() == model.get_params()
    assert copy.set_params(width=7, epsilon=2.0) is copy
    assert (copy.width, copy.epsilon) == (7, 2.0)
    assert "width=7" in repr(copy)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        copy.set_params(depth=3)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": np.nan}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"bounds": (1.0, 0.0)}, "bounds"),
        ({"bounds": (0.0, np.ones(3))}, "bounds"),
        ({"bounds": 3}, "bounds"),
        ({"bounds": (0.0, 1.0, 2.0)}, "bounds"),
        ({"random_state": "x"}, "random_state"),
        ({"domain": "sphere"}, "domain"),
        ({"width": 0}, "width"),
        ({"splines": 3}, "splines"),
        ({"clip_norm": -1.0}, "clip_norm"),
        ({"clip_norm": [1, 2]}, "clip_norm"),
        ({"step_size": 0}, "step_size"),
        ({"steps": 0}, "steps"),
        ({"sampling": "shuffled"}, "sampling"),
        ({"sampling_probability": 0.0}, "sampling_probability"),
        ({"average": 1.0}, "average"),
        ({"radius": 0.0}, "radius"),
        ({"radius": [1.0, 2.0]}, "radius"),
    ],
)
def test_bad_parameters_are_named_at_fit(changes, name):
    x, y = data(40)
    with pytest.raises(ValueError, match=name):
        classifier(**changes).fit(x, y)


def test_bad_data_are_refused():
    x, y = data(40)
    for bad_x, bad_y in (
        (np.where(x > 9, np.nan, x), y),
        (x[:, 0], y),
        (x[:0], y[:0]),
        (x[:, :0], y),
        (x + 1j, y),
        (x, y[:-1]),
        (x, np.array(["one"] * 40)),
        (x, np.arange(40) % 3),
        (x, np.where(y == "large", np.nan, 1.0)),
    ):
        with pytest.raises(ValueError):
            classifier().fit(bad_x, bad_y)
    with pytest.raises(ValueError, match="not fitted"):
        classifier().predict(x)
    with pytest.raises(ValueError, match="is expecting 2 features"):
        classifier().fit(x, y).predict(x[:, :1])
    fitted = classifier().fit(x, y)
    assert fitted.score(x, y[:, None]) == fitted.score(x, y)  # a column is not broadcast
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted.score(x, y[:1])
