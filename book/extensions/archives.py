"""Archives that a build writes into the site: the same bytes on every run."""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)


def write(target: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write an archive of names and contents, with one date and mode for all."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)


def library(root: Path) -> Iterator[tuple[str, bytes]]:
    """The files of the package."""
    for path in sorted((root / "lib" / "dpdynamics").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root / "lib").as_posix(), path.read_bytes()
