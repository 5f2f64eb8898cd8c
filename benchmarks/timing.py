"""The clock of the measurements, and the result in the form that the runner wants."""

from statistics import median
from time import perf_counter


def timed(function, *arguments, **keywords):
    """Seconds that a call takes, and its value."""
    start = perf_counter()
    value = function(*arguments, **keywords)
    return perf_counter() - start, value


def seconds(function, repeats=1):
    """Seconds that a call without arguments takes, on average over some in a row."""
    start = perf_counter()
    for _ in range(repeats):
        function()
    return (perf_counter() - start) / repeats


def result(name, ours, theirs, target):
    """The result of a measurement, from the times of both sides: their medians are compared."""
    ours, theirs = float(median(ours)), float(median(theirs))
    return {
        "name": name,
        "ours_s": ours,
        "theirs_s": theirs,
        "ratio": theirs / ours,
        "target": target,
    }
