"""The part of a domain that a process computes: its cells, what it is given of them, and what others know around it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..conditions import Fixed, Periodic
from ..domain import Domain
from ..layout import Layout
from ..values import Floats, as_index, centres, evaluate

if TYPE_CHECKING:
    from .processes import Processes

AROUND = {2: 6, 3: 2}
"""Cells around the subdomain, by the dimensions, of which a process knows whether they are solid, and what force is on
them where cells keep moments; as the engine has it."""

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Offset and size."""


@dataclass(frozen=True)
class Subdomain:
    """The part of a domain that one process computes.

    Attributes:
        shape: of the domain.
        window: offset and size of the smallest box with all blocks of the process.
        known: the same of a box around it, which has the cells next to it too. Along a periodic axis it may begin
            before the domain or end behind it.
        blocks: the blocks of each process, by rank.
        rank: of the process.
        windows_differ: whether no process has the whole domain as its window, so that the shape of an array tells
            whether it is of the domain or of the window.
    """

    shape: tuple[int, ...]
    window: Box
    known: Box
    blocks: tuple[tuple[Box, ...], ...]
    rank: int
    windows_differ: bool
    periodic: tuple[bool, ...]

    @classmethod
    def of(cls, domain: Domain, layout: Layout | None, rank: int = 0, size: int = 1) -> Subdomain:
        """That of a process with the blocks of a `layout` whose ranks are known; of the whole domain without one."""
        whole = ((0,) * len(domain.shape), domain.shape)
        periodic = tuple(isinstance(domain.faces["-" + axis], Periodic) for axis in "xyz"[: len(domain.shape)])
        blocks: list[list[Box]] = [[] for _ in range(size)]
        for block in layout or ():
            if block.rank is not None and block.rank < size:  # others are refused
                blocks[block.rank].append((block.offset, block.size))
        if layout is None:
            blocks[rank].append(whole)
        windows = [_around(boxes) if boxes else whole for boxes in blocks]
        differ = size > 1 and all(window[1] != domain.shape for window in windows)
        known = _widened(windows[rank], domain.shape, periodic)
        return cls(domain.shape, windows[rank], known, tuple(map(tuple, blocks)), rank, differ, periodic)

    @property
    def own(self) -> tuple[Box, ...]:
        """The blocks of this process."""
        return self.blocks[self.rank]

    def axes(self, box: Box) -> list[NDArray[np.int64]]:
        """The numbers of a box's cells along each axis, folded back through periodic faces."""
        return [np.arange(a, a + n) % whole for a, n, whole in zip(*box, self.shape, strict=True)]

    def centres(self, box: Box) -> tuple[Floats, ...]:
        """The coordinates of a box's cell centres, as `values.cell_centres` gives those of the domain."""
        return centres([axis + 0.5 for axis in self.axes(box)])

    def inside(self, box: Box) -> tuple[Any, ...]:
        """Where a box lies in arrays of the known cells."""
        return tuple(slice(a - b, a - b + n) for a, n, b in zip(*box, self.known[0], strict=True))

    def is_part(self, shape: Sequence[int], components: int | None = None) -> bool:
        """Whether an array of this shape is of the window and not of the domain.

        Args:
            shape: of the array.
            components: that come first; None for any number of axes before.
        """
        cells, lead = tuple(shape)[-len(self.shape) :], tuple(shape)[: -len(self.shape)]
        if not self.windows_differ or cells != self.window[1] or len(shape) < len(self.shape):
            return False
        return components is None or lead == ((components,) if components else ())

    def field(self, name: str, value: Fixed, components: int | None, box: Box) -> tuple[Floats, bool]:
        """What a field is in a box: `window` or `known`.

        Args:
            name: of the argument, for errors.
            value: a uniform one, an array of the domain or of the window, or a callable of the coordinates.
            components: their number; None for a number a cell.
            box: for which the field is wanted.

        Returns:
            The uniform value or an array of the box, and whether it still lacks what lies around the window, which
            `with_surroundings` adds.

        Raises:
            TypeError, ValueError: see `values.evaluate`.
        """
        if not callable(value) and self.is_part(value.shape, components or 0):
            if box == self.window:
                return value, False
            lead = value.shape[: value.ndim - len(self.shape)]
            wider = np.zeros((*lead, *box[1]))
            wider[(..., *self.inside(self.window))] = value
            return wider, True
        if callable(value):
            return evaluate(name, value, box[1], self.centres(box), components), False
        try:
            given = evaluate(name, value, self.shape, (), components)
        except ValueError as error:
            lead = () if components is None else (components,)
            part = f", or for this process's part {(*lead, *self.window[1])}" if self.windows_differ else ""
            raise ValueError(f"{error}{part}") from None
        uniform = given.ndim == (0 if components is None else 1)
        return (given if uniform else self.cut(given, box)), False

    def cut(self, array: NDArray[Any], box: Box) -> NDArray[Any]:
        """A box of an array whose last axes are the domain's."""
        if box[1] == self.shape:
            return array
        axes = self.axes(box)
        lead = array.ndim - len(axes)
        where = as_index(axes)
        if isinstance(where[0], slice):
            return array[(..., *where)]
        for axis, numbers in enumerate(axes):
            array = np.take(array, numbers, axis=lead + axis)
        return array

    def widened(self, processes: Processes, array: NDArray[Any]) -> NDArray[Any]:
        """An array of the window with what other processes have of the known cells; all of them call this together."""
        if processes.size == 1:
            return array
        wider = np.zeros((*array.shape[: array.ndim - len(self.shape)], *self.known[1]), dtype=array.dtype)
        wider[(..., *self.inside(self.window))] = array
        self.with_surroundings(processes, wider)
        return wider

    def with_surroundings(self, processes: Processes, array: NDArray[Any]) -> None:
        """Fill in what other processes have of an array of the known cells; all processes call this together."""
        lead = array.shape[: array.ndim - len(self.shape)]
        receives, sends, places = [], [], []
        for rank in range(processes.size):
            if rank == self.rank or not self.blocks[rank]:
                continue
            for here, _ in self._shared_boxes(self.known, rank):
                buffer = np.empty((*lead, *here[1]), dtype=array.dtype)
                places.append((buffer, self.inside(here)))
                receives.append((buffer, rank, 0))
            other = _widened(_around(self.blocks[rank]), self.shape, self.periodic)
            for _, there in self._shared_boxes(other, self.rank):
                sends.append((np.ascontiguousarray(array[(..., *self.inside(there))]), rank, 0))
        assert processes.engine is not None
        exchange = processes.engine.exchange(receives, sends)
        exchange.start_receives()
        exchange.start_sends()
        exchange.finish()
        for buffer, where in places:
            array[(..., *where)] = buffer

    def brought(
        self, processes: Processes, core: Box, margin: int, own: Callable[[Box], NDArray[Any]], components: int
    ) -> NDArray[Any]:
        """A field ``(components, x, y[, z])`` of a box and of a margin beside it, which other processes may have.

        What lies outside of the domain, or beside the box along two axes, is 0. All processes call this together.

        Args:
            processes: of the solver.
            core: box that this process wants; without a cell if it wants nothing.
            margin: cells around it that it wants too; they go on through periodic faces.
            own: gives the field ``(components, x, y[, z])`` in a box of the window of this process.
            components: their number.
        """
        every = [(tuple(offset), tuple(size)) for offset, size in processes.shared(core)]
        wide = [_grown(box, margin) for box in every]
        sample = own((self.window[0], (0,) * len(self.shape)))
        found = np.zeros((components, *reversed(wide[self.rank][1])), dtype=sample.dtype).transpose(
            0, *range(len(self.shape), 0, -1)
        )
        receives, sends, places = [], [], []
        for rank in range(processes.size):
            for here, there in self._cross(wide[self.rank], core, rank):
                at = tuple(slice(a - b, a - b + n) for a, n, b in zip(*here, wide[self.rank][0], strict=True))
                if rank == self.rank:
                    found[(slice(None), *at)] = own(there)
                    continue
                buffer = np.empty((components, *here[1]), dtype=found.dtype)
                places.append((buffer, at))
                receives.append((buffer, rank, 0))
            if rank != self.rank:
                for _, there in self._cross(wide[rank], every[rank], self.rank):
                    sends.append((np.ascontiguousarray(own(there)), rank, 0))
        if processes.engine is not None:
            exchange = processes.engine.exchange(receives, sends)
            exchange.start_receives()
            exchange.start_sends()
            exchange.finish()
        for buffer, at in places:
            found[(slice(None), *at)] = buffer
        return found

    def _cross(self, wide: Box, core: Box, owner: int) -> Iterator[tuple[Box, Box]]:
        """As `_shared_boxes`, of what lies beside the core along one axis at most; nothing for a core without cells."""
        if min(core[1]) == 0:
            return
        for here, there in self._shared_boxes(wide, owner):
            apart = [a + n <= b or a >= b + m for a, n, b, m in zip(*here, *core, strict=True)]
            if sum(apart) < 2:
                yield here, there

    def _shared_boxes(self, known: Box, owner: int) -> Iterator[tuple[Box, Box]]:
        """What of a known box lies in each block of a process, in an order on which all agree.

        Each as a box of the known one, and as the same cells of the block.
        """
        for offset, size in self.blocks[owner]:
            shifts = [
                range(first // n * n, first + extent, n) if periodic else (0,)
                for n, periodic, first, extent in zip(self.shape, self.periodic, *known, strict=True)
            ]
            for shift in itertools.product(*shifts):
                low = [max(a + s, b) for a, s, b in zip(offset, shift, known[0], strict=True)]
                high = [min(a + n + s, b + m) for a, n, s, b, m in zip(offset, size, shift, *known, strict=True)]
                if all(a < b for a, b in zip(low, high, strict=True)):
                    extent = tuple(b - a for a, b in zip(low, high, strict=True))
                    yield (tuple(low), extent), (tuple(a - s for a, s in zip(low, shift, strict=True)), extent)


def _around(boxes: Sequence[Box]) -> Box:
    """The smallest box around some."""
    low = np.min([offset for offset, _ in boxes], axis=0)
    high = np.max([np.add(offset, size) for offset, size in boxes], axis=0)
    return tuple(low.tolist()), tuple((high - low).tolist())


def _grown(box: Box, margin: int) -> Box:
    """A box with a margin on all sides."""
    return tuple(a - margin for a in box[0]), tuple(n + 2 * margin for n in box[1])


def _widened(window: Box, shape: tuple[int, ...], periodic: tuple[bool, ...]) -> Box:
    """The known cells of a process with this window, as the engine has them."""
    first, size, around = [], [], AROUND[len(shape)]
    for offset, cells, whole, is_periodic in zip(*window, shape, periodic, strict=True):
        low, high = offset - around, offset + cells + around
        if not is_periodic or high - low >= whole:
            low, high = (0, whole) if is_periodic else (max(low, 0), min(high, whole))
        first.append(low)
        size.append(high - low)
    return tuple(first), tuple(size)
