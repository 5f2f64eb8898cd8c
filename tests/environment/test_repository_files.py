"""What the repository says about itself is true: commands exist, settings agree, no stray paths."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from nb.execute import KERNEL_ENVIRONMENT
from nb.layout import ROOT

MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"]
BINARY = {".png", ".jpg", ".npz", ".npy", ".woff", ".woff2", ".ttf", ".ico", ".pdf"}
# Written backwards, so that this file does not contain what it looks for.
FOLDERS = [word[::-1] for word in ("krow", "toor", "emoh", "tpo", "pmt")]
HOSTS = [word[::-1] for word in ("gro.ipyp", "gro.detsohnohtyp", "gro.sjmpn", "gro.naibed.bed")]
MACHINE_PATHS = re.compile(rf"(?<![\w.~/)-])/({'|'.join(FOLDERS)})/\w")
REGISTRY_HOSTS = re.compile("|".join(map(re.escape, HOSTS)))


def repository_files() -> list[Path]:
    """Text files of the repository that are ours: tracked, or about to be."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name and "/vendor/" not in name]
    return [f for f in files if f.is_file() and f.suffix not in BINARY]


def stray(text: str) -> list[str]:
    """Machine paths and registry hosts in a text, with their lines."""
    return [
        f"line {number}: {found[0]}"
        for number, line in enumerate(text.splitlines(), start=1)
        for pattern in (MACHINE_PATHS, REGISTRY_HOSTS)
        if (found := pattern.search(line))
    ]


def test_no_file_names_a_machine_path_or_a_registry() -> None:
    files = repository_files()
    assert len(files) > 30
    found = [
        f"{file.relative_to(ROOT)}, {place}"
        for file in files
        for place in stray(file.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"see /{FOLDERS[2]}/someone/x", 1),
        (f"'/{FOLDERS[4]}/x'", 1),
        (f"https://{HOSTS[0]}/simple", 1),
        (f"https://example.org/{FOLDERS[2]}/x and ../{FOLDERS[0]}/x", 0),
        (f"half {FOLDERS[0]}/time, and the /{FOLDERS[0]}-flow", 0),
    ],
)
def test_the_search_for_stray_paths_can_fail(text: str, count: int) -> None:
    assert len(stray(text)) == count


def targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", MAKEFILE, flags=re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_in_the_documents_exist(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, flags=re.DOTALL))
    named = set(re.findall(r"\bmake ([a-z]+)\b", code))
    assert named - targets() == set()
    if document == "README.md":
        assert {"book", "test"} <= named


def test_help_lists_every_documented_target() -> None:
    shown = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    daily = ["book", "test", "lab", "run", "lint", "bench", "format", "clean"]
    for target in [*daily, "course", "grade"]:
        assert f"make {target} " in shown
        assert re.search(rf"^\.PHONY:.*\b{target}\b", MAKEFILE, flags=re.MULTILINE)


def test_the_makefile_and_the_tools_give_kernels_the_same_environment() -> None:
    exported = dict(re.findall(r"^export (\w+) := (.*)$", MAKEFILE, flags=re.MULTILINE))
    for name in ["SOURCE_DATE_EPOCH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED"]:
        assert exported[name] == KERNEL_ENVIRONMENT[name], name
    style = exported["MATPLOTLIBRC"].replace("$(CURDIR)", str(ROOT))
    assert style == KERNEL_ENVIRONMENT["MATPLOTLIBRC"]
    assert Path(style).is_file()


@pytest.mark.parametrize("script", [".ci/run", "postBuild", "tools/install_browsers.sh"])
def test_scripts_are_executable_and_parse(script: str) -> None:
    path = ROOT / script
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_continuous_integration_runs_make_test() -> None:
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text("utf-8")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert any(".ci/run" in step for step in steps)


def test_pre_commit_runs_our_own_commands() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    named = {word for hook in hooks for word in hook["entry"].split() if word.endswith(".py")}
    assert named == {"tools/notebooks.py"}


def test_the_erratum_form_asks_for_the_claim() -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "erratum.yml").read_text("utf-8"))
    fields = {field["id"]: field for field in form["body"] if "id" in field}
    assert {"claim", "printed", "correct", "evidence"} <= set(fields)
    assert fields["claim"]["validations"]["required"] is True


def test_lib_is_not_ignored() -> None:
    command = ["git", "check-ignore", "-q", "lib/dpdynamics/__init__.py"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 1


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ({}, "it was not found and there is no apt-get"),
        (
            {"apt-get": "exit 100", "id": "echo 0"},
            "the package could not be installed",
        ),
        ({"apt-get": "exit 0", "id": "echo 7"}, "installing it needs root"),
        ({"google-chrome": ""}, "use "),
    ],
)
def test_browser_set_up_never_fails_and_says_what_it_found(
    tmp_path: Path, commands: dict[str, str], said: str
) -> None:
    for name, body in commands.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n", "utf-8")
        (tmp_path / name).chmod(0o755)
    result = subprocess.run(
        ["/bin/bash", str(ROOT / "tools" / "install_browsers.sh"), "firefox-esr"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0
    last = {"use ": "google-chrome"}.get(said, "firefox-esr")
    lines = [line for line in result.stdout.splitlines() if not line.endswith("...")]
    assert len(lines) == 2 and all(line.startswith("Browser: ") for line in lines)
    assert any(said in line and last in line for line in lines)
