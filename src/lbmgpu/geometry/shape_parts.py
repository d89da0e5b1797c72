"""Geometries as the engine looks them up in each step, for bodies that move: parts with their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import Compound, Floats, Geometry
from .extents import farthest, three
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
MESH_PARTS = 65535
"""As ``mesh_parts`` of the engine."""

_AXES = {"x": (1, 2, 0), "y": (0, 2, 1), "z": (0, 1, 2)}
"""The axes of a polygon's coordinates and of its extrusion."""


class ShapeParts(NamedTuple):
    """Regions, and operations behind the two that each joins.

    Attributes:
        parts: of each its kind, whether it is placed, and where its numbers and its integers begin.
        numbers, table: of all parts; see ``backend/moving_shape.h``.
    """

    parts: list[tuple[int, bool, int, int]]
    numbers: Floats
    table: NDArray[np.int32]


def shape_parts(geometry: Geometry) -> ShapeParts:
    """A geometry as parts.

    Raises:
        ValueError: a sheet or an open mesh, a kind of geometry that the engine does not know, or one of too many
            operations within each other.
    """
    found = _Lists()
    _add(geometry, None, found)
    waiting = deepest = 0
    for kind, *_ in found.parts:
        waiting += -1 if KINDS[kind] in ("union", "intersection", "difference") else 1
        deepest = max(deepest, waiting)
    if deepest > DEEPEST:
        raise ValueError(f"geometry: {deepest} regions wait for an operation, must be at most {DEEPEST}")
    return ShapeParts(found.parts, np.concatenate([np.empty(0), *found.numbers]), found.joined_table())


class _Lists:
    """What is found of regions, one after the other."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, bool, int, int]] = []
        self.numbers: list[Floats] = []
        self.table: list[NDArray[np.int32]] = []

    def add(
        self, kind: str, numbers: Sequence[Floats | Sequence[float]], integers: NDArray[np.int32], placed: bool
    ) -> None:
        """Adds a region, whose integers begin at a multiple of four of them."""
        first, table = sum(map(len, self.numbers)), sum(map(len, self.table))
        self.numbers.extend(np.asarray(own, np.float64) for own in numbers)
        self.table.append(np.concatenate([integers, np.zeros(-len(integers) % 4, np.int32)]))
        self.parts.append((KINDS.index(kind), placed, first, table))

    def joined_table(self) -> NDArray[np.int32]:
        return np.concatenate([np.empty(0, np.int32), *self.table])


def ball(geometry: Geometry) -> tuple[Floats, float]:
    """The centre, of three coordinates, and the radius of a ball about a geometry, infinite for one without end."""
    low, high = geometry.bounds
    if not np.isfinite([low, high]).all():
        return np.zeros(3), math.inf
    center = three((low + high) / 2)
    return center, farthest(geometry, center)


def _add(geometry: Geometry, placement: tuple[Floats, Floats] | None, found: _Lists) -> None:
    if isinstance(geometry, Compound):
        _add(geometry.first, placement, found)
        _add(geometry.second, placement, found)
        found.add(geometry.kind, [], np.empty(0, np.int32), False)
        return
    if isinstance(geometry, Placed):
        turn, shift = geometry.turn, geometry.shift
        if placement is not None:
            turn, shift = placement[0] @ turn, placement[0] @ shift + placement[1]
        _add(geometry.inner, (turn, shift), found)
        return
    placed = [] if placement is None else [placement[0].ravel(), placement[1]]
    kind, numbers, integers = _region(geometry)
    found.add(kind, [*placed, numbers], np.asarray(integers, np.int32), placement is not None)


def _region(geometry: Geometry) -> tuple[str, Any, Any]:
    """The kind, the numbers and the integers of a region."""
    if isinstance(geometry, Sphere):
        return "sphere", [*three(geometry.center), geometry.radius * geometry.radius], []
    if isinstance(geometry, Cylinder):
        numbers = [*geometry.center, *geometry.axis, geometry.radius * geometry.radius, geometry.length / 2]
        return "cylinder", numbers, []
    if isinstance(geometry, Box):
        return "box", [*three(geometry.low, -math.inf), *three(geometry.high, math.inf)], []
    if isinstance(geometry, Plane):
        return "plane", [*three(geometry.point), *three(geometry.normal)], []
    if isinstance(geometry, Polygon):
        return "polygon", *_polygon(geometry, -math.inf, math.inf, "z")
    if isinstance(geometry, Prism):
        return "polygon", *_polygon(geometry.polygon, geometry.low, geometry.high, geometry.axis)
    if isinstance(geometry, Mesh) and not geometry.sheet and geometry.is_closed:
        return "mesh", *_mesh(geometry)
    if isinstance(geometry, Mesh) and geometry.sheet:
        raise ValueError("geometry: a sheet given, must have an inside to move; give it a thickness")
    if isinstance(geometry, Mesh):
        holes = geometry.where_open()
        raise ValueError(f"geometry: a mesh with holes given ({holes}), must be closed to move; repair the mesh first")
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


def _mesh(mesh: Mesh) -> tuple[Floats, NDArray[np.int32]]:
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
    parts = np.full(3, MESH_PARTS)
    inverse = [counts / np.where(size > 0, size, 1.0)[: len(counts)] for counts in (columns, boxes, parts)]
    lists = []
    for counts, of in zip((columns, boxes), inverse, strict=False):
        axes = reversed(range(len(counts)))
        bins = [_bins_of(low[:, d], high[:, d], float(first[d]), float(of[d]), int(counts[d])) for d in axes]
        lists.append(_listed(bins, tuple(map(int, reversed(counts)))))
    (of_columns, in_columns), (begin, in_boxes) = lists
    states = _states(mesh, np.diff(begin).reshape(boxes[::-1]) > 0, first, 1 / inverse[1])

    # Rounded outwards by a part more, so that no rounding of the engine's leaves a triangle out.
    places = np.stack([np.floor((low - first) * inverse[2]) - 1, np.ceil((high - first) * inverse[2]) + 1])
    from_, to = np.clip(places, 0, MESH_PARTS).astype(np.uint32)
    extents = np.column_stack([np.arange(len(corners), dtype=np.uint32), from_ | to << 16]).view(np.int32)
    with_planes = np.column_stack([extents, _planes(corners - first).view(np.int32)])
    entries = [with_planes[in_boxes].ravel(), extents[in_columns].ravel()]
    at_boxes = 9 + len(of_columns)
    behind = at_boxes + len(begin) + states.size
    gap = np.zeros(-behind % 4, np.int32)
    at_entries = behind + len(gap)
    head = [int(mesh.is_oriented), *columns, *boxes, at_boxes, at_entries, at_entries + len(entries[0])]
    table = [head, of_columns, begin, states.ravel(), gap, *entries]
    exact = 4e-6 * float(np.linalg.norm(size))  # far above what rounding makes of planes in float
    numbers = np.concatenate([first, *inverse, [exact], corners.ravel()])
    return numbers, np.concatenate([np.asarray(own, np.int32) for own in table])


def _planes(corners: Floats) -> NDArray[np.float32]:
    """The unit normal of each triangle and its product with the triangle; of one with hardly any area zeros, a plane
    that all cross."""
    edges = corners - np.roll(corners, 1, axis=1)
    normal = np.cross(edges[:, 1], edges[:, 2])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    longest = np.linalg.norm(edges, axis=2).max(axis=1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 1e-6 * longest**2)
    return np.column_stack([normal, np.sum(normal * corners[:, 0], axis=1)]).astype(np.float32)


def _states(mesh: Mesh, has_triangles: NDArray[np.bool_], first: Floats, edges: Floats) -> NDArray[np.int32]:
    """Of each box, by (z, y, x): 2 if it has triangles, otherwise whether it is in the mesh. A row of boxes without any
    is so as its first one."""
    begins = ~has_triangles
    begins[..., 1:] &= has_triangles[..., :-1]
    at = np.argwhere(begins)
    states = np.zeros(has_triangles.shape, np.int32)
    states[begins] = mesh.inside(*(first[d] + (at[:, 2 - d] + 0.5) * edges[d] for d in range(3)))
    x = np.arange(np.size(begins, 2))
    last = np.maximum.accumulate(np.where(begins, x, 0), axis=2)  # where the row of a box begins
    states = np.take_along_axis(states, last, axis=2)
    states[has_triangles] = 2
    return states


def _bins_of(low: Floats, high: Floats, first: float, inverse: float, count: int) -> NDArray[np.int64]:
    """``(n, 2)``: the first and the last bin of each item, by the product that the engine looks a point up with."""
    places = np.stack([low - first, high - first], axis=1) * inverse
    return np.clip(places.astype(np.int64), 0, count - 1)


def _listed(bins: list[NDArray[np.int64]], counts: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
    return begin, items[order]
