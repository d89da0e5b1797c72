"""What recorders keep in a checkpoint: arrays by name, listed in the manifest, and checked when they are read.

Arrays with numbers for each cell are kept, written and read in parts: each process has those of its window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from .checkpoint_arrays import check_size

DTYPES = ("uint8", "uint16", "int64", "float32", "float64")
"""The types of the arrays."""
MOST = 4096
"""The most recorders, and the most arrays of one."""
MOST_AXES = 8


@dataclass(frozen=True)
class OfCells:
    """Float64 numbers for each cell, ``(*lead, x, y[, z])``, of which a process has those of its window.

    Attributes:
        lead: the axes before those of space.
        component: gives an array of the window, for an index of these axes.
    """

    lead: tuple[int, ...]
    component: Callable[[tuple[int, ...]], NDArray[np.float64]]

    @classmethod
    def of(cls, part: NDArray[np.float64], dimensions: int) -> OfCells:
        """Those of an array of the window with so many dimensions."""
        return cls(part.shape[: part.ndim - dimensions], lambda index: np.asarray(part[index]))

    @property
    def components(self) -> list[tuple[int, ...]]:
        """The indices of all components, in the order of the file."""
        return list(np.ndindex(*self.lead))


Array = NDArray[Any] | OfCells


@dataclass(frozen=True)
class Kept:
    """What a checkpoint has of a recorder.

    Attributes:
        name: of the recorder.
        kind: the name of its class.
        arrays: by the names that it gave them; of cells `OfCells`, or what lies in the window of a process.
        of_cells: the names of arrays of cells that lie in a window.
    """

    name: str
    kind: str
    arrays: dict[str, Any] = field(default_factory=dict)
    of_cells: frozenset[str] = frozenset()

    def to_save(self, dimensions: int) -> Kept:
        """The same for another checkpoint, of a domain of so many dimensions."""
        arrays = {
            key: OfCells.of(array, dimensions) if key in self.of_cells else array for key, array in self.arrays.items()
        }
        return Kept(self.name, self.kind, arrays)


@dataclass(frozen=True)
class Entry:
    """An array of a recorder, as the manifest has it; an empty one has no place in the file.

    Attributes:
        key: its name.
        dataset: its name in the file.
        shape: of the array; of one of cells without the axes of space.
        dtype: of the file.
        is_of_cells: whether it has numbers for each cell.
    """

    key: str
    dataset: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_of_cells: bool = False

    def stored_shape(self, domain: tuple[int, ...]) -> tuple[int, ...]:
        """Its shape in the file, where every array has an axis, and one of cells has one before z, y and x."""
        if self.is_of_cells:
            return (math.prod(self.shape), *reversed(domain))
        return self.shape or (1,)

    @property
    def is_stored(self) -> bool:
        """Whether there is anything in it."""
        return math.prod(self.shape) > 0


def entries_of(recorders: Sequence[Kept]) -> list[dict[str, Any]]:
    """What the manifest says of recorders.

    Raises:
        TypeError: an array of a type that files do not have.
    """
    found = []
    for kept in recorders:
        arrays: list[dict[str, Any]] = []
        for key, array in kept.arrays.items():
            if isinstance(array, OfCells):
                arrays.append({"key": key, "shape": list(array.lead), "dtype": "float64", "cells": True})
                continue
            if array.dtype.name not in DTYPES:
                raise TypeError(f"recorder {kept.name!r}: {key} is of {array.dtype.name}, must be of {DTYPES}")
            arrays.append({"key": key, "shape": list(array.shape), "dtype": array.dtype.name})
        found.append({"name": kept.name, "kind": kept.kind, "arrays": arrays})
    return found


def stored(recorders: Sequence[Kept]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The names in the file and the values of all arrays that are not empty, but for those of cells."""
    for number, kept in enumerate(recorders):
        for place, array in enumerate(kept.arrays.values()):
            if not isinstance(array, OfCells) and array.size > 0:
                yield _dataset(number, place), array.reshape(array.shape or (1,))


def stored_of_cells(recorders: Sequence[Kept]) -> dict[tuple[str, str], str]:
    """The names in the file of the arrays of cells that are not empty, by the recorder's name and their own."""
    return {
        (kept.name, key): _dataset(number, place)
        for number, kept in enumerate(recorders)
        for place, (key, array) in enumerate(kept.arrays.items())
        if isinstance(array, OfCells) and math.prod(array.lead) > 0
    }


class Listed:
    """What a manifest says of recorders, checked.

    Args:
        listing: from the manifest.

    Raises:
        KeyError, TypeError, ValueError: it is not what `entries_of` gives.
    """

    def __init__(self, listing: Any) -> None:
        self.recorders: list[tuple[str, str, list[Entry]]] = []
        for number, given in enumerate(_several("recorders", listing)):
            name, kind = (checks.label(key, given[key]) for key in ("name", "kind"))
            entries = []
            for place, array in enumerate(_several(f"arrays of {name!r}", given["arrays"])):
                shape = tuple(checks.integer("shape", n) for n in array["shape"])
                if len(shape) > MOST_AXES:
                    raise ValueError(f"shape: {len(shape)} axes given")
                dtype = np.dtype(checks.choice("dtype", array["dtype"], DTYPES))
                cells = checks.flag("cells", array.get("cells", False))
                if cells and dtype != np.float64:
                    raise ValueError(f"dtype: {dtype.name} given of cells, must be float64")
                entries.append(Entry(checks.label("key", array["key"]), _dataset(number, place), shape, dtype, cells))
            if len({entry.key for entry in entries}) < len(entries):
                raise ValueError(f"arrays of {name!r}: two of one name")
            self.recorders.append((name, kind, entries))
        if len({name for name, _, _ in self.recorders}) < len(self.recorders):
            raise ValueError("recorders: two of one name")

    @property
    def stored(self) -> list[Entry]:
        """The arrays that are in the file."""
        return [entry for _, _, entries in self.recorders for entry in entries if entry.is_stored]

    def read(
        self,
        whole: Callable[[str], NDArray[Any]],
        part: Callable[[str], NDArray[Any]] = lambda dataset: np.empty(0),
        window: tuple[int, ...] = (),
    ) -> list[Kept]:
        """All of them, of those of cells what lies in a window.

        Args:
            whole: gives an array by its name in the file.
            part: gives what lies in the window of one of cells, ``(n, [z,] y, x)``.
            window: its cells along x, y and z.
        """
        check_size(
            sum(math.prod((*e.shape, *(window if e.is_of_cells else ()))) * e.dtype.itemsize for e in self.stored)
        )

        def array(entry: Entry) -> NDArray[Any]:
            if not entry.is_stored:
                return np.empty((*entry.shape, *(window if entry.is_of_cells else ())), entry.dtype)
            if not entry.is_of_cells:
                return whole(entry.dataset).reshape(entry.shape)
            found = part(entry.dataset)
            return found.transpose(0, *reversed(range(1, found.ndim))).reshape(*entry.shape, *window)

        return [
            Kept(name, kind, {e.key: array(e) for e in entries}, frozenset(e.key for e in entries if e.is_of_cells))
            for name, kind, entries in self.recorders
        ]


def _dataset(number: int, place: int) -> str:
    return f"recorders.{number}.{place}"


def _several(name: str, given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given) or len(given) > MOST:
        raise TypeError(f"{name}: {checks.shown(given)} given, must be a list of objects")
    return given
