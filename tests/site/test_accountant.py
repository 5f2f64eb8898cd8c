"""The accountant in the page against the library's, and the form on the desk's page."""

import json
import re
import shlex
from math import ceil, exp, log
from pathlib import Path

import numpy as np
import pytest

from book_accountant import NUMBERS, PLACES
from dpdynamics import desk
from dpdynamics.accounting import FixedSize, Poisson, Shuffled, bins_replaced, many_epochs
from dpdynamics.accounting.runs import least_noise
from dpdynamics.desk.answers import upper as quoted
from dpdynamics.desk.batches import EVIDENCE
from dpdynamics.desk.bins import EpochsOfBins
from dpdynamics.desk.command import main
from dpdynamics.divergence import Gaussian, gaussian_epsilon
from dpdynamics.numerics.privacy_loss import composed_epsilon_upper

STATIC = Path(__file__).parents[2] / "book" / "static"
PAGE = "notebooks/synthesis/practitioner.html"
RELATIONS = ("add_remove", "replace", "zero_out")


@pytest.fixture(scope="module")
def accountant_page(browser):
    """A page with the accountant alone."""
    context = browser.new_context()
    page = context.new_page()
    for script in NUMBERS:
        page.add_script_tag(path=STATIC / script)
    yield page
    context.close()


@pytest.fixture(scope="module")
def accountant(accountant_page):
    """Function that asks the accountant one question of many runs; an error is its text."""

    def ask(what, runs):
        return accountant_page.evaluate(
            """([what, runs]) => runs.map((run) => {
                 try { return accountant[what](run); }
                 catch (e) { return `${e.name}: ${e.message}`; }
               })""",
            [what, runs],
        )

    return ask


@pytest.fixture(scope="module")
def closer(accountant_page):
    """Function that finds what the page finds in pieces, for one run after the other: two ends."""

    def find(what, sampling, runs):
        found = accountant_page.evaluate(
            """([what, sampling, runs]) => runs.map((run) => {
                 const pieces = accountant.closer({ what, sampling, ...run });
                 for (;;) { const { done, value } = pieces.next(); if (done) return value; }
               })""",
            [what, sampling, runs],
        )
        return ends(found)

    return find


def settings(seed, number):
    """Runs as practitioners have them: an epoch or more, noise 0.4 to 20, delta below 1/n."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        samples = 10 ** rng.uniform(3, 6.5)
        q = 1.0 if k % 20 == 0 else 10 ** rng.uniform(-4, -0.5)
        yield {
            "noise": exp(rng.uniform(log(0.4), log(20))),
            "q": q,
            "steps": ceil(10 ** rng.uniform(0, 2.5) / q),
            "relation": RELATIONS[k % len(RELATIONS)],
            "delta": float(samples ** -rng.uniform(1.05, 1.5)),
        }


def library(run):
    """The run as the library knows it."""
    return Poisson(sampling_probability=run["q"], steps=run["steps"], relation=run["relation"])


def exactly(found):
    """The numbers of answers, all of which must be exact."""
    assert not [answer for answer in found if not (isinstance(answer, dict) and answer["exact"])]
    return np.array([answer["high"] for answer in found])


def ends(found):
    """The lower and the upper ends of answers."""
    assert not [answer for answer in found if not isinstance(answer, dict)]
    low, high = (np.array([answer[end] for answer in found]) for end in ("low", "high"))
    assert np.all(low <= high)
    return low, high


def worst(found, wanted):
    """The largest relative difference."""
    return float(np.max(np.abs(np.array(found) / np.array(wanted) - 1)))


@pytest.fixture(scope="module")
def answered():
    """500 runs with the library's epsilon."""
    runs = list(settings(1, 500))
    return [
        {**r, "wanted": library(r).epsilon(noise_multiplier=r["noise"], delta=r["delta"])}
        for r in runs
    ]


def test_epsilon_is_the_library_s_in_500_settings(accountant, answered):
    runs = [{k: v for k, v in r.items() if k != "wanted"} for r in answered]
    assert worst(exactly(accountant("epsilon", runs)), [r["wanted"] for r in answered]) < 1e-6


def test_delta_is_the_library_s(accountant, answered):
    factors = np.random.default_rng(2).uniform(0.5, 1.2, 100)
    asked = [
        {**r, "epsilon": r["wanted"] * factor}
        for r, factor in zip(answered[:100], factors, strict=True)
    ]
    wanted = [library(r).delta(noise_multiplier=r["noise"], epsilon=r["epsilon"]) for r in asked]
    assert worst(exactly(accountant("delta", asked)), wanted) < 1e-6


def test_noise_is_the_library_s_and_meets_its_budget(accountant):
    epsilons = np.exp(np.random.default_rng(3).uniform(log(0.3), log(15), 40))
    asked = [{**r, "epsilon": e} for r, e in zip(settings(3, 40), epsilons.tolist(), strict=True)]
    wanted = [library(r).noise_for(epsilon=r["epsilon"], delta=r["delta"]) for r in asked]
    found = accountant("noise", asked)
    assert worst(found, wanted) < 1e-6
    for run, noise in zip(asked, found, strict=True):
        spent = library(run).epsilon(noise_multiplier=noise, delta=run["delta"])
        assert spent <= run["epsilon"] * (1 + 1e-12)


def test_one_gaussian_release(accountant):
    runs = [
        {"noise": s, "q": 1, "steps": k, "relation": "zero_out", "delta": d}
        for s in (0.3, 1.0, 30.0)
        for k in (1, 100)
        for d in (1e-3, 1e-20)
    ]
    wanted = [gaussian_epsilon(mu=r["steps"] ** 0.5 / r["noise"], delta=r["delta"]) for r in runs]
    assert worst(exactly(accountant("epsilon", runs)), wanted) < 1e-6


def test_next_to_no_participation_costs_nothing(accountant):
    run = {"noise": 20, "q": 1e-6, "steps": 1, "relation": "add_remove", "delta": 1e-6}
    assert exactly(accountant("epsilon", [run])) == [0]
    assert library(run).epsilon(noise_multiplier=20, delta=1e-6) == 0


RUN = {"noise": 1.0, "q": 0.01, "steps": 3000, "relation": "add_remove", "delta": 1e-6}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise": 0.01}, "RangeError: noise must lie between"),
        ({"noise": "one"}, "RangeError: noise must lie between"),
        ({"q": 1.2}, "RangeError: q must be above 0"),
        ({"steps": 0.5}, "RangeError: steps must be a whole number"),
        ({"delta": 0}, "RangeError: delta must be at least"),
        ({"relation": "none"}, "RangeError: relation must be one of"),
        ({"sampling": "none"}, "RangeError: sampling must be poisson"),
    ],
)
def test_what_it_cannot_answer_it_names(change, words, accountant):
    (answer,) = accountant("epsilon", [{**RUN, **change}])
    assert str(answer).startswith(words)


def test_batches_of_fixed_size_are_the_library_s(accountant):
    """The value at once as by the library's dominating pair, the proved one within its rounding."""
    sizes = [(100, 10_000, 500), (500, 50_000, 3000), (20, 400, 300), (1, 50, 4), (10, 100, 1)]
    runs = [
        {"noise": s, "q": b / n, "steps": k, "relation": r, "delta": 1e-6, "of": (b, n)}
        for s in (0.8, 2.0, 5.0)
        for b, n, k in sizes
        for r in ("zero_out", "replace")
    ]
    found = []
    for run in runs:
        b, n = run.pop("of")
        known = FixedSize(batch_size=b, samples=n, steps=run["steps"], relation=run["relation"])
        ends_known = (known._bound(run["noise"], 1e-6, side, rough=side > 0) for side in (-1, 1))
        found.append(tuple(ends_known))
    lower, upper = ends(accountant("epsilon", [{**r, "sampling": "fixed"} for r in runs]))
    many = np.array([r["steps"] >= 300 for r in runs])
    wanted = np.array([high for _, high in found])
    np.testing.assert_allclose(upper[many], wanted[many], rtol=1e-6)
    assert (upper / wanted)[~many].min() > 1 - 1e-6
    assert (upper / wanted)[~many].max() < 1 + 1e-3  # on a mesh, where the page does not invert
    assert np.all(lower <= wanted * (1 + 1e-6))
    proved = np.array([low for low, _ in found])
    assert np.all(lower[many] > 0.995 * proved[many])
    budget = {"epsilon": 2.0, "q": 0.01, "steps": 3000, "relation": "zero_out", "delta": 1e-6}
    run = FixedSize(batch_size=500, samples=50_000, steps=3000, relation="zero_out")
    needed = least_noise(lambda noise: run._bound(noise, 1e-6, 1, rough=True) - 2.0, 2.0)
    asked = [{**budget, "sampling": "fixed"}]
    assert accountant("noise", asked) == pytest.approx([needed], rel=3e-6)
    (below,) = accountant("noiseBelow", asked)  # the library's is rough
    proved = run.noise_for(epsilon=2.0, delta=1e-6).lower
    assert proved * (1 - 1e-3) < below < 1.03 * proved


def fixed_size_runs(seed, number):
    """Runs as practitioners have them, in which the bound on all steps together is computed."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        batch = int(np.exp(rng.uniform(log(20), log(4000))))
        samples = int(batch * np.exp(rng.uniform(log(8), log(300))))
        yield {
            "noise": exp(rng.uniform(log(0.7), log(6))),
            "of": (batch, samples),
            "steps": int(np.exp(rng.uniform(log(100), log(20_000)))),
            "relation": ("zero_out", "zero_out", "replace")[k % 3],
            "delta": float(samples ** -rng.uniform(1.05, 1.5)),
        }


def test_many_steps_of_fixed_size_are_the_library_s(accountant, closer):
    runs = list(fixed_size_runs(1, 12))
    wanted = []
    for run in runs:
        batch, samples = run.pop("of")
        run["q"] = batch / samples
        known = FixedSize(
            batch_size=batch, samples=samples, steps=run["steps"], relation=run["relation"]
        )
        wanted.append(known.epsilon(noise_multiplier=run["noise"], delta=run["delta"]).upper)
    _, alone = ends(accountant("epsilon", [{**r, "sampling": "fixed"} for r in runs]))
    _, together = closer("epsilon", "fixed", runs)
    assert worst(np.minimum(alone, together), wanted) < 1e-6
    assert np.mean(together < alone) > 0.7
    asked = [{**r, "epsilon": e} for r, e in zip(runs[:4], wanted[:4], strict=True)]
    for found, run in zip(closer("delta", "fixed", asked)[1], asked, strict=True):
        assert found <= run["delta"] * (1 + 1e-6)


@pytest.mark.parametrize("relation", ["zero_out", "replace"])
def test_noise_for_many_steps_of_fixed_size_is_the_library_s(relation, accountant, closer):
    run = {"q": 0.01, "steps": 3000, "relation": relation, "delta": 1e-6, "epsilon": 4.0}
    (start,) = accountant("noise", [{**run, "sampling": "fixed"}])
    _, (found,) = closer("noise", "fixed", [{**run, "start": start}])
    known = FixedSize(batch_size=500, samples=50_000, steps=3000, relation=relation)
    assert known.epsilon(noise_multiplier=found, delta=1e-6).upper <= 4.0
    assert found == pytest.approx(known.noise_for(epsilon=4.0, delta=1e-6).upper, rel=2e-3)
    assert found < 0.995 * start


def test_few_steps_nothing_closer(closer):
    run = {"noise": 1.0, "q": 0.01, "steps": 99, "relation": "replace", "delta": 1e-6}
    assert closer("epsilon", "fixed", [run])[1] == [np.inf]


def test_few_steps_at_a_tiny_sampling_probability(accountant):
    """Two ends around the library's value, which is exact or, with batches of fixed size, above."""
    for steps, relation in ((1, "remove"), (5, "replace"), (20, "add_remove")):
        run = {**RUN, "q": 0.001, "steps": steps, "delta": 1e-5}
        run["relation"] = "zero_out" if relation == "remove" else relation
        exact = library(run).epsilon(noise_multiplier=1.0, delta=1e-5)
        (low,), (high,) = ends(accountant("epsilon", [run]))
        assert exact * (1 - 1e-3) < low <= exact <= high < exact * (1 + 1e-3)
        (value,) = accountant("delta", [{**run, "epsilon": exact, "noise": 1.0}])
        assert value["low"] <= 1e-5 <= value["high"] < 1.02e-5
        asked = {**run, "epsilon": exact}
        (noise,) = accountant("noise", [{k: v for k, v in asked.items() if k != "noise"}])
        assert 1 <= noise < 1 + 1e-3


def test_shuffled_epochs_are_the_library_s(accountant, closer):
    """At once the largest releases, not put on cells; then the attack on the sum, as there."""
    sizes = [(500, 50_000, 3000), (500, 50_000, 99), (300, 1000, 40), (20, 400, 20), (100, 299, 3)]
    runs, found = [], []
    for noise in (0.7, 2.0, 20.0):
        for batch, samples, steps in sizes:
            for relation in ("zero_out", "replace"):
                of = {"steps": steps, "relation": relation}
                runs.append({"noise": noise, "q": batch / samples, "delta": 1e-5, **of})
                run = Shuffled(batch_size=batch, samples=samples, **of)
                found.append(run.epsilon(noise_multiplier=noise, delta=1e-5))
    lower, upper = ends(accountant("epsilon", [{**r, "sampling": "shuffled"} for r in runs]))
    below, above = (np.array([pair[end] for pair in found]) for end in (0, 1))
    np.testing.assert_allclose(upper, above, rtol=1e-6)
    further, _ = closer("epsilon", "shuffled", runs)
    assert np.mean(further > lower) > 0.5
    assert np.all(np.maximum(lower, further) <= above)
    np.testing.assert_allclose(np.maximum(lower, further), below, rtol=1e-3)


def test_balls_and_bins_are_the_library_s(accountant, closer):
    """At once by Renyi divergences and attacks, then closer."""
    runs, found = [], []
    for noise in (0.6, 4.0):
        for batches in (4, 200):
            for epochs in (1, 10):
                for relation in ("zero_out", "replace"):
                    of = {"steps": epochs * batches, "relation": relation}
                    runs.append({"noise": noise, "q": 1 / batches, "delta": 1e-6, **of})
                    run = EpochsOfBins(batches=batches, **of)
                    known = run.epsilon(noise_multiplier=noise, delta=1e-6)
                    pull = (1 + (relation == "replace")) / noise
                    plain = gaussian_epsilon(mu=pull * np.sqrt(epochs), delta=1e-6)
                    found.append((*known, min(run._renyi(noise, 1e-6, epochs), plain)))
    lower, upper = ends(accountant("epsilon", [{**r, "sampling": "bins"} for r in runs]))
    low, high = closer("epsilon", "bins", runs)
    below, above, at_once = np.transpose(found)
    np.testing.assert_allclose(upper, at_once, rtol=1e-6)
    several = np.array([r["steps"] * r["q"] > 1.5 and r["relation"] == "zero_out" for r in runs])
    np.testing.assert_allclose(high[several], above[several], rtol=1e-6)  # one is known exactly
    np.testing.assert_allclose(high, above, rtol=2e-3)
    assert np.all(np.maximum(lower, low) <= above)
    np.testing.assert_allclose(np.maximum(lower, low), below, rtol=2e-3)


def runs_of_bins(seed, number):
    """Noise, batches, epochs and delta, to the corners of what the form is asked."""
    yield from ((0.3, 2, 2, 1e-3), (0.3, 5000, 300, 1e-8), (10.0, 5000, 300, 1e-6))
    yield 10.0, 2, 300, 1e-8
    rng = np.random.default_rng(seed)
    for low in rng.uniform(size=(number, 4)):
        noise, batches, epochs, delta = np.exp(
            np.log([0.3, 2, 2, 1e-8]) + low * np.log([10 / 0.3, 2500, 150, 1e5])
        )
        yield noise, int(batches), int(epochs), delta


def more_room(run, add, monkeypatch):
    """The library's bound on a mesh half as fine, and with twice the charge for rounding."""
    noise, batches, epochs, delta = run
    charged = many_epochs.rounding
    epoch = many_epochs._epoch(many_epochs._windows(noise, batches), batches, add)
    coarse = composed_epsilon_upper(epoch, epochs, delta, cells=many_epochs._CELLS // 2)
    with monkeypatch.context() as patch:
        patch.setattr(many_epochs, "rounding", lambda batches: 2 * charged(batches))
        patch.setattr(many_epochs, "_windows", many_epochs._windows.__wrapped__)
        return coarse, many_epochs.epsilon_above(*run, add)


def test_many_epochs_of_bins_are_the_library_s(accountant_page, monkeypatch):
    """To 1e-6, or to a hundredth of what the mesh costs or to what the charge for rounding does.

    Attacks on the sums stay below; what they prove is compared with the library's above.
    """
    runs = list(runs_of_bins(7, 40))
    found = accountant_page.evaluate(
        """(runs) => runs.map(([noise, batches, epochs, delta]) => {
             const run = { noise, batches, epochs, delta };
             if (manyEpochs.refusal(run)) return null;
             const shown = (pieces) => {
               for (;;) {
                 const { done, value } = pieces.next();
                 if (done) return value ? privacyLoss.fallsTo(value, delta) : 0;
               }
             };
             return [false, true].map((add) => [
               shown(epochAttacks.below({ ...run, present: 1, places: add ? [0, 1] : [1, 0] })),
               shown(manyEpochs.above({ ...run, add })),
             ]);
           })""",
        runs,
    )
    compared = proved = 0
    for run, answers in zip(runs, found, strict=True):
        for add, (low, high) in zip((False, True), answers or [(0, np.inf)] * 2, strict=True):
            wanted = many_epochs.epsilon_above(*run, add)
            if wanted == np.inf:
                assert answers is None
                continue
            assert 0 <= low <= wanted, run
            proved += low > 0
            if high != pytest.approx(wanted, rel=1e-6):
                coarse, charged = more_room(run, add, monkeypatch)
                room = max(0.01 * (coarse - wanted), charged - wanted)
                assert high == pytest.approx(wanted, rel=0, abs=room), run
            compared += 1
    assert compared >= 80
    assert proved >= compared - 4  # nothing where f is nearly constant


def test_epochs_of_bins_with_a_replaced_record_are_the_library_s(accountant_page, monkeypatch):
    """To 1e-6, or to what the charge for rounding does; three runs share an epoch."""
    rng = np.random.default_rng(8)
    places = [(0.5, 2), (10.0, 5000), (0.5, 300), (1.0, 117)]
    for low in rng.uniform(size=(4, 2)):
        noise, batches = np.exp(np.log([0.5, 2]) + low * np.log([20, 2500]))
        places.append((noise, int(batches)))
    runs = []
    for (noise, batches), low in zip(places, rng.uniform(size=(len(places), 2)), strict=True):
        epochs, delta = np.exp(np.log([1, 1e-8]) + low * np.log([18, 6e3]))
        runs += [(noise, batches, int(epochs) * k, delta * k) for k in (1, 4, 16)]
    found = accountant_page.evaluate(
        """(runs) => runs.map(([noise, batches, epochs, delta]) => {
             const run = { noise, batches, epochs, delta };
             if (replacedEpochs.refusal(run)) return [0, "Infinity"];
             return ["below", "above"].map((side) => {
               const pieces = replacedEpochs[side](run);
               for (;;) {
                 const { done, value } = pieces.next();
                 if (done) return value ? String(privacyLoss.fallsTo(value, delta)) : 0;
               }
             });
           })""",
        runs,
    )
    wanted = np.array([bins_replaced.epsilon_above(*run) for run in runs])
    proved = np.array([bins_replaced.epsilon_below(*run) for run in runs])
    low, high = np.array(found, dtype=float).T
    close = np.isclose(high, wanted, rtol=1e-6, atol=0)
    assert np.sum(close & np.isfinite(wanted)) >= 18
    monkeypatch.setattr(
        bins_replaced, "rounding", lambda batches: 2 * many_epochs.rounding(batches)
    )
    for at in np.flatnonzero(~close):
        bins_replaced._excess.cache_clear()
        charged = bins_replaced.epsilon_above(*runs[at])
        assert high[at] == pytest.approx(wanted[at], rel=0, abs=charged - wanted[at])
    bins_replaced._excess.cache_clear()
    assert np.all(low <= wanted)
    assert np.all(low >= proved * (1 - 1e-3) * (low > 0))
    assert np.sum(low > 0) >= 18


@pytest.mark.parametrize(
    "run",
    [
        (1.0, 117, 20, "zero_out"),
        (0.7, 16, 100, "zero_out"),
        (3.0, 600, 5, "zero_out"),
        (1.0, 117, 20, "replace"),
        (3.0, 20, 5, "replace"),
        (126.0, 117, 20, "zero_out"),  # where the search starts nothing closer is computed
    ],
)
def test_noise_for_many_epochs_of_bins_is_the_library_s(run, accountant, closer):
    noise, batches, epochs, relation = run
    known = EpochsOfBins(batches=batches, steps=batches * epochs, relation=relation)
    epsilon = float(known._bound(noise, 1e-6, side=1))
    asked = {"q": 1 / batches, "steps": batches * epochs, "relation": relation, "delta": 1e-6}
    (start,) = accountant("noise", [{**asked, "epsilon": epsilon, "sampling": "bins"}])
    _, (found,) = closer("noise", "bins", [{**asked, "epsilon": epsilon, "start": start}])
    assert found == pytest.approx(noise, rel=2e-6)
    assert found < start
    assert known._bound(found, 1e-6, side=1) <= epsilon * (1 + 1e-7)


def test_a_search_that_meets_a_refusal_goes_half_way_back(accountant, closer):
    """At the noise of a far target, by Renyi divergences, a first step is one to less than 0.5."""
    asked = {"q": 1 / 4, "steps": 4, "relation": "replace", "delta": 1e-2, "epsilon": 12.0}
    (start,) = accountant("noise", [{**asked, "sampling": "bins"}])
    _, (found,) = closer("noise", "bins", [{**asked, "start": start}])
    assert 0.5 <= found < 0.95 * start
    asked = bins_replaced.epsilon_above(found * (1 + 2e-6), 4, 1, 1e-2)  # as well as above
    assert asked <= 12


def test_delta_of_many_epochs_of_bins_is_that_of_their_epsilon(accountant, closer):
    run = {"noise": 1.0, "q": 0.01, "steps": 3000, "delta": 1e-6}
    for relation in ("zero_out", "replace"):
        of = {**run, "relation": relation}
        _, high = ends(accountant("epsilon", [{**of, "sampling": "bins"}]))
        asked = {**of, "epsilon": float(high[0]), "sampling": "bins"}
        _, back = ends(accountant("delta", [{k: asked[k] for k in asked if k != "delta"}]))
        assert back[0] == pytest.approx(1e-6, rel=1e-3)
        for end, epsilon in enumerate(closer("epsilon", "bins", [of])):
            asked = {**of, "epsilon": float(epsilon[0])}
            assert closer("delta", "bins", [asked])[end][0] == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise": 0.15}, "the noise multiplier is below 0.2"),
        ({"noise": 10.0, "q": 5e-5, "steps": 40_000}, "an epoch has too many batches"),
        ({"delta": 1e-12}, "δ is below"),
        ({"relation": "replace", "noise": 0.45}, "the noise multiplier is below 0.5"),
        ({"q": 0.6, "steps": 2}, "an epoch has one batch"),
    ],
)
def test_where_epochs_of_bins_are_not_composed_the_value_at_once_is_the_library_s(
    change, words, accountant, accountant_page
):
    run = {"noise": 1.0, "q": 0.01, "steps": 3000, "relation": "zero_out", "delta": 1e-6, **change}
    reply = accountant_page.evaluate(
        """(run) => {
             const pieces = accountant.closer({ what: "epsilon", sampling: "bins", ...run });
             for (;;) { const { done, value } = pieces.next(); if (done) return value; }
           }""",
        run,
    )
    assert reply["why"].startswith(words)
    assert reply["high"] == np.inf
    _, high = ends(accountant("epsilon", [{**run, "sampling": "bins"}]))
    known = EpochsOfBins(batches=int(1 / run["q"]), steps=run["steps"], relation=run["relation"])
    wanted = known.epsilon(noise_multiplier=run["noise"], delta=run["delta"]).upper
    assert high[0] == pytest.approx(wanted, rel=1e-6)


def test_no_answer_is_ever_without_a_number(accountant):
    """Corners of the range: a finite upper end, whatever is refused on the way."""
    runs = [
        {"noise": noise, "q": q, "steps": steps, "relation": "replace", "delta": delta}
        for noise in (0.05, 1.0, 1000.0)
        for q in (1e-7, 0.01, 1.0)
        for steps in (1, 1000, 10_000_000)
        for delta in (1e-30, 1e-2)
    ]
    for sampling in ("poisson", "fixed", "shuffled", "bins"):
        lower, upper = ends(accountant("epsilon", [{**r, "sampling": sampling} for r in runs]))
        assert np.all(np.isfinite(upper))
        assert np.all(lower >= 0)
        for run, value in zip(runs, upper, strict=True):  # no less than what one release tells
            if value < 500:
                one = Gaussian(run["noise"], run["q"], "replace").delta(float(value))
                assert one <= run["delta"] * (1 + 1e-6)


def test_what_is_not_exact_is_bounded_nearby(accountant):
    run = {"noise": 0.06, "q": 0.5, "steps": 2, "relation": "add_remove", "delta": 1e-6}
    (answer,) = accountant("epsilon", [run])
    plain = gaussian_epsilon(mu=2**0.5 / 0.06, delta=1e-6)
    assert not answer["exact"] or answer["high"] < plain
    assert answer["high"] < 1.2 * plain


# --- the form on the desk's page ------------------------------------------------------------------


FILL = """(form, fields) => {
  for (const [name, value] of Object.entries(fields)) {
    form.elements[name].value = value;
    if (form.elements[name].value !== value) throw new Error(`${name} cannot be ${value}`);
  }
  form.requestSubmit();
  const said = form.querySelector(".accountant-answer");
  return [said.innerText, said.getAttribute("aria-busy")];
}"""


def answer(page, **fields):
    """Fill fields of the form and send it, in one task; return what it says.

    What is typed is answered, and its plots are drawn, between such tasks: a test of that waits.
    """
    page.locator(".accountant-form").evaluate(FILL, fields)
    page.wait_for_selector(".accountant-answer[aria-busy=false]")
    return page.locator(".accountant-answer p").first.inner_text()


def evaluated(page):
    """What the line of Python in the form answers."""
    line = page.locator(".accountant-copy code").first.inner_text()
    start, call = " ".join(line.split()).split("; ")
    assert start == "from dpdynamics import desk"
    assert call.startswith("print(") and call.endswith(")")
    return eval(call[6:-1], {"desk": desk})


@pytest.fixture
def form_page(shared_page):
    """The desk's page with the form as it was first."""
    page = shared_page(PAGE)
    page.locator(".accountant-form").evaluate("form => form.reset()")
    return page


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"relation": "replace", "samples": "60 000", "batch": "256", "value": "1.3"},
        {"given": "epsilon", "value": "3", "delta": "10^-7", "unit": "steps", "duration": "2000"},
        {"given": "epsilon", "value": "8", "samples": "50,000", "batch": "4096"},
        {"samples": "1000", "batch": "1000", "value": "20", "delta": "1e-5"},
    ],
)
def test_form_gives_the_desk_s_number(fields, form_page, capsys):
    said = answer(form_page, **fields)
    exact, quoted = (float(x.rstrip(".")) for x in re.findall(r"\d[\d.e-]*", said))
    wanted = evaluated(form_page)
    assert not wanted.refused
    assert exact == pytest.approx(wanted.value, rel=1e-4)
    assert wanted.value <= quoted < wanted.value * 1.01
    command = form_page.locator(".accountant-copy code").last.inner_text()
    assert main([*shlex.split(command)[1:], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert quoted == told["quote"]
    assert exact == pytest.approx(told.get("epsilon") or told["noise_multiplier"], rel=1e-4)
    card = form_page.locator(".accountant-copy p").inner_text()
    assert f"noise multiplier {quoted}" in card or f"at most {quoted}" in card


@pytest.mark.parametrize("place", ["http_address", "file_address"])
def test_form_follows_typing_and_draws(place, request, open_page):
    form_page = open_page(request.getfixturevalue(place) + PAGE)
    before = form_page.locator(".accountant-answer").inner_text()
    assert "3.6255" in before
    form_page.locator("[name=value]").fill("2")
    form_page.wait_for_function(
        "before => document.querySelector('.accountant-answer').innerText !== before", arg=before
    )
    form_page.wait_for_selector(".accountant-plots svg >> nth=1")
    labels = form_page.locator(".accountant-plots svg").evaluate_all(
        "all => all.map((e) => e.getAttribute('aria-label'))"
    )
    assert [label.split(",")[0] for label in labels] == ["δ against ε", "ε against epochs"]
    assert not form_page.locator(".accountant-plots .band").count()
    assert "this run: 1e-6 at" in labels[0]
    assert not form_page.complaints


@pytest.mark.parametrize("sampling", ["fixed", "shuffled", "bins"])
def test_form_gives_both_ends_and_draws_them(sampling, form_page, capsys):
    page = form_page
    said = answer(page, sampling=sampling)
    high, low = (
        float(x)
        for x in re.fullmatch(
            r"Quote: ε ≤ (\S+), guaranteed. Some data spend at least (\S+)\.", said
        ).groups()
    )
    assert "No exact ε is known" in page.locator(".accountant-answer").inner_text()
    wanted = evaluated(page).numbers
    assert wanted["at most"] <= high < wanted["at most"] * 1.01
    assert wanted["at least"] * 0.98 <= low <= wanted["at least"] * 1.02
    command = page.locator(".accountant-copy code").last.inner_text()
    main([*shlex.split(command)[1:], "--json"])
    assert json.loads(capsys.readouterr().out)["numbers"] == wanted
    page.wait_for_selector(".accountant-plots svg >> nth=1")
    assert page.locator(".accountant-plots .band").count() == 2


@pytest.mark.parametrize("sampling", ["poisson", "fixed", "shuffled", "bins", "unknown"])
def test_every_answer_has_a_line_and_its_evidence(sampling, form_page, site):
    """Claims that fail as printed are nothing that an answer rests on."""
    page = form_page
    chapter = (site / "notebooks/foundations/accounting.html").read_text("utf-8")
    ledger = json.loads((site / "ledger.json").read_text("utf-8"))
    failed = {c["id"] for c in ledger["claims"] if c["verdict"] == "fails as printed"}
    for given, value in (("noise", "2"), ("epsilon", "8")):
        answer(page, sampling=sampling, given=given, value=value)
        assert evaluated(page).question
        links = page.locator(".accountant-basis a:visible").evaluate_all(
            "all => all.map(e => e.getAttribute('href'))"
        )
        claims = [link.split("#ledger-")[1] for link in links if "#ledger-" in link]
        basis = [claim for claim in EVIDENCE[sampling] if claim not in failed]
        assert claims == [claim.replace(".", "-") for claim in basis]
        places = [link.split("#")[1] for link in links if "accounting.html#" in link]
        assert [place for place, _ in PLACES[sampling]] == places
        for place in places:
            assert f'id="{place}"' in chapter


@pytest.mark.parametrize("given", [("noise", "1.25"), ("epsilon", "4")])  # not asked before
@pytest.mark.parametrize(
    ("sampling", "words"),
    [("fixed", "all steps together"), ("bins", "privacy loss of an epoch")],
)
def test_form_shows_that_it_works_on_a_closer_bound(sampling, words, given, form_page):
    page = form_page
    fields = {
        "sampling": sampling,
        "relation": "replace" if sampling == "fixed" else "zero_out",
        **dict(zip(("given", "value"), given, strict=True)),
    }
    first, busy = page.locator(".accountant-form").evaluate(FILL, fields)
    assert "is being computed" in first
    assert busy == "true"
    assert answer(page, **fields) not in first
    assert "is being computed" not in page.locator(".accountant-answer").inner_text()
    assert words in page.locator(".accountant-copy p").inner_text()


def test_noise_from_below_follows_the_answer(form_page):
    said = answer(form_page, sampling="shuffled", given="epsilon", value="3")
    words = form_page.locator(".accountant-plots p")
    words.wait_for()
    low = float(re.search(r"less than σ = (\S+),", words.inner_text())[1])
    run = Shuffled(batch_size=500, samples=50_000, steps=3000)
    taken, spent = (float(x) for x in re.findall(r"= (\d+\.\d+)", said))
    known = run.epsilon(noise_multiplier=taken, delta=1e-6)
    assert spent == pytest.approx(known.lower, rel=0.02)
    assert spent < known.upper <= 3
    assert low == pytest.approx(run.noise_for(epsilon=3.0, delta=1e-6).lower, rel=0.005)


CORNERS = [
    {
        "given": given,
        "value": value,
        "delta": delta,
        "relation": "replace",
        "unit": "steps",
        "duration": steps,
    }
    for given, value in (
        ("noise", "0.01"),
        ("noise", "0.06"),
        ("epsilon", "0.001"),
        ("epsilon", "900"),
    )
    for delta in ("1e-6", "0.1")
    for steps in ("1", "10000000")
]


@pytest.mark.parametrize("sampling", ["poisson", "fixed", "shuffled", "bins", "unknown"])
def test_what_is_refused_says_what_may_be_quoted(sampling, form_page):
    refused = 0
    for fields in CORNERS:
        head = answer(form_page, sampling=sampling, **fields)
        said = form_page.locator(".accountant-answer").inner_text()
        assert re.search(r"(quote|Quote:) ε ≤ [\d.e]+|[Tt]ake (σ = )?[\d.e]+", said), (fields, said)
        refused += head.startswith(("Refused", "No number yet"))
    assert refused


@pytest.mark.parametrize(
    "fields",
    [
        {"samples": "1900", "batch": "1000", "duration": "19", "unit": "steps", "delta": "1e-5"},
        {"samples": "120000", "batch": "1024", "duration": "2343", "unit": "steps"},
        {"samples": "120000", "batch": "1024", "duration": "20", "unit": "epochs"},
    ],
)
def test_form_counts_epochs_that_drop_their_last_batch(fields, form_page):
    said = answer(form_page, **fields, value="0.949", sampling="shuffled")
    high = evaluated(form_page).numbers["at most"]
    quoted = float(re.search(r"ε ≤ (\d[\d.]*\d)", said)[1])
    assert high <= quoted < high * 1.01


def test_form_counts_epochs_that_keep_their_last_batch(form_page, capsys):
    """2 360 steps are 20 epochs of 118 batches; of 117 they would be 20 epochs and a part."""
    run = {"samples": "120000", "batch": "1024", "delta": "1e-6", "value": "2"}
    said = answer(form_page, **run, unit="steps", duration="2360", sampling="shuffled")
    assert "20 epochs of 118 batches" in form_page.locator(".accountant-answer").inner_text()
    high = evaluated(form_page).numbers["at most"]
    assert high == pytest.approx(gaussian_epsilon(mu=20**0.5 / 2, delta=1e-6))
    command = form_page.locator(".accountant-copy code").last.inner_text()
    main([*shlex.split(command)[1:], "--json"])
    assert json.loads(capsys.readouterr().out)["numbers"]["at most"] == high
    assert answer(form_page, **run, unit="epochs", duration="20", sampling="shuffled") == said


def test_another_kind_of_number_is_asked_for_anew(form_page):
    given = form_page.locator("select[name=given]")
    given.select_option("epsilon")
    said = form_page.locator(".accountant-answer").inner_text()
    assert said == "No number yet: “Noise or target” is empty."


def test_form_says_what_the_loader_of_opacus_does(form_page):
    """As many steps an epoch as its batches, each with the reciprocal as probability."""
    run = {"samples": "120000", "batch": "1024", "duration": "20", "delta": "1e-6"}
    answer(form_page, **run)
    said = form_page.locator(".accountant-answer").inner_text().replace("\u202f", "")
    for words, inside in (("this batch size", 118), ("with drop_last", 117)):
        spent = Poisson(sampling_probability=1 / inside, steps=20 * inside)
        epsilon = quoted(spent.epsilon(noise_multiplier=1.0, delta=1e-6), 3)
        assert f"{words} {20 * inside} steps with q = 1/{inside}: ε ≤ {epsilon}" in said
    answer(form_page, **run, given="epsilon", value="2")
    noise = quoted(spent.noise_for(epsilon=2.0, delta=1e-6))
    assert f"σ = {noise}." in form_page.locator(".accountant-answer").inner_text()
    answer(form_page, **{**run, "batch": "1000"})
    assert "Opacus" not in form_page.locator(".accountant-answer").inner_text()


def test_form_answers_few_steps_at_a_tiny_sampling_probability(form_page):
    run = {"samples": "50000", "batch": "50", "unit": "steps", "duration": "20", "delta": "1e-5"}
    said = answer(form_page, **run, value="1")
    wanted = evaluated(form_page).value
    quoted, low = (float(x) for x in re.findall(r"\d\.\d+", said))
    assert 0.99 * wanted < low <= wanted <= quoted < 1.01 * wanted
    assert answer(form_page, **run, given="epsilon", value="0.5").startswith("Take σ = 0.58")
    assert 0.58 < evaluated(form_page).value < 0.59


@pytest.mark.parametrize("sampling", ["poisson", "fixed", "shuffled", "bins", "unknown"])
@pytest.mark.parametrize(
    "fields",
    [
        {"given": "epsilon", "value": "0.001", "relation": "replace"},
        {"given": "noise", "value": "0.1", "relation": "replace", "unit": "steps"},
        {"given": "epsilon", "value": "8", "unit": "steps", "duration": "1"},
        {"given": "noise", "value": "1", "batch": "50000", "unit": "steps", "duration": "3000"},
    ],
)
def test_form_never_keeps_the_answer_for_other_inputs(fields, sampling, form_page):
    """At the ends of what is computed: a number, or a refusal that says why, and no complaint."""
    answer(form_page, given="noise", value="2", sampling=sampling)
    before = form_page.locator(".accountant-answer").inner_text()
    said = answer(form_page, **fields)
    assert form_page.locator(".accountant-answer").inner_text() != before
    assert not form_page.complaints
    assert re.match(r"Refused: |(No exact .*)?(ε = |Quote: ε ≤ |Take σ = |Noise multiplier )", said)
    assert (
        not re.search(r"at least (ε = )?0(\.(?!\d)| )", said)
        and "NaN" not in said
        and "undefined" not in said
    )


@pytest.mark.parametrize(
    ("fields", "marked"),
    [
        ({"samples": "many"}, "samples"),
        ({"batch": "60000"}, "batch"),
        ({"duration": "0"}, "duration"),
        ({"duration": "1e9"}, "duration"),
        ({"value": "0.01"}, "value"),
        ({"value": "1,5"}, "value"),
        ({"samples": "50.000"}, "samples"),
        ({"delta": "1e-4"}, "delta"),
        ({"delta": ""}, "delta"),
        ({"given": "epsilon", "value": "-1"}, "value"),
    ],
)
def test_form_names_what_is_wrong_beside_the_field(fields, marked, form_page):
    page = form_page
    assert answer(page, **fields).startswith(("No number yet: “", "Refused: “"))
    invalid = page.locator(".accountant-form [aria-invalid=true]")
    assert invalid.evaluate_all("all => all.map((e) => e.name)") == [marked]
    words = page.locator(f"#{invalid.get_attribute('aria-describedby')}")
    assert len(words.inner_text()) > 10
    assert not page.locator(".accountant-copy").count()


@pytest.mark.parametrize(
    "fields",
    [{"delta": text} for text in ("10^-6", "1 × 10⁻⁶", "1*10**-6", "1e−6", "10⁻⁶", " .000001 ")]
    + [{"samples": "50k", "batch": "0.5k"}, {"samples": "50\u202f000", "batch": "\t500 "}],
)
def test_form_reads_numbers_as_people_write_them(fields, form_page):
    assert answer(form_page, **fields) == answer(form_page, samples="50000", batch="500")
    assert "ε = 3.6255" in answer(form_page, delta="1e-6")


TYPE = """(form, [name, text]) => {
  form.elements[name].value = text;
  form.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
  const parts = [".accountant-answer", ".accountant-more"];
  return parts.map((part) => form.querySelector(part).innerText);
}"""


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("value", ""), "“Noise or target” is empty"),
        (("value", "."), "“Noise or target” cannot be read"),
        (("delta", "1e-"), "“δ” cannot be read"),
        (("samples", ""), "“Records, n” is empty"),
        (("value", "-1"), "“Noise or target” is out of range"),
    ],
)
def test_a_half_typed_entry_withdraws_the_answer_at_once(typed, words, form_page):
    page, form = form_page, form_page.locator(".accountant-form")
    assert answer(page, given="epsilon", value="3", sampling="shuffled").startswith("Take σ = ")
    page.wait_for_selector(".accountant-plots svg")
    for _ in range(2):  # nothing that was under way comes back
        said, more = form.evaluate(TYPE, typed)
        assert said == f"No number yet: {words}."
        assert not more
        page.wait_for_timeout(300)
    said, more = form.evaluate(
        TYPE, (typed[0], {"value": "2", "delta": "1e-7"}.get(typed[0], "60000"))
    )
    assert said == "Computing …"
    assert not more


@pytest.mark.parametrize("fields", [{"delta": "1e-4"}, {"delta": "0"}])
def test_what_is_out_of_range_is_refused_with_what_may_be_quoted(fields, form_page):
    answer(form_page, **fields)
    said = form_page.locator(".accountant-answer").inner_text()
    assert re.search(r"At δ = 1e-6: ε = 3\.62\S+ Quote: ε ≤ 3\.63", said)
    reason = form_page.locator("#accountant-delta-error").inner_text()
    assert said.startswith(f"Refused: “δ” is out of range. {reason}")
    answer(form_page, sampling="unknown", **fields)
    ways = form_page.locator(".accountant-answer").inner_text()
    answer(form_page, sampling="unknown", delta="1e-6")
    wanted = form_page.locator(".accountant-answer").inner_text()
    for way in (
        "Poisson samples",
        "shuffled epochs",
        "epochs of balls and bins",
        "samples of fixed",
    ):
        (there,), (here,) = (
            re.findall(rf"If {way}[^:]*: ε ≤ ([\d.]+)\.", text) for text in (wanted, ways)
        )
        assert float(there) <= float(here) < 1.2 * float(there)


def test_form_is_reached_by_keyboard_in_order(form_page):
    page = form_page
    page.locator("[name=samples]").focus()
    names = ["samples"]
    while names[-1] != "sampling" and len(names) < 20:
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.name"))
    expected = "samples batch duration unit value given delta relation sampling"
    assert names == expected.split()


def test_form_stands_back_without_script_and_on_paper(http_address, open_page, shared_page):
    page = open_page(http_address + PAGE, java_script_enabled=False)
    assert page.locator(".accountant-still").is_visible()
    assert "desk.spent_epsilon(" in page.locator(".accountant-still").inner_text()
    assert not page.locator(".accountant-form").is_visible()
    page = shared_page(PAGE)
    assert not page.locator(".accountant-still").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".accountant-still").is_visible()
    assert not page.locator(".accountant-form").is_visible()
