"""Fixed-size batches against enumeration of all batches, optimised data and other formulas."""

from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from accounting.asking import ask
from accounting.mixtures import NormalMixture
from dpdynamics.accounting import FixedSize, compose
from dpdynamics.divergence import rdp_to_epsilon
from dpdynamics.divergence.without_replacement import PAIRS, WithoutReplacement
from dpdynamics.numerics.convolution import hockey_stick_convolution
from dpdynamics.numerics.inversion import hockey_stick_inversion

STEP = {"noise_multiplier": 0.8, "batch_size": 2, "samples": 4}
VECTORS = {"replace": (1.0, -1.0), "remove": (1.0, 0.0), "add": (0.0, 1.0)}
PLACES = {  # the table at the head of fixed_size.py
    ("replace", "zero"): (1.0, -1.0),
    ("replace", "opposite"): (2.0, 0.0),
    ("remove", "zero"): (1.0, 0.0),
    ("remove", "opposite"): (2.0, 1.0),
    ("add", "zero"): (0.0, 1.0),
    ("add", "opposite"): (1.0, 2.0),
}


class Laws:
    """The outputs of one step on neighbours, by rules that know nothing of batches."""

    def __init__(self, k, q, places):
        self.k, self.q, self.places = k, q, places
        ends = (-2 - 25 * k, 70 + 25 * k)  # order 30 at place 2 has its peak at 60
        means = [np.array([0.0, place]) for place in places]
        self.p, self.q_law = (NormalMixture(m, np.array([1 - q, q]), k, ends) for m in means)

    def delta(self, epsilon):
        return self.p.hockey_stick(self.q_law, epsilon)

    def renyi(self, order):
        return self.p.renyi(self.q_law, order)

    def far_delta(self, epsilon):
        """The profile in many digits, the loss of (2, 0) being increasing."""
        with mpmath.workdps(60):
            k, q = mpmath.mpf(self.k), mpmath.mpf(self.q)

            def log_ratio(x):
                p, r = (
                    (1 - q) + q * mpmath.exp((x - mpmath.mpf(c) / 2) * c / k**2)
                    for c in self.places
                )
                return mpmath.log(p / r)

            low, high = mpmath.mpf(-40), mpmath.mpf(40)
            for _ in range(200):
                x = (low + high) / 2
                low, high = (low, x) if log_ratio(x) > epsilon else (x, high)
            above = [
                (1 - q) * mpmath.ncdf(-x / k) + q * mpmath.ncdf((c - x) / k) for c in self.places
            ]
            return float(above[0] - mpmath.exp(epsilon) * above[1])


def laws(*, noise_multiplier, batch_size, samples, relation="replace", others="opposite"):
    return Laws(noise_multiplier, batch_size / samples, PLACES[relation, others])


def output_density(vectors, batch_size, noise_multiplier, x):
    """Mixture over all batches, by enumeration; vectors (n, d), x (m, d)."""
    sums = np.array(
        [vectors[list(b)].sum(0) for b in combinations(range(len(vectors)), batch_size)]
    )
    distance = ((x[:, None] - sums) ** 2).sum(-1) / noise_multiplier**2
    scale = (2 * np.pi * noise_multiplier**2) ** (x.shape[1] / 2)
    return np.exp(-distance / 2).mean(1) / scale


def divergences(first, second, others, x, epsilon, order):
    """Hockey-stick and Renyi divergence on a uniform mesh x (m, d)."""
    k, batch = STEP["noise_multiplier"], STEP["batch_size"]
    p, q = (output_density(np.vstack([others, v]), batch, k, x) for v in (first, second))
    weight = np.ptp(x[:, 0]) ** x.shape[1] / len(x)
    p, q = np.maximum(p, 1e-280), np.maximum(q, 1e-280)
    stick = weight * np.maximum(p - np.exp(epsilon) * q, 0).sum()
    return stick, np.log(weight * np.exp(order * np.log(p) + (1 - order) * np.log(q)).sum()) / (
        order - 1
    )


@pytest.mark.parametrize(("relation", "others"), PLACES)
def test_pair_is_attained(relation, others):
    u, v = VECTORS[relation]
    facing = -(v if relation == "add" else u) if others == "opposite" else 0.0
    x = np.linspace(-14, 16, 40001)[:, None]
    stick, renyi = divergences([[u]], [[v]], np.full((3, 1), facing), x, 0.4, 3.0)
    pair = laws(**STEP, relation=relation, others=others)
    assert pair.delta(0.4) == pytest.approx(stick, abs=1e-5)
    assert pair.renyi(3.0) == pytest.approx(renyi, rel=1e-3)


def _ball(v):
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("relation", VECTORS)
def test_optimised_data_are_no_worse_than_the_named_ones(relation, dimension):
    """Search over the vectors of all records; the worst found is in the table, to the mesh."""
    rng = np.random.default_rng(7)
    axis = np.linspace(-8, 8, 801 if dimension == 1 else 61)
    x = np.stack(np.meshgrid(*[axis] * dimension), -1).reshape(-1, dimension)
    zero = np.zeros(dimension)

    def split(flat):
        v = _ball(flat.reshape(-1, dimension))
        return {
            "replace": (v[3], v[-1]),
            "remove": (v[3], zero),
            "add": (zero, v[3]),
        }[relation], v[:3]

    def values(flat):
        (u, v), others = split(flat)
        return divergences(u[None], v[None], others, x, 0.4, 3.0)

    worst = {
        "replace": ("replace", "opposite"),
        "remove": ("remove", "opposite"),
        "add": ("remove", "zero"),  # others equal to the record turn the pair round
    }[relation]
    pair = laws(**STEP, relation=worst[0], others=worst[1])
    records = 4 + (relation == "replace")
    budget = {"maxfev": 500 if dimension == 1 else 250}
    for kind, exact in enumerate((pair.delta(0.4), pair.renyi(3.0))):
        found = max(
            -minimize(
                lambda flat, kind=kind: -values(flat)[kind],
                rng.standard_normal(records * dimension),
                method="Powell",
                options=budget,
            ).fun
            for _ in range(3 if dimension == 1 else 1)
        )
        assert found <= exact * 1.01
        if dimension == 1:
            assert found >= exact * 0.99


def test_zero_others_are_not_the_worst_for_zero_out_neighbours():
    """Both directions of the pair with zero others are exceeded, by far."""
    step = {"noise_multiplier": 1.0, "batch_size": 1, "samples": 100}
    claimed = max(laws(**step, relation=r, others="zero").delta(1.0) for r in ("remove", "add"))
    attained = laws(**step, relation="remove", others="opposite").delta(1.0)
    assert attained > 1e4 * claimed


def test_profile_is_attained_and_not_exceeded():
    for step in (STEP, {"noise_multiplier": 2.0, "batch_size": 5, "samples": 100}):
        for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0):
            exact = ask(FixedSize, "delta", **step, epsilon=epsilon).upper
            assert laws(**step).delta(epsilon) == pytest.approx(exact, abs=1e-13)
            assert laws(**step, others="zero").delta(epsilon) <= exact + 1e-15


def bound_in_many_digits(k, batch_size, samples, order):
    with mpmath.workdps(50):
        k, q = mpmath.mpf(k), mpmath.mpf(batch_size) / samples
        e4 = mpmath.exp(4 / k**2)
        total = 1 + q**2 * mpmath.binomial(order, 2) * min(4 * (e4 - 1), 2 * e4)
        for j in range(3, order + 1):
            total += 2 * q**j * mpmath.binomial(order, j) * mpmath.exp(2 * j * (j - 1) / k**2)
        return float(mpmath.log(total) / (order - 1))


def test_lower_value_by_quadrature():
    for order in (1.5, 2.0, 7.3):
        found = ask(FixedSize, "rdp", **STEP, orders=order).lower
        assert laws(**STEP).renyi(order) == pytest.approx(found, rel=1e-7)


@settings(max_examples=25)
@given(
    k=st.floats(0.3, 20), b=st.integers(1, 50), more=st.integers(1, 5000), order=st.integers(2, 40)
)
def test_values_are_ordered(k, b, more, order):
    step = {"noise_multiplier": k, "batch_size": b, "samples": b + more, "orders": order}
    low, middle = ask(FixedSize, "rdp", **step)
    high = bound_in_many_digits(k, b, b + more, order)
    assert 0 < low <= middle <= high * (1 + 1e-9)
    assert middle <= 2 * order / k**2


def test_tight_bound_is_the_integral_of_the_profile():
    order, step = 2.5, {"noise_multiplier": 1.5, "batch_size": 1, "samples": 10}
    gamma = np.exp(np.linspace(0, 30, 400001))
    weight = gamma ** (order - 2) + gamma ** (-order - 1)
    profile = ask(FixedSize, "delta", **step, epsilon=np.log(gamma)).upper
    total = 1 + order * (order - 1) * np.trapezoid(weight * profile * gamma, np.log(gamma))
    found = ask(FixedSize, "rdp", **step, orders=order).upper
    assert found == pytest.approx(np.log(total) / (order - 1), rel=1e-6)


def test_shapes():
    orders = np.array([[2, 3, 4]])
    for end, one in zip(
        ask(FixedSize, "rdp", **STEP, orders=orders),
        ask(FixedSize, "rdp", **STEP, orders=2),
        strict=True,
    ):
        assert np.shape(end) == (1, 3)
        assert isinstance(one, float)
    assert np.shape(ask(FixedSize, "delta", **STEP, epsilon=[0.0, 1.0]).upper) == (2,)
    assert isinstance(ask(FixedSize, "delta", **STEP, epsilon=1.0).upper, float)


@pytest.mark.parametrize(
    "bad",
    [{"noise_multiplier": 0.0}, {"batch_size": 0}, {"batch_size": 4}, {"samples": 1}],
)
def test_bad_step(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=name):
        ask(FixedSize, "rdp", **(STEP | bad), orders=2)


def test_bad_input():
    with pytest.raises(ValueError, match="epsilon"):
        ask(FixedSize, "delta", **STEP, epsilon=-0.1)
    with pytest.raises(ValueError, match="orders"):
        ask(FixedSize, "rdp", **STEP, orders=1.0)
    with pytest.raises(ValueError, match=r"relation .* zero_out is covered"):
        FixedSize(batch_size=1, samples=10, relation="add_remove")


@pytest.mark.parametrize(
    ("noise", "batch_size", "epsilon"),
    [(0.3, 10, e) for e in (1.0, 15.0, 25.0, 30.0, 35.0, 60.0, 100.0, 800.0)]
    + [(0.05, 1, 800.0), (0.06, 1, 700.0), (0.02, 1, 5000.0)],
)
def test_the_pair_keeps_its_digits_at_large_epsilon(noise, batch_size, epsilon):
    step = {"noise_multiplier": noise, "batch_size": batch_size, "samples": 100}
    exact = ask(FixedSize, "delta", **step, epsilon=epsilon).upper
    assert laws(**step).far_delta(epsilon) == pytest.approx(exact, rel=1e-11, abs=1e-300)


def test_bad_epsilon_and_unsigned_orders():
    pair = WithoutReplacement(0.8, 0.5, "replace")
    for epsilon in ("x", np.nan, np.inf):
        with pytest.raises(ValueError, match="epsilon"):
            pair.delta(epsilon)
    assert pair.renyi(np.uint8(2)) == pair.renyi(2.0)


@pytest.mark.parametrize("relation", ["zero_out", "replace"])
@pytest.mark.parametrize("steps", [1, 40])
def test_the_answers_of_a_run_invert_each_other(relation: str, steps: int) -> None:
    run = FixedSize(batch_size=10, samples=200, steps=steps, relation=relation)
    low, high = run.noise_for(epsilon=1.5, delta=1e-4)
    assert 0 < low <= high * (1 + 1e-3)
    epsilon = run.epsilon(noise_multiplier=high, delta=1e-4)
    assert epsilon.upper == pytest.approx(1.5, rel=1e-5) and epsilon.upper <= 1.5
    assert run.epsilon(noise_multiplier=low, delta=1e-4).lower > 1.5
    delta = run.delta(noise_multiplier=high, epsilon=1.5)
    assert delta.upper == pytest.approx(1e-4, rel=1e-3)
    assert delta.lower <= 1e-4
    if steps == 1:
        assert delta.lower == delta.upper and epsilon.lower == epsilon.upper


def test_zeroing_out_is_at_most_replacing() -> None:
    replace, zero = (
        FixedSize(batch_size=10, samples=200, steps=9, relation=name)
        for name in ("replace", "zero_out")
    )
    orders = np.array([1.5, 4.0, 30.0])
    for noise in (0.7, 4.0):
        ends = [run.rdp(noise_multiplier=noise, orders=orders) for run in (zero, replace)]
        assert np.all(ends[0].lower < ends[1].lower) and np.all(ends[0].upper <= ends[1].upper)
        assert np.all(ends[0].lower < ends[0].upper)
        pairs = [
            laws(
                noise_multiplier=noise, batch_size=10, samples=200, relation="remove", others=others
            )
            for others in ("zero", "opposite")
        ]
        for order, upper in zip(orders, ends[0].upper, strict=True):
            assert max(9 * pair.renyi(order) for pair in pairs) <= upper * (1 + 1e-9)


LONG = {"noise_multiplier": 1.0, "batch_size": 500, "samples": 50_000, "steps": 3000, "delta": 1e-6}


@pytest.mark.parametrize("relation", ["zero_out", "replace"])
def test_one_fixed_size_step_is_exact(relation: str) -> None:
    """The bound by Renyi divergences lies above it."""
    run = FixedSize(batch_size=100, samples=1000, relation=relation)
    for delta in (1e-3, 1e-6):
        low, high = run.epsilon(noise_multiplier=1.0, delta=delta)
        assert low == high
        assert run.delta(noise_multiplier=1.0, epsilon=low).upper == pytest.approx(delta, rel=1e-6)
        orders = 1 + np.geomspace(0.1, 100, 30)
        rdp = run.rdp(noise_multiplier=1.0, orders=orders).upper
        assert float(rdp_to_epsilon(orders=orders, rdp=rdp, delta=delta)) > low


@pytest.mark.parametrize("relation", PAIRS)
def test_the_dominating_profile_is_attained_and_not_exceeded(relation):
    """Others anywhere in a disc, the records anywhere in it: quadrature in the plane."""
    k, q, levels = 0.8, 0.3, np.array([-1.5, -0.2, 0.0, 0.3, 2.0])
    found = np.array(WithoutReplacement(k, q, relation).delta(levels))
    ahead, back = PAIRS[relation]
    for epsilon, value in zip(levels, found, strict=True):
        best = Laws(k, q, ahead if epsilon >= 0 else back[::-1]).delta(epsilon)
        assert value == pytest.approx(best, rel=1e-9)
    x = np.stack(np.meshgrid(*[np.linspace(-7, 7, 281)] * 2), -1).reshape(-1, 2)
    cell, rng = (14 / 280) ** 2, np.random.default_rng(5)
    near = np.exp(-(x**2).sum(1) / (2 * k**2)) / (2 * np.pi * k**2)

    def density(shift):
        far = np.exp(-((x - shift) ** 2).sum(1) / (2 * k**2)) / (2 * np.pi * k**2)
        return (1 - q) * near + q * far

    for _ in range(40):
        u, v, g = _ball(rng.standard_normal((3, 2)) * rng.uniform(0.5, 3))
        u, v = {"replace": (u, v), "remove": (u, 0 * u), "add": (0 * u, u)}[relation]
        first, second = density(u - g), density(v - g)
        for epsilon, value in zip(levels, found, strict=True):
            stick = cell * np.maximum(first - np.exp(epsilon) * second, 0).sum()
            assert stick <= value + 3e-5  # a kink on a mesh of 0.05


@pytest.mark.parametrize("relation", PAIRS)
def test_divergences_of_the_dominating_pair_in_many_digits(relation):
    with mpmath.workdps(30):
        for k, q, order in ((5.0, 1e-3, 2.0), (0.8, 1e-6, 3.0), (1.0, 0.1, 7.5)):
            total = mpmath.mpf(0)
            for sign, (a, b) in zip((1, -1), PAIRS[relation], strict=True):

                def density(x, place, k=k, q=q):
                    idle = (1 - q) * mpmath.npdf(x, 0, k)
                    return idle + q * mpmath.npdf(x, place, k)

                def grown(x, a=a, b=b, sign=sign, order=order):
                    p, r = density(x, a), density(x, b)
                    return (p if sign > 0 else r) * ((p / r) ** (sign * (order - 1)) - 1)

                start = mpmath.mpf(a + b) / 2
                places = [start + j * k for j in range(12)] + [start + 3 * order + 40 * k]
                total += mpmath.quad(grown, places)
            wanted = float(mpmath.log1p(total) / (order - 1))
            found = WithoutReplacement(k, q, relation).renyi(order)
            assert found == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("relation", PAIRS)
@pytest.mark.parametrize(
    ("several", "noise", "q"), [((2,), 0.7, 0.02), ((12, 200), 1.0, 0.05)], ids=["few", "many"]
)
def test_composition_of_the_dominating_pair_from_its_profile_alone(relation, several, noise, q):
    """Outcomes on a mesh of losses, rounded up and down; few steps convolve, many invert."""
    pair, mesh = WithoutReplacement(noise, q, relation), 4e-4
    losses = mesh * np.arange(-60_000, 60_001)
    profile = np.asarray(pair.delta(losses))
    law = -np.diff(profile) / -np.expm1(-mesh)  # P(L > loss) at the mesh, between its ends
    survival = profile[:-1] + law * np.exp(-mesh)
    masses = -np.diff(np.append(survival, 0.0))
    size = 1 << 20
    folded = np.zeros(size)
    np.add.at(folded, np.arange(-60_000, 60_000) % size, masses)
    once = np.fft.rfft(folded)
    spread = mesh * np.fft.fftshift(np.arange(size) - size * (np.arange(size) >= size // 2))
    for steps in several:
        total = np.fft.fftshift(np.fft.irfft(once**steps, size))
        for epsilon in (0.5, 3.0, 8.0):
            exact = compose((pair, steps)).delta(epsilon=epsilon)
            low, high = (
                (total * np.maximum(-np.expm1(epsilon - spread - move), 0)).sum()
                for move in (-steps * mesh, steps * mesh)
            )
            assert low - 1e-14 <= exact <= high + 1e-14


@pytest.mark.parametrize("relation", PAIRS)
def test_inversion_and_convolution_of_the_dominating_pair_agree(relation):
    for noise, q, steps, epsilon in (
        (2.0, 0.1, 60, 2.4),
        (3.0, 0.3, 60, 5.0),
        (1.0, 0.05, 200, 3.0),
    ):
        pair = WithoutReplacement(noise, q, relation)
        first = hockey_stick_inversion(pair.cumulants(steps, 1e-20), epsilon)
        second = hockey_stick_convolution(pair, steps, epsilon, 1e-20)
        assert first.value == pytest.approx(second.value, rel=3e-8)


def test_a_few_steps_are_known_nearly_exactly() -> None:
    """The bounds of an attack and of all data are within a per mille and half a per cent."""
    for relation, steps, ratio in (
        ("zero_out", 2, 1.001),
        ("replace", 2, 1.002),
        ("zero_out", 60, 1.01),
    ):
        run = FixedSize(batch_size=20, samples=1000, steps=steps, relation=relation)
        low, high = run.epsilon(noise_multiplier=0.8, delta=1e-6)
        assert low <= high < ratio * low
        assert run.delta(noise_multiplier=0.8, epsilon=high).upper == pytest.approx(1e-6, rel=1e-6)


def test_fixed_size_zero_out_is_the_pair_two_one() -> None:
    low, high = ask(FixedSize, "epsilon", **LONG, relation="zero_out")
    assert low == pytest.approx(19.055, abs=0.01) and low < 19.055  # by inversion
    assert high == pytest.approx(19.105, abs=1e-3)  # 19.404 of the dominating pair
    loud = ask(FixedSize, "epsilon", **{**LONG, "noise_multiplier": 3.0}, relation="zero_out")
    assert loud.lower == pytest.approx(1.02825, abs=1e-3) and loud.lower < 1.02825


@pytest.mark.parametrize("relation", ["remove", "add", "replace"])
def test_on_a_mesh_what_neither_side_holds_is_no_loss(relation: str) -> None:
    law = WithoutReplacement(1.0, 0.3, relation).on_mesh(0.01, -3000, 3000)
    assert law.masses.sum() == pytest.approx(1, abs=1e-12)
