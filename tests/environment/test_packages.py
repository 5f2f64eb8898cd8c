"""One list of packages: pyproject.toml, the locks and environment.yml agree."""

from __future__ import annotations

import itertools
import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from nb.layout import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCKS = {
    name: (ROOT / name).read_text("utf-8")
    for name in ("requirements.lock", "requirements-peers.lock", "requirements-course.lock")
}
CONDA_NAMES = {"matplotlib-base": "matplotlib", "pytorch": "torch"}


def locked(name: str = "requirements.lock") -> dict[str, str]:
    """Versions that a lock file gives to this machine, by canonical name."""
    lines = re.findall(r"^([A-Za-z0-9][^\\\n]*)", LOCKS[name], flags=re.MULTILINE)
    pins = [Requirement(line) for line in lines]
    here = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
    versions = {canonicalize_name(pin.name): str(pin.specifier)[2:] for pin in here}
    assert len(versions) == len(here) > 30
    return versions


def torch_version() -> str:
    (pin,) = PROJECT["optional-dependencies"]["torch"]
    return pin.removeprefix("torch==")


@pytest.mark.parametrize(
    ("lock", "names"),
    [
        ("requirements.lock", ["book", "test"]),
        ("requirements-peers.lock", ["peers"]),
        ("requirements-course.lock", ["course"]),
    ],
)
def test_the_locks_satisfy_every_requirement(lock: str, names: list[str]) -> None:
    extras = PROJECT["optional-dependencies"]
    listed = [r for name in names for r in extras[name]]
    wanted = [Requirement(r) for r in [*PROJECT["dependencies"], *listed]]
    pins = locked(lock)
    missing = [str(r) for r in wanted if canonicalize_name(r.name) not in pins]
    assert missing == []
    wrong = [
        f"{r} but {pins[canonicalize_name(r.name)]} is locked"
        for r in wanted
        if not r.specifier.contains(pins[canonicalize_name(r.name)], prereleases=True)
    ]
    assert wrong == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_hashes(lock: str) -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCKS[lock], flags=re.MULTILINE)[1:]
    assert len(entries) >= len(locked(lock))
    assert [e.split()[0] for e in entries if "==" not in e or "--hash=sha256:" not in e] == []


def test_what_the_lab_shows_chapters_with_is_pinned_with_its_hash() -> None:
    pins = re.findall(
        r"^(\S+==\S+) \\\n    --hash=sha256:\w{64}$",
        (ROOT / "requirements-lab.lock").read_text("utf-8"),
        flags=re.MULTILINE,
    )
    assert pins == PROJECT["optional-dependencies"]["lab"]


def test_the_locks_agree() -> None:
    """One environment holds them all: what two of them name, they give the same version."""
    for one, other in itertools.combinations(map(locked, LOCKS), 2):
        assert {n: v for n, v in one.items() if other.get(n, v) != v} == {}


def test_torch_is_not_in_the_locks() -> None:
    assert all("torch" not in locked(lock) for lock in LOCKS)
    assert torch_version() in (ROOT / "postBuild").read_text("utf-8")


def test_the_book_is_built_by_jupyter_book_1() -> None:
    assert locked()["jupyter-book"].startswith("1.")


def test_environment_yml_agrees() -> None:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    conda = dict(
        d.split("=", 1) if "=" in d else (d, "") for d in dependencies if isinstance(d, str)
    )
    assert SpecifierSet(PROJECT["requires-python"]).contains(conda.pop("python"))
    conda.pop("pip")
    pins = {**locked(), "torch": torch_version()}
    assert conda == {name: pins[CONDA_NAMES.get(name, name)] for name in conda}
    # pip checks hashes of all packages of one call or of none: nothing may stand beside the lock.
    assert [d["pip"] for d in dependencies if isinstance(d, dict)] == [["-r requirements.lock"]]


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
