"""What recorders keep in a checkpoint: arrays by name, listed in the manifest, and checked when they are read."""

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
class Kept:
    """What a checkpoint has of a recorder.

    Attributes:
        name: of the recorder.
        kind: the name of its class.
        arrays: by the names that it gave them.
    """

    name: str
    kind: str
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """An array of a recorder, as the manifest has it; an empty one has no place in the file."""

    key: str
    dataset: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """Its shape in the file, where every array has an axis."""
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
        for key, array in kept.arrays.items():
            if array.dtype.name not in DTYPES:
                raise TypeError(f"recorder {kept.name!r}: {key} is of {array.dtype.name}, must be of {DTYPES}")
        arrays = [
            {"key": key, "shape": list(array.shape), "dtype": array.dtype.name} for key, array in kept.arrays.items()
        ]
        found.append({"name": kept.name, "kind": kept.kind, "arrays": arrays})
    return found


def stored(recorders: Sequence[Kept]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The names in the file and the values of all arrays that are not empty."""
    for number, kept in enumerate(recorders):
        for place, array in enumerate(kept.arrays.values()):
            if array.size > 0:
                yield _dataset(number, place), array.reshape(array.shape or (1,))


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
                entries.append(Entry(checks.label("key", array["key"]), _dataset(number, place), shape, dtype))
            if len({entry.key for entry in entries}) < len(entries):
                raise ValueError(f"arrays of {name!r}: two of one name")
            self.recorders.append((name, kind, entries))
        if len({name for name, _, _ in self.recorders}) < len(self.recorders):
            raise ValueError("recorders: two of one name")

    @property
    def stored(self) -> list[Entry]:
        """The arrays that are in the file."""
        return [entry for _, _, entries in self.recorders for entry in entries if entry.is_stored]

    def read(self, read: Callable[[str], NDArray[Any]]) -> list[Kept]:
        """All of them, with `read` to give an array by its name in the file."""
        check_size(sum(math.prod(entry.shape) * entry.dtype.itemsize for entry in self.stored))
        return [
            Kept(
                name,
                kind,
                {
                    e.key: read(e.dataset).reshape(e.shape) if e.is_stored else np.empty(e.shape, e.dtype)
                    for e in entries
                },
            )
            for name, kind, entries in self.recorders
        ]


def _dataset(number: int, place: int) -> str:
    return f"recorders.{number}.{place}"


def _several(name: str, given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given) or len(given) > MOST:
        raise TypeError(f"{name}: {checks.shown(given)} given, must be a list of objects")
    return given
