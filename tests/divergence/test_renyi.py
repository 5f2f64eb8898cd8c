"""Gaussian divergences against 60-digit linear algebra, dense formulas and each other."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdynamics.divergence import renyi_divergence_gaussian
from dpdynamics.divergence.covariances import DiagonalPlusLowRank

ORDERS = [1e-9, 0.01, 0.3, 0.5, 0.7, 1 - 1e-9, 1 + 1e-9, 1.2, 2.0, 5.0, 40.0]


def exact_divergence(mean_p, cov_p, mean_q, cov_q, order):
    """The textbook formula in 60 digits; the condition by a Cholesky decomposition of M."""
    with mpmath.workdps(60):
        gap = mpmath.matrix(np.subtract(mean_p, mean_q).tolist())
        p, q, a = mpmath.matrix(cov_p.tolist()), mpmath.matrix(cov_q.tolist()), mpmath.mpf(order)
        mixture = a * q + (1 - a) * p
        try:
            mpmath.cholesky(mixture)
        except ValueError:
            return np.inf
        means = a / 2 * (gap.T * mpmath.lu_solve(mixture, gap))[0]
        dets = (mpmath.log(mpmath.det(m)) for m in (p, q, mixture))
        log_p, log_q, log_m = dets
        return float(means + ((1 - a) * log_p + a * log_q - log_m) / (2 * (a - 1)))


def gaussian_pair(seed, d=3, closeness=1.0):
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((d, 2 * d))
    change = rng.standard_normal((d, d))
    cov_q = base @ base.T / d + np.eye(d)
    cov_p = cov_q + closeness * 0.2 * (change + change.T) / np.linalg.norm(change)
    cov_q = (cov_q + cov_q.T) / 2
    return closeness * rng.standard_normal(d), (cov_p + cov_p.T) / 2, np.zeros(d), cov_q


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(4))
def test_dense_pairs(order, seed):
    pair = gaussian_pair(seed)
    assert renyi_divergence_gaussian(*pair, order) == pytest.approx(
        exact_divergence(*pair, order), rel=1e-12
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("closeness", [1e-3, 1e-6])
def test_small_divergences_keep_their_digits(order, closeness):
    # A difference of covariances that is exactly representable, so that the input has no rounding.
    cov_q = np.array([[2.0, 0.5], [0.5, 1.0]])
    change = np.round(closeness * 2**40) / 2**40 * np.array([[1.0, -0.5], [-0.5, 0.25]])
    pair = np.array([closeness, 0.0]), cov_q + change, np.zeros(2), cov_q
    exact = exact_divergence(*pair, order)
    assert 0 < exact < 1e-4
    assert renyi_divergence_gaussian(*pair, order) == pytest.approx(exact, rel=3e-9)


@given(
    st.floats(-3, 3),
    st.floats(-9, 9),
    st.floats(-9, 9),
    st.sampled_from(ORDERS),
)
def test_one_dimension_over_eighteen_orders_of_magnitude(gap, log_p, log_q, order):
    p, q = 10.0**log_p, 10.0**log_q
    exact = exact_divergence([gap], np.array([[p]]), [0.0], np.array([[q]]), order)
    ours = renyi_divergence_gaussian(gap, p, 0.0, q, order)
    margin = abs(order + (1 - order) * p / q)
    assert ours == pytest.approx(exact, rel=1e-11 + 1e-14 * max(1, order * p / q) / margin)


@pytest.mark.parametrize("form", ["diagonal", "dense", "low rank"])
def test_all_forms_of_a_covariance_agree(form):
    rng = np.random.default_rng(0)
    p, q = rng.uniform(0.8, 1.2, (2, 4))
    gap = rng.standard_normal(4)
    u = np.eye(4)
    forms = {
        "diagonal": (p, q),
        "dense": (np.diag(p), np.diag(q)),
        "low rank": (
            DiagonalPlusLowRank(np.ones(4), u, np.diag(p - 1)),
            DiagonalPlusLowRank(np.ones(4), u, np.diag(q - 1)),
        ),
    }
    for order in ORDERS[:-2]:
        exact = exact_divergence(gap, np.diag(p), np.zeros(4), np.diag(q), order)
        for cov_p in (forms[form][0], np.diag(p)):
            ours = renyi_divergence_gaussian(gap, cov_p, np.zeros(4), forms[form][1], order)
            assert ours == pytest.approx(exact, rel=1e-12)


def low_rank_pair(d, size, seed=0):
    """Two covariances C V C + s I after updates with two records, as in the neighbouring laws."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.5, 2, d)
    covariances = []
    for record in rng.standard_normal((2, d)) / np.sqrt(d):
        factors = np.stack([record, base * record], axis=1)
        core = np.array([[size**2 * (base @ record**2), -size], [-size, 0.0]])
        covariances.append(DiagonalPlusLowRank(base + 0.3, factors, core))
    return size * rng.standard_normal(d), covariances[0], np.zeros(d), covariances[1]


@pytest.mark.parametrize("order", [0.2, 0.8, 1.5, 3.0])
@pytest.mark.parametrize("size", [0.1, 1e-3, 1e-7])
def test_low_rank_pairs(order, size):
    mean_p, p, mean_q, q = low_rank_pair(6, size)
    with mpmath.workdps(60):
        dense = [
            mpmath.diag(c.diagonal.tolist())
            + mpmath.matrix(c.factors.tolist())
            * mpmath.matrix(c.core.tolist())
            * mpmath.matrix(c.factors.tolist()).T
            for c in (p, q)
        ]
    exact = exact_divergence(mean_p, dense[0], mean_q, dense[1], order)
    assert exact < 20 * size**2
    ours = renyi_divergence_gaussian(mean_p, p, mean_q, q, order)
    assert ours == pytest.approx(exact, rel=1e-11)


def test_low_rank_and_dense_agree_in_higher_dimension():
    mean_p, p, mean_q, q = low_rank_pair(60, 0.2)
    orders = [0.5, 2.0, 4.0]
    np.testing.assert_allclose(
        renyi_divergence_gaussian(mean_p, p, mean_q, q, orders),
        renyi_divergence_gaussian(mean_p, p.dense(), mean_q, q.dense(), orders),
        rtol=1e-10,
    )
    assert renyi_divergence_gaussian(mean_p, p, mean_q, q, 1.0) == pytest.approx(
        renyi_divergence_gaussian(mean_p, p.dense(), mean_q, q.dense(), 1.0), rel=1e-10
    )


def test_dependent_factors_and_other_diagonals_are_allowed():
    p = DiagonalPlusLowRank(np.ones(3), np.ones((3, 2)), 0.1 * np.eye(2))
    q = DiagonalPlusLowRank(np.full(3, 1.5), np.ones((3, 1)), np.array([[0.2]]))
    for pair in ((p, q), (q, p), (p, 1.5), (np.full(3, 2.0), p), (p, q.dense())):
        dense = [
            c.dense()
            if isinstance(c, DiagonalPlusLowRank)
            else np.eye(3) * c
            if np.ndim(c) < 2
            else c
            for c in pair
        ]
        ours = renyi_divergence_gaussian(np.ones(3), pair[0], np.zeros(3), pair[1], 1.3)
        exact = exact_divergence(np.ones(3), dense[0], np.zeros(3), dense[1], 1.3)
        assert ours == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("p", "q", "order", "finite"),
    [
        (3.0, 1.0, 2.0, False),
        (2.0, 1.0, 2.0, False),  # the boundary itself
        (np.nextafter(2.0, 1), 1.0, 2.0, True),
        (np.nextafter(2.0, 3), 1.0, 2.0, False),
        (1.0, 3.0, 2.0, True),
        (1.5, 1.0, 3.0, False),
        (1.5, 1.0, 2.9999, True),
        (1e9, 1.0, 0.999, True),
    ],
)
def test_it_is_infinite_exactly_beyond_the_boundary(p, q, order, finite):
    assert np.isfinite(renyi_divergence_gaussian(0.0, p, 0.0, q, order)) == finite
    rotated = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    cov_p = rotated @ np.diag([1.0, 1.0, p * 1.0001 if not finite else p]) @ rotated.T
    cov_q = rotated @ np.diag([1.0, 1.0, q * 1.0001 if finite else q]) @ rotated.T
    value = renyi_divergence_gaussian(np.zeros(3), cov_p, np.zeros(3), cov_q, order)
    assert np.isfinite(value) == finite


def test_the_two_forms_of_the_condition_agree():
    # a Sq + (1 - a) Sp > 0 if and only if a Sp^-1 + (1 - a) Sq^-1 > 0.
    for seed in range(200):
        mean_p, p, mean_q, q = gaussian_pair(seed, closeness=3.0)
        if np.linalg.eigvalsh(p)[0] <= 1e-3:
            continue
        order = np.random.default_rng(seed).uniform(1.01, 8)
        other = order * np.linalg.inv(p) + (1 - order) * np.linalg.inv(q)
        value = renyi_divergence_gaussian(mean_p, p, mean_q, q, order)
        assert np.isfinite(value) == (np.linalg.eigvalsh(other)[0] > 0)


def test_lemma_c2_as_printed_is_the_divergence_of_the_exchanged_pair():
    mean_p, p, mean_q, q = gaussian_pair(1)
    q = q + np.diag([0.0, 0.3, 0.5])
    a, gap = 1.7, mean_p - mean_q
    mixture = a * p + (1 - a) * q
    dets = [np.linalg.det(m) for m in (p, q, mixture)]
    printed = a / 2 * gap @ np.linalg.solve(mixture, gap)
    printed += np.log(dets[0] ** a * dets[1] ** (1 - a) / dets[2]) / (2 * (a - 1))
    assert printed == pytest.approx(renyi_divergence_gaussian(mean_q, q, mean_p, p, a), rel=1e-12)
    assert printed != pytest.approx(renyi_divergence_gaussian(mean_p, p, mean_q, q, a), rel=1e-2)


def test_the_gaussian_mechanism():
    assert renyi_divergence_gaussian([0.6, 0.8], 4.0, [0.0, 0.0], 4.0, 3.0) == 3 / 8


@given(st.integers(0, 1000))
def test_it_is_nondecreasing_in_the_order_through_kullback_leibler(seed):
    pair = gaussian_pair(seed, closeness=0.5)
    values = renyi_divergence_gaussian(*pair, ORDERS)
    assert values.shape == (len(ORDERS),)
    assert np.all(np.diff(values[np.isfinite(values)]) >= -1e-12)
    kl = renyi_divergence_gaussian(*pair, 1.0)
    np.testing.assert_allclose(values[5:7], kl, rtol=1e-7)
    assert 0 <= values[5] * (1 - 1e-14) <= kl <= values[6] * (1 + 1e-14)


@given(st.integers(0, 1000), st.sampled_from([0.01, 0.3, 0.45, 0.5, 0.8]))
def test_skew_symmetry_below_order_one(seed, order):
    mean_p, p, mean_q, q = gaussian_pair(seed)
    forward = renyi_divergence_gaussian(mean_p, p, mean_q, q, order)
    backward = renyi_divergence_gaussian(mean_q, q, mean_p, p, 1 - order)
    assert forward == pytest.approx(order / (1 - order) * backward, rel=1e-11)


def test_equal_laws_are_at_distance_zero():
    cov = np.array([[2.0, 0.3], [0.3, 1.0]])
    np.testing.assert_array_equal(
        renyi_divergence_gaussian([1.0, 2.0], cov, [1.0, 2.0], cov, ORDERS), 0
    )
    assert renyi_divergence_gaussian(0.0, 1e-300, 0.0, 1e-300, 1.0) == 0


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("order", {"order": 0.0}),
        ("order", {"order": [2.0, -1.0]}),
        ("order", {"order": np.inf}),
        ("order", {"order": np.nan}),
        ("mean_p", {"mean_p": [np.nan, 0.0]}),
        ("mean_q", {"mean_q": [0.0]}),
        ("mean_p", {"mean_p": np.zeros((2, 2))}),
        ("cov_p", {"cov_p": [[1.0, 0.5], [0.4, 1.0]]}),
        ("cov_p", {"cov_p": [[1.0, 2.0], [2.0, 1.0]]}),
        ("cov_q", {"cov_q": [[1.0, 2.0], [2.0, 1.0]]}),
        ("cov_q", {"cov_q": [1.0, 0.0]}),
        ("cov_q", {"cov_q": -1.0}),
        ("cov_p", {"cov_p": np.ones(3)}),
        ("cov_p", {"cov_p": [np.nan, 1.0]}),
        ("cov_p", {"cov_p": DiagonalPlusLowRank(np.ones(3), np.ones((3, 1)), np.eye(1))}),
        ("cov_p", {"cov_p": DiagonalPlusLowRank([1.0, 1.0], [[1.0], [0.0]], [[-2.0]])}),
    ],
)
def test_bad_arguments_are_named(name, change):
    arguments = {
        "mean_p": [0.0, 0.0],
        "cov_p": 1.0,
        "mean_q": [0.0, 0.0],
        "cov_q": 1.0,
        "order": 2.0,
    }
    with pytest.raises(ValueError, match=name):
        renyi_divergence_gaussian(**(arguments | change))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("diagonal", ([1.0, 0.0], np.ones((2, 1)), np.eye(1))),
        ("factors", ([1.0, 1.0], np.ones((3, 1)), np.eye(1))),
        ("core", ([1.0, 1.0], np.ones((2, 1)), np.eye(2))),
        ("core", ([1.0, 1.0], np.ones((2, 2)), [[0.0, 1.0], [0.0, 0.0]])),
        ("core", ([1.0, 1.0], np.ones((2, 1)), [[np.inf]])),
    ],
)
def test_bad_structures_are_named(name, arguments):
    with pytest.raises(ValueError, match=name):
        DiagonalPlusLowRank(*arguments)


def exact_low_rank(gap, p, q, order):
    """The divergence of two structured covariances with one diagonal, in 60 digits."""
    with mpmath.workdps(60):
        a, base = mpmath.mpf(order), [mpmath.mpf(b) for b in p.diagonal.tolist()]
        columns = [*p.factors.T.tolist(), *q.factors.T.tolist(), gap.tolist()]
        columns = [[mpmath.mpf(x) for x in column] for column in columns]

        def product(u, v):
            return mpmath.fsum(x * y / b for x, y, b in zip(u, v, base, strict=True))

        rank = len(columns) - 1
        gram = mpmath.matrix([[product(u, v) for v in columns[:-1]] for u in columns[:-1]])
        along = mpmath.matrix([product(u, columns[-1]) for u in columns[:-1]])

        def core(of_p, of_q):
            result, half = mpmath.zeros(rank), rank // 2
            result[:half, :half] = of_p * mpmath.matrix(p.core.tolist())
            result[half:, half:] = of_q * mpmath.matrix(q.core.tolist())
            return result

        def log_det(middle):
            return mpmath.log(mpmath.det(mpmath.eye(rank) + middle * gram))

        mixed = core(1 - a, a)
        inverse = mpmath.lu_solve(mpmath.eye(rank) + gram * mixed, along)
        means = a / 2 * (product(columns[-1], columns[-1]) - (along.T * mixed * inverse)[0])
        log_dets = (1 - a) * log_det(core(1, 0)) + a * log_det(core(0, 1)) - log_det(mixed)
        return float(means + log_dets / (2 * (a - 1)))


@pytest.mark.parametrize(("order", "rtol"), [(1.5, 1e-13), (1 + 1e-7, 1e-10)])
@pytest.mark.parametrize("size", [1e-2, 1e-4])
def test_a_thousand_coordinates_against_sixty_digits(order, rtol, size) -> None:
    rng = np.random.default_rng(0)
    base, laws = rng.uniform(0.5, 2, 1000), []
    for record in rng.standard_normal((2, 1000)):
        core = size * np.array([[1e-4 * (base @ record**2), -1e-2], [-1e-2, 0.0]])
        laws.append(DiagonalPlusLowRank(base, np.stack([record, base * record], axis=1), core))
    gap, (p, q) = 1e-3 * rng.standard_normal(1000), laws
    found = renyi_divergence_gaussian(gap, p, np.zeros(1000), q, order)
    assert found == pytest.approx(exact_low_rank(gap, p, q, order), rel=rtol)
