"""Bodies of a wind tunnel: loaded, brought to size, measured from the front, and put in their place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import GeometryError
from ..geometry import Geometry, Mesh
from ..values import Floats

_POINTS = 2**23
"""Of the lattice that the frontal area is counted on, at most."""
_ACROSS = 400
"""Of them along the longer side of the front, at most."""
_ON_EDGE = 1e-9
"""Twice the area of a triangle in the lattice that is none."""


def loaded(body: Any) -> dict[str, Geometry]:
    """The bodies of an argument by name: a path, a `Geometry`, or a dict of these.

    Raises:
        TypeError, ValueError, GeometryError, OSError: something else, no body, or a file that holds none.
    """
    given = body if isinstance(body, Mapping) else {"body": body}
    if not given:
        raise ValueError("body: an empty dict given, must have one body at least")
    return {checks.label("name of a body", name): _geometry(name, shape) for name, shape in given.items()}


def _geometry(name: str, shape: Any) -> Geometry:
    if isinstance(shape, str | os.PathLike):
        shape = Geometry.load(shape)
    if not isinstance(shape, Geometry):
        raise TypeError(f"body {name!r}: {checks.shown(shape)} given, must be a Geometry or the path of a file of one")
    if shape.dimensions != 3 or not np.isfinite(shape.bounds).all():
        raise GeometryError(f"body {name!r}: {shape!r} given, must be of three dimensions, with an end along each")
    if flat := [axis for axis, low, high in zip("xyz", *shape.bounds, strict=True) if low >= high]:
        axes = " and ".join(flat)
        raise GeometryError(f"body {name!r}: {shape!r} given, is flat along {axes}, must have a thickness there")
    return shape


def bounds(bodies: Mapping[str, Geometry]) -> Floats:
    """The lowest and the highest corner of all bodies, ``(2, 3)``."""
    all_bounds = np.stack([body.bounds for body in bodies.values()])
    return np.stack([all_bounds[:, 0].min(axis=0), all_bounds[:, 1].max(axis=0)])


def moved(bodies: Mapping[str, Geometry], factor: float, shift: Floats) -> dict[str, Geometry]:
    """All bodies with lengths by a factor, then shifted."""
    return {name: body.moved(np.eye(3), factor, np.asarray(shift, np.float64)) for name, body in bodies.items()}


def frontal_area(bodies: Mapping[str, Geometry]) -> float:
    """The area of the shadow of all bodies along x, counted on a lattice of some 400 points across it.

    That of meshes is the shadow of their triangles, however thin they are; that of other geometries the shadow of the
    cells of such a lattice that are inside.
    """
    low, high = bounds(bodies)
    size = high - low
    spacing = max(float(size[1:].max()) / _ACROSS, (float(np.prod(size)) / _POINTS) ** (1 / 3))
    count = [max(1, int(np.ceil(float(n) / spacing))) for n in size]
    shadow = np.zeros(count[1:], np.bool_)
    for body in moved(bodies, 1 / spacing, -low / spacing).values():
        if isinstance(body, Mesh):
            _shade(shadow, body.vertices[:, 1:][body.triangles])
            continue
        for start in range(0, count[0], 32):
            thickness = min(32, count[0] - start)
            shadow |= body.solid((start, 0, 0), (thickness, *count[1:])).any(axis=0)
    if not shadow.any():
        raise GeometryError("body: it has no frontal area, must cover something along x")
    return float(np.count_nonzero(shadow) * spacing**2)


def _shade(shadow: NDArray[np.bool_], corners: Floats) -> None:
    """Mark the cells of a plane whose centres are in triangles, by their corners ``(m, 3, 2)``, or on their edges."""
    first = np.maximum(np.ceil(corners.min(axis=1) - 0.5).astype(np.int64), 0)
    beyond = np.minimum(np.floor(corners.max(axis=1) - 0.5).astype(np.int64) + 1, shadow.shape)
    sizes = np.maximum(beyond - first, 0)
    candidates = np.cumsum(sizes.prod(axis=1))
    start = 0
    while start < len(corners):
        before = candidates[start - 1] if start > 0 else 0
        end = max(start + 1, int(np.searchsorted(candidates, before + _POINTS, side="right")))
        own = np.repeat(np.arange(start, end), sizes[start:end].prod(axis=1))
        number = np.arange(len(own)) - np.repeat(
            candidates[start:end] - sizes[start:end].prod(axis=1) - before, sizes[start:end].prod(axis=1)
        )
        cells = first[own] + np.stack([number // sizes[own, 1], number % sizes[own, 1]], axis=1)
        sides = [_side(corners[own, k], corners[own, (k + 1) % 3], cells + 0.5) for k in range(3)]
        within = np.all([side >= -_ON_EDGE for side in sides], axis=0) | np.all([s <= _ON_EDGE for s in sides], axis=0)
        shadow[tuple(cells[within].T)] = True
        start = end


def _side(a: Floats, b: Floats, at: Floats) -> Floats:
    """On which side of lines from a to b places are, as twice the area of the triangle with both."""
    found: Floats = (b[:, 0] - a[:, 0]) * (at[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (at[:, 0] - a[:, 0])
    return found
