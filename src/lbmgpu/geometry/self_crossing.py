"""Finds where a closed line of straight edges crosses itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ROUNDING = 1e-12
"""Twice the area of a triangle over the square of the line's extent, below which its corners are on one line."""
_MOST_PAIRS = 2**20
"""Of edges that are looked at at once."""


class Crossing(NamedTuple):
    """Where a closed line crosses itself.

    Attributes:
        first, second: the numbers of the corners that the two edges begin with, from 0.
        place: coordinates.
    """

    first: int
    second: int
    place: tuple[float, float]


def crossing_of(points: Floats) -> Crossing | None:
    """A place where the closed line of corners ``(n, 2)`` crosses itself within two edges, None for none.

    Edges that touch, at a corner or along both, do not cross. Pairs are taken only of edges beside each other along the
    axis that has fewer of these, so that contours of many corners take little time.
    """
    ends = np.stack([points, np.roll(points, -1, axis=0)], axis=1)
    least = _ROUNDING * float(np.ptp(points, axis=0).max()) ** 2
    for first, second in _beside(ends):
        a, b, c, d = ends[first, 0], ends[first, 1], ends[second, 0], ends[second, 1]
        of_c, of_d, of_a, of_b = _side(a, b, c), _side(a, b, d), _side(c, d, a), _side(c, d, b)
        is_apart = np.minimum.reduce(np.abs([of_a, of_b, of_c, of_d])) > least
        which = np.flatnonzero(is_apart & ((of_a > 0) != (of_b > 0)) & ((of_c > 0) != (of_d > 0)))
        if len(which):
            k = which[0]
            x, y = a[k] + of_a[k] / (of_a[k] - of_b[k]) * (b[k] - a[k])
            low, high = sorted((int(first[k]), int(second[k])))
            return Crossing(low, high, (float(x), float(y)))
    return None


def _beside(ends: Floats) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of edges ``(n, 2, 2)`` whose extents meet along both axes, in parts."""
    low, high = ends.min(axis=1), ends.max(axis=1)
    orders = [np.argsort(low[:, axis]) for axis in (0, 1)]
    counts = [
        np.searchsorted(low[order, axis], high[order, axis], side="right") - np.arange(len(ends)) - 1
        for axis, order in enumerate(orders)
    ]
    axis = int(counts[1].sum() < counts[0].sum())
    order, count = orders[axis], counts[axis]
    total = np.cumsum(count)
    start = 0
    while start < len(ends):
        before = int(total[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(total, before + _MOST_PAIRS, side="right")))
        own = np.repeat(np.arange(start, end), count[start:end])
        number = np.arange(len(own)) - np.repeat(total[start:end] - count[start:end] - before, count[start:end])
        first, second = order[own], order[own + 1 + number]
        meet = (low[first] <= high[second]).all(axis=1) & (low[second] <= high[first]).all(axis=1)
        yield first[meet], second[meet]
        start = end


def _side(a: Floats, b: Floats, of: Floats) -> Floats:
    """On which side of the lines from a to b places are, as twice the area of the triangle with both."""
    found: Floats = (b[:, 0] - a[:, 0]) * (of[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (of[:, 0] - a[:, 0])
    return found
