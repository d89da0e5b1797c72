"""The cells that a series keeps: a region of the domain with a stride, cut into the pieces that ranks write."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..solver.region import Region

AXES = ("x", "y", "z")

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""Offset and size."""


@dataclasses.dataclass(frozen=True)
class Axis:
    """The cells ``start, start + step, ...`` along one axis, `count` of them.

    Attributes:
        start, step, count: as above.
        is_single: whether the region names one cell by its number, so that arrays of it lack this axis.
    """

    start: int
    step: int
    count: int
    is_single: bool

    @property
    def centres(self) -> NDArray[np.float64]:
        """Coordinates of the cell centres, in cells."""
        return self.start + 0.5 + self.step * np.arange(self.count, dtype=np.float64)

    @property
    def origin(self) -> float:
        """Where the first of the cells begins if each is `step` wide about its centre."""
        return self.start + 0.5 - self.step / 2


@dataclasses.dataclass(frozen=True)
class Piece:
    """The cells of a selection in one block.

    Attributes:
        number: of the block.
        offset: along each axis, the number of selected cells before it.
        count: its cells along each axis.
        source: where they are in the arrays of the process that has them.
    """

    number: int
    offset: tuple[int, ...]
    count: tuple[int, ...]
    source: tuple[slice, ...]


class Selection:
    """The cells of a domain of some shape that a region and a stride leave.

    Args:
        region: None for all, or what the fields of a solver take.
        stride: an integer for all axes, or one for each: every so many cells of the region are kept.
        shape: of the domain.

    Raises:
        TypeError, ValueError: they are none of this, or leave no cell.

    Attributes:
        axes: the cells along each axis.
        index: the argument `region` for fields of these cells, in which no axis is taken away.
    """

    def __init__(self, region: Any, stride: Any, shape: tuple[int, ...]) -> None:
        given = Region.of(shape, region)
        steps = [a * b for a, b in zip(given.step, _strides(stride, len(shape)), strict=True)]
        ends = [a + (n - 1) * s + 1 for a, n, s in zip(given.start, given.count, given.step, strict=True)]
        self.shape = shape
        self.index = tuple(slice(*bounds) for bounds in zip(given.start, ends, steps, strict=True))
        self._region = Region.of(shape, self.index)
        self.axes = tuple(
            Axis(a, s, n, not kept)
            for a, s, n, kept in zip(given.start, steps, self._region.count, given.kept, strict=True)
        )

    @property
    def counts(self) -> tuple[int, ...]:
        """Selected cells along each axis; 1 along those of which the region names one cell."""
        return self._region.count

    @property
    def is_whole(self) -> bool:
        """Whether it is all cells of the domain."""
        return self.counts == self.shape

    def inside(self, window: Box) -> tuple[slice, ...]:
        """Where the selected cells are in an array of all cells of a window."""
        part = self._region.part(window)
        box = self._region.cells(part)
        return tuple(slice(a - w, a - w + n, s) for a, n, s, w in zip(*box, self._region.step, window[0], strict=True))

    def pieces(self, blocks: Iterable[tuple[int, Box]], window: Box) -> list[Piece]:
        """The part of each block, but for blocks without a selected cell.

        Args:
            blocks: number, and offset and size, of each.
            window: offset and size of the arrays of the process that has them.
        """
        found, base = [], self._region.part(window)[0]
        for number, block in blocks:
            offset, count = self._region.part(block)
            if min(count) > 0:
                source = tuple(slice(a - w, a - w + n) for a, n, w in zip(offset, count, base, strict=True))
                found.append(Piece(number, offset, count, source))
        return found


def _strides(stride: Any, dimensions: int) -> list[int]:
    if isinstance(stride, Sequence) and not isinstance(stride, str | bytes):
        if len(stride) != dimensions:
            raise ValueError(f"stride: {checks.shown(stride)} given, must be an integer or {dimensions} of them")
        return [checks.integer("stride", s, at_least=1) for s in stride]
    return [checks.integer("stride", stride, at_least=1)] * dimensions
