"""Random generators for notebooks: one base seed, one independent stream per label."""

import os
import zlib

import numpy as np

from ..arguments import text

DEFAULT_SEED = 2025


def base_seed() -> int:
    """Return the base seed: ``DPDYNAMICS_SEED`` from the environment, else 2025.

    Raises
    ------
    ValueError
        If ``DPDYNAMICS_SEED`` is not a nonnegative integer.
    """
    seed = os.environ.get("DPDYNAMICS_SEED", str(DEFAULT_SEED))
    if not seed.isdecimal():
        raise ValueError(f"DPDYNAMICS_SEED must be a nonnegative integer, got {seed!r}")
    return int(seed)


def generator(label: str) -> np.random.Generator:
    """Return the generator of the stream called `label` under the base seed.

    Streams of different labels are independent, so that a new cell does not change the numbers of
    the cells after it, and one environment variable repeats a chapter under another seed.

    Parameters
    ----------
    label : str
        Any nonempty text; equal labels give equal streams.

    Raises
    ------
    ValueError
        If `label` is no text, or blank.
    """
    return np.random.default_rng([base_seed(), zlib.crc32(text("label", label).encode())])
