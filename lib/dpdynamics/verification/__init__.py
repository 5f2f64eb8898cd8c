"""Verification (third floor): claims, checks, controls, verdicts.

Each claim has an id, and each id a verdict, computed by a check that has been shown able to fail.

*A check* compares a measured quantity with a printed statement. Eight kinds:
:func:`identity` (equal to floating-point accuracy), :func:`expectation` and :func:`distribution`
(Monte Carlo against theory), :func:`bound` (an inequality, over a grid and under :func:`attack`),
:func:`rate` (a fitted exponent), :func:`optimum`, :func:`coverage` (probability of an event) and
:func:`privacy` (a claimed loss against exact accounting and audits).

*A control* is a plausible wrong statement, or with :func:`instead` a wrong measurement, put through
the same test; the test must reject it, and a statistical test must have the power to do so. Bad
input to a check raises ``ValueError`` naming the argument and what is accepted.

*A verdict* is the worst that checks and errata leave of a claim: :func:`verdict`,
:func:`out_of_reach`; :mod:`.words` defines its words. Corrections are recorded as :class:`Erratum`,
graded, each tied to the check that rejects the printed statement. *Coverage* says which terms of a
statement some control exercises.

The statistics behind the checks are public as well: :func:`clopper_pearson`,
:func:`critical_value`, :func:`rejection_probability`, :func:`loglog_slope`,
:func:`difference_of_means`, :func:`equivalence`.

Randomness comes from :func:`generator`, one stream per label under one base seed.

A verdict shows itself in a notebook and in a terminal, and writes its evidence as JSON in the form
of ``evidence.schema.json``, from which the ledger is built.
"""

from .attacks import Attack, attack
from .evidence import Check, Comparison
from .identities import identity
from .inequalities import bound, privacy
from .laws import coverage, distribution
from .optima import optimum
from .seeds import base_seed, generator
from .statistics import (
    Estimate,
    clopper_pearson,
    critical_value,
    difference_of_means,
    equivalence,
    loglog_slope,
    rejection_probability,
)
from .t_tests import expectation, rate
from .trial import instead
from .verdicts import Erratum, Verdict, out_of_reach, verdict

__all__ = [
    "Attack",
    "Check",
    "Comparison",
    "Erratum",
    "Estimate",
    "Verdict",
    "attack",
    "base_seed",
    "bound",
    "clopper_pearson",
    "coverage",
    "critical_value",
    "difference_of_means",
    "distribution",
    "equivalence",
    "expectation",
    "generator",
    "identity",
    "instead",
    "loglog_slope",
    "optimum",
    "out_of_reach",
    "privacy",
    "rate",
    "rejection_probability",
    "verdict",
]
