"""How far geometries reach: along directions, from points and from axes. A mesh reaches as far as its corners do, which
is less than the box about it once that is turned."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from .base import Compound, Floats, Geometry
from .mesh import Mesh
from .placed import Placed
from .polygon import Polygon, Prism
from .primitives import Box, Cylinder, Plane, Sphere

_CORNERS = 256
"""Of the regular polygon about the end of a cylinder that stands for it, which reaches 8e-5 of its radius farther."""
_MOST_NUMBERS = 2**22
"""Of an array of products that is made at once."""


def support(geometry: Geometry, directions: Floats) -> Floats:
    """The largest product of a point of a geometry with each direction, infinite where it has no end; of an
    intersection at least that.

    Args:
        geometry: of two dimensions at z = 0.
        directions: ``(n, 3)``, of any length.

    Returns:
        ``(n,)``.
    """
    if isinstance(geometry, Compound):
        return _joined(geometry, lambda part: support(part, directions), np.minimum, np.maximum)
    if isinstance(geometry, Placed):
        return np.asarray(support(geometry.inner, directions @ geometry.turn) + directions @ geometry.shift)
    if isinstance(geometry, Sphere):
        lengths = np.linalg.norm(directions, axis=1)
        return np.asarray(directions @ three(geometry.center) + geometry.radius * lengths)
    if isinstance(geometry, Cylinder):
        along = directions @ geometry.axis
        across = np.linalg.norm(np.cross(directions, geometry.axis), axis=1)
        ends = _product(np.abs(along), geometry.length / 2)
        return np.asarray(directions @ geometry.center + geometry.radius * across + ends)
    if isinstance(geometry, Prism):
        along = directions[:, geometry.along]
        ends = np.maximum(_product(along, geometry.low), _product(along, geometry.high))
        return np.asarray(_of_points(_across(geometry), directions) + ends)
    if isinstance(geometry, Plane):
        normal = three(geometry.normal)
        height = directions @ normal
        is_along = (directions == height[:, np.newaxis] * normal).all(axis=1) & (height >= 0)
        return np.where(is_along, height * float(normal @ three(geometry.point)), math.inf)
    points = corners(geometry)
    return np.full(len(directions), math.inf) if points is None else _of_points(points, directions)


def farthest(geometry: Geometry, point: Floats, axis: Floats | None = None) -> float:
    """No point of a geometry is farther from a point, or from an axis through it; infinite of one without end. It is
    the least such number but for intersections and cylinders, of which it may be larger.

    Args:
        geometry: of two dimensions at z = 0.
        point: three coordinates.
        axis: a unit vector of three; None for distances from the point.
    """
    if isinstance(geometry, Compound):
        return float(_joined(geometry, lambda part: farthest(part, point, axis), min, max))
    if isinstance(geometry, Placed):
        own_axis = None if axis is None else axis @ geometry.turn
        return farthest(geometry.inner, (point - geometry.shift) @ geometry.turn, own_axis)
    if isinstance(geometry, Sphere):
        return float(_distances(three(geometry.center), point, axis)) + geometry.radius
    if isinstance(geometry, Cylinder):
        return _farthest_of_cylinder(geometry, point, axis)
    if isinstance(geometry, Prism) and axis is not None and abs(axis[geometry.along]) > 1 - 1e-12:
        return float(_distances(_across(geometry), point, axis).max())  # no point is farther than that beside it
    points = corners(geometry)
    return math.inf if points is None else float(_distances(points, point, axis).max())


def corners(geometry: Geometry) -> Floats | None:
    """Points ``(n, 3)`` whose convex hull is that of a mesh, a polygon, a prism, or of the bounds of anything else;
    None of one without end."""
    if isinstance(geometry, Mesh):
        return geometry.vertices
    if isinstance(geometry, Polygon):
        return np.pad(geometry.points, ((0, 0), (0, 1)))
    if isinstance(geometry, Prism):
        ends = [_across(geometry, end) for end in (geometry.low, geometry.high)]
        return np.concatenate(ends) if math.isfinite(geometry.high - geometry.low) else None
    low, high = geometry.bounds
    if not np.isfinite([low, high]).all():
        return None
    return np.array([three(each) for each in product(*zip(low, high, strict=True))])


def three(point: Sequence[float] | Floats, last: float = 0.0) -> Floats:
    """A point of two or three coordinates as one of three."""
    return np.array([*point, last][:3], np.float64)


def _joined(
    geometry: Compound,
    of: Callable[[Geometry], Floats | float],
    least: Callable[..., Floats | float],
    most: Callable[..., Floats | float],
) -> Floats:
    """What is found of a union, an intersection or a difference by that of its parts."""
    first = of(geometry.first)
    if geometry.kind == "difference":
        return np.asarray(first)
    second = of(geometry.second)
    if geometry.kind == "union":
        return np.asarray(most(first, second))
    both = np.asarray(least(first, second))
    if not np.isfinite(geometry.bounds).all():
        return both
    return np.asarray(least(both, of(Box(*geometry.bounds))))


def _of_points(points: Floats, directions: Floats) -> Floats:
    """The largest product of a point with each direction."""
    step = max(1, _MOST_NUMBERS // len(points))
    parts = [(directions[k : k + step] @ points.T).max(axis=1) for k in range(0, len(directions), step)]
    return np.concatenate([np.empty(0), *parts])


def _across(prism: Prism, along: float = 0.0) -> Floats:
    """The corners of the polygon of a prism, at a place along its axis."""
    points = np.full((len(prism.polygon.points), 3), along)
    points[:, [k for k in range(3) if k != prism.along]] = prism.polygon.points
    return points


def _farthest_of_cylinder(cylinder: Cylinder, point: Floats, axis: Floats | None) -> float:
    if axis is not None and not np.cross(axis, cylinder.axis).any():
        return float(_distances(cylinder.center, point, axis)) + cylinder.radius
    if math.isinf(cylinder.length):
        return math.inf
    ends = cylinder.center + np.array([[-0.5], [0.5]]) * cylinder.length * cylinder.axis
    most = float(_distances(ends, point, axis).max()) + cylinder.radius
    u = np.cross(cylinder.axis, np.eye(3)[np.argmin(np.abs(cylinder.axis))])
    u /= np.linalg.norm(u)
    v = np.cross(cylinder.axis, u)
    angles = 2 * math.pi / _CORNERS * np.arange(_CORNERS)
    about = np.outer(np.cos(angles), u) + np.outer(np.sin(angles), v)
    about *= cylinder.radius / math.cos(math.pi / _CORNERS)
    points = (ends[:, np.newaxis] + about).reshape(-1, 3)
    return min(most, float(_distances(points, point, axis).max()))


def _distances(points: Floats, point: Floats, axis: Floats | None) -> Floats:
    away = points - point
    return np.asarray(np.linalg.norm(away if axis is None else np.cross(axis, away), axis=-1))


def _product(factor: Floats, length: Floats | float) -> Floats:
    """The product with lengths that may be infinite, 0 times which is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(factor == 0, 0.0, factor * length)
