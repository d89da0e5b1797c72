"""Triangles of a given size on the surface of a geometry: those of a mesh cut up, or of a sphere, cylinder or box."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import GeometryError
from .base import Floats, Geometry
from .mesh import Mesh
from .placed import Placed
from .primitives import Box, Cylinder, Sphere

Triangles = NDArray[np.int64]
MOST_TRIANGLES = 2**24
"""That a surface is cut into; beyond it the size asked for is far too small."""
_BESIDE = 1e-3
"""Cells beside a triangle at which is asked which side of it is solid."""


def surface_triangles(geometry: Geometry, size: float) -> tuple[Floats, Triangles]:
    """The surface of a geometry as triangles whose edges are at most `size` cells long.

    Returns:
        Corners ``(n, 3)`` and their numbers ``(m, 3)``, counterclockwise seen from the fluid.

    Raises:
        GeometryError: a geometry that no triangles are known of, or more than 2^24 of them.
    """
    vertices, triangles = _triangles_of(geometry, size)
    vertices, triangles = _cut_up(vertices, triangles, size)
    return vertices, _turned_out(geometry, vertices, triangles)


def _triangles_of(geometry: Geometry, size: float) -> tuple[Floats, Triangles]:
    if isinstance(geometry, Mesh):
        return np.array(geometry.vertices, np.float64), np.array(geometry.triangles, np.int64)
    if isinstance(geometry, Placed):
        vertices, triangles = _triangles_of(geometry.inner, size)
        return geometry.from_inner(vertices), triangles
    maker = _MAKERS.get(type(geometry))
    if maker is None or geometry.dimensions != 3 or not np.isfinite(geometry.bounds).all():
        raise GeometryError(
            f"surface: no triangles are known of {type(geometry).__name__}; a Mesh, or a Sphere, Cylinder with a "
            "length or Box of three dimensions has them; give mesh= for another one"
        )
    x, y, z = geometry.bounds[1] - geometry.bounds[0]
    _check_count(x * y + y * z + z * x, size)  # half of the box's surface, which all of them have more of
    return maker(geometry, size)


def _check_count(area: float, size: float) -> None:
    """Raise GeometryError where triangles of this size that cover an area are too many."""
    if area > MOST_TRIANGLES * math.sqrt(3) / 4 * size**2:
        raise GeometryError(f"size: {size:g} given, makes more than {MOST_TRIANGLES} triangles, must be larger")


def _sphere(sphere: Sphere, size: float) -> tuple[Floats, Triangles]:
    """An icosahedron whose triangles are cut in four and put onto the sphere."""
    golden = (1 + math.sqrt(5)) / 2
    corners = [(a, b * golden, 0.0) for b in (1, -1) for a in (-1, 1)]
    points = np.array(corners + [(0.0, a, b) for a, b, _ in corners] + [(b, 0.0, a) for a, b, _ in corners])
    triangles = _hull_of_icosahedron(points)
    points /= np.linalg.norm(points, axis=1)[:, None]
    for _ in range(12):
        edges = points[triangles] - points[np.roll(triangles, -1, axis=1)]
        if sphere.radius * float(np.linalg.norm(edges, axis=-1).max()) <= size:
            break
        points, triangles = _quartered(points, triangles)
        points /= np.linalg.norm(points, axis=1)[:, None]
    return sphere.center + sphere.radius * points, triangles


def _hull_of_icosahedron(points: Floats) -> Triangles:
    """The twenty triples of corners that are all an edge apart."""
    near = np.abs(np.linalg.norm(points[:, None] - points[None], axis=-1) - 2) < 1e-9
    n = range(len(points))
    found = [(i, j, k) for i in n for j in n for k in n if i < j < k and near[i, j] and near[j, k] and near[i, k]]
    return np.array(found, np.int64)


def _box(box: Box, size: float) -> tuple[Floats, Triangles]:
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))], np.int64)
    return box.low + corners * (box.high - box.low), triangles


def _cylinder(cylinder: Cylinder, size: float) -> tuple[Floats, Triangles]:
    around = max(12, math.ceil(2 * math.pi * cylinder.radius / size))
    along = max(1, math.ceil(cylinder.length / size))
    helper = np.eye(3)[int(np.argmin(np.abs(cylinder.axis)))]
    first = np.cross(cylinder.axis, helper)
    first /= np.linalg.norm(first)
    second = np.cross(cylinder.axis, first)
    angle = 2 * np.pi * np.arange(around) / around
    ring = cylinder.radius * (np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second)
    heights = (np.arange(along + 1) / along - 0.5) * cylinder.length
    side = (heights[:, None, None] * cylinder.axis + ring[None]).reshape(-1, 3)
    ends = np.array([heights[0], heights[-1]])[:, None] * cylinder.axis
    k, i = np.meshgrid(np.arange(along), np.arange(around), indexing="ij")
    a, b = (k * around + i).ravel(), (k * around + (i + 1) % around).ravel()
    c, d = a + around, b + around
    last = along * around
    middle, turn = np.full(around, len(side)), np.arange(around)
    caps = [
        np.stack([middle, (turn + 1) % around, turn], 1),
        np.stack([middle + 1, last + turn, last + (turn + 1) % around], 1),
    ]
    triangles = np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1), *caps])
    return cylinder.center + np.concatenate([side, ends]), triangles.astype(np.int64)


_MAKERS: dict[type[Geometry], Callable[..., tuple[Floats, Triangles]]] = {
    Sphere: _sphere,
    Box: _box,
    Cylinder: _cylinder,
}


def _quartered(vertices: Floats, triangles: Triangles) -> tuple[Floats, Triangles]:
    """Each triangle cut in four by the middles of its edges, which neighbours share."""
    edges = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2), axis=1)
    unique, number = np.unique(edges, axis=0, return_inverse=True)
    middles = (vertices[unique[:, 0]] + vertices[unique[:, 1]]) / 2
    ab, bc, ca = (len(vertices) + number.reshape(-1, 3)).T
    a, b, c = triangles.T
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.concatenate([vertices, middles]), np.concatenate([np.stack(part, axis=1) for part in parts])


def _cut_up(vertices: Floats, triangles: Triangles, size: float) -> tuple[Floats, Triangles]:
    """Triangles with an edge beyond `size` cut across their longest edge, until none is left."""
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    _check_count(float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2, size)
    while True:
        corners = vertices[triangles]
        lengths = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=-1)
        long = lengths.max(axis=1, initial=0.0) > size
        if not long.any():
            return vertices, triangles
        if len(triangles) + int(long.sum()) > MOST_TRIANGLES:
            _check_count(math.inf, size)
        at = lengths[long].argmax(axis=1)
        rows = triangles[long][np.arange(len(at))[:, None], (at[:, None] + np.arange(3)) % 3]
        a, b, c = rows.T
        edges, number = np.unique(np.sort(np.stack([a, b], axis=1), axis=1), axis=0, return_inverse=True)
        middle = len(vertices) + number.reshape(-1)
        vertices = np.concatenate([vertices, (vertices[edges[:, 0]] + vertices[edges[:, 1]]) / 2])
        halves = [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
        triangles = np.concatenate([triangles[~long], *halves])


def _turned_out(geometry: Geometry, vertices: Floats, triangles: Triangles) -> Triangles:
    """The triangles with their corners counterclockwise seen from outside of the geometry."""
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    middle = corners.mean(axis=1)
    if isinstance(geometry, Mesh):
        length = np.linalg.norm(normals, axis=1)[:, None]
        step = _BESIDE * np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
        inwards = geometry.inside(*(middle + step).T) & ~geometry.inside(*(middle - step).T)
    else:  # convex; the chords of round ones lie within them
        inwards = np.einsum("mc,mc->m", normals, middle - geometry.bounds.mean(axis=0)) < 0
    return np.where(inwards[:, None], triangles[:, ::-1], triangles)
