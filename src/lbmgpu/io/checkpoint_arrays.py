"""Encodes body masks and the values on the cells of bodies compactly for a checkpoint, and decodes them again.

Before anything is decoded the size that it will have is checked against the memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..geometry.base import LINK_PARTS
from ..parallel.device_memory import available_memory

Arrays = dict[str, NDArray[Any]]

Box = tuple[Sequence[int], Sequence[int]]
"""Offset and size of a box of cells."""


Read = Callable[[str, Sequence[tuple[int, int]]], NDArray[Any]]
"""Gives what is stored by a name, from the first index to the end along each axis."""

LINKS = "links."
"""What the names of arrays of the links begin with that the surface of a body cuts."""

PIECE = 2**18
"""Cells of a body that are looked at together."""


def encoded(name: str, array: NDArray[Any], mask: NDArray[np.bool_] | None) -> tuple[NDArray[Any], dict[str, Any]]:
    """What is stored of an array of the whole domain, and its entry in the manifest apart from shape and type.

    A mask is stored as bits of the box around the body, ``"box"``: offset and size. A velocity or temperature of a body
    is stored of its cells only, those of the mask named by ``"cells of"``. Others are stored as they are.

    Args:
        name: of the array.
        array: that, or one of its components.
        mask: of the body that the array belongs to; None for others.
    """
    if array.dtype == np.bool_:
        low, high = _bounds(array)
        part = array[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]
        return np.packbits(part), {"box": [low, [b - a for a, b in zip(low, high, strict=True)]]}
    owner = mask_of(name)
    if owner is not None and mask is not None:
        return array[..., mask], {"cells of": owner}
    return array, {}


def decoded(names: Sequence[str], tables: Mapping[str, Any], read: Read, shape: tuple[int, ...], window: Box) -> Arrays:
    """The arrays by those names, of those of cells what lies in a box of the domain.

    Args:
        names: of the arrays.
        tables: their entries in the manifest.
        read: gives what is stored.
        shape: of the domain.
        window: offset and size of the box.

    Raises:
        KeyError, TypeError, ValueError: an entry is wrong.
    """
    cells = math.prod(window[1])
    check_size(
        sum(cells if "box" in tables[name] else 8 * len(shape) * cells for name in names if len(tables[name]) > 4)
    )
    arrays: Arrays = {}
    for name in names:
        table = tables[name]
        stored = tuple(table["shape"])
        if "box" in table:
            arrays[name] = np.zeros(window[1], np.bool_)
            for where, inside, bits in _bits(name, table, read, shape, window, outside=False):
                arrays[name][where] = bits[inside]
        elif "cells of" in table:
            owner = table["cells of"]
            if "box" not in tables[owner] or table["dtype"] != "float64" or stored[:-1] not in ((), (len(shape),)):
                raise ValueError(f"{name!r} is not of the cells of a body")
            values, first = _Stream(name, table, read), 0
            arrays[name] = np.zeros((*stored[:-1], *window[1]))
            for where, inside, bits in _bits(owner, tables[owner], read, shape, window, outside=True):
                end = first + int(np.count_nonzero(bits))
                if bits[inside].size > 0:
                    piece = np.zeros((*stored[:-1], *bits.shape))
                    piece[..., bits] = values.take(first, end)
                    arrays[name][(..., *where)] = piece[(..., *inside)]
                first = end
            if first != stored[-1]:
                raise ValueError(f"{name!r} is not of as many cells as its body has")
        else:
            box = [(0, n) for n in stored]
            if is_of_cells(name) and stored[-len(shape) :] == shape:
                box[-len(shape) :] = [(a, a + n) for a, n in zip(*window, strict=True)]
            arrays[name] = read(name, box)
            wanted = "int64" if name.startswith(LINKS) and not name.endswith(f".{LINK_PARTS[-1]}") else "float64"
            if arrays[name].dtype != wanted:
                raise ValueError(f"{name!r} does not hold {wanted}")
    return arrays


class _Stream:
    """Reads an array along its last axis, range behind range, each chunk once."""

    def __init__(self, name: str, table: Mapping[str, Any], read: Read) -> None:
        self._name, self._read = name, read
        *lead, self._length = table["shape"]
        self._lead = [(0, n) for n in lead]
        self._chunk = max(table["chunk"][-1], 1)
        self._start, self._end = 0, 0
        self._held: NDArray[Any] = np.empty(0)

    def take(self, first: int, end: int) -> NDArray[Any]:
        """The elements from the first index to the end."""
        if end > self._length:
            raise ValueError(f"{self._name!r} ends too early")
        parts: list[NDArray[Any]] = []
        while first < end or not parts:
            if not self._start <= first < self._end:
                self._start = first // self._chunk * self._chunk
                self._end = min(self._start + self._chunk, self._length)
                self._held = self._read(self._name, [*self._lead, (self._start, self._end)])
            stop = min(end, self._end)
            parts.append(self._held[..., first - self._start : stop - self._start])
            first = stop
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


Where = tuple[Any, ...]
"""The index of a box."""


def _bits(
    name: str, table: Mapping[str, Any], read: Read, shape: tuple[int, ...], window: Box, *, outside: bool
) -> Iterator[tuple[Where, Where, NDArray[np.bool_]]]:
    """Which cells of the box around a body are in it, piece by piece along x.

    Each piece comes with the place of what lies in the window, there and in the piece. Those of which nothing does are
    left out unless what is `outside` is wanted too.
    """
    offset, size = ([checks.integer(name, n) for n in part] for part in table["box"])
    if len(offset) != len(shape) or any(
        a + n > whole or n < 1 for a, n, whole in zip(offset, size, shape, strict=True)
    ):
        raise ValueError(f"{name!r} has a box that is not in the domain")
    if table["dtype"] != "uint8" or tuple(table["shape"]) != (-(-math.prod(size) // 8),):
        raise ValueError(f"{name!r} is not as large as its box")
    packed, layer = _Stream(name, table, read), math.prod(size[1:])
    step = max(1, PIECE // layer)
    for x in range(0, size[0], step):
        extent = [min(step, size[0] - x), *size[1:]]
        corner = [offset[0] + x, *offset[1:]]
        low = [max(a, b) for a, b in zip(corner, window[0], strict=True)]
        high = [max(a, min(b + n, c + m)) for a, b, n, c, m in zip(low, corner, extent, *window, strict=True)]
        if not outside and any(a == b for a, b in zip(low, high, strict=True)):
            continue
        first, end = x * layer, (x + extent[0]) * layer
        bits = np.unpackbits(packed.take(first // 8, -(-end // 8)))[first % 8 :][: end - first]
        where, inside = (
            tuple(slice(a - o, b - o) for a, b, o in zip(low, high, origin, strict=True))
            for origin in (window[0], corner)
        )
        yield where, inside, bits.view(np.bool_).reshape(extent)


def check_size(size: int) -> None:
    """Raise ValueError for more bytes than there is memory for."""
    if size > available_memory():
        raise ValueError(f"{size / 2**30:.1f} GiB to be read, more than there is memory for")


def is_of_cells(name: str) -> bool:
    """Whether an array of a setup has a number for each cell of the domain."""
    return name in ("force", "source") or name.startswith("bodies.")


def mask_of(name: str) -> str | None:
    """The mask of the body that an array belongs to; None for others."""
    kind, *rest = name.split(".")
    return f"bodies.{rest[0]}.mask" if kind == "bodies" else None


def _bounds(mask: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """The smallest box that holds all cells of a body: its first cell, and the one behind its last. Of a body without
    cells it has one cell."""
    low, high = [], []
    for axis in range(mask.ndim):
        found = np.flatnonzero(mask.any(axis=tuple(other for other in range(mask.ndim) if other != axis)))
        low.append(int(found[0]) if found.size else 0)
        high.append(int(found[-1]) + 1 if found.size else 1)
    return low, high
