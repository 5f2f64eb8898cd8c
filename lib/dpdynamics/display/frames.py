"""The frames of an explorer as a table: what all share stands once, curves keep the same points."""

import re
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.05
"""Farthest, in points, that a vertex left out lies from the curve that is kept."""
FAR = 5000.0
"""Coordinates are cut here, far outside every picture."""

_DEFINITIONS = re.compile(r"<defs>(.*?)</defs>")
_DEFINITION = re.compile(r"<path\b[^>]*/>|<(clipPath|style|pattern)\b.*?</\1>")
_POLYLINE = re.compile(r'(?<= d=")M [^A-KN-Y"]*(?=")')
_NUMBER = re.compile(r"-?\d[\d.]*")


def definitions(frames: list[str]) -> tuple[str, list[str]]:
    """Take glyphs, markers and clips out of all frames; return them, once, and the frames."""
    found: dict[str, None] = {}

    def take(match: re.Match[str]) -> str:
        found.update((m[0], None) for m in _DEFINITION.finditer(match[1]))
        return ""

    bodies = [_DEFINITIONS.sub(take, frame) for frame in frames]
    return f"<defs>{''.join(found)}</defs>", bodies


def thin(frames: list[str]) -> list[str]:
    """Leave out the vertices that no frame needs, so that curves can be compared point by point.

    Paths at the same place of their frames that have the same commands keep the same vertices.
    """
    same: dict[tuple[int, str], list[tuple[int, str]]] = {}
    for frame, text in enumerate(frames):
        for place, match in enumerate(_POLYLINE.finditer(text)):
            commands = "".join(re.findall("[MLz]", match[0]))
            if len(commands) > 5 and "z" not in commands[:-1]:
                same.setdefault((place, commands), []).append((frame, match[0]))
    paths: dict[tuple[int, int], str] = {}
    for (place, commands), drawn in same.items():
        points = np.array([[float(v) for v in _NUMBER.findall(d)] for _, d in drawn])
        points = points.reshape(len(drawn), -1, 2).clip(-FAR, FAR)
        ends = [i for i, c in enumerate(commands) if c == "M"] + [points.shape[1]]
        kept = [a + i for a, b in pairwise(ends) for i in needed(points[:, a:b])]
        close = "z " if commands.endswith("z") else ""
        for (frame, _), xy in zip(drawn, points, strict=True):
            steps = (f"{commands[i]} {xy[i, 0]:.7g} {xy[i, 1]:.7g} " for i in kept)
            paths[frame, place] = "".join(steps) + close

    def thinned(frame: int, text: str) -> str:
        places = count()
        return _POLYLINE.sub(lambda match: paths.get((frame, next(places)), match[0]), text)

    return [thinned(frame, text) for frame, text in enumerate(frames)]


def needed(curves: NDArray[np.float64]) -> list[int]:
    """List the vertices without which some curve would leave its course (Douglas and Peucker)."""
    kept, todo = {0, curves.shape[1] - 1}, [(0, curves.shape[1] - 1)]
    while todo:
        a, b = todo.pop()
        if b - a < 2:
            continue
        chord = (curves[:, b] - curves[:, a])[:, None]
        away = curves[:, a + 1 : b] - curves[:, a, None]
        length = np.maximum((chord**2).sum(-1), 1e-9)
        along = ((away * chord).sum(-1) / length).clip(0, 1)[..., None]
        distance = np.hypot(*np.moveaxis(away - along * chord, -1, 0)).max(axis=0)
        i = a + 1 + int(distance.argmax())
        if distance.max() > TOLERANCE:
            kept.add(i)
            todo += [(a, i), (i, b)]
    return sorted(kept)
