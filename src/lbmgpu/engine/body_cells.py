"""The cells of a domain's bodies in the part of it that a process computes, and what all processes know of them.

Bodies that move have none here (`moving_bodies.py`)."""

from __future__ import annotations

import base64
import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..body import Body
from ..domain import Domain
from ..geometry.base import resolve_devices_by
from ..geometry.images import crossed_faces
from ..geometry.refusals import place, why_nothing
from ..parallel import devices
from ..parallel.processes import Processes
from ..parallel.subdomain import Box, Subdomain
from ..values import Floats

resolve_devices_by(lambda given: devices.resolve(given))


class BodyCells:
    """The cells of bodies among those that a process knows; all processes make it together.

    Attributes:
        solid: read-only bool array of the process's window, True in any body.
        fluid_cells: number of cells of the domain that are in no body.
        without_cells: the bodies that have no cell, but a surface.
        device: that large meshes are looked at on.

    Args:
        domain: with the bodies.
        subdomain: of the process.
        processes: of the solver.
        device: as above.

    Raises:
        TypeError, ValueError: a body has no cell and no surface, or a cell that another has, or a function gives no
            bool; or there is no fluid cell.
    """

    def __init__(self, domain: Domain, subdomain: Subdomain, processes: Processes, device: str = "cpu") -> None:
        self._subdomain, self.device = subdomain, device
        self._names = list(domain.bodies)
        self._geometries = {name: body.geometry for name, body in domain.bodies.items()}
        self._has_surface = [body.geometry is not None or body.links is not None for body in domain.bodies.values()]
        self._moving = {name for name, body in domain.bodies.items() if body.motion is not None}
        self._known = np.broadcast_to(np.False_, subdomain.known[1])
        if self._names:
            self._known = np.zeros(subdomain.known[1], dtype=np.bool_)
        self._boxes: list[tuple[tuple[slice, ...], NDArray[np.bool_]]] = []
        sums = []
        for body in domain.bodies.values():
            mask = processes.each(lambda body=body: self._mask_of(body))  # type: ignore[misc]
            if body.is_part and processes.size > 1:
                subdomain.with_surroundings(processes, mask)
            processes.each(lambda name=body.name, mask=mask: self._add(name, mask))  # type: ignore[misc]
            sums.append(self._sums_of(mask))
        self._known.flags.writeable = False
        self.solid = self._known[subdomain.inside(subdomain.window)]
        every = processes.shared(sums) if sums else []
        self._sums = [[sum(numbers) for numbers in zip(*body, strict=True)] for body in zip(*every, strict=True)]
        self.fluid_cells: int = domain.cells - sum(count for count, *_ in self._sums)
        self._check()
        counts = zip(self._names, self._sums, strict=True)
        self.without_cells = [name for name, (n, *_) in counts if n == 0 and name not in self._moving]

    def _mask_of(self, body: Body) -> NDArray[np.bool_]:
        """The known cells of a body; none of one that moves."""
        known = self._subdomain.known
        if body.name in self._moving:
            return np.zeros(known[1], dtype=np.bool_)
        return body.within(self._subdomain.axes(known), self.device)

    def _add(self, name: str, mask: NDArray[np.bool_]) -> None:
        """Take a body's mask of the known cells."""
        where = _box_of(mask)
        overlap = self._known[where] & mask[where]
        if overlap.any():
            place = [int(i) + box.start for i, box in zip(np.argwhere(overlap)[0], where, strict=True)]
            axes = self._subdomain.axes(self._subdomain.known)
            cell = tuple(int(axis[i]) for axis, i in zip(axes, place, strict=True))
            other = next(n for n in self._names if self.mask(n)[tuple(place)])
            how = "".join(self._how_it_comes(each, cell) for each in (name, other))
            raise ValueError(f"mask of body {name!r}: overlaps body {other!r}, for example at cell {cell}{how}")
        self._known[where] |= mask[where]
        self._boxes.append((where, mask[where].copy()))

    def _how_it_comes(self, name: str, cell: tuple[int, ...]) -> str:
        """What a message says of a body that has a cell because it goes on at the other end; nothing of others."""
        geometry, sub = self._geometries[name], self._subdomain
        if geometry is None or geometry.solid(cell, (1,) * len(cell)).all():
            return ""
        faces = checks.alternatives([repr(face) for face in crossed_faces(geometry, sub.shape, sub.periodic)])
        return f"; body {name!r} leaves the domain through the periodic face {faces} and comes back there"

    def _check(self) -> None:
        for name, (count, *_), has_surface in zip(self._names, self._sums, self._has_surface, strict=True):
            if count == 0 and not has_surface and name not in self._moving:
                raise ValueError(f"mask of body {name!r}: no cell is True, must have at least one")
        if self.fluid_cells == 0:
            raise ValueError(self._wrong(self._names[-1], "leaves no fluid cell in the domain"))

    def _wrong(self, name: str, what: str) -> str:
        """The message about a body's cells; of a geometry with its place, which may be of other units or elsewhere."""
        geometry = self._geometries[name]
        if geometry is None:
            return f"mask of body {name!r}: {what}"
        return f"geometry of body {name!r}: {what}: {why_nothing(geometry) or place(geometry, self._subdomain.shape)}"

    def _sums_of(self, mask: NDArray[np.bool_]) -> list[int]:
        """The number of a body's cells in this process's blocks, and the sums of their numbers along each axis."""
        sums = [0] * (1 + mask.ndim)
        for offset, size in self._subdomain.own:
            part = mask[self._subdomain.inside((offset, size))]
            sums[0] += int(np.count_nonzero(part))
            for axis in range(mask.ndim):
                others = tuple(other for other in range(mask.ndim) if other != axis)
                along = np.count_nonzero(part, axis=others)
                sums[1 + axis] += int(np.dot(along, np.arange(offset[axis], offset[axis] + size[axis])))
        return sums

    @property
    def solid_at_known(self) -> NDArray[np.bool_]:
        """Read-only bool array of the known cells, True in any body."""
        return self._known

    def mask(self, name: str) -> NDArray[np.bool_]:
        """A new bool array of the known cells, True in a body."""
        mask = np.zeros(self._subdomain.known[1], dtype=np.bool_)
        where, cells = self._boxes[self._names.index(name)]
        mask[where] = cells
        return mask

    def solid_at(self, axes: Sequence[NDArray[np.int64]], name: str | None = None) -> NDArray[np.bool_]:
        """Whether cells with these numbers along each axis are solid, or in a body; all of them must be known.

        Beyond a periodic face the numbers go on; beyond another one it is the cell before the face that counts.
        """
        known = self._known if name is None else self.mask(name)
        where, sub = [], self._subdomain
        for axis, first, n, is_periodic in zip(axes, sub.known[0], sub.shape, sub.periodic, strict=True):
            where.append((axis - first) % n if is_periodic else np.clip(axis, 0, n - 1) - first)
        return np.asarray(known[np.ix_(*where)])

    def add_sheets(self, processes: Processes, ends: dict[str, NDArray[np.int64]]) -> None:
        """Take the fluid cells ``(N, D)`` of this process that the bodies without cells have walls to, which then stand
        for their cells in `centroid`; all processes call this together.

        Raises:
            ValueError: a body has none.
        """
        if not ends:
            return
        own = [[len(cells), *(int(n) for n in cells.sum(axis=0))] for cells in ends.values()]
        every = processes.shared(own)
        for name, of_ranks in zip(ends, zip(*every, strict=True), strict=True):
            sums = [sum(numbers) for numbers in zip(*of_ranks, strict=True)]
            if sums[0] == 0:
                nothing = "has no cell" if self._geometries[name] is not None else "no cell is True"
                message = f"{nothing}, and its surface is between no two cells of the domain"
                raise ValueError(self._wrong(name, message))
            self._sums[self._names.index(name)] = sums

    def centroid(self, name: str) -> Floats:
        """The mean of the coordinates of the centres of a body's cells, ``(D,)``; of one without cells of those that it
        has walls to."""
        count, *sums = self._sums[self._names.index(name)]
        return np.asarray(np.array(sums, dtype=np.float64) / count + 0.5)

    def covers(self, processes: Processes, faces: Sequence[str]) -> list[bool]:
        """Whether bodies cover all cells of these faces; all processes call this together."""
        own = []
        for face in faces:
            axis, low = "xyz".index(face[1]), face[0] == "-"
            covered = True
            for offset, size in self._subdomain.own:
                if (offset[axis] == 0) if low else (offset[axis] + size[axis] == self._subdomain.shape[axis]):
                    part = self._known[self._subdomain.inside((offset, size))]
                    covered = covered and bool(part.take(0 if low else -1, axis).all())
            own.append(covered)
        return [all(each) for each in zip(*processes.shared(own), strict=True)]

    def solid_everywhere(self, processes: Processes) -> NDArray[np.bool_]:
        """Bool array of the whole domain's shape, True in any body; all processes call this together. Of all cells
        there is a bit in the messages, so it is for small domains."""
        own = []
        for block in self._subdomain.own:
            bits = np.packbits(self._known[self._subdomain.inside(block)])
            own.append([*map(list, block), base64.b64encode(bits.tobytes()).decode()])
        solid = np.zeros(self._subdomain.shape, dtype=np.bool_)
        for offset, size, text in itertools.chain.from_iterable(processes.shared(own)):
            box = tuple(slice(a, a + n) for a, n in zip(offset, size, strict=True))
            bits = np.frombuffer(base64.b64decode(text), np.uint8)
            solid[box] = np.unpackbits(bits, count=math.prod(size)).reshape(size).astype(np.bool_)
        return solid

    def surface(self, processes: Processes) -> int:
        """The number of faces between a solid and a fluid cell; all processes call this together."""
        if not self._names:
            return 0
        return sum(processes.shared(sum(self._surface_of(block) for block in self._subdomain.own)))

    def _surface_of(self, block: Box) -> int:
        count = 0
        for axis in range(len(self._subdomain.shape)):
            here, there = (list(self._subdomain.inside(block)) for _ in range(2))
            last = block[0][axis] + block[1][axis] == self._subdomain.shape[axis]
            start, stop = here[axis].start, here[axis].stop - (1 if last else 0)
            here[axis], there[axis] = slice(start, stop), slice(start + 1, stop + 1)
            count += int(np.count_nonzero(self._known[tuple(here)] != self._known[tuple(there)]))
        return count


def _box_of(mask: NDArray[np.bool_]) -> tuple[slice, ...]:
    """The smallest box with all True cells."""
    where = []
    for axis in range(mask.ndim):
        found = np.flatnonzero(mask.any(axis=tuple(other for other in range(mask.ndim) if other != axis)))
        where.append(slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 0))
    return tuple(where)
