"""The private classifier under scikit-learn: its own checks, pipelines and searches."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from dpdynamics.kan import PrivateKANClassifier

NOT_OURS = {
    "check_estimators_unfitted": "raises NotFittedError of its own, with the same two bases",
    "check_supervised_y_2d": "takes a column of labels without a warning",
}
SMALL = {"width": 8, "steps": 3}


def checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it does not inherit from BaseEstimator
        pairs = list(estimator_checks_generator(PrivateKANClassifier(**SMALL)))
    for estimator, check in pairs:
        name = getattr(check, "func", check).__name__
        marks = [pytest.mark.xfail(reason=NOT_OURS[name])] if name in NOT_OURS else []
        yield pytest.param(estimator, check, marks=marks, id=name)


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
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
