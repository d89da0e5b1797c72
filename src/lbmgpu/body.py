"""A body of a domain: solid cells with a name, of a mask, a function or a geometry; and what a printed domain says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import checks, values
from .conditions import Adiabatic, Condition, scheme_of_body, scheme_of_temperature
from .geometry.base import Geometry, Links
from .geometry.cells import in_order, nearest
from .geometry.images import crossed_faces, images, periodic_axes
from .geometry.report import Warned
from .time_functions.motion import RigidMotion

if TYPE_CHECKING:
    from .domain import Domain


@dataclass(frozen=True, eq=False)
class Body:
    """Solid cells with a name. Those of a geometry go on through periodic faces, see `geometry.images`.

    Attributes:
        name: of the body.
        shape: of the domain.
        faces: of the domain, the condition on each, by name.
        offset: where `cells` begins in the domain; of a function 0.
        cells: read-only bool array, True in the body, of a box of the domain; or a geometry, or a callable of
            coordinates that gives an array.
        condition, thermal: of the flow and of the temperature.
        is_part: whether `cells` is only what this process was given of the body.
        given: the box, offset and shape, that arrays of values for its cells cover.
        motion: of a body that moves, which has a geometry; its cells are those where that is. None of a body at rest.
        links: of the domain that the surface of a mask cuts, sorted; None of a geometry, which has its own, and where
            they are not known.
        turns_about: the point ``(D,)`` about which the wall of a body at rest turns that was given with a motion, by
            `with_turning_walls`.
        warned: what was warned of its geometry when it was added; None of a mask or a callable.
    """

    name: str
    shape: tuple[int, ...]
    faces: Mapping[str, Condition] = field(repr=False)
    offset: tuple[int, ...]
    cells: NDArray[np.bool_] | Callable[..., Any]
    condition: Condition
    thermal: Condition
    is_part: bool
    given: tuple[tuple[int, ...], tuple[int, ...]]
    links: Links | None = None
    motion: RigidMotion | None = None
    turns_about: tuple[float, ...] | None = None
    warned: Warned | None = None

    def __post_init__(self) -> None:
        if not callable(self.cells):
            self.cells.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Its arguments, for pickle and copy, which would leave the cells writeable."""
        return Body, tuple(getattr(self, each.name) for each in fields(self))

    @property
    def geometry(self) -> Geometry | None:
        """What it was made of; None of a mask or a callable."""
        return self.cells if isinstance(self.cells, Geometry) else None

    @property
    def periodic(self) -> tuple[bool, ...]:
        """For each axis of the domain."""
        return periodic_axes(self.shape, self.faces)

    @property
    def crossed_faces(self) -> list[str]:
        """The periodic faces through which its geometry goes on at the other end; none of a mask or a callable."""
        return crossed_faces(self.cells, self.shape, self.periodic) if isinstance(self.cells, Geometry) else []

    @property
    def scheme(self) -> str:
        """That of its wall: what the condition names, else the default for what is known of the surface."""
        return scheme_of_body(f"body {self.name!r}", self.condition, is_cut=self._is_cut)

    @property
    def thermal_scheme(self) -> str:
        """That of its temperature: what the condition names, else it is where the wall of the flow is."""
        return scheme_of_temperature(f"body {self.name!r}", self.thermal, self.scheme, is_cut=self._is_cut)

    @property
    def _is_cut(self) -> bool:
        return self.links is not None or self.geometry is not None

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Read-only bool array ``(nx, ny[, nz])`` of the whole domain, True in the body; each time a new one.

        Of a body that several processes were given in parts it has this process's part.
        """
        mask = self.within([np.arange(n) for n in self.shape])
        mask.flags.writeable = False
        return mask

    def within(self, axes: Sequence[NDArray[np.int64]], device: str = "cpu") -> NDArray[np.bool_]:
        """A new bool array of the cells with these numbers along each axis, True in the body.

        Args:
            axes: the cells.
            device: that geometries are looked at on, as of `Geometry.solid`.

        Raises:
            TypeError, ValueError: a function does not give that.
        """
        region = tuple(len(axis) for axis in axes)
        if isinstance(self.cells, Geometry):
            mask = np.zeros(region, dtype=np.bool_)
            for where, offset, size in self._boxes(self.cells, axes):
                mask[where] |= self.cells.solid(offset, size, device=device)
            return mask
        if callable(self.cells):
            found = values.call(
                f"mask of body {self.name!r}", self.cells, values.centres([axis + 0.5 for axis in axes])
            )
            array = checks.any_array(f"mask of body {self.name!r}", found, "a bool array")
            if array.dtype != np.bool_ or array.shape not in ((), region):
                raise TypeError(
                    f"mask of body {self.name!r}: the callable returned {checks.shown(array)}, must return bool of "
                    f"shape {region} (such as x > 0)"
                )
            return np.array(np.broadcast_to(array, region))
        mask = np.zeros(region, dtype=np.bool_)
        inside = [
            np.flatnonzero((axis >= low) & (axis < low + n))
            for axis, low, n in zip(axes, self.offset, self.cells.shape, strict=True)
        ]
        here = [axis[at] - low for axis, at, low in zip(axes, inside, self.offset, strict=True)]
        if all(len(at) > 0 for at in inside):
            mask[values.as_index(inside)] = self.cells[values.as_index(here)]
        return mask

    def links_within(
        self,
        axes: Sequence[NDArray[np.int64]],
        stencil_velocities: ArrayLike,
        solid: NDArray[np.bool_],
        device: str = "cpu",
    ) -> Links:
        """The links that the surface cuts of the cells with these numbers along each axis, which count from the first.

        Args:
            axes: the cells.
            stencil_velocities: integers ``(Q, D)``.
            solid: bool array of these cells, those that are not fluid.
            device: as of `within`.
        """
        if isinstance(self.cells, Geometry):
            found = [
                (given.cells + [part.start for part in where], given.directions, given.q)
                for where, offset, size in self._boxes(self.cells, axes)
                for given in [self.cells.links(offset, size, stencil_velocities, solid[where], device=device)]
            ]
            return Links(*found[0]) if len(found) == 1 else Links(*nearest(*in_order(found, solid.shape)))
        assert self.links is not None
        places = []
        for axis, n, own in zip(axes, self.shape, self.links.cells.T, strict=True):
            at = np.full(n, -1, np.int64)
            at[axis] = np.arange(len(axis))
            places.append(at[own])
        here = np.all(np.array(places) >= 0, axis=0)
        return self.links.with_cells(np.stack(places, axis=1)).at(here)

    def _boxes(
        self, geometry: Geometry, axes: Sequence[NDArray[np.int64]]
    ) -> Iterator[tuple[tuple[slice, ...], list[int], list[int]]]:
        """The boxes of which these cells consist, as `_pieces` has them, each as the geometry and its images have it:
        a box that an image is asked for is a period beside that of the cells."""
        low, high = geometry.bounds
        shifts = images(geometry, self.shape, self.periodic)
        for where, start, size in _pieces(axes):
            for shift in shifts:
                offset = [a - by for a, by in zip(start, shift, strict=True)]
                ends = np.add(offset, size)
                if (low < ends + 1).all() and (high > np.subtract(offset, 1)).all():
                    yield where, offset, size


def _pieces(axes: Sequence[NDArray[np.int64]]) -> Iterator[tuple[tuple[slice, ...], list[int], list[int]]]:
    """The boxes of the domain of which cells with these numbers along each axis consist, as they may go on at its other
    end: where each is among them, its offset and its size."""
    breaks = [[0, *(np.flatnonzero(np.diff(axis) != 1) + 1).tolist(), len(axis)] for axis in axes]
    for piece in itertools.product(*(itertools.pairwise(ends) for ends in breaks)):
        if all(start < stop for start, stop in piece):
            offset = [int(axis[start]) for axis, (start, _) in zip(axes, piece, strict=True)]
            yield tuple(slice(start, stop) for start, stop in piece), offset, [stop - start for start, stop in piece]


def refuse_files(label: str, mask: Any) -> None:
    """Raise TypeError for the path of a file, and for a mesh of another package, and say what to make of it."""
    if isinstance(mask, str | PurePath):
        name = repr(str(mask)) if isinstance(mask, str) else f"Path({str(mask)!r})"
        right = f"lbm.Geometry.load({name})"
    elif hasattr(mask, "vertices") and hasattr(mask, "faces"):
        right = "lbm.Mesh(mesh.vertices, mesh.faces)"
    else:
        return
    raise TypeError(
        f"mask of {label}: {checks.shown(mask)} given, must be a bool array, a callable, or a Geometry such as {right}"
    )


_LONGEST = 100
"""Characters of a condition, of which arrays of values may have many."""


def summary(domain: Domain) -> str:
    """The size of a domain, and a line for what faces with the same condition, each body and each sponge are."""
    size = " x ".join(map(str, domain.shape))
    lines = [f"Domain of {size} cells, {domain.stencil}", *_of_faces("faces", domain.faces)]
    if any(not isinstance(condition, Adiabatic) for condition in domain.thermal.values()):
        lines += _of_faces("thermal", domain.thermal)
    lines += [_of_body(body) for body in domain.bodies.values()] or ["no bodies"]
    lines += [
        f"sponge at {sponge.face}: {sponge.thickness} cells, strength {sponge.strength:g}"
        + (f", pull {sponge.pull:g}" if sponge.pull else "")
        for sponge in domain.sponges
    ] or ["no sponges"]
    return "\n".join(lines)


def _of_faces(what: str, faces: Mapping[str, Condition]) -> list[str]:
    """The conditions with the faces that have each, but for arrays of which not all numbers are shown."""
    names: dict[tuple[str, str], list[str]] = {}
    for face, condition in faces.items():
        text = repr(condition)
        names.setdefault((text, face if "..." in text else ""), []).append(face)
    return [f"{what} {' '.join(own)}: {_short(text)}" for (text, _), own in names.items()]


def _of_body(body: Body) -> str:
    if isinstance(body.cells, Geometry):
        what = repr(body.cells)
    elif callable(body.cells):
        what = "a function"
    else:
        count = int(body.cells.sum())
        what = f"a mask of {count} cell{'' if count == 1 else 's'}" + (" known here" if body.is_part else "")
    parts = [_shown(body.condition)]
    if not isinstance(body.thermal, Adiabatic):
        parts.append(_shown(body.thermal))
    if body.motion is not None:
        parts.append(f"moves by {_shown(body.motion)}")
    return f"body {body.name!r}: {_short(what)}, {', '.join(parts)}"


def _shown(value: object) -> str:
    return _short(repr(value))


def _short(text: str) -> str:
    """A text in a line, and cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
