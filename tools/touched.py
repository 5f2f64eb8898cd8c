"""Run the tests of the rooms in which files changed; ``make check`` calls it after ``make lint``.

    python tools/touched.py            changes since the branch left main, committed or not
    python tools/touched.py COMMIT     changes since another commit

The ledger's gate is always among them. A room that another one builds on can break that one, and no
notebook is executed: ``make test`` is the proof.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GATE = "tests/ledger/test_ledger.py::test_the_book_has_no_problem"
# Where the tests of a file are, by the longest beginning of its path; rooms of the library have
# the tests of their name.
TESTS = {
    "": ["environment"],
    "Makefile": ["environment", "furniture"],
    "benchmarks/": ["environment"],
    "book/": ["furniture"],
    "book/claims/": ["ledger"],
    "book/extensions/": ["furniture", "site"],
    "book/extensions/book_course/": ["course"],
    "book/extensions/book_ledger/": ["ledger"],
    "book/extensions/templates/": ["course", "ledger"],
    "course/": ["course"],
    "notebooks/": ["notebooks"],
    "tools/course": ["course"],
    "tools/nb/": ["notebooks"],
    "tools/notebooks.py": ["notebooks"],
    "tools/paper/": ["site"],
    "tools/pdf.py": ["site"],
}


def changed(since: str) -> list[str]:
    """Files that differ from a commit, and those that git does not know yet."""
    commands = (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    texts = (subprocess.check_output(["git", *c], cwd=ROOT, text=True) for c in commands)
    return sorted({name for text in texts for name in text.splitlines()})


def runs(files: Iterable[str], rooms: Iterable[str]) -> list[list[str]]:
    """Arguments of the runs of pytest for changed files, given the rooms of the library."""
    folders, called = set(), set()
    for name in files:
        first, *rest = name.split("/")
        if name.startswith("lib/dpdynamics/"):
            found = {rest[1]} if len(rest) > 2 else set(rooms)
            folders |= found | {"environment", Path(rest[1]).stem}
            called |= found
        elif name.startswith("tests/valid_calls/"):
            called |= {Path(name).stem} & set(rooms) or set(rooms)
        elif first == "tests" and len(rest) > 1:
            folders.add(rest[0])
        else:
            folders |= set(TESTS[max((p for p in TESTS if name.startswith(p)), key=len)])
    here = [f"tests/{folder}" for folder in sorted(folders) if (ROOT / "tests" / folder).is_dir()]
    words = " or ".join(["has_a_valid_call", *(f"{room}." for room in sorted(called))])
    return [[GATE, *here], *([["tests/mistakes", "-k", words]] if called else [])]


def main(since: str = "") -> int:
    """Run them; 1 if a test failed."""
    since = since or subprocess.getoutput(f"cd {ROOT} && git merge-base HEAD main || echo HEAD")
    rooms = [path.parent.name for path in ROOT.glob("lib/dpdynamics/*/__init__.py")]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "pytest", "-q"]
    found = runs(changed(since), rooms)
    print("\n".join(" ".join(arguments) for arguments in found), flush=True)
    return max(subprocess.call([*command, *a], cwd=ROOT, env=environment) for a in found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
