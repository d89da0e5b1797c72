"""Links between fluid cells that touch a closed surface, as at an edge of a mesh, and do not go inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .base import Geometry

Floats = NDArray[np.float64]

_LEAST_INSIDE = 1e-6
"""The part of a link, in its length, that is inside at least where it does more than touch."""
_OFFSET, _AROUND = 1e-5, 1e-2
"""How far beside a link, in cells, and before and behind where it touches, in its length, the surface is looked for."""


def only_touch(geometry: Geometry, x: Sequence[Floats], step: Sequence[float], q: Floats) -> NDArray[np.bool_]:
    """Whether lines that begin and end outside only touch a surface: no part of them is inside, and on one side at
    least they pass by it, as they do not pass by a plate of two surfaces in the same place.

    Args:
        geometry: that has the surface, which is closed.
        x, step: the lines, as of `Geometry.crossings`.
        q: of each line a length after which it meets the surface.
    """
    ends = np.zeros((1, len(q)))
    cuts = np.sort(np.clip(np.concatenate([ends, q[np.newaxis], geometry.crossings(x, step), ends + 1]), 0, 1), axis=0)
    number, line = np.nonzero(np.diff(cuts, axis=0) > _LEAST_INSIDE)
    middle = (cuts[number, line] + cuts[number + 1, line]) / 2
    goes_inside = np.zeros(len(q), np.bool_)
    goes_inside[line[geometry.inside(*_points(x, step, line, middle))]] = True
    number, line = np.nonzero((cuts[1:-1] < 1) & ~goes_inside)
    begin = _points(x, step, line, cuts[number + 1, line] - _AROUND)
    passes = np.zeros(len(line), np.bool_)
    for side in _across(step):
        shifted = [a + _OFFSET * float(b) for a, b in zip(begin, side, strict=True)]
        found = geometry.crossings(shifted, [2 * _AROUND * c for c in step])
        passes |= ~((found >= 0) & (found <= 1)).any(axis=0)
    goes_inside[line[~passes]] = True  # through a plate without thickness
    return ~goes_inside


def _points(x: Sequence[Floats], step: Sequence[float], line: NDArray[np.int64], at: Floats) -> list[Floats]:
    """The points of lines after some lengths."""
    return [a[line] + c * at for a, c in zip(x, step, strict=True)]


def _across(step: Sequence[float]) -> Floats:
    """Unit vectors across a direction, to four sides."""
    along = np.asarray(step) / np.linalg.norm(step)
    first = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    first /= np.linalg.norm(first)
    second = np.cross(along, first)
    return np.array([first, -first, second, -second])
