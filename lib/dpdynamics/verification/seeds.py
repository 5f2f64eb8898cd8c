"""Random generators for notebooks: one base seed, one independent stream per label."""

import os
import zlib

import numpy as np

from ..arguments import text

DEFAULT_SEED = 2025


def base_seed() -> int:
    """Return the base seed: ``DPDYNAMICS_SEED`` from the environment, else 2025."""
    seed = os.environ.get("DPDYNAMICS_SEED", str(DEFAULT_SEED))
    if not seed.isdecimal():
        raise ValueError(f"DPDYNAMICS_SEED must be a nonnegative integer, got {seed!r}")
    return int(seed)


def generator(label: str) -> np.random.Generator:
    """Return the generator of the stream called `label` under the base seed.

    Streams of different labels are independent, so that a new cell does not change the numbers of
    the cells after it; equal labels give equal streams.
    """
    return np.random.default_rng([base_seed(), zlib.crc32(text("label", label).encode())])
