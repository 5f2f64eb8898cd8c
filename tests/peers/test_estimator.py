"""The private classifier under scikit-learn: its own checks, pipelines and searches."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from dpdynamics.extras import PrivateKANClassifier

SMALL = {"width": 8, "steps": 3}


CHECKS = list(estimator_checks_generator(PrivateKANClassifier(**SMALL)))


@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[check.func.__name__ for _, check in CHECKS]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_pipelines_searches_and_clones():
    x, target = load_digits(return_X_y=True)
    kept = np.isin(target, (3, 8))
    x, y = x[kept], target[kept]
    model = PrivateKANClassifier(
        epsilon=8.0, bounds=(0.0, 1.0), sampling="full", step_size=30.0, random_state=0
    )
    assert is_classifier(model)
    assert clone(model).get_params() == model.get_params()
    pipeline = make_pipeline(FunctionTransformer(lambda pixels: pixels / 16), model)
    assert cross_val_score(pipeline, x, y, cv=3).mean() > 0.9
    search = GridSearchCV(model, {"step_size": [3.0, 10.0]}, cv=2).fit(x / 16, y)
    assert search.best_estimator_.epsilon_ == 8.0
