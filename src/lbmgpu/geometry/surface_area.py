"""The area of the surface of a geometry in a domain, where there is a formula for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .base import Geometry
from .images import goes_on
from .mesh import Mesh
from .placed import Placed
from .polygon import Polygon, Prism
from .primitives import Box, Cylinder, Sphere


def surface_area(geometry: Geometry, shape: Sequence[int], periodic: Sequence[bool]) -> float | None:
    """Cells squared, in two dimensions cells of its circumference; None where it is not known, or faces of the domain
    cut it off or touch it.

    Spheres, boxes, cylinders, polygons, prisms and closed meshes have one. Of what goes through the whole domain along
    an axis it is that between the faces. Of parts of a mesh that overlap it has what is inside of others too.
    """
    ends = np.isfinite(geometry.bounds)
    has_both = np.asarray(ends.all(axis=0)).tolist()
    every = zip(*geometry.bounds.tolist(), shape, has_both, goes_on(geometry, shape, periodic), strict=True)
    if any(has_ends and not continues and (low <= 0 or high >= n) for low, high, n, has_ends, continues in every):
        return None
    if ends.all():
        return _with_ends(geometry)
    if np.count_nonzero(~ends.any(axis=0)) != 1 or np.count_nonzero(~ends) != 2:
        return None
    return _without_ends(geometry, shape[int(np.flatnonzero(~ends[0])[0])])


def _with_ends(geometry: Geometry) -> float | None:
    if isinstance(geometry, Placed):
        return _with_ends(geometry.inner)  # which is only turned and shifted
    if isinstance(geometry, Sphere):
        return (2 if geometry.dimensions == 2 else 4 * geometry.radius) * math.pi * geometry.radius
    if isinstance(geometry, Cylinder):
        return 2 * math.pi * geometry.radius * (geometry.length + geometry.radius)
    if isinstance(geometry, Box):
        sides = geometry.high - geometry.low
        return float(2 * sides.sum() if len(sides) == 2 else 2 * (sides * np.roll(sides, 1)).sum())
    if isinstance(geometry, Polygon):
        return _circumference(geometry)
    if isinstance(geometry, Prism):
        return _circumference(geometry.polygon) * (geometry.high - geometry.low) + 2 * geometry.polygon.volume
    if isinstance(geometry, Mesh) and geometry.is_closed and not geometry.sheet:
        a, b, c = (geometry.vertices[geometry.triangles[:, k]] for k in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
    return None


def _without_ends(geometry: Geometry, length: int) -> float | None:
    if isinstance(geometry, Cylinder):
        return 2 * math.pi * geometry.radius * length
    return _circumference(geometry.polygon) * length if isinstance(geometry, Prism) else None


def _circumference(polygon: Polygon) -> float:
    return float(np.linalg.norm(np.roll(polygon.points, -1, axis=0) - polygon.points, axis=1).sum())
