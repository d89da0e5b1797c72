"""What all geometries have in common: membership, moves, unions and differences, cells and cut links."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from . import cells
from .gaps import Domain
from .matrices import apply
from .report import Description, describe

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_AXES: dict[str, tuple[float, ...]] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_readers: list[Callable[[Any, bool], Geometry]] = []
_resolvers: list[Callable[[Any], str]] = []


class Links(NamedTuple):
    """The links that a surface cuts.

    Attributes:
        cells: int64 ``(N, D)``, the fluid cell of each, counted from the corner of the part that was asked for.
        directions: int64 ``(N,)``, the number of the velocity that points from it into the wall.
        q: float64 ``(N,)``, from above 0 to 1: the distance from the cell's centre to the surface over the link's
            length.
    """

    cells: NDArray[np.int64]
    directions: NDArray[np.int64]
    q: Floats

    def at(self, which: NDArray[Any]) -> Links:
        """Those of some indices, or where a bool array is True."""
        return Links(self.cells[which], self.directions[which], self.q[which])

    def with_cells(self, cells: NDArray[np.int64]) -> Links:
        """The same with other cells."""
        return Links(cells, self.directions, self.q)


LINK_PARTS = ("cells", "directions", "q")


def checked_links(name: str, given: Any, shape: tuple[int, ...], velocities: int) -> Links:
    """Read-only links of a domain of this shape, of so many velocities, sorted by cell and then by direction.

    Raises:
        TypeError, ValueError: they are not that, or one is there twice.
    """
    if not isinstance(given, tuple) or len(given) != 3:
        raise TypeError(f"{name}: {checks.shown(given)} given, must be Links: cells, directions and distances")
    arrays = [checks.any_array(f"{name}, {part}", a, "an array") for part, a in zip(LINK_PARTS, given, strict=True)]
    count = len(arrays[2]) if arrays[2].ndim == 1 else -1
    if arrays[0].shape != (count, len(shape)) or arrays[1].shape != (count,):
        found = ", ".join(str(array.shape) for array in arrays)
        raise ValueError(f"{name}: shapes {found} given, must be (N, {len(shape)}), (N,), (N,)")
    if any(array.dtype.kind not in "iu" for array in arrays[:2]) or arrays[2].dtype.kind != "f":
        raise TypeError(f"{name}: cells and directions must be integers, and distances floats")
    places, directions, q = arrays[0].astype(np.int64), arrays[1].astype(np.int64), arrays[2].astype(np.float64)
    if not ((places >= 0) & (places < np.array(shape))).all():
        raise ValueError(f"{name}: cells outside of the domain given, {shape}")
    if not ((directions > 0) & (directions < velocities)).all():
        raise ValueError(f"{name}: directions must be from 1 to {velocities - 1}")
    if not ((q > 0) & (q <= 1)).all():
        raise ValueError(f"{name}: distances must be above 0, and at most 1")
    sorted_links = Links(*cells.in_order([(places, directions, q)], shape))
    every = np.column_stack([sorted_links.cells, sorted_links.directions])
    if (every[1:] == every[:-1]).all(axis=1).any():
        raise ValueError(f"{name}: a link given twice")
    for array in sorted_links:
        array.flags.writeable = False
    return sorted_links


class Geometry(ABC):
    """A region of space in two or three dimensions, by the side of its surface that a point is on; never changes.

    Lengths are cells; the centre of cell i along an axis is at i + 0.5. ``a | b`` is the union of two, ``a - b`` the
    first without the second, ``a & b`` what both have.
    """

    dimensions: int
    """2 or 3."""
    __array_ufunc__ = None  # so that NumPy leaves array | geometry to this class
    is_closed: bool = True
    """Whether the surface has no hole, so that each point is on one side of it."""
    has_sheet: bool = False
    """Whether it is a sheet or a union with one, which has nothing inside but cuts links."""

    @staticmethod
    def load(path: Any, *, sheet: bool = False) -> Geometry:
        """The `Mesh` in a file of triangles: STL, OBJ or PLY, read by the package trimesh.

        Args:
            path: of the file; its suffix says the format.
            sheet: as of `Mesh`.

        Raises:
            GeometryError: the file holds no surface; or trimesh is not installed, which ``lbmgpu[geometry]`` brings.
            TypeError, ValueError, OSError: `path` is not the path of a regular file that can be read.
        """
        return _readers[0](path, sheet)

    @property
    @abstractmethod
    def bounds(self) -> Floats:
        """``(2, D)``: the lowest and the highest corner of a box about it; infinite where it has no end."""

    @property
    @abstractmethod
    def volume(self) -> float:
        """Cells that it fills, in two dimensions its area; infinite where it has no end."""

    @abstractmethod
    def inside(self, *x: Floats) -> Bools:
        """Whether places with these coordinates, arrays that NumPy broadcasts, are in it."""

    @abstractmethod
    def crossings(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        """Where lines cross the surface.

        Args:
            x: the coordinates of where each line begins, arrays ``(N,)``.
            step: the vector along all lines.

        Returns:
            ``(K, N)``: the lengths, in units of `step`, after which a line meets the surface, in any order, at least
            all of those from 0 to 1; infinite in place of none. What is on one side of the surface before and after may
            be among them.
        """

    @abstractmethod
    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        """Whether the surface may be within `distance` of places; True at times where it is not."""

    @abstractmethod
    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        """This one scaled by `factor`, turned by the orthogonal matrix `turn` and then shifted."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A text that is equal for equal geometries, whatever the process."""

    def describe(self, domain: Domain | None = None) -> Description:
        """What it is: size, volume, holes; and in a `Domain` cells across, thin parts, gaps, blockage, and warnings.

        It looks at all cells of the domain within its bounds. `Domain.add_body` warns of the same.
        """
        return describe(self, domain)

    def contains(self, points: ArrayLike) -> Bools:
        """Whether points are in the geometry: bool ``(N,)`` for points ``(N, D)``.

        Raises:
            TypeError, ValueError: not finite points of its dimensions.
        """
        array = np.asarray(points)
        if array.size == 0 and array.shape == (0, self.dimensions):
            return np.zeros(0, np.bool_)
        array = checks.real_array("points", points)
        if array.ndim != 2 or array.shape[1] != self.dimensions:
            raise ValueError(f"points: shape {array.shape} given, must be (N, {self.dimensions})")
        return np.asarray(self.inside(*array.T.copy()))

    def __call__(self, *coordinates: Floats) -> Bools:
        """Whether places are in it, by their coordinates: a mask of cells for those of their centres."""
        return np.asarray(self.inside(*coordinates))

    def scale(self, factor: float) -> Geometry:
        """A larger or smaller one; distances from the origin grow by `factor` too.

        Raises:
            TypeError, ValueError: `factor` is not a number above 0.
        """
        factor = checks.number("factor", factor, above=0)
        return self.moved(np.eye(self.dimensions), factor, np.zeros(self.dimensions))

    def translate(self, vector: ArrayLike) -> Geometry:
        """The same elsewhere.

        Raises:
            TypeError, ValueError: `vector` does not have a finite number for each axis.
        """
        return self.moved(np.eye(self.dimensions), 1.0, point("vector", vector, self.dimensions))

    def rotate(self, axis: ArrayLike, angle: float, about: ArrayLike | None = None) -> Geometry:
        """The same turned counterclockwise, seen against the axis.

        Args:
            axis: ``"x"``, ``"y"``, ``"z"`` or a vector; in two dimensions ``"z"``.
            angle: degrees.
            about: a point on the axis; None for the origin.

        Raises:
            TypeError, ValueError: a wrong axis or point, or an angle that is not finite.
        """
        d = self.dimensions
        turn = rotation(axis, checks.number("angle", angle), d)
        center = np.zeros(d) if about is None else point("about", about, d)
        return self.moved(turn, 1.0, center - apply(turn, center))

    def fit(self, low: Any, high: ArrayLike | None = None) -> Geometry:
        """The same, scaled alike along all axes and shifted, as large as it can be in a box and in its middle.

        Args:
            low, high: the corners of the box; or `low` alone, a geometry whose `bounds` it is.

        Raises:
            TypeError, ValueError: wrong corners, or a geometry without end.
        """
        if high is None:
            if not isinstance(low, Geometry):
                raise TypeError(f"low: {checks.shown(low)} given without high, must be a geometry then")
            low, high = low.bounds
        first, last = point("low", low, self.dimensions), point("high", high, self.dimensions)
        if not (first < last).all():
            raise ValueError(f"high: {checks.shown(high)} given, must be above low, {checks.shown(low)}")
        bounds = self.bounds
        if not np.isfinite(bounds).all():
            raise ValueError("fit: of a geometry that has no end, must be one with finite bounds")
        size = bounds[1] - bounds[0]
        with np.errstate(divide="ignore"):
            factor = float(((last - first) / size).min())
        middle = (bounds[0] + bounds[1]) / 2
        return self.moved(np.eye(self.dimensions), factor, (first + last) / 2 - factor * middle)

    def __or__(self, other: Geometry) -> Geometry:
        return self._with("union", other)

    def __and__(self, other: Geometry) -> Geometry:
        return self._with("intersection", other)

    def __sub__(self, other: Geometry) -> Geometry:
        return self._with("difference", other)

    __ror__, __rand__, __rsub__ = __or__, __and__, __sub__  # of what is no geometry, which they refuse

    def _with(self, kind: str, other: Any) -> Geometry:
        """What is made of both; TypeError or ValueError for no geometry, or one of other dimensions."""
        if not isinstance(other, Geometry):
            raise TypeError(
                f"{kind}: {checks.shown(other)} given with {self!r}, must be a Geometry; cells and formulas can be "
                "bodies of their own"
            )
        if other.dimensions != self.dimensions:
            raise ValueError(
                f"{kind}: of geometries in {self.dimensions} and {other.dimensions} dimensions, must be the same"
            )
        return Compound(kind, self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Geometry) and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def solid(self, offset: Sequence[int], shape: Sequence[int], *, device: str = "cpu") -> Bools:
        """The cells of a part whose centres are in the geometry: a bool array of `shape`.

        Each cell is decided by itself: parts have the bits of the whole, and devices find the same.

        Args:
            offset: the number of the part's first cell along each axis; may be negative.
            shape: cells along each axis.
            device: as of `Solver`: ``"cpu"``, or ``"cuda"``, ``"cuda:1"`` or ``"auto"``, a GPU, which looks at large
                `Mesh` objects; at all else the CPU does.

        Raises:
            TypeError, ValueError: not an integer for each axis, or no name of a device.
            CudaError: the GPU cannot be used.
        """
        start, size = part(offset, shape, self.dimensions)
        device_name(device)
        return cells.solid(self.inside, self.bounds, start, size)

    def links(
        self,
        offset: Sequence[int],
        shape: Sequence[int],
        stencil_velocities: ArrayLike,
        solid: ArrayLike | None = None,
        *,
        device: str = "cpu",
    ) -> Links:
        """The links of a part that the surface cuts, from fluid cells; sorted by cell, then by direction.

        A link from a fluid cell to a solid one is always among them; where rounding hides the cut its `q` is 1/2. One
        between two fluid cells is if the surface is between them, as of a thin sheet, from both ends. A `q` below
        2^-24, of a cell whose centre is on the surface, is 2^-24.

        Args:
            offset, shape: the part, as for `solid`.
            stencil_velocities: integers ``(Q, D)`` of -1, 0 and 1.
            solid: bool array of `shape`, the cells that are not fluid; None for `solid` of the geometry.
            device: as for `solid`.

        Raises:
            TypeError, ValueError: a wrong part, velocity, array or name of a device.
            CudaError: the GPU cannot be used.
        """
        start, size = part(offset, shape, self.dimensions)
        velocities = cells.checked_velocities(stencil_velocities, self.dimensions)
        own = self.solid([n - 1 for n in start], [n + 2 for n in size], device=device)
        taken = own[(slice(1, -1),) * self.dimensions]
        if solid is not None:
            taken = cells.checked_mask(solid, size)
        return Links(*self._links(start, size, velocities, own, taken, device))

    def _links(
        self,
        start: tuple[int, ...],
        size: tuple[int, ...],
        velocities: NDArray[np.int64],
        own: Bools,
        taken: Bools,
        device: str,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        return cells.links(self, start, size, velocities, own, taken)

    def first_cut(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        """The length, in units of `step`, after which a line from outside first goes inside; infinite for none."""
        cuts = np.sort(self.crossings(x, step), axis=0)
        first = np.full(len(x[0]), np.inf)
        for at in cuts:
            open_ = np.flatnonzero(np.isinf(first) & (at >= -_ROUNDING) & (at <= 1 + _ROUNDING))
            if len(open_) == 0:
                continue
            beyond = at[open_] + _BEYOND
            enters = self.inside(*(a[open_] + c * beyond for a, c in zip(x, step, strict=True)))
            first[open_[enters]] = at[open_[enters]]
        return first


_ROUNDING = 1e-9
"""How far beyond the ends of a link a cut may be, by rounding, in its length."""
_BEYOND = 1e-7
"""How far behind a cut, in units of the link, is looked at whether the line has gone inside."""


class Compound(Geometry):
    """The union, the intersection or the difference of two geometries; its bounds may be larger than it is.

    A union with a sheet has the links of both: those that the sheet cuts outside of the other part.
    """

    _INSIDE: ClassVar[dict[str, Callable[[Bools, Bools], Bools]]] = {
        "union": lambda a, b: a | b,
        "intersection": lambda a, b: a & b,
        "difference": lambda a, b: a & ~b,
    }

    def __init__(self, kind: str, first: Geometry, second: Geometry) -> None:
        for each in (first, second):
            if each.has_sheet and kind != "union":
                raise ValueError(f"{each!r}: a sheet has no inside and no {kind} with anything; cut its triangles")
        self.kind, self.first, self.second = kind, first, second
        self.dimensions = first.dimensions
        self.is_closed = first.is_closed and second.is_closed
        self.has_sheet = first.has_sheet or second.has_sheet

    def __repr__(self) -> str:
        sign = {"union": "|", "intersection": "&", "difference": "-"}[self.kind]
        return f"({self.first!r} {sign} {self.second!r})"

    def fingerprint(self) -> str:
        return f"{self.kind}({self.first.fingerprint()}, {self.second.fingerprint()})"

    @property
    def bounds(self) -> Floats:
        a, b = self.first.bounds, self.second.bounds
        if self.kind == "union":
            return np.stack([np.minimum(a[0], b[0]), np.maximum(a[1], b[1])])
        if self.kind == "intersection":
            low = np.maximum(a[0], b[0])
            return np.stack([low, np.maximum(low, np.minimum(a[1], b[1]))])
        return a

    @property
    def volume(self) -> float:
        """Counted by points, 128 along its longest side in three dimensions and 1024 in two."""
        bounds = self.bounds
        if not np.isfinite(bounds).all():
            return math.inf
        spacing = float((bounds[1] - bounds[0]).max()) / (128 if self.dimensions == 3 else 1024)
        if spacing == 0:
            return 0.0
        size = [max(1, math.ceil(float(n) / spacing - 1e-9)) for n in bounds[1] - bounds[0]]
        refined = self.moved(np.eye(self.dimensions), 1 / spacing, -bounds[0] / spacing)
        return int(np.count_nonzero(refined.solid((0,) * self.dimensions, size))) * spacing**self.dimensions

    def inside(self, *x: Floats) -> Bools:
        return self._INSIDE[self.kind](self.first.inside(*x), self.second.inside(*x))

    def crossings(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        return np.concatenate([self.first.crossings(x, step), self.second.crossings(x, step)])

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        return self.first.near(x, distance) | self.second.near(x, distance)

    def _links(
        self,
        start: tuple[int, ...],
        size: tuple[int, ...],
        velocities: NDArray[np.int64],
        own: Bools,
        taken: Bools,
        device: str,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        if not self.has_sheet:
            return super()._links(start, size, velocities, own, taken, device)
        taken, found = taken | own[(slice(1, -1),) * self.dimensions], []  # a sheet has no inside: by the links of both
        for each in (self.first, self.second):
            inside = each.solid([n - 1 for n in start], [n + 2 for n in size], device=device)
            found.append(each._links(start, size, velocities, inside, taken, device))
        return cells.nearest(*cells.in_order(found, size))

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        return Compound(self.kind, self.first.moved(turn, factor, shift), self.second.moved(turn, factor, shift))


def read_by(function: Callable[[Any, bool], Geometry]) -> None:
    """Have `Geometry.load` call `function`, with its arguments."""
    _readers[:] = [function]


def resolve_devices_by(function: Callable[[Any], str]) -> None:
    """Have `function` name the devices that are given in other ways than ``"cpu"`` and ``"cuda:0"``."""
    _resolvers[:] = [function]


def point(name: str, value: Any, dimensions: int | None = None) -> Floats:
    """A checked point or vector of two or three coordinates, or of `dimensions`."""
    array = checks.real_array(name, value)
    wanted = (2, 3) if dimensions is None else (dimensions,)
    if array.ndim != 1 or len(array) not in wanted:
        right = "2 or 3" if dimensions is None else str(dimensions)
        raise ValueError(f"{name}: {checks.shown(value)} given, must have {right} coordinates")
    return array


def axis_vector(name: str, axis: Any) -> Floats:
    """The unit vector along an axis of three dimensions, by its name or a vector."""
    if isinstance(axis, str):
        if axis not in _AXES:
            raise ValueError(f"{name}: {checks.shown(axis)} given, must be 'x', 'y', 'z' or a vector")
        return np.array(_AXES[axis])
    vector = point(name, axis, 3)
    length = math.hypot(*vector)
    if length == 0 or not math.isfinite(length):
        raise ValueError(f"{name}: {checks.shown(axis)} given, must be a vector of a length above 0")
    return vector / length


def rotation(axis: Any, degrees: float, dimensions: int) -> Floats:
    """The matrix of a rotation; of right angles exact."""
    if dimensions == 2 and not (isinstance(axis, str) and axis == "z"):
        raise ValueError(f"axis: {checks.shown(axis)} given, must be 'z' in two dimensions")
    turns, rest = divmod(math.fmod(degrees, 360.0) % 360.0, 90.0)
    cosine, sine = math.cos(math.radians(rest)), math.sin(math.radians(rest))
    for _ in range(int(turns)):
        cosine, sine = -sine, cosine
    cosine, sine = cosine + 0.0, sine + 0.0  # no -0
    if dimensions == 2:
        return np.array([[cosine, -sine], [sine, cosine]])
    a = axis_vector("axis", axis)
    cross = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.asarray(cosine * np.eye(3) + sine * cross + (1 - cosine) * np.outer(a, a))


def part(offset: Any, shape: Any, dimensions: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A checked part of the cells: where it begins, and its size."""
    right = f"{dimensions} integers"
    given = [checks.listed(name, value, right) for name, value in (("offset", offset), ("shape", shape))]
    for name, value in zip(("offset", "shape"), given, strict=True):
        if len(value) != dimensions:
            raise ValueError(f"{name}: {checks.shown(tuple(value))} given, must have {right}")
    start = tuple(checks.integer(f"offset[{k}]", n, at_least=-_FAR, at_most=_FAR) for k, n in enumerate(given[0]))
    return start, tuple(checks.integer(f"shape[{k}]", n, at_most=_FAR) for k, n in enumerate(given[1]))


def device_name(given: Any) -> str:
    """The name ``"cpu"`` or ``"cuda:0"`` and so on of a device, which may be given in all ways that solvers take."""
    if isinstance(given, str) and re.fullmatch(r"cpu|cuda:[0-9]{1,4}", given):
        return given
    return _resolvers[0](given)


_FAR = 2**31
"""Cells; beyond the largest domain, with a rim."""
