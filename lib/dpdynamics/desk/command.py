"""What a run of DP-SGD spends, or the noise that a budget needs, as a command.

    dpdynamics epsilon --noise 1.0 --samples 50000 --batch 500 --epochs 30 --delta 1e-6
    dpdynamics noise --epsilon 3 --samples 50000 --batch 500 --epochs 30 --delta 1e-6 --json

The answers are those of ``spent_epsilon`` and ``required_noise``. The exit code is 0 for an answer,
1 for a refusal, which names what is known all the same, and 2 for bad input; refusals and errors go
to stderr. ``python -m dpdynamics`` is the same command.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from math import ceil, floor, isfinite
from typing import Any

from .. import __version__
from .answers import Answer, Refusal, upper
from .batches import NEIGHBOURS, SAMPLINGS
from .noise import required_noise
from .spending import spent_epsilon


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.sampling != "poisson" and sys.stderr.isatty():
        print("Computing: bounds on many steps or epochs may take a minute.", file=sys.stderr)
    try:
        run = _run(given)
        if given.verb == "epsilon":
            reply = spent_epsilon(noise_multiplier=given.noise, **run)
        else:
            reply = required_noise(epsilon=given.epsilon, **run)
    except ValueError as error:
        parser.error(str(error))
    if given.json:
        print(json.dumps(_record(given.verb, run, reply), indent=1))
    elif isinstance(reply, Answer):
        print(_head(given, reply))
        print(f"holds for: {reply.regime}")
    else:
        print(reply, file=sys.stderr)
    return int(reply.refused)


def _head(given: argparse.Namespace, reply: Answer) -> str:
    if given.verb == "epsilon":
        known = f"epsilon {'<=' if reply.numbers else '='} {reply.value:.6g}"
        return f"{known} at delta = {given.delta:g}; quote at most {upper(reply.value, 3)}"
    bound = "not exact" in reply.sentence
    enough = f"{reply.value:.6g} is enough" if bound else f"= {reply.value:.6g}"
    return f"noise multiplier {enough}; take {upper(reply.value)}"


def _run(given: argparse.Namespace) -> dict[str, Any]:
    """The run in the desk's words."""
    steps = given.steps
    if steps is None:
        inside = given.samples / max(given.batch, 1)
        if given.sampling in ("shuffled", "bins"):  # an epoch may drop its last, smaller batch
            inside = floor(inside)
        count = given.epochs * inside * (1 - 1e-12)
        if not (isfinite(count) and given.epochs > 0):
            raise ValueError(f"epochs must be positive, got {given.epochs}")
        steps = max(1, ceil(count))
    return {
        "delta": given.delta,
        "samples": given.samples,
        "batch_size": given.batch,
        "steps": steps,
        "sampling": given.sampling,
        "relation": given.relation,
    }


def _record(verb: str, run: dict[str, Any], reply: Answer | Refusal) -> dict[str, Any]:
    """What `--json` prints."""
    record: dict[str, Any] = {"question": reply.question, "refused": reply.refused, **run}
    if isinstance(reply, Answer):
        name, digits = ("epsilon", 3) if verb == "epsilon" else ("noise_multiplier", 4)
        record[name] = reply.value
        record["quote"] = float(upper(reply.value, digits))
        record["regime"] = reply.regime
    else:
        record |= {"reason": reply.reason, "instead": reply.instead}
    return {**record, "numbers": dict(reply.numbers), "evidence": list(reply.evidence)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dpdynamics",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, words in (("epsilon", "what a run spends"), ("noise", "what a budget needs")):
        add = verbs.add_parser(verb, help=words, allow_abbrev=False).add_argument
        if verb == "epsilon":
            add("--noise", type=float, required=True, help="noise multiplier")
        else:
            add("--epsilon", type=float, required=True, help="the budget")
        add("--samples", type=int, required=True, help="number of records")
        add("--batch", type=int, required=True, help="batch size, expected for Poisson samples")
        length = verbs.choices[verb].add_mutually_exclusive_group(required=True)
        length.add_argument("--epochs", type=float, help="passes; steps are rounded up")
        length.add_argument("--steps", type=int, help="noisy sums that are released")
        add("--delta", type=float, required=True)
        add("--relation", choices=tuple(NEIGHBOURS), default="add_remove")
        add("--sampling", choices=SAMPLINGS, default="poisson")
        add("--json", action="store_true", help="print a record instead of words")
    return parser
