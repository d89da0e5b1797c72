"""Regions of a domain: what the argument `region` of fields says, and which cells of it lie in a box."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..layout import Block
from ..parallel.subdomain import Box

RIGHT = "a slice or an integer for each axis of the domain, such as np.s_[:, :, 24]"


@dataclass(frozen=True)
class Region:
    """Cells ``start, start + step, ...`` along each axis of a domain, `count` of them.

    Boxes, offset and size, are either of the domain's cells or, as *parts*, of the region's: its cells are counted from
    0 along each axis there.

    Attributes:
        start, step, count: for each axis of the domain.
        kept: whether an axis is one of the field's; that of an integer is not.
    """

    start: tuple[int, ...]
    step: tuple[int, ...]
    count: tuple[int, ...]
    kept: tuple[bool, ...]

    @classmethod
    def of(cls, shape: tuple[int, ...], given: Any = None) -> Region:
        """The region that `given` is of a domain: slices and integers, with ``...`` for axes left out; None for all.

        Raises:
            TypeError, ValueError: something else, a step below 1, or a region outside of the domain or without a cell.
        """
        entries = [] if given is None else list(given) if isinstance(given, tuple) else [given]
        dots = [k for k, entry in enumerate(entries) if entry is Ellipsis]
        if len(dots) > 1 or len(entries) - len(dots) > len(shape):
            raise ValueError(f"region: {checks.shown(given)} given, must be {RIGHT}; it has {len(shape)} axes")
        at = dots[0] if dots else len(entries)
        missing = len(shape) - len(entries) + len(dots)
        entries[at : at + len(dots)] = [slice(None)] * missing
        axes = [_axis(f"region[{k}]", entry, n) for k, (entry, n) in enumerate(zip(entries, shape, strict=True))]
        return cls(*zip(*axes, strict=True))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a field of the region, without components."""
        return tuple(n for n, kept in zip(self.count, self.kept, strict=True) if kept)

    @property
    def whole(self) -> Box:
        """All of it, as a part."""
        return (0,) * len(self.count), self.count

    def part(self, box: Box) -> Box:
        """What of it lies in a box of the domain's cells."""
        low, size = [], []
        for start, step, count, offset, cells in zip(self.start, self.step, self.count, *box, strict=True):
            first = min(max(-((start - offset) // step), 0), count)
            last = min(max(-((start - offset - cells) // step), first), count)
            low.append(first)
            size.append(last - first)
        return tuple(low), tuple(size)

    def cells(self, part: Box) -> Box:
        """The smallest box of the domain's cells around a part."""
        offset = tuple(a + k * s for a, s, k in zip(self.start, self.step, part[0], strict=True))
        size = tuple((n - 1) * s + 1 if n > 0 else 0 for n, s in zip(part[1], self.step, strict=True))
        return offset, size

    def thinned(self, array: NDArray[Any]) -> NDArray[Any]:
        """Of an array ``(..., x, y[, z])`` of `cells` those that are in the region."""
        where: Any = [slice(None, None, step) for step in self.step]
        return array[(..., *where)]

    def blocks(self, blocks: Iterable[Block]) -> list[Block]:
        """The parts that lie in blocks, as blocks; without those that have none."""
        found = []
        for block in blocks:
            offset, size = self.part((block.offset, block.size))
            if min(size) > 0:
                found.append(Block(offset, size, block.rank, block.device))
        return found

    def field(self, array: NDArray[Any]) -> NDArray[Any]:
        """A field ``(..., x, y[, z])`` of a part without the axes of integers.

        Where the part has no cell, all axes that are left have the length 0, or the numbers are NaN if none is left.
        """
        lead = array.ndim - len(self.count)
        if 0 in array.shape[lead:]:
            return np.full((*array.shape[:lead], *(0 for kept in self.kept if kept)), np.nan, dtype=array.dtype)
        return array[(..., *(slice(None) if kept else 0 for kept in self.kept))]


def _axis(name: str, entry: Any, cells: int) -> tuple[int, int, int, bool]:
    """Start, step and count along an axis, and whether it is kept."""
    if isinstance(entry, slice):
        try:
            start, stop, step = entry.indices(cells)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: {checks.shown(entry)} given, must be a slice of integers ({error})") from None
        if step < 1:
            raise ValueError(f"{name}: {checks.shown(entry)} given, must have a step of at least 1")
        count = len(range(start, stop, step))
        if count == 0:
            raise ValueError(f"{name}: {checks.shown(entry)} given, has no cell of the {cells} along this axis")
        return start, step, count, True
    if isinstance(entry, bool | np.bool_):
        raise TypeError(f"{name}: {checks.shown(entry)} given, must be {RIGHT}")
    try:
        number = operator.index(entry)
    except TypeError:
        raise TypeError(f"{name}: {checks.shown(entry)} given, must be {RIGHT}") from None
    if not -cells <= number < cells:
        raise ValueError(f"{name}: {number} given, must be from {-cells} to {cells - 1}")
    return number % cells, 1, 1, False
