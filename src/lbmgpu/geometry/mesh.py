"""Meshes of triangles, from a file or from arrays; what is inside and cut is found in C++."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, checks
from ..errors import GeometryError
from . import cells
from .base import Bools, Floats, Geometry, device_name, part, read_by
from .mesh_file import read_triangles
from .touching import only_touch

CLOSURES = ("closed", "closed without orientation", "open")
"""By the number that C++ has for each."""
GPU_TRIANGLES, GPU_CELLS = 2**16, 2**24
"""From so many triangles of a mesh on, or cells of a part, a GPU is asked, if one is given. The CPU has found smaller
ones before a GPU has its kernels; both find the same bits."""

_NO_AREA = 1e-14
"""Area over the square of a side, below which the corners of a triangle are on a line."""


class Mesh(Geometry):
    """What a surface of triangles encloses, in three dimensions.

    Corners of equal coordinates are joined, triangles with two equal corners dropped, and where neighbours are turned
    differently the triangles are turned as most of the area of each connected part is. Which side of the surface a
    point is on then depends on its edges:

    - Each has as many triangles on one side as on the other: a point is inside if a line from it goes in and out a
      different number of times, so that parts that overlap are joined, and a part within another that is turned inside
      out is a hollow.
    - Each has an even number of triangles: inside if a line crosses the surface an odd number of times.
    - Else there are holes: lines along the three axes decide where each comes out as often as it goes in and all agree;
      elsewhere the winding number does, which is above 1/2 in magnitude inside (Jacobson, Kavan & Sorkine-Hornung, ACM
      Trans. Graph. 32 (2013) 33).

    A point on the surface is on the side that it would be on if it were moved a little along +x, then by far less along
    +y and +z.

    Args:
        vertices: corners ``(n, 3)``.
        triangles: their numbers ``(m, 3)``, from 0, counterclockwise seen from outside.
        sheet: nothing is inside, and all links that the surface cuts are: for a thin wall without thickness.

    Attributes:
        vertices, triangles: what is left of them, read-only.
        repairs: what was done to them and found, by name: ``joined`` corners, ``dropped`` triangles and ``flipped``,
            which were turned; ``open_edges`` of one triangle, ``crowded_edges`` of more than two, triangles that are
            there ``twice``; ``volume``, signed, and ``closure``: 0 if as many triangles are on each side of every edge,
            1 if every edge has an even number, 2 if there are holes.

    Raises:
        GeometryError: no triangle has an area, or a value is not finite.
        TypeError, ValueError: arrays of another shape, or numbers of corners that are not there.
    """

    dimensions = 3

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike, *, sheet: bool = False) -> None:
        points = _float_array("vertices", vertices)
        numbers = checks.any_array("triangles", triangles, "integers (m, 3)")
        if numbers.dtype.kind not in "iu" or numbers.ndim != 2 or numbers.shape[1] != 3:
            raise ValueError(f"triangles: {checks.shown(numbers)} given, must be integers (m, 3)")
        self.sheet = self.has_sheet = checks.flag("sheet", sheet)
        self.vertices, self.triangles, self.repairs = _core.clean_mesh(points, numbers)
        if len(self.triangles) == 0:
            raise GeometryError("triangles: none is left that has three different corners, must be at least one")
        if not _have_area(self.vertices, self.triangles):
            raise GeometryError("triangles: none has an area, as corners of each are on a line; must be at least one")
        self.repairs["twice"] = _twice(self.triangles) if self.repairs["crowded_edges"] else 0
        for array in (self.vertices, self.triangles):
            array.flags.writeable = False
        self._closure = int(self.repairs["closure"])
        self.is_closed = self.sheet or CLOSURES[self._closure] != "open"

    @classmethod
    def _of(cls, other: Mesh, vertices: Floats, factor: float) -> Mesh:
        """The mesh with the corners of another one moved."""
        mesh = cls.__new__(cls)
        mesh.vertices, mesh.triangles, mesh.sheet = vertices, other.triangles, other.sheet
        mesh.repairs = other.repairs | {"volume": other.repairs["volume"] * factor**3}
        mesh._closure, mesh.is_closed, mesh.has_sheet = other._closure, other.is_closed, other.has_sheet
        vertices.flags.writeable = False
        return mesh

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_surface", "_digest")}

    def __repr__(self) -> str:
        sheet = ", sheet=True" if self.sheet else ""
        return f"Mesh(<{len(self.vertices)} vertices>, <{len(self.triangles)} triangles>{sheet})"

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.blake2b(np.ascontiguousarray(self.vertices).data)
        digest.update(np.ascontiguousarray(self.triangles).data)
        return digest.hexdigest()

    def fingerprint(self) -> str:
        return f"Mesh({self._digest}, {self.sheet})"

    @cached_property
    def _surface(self) -> _core.Surface:
        return _core.Surface(self.vertices, self.triangles, self._closure)

    @property
    def is_oriented(self) -> bool:
        """Whether its triangles are turned alike, and have no holes between them."""
        return self._closure == 0

    def where_open(self) -> str:
        """How many of its edges do not belong to an even number of triangles, and where the first one is, in words."""
        edges = np.sort(self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, counts = np.unique(edges, axis=0, return_counts=True)
        edges = edges[counts % 2 == 1]
        if len(edges) == 0:
            return "its edges do not close it"
        first, last = (f"({', '.join(f'{x:.6g}' for x in end)})" for end in self.vertices[edges[0]])
        count = f"{len(edges)} edges lack" if len(edges) > 1 else "1 edge lacks"
        return f"{count} a triangle on one side, such as that from {first} to {last}"

    @property
    def bounds(self) -> Floats:
        return self._ends

    @cached_property
    def _ends(self) -> Floats:
        ends = np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])
        ends.flags.writeable = False
        return ends

    @property
    def volume(self) -> float:
        """Of the space that it encloses, what is enclosed twice counted twice; of an open one an estimate."""
        return 0.0 if self.sheet else abs(float(self.repairs["volume"]))

    def inside(self, *x: Floats) -> Bools:
        along = np.broadcast_arrays(*x)
        if self.sheet:
            return np.zeros(along[0].shape, np.bool_)
        points = np.stack([np.ravel(each) for each in along], axis=1)
        return np.asarray(self._surface.contains(points, _core.default_threads())).reshape(along[0].shape)

    def crossings(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        points = np.stack(x, axis=1)
        counts, found = self._surface.meetings(points, tuple(step), 1e-9, _core.default_threads())
        most = int(counts.max(initial=0))
        lengths = np.full((max(most, 1), len(points)), np.inf)
        line = np.repeat(np.arange(len(points)), counts)
        first = np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(counts) else counts
        lengths[np.arange(len(found)) - np.repeat(first, counts), line] = found
        return lengths

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        along = np.broadcast_arrays(*x)
        points = np.stack([np.ravel(each) for each in along], axis=1)
        return np.asarray(self._surface.near(points, distance, _core.default_threads())).reshape(along[0].shape)

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        if (turn == np.eye(3)).all():
            return Mesh._of(self, np.asarray(factor * self.vertices + shift), factor)
        x = self.vertices.T
        turned = [sum(float(row[k]) * x[k] for k in range(3)) for row in turn]
        return Mesh._of(self, np.stack([factor * each + b for each, b in zip(turned, shift, strict=True)], 1), factor)

    def first_cut(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        if self.sheet:
            return np.asarray(self.crossings(x, step).min(axis=0))
        return super().first_cut(x, step)

    def solid(self, offset: Sequence[int], shape: Sequence[int], *, device: str = "cpu") -> Bools:
        start, size = part(offset, shape, 3)
        device = self._helping(device, size)
        if self.sheet:
            return np.zeros(size, np.bool_)
        return self._surface.solid(start, size, _core.default_threads(), device)

    def _helping(self, device: str, size: tuple[int, ...]) -> str:
        """The device, or the CPU for a small mesh in a small part."""
        is_large = len(self.triangles) >= GPU_TRIANGLES or math.prod(size) >= GPU_CELLS
        name = device_name(device)
        return name if is_large else "cpu"

    def _links(
        self,
        start: tuple[int, ...],
        size: tuple[int, ...],
        velocities: NDArray[np.int64],
        own: Bools,
        taken: Bools,
        device: str,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        numbers = (cells.LEAST, cells.HIDDEN, _core.default_threads(), self._helping(device, size))
        taken = np.ascontiguousarray(taken)
        found = self._surface.links(start, size, [tuple(c) for c in velocities.tolist()], own, taken, *numbers)
        return found if self.sheet or not self.is_closed else self._without_touching(found, start, velocities, own)

    def _without_touching(
        self,
        found: tuple[NDArray[np.int64], NDArray[np.int64], Floats],
        start: tuple[int, ...],
        velocities: NDArray[np.int64],
        own: Bools,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """The links without those between two cells outside that have no part inside. Of a line that meets an edge the
        surface has its triangles cut, and which of them depends on the side that rounding has it on."""
        places, directions, q = found
        kept = np.ones(len(q), np.bool_)
        ends_outside = ~own[tuple((places + 1 + velocities[directions]).T)]
        for direction in np.unique(directions[ends_outside]):
            at = np.flatnonzero(ends_outside & (directions == direction))
            centres = [places[at, k] + (start[k] + 0.5) for k in range(3)]
            kept[at] = ~only_touch(self, centres, velocities[direction].astype(np.float64).tolist(), q[at])
        return places[kept], directions[kept], q[kept]


def read_mesh(path: Any, sheet: bool = False) -> Mesh:
    """The mesh in a file; see `Geometry.load`."""
    vertices, triangles = read_triangles(path)
    return Mesh(vertices, triangles, sheet=sheet)


read_by(read_mesh)


def _have_area(vertices: Floats, triangles: NDArray[Any]) -> bool:
    """Whether any triangle has an area; the corners of the others are on a line but for rounding."""
    corners = vertices / (float(np.ptp(vertices, axis=0).max()) or 1.0)
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    longest = np.maximum(*(np.square(each - a).sum(axis=1) for each in (b, c)))
    return bool((np.linalg.norm(np.cross(b - a, c - a), axis=1) > _NO_AREA * longest).any())


def _twice(triangles: NDArray[Any]) -> int:
    """How many triangles have the corners of an earlier one: if all are so there, or turned the same way. Parts that
    touch with a face have it once each way."""
    order = np.argsort(triangles, axis=1)
    own = np.take_along_axis(triangles, order, axis=1)
    turned = (order[:, 1] - order[:, 0]) % 3 == 2  # an odd permutation
    counts = np.unique(own, axis=0, return_counts=True)[1]
    if (counts > 1).all():
        return int((counts - 1).sum())
    counts = np.unique(np.column_stack([own, turned]), axis=0, return_counts=True)[1]
    return int((counts - 1).sum())


def _float_array(name: str, given: ArrayLike) -> Floats:
    """Points ``(n, 3)``, finite."""
    array = checks.any_array(name, given, "numbers (n, 3)")
    if array.dtype.kind not in "iuf" or array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name}: {checks.shown(array)} given, must be numbers (n, 3)")
    if len(array) == 0:
        raise GeometryError(f"{name}: none given, must be at least three")
    with np.errstate(over="ignore", invalid="ignore"):
        points = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise GeometryError(f"{name}: {len(bad)} are not finite, such as number {int(bad[0])}, {points[bad[0]]}")
    if np.abs(points).max() > 1e100:  # the volume would not be finite
        raise GeometryError(f"{name}: coordinates of up to {np.abs(points).max():g} given, must be at most 1e100")
    return points
