"""The book's notebooks from the command line: status, run, normalise, check, seeds.

    python tools/notebooks.py status                 which notebooks are stale, and why
    python tools/notebooks.py run [--force] [PATH]   execute the stale ones in place
    python tools/notebooks.py normalise [PATH]       canonical text, without executing
    python tools/notebooks.py check [PATH]           the rules that a chapter's notebook obeys
    python tools/notebooks.py seeds [PATH]           the verdicts again, under other seeds

Without PATH every notebook of the book is meant. The exit status is 1 when something failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from nb.bootstrap import ensure_bootstrap
from nb.execute import execute_all
from nb.fingerprint import Library, why_stale
from nb.layout import find_notebooks, shown
from nb.lint import problems
from nb.normalise import normalise, read, write
from nb.seeds import differences


def status(paths: list[Path]) -> int:
    """Print every notebook with its state; 1 if one is stale."""
    library = Library()
    reasons = {path: why_stale(read(path), path, library) for path in paths}
    for path, reason in reasons.items():
        print(f"{'stale' if reason else 'fresh':6} {shown(path)}{reason and '  (' + reason + ')'}")
    return int(any(reasons.values()))


def run(paths: list[Path], force: bool, jobs: int) -> int:
    """Execute the stale notebooks; 1 if one failed."""
    library = Library()
    reasons = {p: "asked for" if force else why_stale(read(p), p, library) for p in paths}
    stale = [path for path in paths if reasons[path]]
    if not stale:
        print(f"The outputs of all {len(paths)} notebooks are up to date.")
        return 0
    jobs = min(jobs, len(stale))
    print(f"Executing {len(stale)} of {len(paths)} notebooks, {jobs} at a time:", flush=True)
    for path in stale:
        print(f"  {shown(path)}  ({reasons[path]})", flush=True)
    started, failed = time.perf_counter(), []
    for ended, outcome in enumerate(execute_all(stale, jobs), start=1):
        word = "FAILED" if outcome.error else "done" if outcome.changed else "same"
        line = f"[{ended}/{len(stale)}] {word:6} {shown(outcome.path)}  {outcome.seconds:.1f} s"
        print(line, flush=True)
        failed += [outcome] if outcome.error else []
    for outcome in failed:
        print(f"\nFAILED {shown(outcome.path)}, {outcome.error}", file=sys.stderr)
    print(f"Executed {len(stale)} notebooks in {time.perf_counter() - started:.1f} s.")
    return int(bool(failed))


def normalise_all(paths: list[Path]) -> int:
    """Bring every notebook to its canonical text."""
    for path in paths:
        notebook = read(path)
        if any(cell.cell_type == "code" for cell in notebook.cells):
            ensure_bootstrap(notebook)
        normalise(notebook)
        if write(notebook, path):
            print(f"normalised {shown(path)}")
    return 0


def check(paths: list[Path]) -> int:
    """Print every broken rule with notebook and cell; 1 if there is one."""
    library, broken = Library(), 0
    for path in paths:
        for problem in problems(path, library):
            broken += 1
            print(f"{shown(path)}, {problem}")
    print(f"{len(paths)} notebooks checked, {broken} problems.")
    return int(broken > 0)


def seeds(paths: list[Path], others: list[int], jobs: int) -> int:
    """Compute all verdicts under other seeds and compare them; 1 if one differs."""
    os.environ["MPLBACKEND"] = "agg"
    runs = [(path, seed) for path in paths for seed in others]
    changed = 0
    context = multiprocessing.get_context("spawn")  # each process has a seed in its environment
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        results = pool.map(differences, *zip(*runs, strict=True))
        for (path, seed), found in zip(runs, results, strict=True):
            changed += len(found)
            words = "; ".join(found) or "the same verdicts"
            print(f"{shown(path)}, seed {seed}: {words}", flush=True)
    return int(changed > 0)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["status", "run", "normalise", "check", "seeds"])
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks or folders")
    parser.add_argument("--force", action="store_true", help="run: fresh notebooks as well")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="run, seeds: how many at once"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="seeds: which ones")
    given = parser.parse_intermixed_args(arguments)
    if given.jobs < 1:
        parser.error(f"--jobs: a whole number from 1, got {given.jobs}")
    try:
        paths = find_notebooks(given.paths)
    except ValueError as error:
        parser.error(str(error))
    if given.command == "run":
        return run(paths, given.force, given.jobs)
    if given.command == "seeds":
        return seeds(paths, given.seeds, given.jobs)
    if given.command == "check":
        return check(paths)
    return {"status": status, "normalise": normalise_all}[given.command](paths)


if __name__ == "__main__":
    sys.exit(main())
