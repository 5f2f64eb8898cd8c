"""The calculators against independent routes, and their refusals."""

from __future__ import annotations

import functools
import re
from math import log, pi, sqrt

import numpy as np
import pytest
import yaml
from scipy.special import log_ndtr, logsumexp
from scipy.stats import binom

from dpdynamics import desk
from dpdynamics.accounting import BallsInBins, Bracket, Poisson, cumulative_noise_std
from dpdynamics.accounting.poisson import bounded
from dpdynamics.adaptive import gaussian_sign, stationary_sign_law
from dpdynamics.desk import bins
from dpdynamics.desk.accountants import ACCOUNTANTS
from dpdynamics.desk.answers import Answer, Refusal, lower, upper
from dpdynamics.desk.bins import EpochsOfBins
from dpdynamics.desk.recipes import Recipe
from dpdynamics.divergence import gaussian_epsilon, gaussian_noise_multiplier
from dpdynamics.dynamics import one_pass_risk
from dpdynamics.problems import InverseTimeDecay, PolynomialDecay
from nb.layout import ROOT

RUN = {"noise_multiplier": 1.0, "batch_size": 500, "samples": 50_000, "steps": 3000, "delta": 1e-6}
BUDGET = {"epsilon": 2.0, "delta": 1e-6, "samples": 50_000, "batch_size": 500, "steps": 3000}
PLAN = {"samples": 2000, "dimension": 100, "delta": 1e-5, "label_std": 0.5, "initial_risk": 0.5}
STEPS = {"clip_norm": 50.0, "batch_size": 100, "gradient_noise": 1.0, "dimension": 100}
STEPS |= {"sgd_step": 0.01, "rival_step": 0.01}
OFTEN = {"epsilon": 1.0, "delta": 1e-5, "sampling_probability": 0.2, "steps": 400}


@functools.cache
def replies() -> list[Answer | Refusal]:
    return [
        *(desk.required_noise(**BUDGET, sampling=s) for s in ("poisson", "shuffled", "unknown")),
        desk.required_noise(**{**BUDGET, "delta": 1e-3}),
        *(desk.spent_epsilon(**RUN, sampling=s) for s in ("poisson", "fixed", "shuffled", "bins")),
        desk.spent_epsilon(**RUN, clipped=False),
        desk.spent_epsilon(**RUN, sampling="unknown"),
        desk.plan_one_pass(**PLAN, epsilon=8.0, exponent=0.5),
        desk.plan_one_pass(**PLAN, epsilon=0.1, exponent=0.5),
        desk.plan_one_pass(**PLAN, epsilon=8.0, features="other"),
        desk.choose_optimiser(noise_multiplier=4.0, **STEPS),
        desk.choose_optimiser(noise_multiplier=4.0, **STEPS, tuned=True),
        desk.choose_optimiser(noise_multiplier=4.0, **STEPS, curvature=1.0, steps=10),
        desk.choose_optimiser(noise_multiplier=4.0, **STEPS, curvature=100.0),
        desk.choose_optimiser(noise_multiplier=4.0, **{**STEPS, "clip_norm": 10.0}),
        desk.correlate_noise(**OFTEN, multipliers={0.5: Bracket(29.9, 30.0)}, correlations=(0.5,)),
        desk.correlate_noise(**OFTEN, sampling="fixed"),
    ]


def test_every_reply_says_where_it_holds_or_what_to_do_instead() -> None:
    for reply in replies():
        label, words = ("instead", reply.instead) if reply.refused else ("holds for", reply.regime)
        assert not words or f"\n  {label}: {words.split()[0]}" in str(reply)


def test_every_reply_rests_on_claims_that_its_chapters_own() -> None:
    parts = yaml.safe_load((ROOT / "book/claims/chapters.yml").read_text("utf-8"))["parts"]
    owns = {c["key"]: set(c.get("owns") or ()) for p in parts for c in p["chapters"]}
    for reply in replies():
        assert set(reply.chapters) <= set(owns), reply
        theirs = set().union(*(owns[key] for key in reply.chapters))
        assert set(reply.evidence) <= theirs, set(reply.evidence) - theirs


def test_a_reply_is_legible() -> None:
    for reply in replies():
        lines = repr(reply).splitlines()
        assert max(len(line) for line in lines) <= 72
        assert lines[0].startswith("? ")
        assert ("REFUSED" in repr(reply)) == reply.refused
        assert all(np.isfinite(list(reply.numbers.values()))), reply


def test_noise_meets_the_budget_and_a_little_less_does_not() -> None:
    noise = desk.required_noise(**BUDGET).value
    for factor, meets in ((1.0, True), (0.999, False)):
        delta = Poisson(sampling_probability=0.01, steps=3000).delta(
            noise_multiplier=factor * noise, epsilon=2.0
        )
        assert (delta <= 1e-6) == meets


@pytest.mark.parametrize(("sampling", "relation"), [("shuffled", "replace"), ("fixed", "replace")])
def test_noise_and_epsilon_are_inverse(sampling: str, relation: str) -> None:
    how = {"sampling": sampling, "relation": relation}
    noise = desk.required_noise(**{**BUDGET, "steps": 200}, **how).value
    reply = desk.spent_epsilon(**{**RUN, "steps": 200, "noise_multiplier": noise}, **how)
    high = reply.numbers["at most"]
    assert high == pytest.approx(2.0, rel=0.004)


@pytest.mark.parametrize(("epsilon", "share"), [(1e-9, 0.01), (1e6, 1.0)])
def test_fixed_batches_at_the_ends_are_plain_releases(epsilon: float, share: float) -> None:
    """Of a share of the record at much noise, of all of it at next to none."""
    plain = gaussian_noise_multiplier(epsilon=epsilon, delta=1e-6)
    few = {**BUDGET, "steps": 4, "epsilon": epsilon}
    for relation, shift in (("add_remove", 1), ("replace", 2)):
        reply = desk.required_noise(**few, sampling="fixed", relation=relation)
        assert reply.value == pytest.approx(share * shift * 2 * float(plain), rel=1e-3)


def test_few_steps_at_a_tiny_sampling_probability_are_answered():
    """Exactly, or between two ends that the exact value of a larger sampling probability shows."""
    few = {"noise_multiplier": 1.0, "batch_size": 50, "samples": 50_000, "steps": 20}
    assert not desk.spent_epsilon(**few, delta=1e-5).numbers
    rare = {"noise_multiplier": 1.09, "batch_size": 18, "samples": 100_000, "steps": 546}
    reply = desk.spent_epsilon(**rare, delta=3.8e-9)
    assert not reply.refused
    assert reply.numbers["at most"] == reply.value < 1.02 * reply.numbers["at least"]
    run = Poisson(sampling_probability=1e-3, steps=20)
    low, high = (bounded(run, 1.0, 1e-5, side) for side in (-1, 1))
    exact = run.epsilon(noise_multiplier=1.0, delta=1e-5)
    assert 0.99 * exact < low <= exact <= high < exact * (1 + 1e-5)
    noise = desk.required_noise(
        epsilon=reply.value, delta=3.8e-9, **{k: rare[k] for k in rare if k != "noise_multiplier"}
    )
    assert noise.value == pytest.approx(1.09, rel=1e-3)
    assert "enough, not exact" in noise.sentence


def test_full_batches_are_one_gaussian() -> None:
    full = {**RUN, "batch_size": 50_000, "steps": 4, "noise_multiplier": 3.0}
    for relation, shift in (("add_remove", 1), ("replace", 2)):
        exact = gaussian_epsilon(mu=shift * 2 / 3, delta=1e-6)
        for sampling in ("poisson", "fixed", "shuffled", "bins"):
            reply = desk.spent_epsilon(**full, sampling=sampling, relation=relation)
            assert reply.value == pytest.approx(exact, rel=1e-6)


def test_runs_are_paid_for() -> None:
    twice = desk.spent_epsilon(**RUN, runs=2).value
    assert twice == desk.spent_epsilon(**{**RUN, "steps": 6000}).value
    assert twice > 1.3 * desk.spent_epsilon(**RUN).value


def test_every_shuffled_run_starts_its_own_epochs() -> None:
    """150 of 100 batches an epoch, twice: four epochs are started, and only two are complete."""
    run = {"noise_multiplier": 1.0, "batch_size": 100, "samples": 10_000, "delta": 1e-5}
    reply = desk.spent_epsilon(**run, steps=150, runs=2, sampling="shuffled")
    assert reply.numbers["at most"] == pytest.approx(gaussian_epsilon(mu=2.0, delta=1e-5))
    complete = desk.spent_epsilon(**run, steps=200, sampling="shuffled")
    assert reply.numbers["at least"] == complete.numbers["at least"]


@pytest.mark.parametrize(("noise", "batches"), [(0.5, 4), (1.0, 100), (3.0, 1000)])
def test_epochs_of_balls_and_bins(noise: float, batches: int) -> None:
    """One epoch is known nearly exactly, below its Renyi divergences; several are composed."""
    one = EpochsOfBins(batches=batches, steps=batches)
    exact = one.epsilon(noise_multiplier=noise, delta=1e-6)
    rounded_up = BallsInBins(batches=batches).epsilon(noise_multiplier=noise, delta=1e-6)
    assert exact.lower < exact.upper <= rounded_up < exact.lower * 1.005
    assert exact.upper <= one._renyi(noise, 1e-6, 1)
    ends = [
        EpochsOfBins(batches=batches, steps=k * batches).epsilon(noise_multiplier=noise, delta=1e-6)
        for k in (2, 4)
    ]
    assert exact.upper < ends[0].upper < ends[1].upper
    assert all(0 < end.lower < end.upper < 1.005 * end.lower for end in ends)
    assert ends[1].upper < one._renyi(noise, 1e-6, 4)
    partial = EpochsOfBins(batches=batches, steps=3 * batches + 1)
    assert partial.epsilon(noise_multiplier=noise, delta=1e-6).upper == ends[1].upper
    replaced = EpochsOfBins(batches=batches, steps=2 * batches, relation="replace")
    low, high = replaced.epsilon(noise_multiplier=noise, delta=1e-6)
    assert ends[0].lower < low < high
    assert high > ends[0].upper


def test_renyi_divergences_of_balls_and_bins_are_moments() -> None:
    """Against the product of a few terms, by quadrature over two batches."""
    z = np.linspace(-14, 14, 1401)
    for noise in (0.8, 3.0):
        law = np.exp(-(z**2) / 2) * (z[1] - z[0]) / sqrt(2 * pi)
        ratio = np.exp(z / noise - 1 / (2 * noise**2))
        mean = np.add.outer(ratio, ratio) / 2
        moments = [float(law @ mean**a @ law) for a in (2, 3, 5, -1, -4)]
        found = [*bins._powers(noise, 2)[[2, 3, 5]], *bins._inverse(noise, 2, np.array([1, 4]))]
        np.testing.assert_allclose(np.exp(found), moments, rtol=1e-9)


@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0])
def test_moments_of_large_orders_are_right_or_infinite(noise: float) -> None:
    """Two batches, by quadrature over both; an order beyond the grid bounds nothing."""
    z = np.arange(-60, 9, 0.01 if noise < 0.2 else 0.02)
    mass = -(z**2) / 2 + log((z[1] - z[0]) / sqrt(2 * pi))
    ratio = z / noise - 1 / (2 * noise**2)
    orders = np.array([1, 2, 3, 8, 16, 64])
    found = bins._inverse(noise, 2, orders)
    assert np.isinf(found[-1]) and np.isfinite(found[0])
    for order, value in zip(orders, found, strict=True):
        if np.isfinite(value):
            rows = [
                a + logsumexp(mass - order * (np.logaddexp(x, ratio) - log(2)))
                for a, x in zip(mass, ratio, strict=True)
            ]
            assert value == pytest.approx(logsumexp(rows), abs=1e-7)


def test_epochs_are_epochs_under_every_scheme() -> None:
    """20 epochs of 117 batches and 22 records more: 2344 Poisson samples, or 20 shuffles."""
    run = {"samples": 120_000, "batch_size": 1024, "delta": 1e-6, "noise_multiplier": 1.1}
    for steps, epochs, shuffled in ((2344, 20, 2340), (2345, 21, 2345), (2340, 20, 2340)):
        known = desk.spent_epsilon(**run, steps=steps, sampling="unknown").numbers
        alone = desk.spent_epsilon(**run, steps=shuffled, sampling="shuffled").value
        assert known[f"if shuffled, {epochs} epochs begun: at most"] == alone


def test_delta_too_large_the_same_run_at_a_smaller_one() -> None:
    asked = {**BUDGET, "delta": 1e-3}
    enough = desk.required_noise(**BUDGET).value
    assert (
        f"noise {upper(enough)} is enough at delta = 1e-06" in desk.required_noise(**asked).instead
    )
    spent = desk.spent_epsilon(**{**RUN, "delta": 1e-3}, sampling="bins")
    assert "quote 3.46 at delta = 1e-06" in spent.instead


@pytest.mark.parametrize("change", [{}, {"noise_multiplier": 0.01}, {"delta": 0.1}])
def test_every_refusal_says_what_may_be_quoted(change: dict[str, float]) -> None:
    for sampling in ("shuffled", "unknown"):
        for relation in ("zero_out", "replace"):
            for steps in (1, 10, 3000):
                reply = desk.spent_epsilon(
                    **{**RUN, "steps": steps, **change}, sampling=sampling, relation=relation
                )
                assert not reply.refused or "quote " in reply.instead
    for budget in ({**BUDGET, "delta": 0.1}, {**BUDGET, "sampling": "unknown"}):
        assert re.search(r"noise [\d.]+ is enough", desk.required_noise(**budget).instead)
    assert "may be quoted" in desk.spent_epsilon(**{**RUN, "noise_multiplier": 0.0}).instead


def test_without_a_way_of_drawing_each_has_its_number() -> None:
    epsilons = desk.spent_epsilon(**RUN, sampling="unknown").numbers
    reply = desk.required_noise(**BUDGET, sampling="unknown")
    words = {
        "poisson": "",
        "fixed": "",
        "shuffled": ", 30 epochs begun",
        "bins": ", 30 epochs begun",
    }
    for sampling, begun in words.items():
        noise = reply.numbers[f"if {sampling}{begun}: enough"]
        assert noise == desk.required_noise(**BUDGET, sampling=sampling).value
        shown = rf"if {sampling}{begun}: enough +{re.escape(upper(noise))}\n"
        assert re.search(shown, str(reply))
        assert epsilons[f"if {sampling}{begun}: at most"] > 0


def test_opposite_others_refute_three_shuffled_recipes() -> None:
    """Counting the epochs whose largest release exceeds a level already proves too much."""
    proved = {"MNIST, sigma 1.1": 6.87, "MNIST, sigma 0.7": 36.67, "MNIST, sigma 1.3": 2.437}
    for recipe in desk.PUBLISHED:
        if recipe.drawn != "shuffled":
            continue
        low = desk.recipe_epsilon(recipe, sampling="shuffled").numbers["at least"]
        poisson = desk.recipe_epsilon(recipe, sampling="poisson").value
        if recipe.name not in proved:
            assert poisson < low < recipe.reported
            continue
        epochs, batches = recipe.steps // 235, 235
        levels = 2 + recipe.noise_multiplier * np.linspace(-1, 5, 241)
        counted = max(counted_epsilon(recipe, epochs, batches, level) for level in levels)
        assert counted == pytest.approx(proved[recipe.name], rel=0.01)
        assert recipe.reported < counted < low


def counted_epsilon(recipe: Recipe, epochs: int, batches: int, level: float) -> float:
    """Return the epsilon that a count of loud epochs proves at one level."""
    sigma, counts = recipe.noise_multiplier, np.arange(epochs + 1)
    p, q = (
        binom.logsf(counts - 1, epochs, -np.expm1(silent))
        for silent in (
            (batches - 1) * log_ndtr(level / sigma) + log_ndtr((level - a) / sigma) for a in (2, 1)
        )
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.log(np.maximum(np.exp(p) - recipe.delta, 0)) - q
    return float(np.nanmax(np.where(np.exp(p) > recipe.delta, gain, -np.inf)))


def test_published_epsilons_that_whole_orders_reproduce() -> None:
    assert ACCOUNTANTS["central limit (no bound)"](np.int64(2), 0.01, 200, 1e-5) > 0
    classical = ACCOUNTANTS["Renyi, whole orders, classical"]
    for name in ("Example, Abadi et al.", "MNIST, sigma 1.3", "MNIST, sigma 1.1"):
        r = next(r for r in desk.PUBLISHED if r.name == name)
        value = classical(r.noise_multiplier, r.batch_size / r.samples, r.steps, r.delta)
        assert value == pytest.approx(r.reported, abs=0.0051)
        assert desk.recipe_epsilon(r, sampling="poisson").value < value


def test_recipes_of_the_paper_are_too_small() -> None:
    for r in desk.PUBLISHED:
        reply = desk.recipe_epsilon(r, sampling="poisson")
        if r.name.startswith("ImageNet"):
            assert reply.refused and 1 < reply.numbers["delta times n"] < 1.1
            continue
        exact = reply.value
        assert (exact > r.reported) == r.source.startswith("anon2025"), r.name


@pytest.mark.parametrize("name", ACCOUNTANTS)
@pytest.mark.parametrize(
    ("place", "bad", "word"),
    [
        (0, -1.0, "noise"),
        (0, float("nan"), "noise"),
        (1, 1.5, "q"),
        (2, 0, "steps"),
        (3, 1.0, "delta"),
    ],
)
def test_accountants_check_what_they_are_given(name, place, bad, word):  # type: ignore[no-untyped-def]
    given = [1.0, 0.01, 100, 1e-5]
    given[place] = bad
    with pytest.raises(ValueError, match=word):
        ACCOUNTANTS[name](*given)


def test_the_noise_that_others_ask_for_inverts_them() -> None:
    run = {"samples": 50_000, "batch_size": 500, "steps": 1000, "delta": 1e-5}
    asked = desk.required_noise(epsilon=1.0, **run).numbers
    for name, accountant in ACCOUNTANTS.items():
        assert accountant(asked[name], 0.01, 1000, 1e-5) == pytest.approx(1.0, rel=1e-4)
    full = {"samples": 100, "batch_size": 100, "steps": 1, "delta": 1e-6}
    far = desk.required_noise(epsilon=1e9, **full).numbers
    assert "Renyi, all orders, tight" in far and "closed formula (no bound)" not in far


@pytest.mark.parametrize("exponent", [0.5, None])
def test_the_plan_has_the_risk_that_it_promises(exponent: float | None) -> None:
    reply = desk.plan_one_pass(**PLAN, epsilon=8.0, exponent=exponent)
    n = reply.numbers
    schedule = (
        PolynomialDecay(n["first step"], exponent)
        if exponent is not None
        else InverseTimeDecay(n["schedule scale"], n["schedule offset"])
    )
    again = {"aspect_ratio": 0.05, "label_variance": 0.25, "rho": n["rho"], "steps": 4000}
    for factor in (1.0, 0.7, 1.4):
        c = factor * n["clip constant c"]
        risk = one_pass_risk(0.5, schedule, clip_constant=c, **again)
        if factor == 1:
            assert n["expected excess risk"] == pytest.approx(float(risk), rel=1e-3)
        else:
            assert n["expected excess risk"] < float(risk)
    assert reply.value == pytest.approx(sqrt(100) * n["clip constant c"])
    assert n["hardly clipping costs a factor"] > 1


def test_rho_of_the_plan_is_the_budget() -> None:
    reply = desk.plan_one_pass(**PLAN, epsilon=2.0, exponent=0.5)
    epsilon = gaussian_epsilon(mu=sqrt(2 * reply.numbers["rho"]), delta=1e-5)
    assert epsilon == pytest.approx(2.0, rel=1e-6)


def test_the_sign_against_its_exact_law() -> None:
    """At S = 2 the plateau of the sign is measured on the lattice, that of SGD is exact."""
    eta, settings = 0.01, {**STEPS, "gradient_noise": 0.0, "batch_size": 1, "clip_norm": 1.0}
    reply = desk.choose_optimiser(noise_multiplier=2.0, **settings)
    law = stationary_sign_law(gaussian_sign(lambda x: x, 2.0), x0=0.0, learning_rate=eta).average
    sgd = eta * 4 / (2 - eta)
    assert reply.value == pytest.approx(law.variance / sgd, rel=0.01)
    adam = desk.choose_optimiser(noise_multiplier=2.0, **settings, rival="adam")
    assert adam.value == pytest.approx(reply.value / sqrt(pi / 2))


def test_clipping_everything_does_not_move_the_crossing() -> None:
    settings = {**STEPS, "clip_norm": 1.0}
    loose = desk.choose_optimiser(noise_multiplier=130.0, **settings)
    assert loose.numbers["K_1 = max(1, G/C)"] == pytest.approx(10.0)
    assert loose.value == pytest.approx(sqrt(pi / 2) / loose.numbers["S"], rel=1e-9)


def test_end_noise_by_brute_force() -> None:
    for lam, a, k in ((0.0, 0.3, 5), (0.7, 0.1, 20), (0.9, 0.0, 12), (0.5, 1.0, 4), (0.2, 0.5, 1)):
        kernel = (1 - a) ** np.arange(k, dtype=float)[::-1]
        matrix = np.eye(k) - lam * np.eye(k, k=-1)
        assert desk.end_noise_std(correlation=lam, decay=a, steps=k) == pytest.approx(
            np.linalg.norm(kernel @ matrix)
        )
    still = desk.end_noise_std(correlation=0.5, decay=0.0, steps=5)
    for decay in (1e-17, 3e-15, 1e-12):
        nearly = desk.end_noise_std(correlation=0.5, decay=decay, steps=5)
        assert nearly == pytest.approx(still, rel=1e-11)
    flat = cumulative_noise_std(noise_multiplier=1.0, correlation=0.9, steps=50)
    assert desk.end_noise_std(correlation=0.9, decay=0.0, steps=50) == pytest.approx(flat)


def test_correlation_says_no_yes_and_perhaps() -> None:
    no = desk.correlate_noise(**OFTEN, correlations=(0.9,))
    assert not no.refused and no.value > 1.05
    assert no.numbers["floor of the sum, any correlation"] > 0.99
    rare = {"epsilon": 8.0, "delta": 1e-5, "sampling_probability": 0.02, "steps": 150}
    yes = desk.correlate_noise(**rare, correlations=(0.9,))
    assert not yes.refused and yes.value < 0.9
    wide = {0.5: Bracket(0.1, 9.0)}
    assert desk.correlate_noise(**rare, correlations=(0.5,), multipliers=wide).refused


def test_one_shuffled_epoch_gains_from_correlation() -> None:
    """The sum of all noises at lambda 0.9 and 0.5, by hand."""
    epoch = {"epsilon": 1.0, "delta": 1e-5, "sampling_probability": 0.01, "sampling": "shuffled"}
    for lam, share in ((0.9, 0.3236), (0.5, 0.5859)):
        by_hand = sqrt((1 + 99 * (1 - lam) ** 2) / 100 / (1 - lam**2))
        assert by_hand == pytest.approx(share, abs=1e-4)
        reply = desk.correlate_noise(**epoch, steps=100, correlations=(lam,))
        assert not reply.refused and reply.value == pytest.approx(by_hand, rel=1e-6)
        alone = reply.numbers["independent multiplier"]
        longest = reply.numbers[f"multiplier at {lam:g}"] / alone
        assert longest == pytest.approx((1 - lam**2) ** -0.5, rel=1e-6)
    assert desk.correlate_noise(**epoch, steps=101).refused


@pytest.mark.parametrize(
    ("call", "changes", "name"),
    [
        (desk.required_noise, {**BUDGET, "epsilon": 0.0}, "epsilon"),
        (desk.required_noise, {**BUDGET, "batch_size": 60_000}, "batch_size"),
        (desk.required_noise, {**BUDGET, "sampling": "bootstrap"}, "sampling"),
        (desk.spent_epsilon, {**RUN, "relation": "zero"}, "relation"),
        (desk.spent_epsilon, {**RUN, "delta": 1.0}, "delta"),
        (desk.spent_epsilon, {**RUN, "batch_size": 60_000}, "batch_size"),
        (desk.spent_epsilon, {**RUN, "runs": 0}, "runs"),
        (desk.plan_one_pass, {**PLAN, "epsilon": -1.0}, "epsilon"),
        (desk.plan_one_pass, {**PLAN, "epsilon": 1.0, "features": "?"}, "features"),
        (desk.plan_one_pass, {**PLAN, "dimension": 1, "epsilon": 1.0, "exponent": -1}, "exponent"),
        (desk.choose_optimiser, {**STEPS, "noise_multiplier": 0.0}, "noise_multiplier"),
        (
            desk.choose_optimiser,
            {**STEPS, "noise_multiplier": 1.0, "tuned": True, "curvature": -1.0},
            "curvature",
        ),
        (desk.choose_optimiser, {**STEPS, "noise_multiplier": 1.0, "rival": "lion"}, "rival"),
        (desk.correlate_noise, {**OFTEN, "correlations": (1.0,)}, "correlations"),
        (desk.correlate_noise, {**OFTEN, "correlations": ()}, "correlations"),
        (desk.correlate_noise, {**OFTEN, "sampling": "unknown"}, "sampling"),
        (desk.correlate_noise, {**OFTEN, "sampling_probability": 1.5}, "sampling_probability"),
        (desk.correlate_noise, {**OFTEN, "sampling_probability": float("nan")}, "sampling_prob"),
        (desk.correlate_noise, {**OFTEN, "sampling": "fixed", "decay": -1.0}, "decay"),
        (desk.choose_optimiser, {**STEPS, "noise_multiplier": 1.0, "steps": 9}, "curvature"),
        (desk.choose_optimiser, {**STEPS, "noise_multiplier": 1.0, "steps": -3}, "steps"),
        (desk.correlate_noise, {**OFTEN, "blocks": (0, 1)}, "blocks"),
        (desk.correlate_noise, {**OFTEN, "multipliers": {0.5: Bracket(1.0, np.nan)}}, "multipl"),
        (desk.spent_epsilon, {**RUN, "noise_multiplier": 5e-324}, "noise_multiplier"),
        (desk.plan_one_pass, {**PLAN, "epsilon": 8.0, "label_std": 1e60}, "label_std"),
        (desk.end_noise_std, {"correlation": 1.0, "decay": 0.1, "steps": 3}, "correlation"),
        (desk.end_noise_std, {"correlation": 0.5, "decay": 1.1, "steps": 3}, "decay"),
    ],
)
def test_bad_input_is_named(call, changes, name) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=name):
        call(**changes)


def test_other_refusals() -> None:
    assert desk.spent_epsilon(**{**RUN, "noise_multiplier": 0.0}).refused
    assert desk.plan_one_pass(**{**PLAN, "dimension": 5}, epsilon=8.0).refused
    assert desk.plan_one_pass(**{**PLAN, "dimension": 1500}, epsilon=8.0).refused
    for std in (1e-8, 1e-30, 1e-50):
        small = desk.plan_one_pass(**{**PLAN, "label_std": std}, epsilon=8.0, exponent=0.5)
        assert small.refused and "beyond the search" in small.reason
    assert desk.choose_optimiser(noise_multiplier=1.0, **STEPS | {"batch_size": 10**30}).value > 1
    tiny = {**BUDGET, "samples": 1000, "batch_size": 1, "steps": 1}
    assert not desk.required_noise(**{**tiny, "delta": 9e-4}).refused
    few = {"epsilon": 1.0, "delta": 1e-5, "sampling_probability": 1e-6, "steps": 1}
    assert desk.correlate_noise(**few).refused


@pytest.mark.parametrize("noise", [1e-6, 1e-3, 0.04])
def test_faint_noise_is_refused_at_once(noise):
    reply = desk.spent_epsilon(
        noise_multiplier=noise, batch_size=500, samples=50_000, steps=3000, delta=1e-6
    )
    assert reply.refused
    assert reply.numbers["epsilon of one full batch"] > 1 / (2 * noise**2)


@pytest.mark.parametrize(
    ("value", "above", "below"),
    [(3.62548, "3.626", "3.625"), (40.0, "40.00", "40.00"), (123456.0, "123500", "123400")],
)
def test_a_bound_is_rounded_to_its_safe_side(value: float, above: str, below: str) -> None:
    assert float(upper(value)) == float(above) >= value
    assert float(lower(value)) == float(below) <= value


def test_the_epsilon_that_is_quoted_is_not_too_small() -> None:
    reply = desk.spent_epsilon(
        noise_multiplier=1, samples=50_000, batch_size=500, steps=3000, delta=1e-6
    )
    assert isinstance(reply, Answer)
    quoted = float(reply.sentence.split()[2].rstrip(","))
    assert reply.value <= quoted <= reply.value * 1.001


def test_bins_with_little_noise_are_bracketed() -> None:
    """The mesh of a term is as wide as its mean: only the upper end is computed there."""
    run = EpochsOfBins(batches=500, steps=1000)
    low, high = run.epsilon(noise_multiplier=0.2, delta=1e-6)
    assert 40 < low < high < 1.01 * low
    low, high = run.delta(noise_multiplier=0.2, epsilon=60.0)
    assert 0 <= low < high < 1e-10
    low, high = run.noise_for(epsilon=52.0, delta=1e-6)
    assert 0 < low < high


def test_bins_at_epsilon_zero_cost_no_more_than_next_to_it() -> None:
    run = EpochsOfBins(batches=100, steps=3000)
    low, high = run.delta(noise_multiplier=1.0, epsilon=[0.0, 1e-9])
    np.testing.assert_allclose(low[0], low[1], rtol=1e-6)
    np.testing.assert_allclose(high[0], high[1], rtol=1e-6)
    assert low[0] < high[0] < 1.01 * low[0]


def test_where_one_epoch_is_not_known_exactly_it_is_bracketed() -> None:
    with pytest.raises(ArithmeticError):
        BallsInBins(batches=120_000).epsilon(noise_multiplier=1.0, delta=1e-6)
    run = EpochsOfBins(batches=120_000, steps=120_000)
    low, high = run.epsilon(noise_multiplier=1.0, delta=1e-6)
    assert 0 < low < high < 0.5


def test_one_epoch_is_bounded_from_below_by_what_is_true() -> None:
    """At a delta of 1e-8 the exact value may err by a tenth of it."""
    low, high = EpochsOfBins(batches=100, steps=100).epsilon(noise_multiplier=1.0, delta=1e-8)
    assert low < 1.4431
    assert high < 1.4432
