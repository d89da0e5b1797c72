"""Geometries as the engine looks them up in each step, for bodies that move: parts with their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import Compound, Floats, Geometry
from .mesh import Mesh
from .placed import Placed
from .polygon import Polygon, Prism
from .primitives import Box, Cylinder, Plane, Sphere

KINDS = ("sphere", "cylinder", "box", "plane", "polygon", "mesh", "union", "intersection", "difference")
"""By the number that C++ has for each."""
DEEPEST = 32
"""Regions that may wait for an operation."""
MOST_BINS = 1024
"""Along an axis."""

_AXES = {"x": (1, 2, 0), "y": (0, 2, 1), "z": (0, 1, 2)}
"""The axes of a polygon's coordinates and of its extrusion."""


class ShapeParts(NamedTuple):
    """Regions, and operations behind the two that each joins.

    Attributes:
        parts: of each its kind, whether it is placed, and where its numbers and its integers begin.
        numbers, table: of all parts; see ``backend/moving_shape.h``.
    """

    parts: list[tuple[int, bool, int, int]]
    numbers: list[float]
    table: list[int]


def shape_parts(geometry: Geometry) -> ShapeParts:
    """A geometry as parts.

    Raises:
        ValueError: a sheet or an open mesh, a kind of geometry that the engine does not know, or one of too many
            operations within each other.
    """
    found = ShapeParts([], [], [])
    _add(geometry, None, found)
    waiting = deepest = 0
    for kind, *_ in found.parts:
        waiting += -1 if KINDS[kind] in ("union", "intersection", "difference") else 1
        deepest = max(deepest, waiting)
    if deepest > DEEPEST:
        raise ValueError(f"geometry: {deepest} regions wait for an operation, must be at most {DEEPEST}")
    return found


def ball(geometry: Geometry) -> tuple[Floats, float]:
    """The centre, of three coordinates, and the radius of a ball about a geometry, infinite for one without end."""
    if isinstance(geometry, Sphere):
        return _three(geometry.center), geometry.radius
    if isinstance(geometry, Cylinder):
        return geometry.center, math.hypot(geometry.radius, geometry.length / 2)
    if isinstance(geometry, Placed):
        center, radius = ball(geometry.inner)
        return geometry.from_inner(center[np.newaxis])[0], radius
    low, high = geometry.bounds
    if not np.isfinite([low, high]).all():
        return np.zeros(3), math.inf
    return _three((low + high) / 2), float(np.linalg.norm(high - low)) / 2


def _three(point: Sequence[float] | Floats, last: float = 0.0) -> Floats:
    return np.array([*point, last][:3], np.float64)


def _add(geometry: Geometry, placement: tuple[Floats, Floats] | None, found: ShapeParts) -> None:
    if isinstance(geometry, Compound):
        _add(geometry.first, placement, found)
        _add(geometry.second, placement, found)
        found.parts.append((KINDS.index(geometry.kind), False, len(found.numbers), len(found.table)))
        return
    if isinstance(geometry, Placed):
        turn, shift = geometry.turn, geometry.shift
        if placement is not None:
            turn, shift = placement[0] @ turn, placement[0] @ shift + placement[1]
        _add(geometry.inner, (turn, shift), found)
        return
    first, table = len(found.numbers), len(found.table)
    if placement is not None:
        found.numbers.extend([*placement[0].ravel().tolist(), *placement[1].tolist()])
    kind, numbers, integers = _region(geometry)
    found.numbers.extend(map(float, numbers))
    found.table.extend(map(int, integers))
    found.parts.append((KINDS.index(kind), placement is not None, first, table))


def _region(geometry: Geometry) -> tuple[str, Sequence[Any], Sequence[Any]]:
    """The kind, the numbers and the integers of a region."""
    if isinstance(geometry, Sphere):
        return "sphere", [*_three(geometry.center), geometry.radius * geometry.radius], []
    if isinstance(geometry, Cylinder):
        numbers = [*geometry.center, *geometry.axis, geometry.radius * geometry.radius, geometry.length / 2]
        return "cylinder", numbers, []
    if isinstance(geometry, Box):
        return "box", [*_three(geometry.low, -math.inf), *_three(geometry.high, math.inf)], []
    if isinstance(geometry, Plane):
        return "plane", [*_three(geometry.point), *_three(geometry.normal)], []
    if isinstance(geometry, Polygon):
        return "polygon", *_polygon(geometry, -math.inf, math.inf, "z")
    if isinstance(geometry, Prism):
        return "polygon", *_polygon(geometry.polygon, geometry.low, geometry.high, geometry.axis)
    if isinstance(geometry, Mesh) and not geometry.sheet and geometry.is_closed:
        return "mesh", *_mesh(geometry)
    if isinstance(geometry, Mesh):
        raise ValueError("geometry: a sheet or a mesh with holes given, must be closed to move")
    raise ValueError(f"geometry: {geometry!r} given, of a kind that cannot move")


def _polygon(polygon: Polygon, low: float, high: float, axis: str) -> tuple[list[float], list[int]]:
    """Edges in bins of v, each of which lists those that its lines of constant v may meet."""
    edges = np.array([(*a, *b) if a[1] < b[1] else (*b, *a) for a, b in pairwise([*polygon.points, polygon.points[0]])])
    first, last = float(edges[:, 1].min()), float(edges[:, 3].max())
    count = int(np.clip(math.ceil(2 * (last - first)), 1, MOST_BINS))
    inverse = count / (last - first)
    bins = [_bins_of(edges[:, 1], edges[:, 3], first, inverse, count)]
    begin, items = _listed(bins, (count,))
    numbers = [low, high, first, inverse, *edges.ravel().tolist()]
    return numbers, [*_AXES[axis], count, *begin, *items]


def _mesh(mesh: Mesh) -> tuple[list[float], list[int]]:
    """Triangles in columns, each of which lists those that its lines along z may meet, and in boxes, each of which
    lists those that may be in it. Links are cut by the triangles of the boxes about them: so these are of a cell at
    least, and larger if they would be far more than triangles."""
    corners = mesh.vertices[mesh.triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    first = low.min(axis=0)
    size = high.max(axis=0) - first
    columns = np.clip(np.ceil(2 * size[:2]), 1, MOST_BINS).astype(int)
    edge = max(1.0, float(np.cbrt(size.prod() / (4 * len(corners)))))
    boxes = np.clip(np.ceil(size / edge), 1, MOST_BINS).astype(int)
    inverses: list[float] = []
    lists: list[list[int]] = []
    for counts in (columns, boxes):
        inverse = counts / np.where(size > 0, size, 1.0)[: len(counts)]
        axes = reversed(range(len(counts)))
        bins = [_bins_of(low[:, d], high[:, d], float(first[d]), float(inverse[d]), int(counts[d])) for d in axes]
        begin, items = _listed(bins, tuple(map(int, reversed(counts))))
        inverses.extend(inverse.tolist())
        lists.append([*begin, *items])
    numbers = [*first.tolist(), *inverses, *corners.ravel().tolist()]
    head = [int(mesh.is_oriented), *columns.tolist(), *boxes.tolist()]
    return numbers, [*head, len(head) + 1 + len(lists[0]), *lists[0], *lists[1]]


def _bins_of(low: Floats, high: Floats, first: float, inverse: float, count: int) -> NDArray[np.int64]:
    """``(n, 2)``: the first and the last bin of each item, by the product that the engine looks a point up with."""
    places = np.stack([low - first, high - first], axis=1) * inverse
    return np.clip(places.astype(np.int64), 0, count - 1)


def _listed(bins: list[NDArray[np.int64]], counts: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Where the items of each bin begin, and their numbers, of bins along one axis or more, the last axis fastest."""
    spans = [ends[:, 1] - ends[:, 0] + 1 for ends in bins]
    each = np.prod(spans, axis=0)
    items = np.repeat(np.arange(len(each)), each)
    within = np.arange(len(items)) - np.repeat(np.cumsum(each) - each, each)
    place = np.zeros(len(items), np.int64)
    scale = 1
    for ends, span, count in zip(reversed(bins), reversed(spans), reversed(counts), strict=True):
        place += scale * (ends[items, 0] + within % span[items])
        within //= span[items]
        scale *= count
    order = np.argsort(place, kind="stable")
    begin = np.searchsorted(place[order], np.arange(scale + 1))
    return begin.tolist(), items[order].tolist()
