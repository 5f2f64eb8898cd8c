"""Numbers and outcomes of the evidence in words, as pages and letters say them."""

from __future__ import annotations

import math
import re

from dpdynamics.verification import rendering

from .evidence import Record
from .scripts import Script

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def verdict_class(verdict: str) -> str:
    """CSS class that carries a verdict's colours."""
    return "v-" + re.sub(r"\W+", "-", verdict)


def figure(value: float | str | None, digits: int = 2) -> str:
    """A number of the evidence for a reader: ``12``, ``3.4 × 10⁵``, ``∞``."""
    if value is None:
        return ""
    value = float(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value != 0 and not 1e-3 <= abs(value) < 1e4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPT)}"
    short = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e" in short else short


def comparison(script: Script) -> str:
    """How far off the printed and the corrected statement are, in a sentence."""
    check = script.check
    unit = rendering.UNITS.get(check["kind"], "tolerance")
    text = f"“{script.erratum.check}”: the printed statement {_outcome(check['printed'], unit)}"
    if check["corrected"]:
        text += f", the corrected one {_outcome(check['corrected'], unit)}"
    return f"{text}."


def _outcome(found: Record, unit: str) -> str:
    ratio = figure(found["ratio"])
    if found["outcome"] == "accepted" and ratio == "1":
        return "is accepted with equality"
    if found["outcome"] == "accepted":
        return f"is accepted at {ratio} of its {unit}"
    return f"is rejected {'without bound' if ratio == '∞' else f'by a factor {ratio}'}"
