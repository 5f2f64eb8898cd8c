"""Streams of random numbers: one per label, all moved by the base seed."""

import numpy as np
import pytest

from dpdynamics.verification import generator
from dpdynamics.verification.seeds import base_seed


def first(label):
    return generator(label).standard_normal(5)


def test_equal_labels_give_equal_streams_and_others_do_not(monkeypatch):
    monkeypatch.delenv("DPDYNAMICS_SEED", raising=False)
    assert np.array_equal(first("a"), first("a"))
    assert not np.array_equal(first("a"), first("b"))
    assert base_seed() == 2025


def test_the_environment_moves_every_stream(monkeypatch):
    monkeypatch.setenv("DPDYNAMICS_SEED", "1")
    one = first("a")
    monkeypatch.setenv("DPDYNAMICS_SEED", "2")
    assert not np.array_equal(one, first("a"))


@pytest.mark.parametrize("text", ["", "-1", "1.5", "seed"])
def test_a_bad_seed_is_named(monkeypatch, text):
    monkeypatch.setenv("DPDYNAMICS_SEED", text)
    with pytest.raises(ValueError, match="DPDYNAMICS_SEED"):
        generator("a")


def test_an_empty_label_is_refused():
    with pytest.raises(ValueError, match="label"):
        generator("")
