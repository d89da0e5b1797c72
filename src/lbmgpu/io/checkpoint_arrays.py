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
from ..parallel.device_memory import available_memory

Arrays = dict[str, NDArray[Any]]


def encoded(arrays: Arrays) -> Iterator[tuple[str, NDArray[Any], dict[str, Any]]]:
    """The name of each array, what is stored of it, and its entry in the manifest apart from shape and type.

    A mask is stored as bits of the box around the body, ``"box"``: offset and size. A velocity or temperature of a body
    is stored of its cells only, those of the mask named by ``"cells of"``. Others are stored as they are.
    """
    for name, array in arrays.items():
        mask = _mask_of(name)
        if array.dtype == np.bool_:
            low, high = _bounds(array)
            part = array[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]
            yield name, np.packbits(part), {"box": [low, [b - a for a, b in zip(low, high, strict=True)]]}
        elif mask is not None:
            yield name, array[..., arrays[mask]], {"cells of": mask}
        else:
            yield name, array, {}


def decoded(
    names: Sequence[str], tables: Mapping[str, Any], read: Callable[[str], NDArray[Any]], shape: tuple[int, ...]
) -> Arrays:
    """The arrays by those names.

    Args:
        names: of the arrays.
        tables: their entries in the manifest.
        read: gives what is stored by a name.
        shape: of the domain.

    Raises:
        KeyError, TypeError, ValueError: an entry is wrong.
    """
    cells = math.prod(shape)
    check_size(
        sum(cells if "box" in tables[name] else 8 * len(shape) * cells for name in names if len(tables[name]) > 4)
    )
    arrays: Arrays = {}
    for name in sorted(names, key=lambda name: "cells of" in tables[name]):  # masks come first
        table = tables[name]
        if "box" in table:
            offset, size = ([checks.integer(name, n) for n in part] for part in table["box"])
            if len(offset) != len(shape) or any(
                a + n > whole or n < 1 for a, n, whole in zip(offset, size, shape, strict=True)
            ):
                raise ValueError(f"{name!r} has a box that is not in the domain")
            stored, count = read(name), math.prod(size)
            if stored.dtype != np.uint8 or stored.shape != (-(-count // 8),):
                raise ValueError(f"{name!r} is not as large as its box")
            arrays[name] = np.zeros(shape, np.bool_)
            bits = np.unpackbits(stored, count=count).view(np.bool_).reshape(size)
            arrays[name][tuple(slice(a, a + n) for a, n in zip(offset, size, strict=True))] = bits
        elif "cells of" in table:
            mask, stored = arrays[table["cells of"]], read(name)
            if mask.shape != shape or stored.dtype != np.float64 or stored.shape[:-1] not in ((), (len(shape),)):
                raise ValueError(f"{name!r} is not of the cells of a body")
            arrays[name] = np.zeros((*stored.shape[:-1], *shape))
            arrays[name][..., mask] = stored
        else:
            arrays[name] = read(name)
            if arrays[name].dtype != np.float64:
                raise ValueError(f"{name!r} does not hold float64")
    return arrays


def check_size(size: int) -> None:
    """Raise ValueError for more bytes than there is memory for."""
    if size > available_memory():
        raise ValueError(f"{size / 2**30:.1f} GiB to be read, more than there is memory for")


def _mask_of(name: str) -> str | None:
    """The mask of the body that an array belongs to; None for others."""
    kind, *rest = name.split(".")
    return f"bodies.{rest[0]}.mask" if kind == "bodies" else None


def _bounds(mask: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """The smallest box that holds all cells of a body: its first cell, and the one behind its last."""
    low, high = [], []
    for axis in range(mask.ndim):
        found = np.flatnonzero(mask.any(axis=tuple(other for other in range(mask.ndim) if other != axis)))
        low.append(int(found[0]))
        high.append(int(found[-1]) + 1)
    return low, high
