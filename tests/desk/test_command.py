"""The command: its numbers are the library's, its errors are named."""

import json
import subprocess
import sys

import pytest

from dpdynamics.accounting import BallsInBins, Poisson
from dpdynamics.desk.answers import upper
from dpdynamics.desk.command import main
from dpdynamics.divergence import gaussian_epsilon

RUN = ["--samples", "50000", "--batch", "500", "--delta", "1e-6"]
NOISE = ["epsilon", "--noise", "1", *RUN]


def told(capsys, *arguments):
    """The record that a call prints, with its exit code."""
    code = main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert not err
    return {**json.loads(out), "code": code}


@pytest.mark.parametrize("relation", ["add_remove", "zero_out", "replace"])
@pytest.mark.parametrize(
    ("length", "steps"), [("--epochs 30", 3000), ("--epochs 0.123", 13), ("--steps 200", 200)]
)
def test_epsilon_is_the_library_s(relation, length, steps, capsys):
    record = told(capsys, *NOISE, *length.split(), "--relation", relation)
    run = Poisson(sampling_probability=0.01, steps=steps, relation=relation)
    assert record["epsilon"] == run.epsilon(noise_multiplier=1.0, delta=1e-6)
    assert record["epsilon"] <= record["quote"] < record["epsilon"] * 1.01
    assert (record["steps"], record["code"]) == (steps, 0)


def test_noise_is_the_library_s(capsys):
    record = told(capsys, "noise", "--epsilon", "3", *RUN, "--epochs", "30")
    run = Poisson(sampling_probability=0.01, steps=3000)
    assert record["noise_multiplier"] == run.noise_for(epsilon=3.0, delta=1e-6)
    assert run.epsilon(noise_multiplier=record["quote"], delta=1e-6) <= 3


def test_words_and_module_door():
    call = [sys.executable, "-m", "dpdynamics", *NOISE, "--epochs", "30"]
    run = subprocess.run(call, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("epsilon = 3.62548 at delta = 1e-06; quote at most 3.63\n")
    assert "one record added or removed" in run.stdout
    assert not run.stderr


def test_refusal_names_what_may_be_quoted(capsys):
    shuffled = [*NOISE, "--steps", "30", "--sampling", "shuffled"]
    assert main(shuffled) == 1
    out, err = capsys.readouterr()
    assert not out
    assert "REFUSED" in err
    assert "which is guaranteed" in err
    record = told(capsys, *shuffled)
    assert (record["refused"], record["code"]) == (True, 1)
    assert record["numbers"]["at most"] == gaussian_epsilon(mu=1.0, delta=1e-6)


def test_balls_and_bins_lie_between_poisson_samples_and_plain_releases(capsys):
    record = told(capsys, *NOISE, "--epochs", "10", "--sampling", "bins")
    low, high = record["numbers"]["at least"], record["numbers"]["at most"]
    assert 1 < low < high == record["epsilon"] < 0.2 * gaussian_epsilon(mu=10**0.5, delta=1e-6)
    one = told(capsys, *NOISE, "--epochs", "1", "--sampling", "bins")
    low, high = one["numbers"]["at least"], one["numbers"]["at most"]
    exact = BallsInBins(batches=100).epsilon(noise_multiplier=1.0, delta=1e-6)
    assert low < high == one["epsilon"] <= exact < 1.001 * low


def test_guaranteed_value_is_not_called_exact(capsys):
    assert main([*NOISE, "--epochs", "30", "--sampling", "fixed"]) == 0
    assert capsys.readouterr().out.startswith("epsilon <= ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*NOISE], "one of the arguments --epochs --steps is required"),
        ([*NOISE, "--epochs", "0"], "epochs must be positive"),
        ([*NOISE, "--epochs", "nan"], "epochs must be positive"),
        ([*NOISE, "--epochs", "1e300"], "steps must"),
        ([*NOISE, "--steps", "0"], "steps must"),
        ([*NOISE, "--steps", "3", "--batch", "0"], "batch_size must"),
        ([*NOISE, "--epochs", "3", "--batch", "60000"], "batch_size must be at most samples"),
        ([*NOISE, "--steps", "3", "--delta", "2"], "delta must"),
        ([*NOISE, "--steps", "3", "--noise", "-1"], "noise_multiplier must"),
        ([*NOISE, "--steps", "3", "--noise", "one"], "argument --noise: invalid float value"),
        ([*NOISE, "--steps", "3", "--relation", "none"], "argument --relation: invalid choice"),
        ([], "the following arguments are required: verb"),
    ],
)
def test_bad_input_ends_with_2_and_is_named(arguments, words, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    out, err = capsys.readouterr()
    assert end.value.code == 2
    assert not out
    assert words in err


@pytest.mark.parametrize("value", [3.6254798, 0.0012345, 12345.6, 3.63, 1.1, 1e-7, 999.5])
def test_rounding_never_falls_below(value):
    for digits in (3, 4):
        rounded = float(upper(value, digits))
        assert value <= rounded * (1 + 1e-12)
        assert rounded < value * (1 + 10.0 ** (1 - digits))
        assert float(f"{rounded:.{digits}g}") == rounded
    assert float(upper(0.0, 3)) == 0
