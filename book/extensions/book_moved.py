"""Pages that left the book: an old link leads to the page that took over."""

import os
from pathlib import Path

from sphinx.application import Sphinx

MOVED = {
    "notebooks/kan/independent_noise": "notebooks/kan/optimisation",
    "notebooks/kan/stability": "notebooks/kan/population_risk",
}
PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}">
<title>Moved</title><main><a href="{0}">This page has moved.</a></main></html>
"""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write a page of three lines at each old address."""
    if exception is not None or app.builder.name != "html":
        return
    for old, new in MOVED.items():
        target = Path(app.outdir, f"{old}.html")
        target.write_text(PAGE.format(os.path.relpath(f"{new}.html", Path(old).parent)), "utf-8")
