"""The bundled data against scikit-learn's copies."""

import numpy as np
from sklearn import datasets

from dpdynamics.problems.data import breast_cancer, diabetes, digits


def test_breast_cancer():
    ours, theirs = breast_cancer(), datasets.load_breast_cancer()
    np.testing.assert_array_equal(ours.features, theirs.data)
    np.testing.assert_array_equal(ours.labels, theirs.target)
    assert ours.names == tuple(theirs.feature_names)
    assert ours.classes == tuple(theirs.target_names)


def test_digits():
    ours, theirs = digits(), datasets.load_digits()
    np.testing.assert_array_equal(ours.features, theirs.data)
    np.testing.assert_array_equal(ours.labels, theirs.target)
    assert ours.names == tuple(theirs.feature_names)
    assert ours.classes == tuple(map(str, theirs.target_names))


def test_diabetes():
    ours, theirs = diabetes(), datasets.load_diabetes(scaled=False)
    np.testing.assert_array_equal(ours.features, theirs.data)
    np.testing.assert_array_equal(ours.labels, theirs.target)
    assert ours.names == tuple(theirs.feature_names)
