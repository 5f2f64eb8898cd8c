"""The bundled data against numbers that are printed elsewhere."""

import numpy as np
import pytest

from dpdynamics.problems import breast_cancer, diabetes, digits


def test_shape_and_ranges():
    data = diabetes()
    assert data.features.shape == (442, 10)
    assert data.names == ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
    assert (data.labels.min(), data.labels.max()) == (25, 346)
    assert set(data.features[:, 1]) == {1, 2}


def test_the_published_fit():
    """Least squares on centred columns of unit length."""
    data = diabetes()
    centred = data.features - data.features.mean(axis=0)
    fit, *_ = np.linalg.lstsq(
        centred / np.linalg.norm(centred, axis=0), data.labels - data.labels.mean()
    )
    published = [-10.0, -239.8, 519.8, 324.4, -792.2, 476.7, 101.0, 177.1, 751.3, 67.6]
    np.testing.assert_allclose(fit, published, atol=0.06)
    assert data.labels.mean() == pytest.approx(152.1335, abs=1e-4)


@pytest.mark.parametrize("load", [diabetes, breast_cancer, digits])
def test_nobody_can_change_the_records(load):
    with pytest.raises(ValueError, match="read-only"):
        load().features[0, 0] = 0
    with pytest.raises(ValueError, match="read-only"):
        load().labels[0] = 0
    assert load() is load()


def test_breast_cancer_is_as_published():
    """Counts of the classes and ranges of the columns."""
    data = breast_cancer()
    assert data.features.shape == (569, 30)
    assert np.bincount(data.labels).tolist() == [212, 357]
    assert data.names[0] == "mean radius"
    assert data.names[-1] == "worst fractal dimension"
    printed = {  # the table of ranges in scikit-learn's description
        "mean radius": (6.981, 28.11),
        "mean texture": (9.71, 39.28),
        "mean perimeter": (43.79, 188.5),
        "mean area": (143.5, 2501.0),
        "mean concavity": (0.0, 0.427),
        "area error": (6.802, 542.2),
        "worst area": (185.2, 4254.0),
        "worst symmetry": (0.156, 0.664),
    }
    for name, ends in printed.items():
        column = data.features[:, data.names.index(name)]
        assert (round(column.min(), 3), round(column.max(), 3)) == ends


def test_digits_are_as_published():
    """The counts of each digit in the file `optdigits.names` of the UCI archive, test part."""
    data = digits()
    assert data.features.shape == (1797, 64)
    assert np.bincount(data.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (data.features.min(), data.features.max()) == (0, 16)
    assert np.array_equal(data.features, np.round(data.features))
    nearest = data.features[::2] @ data.features[1::2].T
    length = np.linalg.norm(data.features, axis=1)
    guess = data.labels[1::2][np.argmax(nearest / length[1::2], axis=1)]
    assert np.mean(guess == data.labels[::2]) > 0.95


def test_two_classes():
    data, pair = digits(), digits().two_classes(8, 3)
    assert pair.classes == ("8", "3")
    for label, sign in ((8, -1), (3, 1)):
        np.testing.assert_array_equal(
            pair.features[pair.labels == sign], data.features[data.labels == label]
        )
    assert len(pair.labels) == 174 + 183
    assert pair.labels.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        pair.labels[0] = 0
    parity = data.two_classes(range(0, 10, 2), range(1, 10, 2))
    np.testing.assert_array_equal(parity.labels, 2 * (data.labels % 2) - 1)
    np.testing.assert_array_equal(parity.features, data.features)
    tumours = breast_cancer().two_classes(0, np.int64(1))
    assert tumours.classes == ("malignant", "benign")
    assert tumours.two_classes(1, -1).classes == ("benign", "malignant")


@pytest.mark.parametrize(
    ("sides", "message"),
    [((3, 3), "second must differ"), ((3, 10), "second must be"), (([], 3), "first must be")],
)
def test_two_classes_refuses(sides, message):
    with pytest.raises(ValueError, match=message):
        digits().two_classes(*sides)
