"""The process in which a submission runs: another user, no network, little to see, and limits.

On Linux, `unshare` gives it a view of the machine that holds the interpreter, its packages, the
library and an empty folder: no assignment's source, no gradebook, no other submission. Run as root,
it becomes the user *nobody*. Elsewhere it is a plain process with limits, and :func:`available`
says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.manager import AsyncKernelManager

from nb.layout import ROOT

NOBODY = 65534
MEMORY = 8 << 30  # bytes of address space: PyTorch alone reserves some
FILE = 64 << 20  # bytes of one file
SECONDS = 900  # of computing, for the whole notebook: a cell has a minute
PROCESSES = 256  # and threads of *nobody*; of another user, other programs count as well
KEPT = (
    "PATH LANG SOURCE_DATE_EPOCH MATPLOTLIBRC OMP_NUM_THREADS OPENBLAS_NUM_THREADS PYTHONHASHSEED"
)

LIMIT = f"""
import os, resource, sys
for name, most in (("AS", {MEMORY}), ("FSIZE", {FILE}), ("CPU", {SECONDS}), ("CORE", 0)):
    resource.setrlimit(getattr(resource, "RLIMIT_" + name), (most, most))
if os.getuid() == {NOBODY}:
    resource.setrlimit(resource.RLIMIT_NPROC, ({PROCESSES}, {PROCESSES}))
if os.getppid() == 0:  # the first process of its namespace has no parent to watch
    os.environ["JPY_PARENT_PID"] = "1"
os.execv(sys.argv[1], sys.argv[1:])
"""
# Arguments: a folder, the folders to see, --, the command. It ends as the command.
VIEW = """
set -eu
place=$1; shift; root=$place/.root; mkdir -p "$root"
mount -t tmpfs -o mode=755,size=1m none "$root"
mkdir -p "$root/proc" "$root/dev" "$root/tmp"
mount -t proc none "$root/proc"; mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,size=256m none "$root/tmp"
while [ "$1" != -- ]; do
  if [ -L "$1" ]; then cp -P "$1" "$root$1"; else
    mkdir -p "$root$1"; mount --rbind "$1" "$root$1"
    mount -o remount,bind,ro "$root$1" 2>/dev/null || :
  fi
  shift
done
shift
mkdir -p "$root$place"; mount --bind "$place" "$root$place"
exec chroot "$root" setpriv $AS_USER --no-new-privs --bounding-set=-all --inh-caps=-all \\
  sh -c 'cd "$0"; exec "$@"' "$place" "$@"
"""


def command(place: Path, cmd: list[str]) -> list[str]:
    """A command, confined to a folder where that is possible."""
    limited = [sys.executable, "-c", LIMIT, *cmd]
    if not available():
        return limited
    return _apart(place, limited)


def _apart(place: Path, cmd: list[str]) -> list[str]:
    seen = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"]
    seen += [sys.base_prefix, sys.prefix, str(ROOT / "lib")]
    seen = [p for p in seen if Path(p).exists() and not p.startswith("/usr/")]
    root = os.geteuid() == 0
    user = f"--reuid={NOBODY} --regid={NOBODY} --clear-groups" if root else ""
    spaces = ["--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child"]
    spaces += [] if root else ["--user", "--map-root-user"]
    view = ["sh", "-c", f"AS_USER='{user}'{VIEW}", "sh", str(place), *seen, "--"]
    return ["unshare", *spaces, *view, *cmd]


@cache
def available() -> bool:
    """Whether submissions can be kept apart from this machine."""
    if not all(map(shutil.which, ("unshare", "setpriv", "mount", "chroot"))):
        return False
    with TemporaryDirectory() as folder:
        give(Path(folder))
        cmd = _apart(Path(folder), [sys.executable, "-c", "import dpdynamics"])
        return subprocess.run(cmd, capture_output=True).returncode == 0


def give(path: Path) -> None:
    """Make a path the property of the user who runs submissions."""
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)


class ConfinedKernel(AsyncKernelManager):
    """Kernels that talk through sockets in their own folder and see little else."""

    async def _async_pre_start_kernel(self, **kw: Any) -> tuple[list[str], dict[str, Any]]:
        place = Path(kw["cwd"])
        give(place)
        self.transport, self.ip = "ipc", str(place / ".socket")
        self.connection_file = str(place / ".kernel.json")
        kept = {name: os.environ[name] for name in KEPT.split() if name in os.environ}
        kw["env"] = kept | {"HOME": str(place)}
        cmd, kw = await super()._async_pre_start_kernel(**kw)
        give(Path(self.connection_file))
        return command(place, cmd), kw
