"""Measure the hot paths of the library against their baselines and print the ratios.

    python benchmarks/run.py            every benchmarks/bench_*.py
    python benchmarks/run.py WORD ...   those whose name contains one of the words

Each public function of a ``bench_*.py`` file is one measurement. It takes no argument and returns
a dict with

``name``      what is measured, with its size
``ours_s``    seconds that the library takes
``theirs_s``  seconds that the baseline takes (the obvious implementation, or a peer)
``ratio``     theirs_s / ours_s: how many times faster the library is
``target``    the smallest ratio that is good enough, or None where no promise is made

The exit status is 1 when a target is missed, or when there is nothing to measure.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

KEYS = {"name", "ours_s", "theirs_s", "ratio", "target"}


def measurements(folder: Path, words: list[str]) -> Iterator[tuple[str, Callable[[], dict]]]:
    """The measuring functions under a folder, with their names, in order of definition."""
    for file in sorted(folder.glob("bench_*.py")):
        if words and not any(w in f"{file.stem}.{file.read_text('utf-8')}" for w in words):
            continue  # its peers need not be installed
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, function in list(vars(module).items()):
            own = inspect.isfunction(function) and function.__module__ == file.stem
            title = f"{file.stem}.{name}"
            if own and not name.startswith("_") and (not words or any(w in title for w in words)):
                yield title, function


def checked(result: Any, title: str) -> dict[str, Any]:
    """A measurement's result, or ValueError when it is not what a measurement returns."""
    if not isinstance(result, dict) or set(result) != KEYS:
        raise ValueError(f"{title}: must return a dict with exactly the keys {sorted(KEYS)}")
    expected = result["theirs_s"] / result["ours_s"]
    if not math.isclose(result["ratio"], expected, rel_tol=1e-6):
        raise ValueError(f"{title}: ratio must be theirs_s / ours_s = {expected:g}")
    return result


def main(words: list[str], folder: Path = Path(__file__).parent) -> int:
    """Run and print; 1 when a target is missed or nothing was measured."""
    print(f"{'measurement':52} {'ours':>10} {'baseline':>10} {'ratio':>8} {'target':>8}")
    missed, count = [], 0
    for title, function in measurements(folder, words):
        result, count = checked(function(), title), count + 1
        target = result["target"]
        good = target is None or result["ratio"] >= target
        missed += [] if good else [result["name"]]
        goal = "-" if target is None else f"{target:g}"
        print(
            f"{result['name']:52} {result['ours_s']:9.4f}s {result['theirs_s']:9.4f}s "
            f"{result['ratio']:8.2f} {goal:>8}{'' if good else '  MISSED'}",
            flush=True,
        )
    if not count:
        print("No measurement found in benchmarks/bench_*.py.")
    else:
        print(f"{count} measurements, {len(missed)} below target.")
    return int(bool(missed) or not count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
