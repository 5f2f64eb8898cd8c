"""How a verdict is shown: JSON evidence for the ledger, plain text, and a small HTML box.

Text and HTML are made from the evidence alone, so whatever is shown is also recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from . import words
from .evidence import CORRECTED, FAILED, HELD, IDENTICAL, UNDECIDED, Comparison

MIME = "application/vnd.dpdynamics.verdict+json"
# Okabe-Ito hues of middle lightness, legible as an accent on light and on dark pages alike.
LOOKS = {
    words.HOLDS: ("✓", "#009e73"),
    words.REBUILT: ("≅", "#3aa6a6"),
    words.MISPRINTED: ("✎", "#a9a13a"),
    words.CONDITIONAL: ("†", "#d08700"),
    words.FAILS: ("✗", "#d55e00"),
    words.ASSUMED: ("◇", "#4a90c2"),
    words.OUT_OF_REACH: ("…", "#8a8a8a"),
    UNDECIDED: ("?", "#b06a9b"),
}
SYMBOLS = {word: symbol for word, (symbol, _) in LOOKS.items()}
COLOURS = {word: colour for word, (_, colour) in LOOKS.items()}
# The outcome of a check is drawn like the verdict that it suggests.
DRAWN_LIKE = {
    HELD: words.HOLDS,
    CORRECTED: words.MISPRINTED,
    FAILED: words.FAILS,
    UNDECIDED: UNDECIDED,
}
UNITS = {  # what a ratio of 1 stands for, where it is not a tolerance
    "distribution": "critical distance",
    "bound": "bound",
    "privacy": "bound",
    "coverage": "number of exceptions allowed",
}

# --- evidence ------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return ``value`` in JSON types: six significant digits, infinities as words, never NaN."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, Comparison):
        return plain({**vars(value), "margin": value.margin})
    number = float(value)
    if np.isnan(number):
        raise ValueError("evidence must not contain NaN")
    return float(f"{number:.6g}") if np.isfinite(number) else str(number)


# --- words ---------------------------------------------------------------------------------------


def figure(value: Any, digits: int = 3) -> str:
    """Write a value of the evidence for a reader."""
    if isinstance(value, str):
        return {"inf": "∞", "-inf": "-∞"}.get(value, value)
    if isinstance(value, list):
        return "[" + ", ".join(figure(item, digits) for item in value) + "]"
    if isinstance(value, dict):
        return ", ".join(f"{key} {figure(item, digits)}" for key, item in value.items())
    if isinstance(value, float) and not (value.is_integer() and abs(value) < 1e6):
        return f"{value:.{digits}g}"
    return str(int(value)) if isinstance(value, float) else str(value)


def wording(comparison: Mapping[str, Any], unit: str = "tolerance") -> str:
    """Say how a comparison came out."""
    power = comparison["power"]
    percent = "" if power is None else "> 99.9 %" if power > 0.999 else f"{100 * power:.1f} %"
    strength = f" (power {percent})" if percent else ""
    ratio = figure(comparison["ratio"])
    if comparison["outcome"] == "rejected":
        factor = "without bound" if ratio == "∞" else f"by a factor {ratio}"
        return f"rejected {factor}{strength}"
    if comparison["outcome"] == IDENTICAL:
        return "the same, so nothing was put to the test"
    outcome = "accepted" if comparison["outcome"] == "accepted" else "not decided"
    return f"{outcome} at {ratio} of the {unit}{strength}"


def statements(check: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of one check: what was judged, and how it came out."""
    unit = UNITS.get(check["kind"], "tolerance")
    whose = "our statement" if "(ours)" in check["name"] else "printed statement"
    lines = [(whose, wording(check["printed"], unit))]
    if check["corrected"]:
        lines.append(("corrected statement", wording(check["corrected"], unit)))
    for control in check["controls"]:
        kind = "control" if control["replaces"] == "statement" else "control (wrong measurement)"
        lines.append((f"{kind}: {control['label']}", wording(control, unit)))
    if tight := check["tightness"]:
        least, middle, most = (figure(tight[key]) for key in ("min", "median", "max"))
        place = figure(tight["tightest at"])
        attacked = tight["under attack"]
        lowest = "" if attacked is None else f"; {figure(attacked)} under attack"
        lines.append(("tightness", f"{least} at {place}; median {middle}; largest {most}{lowest}"))
    lines += [("undecided", reason) for reason in check["reasons"]]
    return lines


def details(check: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers behind one check, for the reader who asks."""
    rows = [("test", check["test"]), ("comparisons", str(check["comparisons"]))]
    rows += [(key, figure(value)) for key, value in check["sizes"].items()]
    rows += [(key, figure(value, 6)) for key, value in check["numbers"].items()]
    for comparison in (check["printed"], check["corrected"], *check["controls"]):
        if comparison and comparison["worst"]:
            rows.append((f"worst point, {comparison['label']}", figure(comparison["worst"])))
    return rows


def graded(erratum: Mapping[str, Any]) -> str:
    """Return the grade of an erratum, and where it stands unless that is the statement."""
    return erratum["grade"] + (", in the proof" if erratum["part"] == "proof" else "")


def covered(evidence: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the terms of the statement, each with what exercises it."""
    return [
        (entry["term"], "; ".join(entry["by"]) or "not exercised") for entry in evidence["coverage"]
    ]


def why(evidence: Mapping[str, Any]) -> str:
    """Say why the claim, or what its checks leave of it, is out of reach; nothing if it is not."""
    subject = (
        "Out of reach" if evidence["verdict"] == words.OUT_OF_REACH else "The rest is out of reach"
    )
    return f"{subject} because {evidence['reason']}" if evidence["reason"] else ""


def substitute(evidence: Mapping[str, Any]) -> str:
    """Say what the checks on a stand-in found; nothing where there is none."""
    found = words.found_on_substitute(evidence)
    told = {
        None: "",
        HELD: "holds",
        CORRECTED: "holds in a corrected form only",
        FAILED: "fails",
        UNDECIDED: "is undecided",
    }[found]
    rest = "" if evidence["verdict"] == words.OUT_OF_REACH else " of the rest"
    return f"What could be tested{rest}, on a stand-in, {told}." if told else ""


def doubts(evidence: Mapping[str, Any]) -> list[str]:
    """Say in sentences what the ledger would refuse: why nothing is decided, or is unexplained."""
    found = words.unsupported(evidence) + words.unexplained(evidence)
    if evidence["verdict"] == UNDECIDED:
        reasons = [reason for check in evidence["checks"] for reason in check["reasons"]]
        found = [*dict.fromkeys(reasons), *found]
    quoted = (re.sub(r'"([^"]*)"', r"“\1”", text) for text in found)
    return [f"{text[0].upper()}{text[1:]}." for text in quoted]


# --- text and HTML -------------------------------------------------------------------------------


def as_text(evidence: Mapping[str, Any]) -> str:
    """Return the verdict for a terminal."""
    word = evidence["verdict"]
    lines = [f"{SYMBOLS[word]} {evidence['claim']}: {word}"]
    told = (*doubts(evidence), why(evidence), substitute(evidence))
    lines += [f"  {sentence}" for sentence in told if sentence]
    for check in evidence["checks"]:
        symbol = SYMBOLS[DRAWN_LIKE[check["outcome"]]]
        lines.append(f"  {symbol} {check['name']} ({check['kind']}, {check['outcome']})")
        lines += [f"      {label}: {text}" for label, text in statements(check)]
    for erratum in evidence["errata"]:
        lines.append(f"  erratum ({graded(erratum)}): {erratum['location']}")
        for part in ("printed", "correct", "consequence"):
            lines.append(f"      {part}: {erratum[part]}")
    lines += [f"  {label}: {text}" for label, text in covered(evidence)]
    return "\n".join(lines)


def as_html(evidence: Mapping[str, Any]) -> str:
    """Return the verdict as a self-contained box that inherits the colours of its page.

    Every colour is an accent; the same information is in the symbol and in words.
    """
    word, claim = evidence["verdict"], escape(evidence["claim"])
    if word == words.ASSUMED:
        return f"<span class='dpd-assumed' hidden>{claim}: {word}</span>"
    told = (why(evidence), substitute(evidence))
    body, rows = "".join(_line(escape(words_), "0") for words_ in told if words_), ""
    for check in evidence["checks"]:
        name = escape(check["name"])
        kind = f"<span style='opacity:.75'>({check['kind']}, {check['outcome']})</span>"
        body += _line(f"{_badge(DRAWN_LIKE[check['outcome']])}{name} {kind}")
        body += _list(statements(check))
        rows += _line(name) + _list(details(check))
    for erratum in evidence["errata"]:
        where, *parts = (
            re.sub(r"\$([^$]+)\$", r"\\(\1\\)", escape(erratum[key]))  # TeX that pages typeset
            for key in ("location", "printed", "correct", "consequence")
        )
        title = f"<strong>Erratum</strong> ({graded(erratum)}): {where}"
        named = zip(("Printed", "Correct", "Consequence"), parts, strict=True)
        slip = " ".join(f"<em>{name}:</em> {part}" for name, part in named)
        body += _folded(title, slip, kind=" class='mathjax_process'")
    if terms := covered(evidence):
        part, whole = words.exercised(evidence["coverage"])
        body += _folded(f"Terms of the statement exercised: {part} of {whole}", _list(terms))
    if rows:
        body += _folded("Numbers", rows, margin=".5em 0 0")
    tried = [control for check in evidence["checks"] for control in check["controls"]]
    counts = [counted(len(evidence["checks"]), "check")]
    if tried:
        rejected = sum(control["outcome"] == "rejected" for control in tried)
        counts.append(f"{rejected} of {counted(len(tried), 'control')} rejected")
    if errata := len(evidence["errata"]):
        counts.append(counted(errata, "erratum", "errata"))
    open_ = "".join(_line(escape(sentence)) for sentence in doubts(evidence))
    told_at_once = f"<span style='opacity:.75'>{' · '.join(counts)}</span>"
    head = f"{_badge(word)}<strong>{word}</strong> <code>{claim}</code> {told_at_once}"
    return (
        f"<div class='dpd-verdict' role='group' aria-label='Verdict on {claim}: {word}' "
        "style='border:1px solid rgba(128,128,128,.4);"
        f"border-left:.4em solid {COLOURS[word]};border-radius:.3em;padding:.3em .9em;"
        "margin:.4em 0;font-size:.95em;line-height:1.45;color:inherit;background:transparent'>"
        f"{_folded(head, body, '0')}{open_}</div>"
    )


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _line(text: str, margin: str = ".4em 0 0") -> str:
    return f"<p style='margin:{margin}'>{text}</p>"


def _folded(title: str, body: str, margin: str = ".4em 0 0", kind: str = "") -> str:
    summary = f"<summary style='cursor:pointer'>{title}</summary>"
    return f"<details{kind} style='margin:{margin}'>{summary}{body}</details>"


def _list(lines: list[tuple[str, str]]) -> str:
    items = "".join(f"<li>{escape(label)}: {escape(text)}</li>" for label, text in lines)
    return f"<ul style='margin:0;padding-left:2.6em;font-size:.95em'>{items}</ul>"


def _badge(word: str) -> str:
    return (
        f"<span aria-hidden='true' style='display:inline-block;width:1.3em;font-weight:bold;"
        f"color:{COLOURS[word]}'>{SYMBOLS[word]}</span>"
    )
