"""Small notebooks, written to a temporary folder, that the tests of the tools work on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import notebooks
from nb.layout import ROOT
from planted_notebooks import write_notebook


@pytest.fixture
def plant(tmp_path: Path) -> Callable[..., Path]:
    """Function that writes a notebook of prose, the bootstrap cell and the given code cells."""

    def write(*sources: str, name: str = "planted.ipynb") -> Path:
        return write_notebook(tmp_path / name, *sources)

    return write


@pytest.fixture
def tool(capsys) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Function that calls ``tools/notebooks.py`` as the Makefile does."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        status = notebooks.main(words)
        return subprocess.CompletedProcess(words, status, *capsys.readouterr())

    return call


@pytest.fixture
def run_pytest() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Function that runs pytest in a process of its own, on planted notebooks."""

    def call(*arguments: object, notebooks: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *map(str, arguments),
        ]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        if notebooks is not None:
            environment["BOOK_NOTEBOOKS"] = str(notebooks)
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
        )

    return call
