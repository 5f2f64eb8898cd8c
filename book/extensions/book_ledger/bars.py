"""Bars that are read as text: stacked ones for verdicts, a table with bars for counts."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes

from .ledger import Ledger
from .markup import SYMBOLS, tag, verdict_class


def verdict_bars(ledger: Ledger) -> nodes.Node:
    """One stacked bar per source, with symbol and number in each part; all of it also in words."""
    rows = [
        _verdict_bar(ledger, name, key) for name, key in ledger.lines if ledger.count(source=key)
    ]
    return tag("div", *rows, _legend(ledger), class_="evidence-verdicts")


def _verdict_bar(ledger: Ledger, name: str, key: str | None) -> nodes.Node:
    counts = [(v, ledger.count(v, key)) for v in ledger.verdicts if ledger.count(v, key)]
    total = ledger.count(source=key)
    words = ", ".join(f"{number} {verdict}" for verdict, number in counts)
    parts = [
        tag(
            "span",
            f"{SYMBOLS[verdict]} {number}",
            class_=verdict_class(verdict),
            style=f"flex-grow:{number}",
        )
        for verdict, number in counts
    ]
    label = f"{name}: {words}, of {total}"
    bar = tag("div", *parts, class_="evidence-stack", role="img", aria_label=label)
    return tag("div", tag("p", f"{name}, {total}", aria_hidden="true"), bar)


def _legend(ledger: Ledger) -> nodes.Node:
    items = (
        tag("li", tag("span", SYMBOLS[v], class_=verdict_class(v), aria_hidden="true"), f" {v}")
        for v in ledger.verdicts
    )
    return tag("ul", *items, class_="evidence-legend", aria_label="Verdicts and their symbols")


def count_bars(caption: str, head: str, counts: Sequence[tuple[str, int]], what: str) -> nodes.Node:
    """A table of counts with a bar beside each number; the bars only repeat the numbers."""
    most = max((number for _, number in counts), default=0) or 1
    rows = (
        tag(
            "tr",
            tag("th", words, scope="row"),
            tag("td", str(number), class_="ledger-number"),
            tag(
                "td",
                tag("span", style=f"width:{100 * number / most:.1f}%", class_="evidence-bar"),
                aria_hidden="true",
            ),
        )
        for words, number in counts
    )
    heads = (tag("th", head, scope="col"), tag("th", what, scope="col"), tag("td"))
    table = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *rows),
        class_="evidence-counts",
    )
    return tag("div", table, class_="ledger")
