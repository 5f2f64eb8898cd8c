import mpmath
import numpy as np
import pytest

from dpdynamics.numerics.remainders import expm1_minus, log1p_minus


@pytest.mark.parametrize("x", [-0.5, -0.1, -1e-8, 0.0, 1e-12, 1e-3, 0.3, 0.5])
def test_remainders(x):
    with mpmath.workdps(60):
        log_exact = mpmath.log1p(mpmath.mpf(x)) - mpmath.mpf(x)
        exp_exact = mpmath.expm1(mpmath.mpf(x)) - mpmath.mpf(x)
    assert float(log1p_minus(np.array(x))) == pytest.approx(float(log_exact), rel=1e-15)
    assert float(expm1_minus(np.array(x))) == pytest.approx(float(exp_exact), rel=1e-15)
