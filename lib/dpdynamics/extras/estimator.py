"""A private classifier for users outside the book: an estimator of scikit-learn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from ..accounting import CorrelatedPoisson, FixedSize, Poisson, worst_sensitivity
from ..arguments import Array, finite_array, fraction, number, one_of, positive, whole
from ..divergence import gaussian_noise_multiplier
from ..kan import Training, TwoLayerKAN
from ..kan.training import SAMPLINGS


class Guarantee(NamedTuple):
    """Noise over clip norm, who vouches for it, and under which neighbours."""

    noise_multiplier: float
    accountant: str
    relation: str


def certified_noise(
    *,
    epsilon: float,
    delta: float,
    sampling: str,
    batch_size: int,
    samples: int,
    steps: int,
    correlation: float = 0.0,
) -> Guarantee:
    r"""Calibrate the noise of `Training` to a budget, under the sampling that it uses.

    ========== ======================= ==========================================================
    sampling   neighbours              accountant
    ========== ======================= ==========================================================
    full       contribution zeroed out Gaussian mechanism at the worst sensitivity, exact
    poisson    contribution zeroed out exact profile; with correlation, its certified upper bound
    fixed      record replaced         dominating pair of one step, composed; correlation
                                       :math:`\lambda` at the multiplier :math:`\kappa(1-\lambda)`
    ========== ======================= ==========================================================

    All iterates are released. The number n of records, and so B, is public.

    `samples` is n, `steps` the number of updates; `sampling`, `batch_size` and `correlation` are
    those of `Training`.

    Raises
    ------
    ValueError
        If an argument is out of range, or the budget is met without noise.
    ArithmeticError
        If the accuracy is not reached.

    References
    ----------
    Claims wang2026.alg1, wang2026.thm5.1, wang2026.lemF.7.

    Examples
    --------
    >>> settings = {"epsilon": 1.0, "delta": 1e-5, "samples": 250, "steps": 40}
    >>> round(certified_noise(sampling="full", batch_size=250, **settings).noise_multiplier, 2)
    23.59
    """
    epsilon, delta = positive("epsilon", epsilon), fraction("delta", delta)
    samples, steps = whole("samples", samples, 1), whole("steps", steps, 1)
    size = whole("batch_size", batch_size, 1)
    if size > samples:
        raise ValueError(f"batch_size must be at most samples = {samples}, got {batch_size}")
    if one_of("sampling", sampling, SAMPLINGS) == "full" and size < samples:
        raise ValueError(f"batch_size must be {samples} for full batches, got {batch_size}")
    budget, q = {"epsilon": epsilon, "delta": delta}, size / samples
    relation = "zero-out: one record's contributions removed or added, the number of records public"
    if size == samples:
        accountant = "Gaussian mechanism, exact"
        sensitivity = worst_sensitivity(correlation=correlation, steps=steps)
        noise = sensitivity * float(gaussian_noise_multiplier(**budget))
    elif sampling == "fixed":
        accountant = "dominating pair of one step, composed"
        relation = "replace: one record exchanged for another"
        run = FixedSize(batch_size=size, samples=samples, steps=steps)
        kept = 1 - correlation  # independent noise of this multiplier is no more private
        noise = float(run.noise_for(**budget).upper) / kept
    elif correlation == 0:
        accountant = "Poisson subsampled Gaussian, exact profile"
        noise = Poisson(sampling_probability=q, steps=steps).noise_for(**budget)
    else:
        accountant = "Poisson subsampled correlated Gaussian, certified blocks"
        blocks = CorrelatedPoisson(correlation=correlation, sampling_probability=q, steps=steps)
        noise = float(blocks.noise_for(**budget).upper)
    return Guarantee(noise, accountant, relation)


class PrivateKANClassifier(ClassifierMixin, BaseEstimator):
    r"""A two-layer KAN for two classes, trained with differential privacy by `Training`.

    Inputs are scaled from the given `bounds` to [-1, 1], and cut off there: nothing about the data
    is used unprotected but the number of records, the number of features and the two classes. So
    `bounds` must not be taken from the data, and a seed must stay secret: it gives the noise away.
    The choice of parameters on the same data is not accounted for.

    Parameters
    ----------
    epsilon : float
        In (0, inf]; inf trains without noise and without a guarantee.
    delta : float
        In (0, 1), below 1 / n to mean anything.
    bounds : (low, high), numbers or (d,) arrays
        Range of each feature.
    domain : {"cube", "ball"}
        "ball" divides by sqrt(d) once more, so that :math:`\|x\|_2\le1` as the theorems of the
        paper assume; the margin falls with it. Splines need no more than the cube.
    width, splines : int
        m and p.
    correlation : float
        :math:`\lambda` in [0, 1).
    clip_norm : float
        C, positive.
    step_size : float
        :math:`\eta`, positive.
    steps : int
        Number of updates.
    sampling : {"poisson", "fixed", "full"}
    sampling_probability : float
        q in (0, 1], rounded so that B = q n is a whole number; "full" ignores it.
    radius : float
        R in (0, inf]; inf for no projection.
    average : float
        In [0, 1): `weights_` averages the iterates of this last share of the updates; 0 takes the
        last iterate, with all of its noise.
    random_state : None, int or numpy.random.Generator
        None draws fresh entropy.

    Attributes
    ----------
    classes_ : (2,) array
        The second is positive.
    n_features_in_ : int
    epsilon_, delta_ : float
        The guarantee for all iterates together, so for `weights_`.
    accountant_, relation_ : str
        Where it comes from, and for which neighbours.
    noise_multiplier_ : float
        :math:`\kappa`.
    sampling_probability_ : float
        B / n, which was accounted for.
    network_ : TwoLayerKAN
    weights_ : (m, d, p) array
        The released weights.

    References
    ----------
    Claim wang2026.alg1; `certified_noise`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, (400, 2))
    >>> y = np.where(x[:, 0] > 5, "large", "small")
    >>> model = PrivateKANClassifier(epsilon=4.0, bounds=(0, 10), random_state=1).fit(x, y)
    >>> model.score(x, y) > 0.85, model.classes_.tolist()
    (True, ['large', 'small'])
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        bounds: tuple[ArrayLike, ArrayLike] = (-1.0, 1.0),
        domain: str = "cube",
        width: int = 64,
        splines: int = 6,
        correlation: float = 0.0,
        clip_norm: float = 0.3,
        step_size: float = 10.0,
        steps: int = 40,
        sampling: str = "poisson",
        sampling_probability: float = 0.2,
        radius: float = np.inf,
        average: float = 0.5,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.bounds, self.domain = bounds, domain
        self.width, self.splines = width, splines
        self.correlation, self.clip_norm, self.step_size = correlation, clip_norm, step_size
        self.steps, self.sampling = steps, sampling
        self.sampling_probability, self.radius = sampling_probability, radius
        self.average, self.random_state = average, random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> "PrivateKANClassifier":
        """Train on features (n, d) and labels (n,) of two kinds.

        ValueError if a parameter or the data are out of range, or no noise is certified;
        ArithmeticError if the accountant does not reach its accuracy.
        """
        one_of("sampling", self.sampling, SAMPLINGS)
        for name in ("clip_norm", "step_size"):
            positive(name, getattr(self, name))
        if number("radius", self.radius) <= 0:
            raise ValueError(f"radius must be positive, got {self.radius}")
        features, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        classes = unique_labels(labels)
        if len(classes) != 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y must hold 2 classes, got {len(classes)} class{'es' * (len(classes) > 1)}"
            )
        n, size = features.shape[0], features.shape[0]
        if self.sampling != "full":
            if not 0 < number("sampling_probability", self.sampling_probability) <= 1:
                raise ValueError("sampling_probability must lie in (0, 1]")
            size = max(1, round(self.sampling_probability * n))
        inputs = self._scaled(features)

        epsilon = number("epsilon", self.epsilon)
        if not epsilon > 0:
            raise ValueError(f"epsilon must be positive, got {self.epsilon}")
        guarantee = Guarantee(0.0, "none", "none")
        if np.isfinite(epsilon):
            guarantee = certified_noise(
                epsilon=epsilon,
                delta=fraction("delta", self.delta),
                sampling=self.sampling,
                batch_size=size,
                samples=n,
                steps=self.steps,
                correlation=self.correlation,
            )
        try:
            rng = np.random.default_rng(self.random_state)
        except (TypeError, ValueError):
            raise ValueError(
                f"random_state must be None, a nonnegative integer or a generator, "
                f"got {self.random_state!r}"
            ) from None
        network, weights = TwoLayerKAN.initial(
            self.width, self.n_features_in_, self.splines, rng=rng
        )
        run = Training(
            network,
            inputs,
            np.where(labels == classes[1], 1.0, -1.0),
            rng=rng,
            step_size=self.step_size,
            sampling=self.sampling,
            batch_size=size,
            clip_norm=self.clip_norm,
            noise_multiplier=guarantee.noise_multiplier,
            correlation=self.correlation,
            radius=self.radius,
            initial=weights,
        )
        steps = whole("steps", self.steps, 1)
        if not 0 <= number("average", self.average) < 1:
            raise ValueError(f"average must lie in [0, 1), got {self.average}")
        mean = np.zeros(network.shape)
        count = max(1, round(self.average * steps))
        run.advance(steps - count)
        for _ in range(count):
            mean += run.advance(1).weights[0, 0] / count
        self.classes_, self.network_, self.weights_ = classes, network, mean
        self.epsilon_, self.delta_ = epsilon, float(self.delta)
        self.noise_multiplier_, self.accountant_, self.relation_ = guarantee
        self.sampling_probability_ = size / n
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return f (n,): positive for the second class."""
        check_is_fitted(self)
        features = validate_data(self, X, dtype=np.float64, reset=False)
        return self.network_.values(self.weights_, self.network_.features(self._scaled(features)))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probabilities (n, 2) of the classes under the logistic model."""
        values = self.decision_function(X)
        return np.stack([expit(-values), expit(values)], axis=1)

    def predict(self, X: ArrayLike) -> Any:
        """Return the likelier class (n,)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self) -> Any:
        """Two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    def _scaled(self, features: Array) -> Array:
        one_of("domain", self.domain, ("cube", "ball"))
        if not isinstance(self.bounds, Sequence | np.ndarray) or len(self.bounds) != 2:
            raise ValueError(f"bounds must be a pair, got {self.bounds!r}")
        low, high = (finite_array("bounds", bound) for bound in self.bounds)
        if any(bound.shape not in ((), features.shape[1:]) for bound in (low, high)):
            raise ValueError(f"bounds must be numbers or have shape {features.shape[1:]}")
        if np.any(low >= high):
            raise ValueError("bounds must be increasing")
        scaled = 2 * (np.clip(features, low, high) - low) / (high - low) - 1
        scaled = np.clip(scaled, -1, 1)  # rounding
        return scaled / np.sqrt(features.shape[1]) if self.domain == "ball" else scaled
