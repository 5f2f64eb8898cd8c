"""The bundled data against numbers that are printed elsewhere."""

import numpy as np
import pytest

from dpdynamics.problems import diabetes


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


def test_nobody_can_change_the_records():
    with pytest.raises(ValueError, match="read-only"):
        diabetes().features[0, 0] = 0
