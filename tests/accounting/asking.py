"""Questions to runs whose fields and arguments are given together."""

from __future__ import annotations

import dataclasses
from typing import Any

from dpdynamics.accounting.runs import Run


def ask(kind: type[Run], verb: str, **arguments: Any) -> Any:
    """Return the answer of a run: fields of the class among the arguments make it."""
    fields = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    own = {name: value for name, value in arguments.items() if name in fields}
    rest = {name: value for name, value in arguments.items() if name not in fields}
    return getattr(kind(**own), verb)(**rest)
