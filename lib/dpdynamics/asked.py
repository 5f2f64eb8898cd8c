"""Whether a call runs code of this library: what a test asks of an implementation of one's own."""

from collections.abc import Callable
from sys import setprofile
from types import FrameType


def asks_library(
    call: Callable[[], object], *allowed: str, rooms: tuple[str, ...] = ("dpdynamics",)
) -> set[str]:
    """Names of the library's functions that a call runs from outside, but for those allowed.

    `rooms` are the beginnings of the names of the modules that count as the library. A call that
    sets another profiler, behind which nothing more could be seen, is told as ``setprofile``.
    """
    asked: set[str] = set()

    def inside(frame: FrameType | None) -> bool:
        return frame is not None and str(frame.f_globals.get("__name__")).startswith(rooms)

    def watch(frame: FrameType, event: str, called: object) -> None:
        if event == "call" and inside(frame) and not inside(frame.f_back):
            asked.add(frame.f_code.co_name)
        elif event == "c_call" and called is setprofile:
            asked.add("setprofile")

    setprofile(watch)
    try:
        call()
        return asked - set(allowed)
    finally:
        setprofile(None)
