"""Verification (third floor): claims, checks, controls, verdicts.

*A check* compares a measured quantity with a printed statement: :func:`identity`,
:func:`expectation`, :func:`distribution`, :func:`bound` (over a grid and under :func:`attack`),
:func:`rate`, :func:`optimum`, :func:`coverage`, :func:`privacy`; :func:`certified` proves an
inequality for a whole box, or an identity by exact algebra.

Every check takes ``measured`` or ``samples``; ``printed`` and, where that is wrong, ``corrected``
statements; and ``where``, parameters of a grid, each of the shape of a statement, that name its
worst point.

*A control* (``controls`` maps words to controls) is a plausible wrong statement, or with
:func:`instead` a wrong measurement, put through the same test; the test must reject it, and a
statistical test must have the power to do so.

*A statement* is best a function, its cases plain data, and a control a changed keyword:
:func:`stated` makes ``printed``, ``corrected`` and ``controls`` of them.

*A verdict* is the worst that checks and graded errata (:class:`Erratum`) leave of a claim:
:func:`verdict`, :func:`out_of_reach`; :mod:`.words` defines its words. It shows itself in a
notebook and in a terminal, and writes its evidence as JSON in the form of
``evidence.schema.json``, from which the ledger is built.

Randomness comes from :func:`generator`, one stream per label under one base seed. Bad input raises
``ValueError`` naming the argument and what is accepted.
"""

from .attacks import attack
from .certificates import certified
from .identities import identity
from .inequalities import bound, privacy
from .laws import coverage, distribution
from .optima import optimum
from .seeds import generator
from .statements import stated
from .statistics import critical_value, loglog_slope, rejection_probability
from .t_tests import expectation, rate
from .trial import instead
from .verdicts import Erratum, out_of_reach, verdict

__all__ = [
    "Erratum",
    "attack",
    "bound",
    "certified",
    "coverage",
    "critical_value",
    "distribution",
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
    "stated",
    "verdict",
]
